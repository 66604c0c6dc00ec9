'use strict';

// Node's ws as a peer. `ws.js serve BITS` echoes and prints its port. `ws.js client URL BITS COUNT`
// sends half of the messages one by one and the others at once, checks the echoes, and prints what
// was agreed on.

const { randomBytes } = require('crypto');
const { WebSocket, WebSocketServer } = require('ws');

const [mode, ...rest] = process.argv.slice(2);

if (mode === 'serve') {
  const bits = Number(rest[0]);
  const perMessageDeflate = { threshold: 0, serverMaxWindowBits: bits, clientMaxWindowBits: bits };
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate }, () => {
    console.log(server.address().port);
  });
  server.on('connection', (socket) => {
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
  setTimeout(() => process.exit(0), 120_000).unref();
  process.stdin.on('end', () => process.exit(0)).resume();
} else {
  const [url, bits, count] = [rest[0], Number(rest[1]), Number(rest[2])];
  const perMessageDeflate = { threshold: 0, serverMaxWindowBits: bits, clientMaxWindowBits: bits };
  const socket = new WebSocket(url, { perMessageDeflate });
  const noise = randomBytes(200_000);
  const message = (i) => (i % 500 === 250 ? noise : `${i}: ` + `message ${i % 13} of many, `.repeat(i % 90));
  const half = Math.floor(count / 2);
  let received = 0;
  const send = (i) => {
    if (i < half) socket.send(message(i));
    if (i === half) for (; i < count; i++) socket.send(message(i));
  };
  socket.on('open', () => send(0));
  socket.on('message', (data) => {
    if (!data.equals(Buffer.from(message(received)))) throw new Error(`message ${received} differs`);
    received += 1;
    if (received < count) send(received);
    else {
      console.log(socket.extensions);
      socket.close();
    }
  });
}
