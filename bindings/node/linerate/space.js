'use strict';

const { markAsUntransferable } = require('node:worker_threads');

/** Size in bytes of the memory that short Buffers share. */
const SIZE = 16 * 1024;

/** Length in bytes of the longest Buffer that shares memory. Longer ones have their own memory. */
const SHORT = 4 * 1024;

/**
 * A pool of memory that native code writes short output to, like that of Buffer.allocUnsafe. To
 * make a Buffer with memory of its own takes longer than to decompress a short message.
 */
class Space {
  buffer = Space.#memory();
  /** Offset in `buffer` at which native code writes the next output. */
  at = 0;

  static #memory() {
    const { buffer } = Buffer.allocUnsafeSlow(SIZE);
    // If a program transferred one of the Buffers to another thread, all others would lose their
    // memory.
    markAsUntransferable(buffer);
    return new Uint8Array(buffer);
  }

  /**
   * Returns the output of a native call as a Buffer. `made` is the length of the output if native
   * code wrote it to this memory; else it is the Buffer that native code made, or null without
   * output. If that Buffer is short, this memory had no room for it, and new memory is made.
   */
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
