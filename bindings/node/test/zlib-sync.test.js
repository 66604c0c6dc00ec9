'use strict';

// Tests the package @linerate/zlib-sync. The expected results are those of zlib-sync 0.1.10 for the
// same calls, except that it has no limit and no cause in `msg`.

const assert = require('node:assert');
const { test } = require('node:test');
const zlib = require('node:zlib');

const ZlibSync = require('@linerate/zlib-sync');

const { sample, zlibStream } = require('./support.js');

const { Inflate, Z_NO_FLUSH, Z_PARTIAL_FLUSH, Z_SYNC_FLUSH } = ZlibSync;
const { Z_FULL_FLUSH, Z_FINISH, Z_BLOCK, Z_TREES } = ZlibSync;
const WHOLE = zlib.deflateSync('hello hello');

// Returns err, msg and result after pushes of [data, flush].
function after(pushes, options) {
  const inflate = new Inflate(options);
  for (const push of pushes) inflate.push(...push);
  const { err, msg, result } = inflate;
  return [err, msg, Buffer.isBuffer(result) ? result.toString() : result];
}

test('results accumulate until the push after one that flushes', async () => {
  const [one, two] = await zlibStream(['first', 'second']);
  assert.deepStrictEqual(after([]), [0, null, '']);
  assert.deepStrictEqual(after([[one]]), [0, null, 'first']);
  assert.deepStrictEqual(after([[one], [two, Z_SYNC_FLUSH]]), [0, null, 'firstsecond']);
  assert.deepStrictEqual(after([[one, Z_SYNC_FLUSH], [two, Z_SYNC_FLUSH]]), [0, null, 'second']);
  assert.deepStrictEqual(after([[one, Z_SYNC_FLUSH], [two, Z_NO_FLUSH]]), [0, null, 'second']);
  // Flushes of other kinds, and values that are not numbers, do not end a result.
  for (const flush of [Z_PARTIAL_FLUSH, Z_FULL_FLUSH, Z_BLOCK, Z_TREES, false, '2', 2n, null, {}, [2], Symbol('2')]) {
    assert.deepStrictEqual(after([[one, flush], [two, Z_SYNC_FLUSH]]), [0, null, 'firstsecond']);
  }
  assert.deepStrictEqual(after([[one, 2.7], [two, Z_NO_FLUSH]]), [0, null, 'second']);
  for (let cut = 1; cut < one.length; cut++) {
    const parts = [[one.subarray(0, cut)], [one.subarray(cut), Z_SYNC_FLUSH]];
    assert.deepStrictEqual(after(parts), [0, null, 'first']);
  }
});

test('whole streams end, and truncated ones are a buffer error after Z_FINISH', () => {
  for (const flush of [true, false, undefined, Z_SYNC_FLUSH]) {
    assert.deepStrictEqual(after([[WHOLE, flush]]), [1, 'stream end', 'hello hello']);
  }
  assert.deepStrictEqual(after([[WHOLE, Z_SYNC_FLUSH], [WHOLE, Z_SYNC_FLUSH]]), [1, 'stream end', '']);
  assert.deepStrictEqual(after([[WHOLE.subarray(0, 9), true]]), [-5, 'buffer error', null]);
  assert.deepStrictEqual(after([[WHOLE.subarray(0, 9), Z_SYNC_FLUSH]]), [0, null, 'hello ']);
  assert.deepStrictEqual(after([[Buffer.alloc(0), Z_SYNC_FLUSH]]), [-5, 'buffer error', null]);
  assert.deepStrictEqual(after([[Buffer.alloc(0), Z_SYNC_FLUSH], [WHOLE, Z_FINISH]]), [1, 'stream end', 'hello hello']);
});

test('windowBits selects container and window, and a dictionary is reported', () => {
  const cases = [[-15, zlib.deflateRawSync], [31, zlib.gzipSync], [47, zlib.gzipSync], [47, zlib.deflateSync]];
  for (const [windowBits, compress] of cases) {
    assert.deepStrictEqual(after([[compress('text'), true]], { windowBits }), [1, 'stream end', 'text']);
  }
  assert.strictEqual(after([[WHOLE, true]], { windowBits: 9 })[0], -3);
  const dictionary = Buffer.from('abc');
  assert.deepStrictEqual(after([[zlib.deflateSync('abc', { dictionary }), true]]), [2, 'need dictionary', '']);
  for (const windowBits of [99, 7, -20]) assert.throws(() => new Inflate({ windowBits }), { message: 'stream error' });
});

test('damaged data is an error that persists', async () => {
  const [one] = await zlibStream(['first']);
  for (const pushes of [[[Buffer.from('garbage!'), Z_SYNC_FLUSH]], [[Buffer.from('garbage!')], [one, Z_SYNC_FLUSH]]]) {
    const [err, msg, result] = after(pushes);
    assert.strictEqual(err, ZlibSync.Z_DATA_ERROR);
    assert.match(msg, /^data error: /);
    assert.strictEqual(result, null);
  }
  const wrong = Buffer.from(WHOLE);
  wrong[wrong.length - 1] ^= 1;
  assert.strictEqual(after([[wrong, true]])[0], -3);
  const inflate = new Inflate({ maxOutputLength: 1000 });
  inflate.push(zlib.deflateSync(Buffer.alloc(1_000_000)), true);
  assert.deepStrictEqual([inflate.err, inflate.result], [ZlibSync.Z_MEM_ERROR, null]);
});

test('results are strings on request, and options are exposed', () => {
  const inflate = new Inflate({ to: 'string', chunkSize: 65_535, windowBits: 15 });
  assert.strictEqual(inflate.result, '');
  inflate.push(zlib.deflateSync('Grüße 🎉'), true);
  assert.strictEqual(inflate.result, 'Grüße 🎉');
  assert.deepStrictEqual([inflate.chunkSize, inflate.windowBits], [65_535, 15]);
  for (const [given, expected] of [['9', 15], [null, 15], [true, 15], [15.9, 15], [-9.5, -9]]) {
    assert.strictEqual(new Inflate({ windowBits: given }).windowBits, expected);
  }
  for (const [given, expected] of [['9', 16384], [null, 16384], [1.5, 1]]) {
    assert.strictEqual(new Inflate({ chunkSize: given }).chunkSize, expected);
  }
  const bytes = zlib.deflateSync(Buffer.from([0x61, 0xff, 0x62]));
  assert.strictEqual(after([[bytes, true]], { to: 'string' })[2], 'a\ufffdb');
  assert.throws(() => inflate.push('text'), TypeError);
  assert.throws(() => inflate.push(), TypeError);
});

test('a later push does not change an earlier result', async () => {
  const [one, two] = await zlibStream([sample(1, 5000), sample(2, 5000)]);
  const inflate = new Inflate();
  inflate.push(one, Z_SYNC_FLUSH);
  const { result } = inflate;
  assert.strictEqual(inflate.result, result);
  inflate.push(two, Z_SYNC_FLUSH);
  assert.strictEqual(result.toString(), sample(1, 5000));
});

test('the constants are those of zlib.h', () => {
  const names = Object.keys(ZlibSync).filter((name) => name in zlib.constants);
  assert.ok(names.length >= 20);
  for (const name of names) assert.strictEqual(ZlibSync[name], zlib.constants[name], name);
  assert.strictEqual(ZlibSync.Z_TREES, 6);
});
