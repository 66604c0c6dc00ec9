'use strict';

// Runs the released discord.js on traffic of `linerate gateway generate`, served by `linerate gateway
// serve`. scripts/test.sh node installs discord.js and runs this test.

const assert = require('node:assert');
const { execFileSync, spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const readline = require('node:readline');
const { after, test } = require('node:test');

const { Client, Events, GatewayIntentBits } = require('discord.js');

const REPOSITORY = path.join(__dirname, '..', '..');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'linerate-node-'));
after(() => fs.rmSync(folder, { recursive: true }));

// Path of the program: LINERATE_BIN, or the newest build in the target folder.
function program() {
  if (process.env.LINERATE_BIN) return process.env.LINERATE_BIN;
  const target = process.env.CARGO_TARGET_DIR ?? path.join(REPOSITORY, 'target');
  const built = ['debug', 'release'].map((profile) => path.join(target, profile, 'linerate')).filter(fs.existsSync);
  assert.ok(built.length > 0, `${target}: no linerate program; run cargo build --package linerate, or set LINERATE_BIN`);
  return built.sort((one, other) => fs.statSync(other).mtimeMs - fs.statSync(one).mtimeMs)[0];
}

// The payloads of a file: each after its 4-byte little-endian length.
function messages(file) {
  const bytes = fs.readFileSync(file);
  const all = [];
  for (let at = 0; at < bytes.length; at += 4 + bytes.readUInt32LE(at)) {
    all.push(JSON.parse(bytes.subarray(at + 4, at + 4 + bytes.readUInt32LE(at)).toString()));
  }
  return all;
}

// Serves on a free port for at most a minute.
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

// Resolves once `condition()` is true; rejects on an error of the client or after 45 s.
function until(client, condition, what) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`timeout: ${what()}`)), 45_000);
    const poll = setInterval(() => {
      if (!condition()) return;
      clearTimeout(late);
      clearInterval(poll);
      resolve();
    }, 20);
    client.once(Events.Error, reject);
    client.once(Events.ShardError, reject);
  });
}

for (const options of [[], ['--close-after', '100']]) {
  test(`discord.js receives every event of generated traffic ${options.join(' ')}`, async () => {
    const made = path.join(folder, `made${options.length}`);
    execFileSync(program(), ['gateway', 'generate', '-q', '--guilds', '4', '--events', '300', '-o', made]);
    const file = path.join(made, 'shard-0.msgs');
    const sent = messages(file).filter((message) => message.op === 0);
    const count = (name) => sent.filter((message) => message.t === name).length;
    const gateway = await serve('--messages', file, ...options);
    const client = new Client({
      intents: Object.values(GatewayIntentBits).filter(Number.isInteger),
      rest: { api: `http://127.0.0.1:${gateway.port}/api` },
    });
    const got = { clientReady: 0, messageCreate: 0, typingStart: 0, messageReactionAdd: 0 };
    for (const event of Object.keys(got)) client.on(event, () => (got[event] += 1));
    const warnings = [];
    client.on(Events.Warn, (warning) => warnings.push(warning));
    const warned = (warning) => warnings.push(String(warning));
    process.on('warning', warned);
    try {
      await client.login('token');
      const expected = {
        clientReady: 1,
        messageCreate: count('MESSAGE_CREATE'),
        typingStart: count('TYPING_START'),
        messageReactionAdd: 0,
      };
      const all = () =>
        got.clientReady === 1 &&
        got.messageCreate >= expected.messageCreate &&
        got.typingStart >= expected.typingStart;
      await until(client, all, () => JSON.stringify({ got, expected, warnings }));
      // discord.js emits no events for reactions to messages that it has not cached.
      assert.deepStrictEqual(got, expected);
      assert.strictEqual(client.guilds.cache.size, count('GUILD_CREATE'));
      for (const { d: guild } of sent.filter((message) => message.t === 'GUILD_CREATE')) {
        const cached = client.guilds.cache.get(guild.id);
        assert.strictEqual(cached.name, guild.name);
        assert.strictEqual(cached.channels.cache.size, guild.channels.length);
        assert.strictEqual(cached.roles.everyone.id, guild.id);
        assert.ok(cached.members.me);
      }
      assert.deepStrictEqual(warnings, []);
    } finally {
      process.off('warning', warned);
      await client.destroy();
    }
    const report = await gateway.end();
    assert.strictEqual(report.identifies, 1);
    assert.strictEqual(report.resumes, options.length > 0 ? 1 : 0);
  });
}
