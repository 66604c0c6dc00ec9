'use strict';

// Runs every block of JavaScript in the documentation, each in a process of its own.

const assert = require('node:assert');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');

const { temporaryFolder } = require('./support.js');

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

for (const { page, text, i } of blocks) {
  test(`${path.relative(DOCS, page)}, block ${i + 1}`, () => {
    const { status, stderr } = spawnSync(process.execPath, ['-e', text], { cwd: folder });
    assert.strictEqual(status, 0, stderr.toString());
  });
}
