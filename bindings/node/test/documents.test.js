'use strict';

// Runs every block of JavaScript in the documentation, each in a process of its own.

const assert = require('node:assert');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');

const { serve, temporaryFolder } = require('./support.js');

const DOCS = path.join(__dirname, '..', '..', '..', 'docs');
const folder = temporaryFolder();

function pages(below) {
  const entries = fs.readdirSync(below, { withFileTypes: true });
  return entries.flatMap((entry) => {
    const file = path.join(below, entry.name);
    if (entry.isDirectory()) return pages(file);
    return entry.name.endsWith('.md') ? [file] : [];
  });
}

const READMES = ['linerate', 'zlib-sync'].map((name) => path.join(__dirname, '..', name, 'README.md'));
const blocks = [...pages(DOCS), ...READMES].flatMap((page) =>
  [...fs.readFileSync(page, 'utf8').matchAll(/^```js\n(.*?)^```$/gms)].map(([, text], i) => ({ page, text, i })),
);

test('the pages have examples', () => assert.ok(blocks.length >= 3));

// The address of the gateway on the page of `linerate gateway serve`.
const SERVED = '127.0.0.1:40000';

for (const { page, text, i } of blocks) {
  test(`${path.relative(DOCS, page)}, block ${i + 1}`, async () => {
    const gateway = text.includes(SERVED) ? await serve() : null;
    const program = gateway === null ? text : text.replaceAll(SERVED, `127.0.0.1:${gateway.port}`);
    const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', program], { cwd: folder, timeout: 45_000 });
    assert.strictEqual(status, 0, stderr.toString());
    if (gateway !== null) {
      assert.notStrictEqual(stdout.toString(), '');
      assert.strictEqual((await gateway.end()).identifies, 1);
    }
  });
}
