'use strict';

// Tests a client of our own against `linerate gateway serve`, over both transports: damage, loss
// and reconnects.

const assert = require('node:assert');
const { test } = require('node:test');
const WebSocket = require('ws');

const { GatewayDecompressor, GatewayError, peek } = require('linerate');

const { generate, payloads, serve, temporaryFolder } = require('./support.js');

const folder = temporaryFolder();
const EVENTS = 120;
const file = generate(folder, 3, EVENTS);
const sent = payloads(file)
  .map((text) => ({ text, ...JSON.parse(text) }))
  .filter(({ op, t }) => op === 0 && t !== 'READY');

// Connects, and resumes after errors, until all events of the file have arrived.
function receive(port, kind) {
  const decompressor = new GatewayDecompressor(kind, { checks: 'json', sequence: true });
  const seen = { texts: new Map(), connections: 0, errors: [], session: null, sequence: null };
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`timeout after event ${seen.sequence}`)), 45_000);
    const connect = () => {
      seen.connections += 1;
      decompressor.reset();
      if (seen.sequence !== null) decompressor.resumeAfter(seen.sequence);
      const socket = new WebSocket(`ws://127.0.0.1:${port}/?v=10&encoding=json&compress=${kind}`);
      let isOver = false;
      const over = () => {
        if (isOver) return;
        isOver = true;
        socket.terminate();
        connect();
      };
      socket.on('error', () => {});
      socket.on('close', over);
      socket.on('message', (data) => {
        if (isOver) return;
        let text;
        try {
          text = decompressor.decompressText(data);
        } catch (error) {
          seen.errors.push(error);
          over();
          return;
        }
        if (text === null) return;
        assert.deepStrictEqual(peek(text), decompressor.envelope);
        const { op, s, t } = decompressor.envelope;
        if (op === 10) {
          const token = 'token';
          const resume = { op: 6, d: { token, session_id: seen.session, seq: seen.sequence } };
          const identify = { op: 2, d: { token, intents: 0, properties: {} } };
          socket.send(JSON.stringify(seen.session === null ? identify : resume));
        } else if (op === 7) {
          over();
        } else if (op === 9) {
          seen.session = seen.sequence = null;
          over();
        } else if (op === 0) {
          if (s !== null) seen.sequence = s;
          if (t === 'READY') seen.session = JSON.parse(text).d.session_id;
          else if (t !== 'RESUMED') seen.texts.set(s, text);
          if (seen.texts.size === sent.length) {
            isOver = true;
            clearTimeout(late);
            socket.terminate();
            resolve(seen);
          }
        }
      });
    };
    connect();
  });
}

const CASES = [
  { options: [], connections: 1 },
  { options: ['--fragment', '50'], connections: 1 },
  { options: ['--close-after', '30', '--disconnect-after', '60', '--reconnect-after', '90'], connections: 4 },
  { options: ['--corrupt-at', '40'], connections: 2, code: /^ERR_LINERATE_CORRUPT$/ },
  { options: ['--drop-at', '40'], connections: 2, code: /^ERR_LINERATE_/ },
  { options: ['--truncate-at', '40'], connections: 2, code: /^ERR_LINERATE_/ },
];

for (const kind of ['zlib-stream', 'zstd-stream']) {
  for (const { options, connections, code } of CASES) {
    test(`${kind}: every event arrives ${options.join(' ')}`, async () => {
      const gateway = await serve('--messages', file, ...options);
      const seen = await receive(gateway.port, kind);
      await gateway.end();
      assert.strictEqual(seen.connections, connections);
      assert.strictEqual(seen.texts.size, sent.length);
      const inOrder = [...seen.texts].sort(([one], [other]) => one - other);
      sent.forEach(({ t, d }, i) => {
        const got = JSON.parse(inOrder[i][1]);
        assert.deepStrictEqual([got.t, got.d], [t, d]);
      });
      assert.strictEqual(seen.errors.length, code === undefined ? 0 : 1);
      for (const error of seen.errors) {
        assert.ok(error instanceof GatewayError);
        assert.match(error.code, code);
      }
    });
  }
}
