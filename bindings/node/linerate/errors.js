'use strict';

/** An error in compressed data, data above a limit, or an internal error. */
class LinerateError extends Error {
  constructor(message, { code, kind, offset, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.kind = kind;
    this.offset = offset;
  }
}
Object.defineProperty(LinerateError.prototype, 'name', { value: 'LinerateError', configurable: true, writable: true });

/** An error on a connection to a gateway. */
class GatewayError extends LinerateError {
  constructor(message, details = {}) {
    super(message, details);
    this.messageIndex = details.messageIndex;
  }
}
Object.defineProperty(GatewayError.prototype, 'name', { value: 'GatewayError', configurable: true, writable: true });

/** Converts an error of native code to one of the classes above. Returns other errors unchanged. */
function typed(error) {
  // napi gives errors of panics the code GenericFailure.
  const code = error?.code === 'GenericFailure' ? 'ERR_LINERATE_INTERNAL' : error?.code;
  if (typeof code !== 'string' || !code.startsWith('ERR_LINERATE_')) return error;
  const { kind, offset, messageIndex } = error;
  const Class = messageIndex === undefined ? LinerateError : GatewayError;
  const made = new Class(error.message, { code, kind, offset, messageIndex });
  Error.captureStackTrace(made, typed);
  return made;
}

/** Returns the result of `call`, which calls native code. Converts its errors by `typed`. */
function native(call) {
  try {
    return call();
  } catch (error) {
    throw typed(error);
  }
}

module.exports = { GatewayError, LinerateError, native, typed };
