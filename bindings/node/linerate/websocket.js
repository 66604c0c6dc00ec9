'use strict';

const binding = require('./native.js');
const { bytes, flag, integer, limit, object } = require('./arguments.js');
const { native, typed } = require('./errors.js');
const { space } = require('./space.js');

const { deflateMessage, inflateMessage } = binding;

/**
 * Calls `deflateMessage` or `inflateMessage`. These native functions return undefined for data that
 * they cannot read directly, which is then checked or copied and passed again.
 */
function convert(call, messages, data, fin) {
  const flags = fin ? 1 : 0;
  try {
    const made = call(messages, data, 0, flags, space.buffer, space.at);
    return space.take(made === undefined ? call(messages, bytes(data), 1, flags, space.buffer, space.at) : made);
  } catch (error) {
    throw typed(error);
  }
}

/** Compresses the messages of one direction of a connection. */
class DeflateSession {
  #messages;

  constructor(options) {
    options = object(options);
    const bits = integer(options, 'windowBits', 15, 8, 15);
    const takeover = !flag(options, 'noContextTakeover');
    const level = integer(options, 'level', 2, 0, 9);
    this.#messages = native(() => binding.deflateMessages(bits, takeover, level));
  }

  compress(data, fin = true) {
    return convert(deflateMessage, this.#messages, data, fin);
  }

  get memory() {
    return binding.deflateMessagesMemory(this.#messages);
  }
}

/** Decompresses the messages of one direction of a connection. */
class InflateSession {
  #messages;

  constructor(options) {
    options = object(options);
    const bits = integer(options, 'windowBits', 15, 8, 15);
    const takeover = !flag(options, 'noContextTakeover');
    const maxMessage = limit(options, 'maxMessage');
    this.#messages = native(() => binding.inflateMessages(bits, takeover, maxMessage));
  }

  decompress(data, fin = true) {
    return convert(inflateMessage, this.#messages, data, fin);
  }

  get memory() {
    return binding.inflateMessagesMemory(this.#messages);
  }
}

module.exports = { DeflateSession, InflateSession };
