'use strict';

const { GatewayError, LinerateError } = require('./errors.js');
const { GatewayDecompressor, peek } = require('./gateway.js');
const { DeflateSession, InflateSession } = require('./websocket.js');
const { deflate, deflateSync, inflate, inflateSync, zstdDecompress, zstdDecompressSync } = require('./whole.js');
const { ZstdDecompress, createZstdDecompress } = require('./zstd.js');

module.exports = {
  DeflateSession,
  GatewayDecompressor,
  GatewayError,
  InflateSession,
  LinerateError,
  ZstdDecompress,
  createZstdDecompress,
  deflate,
  deflateSync,
  inflate,
  inflateSync,
  peek,
  zstdDecompress,
  zstdDecompressSync,
};
