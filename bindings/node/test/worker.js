'use strict';

// A worker of memory.test.js, which decompresses the same frames again and again.

const assert = require('node:assert');
const { parentPort, workerData } = require('node:worker_threads');

const linerate = require('linerate');

const { frames, texts, rounds, zlib } = workerData;

(async () => {
  for (let round = 0; round < rounds; round++) {
    const gateway = new linerate.GatewayDecompressor('zlib-stream');
    const tasks = [linerate.inflate(zlib), linerate.inflate(zlib)];
    frames.forEach((frame, i) => assert.strictEqual(gateway.decompressText(frame), texts[i]));
    if (round === 1) parentPort.postMessage('at work');
    for (const task of tasks) assert.strictEqual((await task).length, 200_000);
  }
})();
