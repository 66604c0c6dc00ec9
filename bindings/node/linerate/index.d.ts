/// <reference types="node" />

import { Transform, TransformOptions } from 'node:stream';

/** A Buffer, any other view, or an ArrayBuffer. Shared memory is copied before it is read. */
export type Bytes = NodeJS.ArrayBufferView | ArrayBufferLike;

/** What is wrong: the input, a limit, or the call. */
export type ErrorCode =
  | 'ERR_LINERATE_TRUNCATED'
  | 'ERR_LINERATE_CORRUPT'
  | 'ERR_LINERATE_UNSUPPORTED'
  | 'ERR_LINERATE_LIMIT'
  | 'ERR_LINERATE_BAD_ARGUMENT'
  | 'ERR_LINERATE_OUTPUT_TOO_SMALL'
  | 'ERR_LINERATE_INTERNAL';

/**
 * An error of compressed data, or of its limits. Wrong arguments are a `TypeError` or `RangeError` with Node's own codes,
 * as `ERR_INVALID_ARG_TYPE`.
 */
export class LinerateError extends Error {
  readonly code: ErrorCode;
  /** The code in words: "corrupt", "limit exceeded". */
  readonly kind?: string;
  /** Offset in bytes, of compressed data from its beginning. */
  readonly offset?: number;
}

/** A damaged or truncated stream of a gateway, or one above the limits. `offset` counts from the connection's beginning. */
export class GatewayError extends LinerateError {
  readonly kind: string;
  readonly offset: number;
  /** Index of the message, from 0. */
  readonly messageIndex: number;
}

/**
 * The transport: of a gateway, the `compress` parameter of its URL; the others are of feeds whose messages are compressed
 * each on its own.
 */
export type GatewayKind = 'zlib-stream' | 'zstd-stream' | 'zstd-frame' | 'zlib' | 'gzip' | 'raw-deflate';

/** Opcode, sequence number and event of a payload. */
export interface Envelope {
  /** The opcode; 0 for events. */
  op: number | null;
  /** The sequence number of an event. */
  s: number | null;
  /** The name of an event; escapes are not decoded. */
  t: string | null;
}

export interface GatewayOptions {
  /** Largest payload in bytes; 64 MiB by default. One byte more is an error. */
  maxMessage?: number;
  /** Base-2 logarithm of the largest window of a zstd frame, 10 to 27; 16 by default, as gateways have it. */
  windowLog?: number;
  /**
   * Whether each payload must be exactly one JSON object or one term of Erlang's format. The streams have no checksums, so
   * only this detects most lost or damaged messages. It costs one pass over the payload, and sets `envelope`.
   */
  checks?: 'json' | 'etf';
  /** With `checks`, whether sequence numbers must increase by one, too. */
  sequence?: boolean;
  /** Keeps compressed messages for `recording`: at most so many, of so many bytes in all. */
  recent?: { messages: number; bytes: number };
}

/**
 * The decompressor of one connection, for the content of its websocket messages in order. It holds up to 33 KB (zlib) or
 * 72 KB (zstd), which the garbage collector knows of.
 *
 * After an error of a stream every call throws it again, until `reset`. Where messages are independent, an error is that of
 * its message alone.
 */
export class GatewayDecompressor {
  constructor(kind: GatewayKind, options?: GatewayOptions);
  /** Decompresses a message; null for a fragment of one, which zlib streams may send. */
  decompress(data: Bytes): Buffer | null;
  /** The same as a string, without a buffer in between. A payload that is not UTF-8 is an error. */
  decompressText(data: Bytes): string | null;
  /** Begins a new connection, also one that resumes a session. Frees what the old one held. */
  reset(): void;
  /** Sets the last sequence number before this connection. Call it after `reset`; only `sequence` uses it. */
  resumeAfter(sequence: number): void;
  /** The recent compressed messages, as a file for `linerate gateway replay`. */
  recording(): Buffer;
  readonly kind: GatewayKind;
  /** Whole messages of this connection. */
  readonly messages: number;
  /** Compressed bytes of this connection. */
  readonly compressedBytes: number;
  /** Bytes of its payloads. */
  readonly payloadBytes: number;
  /** Bytes held for this connection, without the working memory that all share. */
  readonly memory: number;
  /** Envelope of the last message; null without `checks`. */
  readonly envelope: Envelope | null;
  /** The error that every call throws; null if there is none. */
  readonly error: GatewayError | null;
}

/**
 * Reads the envelope of a payload without the rest, to decide whether it is worth parsing. Gateways that write JSON put
 * these members first; bytes after them are not checked.
 */
export function peek(payload: Bytes | string, encoding?: 'json' | 'etf'): Envelope;

export interface SessionOptions {
  /** Base-2 logarithm of the window in bytes, 8 to 15: `server_max_window_bits` or `client_max_window_bits`; 15 by default. */
  windowBits?: number;
  /** Whether each message stands alone: `server_no_context_takeover` or `client_no_context_takeover`. */
  noContextTakeover?: boolean;
}

/** Compresses the messages of one direction of a websocket connection, for permessage-deflate (RFC 7692). */
export class DeflateSession {
  /** `level` is 0 to 9, 2 by default: from 4 on smaller and slower; 8 and 9 are as 7. */
  constructor(options?: SessionOptions & { level?: number });
  /** Compresses a message, or a fragment of one if `fin` is false: the content of a frame. */
  compress(data: Bytes, fin?: boolean): Buffer;
  /** Bytes held for this direction. */
  readonly memory: number;
}

/**
 * Decompresses the messages of one direction of a websocket connection, for permessage-deflate (RFC 7692). After an error
 * every call throws it again: the connection cannot go on.
 */
export class InflateSession {
  /** `maxMessage` is the largest message in bytes, 64 MiB by default. */
  constructor(options?: SessionOptions & { maxMessage?: number });
  /** Decompresses a message, or a fragment of one if `fin` is false. */
  decompress(data: Bytes, fin?: boolean): Buffer;
  /** Bytes held for this direction. */
  readonly memory: number;
}

export interface ZstdOptions extends TransformOptions {
  /** Base-2 logarithm of the largest window of a frame, 10 to 31; 27 (128 MiB) by default. */
  windowLog?: number;
  /** Largest output in bytes; unlimited by default, as output is passed on in pieces. */
  maxOutputLength?: number;
  /** Bytes of a piece of output; 128 KiB by default. */
  chunkSize?: number;
}

/**
 * Decompresses zstd frames, one after the other, on the thread pool. Checksums are verified, skippable frames skipped;
 * memory is that of the window.
 */
export class ZstdDecompress extends Transform {
  constructor(options?: ZstdOptions);
}

/** `new ZstdDecompress(options)`. */
export function createZstdDecompress(options?: ZstdOptions): ZstdDecompress;

/** A container of deflate data: RFC 1950, 1952 or none. */
export type DeflateFormat = 'zlib' | 'gzip' | 'raw';

export interface DeflateOptions {
  /** 'zlib' by default. */
  format?: DeflateFormat;
  /** 0 to 9, 2 by default: 6 is as small as zlib's level 6; 8 and 9 take another 7 MiB for each thread. */
  level?: number;
}

export interface OutputOptions {
  /** Largest output in bytes; 64 MiB by default. One byte more is an error. */
  maxOutputLength?: number;
}

export interface InflateOptions extends OutputOptions {
  /** 'zlib' by default. Of 'gzip' all members are decompressed. */
  format?: DeflateFormat;
}

/** Compresses on the thread pool. The data is copied, and may be changed at once. */
export function deflate(data: Bytes, options?: DeflateOptions): Promise<Buffer>;
/** Compresses. */
export function deflateSync(data: Bytes, options?: DeflateOptions): Buffer;
/** Decompresses on the thread pool. The data is copied, and may be changed at once. */
export function inflate(data: Bytes, options?: InflateOptions): Promise<Buffer>;
/** Decompresses. */
export function inflateSync(data: Bytes, options?: InflateOptions): Buffer;
/** Decompresses all zstd frames of the data on the thread pool. The data is copied, and may be changed at once. */
export function zstdDecompress(data: Bytes, options?: OutputOptions): Promise<Buffer>;
/** Decompresses all zstd frames of the data. */
export function zstdDecompressSync(data: Bytes, options?: OutputOptions): Buffer;
