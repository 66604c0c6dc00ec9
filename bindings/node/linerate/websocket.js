'use strict';

const binding = require('./native.js');
const { bytes, flag, integer, limit, object } = require('./arguments.js');
const { native, typed } = require('./errors.js');

/** Compresses the messages of one direction of a connection. */
class DeflateSession {
  #native;

  constructor(options) {
    options = object(options);
    const bits = integer(options, 'windowBits', 15, 8, 15);
    const takeover = !flag(options, 'noContextTakeover');
    const level = integer(options, 'level', 2, 0, 9);
    this.#native = native(() => new binding.DeflateMessages(bits, takeover, level));
  }

  compress(data, fin = true) {
    const part = bytes(data);
    try {
      return this.#native.compress(part, Boolean(fin));
    } catch (error) {
      throw typed(error);
    }
  }

  get memory() {
    return this.#native.memory;
  }
}

/** Decompresses the messages of one direction of a connection. */
class InflateSession {
  #native;

  constructor(options) {
    options = object(options);
    const bits = integer(options, 'windowBits', 15, 8, 15);
    const takeover = !flag(options, 'noContextTakeover');
    const maxMessage = limit(options, 'maxMessage');
    this.#native = native(() => new binding.InflateMessages(bits, takeover, maxMessage));
  }

  decompress(data, fin = true) {
    const part = bytes(data);
    try {
      return this.#native.decompress(part, Boolean(fin));
    } catch (error) {
      throw typed(error);
    }
  }

  get memory() {
    return this.#native.memory;
  }
}

module.exports = { DeflateSession, InflateSession };
