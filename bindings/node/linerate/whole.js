'use strict';

const binding = require('./native.js');
const { bytes, choice, integer, limit, object } = require('./arguments.js');
const { native, typed } = require('./errors.js');

const FORMATS = ['zlib', 'gzip', 'raw'];

function deflateArguments(data, options) {
  const { format = 'zlib' } = object(options);
  return [bytes(data), choice(format, 'format', FORMATS), integer(object(options), 'level', 2, 0, 9)];
}

function inflateArguments(data, options) {
  const { format = 'zlib' } = object(options);
  return [bytes(data), choice(format, 'format', FORMATS), limit(object(options), 'maxOutputLength')];
}

function zstdArguments(data, options) {
  return [bytes(data), limit(object(options), 'maxOutputLength')];
}

/** Starts a task on the thread pool, waits for it, and converts its errors. */
async function finished(start) {
  try {
    return await start();
  } catch (error) {
    throw typed(error);
  }
}

const deflateSync = (data, options) => native(() => binding.deflateSync(...deflateArguments(data, options)));
const inflateSync = (data, options) => native(() => binding.inflateSync(...inflateArguments(data, options)));
const zstdDecompressSync = (data, options) => native(() => binding.zstdDecompressSync(...zstdArguments(data, options)));

const deflate = (data, options) => finished(() => binding.deflateTask(...deflateArguments(data, options)));
const inflate = (data, options) => finished(() => binding.inflateTask(...inflateArguments(data, options)));
const zstdDecompress = (data, options) => finished(() => binding.zstdDecompressTask(...zstdArguments(data, options)));

module.exports = { deflate, deflateSync, inflate, inflateSync, zstdDecompress, zstdDecompressSync };
