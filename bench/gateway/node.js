'use strict';

// Measures the npm package linerate beside zlib-sync, node:zlib and fzstd on connections of a gateway.
//
// Run as `node --expose-gc bench/gateway/node.js DIR [--rounds N]`, with NODE_PATH for the packages
// (scripts/bench-gateway-node.sh). It prints JSON Lines. DIR has files of messages, each with its length in front (4 bytes,
// little-endian): payloads in X.msgs, their compressed forms in X.zlib and X.zst. All output is compared with X.msgs first.
// Figures are CPU time of the process, including the thread pool; contenders take turns in each round. There are two modes:
//
// * start: all messages of a connection but the first, which is decoded untimed
// * live: messages after the last GUILD_CREATE; earlier messages are decoded untimed

const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const zlib = require('node:zlib');

const ENDINGS = { 'zlib-stream': '.zlib', 'zstd-stream': '.zst' };

// Returns a package and its version; null if it is not installed, or does not support this version of Node.js.
function optional(name) {
  let module;
  try {
    module = require(name);
  } catch (error) {
    console.error(`left out: ${name}, ${error.code}`);
    return null;
  }
  const file = require.resolve(name);
  // package.json is read as a file, because a package need not export it for `require`.
  const inside = path.join('node_modules', name);
  const folder = file.slice(0, file.lastIndexOf(inside) + inside.length);
  const { version } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
  return { module, version };
}

// Returns the contenders for a transport: name, version, type of the result, and a function that
// begins a connection. That function returns another one, which takes a message and returns its
// payload or a promise of the payload. Contenders with the same type of result are compared with
// the first of them.
function contenders(kind) {
  const all = [];
  const add = (name, version, result, begin) => all.push({ name, version, result, begin });
  const ours = require('linerate/package.json').version;
  if (kind === 'zlib-stream') {
    const byInflate = ({ Inflate, Z_SYNC_FLUSH }, options) => () => {
      const inflate = new Inflate({ chunkSize: 65_535, ...options });
      return (frame) => {
        inflate.push(frame, Z_SYNC_FLUSH);
        return inflate.result;
      };
    };
    const other = optional('zlib-sync');
    if (other) {
      add('zlib-sync', other.version, 'string', byInflate(other.module, { to: 'string' }));
      add('zlib-sync', other.version, 'Buffer', byInflate(other.module, {}));
    }
    const asText = (begin) => () => {
      const decode = begin();
      return async (frame) => (await decode(frame)).toString();
    };
    add('node:zlib', process.versions.zlib, 'string', asText(() => byStream(zlib.createInflate(), zlib.constants.Z_SYNC_FLUSH)));
    add('node:zlib', process.versions.zlib, 'Buffer', () => byStream(zlib.createInflate(), zlib.constants.Z_SYNC_FLUSH));
    const shaped = require('@linerate/zlib-sync');
    add('@linerate/zlib-sync', ours, 'string', byInflate(shaped, { to: 'string' }));
    add('@linerate/zlib-sync', ours, 'Buffer', byInflate(shaped, {}));
  } else {
    const fzstd = optional('fzstd');
    if (fzstd) {
      const begin = () => {
        let parts = [];
        const stream = new fzstd.module.Decompress((part) => parts.push(part));
        return (frame) => {
          parts = [];
          stream.push(frame);
          return Buffer.concat(parts);
        };
      };
      add('fzstd', fzstd.version, 'string', () => {
        const decode = begin();
        return (frame) => decode(frame).toString();
      });
      add('fzstd', fzstd.version, 'Buffer', begin);
    }
    if (zlib.createZstdDecompress) {
      const stream = () => byStream(zlib.createZstdDecompress(), zlib.constants.ZSTD_e_flush);
      add('node:zlib', process.versions.zstd, 'Buffer', stream);
    }
  }
  const { GatewayDecompressor } = require('linerate');
  const decompressor = (method) => () => {
    const made = new GatewayDecompressor(kind);
    return (frame) => made[method](frame);
  };
  add('linerate', ours, 'string', decompressor('decompressText'));
  add('linerate', ours, 'Buffer', decompressor('decompress'));
  return all;
}

// Returns a function that decodes messages through a stream of node:zlib, which works on the thread
// pool.
function byStream(stream, flush) {
  let parts = [];
  stream.on('data', (part) => parts.push(part));
  return (frame) =>
    new Promise((resolve, reject) => {
      parts = [];
      stream.once('error', reject);
      stream.write(frame);
      stream.flush(flush, () => {
        stream.off('error', reject);
        resolve(Buffer.concat(parts));
      });
    });
}

function records(file) {
  const bytes = fs.readFileSync(file);
  const all = [];
  for (let at = 0; at < bytes.length; at += 4 + bytes.readUInt32LE(at)) {
    all.push(bytes.subarray(at + 4, at + 4 + bytes.readUInt32LE(at)));
  }
  return all;
}

// Returns the connections in a folder: messages, their payloads, and the index of the first message
// after the last GUILD_CREATE.
function connections(folder, kind) {
  const files = fs.readdirSync(folder).filter((name) => name.endsWith('.msgs')).sort();
  if (files.length === 0) throw new Error(`no .msgs files in ${folder}`);
  return files.map((name) => {
    const file = path.join(folder, name);
    const payloads = records(file);
    const settled = payloads.findLastIndex((payload) => payload.includes('"t":"GUILD_CREATE"')) + 1;
    return { frames: records(file.replace(/\.msgs$/, ENDINGS[kind])), payloads, settled };
  });
}

async function verify({ name, begin }, all) {
  for (const { frames, payloads } of all) {
    const decode = begin();
    for (let i = 0; i < frames.length; i++) {
      const got = Buffer.from(await decode(frames[i]));
      if (!got.equals(payloads[i])) throw new Error(`${name} decodes message ${i} to different bytes`);
    }
  }
}

// Returns the mean CPU microseconds for a message after the first `skip` messages, and in any case
// after the first one.
async function time(begin, frames, skip) {
  const decode = begin();
  const first = decode(frames[0]);
  const isAsync = first instanceof Promise;
  // Without this, decoding the first message would be part of the measurement, and a failure would end the process.
  await first;
  const run = async (some) => {
    if (isAsync) for (const frame of some) await decode(frame);
    else for (const frame of some) decode(frame);
  };
  await run(frames.slice(1, Math.max(skip, 1)));
  const timed = frames.slice(Math.max(skip, 1));
  global.gc();
  const before = process.cpuUsage();
  await run(timed);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / timed.length;
}

// Connections that stay open, one for each contender, as in bots. When the last instance of a class is gone, V8 drops the code
// that it compiled for the class, and the time to compile it again would count for the messages.
const open = [];

async function measure(folder, shape, kind, all, rounds) {
  const rivals = contenders(kind);
  for (const rival of rivals) {
    await verify(rival, all);
    const decode = rival.begin();
    await decode(all[0].frames[0]);
    open.push(decode);
  }
  const skips = all.map(({ settled }) => (shape === 'live' ? settled : 0));
  const sizes = all.flatMap(({ payloads }, i) => payloads.slice(Math.max(skips[i], 1)).map((payload) => payload.length));
  const taken = rivals.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < rivals.length; i++) {
      const index = (round + i) % rivals.length;
      let sum = 0;
      for (const [k, { frames }] of all.entries()) {
        sum += (await time(rivals[index].begin, frames, skips[k])) * (frames.length - Math.max(skips[k], 1));
      }
      taken[index].push(sum / sizes.length);
    }
  }
  const average = sizes.reduce((a, b) => a + b, 0) / sizes.length;
  rivals.forEach((rival, i) => {
    const base = rivals.findIndex((other) => other.result === rival.result);
    print({
      shape: 'node',
      data: path.basename(folder),
      contender: rival.name,
      params: {
        mode: shape, transport: kind, result: rival.result, clock: 'cpu', connections: all.length,
        messages: sizes.length, base: rivals[base].name,
      },
      metrics: {
        speed: figure(taken[i].map((us) => average / us)),
        time: figure(taken[i]),
        // Quotients are taken within a round, because other work on the machine affects all of a round.
        speed_by_base: figure(taken[i].map((us, round) => taken[base][round] / us)),
      },
    });
  });
}

const print = (line) => console.log(JSON.stringify(line));

// Returns the median, lowest and highest of the values of rounds, to six digits, or one number if
// all are equal.
function figure(values) {
  const sorted = values.map((value) => Number(value.toPrecision(6))).sort((a, b) => a - b);
  const [low, median, high] = [sorted[0], sorted[sorted.length >> 1], sorted.at(-1)];
  return low === high ? median : { median, low, high };
}

// Returns the first line of the output, which says what was run: date, CPU, versions and command.
function run(folder, rounds) {
  const versions = { node: process.versions.node };
  for (const { name, version } of Object.keys(ENDINGS).flatMap(contenders)) versions[name] = version;
  const words = Object.entries(versions).map((pair) => pair.join('='));
  const command = `bench/gateway/node.js ${path.basename(folder)} --rounds ${rounds}`;
  return execFileSync('python3', [path.join(__dirname, '../lines.py'), command, ...words]).toString().trim();
}

async function main([folder, option, count]) {
  if (!folder || (option && option !== '--rounds')) {
    console.error('usage: node --expose-gc bench/gateway/node.js DIR [--rounds N]');
    process.exit(2);
  }
  const rounds = Number(count ?? 7);
  console.log(run(folder, rounds));
  for (const kind of Object.keys(ENDINGS)) {
    const all = connections(folder, kind);
    for (const shape of ['start', 'live']) await measure(folder, shape, kind, all, rounds);
  }
}

main(process.argv.slice(2));
