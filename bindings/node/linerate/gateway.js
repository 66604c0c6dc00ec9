'use strict';

const binding = require('./native.js');
const { bytes, choice, flag, integer, limit, object, refuse } = require('./arguments.js');
const { native, typed } = require('./errors.js');

const KINDS = binding.gatewayKinds();
const ENCODINGS = ['json', 'etf'];

/** The decompressor of one connection. */
class GatewayDecompressor {
  #native;
  #kind;

  constructor(kind, options) {
    options = object(options);
    this.#kind = choice(kind, 'kind', KINDS);
    const checks = options.checks ?? undefined;
    if (checks !== undefined) choice(checks, 'checks', ENCODINGS);
    const sequence = flag(options, 'sequence');
    if (sequence && checks === undefined) {
      throw refuse(TypeError, 'ERR_INVALID_ARG_VALUE', 'sequence requires checks');
    }
    const recent = options.recent ?? undefined;
    if (recent !== undefined) object(recent);
    const { MAX_SAFE_INTEGER } = Number;
    this.#native = native(
      () =>
        new binding.GatewaySession({
          kind,
          maxMessage: limit(options, 'maxMessage'),
          windowLog: integer(options, 'windowLog', 16, 10, 27),
          checks,
          sequence,
          recentMessages: recent && integer(recent, 'messages', undefined, 0, MAX_SAFE_INTEGER),
          recentBytes: recent && integer(recent, 'bytes', undefined, 0, MAX_SAFE_INTEGER),
        }),
    );
  }

  decompress(data) {
    const frame = bytes(data);
    try {
      return this.#native.decompress(frame);
    } catch (error) {
      throw typed(error);
    }
  }

  decompressText(data) {
    const frame = bytes(data);
    try {
      return this.#native.decompressText(frame);
    } catch (error) {
      throw typed(error);
    }
  }

  reset() {
    this.#native.reset();
  }

  resumeAfter(sequence) {
    this.#native.resumeAfter(integer({ sequence }, 'sequence', undefined, 0, Number.MAX_SAFE_INTEGER));
  }

  recording() {
    const file = this.#native.recording();
    if (file === null) {
      throw refuse(Error, 'ERR_LINERATE_BAD_ARGUMENT', 'no messages are kept: create the decompressor with the option recent');
    }
    return file;
  }

  get kind() {
    return this.#kind;
  }

  get messages() {
    return this.#native.messages;
  }

  get compressedBytes() {
    return this.#native.compressedBytes;
  }

  get payloadBytes() {
    return this.#native.payloadBytes;
  }

  get memory() {
    return this.#native.memory;
  }

  get envelope() {
    const last = this.#native.envelope;
    return last && envelopeOf(last);
  }

  get error() {
    const error = this.#native.error;
    return error && typed(error);
  }
}

function peek(payload, encoding = 'json') {
  choice(encoding, 'encoding', ENCODINGS);
  const data = typeof payload === 'string' ? Buffer.from(payload) : bytes(payload, 'payload');
  return envelopeOf(native(() => binding.gatewayPeek(data, encoding)));
}

function envelopeOf({ op = null, s = null, t = null }) {
  return { op, s, t };
}

module.exports = { GatewayDecompressor, peek };
