'use strict';

// Functions that the tests share: the program `linerate`, its gateway, and streams to decompress.

const assert = require('node:assert');
const { execFileSync, spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const readline = require('node:readline');
const { after } = require('node:test');
const zlib = require('node:zlib');

const REPOSITORY = path.join(__dirname, '..', '..', '..');

// Creates a folder that is removed after the tests of a file.
function temporaryFolder() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'linerate-node-'));
  after(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

// Returns the path of the program: LINERATE_BIN, or the newest build in the target folder.
function program() {
  if (process.env.LINERATE_BIN) return process.env.LINERATE_BIN;
  const target = process.env.CARGO_TARGET_DIR ?? path.join(REPOSITORY, 'target');
  const built = ['debug', 'release'].map((profile) => path.join(target, profile, 'linerate')).filter(fs.existsSync);
  assert.ok(built.length > 0, `${target}: no linerate program; run cargo build --package linerate, or set LINERATE_BIN`);
  return built.sort((one, other) => fs.statSync(other).mtimeMs - fs.statSync(one).mtimeMs)[0];
}

// Makes a file of generated traffic in `folder`, and returns its path.
function generate(folder, guilds, events) {
  const counts = ['--guilds', String(guilds), '--events', String(events)];
  execFileSync(program(), ['gateway', 'generate', '-q', ...counts, '-o', folder]);
  return path.join(folder, 'shard-0.msgs');
}

// Returns the payloads of a file as text. In the file each follows its length (4 bytes,
// little-endian).
function payloads(file) {
  const bytes = fs.readFileSync(file);
  const all = [];
  for (let at = 0; at < bytes.length; at += 4 + bytes.readUInt32LE(at)) {
    all.push(bytes.subarray(at + 4, at + 4 + bytes.readUInt32LE(at)).toString());
  }
  return all;
}

// Starts a gateway on a free port, for at most a minute.
async function serve(...options) {
  const args = ['gateway', 'serve', '--json', '--for', '60', ...options];
  const child = spawn(program(), args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = readline.createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { port } = JSON.parse((await lines.next()).value);
  const end = async () => {
    child.kill();
    const { value } = await lines.next();
    return value === undefined ? undefined : JSON.parse(value);
  };
  return { port, end };
}

// Returns the messages of a zlib-stream connection.
async function zlibStream(texts) {
  const stream = zlib.createDeflate();
  const frames = [];
  let parts = [];
  stream.on('data', (part) => parts.push(part));
  for (const text of texts) {
    parts = [];
    stream.write(text);
    await new Promise((resolve) => stream.flush(zlib.constants.Z_SYNC_FLUSH, resolve));
    await new Promise(setImmediate);
    frames.push(Buffer.concat(parts));
  }
  return frames;
}

// Makes a zstd frame of raw blocks.
function rawFrame(content) {
  const parts = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38])]; // a window of 128 KiB
  const BLOCK = 100_000;
  for (let at = 0; at === 0 || at < content.length; at += BLOCK) {
    const block = content.subarray(at, at + BLOCK);
    const header = Buffer.alloc(3);
    header.writeUIntLE((block.length << 3) | (at + BLOCK >= content.length ? 1 : 0), 0, 3);
    parts.push(header, block);
  }
  return Buffer.concat(parts);
}

// Makes a zstd frame of `count` blocks of 4 bytes, each of which repeats a byte 128 Ki times.
function repeatedFrame(byte, count) {
  const parts = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38])];
  for (let i = 1; i <= count; i++) {
    const block = Buffer.alloc(4);
    block.writeUIntLE((131_072 << 3) | (1 << 1) | (i === count ? 1 : 0), 0, 3);
    block[3] = byte;
    parts.push(block);
  }
  return Buffer.concat(parts);
}

// Compresses with the program `zstd`. Returns null if it is not installed.
function zstdFrame(content, ...options) {
  try {
    return execFileSync('zstd', ['-q', '-c', ...options], { input: content, maxBuffer: 1 << 30 });
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}

const HELLO = {
  text: String.raw`{"t":null,"s":null,"op":10,"d":{"heartbeat_interval":41250,"_trace":["[\"gateway-prd-us-east1-d-0\",{\"micros\":0.0}]"]}}`,
  zstd: Buffer.from(
    '28b52ffd00304403001207181b7069db1441e86e30fb898f22fcfbf0e3ffdf4c882e612b50ff8710ef1d3f5e02529f1ac312e5f0e4ce53a242d46d' +
      '191b02156b70b10aee2d3c1937f49c2c6be427070124d0af4d30ee45417a99d06cd970a7573f89f40dd37ed6422cfabe0b0100244a12',
    'hex',
  ),
};

// Makes text that compresses like JSON, and differs for each number.
function sample(number, length) {
  let text = '';
  for (let i = number; text.length < length; i = (i * 1103515245 + 12345) % 2147483648) {
    text += `{"id":"${i}","name":"member ${i % 97}","roles":[${i % 7},${i % 11}]},`;
  }
  return text.slice(0, length);
}

module.exports = { HELLO, generate, payloads, program, rawFrame, repeatedFrame, sample, serve, temporaryFolder, zlibStream, zstdFrame };
