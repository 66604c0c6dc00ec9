'use strict';

const { Transform } = require('node:stream');

const binding = require('./native.js');
const { bytes, integer, limit, object } = require('./arguments.js');
const { typed } = require('./errors.js');

/** A stream that decompresses zstd frames on the thread pool. */
class ZstdDecompress extends Transform {
  #native;
  #chunkSize;
  /** The callback of `_transform` while decoding pauses until the reader wants more; else null. */
  #waiting = null;

  constructor(options) {
    const { windowLog, maxOutputLength, chunkSize, ...rest } = object(options);
    super(rest);
    this.#chunkSize = integer({ chunkSize }, 'chunkSize', 128 * 1024, 64, 2 ** 30);
    const bits = integer({ windowLog }, 'windowLog', 27, 10, 31);
    this.#native = new binding.ZstdStream(bits, limit({ maxOutputLength }, 'maxOutputLength', Infinity));
  }

  _transform(chunk, encoding, callback) {
    try {
      this.#native.write(bytes(chunk, 'chunk'));
    } catch (error) {
      callback(typed(error));
      return;
    }
    this.#step(callback);
  }

  _flush(callback) {
    try {
      this.#native.finish();
    } catch (error) {
      callback(typed(error));
      return;
    }
    callback();
  }

  _read(size) {
    const waiting = this.#waiting;
    if (waiting === null) {
      super._read(size);
    } else {
      this.#waiting = null;
      this.#step(waiting);
    }
  }

  /**
   * Decodes until the input is used up, and then calls `callback`. If the reader has enough output
   * before, keeps `callback` and waits, since a small input may have gigabytes of output.
   */
  #step(callback) {
    // Runs `next` outside of the promise, so that an exception of a listener is not a rejection.
    // Does not run it once the stream is destroyed.
    const then = (next, value) => process.nextTick(() => this.destroyed || next(value));
    const made = (output) => {
      if (output === null) callback();
      else if (this.push(output)) this.#step(callback);
      else this.#waiting = callback;
    };
    this.#native.step(this.#chunkSize).then(
      (output) => then(made, output),
      (error) => then(callback, typed(error)),
    );
  }
}

const createZstdDecompress = (options) => new ZstdDecompress(options);

module.exports = { ZstdDecompress, createZstdDecompress };
