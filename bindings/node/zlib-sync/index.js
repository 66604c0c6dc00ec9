'use strict';

// The interface of the package zlib-sync, with the decoder of linerate.

const binding = require('linerate/native');
const { space } = require('linerate/space');

const { inflatePushBytes, inflatePushText } = binding;

/** Values of flush and err, and the other constants of zlib.h that zlib-sync exports. */
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

/** The text of `msg` for each value of `err` except `Z_OK`, for which `msg` is null. */
const TEXTS = new Map([
  [1, 'stream end'],
  [2, 'need dictionary'],
  [Z_DATA_ERROR, 'data error'],
  [Z_MEM_ERROR, 'insufficient memory'],
  [Z_BUF_ERROR, 'buffer error'],
]);

/** Default limit on a result in bytes; the package zlib-sync has no limit. */
const MAX_OUTPUT = 64 * 1024 * 1024;

/** Flag of a push: its output begins a new result. */
const FRESH = 1;
/** Flag of a push: the result is to be returned at once. */
const DELIVER = 2;

/** Decompresses a stream whose state is kept between pushes. */
class Inflate {
  #stream;
  #isText;
  #chunkSize;
  #windowBits;
  #err = Z_OK;
  /** Message of the error that ended the stream; undefined if there was none. */
  #damage = undefined;
  /** The result; undefined until it is made. */
  #result = undefined;
  /** Whether the next push begins a new result. */
  #isFlushed = false;

  constructor(options = {}) {
    const { chunkSize, to, windowBits, maxOutputLength = MAX_OUTPUT } = options ?? {};
    this.#chunkSize = typeof chunkSize === 'number' ? chunkSize >>> 0 : 16384;
    this.#isText = to === 'string';
    this.#windowBits = typeof windowBits === 'number' ? windowBits | 0 : 15;
    try {
      this.#stream = binding.inflateStream(this.#windowBits, maxOutputLength);
    } catch {
      throw new Error('stream error');
    }
  }

  push(buffer, flush = Z_NO_FLUSH) {
    if (this.#damage !== undefined) {
      bytesOf(buffer);
      return;
    }
    const mode = flush === true ? Z_FINISH : typeof flush === 'number' ? flush | 0 : Z_NO_FLUSH;
    const isMessage = mode === Z_SYNC_FLUSH; // in zlib-sync, Z_FULL_FLUSH does not end a result
    const flags = (this.#isFlushed ? FRESH : 0) | (isMessage ? DELIVER : 0);
    let isStuck = mode === Z_FINISH;
    let status = this.#decode(buffer, 0, flags);
    if (status === undefined) {
      const data = bytesOf(buffer);
      const isEmpty = data.length === 0;
      isStuck ||= isEmpty;
      status = this.#decode(data, 1, isEmpty ? flags & FRESH : flags);
    }
    this.#isFlushed = isMessage || mode === Z_FINISH;
    this.#err = status === Z_OK && isStuck ? Z_BUF_ERROR : status;
  }

  /**
   * Decodes data, and keeps the result if native code returns it at once. Returns the value of
   * `err`, or undefined for data that must be checked or copied first. `checked` is 1 once that is
   * done.
   */
  #decode(data, checked, flags) {
    try {
      const made = this.#isText
        ? inflatePushText(this.#stream, data, checked, flags)
        : inflatePushBytes(this.#stream, data, checked, flags, space.buffer, space.at);
      if (made === undefined) return undefined;
      if (typeof made === 'number' && made < 0) {
        this.#result = undefined;
        return -1 - made;
      }
      this.#result = typeof made === 'string' ? made : space.take(made);
      return Z_OK;
    } catch (error) {
      this.#damage = error.message;
      return error.code === 'ERR_LINERATE_LIMIT' ? Z_MEM_ERROR : Z_DATA_ERROR;
    }
  }

  get result() {
    if (this.#err < 0) return null;
    this.#result ??= this.#isText ? binding.inflateOutputText(this.#stream) : binding.inflateOutput(this.#stream);
    return this.#result;
  }

  get err() {
    return this.#err;
  }

  get msg() {
    const text = TEXTS.get(this.#err) ?? null;
    return this.#damage === undefined ? text : `${text}: ${this.#damage}`;
  }

  get chunkSize() {
    return this.#chunkSize;
  }

  get windowBits() {
    return this.#windowBits;
  }
}

const { keys } = Object.getPrototypeOf(Uint8Array.prototype);

/** Returns the bytes of a Buffer or another view. Shared memory is copied. */
function bytesOf(buffer) {
  if (!ArrayBuffer.isView(buffer)) throw new TypeError('push expects a Buffer');
  let view;
  try {
    view = new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
    // If the buffer has shrunk so that the view is outside, its length and offset are 0, and its
    // methods throw.
    if (view.length === 0 && !(buffer instanceof DataView)) keys.call(buffer);
  } catch {
    throw Object.assign(new TypeError('push got a detached buffer, or a view outside of its buffer'), { code: 'ERR_INVALID_STATE' });
  }
  if (buffer.buffer instanceof SharedArrayBuffer) return new Uint8Array(view);
  return buffer instanceof Uint8Array ? buffer : view;
}

module.exports = { Inflate, ...constants };
