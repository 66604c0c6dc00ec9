/// <reference types="node" />

export interface InflateOptions {
  /** Has no effect, since output is not made in chunks. */
  chunkSize?: number;
  /** 'string' makes `result` a string, in which invalid UTF-8 is replaced; else it is a Buffer. */
  to?: 'string';
  /**
   * Base-2 logarithm of the largest window in bytes and, as for zlib, the container: 8 to 15 for
   * zlib, negative for deflate without a container, plus 16 for gzip, plus 32 for zlib or gzip. 15
   * by default.
   */
  windowBits?: number;
  /** Largest result in bytes, 64 MiB by default. zlib-sync has no limit. */
  maxOutputLength?: number;
}

/** Decompresses a stream whose state is kept between pushes. */
export class Inflate {
  readonly windowBits: number;
  /**
   * The output so far. A push with `Z_SYNC_FLUSH` or `Z_FINISH` completes it, and the next push
   * begins a new result. Null while `err` is negative.
   */
  readonly result: Buffer | string | null;
  /** `err` in words, and the cause if the data is damaged; null if `err` is 0. */
  readonly msg: string | null;
  /**
   * The outcome of the last push: `Z_OK`, `Z_STREAM_END`, `Z_NEED_DICT`, or a negative number for
   * an error. `Z_DATA_ERROR` and `Z_MEM_ERROR` persist; after `Z_BUF_ERROR` the stream can go on.
   */
  readonly err: number;
  readonly chunkSize: number;
  constructor(options?: InflateOptions);
  push(buffer: NodeJS.ArrayBufferView, flush?: boolean | number): void;
}

export const Z_NO_FLUSH: number;
export const Z_PARTIAL_FLUSH: number;
export const Z_SYNC_FLUSH: number;
export const Z_FULL_FLUSH: number;
export const Z_FINISH: number;
export const Z_BLOCK: number;
export const Z_TREES: number;
export const Z_OK: number;
export const Z_STREAM_END: number;
export const Z_NEED_DICT: number;
export const Z_ERRNO: number;
export const Z_STREAM_ERROR: number;
export const Z_DATA_ERROR: number;
export const Z_MEM_ERROR: number;
export const Z_BUF_ERROR: number;
export const Z_VERSION_ERROR: number;
export const Z_NO_COMPRESSION: number;
export const Z_BEST_SPEED: number;
export const Z_BEST_COMPRESSION: number;
export const Z_DEFAULT_COMPRESSION: number;
export const Z_FILTERED: number;
export const Z_HUFFMAN_ONLY: number;
export const Z_RLE: number;
export const Z_FIXED: number;
export const Z_DEFAULT_STRATEGY: number;
export const Z_BINARY: number;
export const Z_TEXT: number;
export const Z_ASCII: number;
export const Z_UNKNOWN: number;
export const Z_DEFLATED: number;
export const Z_NULL: number;
export const ZLIB_VERSION: string;
