'use strict';

// Tests memory. Must run with --expose-gc.

const assert = require('node:assert');
const path = require('node:path');
const { test } = require('node:test');
const { Worker } = require('node:worker_threads');
const zlib = require('node:zlib');

const linerate = require('linerate');

const { HELLO, rawFrame, sample, zlibStream } = require('./support.js');

const MIB = 1 << 20;
const { DeflateSession, GatewayDecompressor, InflateSession, ZstdDecompress } = linerate;

// Collects garbage and runs finalizers.
async function collect() {
  for (let i = 0; i < 4; i++) {
    global.gc();
    await new Promise(setImmediate);
  }
}

test('dropped sessions are freed without a call of the garbage collector, which is told their memory', async () => {
  const [frame] = await zlibStream([sample(1, 60_000)]);
  const message = new DeflateSession().compress(Buffer.from(sample(2, 60_000)));
  const makers = {
    GatewayDecompressor() {
      const made = new GatewayDecompressor('zlib-stream');
      made.decompress(frame.subarray(0, -5));
      made.decompressText(frame.subarray(-5));
      return made.memory;
    },
    DeflateSession() {
      const made = new DeflateSession();
      made.compress(Buffer.from('text'));
      return made.memory;
    },
    InflateSession() {
      const made = new InflateSession();
      made.decompress(message);
      return made.memory;
    },
  };
  for (const [name, make] of Object.entries(makers)) {
    await collect();
    const before = process.memoryUsage.rss();
    let made = 0;
    let most = 0;
    while (made < 360 * MIB) {
      for (let i = 0; i < 20; i++) made += make();
      await new Promise(setImmediate);
      most = Math.max(most, process.memoryUsage.rss() - before);
    }
    assert.ok(most < 200 * MIB, `${name}: ${most / MIB} MiB`);
  }
});

test('creating and dropping sessions does not leak memory', async () => {
  const [frame] = await zlibStream([sample(3, 20_000)]);
  const zstd = rawFrame(Buffer.from(sample(4, 100_000)));
  const round = async () => {
    for (let i = 0; i < 1000; i++) {
      const gateway = new GatewayDecompressor(i % 2 ? 'zlib-stream' : 'zstd-stream');
      gateway.decompress(i % 2 ? frame : HELLO.zstd);
      if (i % 3 === 0) gateway.reset();
      assert.throws(() => gateway.decompress(Buffer.from([6, 0, 0, 0, 0, 255, 255])));
      new InflateSession().decompress(new DeflateSession().compress(Buffer.from('text')));
      if (i % 20 === 0) {
        new ZstdDecompress().end(zstd.subarray(0, 1000)).on('error', () => {}).destroy();
        await linerate.zstdDecompress(zstd);
      }
    }
    await collect();
    return process.memoryUsage.rss();
  };
  await round();
  const first = await round();
  await round();
  const last = await round();
  assert.ok(last - first < 24 * MIB, `${(last - first) / MIB} MiB more after 2,000 more of each`);
});

test('a reset frees the history', async () => {
  const [frame] = await zlibStream([sample(5, 60_000)]);
  const gateway = new GatewayDecompressor('zlib-stream');
  gateway.decompress(frame);
  assert.ok(gateway.memory > 32_768);
  gateway.reset();
  assert.ok(gateway.memory < 4096);
});

test('many tasks at once give the right output', async () => {
  const contents = Array.from({ length: 64 }, (_, i) => Buffer.from(sample(i, 50_000 + i)));
  const compressed = await Promise.all(contents.map((content) => linerate.deflate(content)));
  const inflated = await Promise.all(compressed.map((data) => linerate.inflate(data)));
  assert.deepStrictEqual(inflated, contents);
});

test('workers decompress at the same time, and may end at any moment', async () => {
  const texts = Array.from({ length: 50 }, (_, i) => sample(i, 1000 * (i % 7) + 5));
  const frames = await zlibStream(texts);
  const shared = frames.map((frame) => {
    const bytes = new Uint8Array(new SharedArrayBuffer(frame.length));
    bytes.set(frame);
    return bytes;
  });
  const work = (rounds) =>
    new Worker(path.join(__dirname, 'worker.js'), { workerData: { frames: shared, texts, rounds, zlib: zlib.deflateSync(sample(1, 200_000)) } });
  const ended = (worker) =>
    new Promise((resolve, reject) => {
      worker.on('error', reject);
      worker.on('exit', resolve);
    });
  assert.deepStrictEqual(await Promise.all([1, 2, 3, 4].map(() => ended(work(20)))), [0, 0, 0, 0]);
  for (let i = 0; i < 4; i++) {
    const worker = work(1e9);
    await new Promise((resolve) => worker.once('message', resolve));
    assert.strictEqual(await worker.terminate(), 1);
  }
});

test('output of tasks is freed when their worker ends', async () => {
  const content = Buffer.alloc(MIB, 'abcdefgh');
  const program = `
    const { parentPort, workerData } = require('node:worker_threads');
    const linerate = require('linerate');
    for (let i = 0; i < 10; i++) {
      linerate.inflate(workerData.zlib);
      linerate.zstdDecompress(workerData.zstd);
      linerate.createZstdDecompress({ chunkSize: ${MIB} }).write(workerData.zstd);
    }
    parentPort.postMessage('at work');`;
  const workerData = { zlib: zlib.deflateSync(content), zstd: rawFrame(content) };
  const round = async (workers) => {
    for (let i = 0; i < workers; i++) {
      const worker = new Worker(program, { eval: true, workerData });
      await new Promise((resolve, reject) => worker.once('error', reject).once('message', resolve));
      await worker.terminate();
    }
    await collect();
    return process.memoryUsage.rss();
  };
  const first = await round(5);
  const last = await round(15);
  assert.ok(last - first < 100 * MIB, `${(last - first) / MIB} MiB more after 15 workers with 30 MiB of output each`);
});
