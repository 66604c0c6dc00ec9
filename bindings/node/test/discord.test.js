'use strict';

// Runs the released discord.js on traffic of `linerate gateway generate`, served by
// `linerate gateway serve`. If our zlib-sync is installed beside it, it is used. scripts/test.sh node
// installs both and runs this test.

const assert = require('node:assert');
const path = require('node:path');
const { test } = require('node:test');

const { Client, Events, GatewayIntentBits } = require('discord.js');

const { generate, payloads, serve, temporaryFolder } = require('./support.js');

const folder = temporaryFolder();
const { Inflate } = optional('zlib-sync');

function optional(name) {
  try {
    return require(require.resolve(name, { paths: [path.dirname(require.resolve('discord.js'))] }));
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return {};
    throw error;
  }
}

// Counts the messages that go through zlib-sync.
let pushes = 0;
if (Inflate) {
  const { push } = Inflate.prototype;
  Inflate.prototype.push = function counted(...args) {
    pushes += 1;
    return push.apply(this, args);
  };
}

// Resolves once `condition()` is true. Rejects on an error of the client or after 45 s.
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

for (const options of [[], ['--close-after', '100'], ['--fragment', '700', '--disconnect-after', '50']]) {
  test(`discord.js ${Inflate ? 'with zlib-sync of linerate ' : ''}receives every event of generated traffic ${options.join(' ')}`, async () => {
    const file = generate(path.join(folder, `made${options.length}`), 4, 300);
    const sent = payloads(file).map(JSON.parse).filter((message) => message.op === 0);
    pushes = 0;
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
    // Fragments are pushed one by one.
    assert.ok(Inflate === undefined ? pushes === 0 : pushes >= sent.length, `${pushes} pushes`);
    const report = await gateway.end();
    assert.strictEqual(report.identifies, 1);
    assert.strictEqual(report.resumes, options.length > 0 ? 1 : 0);
  });
}
