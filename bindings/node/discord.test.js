'use strict';

// discord.js, as it is released, on the traffic that `linerate gateway generate` makes, from `linerate gateway
// serve`. scripts/test.sh node installs it and runs this.

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

// The program: that of LINERATE_BIN, or what cargo built last.
function program() {
  if (process.env.LINERATE_BIN) return process.env.LINERATE_BIN;
  const target = process.env.CARGO_TARGET_DIR ?? path.join(REPOSITORY, 'target');
  const built = ['debug', 'release'].map((profile) => path.join(target, profile, 'linerate')).filter(fs.existsSync);
  assert.ok(built.length > 0, `there is no linerate in ${target}: cargo build --package linerate, or LINERATE_BIN`);
  return built.sort((one, other) => fs.statSync(other).mtimeMs - fs.statSync(one).mtimeMs)[0];
}

// The payloads of a file of messages, each behind its length.
function messages(file) {
  const bytes = fs.readFileSync(file);
  const all = [];
  for (let at = 0; at < bytes.length; at += 4 + bytes.readUInt32LE(at)) {
    all.push(JSON.parse(bytes.subarray(at + 4, at + 4 + bytes.readUInt32LE(at)).toString()));
  }
  return all;
}

// Serves on a free port; ends by itself after a minute.
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

// Resolves once a condition holds after some event of the client.
function until(client, condition, what) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`not in time: ${what()}`)), 45_000);
    const look = setInterval(() => {
      if (!condition()) return;
      clearTimeout(late);
      clearInterval(look);
      resolve();
    }, 20);
    client.once(Events.Error, reject);
    client.once(Events.ShardError, reject);
  });
}

for (const trouble of [[], ['--close-after', '100']]) {
  test(`discord.js gets ready on generated traffic and sees every event ${trouble.join(' ')}`, async () => {
    const made = path.join(folder, `made${trouble.length}`);
    execFileSync(program(), ['gateway', 'generate', '-q', '--guilds', '4', '--events', '300', '-o', made]);
    const file = path.join(made, 'shard-0.msgs');
    const sent = messages(file).filter((message) => message.op === 0);
    const count = (name) => sent.filter((message) => message.t === name).length;
    const gateway = await serve('--messages', file, ...trouble);
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
      // Reactions come for messages that were never seen, which discord.js keeps to itself.
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
    assert.strictEqual(report.resumes, trouble.length > 0 ? 1 : 0);
  });
}
