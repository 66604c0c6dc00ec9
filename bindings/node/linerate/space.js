'use strict';

const { markAsUntransferable } = require('node:worker_threads');

/** Bytes that short Buffers share. */
const SIZE = 16 * 1024;

/** Longest Buffer that shares them; native code makes longer ones. */
const SHORT = 4 * 1024;

/**
 * Memory that native code writes short output to, as Buffer.allocUnsafe has it: a Buffer with memory of its own takes
 * longer to make than a message to decompress.
 */
class Space {
  buffer = Space.#memory();
  /** Where the next output goes. */
  at = 0;

  static #memory() {
    const { buffer } = Buffer.allocUnsafeSlow(SIZE);
    // All output in it would be gone with it.
    markAsUntransferable(buffer);
    return new Uint8Array(buffer);
  }

  /** The Buffer of output: a length if it is here, else what native code has made. */
  take(made) {
    if (typeof made === 'number') {
      const buffer = Buffer.from(this.buffer.buffer, this.at, made);
      this.at = (this.at + made + 7) & ~7;
      return buffer;
    }
    if (made instanceof Buffer && made.length <= SHORT) {
      this.buffer = Space.#memory();
      this.at = 0;
    }
    return made;
  }
}

module.exports = { space: new Space() };
