'use strict';

const { inspect, types } = require('node:util');

/** Default limit on a payload, message or output, in bytes. */
const DEFAULT_LIMIT = 64 * 1024 * 1024;

function refuse(Class, code, message) {
  return Object.assign(new Class(message), { code });
}

/**
 * Returns the bytes of a Buffer, an ArrayBuffer or any other view of one. Shared memory is copied,
 * since another thread may write to it while native code reads.
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
 * Whether a view still has its memory. It has not if its buffer was transferred to another thread,
 * or has shrunk so that the view is outside: then the view's length is 0 or throws, and its methods
 * throw.
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

/** Returns the object `options`, or an empty one if it is undefined. Throws for another value. */
function object(options) {
  if (options === undefined) return {};
  if (options === null || typeof options !== 'object') {
    throw refuse(TypeError, 'ERR_INVALID_ARG_TYPE', `options must be an object, not ${options === null ? 'null' : typeof options}`);
  }
  return options;
}

/**
 * Returns the option `name`, an integer from `least` to `most`. `fallback` takes the place of an
 * option that is undefined or null. Throws for any other value.
 */
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

/** Returns the option `name`, a limit in bytes. Infinity becomes the largest safe integer. */
function limit(options, name, fallback = DEFAULT_LIMIT) {
  const value = options[name] ?? fallback;
  if (value === Infinity) return Number.MAX_SAFE_INTEGER;
  return integer(options, name, fallback, 0, Number.MAX_SAFE_INTEGER);
}

/** Returns the option `name`, true or false, or `fallback` if it is undefined or null. */
function flag(options, name, fallback = false) {
  const value = options[name] ?? fallback;
  if (typeof value !== 'boolean') {
    throw refuse(TypeError, 'ERR_INVALID_ARG_TYPE', `${name} must be true or false, not ${typeof value}`);
  }
  return value;
}

/** Returns `value`, the argument `name`, if it is one of the strings `choices`. Else throws. */
function choice(value, name, choices) {
  if (choices.includes(value)) return value;
  const list = choices.map((one) => JSON.stringify(one)).join(', ');
  const given = typeof value === 'string' ? JSON.stringify(value) : inspect(value, { depth: 0, customInspect: false, breakLength: Infinity });
  throw refuse(TypeError, 'ERR_INVALID_ARG_VALUE', `${name} must be one of ${list}, not ${given}`);
}

module.exports = { bytes, choice, flag, integer, limit, object, refuse };
