'use strict';

// The interface of the package zlib-sync over the decoder of linerate.

const { InflateStream } = require('linerate/native');

/** Values of flush, of err, and of what zlib-sync has beside them (zlib.h). */
const constants = {
  Z_NO_FLUSH: 0,
  Z_PARTIAL_FLUSH: 1,
  Z_SYNC_FLUSH: 2,
  Z_FULL_FLUSH: 3,
  Z_FINISH: 4,
  Z_BLOCK: 5,
  Z_TREES: 6,
  Z_OK: 0,
  Z_STREAM_END: 1,
  Z_NEED_DICT: 2,
  Z_ERRNO: -1,
  Z_STREAM_ERROR: -2,
  Z_DATA_ERROR: -3,
  Z_MEM_ERROR: -4,
  Z_BUF_ERROR: -5,
  Z_VERSION_ERROR: -6,
  Z_NO_COMPRESSION: 0,
  Z_BEST_SPEED: 1,
  Z_BEST_COMPRESSION: 9,
  Z_DEFAULT_COMPRESSION: -1,
  Z_FILTERED: 1,
  Z_HUFFMAN_ONLY: 2,
  Z_RLE: 3,
  Z_FIXED: 4,
  Z_DEFAULT_STRATEGY: 0,
  Z_BINARY: 0,
  Z_TEXT: 1,
  Z_ASCII: 1,
  Z_UNKNOWN: 2,
  Z_DEFLATED: 8,
  Z_NULL: 0,
  ZLIB_VERSION: '1.3.1',
};
const { Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH, Z_OK, Z_DATA_ERROR, Z_MEM_ERROR, Z_BUF_ERROR } = constants;

/** Texts of err. */
const TEXTS = new Map([
  [1, 'stream end'],
  [2, 'need dictionary'],
  [Z_DATA_ERROR, 'data error'],
  [Z_MEM_ERROR, 'insufficient memory'],
  [Z_BUF_ERROR, 'buffer error'],
]);

/** Output in bytes above which a message is an error; zlib-sync has no limit. */
const MAX_OUTPUT = 64 * 1024 * 1024;

/** Decompresses a stream whose state is kept between pushes. */
class Inflate {
  #native;
  #isText;
  #chunkSize;
  #windowBits;
  #err = Z_OK;
  #msg = null;
  /** The output as it was read; undefined until then. */
  #result = undefined;
  /** Whether the next push begins another result. */
  #isFlushed = false;
  /** Whether the stream is damaged. */
  #hasFailed = false;

  constructor(options = {}) {
    const { chunkSize = 16384, to, windowBits = 15, maxOutputLength = MAX_OUTPUT } = options ?? {};
    this.#chunkSize = chunkSize;
    this.#isText = to === 'string';
    this.#windowBits = windowBits;
    try {
      this.#native = new InflateStream(windowBits, maxOutputLength);
    } catch {
      throw new Error('stream error');
    }
  }

  push(buffer, flush = Z_NO_FLUSH) {
    const mode = flush === true ? Z_FINISH : Number(flush);
    const data = bytesOf(buffer);
    this.#result = undefined;
    if (this.#hasFailed) return;
    const fresh = this.#isFlushed;
    this.#isFlushed = mode >= Z_SYNC_FLUSH && mode <= Z_FINISH;
    try {
      const status = this.#native.push(data, fresh);
      const isStuck = status === Z_OK && (data.length === 0 || mode === Z_FINISH);
      this.#end(isStuck ? Z_BUF_ERROR : status);
    } catch (error) {
      this.#hasFailed = true;
      this.#end(error.code === 'ERR_LINERATE_LIMIT' ? Z_MEM_ERROR : Z_DATA_ERROR, error.message);
    }
  }

  #end(err, detail) {
    this.#err = err;
    const text = TEXTS.get(err) ?? null;
    this.#msg = detail === undefined ? text : `${text}: ${detail}`;
  }

  get result() {
    if (this.#err < 0) return null;
    this.#result ??= this.#isText ? this.#native.outputText() : this.#native.output();
    return this.#result;
  }

  get err() {
    return this.#err;
  }

  get msg() {
    return this.#msg;
  }

  get chunkSize() {
    return this.#chunkSize;
  }

  get windowBits() {
    return this.#windowBits;
  }
}

const { keys } = Object.getPrototypeOf(Uint8Array.prototype);

/** Bytes of a buffer or view; those of shared memory as a copy. */
function bytesOf(buffer) {
  if (!ArrayBuffer.isView(buffer)) throw new TypeError('push expects a Buffer');
  let view;
  try {
    view = new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
    // Of a view outside of a buffer that has shrunk, length and offset are 0, and methods throw.
    if (view.length === 0 && !(buffer instanceof DataView)) keys.call(buffer);
  } catch {
    throw Object.assign(new TypeError('push got a detached buffer, or a view outside of its buffer'), { code: 'ERR_INVALID_STATE' });
  }
  if (buffer.buffer instanceof SharedArrayBuffer) return new Uint8Array(view);
  return buffer instanceof Uint8Array ? buffer : view;
}

module.exports = { Inflate, ...constants };
