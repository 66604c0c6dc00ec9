'use strict';

const binding = require('./native.js');
const { bytes, choice, flag, integer, limit, object, refuse } = require('./arguments.js');
const { native, typed } = require('./errors.js');
const { space } = require('./space.js');

// These native functions return undefined for data that they cannot read directly. The data is then
// checked, copied if necessary, and passed again.
const { gatewayBytes, gatewayText } = binding;

const KINDS = binding.gatewayKinds();
const ENCODINGS = ['json', 'etf'];

/** The decompressor of one connection. */
class GatewayDecompressor {
  #session;
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
    this.#session = native(() =>
      binding.gatewaySession({
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
    const session = this.#session;
    try {
      const made = gatewayBytes(session, data, 0, 0, space.buffer, space.at);
      return space.take(made === undefined ? gatewayBytes(session, bytes(data), 1, 0, space.buffer, space.at) : made);
    } catch (error) {
      throw typed(error);
    }
  }

  decompressText(data) {
    const session = this.#session;
    try {
      const text = gatewayText(session, data);
      return text === undefined ? gatewayText(session, bytes(data), 1) : text;
    } catch (error) {
      throw typed(error);
    }
  }

  reset() {
    binding.gatewayReset(this.#session);
  }

  resumeAfter(sequence) {
    binding.gatewayResumeAfter(this.#session, integer({ sequence }, 'sequence', undefined, 0, Number.MAX_SAFE_INTEGER));
  }

  recording() {
    const file = native(() => binding.gatewayRecording(this.#session));
    if (file === null) {
      throw refuse(Error, 'ERR_LINERATE_BAD_ARGUMENT', 'no messages are kept: create the decompressor with the option recent');
    }
    return file;
  }

  get kind() {
    return this.#kind;
  }

  get messages() {
    return binding.gatewayCounts(this.#session).messages;
  }

  get compressedBytes() {
    return binding.gatewayCounts(this.#session).compressedBytes;
  }

  get payloadBytes() {
    return binding.gatewayCounts(this.#session).payloadBytes;
  }

  get memory() {
    return binding.gatewayCounts(this.#session).memory;
  }

  get envelope() {
    const last = binding.gatewayEnvelope(this.#session);
    return last && envelopeOf(last);
  }

  get error() {
    const error = binding.gatewayError(this.#session);
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
