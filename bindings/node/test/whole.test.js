'use strict';

const assert = require('node:assert');
const { Readable, Writable } = require('node:stream');
const { pipeline } = require('node:stream/promises');
const { test } = require('node:test');
const zlib = require('node:zlib');

const linerate = require('linerate');

const { HELLO, rawFrame, repeatedFrame, sample, zstdFrame } = require('./support.js');

const { LinerateError, ZstdDecompress, createZstdDecompress } = linerate;
const CONTENT = Buffer.from(sample(1, 300_000));

// Writes input to a stream in pieces of `size` bytes, and returns the output.
async function through(stream, input, size = 65_536) {
  const pieces = [];
  for (let at = 0; at < input.length; at += size) pieces.push(input.subarray(at, at + size));
  const output = [];
  await pipeline(Readable.from(pieces), stream, new Writable({
    write(chunk, encoding, callback) {
      output.push(chunk);
      callback();
    },
  }));
  return Buffer.concat(output);
}

test('deflate data in every container is read by node:zlib and read back', async () => {
  const others = { zlib: zlib.inflateSync, gzip: zlib.gunzipSync, raw: zlib.inflateRawSync };
  for (const content of [Buffer.alloc(0), Buffer.from('x'), CONTENT]) {
    for (const [format, other] of Object.entries(others)) {
      for (const level of [0, 1, 2, 6, 9]) {
        const compressed = linerate.deflateSync(content, { format, level });
        assert.deepStrictEqual(await linerate.deflate(content, { format, level }), compressed);
        assert.deepStrictEqual(other(compressed), content);
        assert.deepStrictEqual(linerate.inflateSync(compressed, { format }), content);
        assert.deepStrictEqual(await linerate.inflate(compressed, { format }), content);
      }
    }
  }
  assert.deepStrictEqual(zlib.inflateSync(linerate.deflateSync(CONTENT)), CONTENT);
  const members = Buffer.concat([zlib.gzipSync('one '), zlib.gzipSync('two')]);
  assert.strictEqual(linerate.inflateSync(members, { format: 'gzip' }).toString(), 'one two');
});

test('limits on output are exact', async () => {
  const compressed = zlib.deflateSync(CONTENT);
  const frame = rawFrame(CONTENT);
  const enough = { maxOutputLength: CONTENT.length };
  const little = { maxOutputLength: CONTENT.length - 1 };
  assert.deepStrictEqual(linerate.inflateSync(compressed, enough), CONTENT);
  assert.deepStrictEqual(await linerate.zstdDecompress(frame, enough), CONTENT);
  assert.deepStrictEqual(await through(new ZstdDecompress(enough), frame), CONTENT);
  const limit = { name: 'LinerateError', code: 'ERR_LINERATE_LIMIT' };
  assert.throws(() => linerate.inflateSync(compressed, little), limit);
  assert.throws(() => linerate.zstdDecompressSync(frame, little), limit);
  await assert.rejects(linerate.inflate(compressed, little), limit);
  await assert.rejects(linerate.zstdDecompress(frame, little), limit);
  await assert.rejects(through(new ZstdDecompress(little), frame), limit);
  const bomb = repeatedFrame(7, 1024); // 128 MiB
  assert.throws(() => linerate.zstdDecompressSync(bomb), limit);
  assert.strictEqual((await linerate.zstdDecompress(bomb, { maxOutputLength: Infinity })).length, 1 << 27);
});

test('frames of zstd decompress whole and as a stream, in pieces of every size', async (t) => {
  const frames = [[HELLO.zstd.subarray(0, 0), ''], [rawFrame(CONTENT), CONTENT.toString()]];
  for (const options of [['-1'], ['-19', '--check'], ['--long=24']]) {
    const frame = zstdFrame(CONTENT, ...options);
    if (frame === null) t.diagnostic('SKIP: no program zstd');
    else frames.push([frame, CONTENT.toString()]);
  }
  const skippable = Buffer.concat([Buffer.from('502a4d1803000000616263', 'hex'), rawFrame(Buffer.from('after it'))]);
  frames.push([skippable, 'after it'], [Buffer.concat([rawFrame(Buffer.from('two ')), rawFrame(Buffer.from('frames'))]), 'two frames']);
  for (const [frame, text] of frames) {
    assert.strictEqual(linerate.zstdDecompressSync(frame).toString(), text);
    for (const [size, chunkSize] of [[1 << 20, undefined], [1000, 5000], [65_536, 64]]) {
      if (chunkSize === 64 && text.length > 1000) continue;
      assert.strictEqual((await through(createZstdDecompress({ chunkSize }), frame, size)).toString(), text);
    }
  }
});

test('a reader that does not read stops the decoder', async () => {
  const stream = new ZstdDecompress({ chunkSize: 65_536 });
  stream.write(repeatedFrame(7, 8000)); // 1 GB
  await new Promise((resolve) => stream.once('readable', resolve));
  for (let i = 0; i < 100; i++) await new Promise(setImmediate);
  assert.ok(stream.readableLength <= 4 * 65_536, `${stream.readableLength}`);
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > 10_000_000) break; // destroys it
  }
  assert.ok(stream.destroyed);
});

test('damaged and truncated frames are typed errors', async () => {
  const content = Buffer.from(sample(2, 2000));
  const frame = zstdFrame(content, '--check') ?? rawFrame(content);
  for (let length = 1; length < frame.length; length += 7) {
    const cut = frame.subarray(0, length);
    assert.throws(() => linerate.zstdDecompressSync(cut), LinerateError);
    await assert.rejects(through(new ZstdDecompress(), cut), (error) => error instanceof LinerateError && /TRUNCATED|CORRUPT/.test(error.code));
  }
  for (let bit = 0; bit < 8 * frame.length; bit += 13) {
    const damaged = Buffer.from(frame);
    damaged[bit >> 3] ^= 1 << (bit & 7);
    try {
      assert.deepStrictEqual(linerate.zstdDecompressSync(damaged), content);
    } catch (error) {
      if (!(error instanceof LinerateError)) throw error;
      await assert.rejects(through(new ZstdDecompress(), damaged), LinerateError);
    }
  }
  assert.throws(() => linerate.inflateSync(zlib.deflateSync('text').subarray(0, 8)), { code: 'ERR_LINERATE_TRUNCATED' });
  await assert.rejects(linerate.inflate(Buffer.from('no zlib')), { code: 'ERR_LINERATE_CORRUPT', kind: 'corrupt' });
  await assert.rejects(through(new ZstdDecompress({ windowLog: 16 }), rawFrame(CONTENT)), { code: 'ERR_LINERATE_LIMIT' });
});

test('data may be changed once a task has begun', async () => {
  const input = zlib.deflateSync(CONTENT);
  const result = linerate.inflate(input);
  input.fill(0);
  assert.deepStrictEqual(await result, CONTENT);
});

test('an exception of a listener is uncaught, not a rejection', async () => {
  const { execFileSync } = require('node:child_process');
  const program = `
    const { ZstdDecompress } = require('linerate');
    process.on('uncaughtException', (error) => { console.log('uncaught', error.message); process.exit(0); });
    process.on('unhandledRejection', () => { console.log('rejection'); process.exit(1); });
    const stream = new ZstdDecompress();
    stream.on('data', () => { throw new Error('of a listener'); });
    stream.end(Buffer.from('${rawFrame(Buffer.from('x')).toString('hex')}', 'hex'));`;
  assert.strictEqual(execFileSync(process.execPath, ['-e', program]).toString(), 'uncaught of a listener\n');
});

test('wrong arguments are refused', async () => {
  for (const call of [linerate.inflateSync, linerate.deflateSync, linerate.zstdDecompressSync]) {
    assert.throws(() => call('text'), { code: 'ERR_INVALID_ARG_TYPE' });
  }
  for (const call of [linerate.inflate, linerate.deflate, linerate.zstdDecompress]) {
    await assert.rejects(call('text'), { code: 'ERR_INVALID_ARG_TYPE' });
  }
  assert.throws(() => linerate.deflateSync(CONTENT, { format: 'bzip2' }), { code: 'ERR_INVALID_ARG_VALUE' });
  assert.throws(() => linerate.deflateSync(CONTENT, { level: 10 }), { code: 'ERR_OUT_OF_RANGE' });
  assert.throws(() => new ZstdDecompress({ chunkSize: 0 }), { code: 'ERR_OUT_OF_RANGE' });
});
