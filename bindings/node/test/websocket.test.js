'use strict';

const assert = require('node:assert');
const { test } = require('node:test');
const zlib = require('node:zlib');

const { DeflateSession, InflateSession, LinerateError } = require('linerate');

const { sample, zlibStream } = require('./support.js');

const MESSAGES = [0, 1, 2, 3, 4].map((n) => sample(n % 3, 10 ** n));
const TAIL = Buffer.from([0, 0, 0xff, 0xff]);

// Decompresses one direction with node:zlib.
async function inflated(frames) {
  const stream = zlib.createInflateRaw();
  const texts = [];
  let parts = [];
  stream.on('data', (part) => parts.push(part));
  for (const frame of frames) {
    parts = [];
    await new Promise((resolve) => stream.write(frame, resolve));
    await new Promise((resolve) => stream.write(TAIL, resolve));
    await new Promise(setImmediate);
    texts.push(Buffer.concat(parts).toString());
  }
  return texts;
}

test('messages are read by node:zlib, and read back, with every window and level', async () => {
  for (const noContextTakeover of [false, true]) {
    for (const windowBits of [8, 9, 12, 15]) {
      for (const level of [0, 2, 6, 9]) {
        const encoder = new DeflateSession({ windowBits, noContextTakeover, level });
        const decoder = new InflateSession({ windowBits, noContextTakeover });
        const frames = MESSAGES.map((text) => encoder.compress(Buffer.from(text)));
        assert.deepStrictEqual(await inflated(frames), MESSAGES);
        assert.deepStrictEqual(frames.map((frame) => decoder.decompress(frame).toString()), MESSAGES);
        if (level === 2 && windowBits === 15) assert.ok(frames[4].length < 6000);
      }
    }
  }
});

test('messages of node:zlib are read, whole and in fragments', async () => {
  const decoder = new InflateSession();
  const frames = await zlibStream(MESSAGES);
  frames[0] = frames[0].subarray(2); // the zlib header
  frames.forEach((frame, i) => {
    const message = frame.subarray(0, -4);
    const cut = Math.floor(message.length / 2);
    const parts = [decoder.decompress(message.subarray(0, cut), false), decoder.decompress(message.subarray(cut))];
    assert.strictEqual(Buffer.concat(parts).toString(), MESSAGES[i]);
  });
});

test('a message in fragments is one message', () => {
  const [encoder, decoder] = [new DeflateSession(), new InflateSession()];
  const parts = ['one, ', 'two, ', 'three'].map((text, i) => encoder.compress(Buffer.from(text), i === 2));
  assert.strictEqual(decoder.decompress(Buffer.concat(parts)).toString(), 'one, two, three');
  const [hello] = [Buffer.from('f248cdc9c90700', 'hex')]; // RFC 7692, section 7.2.3.1
  assert.strictEqual(new InflateSession().decompress(hello).toString(), 'Hello');
});

test('the limit on messages is exact, also over fragments, and its error persists', () => {
  const encoder = new DeflateSession({ noContextTakeover: true });
  const frame = encoder.compress(Buffer.alloc(1000, 7));
  const options = { noContextTakeover: true };
  const decoder = new InflateSession({ ...options, maxMessage: 1000 });
  for (let i = 0; i < 3; i++) assert.strictEqual(decoder.decompress(frame).length, 1000);
  const small = new InflateSession({ ...options, maxMessage: 999 });
  for (let i = 0; i < 2; i++) {
    assert.throws(() => small.decompress(frame), (error) => error instanceof LinerateError && error.code === 'ERR_LINERATE_LIMIT');
  }
  const parts = new InflateSession({ maxMessage: 999 });
  const fragments = new DeflateSession();
  parts.decompress(fragments.compress(Buffer.alloc(600), false), false);
  assert.throws(() => parts.decompress(fragments.compress(Buffer.alloc(600))), { code: 'ERR_LINERATE_LIMIT' });
  const bomb = new DeflateSession().compress(Buffer.alloc(100_000_000));
  assert.throws(() => new InflateSession({ maxMessage: 100_000 }).decompress(bomb), { code: 'ERR_LINERATE_LIMIT' });
});

test('truncations and flipped bits are typed errors or other text', () => {
  const frame = new DeflateSession().compress(Buffer.from(sample(9, 300)));
  let errors = 0;
  const attempt = (damaged) => {
    try {
      new InflateSession({ maxMessage: 10_000 }).decompress(damaged);
    } catch (error) {
      assert.ok(error instanceof LinerateError, String(error));
      errors += 1;
    }
  };
  for (let length = 1; length < frame.length; length++) attempt(frame.subarray(0, length));
  assert.ok(errors > frame.length * 0.9);
  for (let bit = 0; bit < 8 * frame.length; bit++) {
    const damaged = Buffer.from(frame);
    damaged[bit >> 3] ^= 1 << (bit & 7);
    attempt(damaged);
  }
});

test('wrong options are refused', () => {
  for (const Session of [DeflateSession, InflateSession]) {
    for (const windowBits of [7, 16]) assert.throws(() => new Session({ windowBits }), { code: 'ERR_OUT_OF_RANGE' });
    assert.throws(() => new Session({ noContextTakeover: 1 }), { code: 'ERR_INVALID_ARG_TYPE' });
  }
  assert.throws(() => new DeflateSession({ level: 10 }), { code: 'ERR_OUT_OF_RANGE' });
  assert.throws(() => new InflateSession({ maxMessage: 1.5 }), { code: 'ERR_OUT_OF_RANGE' });
});
