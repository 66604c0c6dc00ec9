'use strict';

// Tests what the packages export, how they find the native part, and their types.

const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { pathToFileURL } = require('node:url');

const linerate = require('linerate');

const { temporaryFolder } = require('./support.js');

const folder = temporaryFolder();
const packageFolder = path.dirname(require.resolve('linerate'));
const { packages } = require(path.join(packageFolder, 'platform.js'));

test('CommonJS and ECMAScript modules export the same', async () => {
  const module = await import(pathToFileURL(path.join(packageFolder, 'index.mjs')));
  const { default: all, ...names } = module;
  assert.strictEqual(all, linerate);
  assert.deepStrictEqual({ ...names }, { ...linerate });
  for (const name of Object.keys(linerate)) {
    const types = fs.readFileSync(path.join(packageFolder, 'index.d.ts'), 'utf8');
    assert.match(types, new RegExp(`export (class|function) ${name}\\b`));
  }
});

test('a panic becomes an error with a code of linerate', () => {
  const { typed } = require(path.join(packageFolder, 'errors.js'));
  const made = typed(Object.assign(new Error('index out of bounds'), { code: 'GenericFailure' })); // as napi makes it
  assert.ok(made instanceof linerate.LinerateError);
  assert.deepStrictEqual([made.code, made.message], ['ERR_LINERATE_INTERNAL', 'index out of bounds']);
  const other = Object.assign(new TypeError('x'), { code: 'ERR_INVALID_ARG_TYPE' });
  assert.strictEqual(typed(other), other);
});

test('the package for a platform has the usual name, with its libc', () => {
  const musl = () => true;
  const glibc = () => false;
  assert.strictEqual(packages('linux', 'x64', glibc)[0], '@linerate/linux-x64-gnu');
  assert.strictEqual(packages('linux', 'arm64', musl)[0], '@linerate/linux-arm64-musl');
  assert.strictEqual(packages('win32', 'x64')[0], '@linerate/win32-x64-msvc');
  assert.deepStrictEqual(packages('darwin', 'arm64'), ['@linerate/darwin-arm64']);
  const isMusl = fs.existsSync('/etc/alpine-release');
  if (process.platform === 'linux') assert.strictEqual(packages()[0].endsWith('musl'), isMusl);
});

test('files of the package are listed, and only those', () => {
  const { files } = JSON.parse(fs.readFileSync(path.join(packageFolder, 'package.json')));
  const here = fs.readdirSync(packageFolder).filter((name) => /\.(js|mjs|d\.ts)$/.test(name));
  const listed = files.filter((name) => !name.startsWith('LICENSE'));
  assert.deepStrictEqual(here.sort(), listed.sort());
});

test('without a native part the error says what is missing', () => {
  const copy = path.join(folder, 'linerate');
  fs.cpSync(packageFolder, copy, { recursive: true, filter: (name) => !name.endsWith('.node') });
  const script = `try { require(${JSON.stringify(copy)}) } catch (e) { console.log(e.code, e.message) }`;
  const { LINERATE_NODE, NODE_PATH, ...env } = process.env;
  const said = execFileSync(process.execPath, ['-e', script], { env }).toString();
  assert.match(said, /^ERR_LINERATE_NOT_INSTALLED linerate has no native part for .*@linerate\//);
});

test('the types match the code', () => {
  const compiler = require.resolve('typescript/lib/tsc.js');
  // The program must be beside the packages that it imports.
  const program = path.join(packageFolder, '..', '..', 'types.mts');
  fs.copyFileSync(path.join(__dirname, 'types.mts'), program);
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node'];
  execFileSync(process.execPath, [compiler, ...options, path.basename(program)], { cwd: path.dirname(program), stdio: ['ignore', 'inherit', 'inherit'] });
});
