'use strict';

const { inspect, types } = require('node:util');

/** Largest payload, message or output if the caller says nothing: 64 MiB. */
const DEFAULT_LIMIT = 64 * 1024 * 1024;

function refuse(Class, code, message) {
  return Object.assign(new Class(message), { code });
}

/**
 * The bytes of a buffer, an ArrayBuffer or a view of one. Shared memory is copied, as another thread may write to it while
 * native code reads.
 */
function bytes(data, name = 'data') {
  if (ArrayBuffer.isView(data)) {
    if (!isWithin(data)) throw gone(name);
    if (types.isSharedArrayBuffer(data.buffer)) return copied(data.buffer, data.byteOffset, data.byteLength);
    if (types.isUint8Array(data)) return data;
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  }
  if (types.isArrayBuffer(data)) {
    try {
      return new Uint8Array(data);
    } catch {
      throw gone(name);
    }
  }
  if (types.isSharedArrayBuffer(data)) return copied(data, 0, data.byteLength);
  const what = data === null ? 'null' : typeof data;
  throw refuse(TypeError, 'ERR_INVALID_ARG_TYPE', `${name} must be a Buffer, a view or an ArrayBuffer, not ${what}`);
}

const { keys } = Object.getPrototypeOf(Uint8Array.prototype);

/**
 * Whether a view has its memory: the buffer may have been transferred to another thread, or have shrunk. The length of such a
 * view is 0, or throws, as methods do.
 */
function isWithin(view) {
  try {
    if (view.byteLength === 0 && types.isTypedArray(view)) keys.call(view);
    return true;
  } catch {
    return false;
  }
}

function gone(name) {
  return refuse(TypeError, 'ERR_INVALID_STATE', `${name} is a detached buffer, or a view outside of its buffer`);
}

function copied(shared, offset, length) {
  return new Uint8Array(new Uint8Array(shared, offset, length));
}

/** The options object. */
function object(options) {
  if (options === undefined) return {};
  if (options === null || typeof options !== 'object') {
    throw refuse(TypeError, 'ERR_INVALID_ARG_TYPE', `options must be an object, not ${options === null ? 'null' : typeof options}`);
  }
  return options;
}

/** An option that is an integer from `least` to `most`. */
function integer(options, name, fallback, least, most) {
  const value = options[name] ?? fallback;
  if (typeof value !== 'number') {
    throw refuse(TypeError, 'ERR_INVALID_ARG_TYPE', `${name} must be a number, not ${typeof value}`);
  }
  if (!Number.isInteger(value) || value < least || value > most) {
    throw refuse(RangeError, 'ERR_OUT_OF_RANGE', `${name} must be an integer from ${least} to ${most}, not ${value}`);
  }
  return value;
}

/** An option that is a number of bytes. */
function limit(options, name, fallback = DEFAULT_LIMIT) {
  const value = options[name] ?? fallback;
  if (value === Infinity) return Number.MAX_SAFE_INTEGER;
  return integer(options, name, fallback, 0, Number.MAX_SAFE_INTEGER);
}

/** An option that is true or false. */
function flag(options, name, fallback = false) {
  const value = options[name] ?? fallback;
  if (typeof value !== 'boolean') {
    throw refuse(TypeError, 'ERR_INVALID_ARG_TYPE', `${name} must be true or false, not ${typeof value}`);
  }
  return value;
}

/** One of a few words. */
function choice(value, name, choices) {
  if (choices.includes(value)) return value;
  const list = choices.map((one) => JSON.stringify(one)).join(', ');
  const given = typeof value === 'string' ? JSON.stringify(value) : inspect(value, { depth: 0, customInspect: false, breakLength: Infinity });
  throw refuse(TypeError, 'ERR_INVALID_ARG_VALUE', `${name} must be one of ${list}, not ${given}`);
}

module.exports = { bytes, choice, flag, integer, limit, object, refuse };
