'use strict';

const assert = require('node:assert');
const { test } = require('node:test');
const { inspect } = require('node:util');
const zlib = require('node:zlib');

const linerate = require('linerate');

const { HELLO, rawFrame, sample, zlibStream } = require('./support.js');

const { GatewayDecompressor, GatewayError, LinerateError, peek } = linerate;

// Returns what a call throws, or undefined if it throws nothing.
function thrown(call) {
  try {
    call();
  } catch (error) {
    return error;
  }
}

test('messages of a zlib stream come out one by one, as buffers and as strings', async () => {
  const texts = ['{"op":10}', sample(1, 70_000), ' ', 'Grüße, 世界 🎉', sample(2, 300)];
  const frames = await zlibStream(texts);
  for (const method of ['decompress', 'decompressText']) {
    const decompressor = new GatewayDecompressor('zlib-stream');
    frames.forEach((frame, i) => {
      const payload = decompressor[method](frame);
      assert.strictEqual(typeof payload === 'string' ? payload : payload.toString(), texts[i]);
      assert.strictEqual(decompressor.messages, i + 1);
    });
    const sum = (lengths) => lengths.reduce((all, length) => all + length, 0);
    assert.strictEqual(decompressor.compressedBytes, sum(frames.map((frame) => frame.length)));
    assert.strictEqual(decompressor.payloadBytes, sum(texts.map((text) => Buffer.byteLength(text))));
    assert.strictEqual(decompressor.kind, 'zlib-stream');
    assert.strictEqual(decompressor.error, null);
    assert.ok(decompressor.memory > 30_000 && decompressor.memory < 40_000, `${decompressor.memory}`);
  }
});

test('a message in fragments of every size comes out with the last one', async () => {
  const text = sample(3, 200);
  const [frame] = await zlibStream([text]);
  for (let cut = 1; cut < frame.length; cut++) {
    const decompressor = new GatewayDecompressor('zlib-stream');
    assert.strictEqual(decompressor.decompressText(frame.subarray(0, cut)), null);
    assert.strictEqual(decompressor.decompressText(frame.subarray(cut)), text);
  }
});

test('zstd streams and independently compressed messages are decompressed', () => {
  const decompressor = new GatewayDecompressor('zstd-stream', { checks: 'json' });
  assert.strictEqual(decompressor.decompressText(HELLO.zstd), HELLO.text);
  assert.deepStrictEqual(decompressor.envelope, { op: 10, s: null, t: null });
  const own = {
    zlib: zlib.deflateSync,
    gzip: zlib.gzipSync,
    'raw-deflate': zlib.deflateRawSync,
    'zstd-frame': (text) => rawFrame(Buffer.from(text)),
  };
  for (const [kind, compress] of Object.entries(own)) {
    const each = new GatewayDecompressor(kind, { windowLog: 17 });
    for (const text of ['one', 'two']) assert.strictEqual(each.decompressText(compress(text)), text);
    const error = thrown(() => each.decompress(compress('three').subarray(0, 6)));
    assert.ok(error instanceof GatewayError, String(error));
    assert.strictEqual(each.decompressText(compress('four')), 'four');
  }
});

test('an error is typed, says where it is, and persists until a reset', async () => {
  const frames = await zlibStream(['one', 'two', 'three']);
  const decompressor = new GatewayDecompressor('zlib-stream');
  decompressor.decompress(frames[0]);
  const broken = Buffer.from(frames[1]);
  broken[0] = 0xff;
  for (const frame of [broken, frames[2]]) {
    const error = thrown(() => decompressor.decompress(frame));
    assert.ok(error instanceof GatewayError && error instanceof LinerateError && error instanceof Error);
    assert.strictEqual(error.name, 'GatewayError');
    assert.strictEqual(error.code, 'ERR_LINERATE_CORRUPT');
    assert.strictEqual(error.kind, 'corrupt');
    assert.strictEqual(error.messageIndex, 1);
    assert.ok(error.offset >= frames[0].length && error.offset <= frames[0].length + broken.length);
    assert.match(error.message, /^message 1: .* \(at byte \d+\)$/);
    assert.match(error.stack, /gateway\.test\.js/);
  }
  assert.strictEqual(decompressor.error.code, 'ERR_LINERATE_CORRUPT');
  decompressor.reset();
  assert.strictEqual(decompressor.error, null);
  frames.forEach((frame, i) => assert.strictEqual(decompressor.decompressText(frame), ['one', 'two', 'three'][i]));
});

test('a payload that is not UTF-8 is an error that persists as text, and is returned as a buffer', async () => {
  const [frame] = await zlibStream([Buffer.from([0x61, 0xff, 0x62])]);
  const decompressor = new GatewayDecompressor('zlib-stream');
  assert.strictEqual(thrown(() => decompressor.decompressText(frame)).code, 'ERR_LINERATE_CORRUPT');
  assert.strictEqual(thrown(() => decompressor.decompressText(frame)).code, 'ERR_LINERATE_CORRUPT');
  assert.notStrictEqual(decompressor.error, null);
  decompressor.reset();
  assert.deepStrictEqual(decompressor.decompress(frame), Buffer.from([0x61, 0xff, 0x62]));
});

test('the limit on payloads is exact, and a bomb or a large window takes no memory', async () => {
  const [frame] = await zlibStream([sample(4, 1000)]);
  assert.strictEqual(new GatewayDecompressor('zlib-stream', { maxMessage: 1000 }).decompress(frame).length, 1000);
  const error = thrown(() => new GatewayDecompressor('zlib-stream', { maxMessage: 999 }).decompress(frame));
  assert.strictEqual(error.code, 'ERR_LINERATE_LIMIT');
  const [bomb] = await zlibStream([Buffer.alloc(100_000_000)]);
  const decompressor = new GatewayDecompressor('zlib-stream', { maxMessage: 1_000_000 });
  assert.strictEqual(thrown(() => decompressor.decompress(bomb)).code, 'ERR_LINERATE_LIMIT');
  assert.ok(decompressor.memory < 2_000_000);
  const wide = Buffer.from(HELLO.zstd);
  wide[5] = 0x70; // a window of 16 MiB
  assert.strictEqual(thrown(() => new GatewayDecompressor('zstd-stream').decompress(wide)).code, 'ERR_LINERATE_LIMIT');
  assert.strictEqual(new GatewayDecompressor('zstd-stream', { windowLog: 24 }).decompressText(wide), HELLO.text);
});

test('truncations and flipped bits are typed errors, fragments or other text, never a crash', async () => {
  const [zlibFrame] = await zlibStream([HELLO.text]);
  for (const [kind, frame] of [['zlib-stream', zlibFrame], ['zstd-stream', HELLO.zstd]]) {
    const counts = { fragments: 0, errors: 0, others: 0 };
    const attempt = (damaged) => {
      const decompressor = new GatewayDecompressor(kind, { checks: 'json' });
      try {
        const text = decompressor.decompressText(damaged);
        if (text === null) counts.fragments += 1;
        else counts.others += 1;
      } catch (error) {
        assert.ok(error instanceof GatewayError, String(error));
        counts.errors += 1;
      }
    };
    for (let length = 0; length < frame.length; length++) attempt(frame.subarray(0, length));
    assert.strictEqual(counts.others, 0);
    for (let bit = 0; bit < 8 * frame.length; bit++) {
      const damaged = Buffer.from(frame);
      damaged[bit >> 3] ^= 1 << (bit & 7);
      attempt(damaged);
    }
    assert.ok(counts.errors > frame.length, JSON.stringify(counts));
  }
});

test('lost messages are detected by the sequence numbers', async () => {
  const texts = [1, 2, 3].map((s) => `{"op":0,"t":"TYPING_START","s":${s}}`);
  const frames = await zlibStream(texts);
  const decompressor = new GatewayDecompressor('zlib-stream', { checks: 'json', sequence: true });
  decompressor.resumeAfter(0);
  decompressor.decompress(frames[0]);
  assert.deepStrictEqual(decompressor.envelope, { op: 0, s: 1, t: 'TYPING_START' });
  assert.strictEqual(thrown(() => decompressor.decompress(frames[2])).code, 'ERR_LINERATE_CORRUPT');
});

test('recent messages are a recording', async () => {
  const frames = await zlibStream(['{"op":1}', '{"op":2}']);
  const decompressor = new GatewayDecompressor('zlib-stream', { recent: { messages: 10, bytes: 1000 } });
  frames.forEach((frame) => decompressor.decompress(frame));
  assert.ok(decompressor.recording().includes(frames[1]));
  assert.strictEqual(thrown(() => new GatewayDecompressor('zlib-stream').recording()).code, 'ERR_LINERATE_BAD_ARGUMENT');
});

test('envelopes are read from strings and bytes', () => {
  const payload = '{"t":"READY","s":7,"op":0,"d":{"x":1}}';
  for (const form of [payload, Buffer.from(payload)]) assert.deepStrictEqual(peek(form), { op: 0, s: 7, t: 'READY' });
  assert.strictEqual(thrown(() => peek('[]')).code, 'ERR_LINERATE_CORRUPT');
  assert.strictEqual(thrown(() => peek('{}', 'xml')).code, 'ERR_INVALID_ARG_VALUE');
});

test('every kind of buffer is accepted', async () => {
  const text = sample(5, 500);
  const [frame] = await zlibStream([text]);
  const padded = new Uint8Array([1, 2, 3, ...frame, 4]);
  const shared = new Uint8Array(new SharedArrayBuffer(frame.length + 4)).fill(7);
  shared.set(frame, 2);
  const forms = [
    frame,
    new Uint8Array(frame),
    new Uint8Array(frame).buffer,
    new Int8Array(new Uint8Array(frame).buffer),
    new DataView(padded.buffer, 3, frame.length),
    padded.subarray(3, 3 + frame.length),
    shared.subarray(2, 2 + frame.length),
    Buffer.from(shared.buffer, 2, frame.length),
    shared.slice(2, 2 + frame.length).buffer,
    require('node:vm').runInNewContext('new Uint8Array(bytes)', { bytes: [...frame] }),
  ];
  for (const form of forms) assert.strictEqual(new GatewayDecompressor('zlib-stream').decompressText(form), text);
  assert.strictEqual(new GatewayDecompressor('zlib-stream').decompress(new Uint8Array(0)), null);
});

test('strings of every character width round-trip', async () => {
  const texts = ['', 'é', 'naïve café '.repeat(9), 'a'.repeat(40) + '\u4e2d' + 'b'.repeat(40), '\u{1f600}\u4e2dx\u00e9'.repeat(50)];
  for (let ascii = 0; ascii < 34; ascii++) texts.push('x'.repeat(ascii) + '\u20ac' + 'y'.repeat(33 - ascii) + '\u{1f600}');
  const frames = await zlibStream(texts.map((text) => `"${text}"`));
  const decompressor = new GatewayDecompressor('zlib-stream');
  const { Inflate, Z_SYNC_FLUSH } = require('@linerate/zlib-sync');
  const inflate = new Inflate({ to: 'string' });
  frames.forEach((frame, i) => {
    assert.strictEqual(decompressor.decompressText(frame), `"${texts[i]}"`);
    inflate.push(frame, Z_SYNC_FLUSH);
    assert.strictEqual(inflate.result, `"${texts[i]}"`);
  });
});

test('short Buffers share memory, and none is written to again', async () => {
  const lengths = Array.from({ length: 60 }, (_, i) => (i * 331) % 5000);
  const texts = lengths.map((length, i) => `"${sample(i, length)}"`);
  const frames = await zlibStream(texts);
  const decompressor = new GatewayDecompressor('zlib-stream');
  const made = frames.map((frame) => decompressor.decompress(frame));
  made.forEach((buffer, i) => {
    assert.ok(Buffer.isBuffer(buffer));
    assert.strictEqual(buffer.toString(), texts[i]);
  });
  assert.ok(new Set(made.map(({ buffer }) => buffer)).size < made.length / 2);
});

test('the memory that short Buffers share cannot be transferred', async () => {
  const [frame, next] = await zlibStream(['"one"', '"two"']);
  const decompressor = new GatewayDecompressor('zlib-stream');
  const one = decompressor.decompress(frame);
  try {
    structuredClone(one.buffer, { transfer: [one.buffer] });
  } catch {
    // Newer versions of Node.js refuse the transfer; others ignore it.
  }
  assert.deepStrictEqual([one, decompressor.decompress(next)].map(String), ['"one"', '"two"']);
});

test('detached buffers and views outside of theirs are refused, not empty frames that lose a message', async () => {
  const [frame] = await zlibStream(['text']);
  const gone = (make) => {
    const view = make(new Uint8Array(frame).buffer);
    structuredClone(view.buffer ?? view, { transfer: [view.buffer ?? view] });
    return view;
  };
  const views = [
    gone((buffer) => buffer),
    gone((buffer) => new Uint8Array(buffer)),
    gone((buffer) => Buffer.from(buffer)),
    gone((buffer) => new Int8Array(buffer, 1, 5)),
    gone((buffer) => new DataView(buffer)),
  ];
  // Buffers that can shrink exist since Node.js 20.
  const resizable = new ArrayBuffer(frame.length, { maxByteLength: 2 * frame.length });
  if (resizable.resizable) {
    views.push(new Uint8Array(resizable, 2, frame.length - 2), new DataView(resizable, 2, frame.length - 2));
    resizable.resize(1);
  }
  const inflate = new (require('@linerate/zlib-sync').Inflate)();
  for (const view of views) {
    const decompressor = new GatewayDecompressor('zlib-stream');
    for (const call of [(data) => decompressor.decompress(data), (data) => decompressor.decompressText(data), peek, linerate.inflateSync]) {
      assert.throws(() => call(view), { name: 'TypeError', code: 'ERR_INVALID_STATE' });
    }
    await assert.rejects(linerate.inflate(view), { code: 'ERR_INVALID_STATE' });
    assert.strictEqual(decompressor.decompressText(frame), 'text', 'nothing was lost');
    if (ArrayBuffer.isView(view)) assert.throws(() => inflate.push(view), { name: 'TypeError', code: 'ERR_INVALID_STATE' });
  }
});

test('a zlib stream that is broken or ends is an error without a flush; so is a zstd message without a block', () => {
  const header = HELLO.zstd.subarray(0, 6);
  for (const [kind, frame, code] of [
    ['zlib-stream', Buffer.alloc(100, 'garbage '), 'ERR_LINERATE_CORRUPT'],
    ['zlib-stream', zlib.deflateSync('text'), 'ERR_LINERATE_CORRUPT'],
    ['zstd-stream', Buffer.alloc(0), 'ERR_LINERATE_TRUNCATED'],
    ['zstd-stream', header, 'ERR_LINERATE_TRUNCATED'],
  ]) {
    assert.strictEqual(thrown(() => new GatewayDecompressor(kind).decompress(frame)).code, code, kind);
  }
});

test('wrong arguments throw errors with codes of Node.js', () => {
  const decompressor = new GatewayDecompressor('zlib-stream');
  for (const data of [undefined, null, 'text', 5, {}, [1, 2]]) {
    const error = thrown(() => decompressor.decompress(data));
    assert.ok(error instanceof TypeError);
    assert.strictEqual(error.code, 'ERR_INVALID_ARG_TYPE');
  }
  const circular = { toString: 5 };
  circular.self = circular;
  const codes = [
    [[undefined], 'ERR_INVALID_ARG_VALUE'],
    [['brotli'], 'ERR_INVALID_ARG_VALUE'],
    [[5n], 'ERR_INVALID_ARG_VALUE'],
    [[circular], 'ERR_INVALID_ARG_VALUE'],
    [[Symbol('zlib-stream')], 'ERR_INVALID_ARG_VALUE'],
    [['zlib-stream', { checks: circular }], 'ERR_INVALID_ARG_VALUE'],
    [['zlib-stream', null], 'ERR_INVALID_ARG_TYPE'],
    [['zlib-stream', { maxMessage: '5' }], 'ERR_INVALID_ARG_TYPE'],
    [['zlib-stream', { maxMessage: -1 }], 'ERR_OUT_OF_RANGE'],
    [['zstd-stream', { windowLog: 9 }], 'ERR_OUT_OF_RANGE'],
    [['zstd-stream', { windowLog: 28 }], 'ERR_OUT_OF_RANGE'],
    [['zstd-stream', { checks: 'xml' }], 'ERR_INVALID_ARG_VALUE'],
    [['zstd-stream', { sequence: true }], 'ERR_INVALID_ARG_VALUE'],
    [['zstd-stream', { recent: { messages: 1 } }], 'ERR_INVALID_ARG_TYPE'],
  ];
  for (const [args, code] of codes) assert.strictEqual(thrown(() => new GatewayDecompressor(...args))?.code, code, inspect(args));
  assert.throws(() => GatewayDecompressor('zlib-stream'), TypeError);
  const { decompress } = GatewayDecompressor.prototype;
  assert.throws(() => decompress.call({}, Buffer.alloc(1)), TypeError);
});
