'use strict';

// Loads the native part: the file that LINERATE_NODE names, linerate.node beside this file, or the
// package for this platform. Its exports are not a public interface.

const fs = require('node:fs');
const path = require('node:path');

const { packages } = require('./platform.js');

function load() {
  if (process.env.LINERATE_NODE) return require(path.resolve(process.env.LINERATE_NODE));
  const beside = path.join(__dirname, 'linerate.node');
  if (fs.existsSync(beside)) return require(beside);
  const names = packages();
  const failures = [];
  for (const name of names) {
    try {
      return require(name);
    } catch (error) {
      failures.push(error);
    }
  }
  // A package that exists but does not load is a better hint than one that is missing.
  const cause = failures.find((error) => error.code !== 'MODULE_NOT_FOUND') ?? failures[0];
  const message =
    `linerate has no native part for ${process.platform} ${process.arch}: cannot load ${names.join(' or ')}. ` +
    'Was it installed with --omit=optional, or on another platform?';
  throw Object.assign(new Error(message, { cause }), { code: 'ERR_LINERATE_NOT_INSTALLED' });
}

module.exports = load();
