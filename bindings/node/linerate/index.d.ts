/// <reference types="node" />

import { Transform, TransformOptions } from 'node:stream';

/** A Buffer, any other view, or an ArrayBuffer. Shared memory is copied before it is read. */
export type Bytes = NodeJS.ArrayBufferView | ArrayBufferLike;

/** The cause of an error: the input, a limit, or the call. */
export type ErrorCode =
  | 'ERR_LINERATE_TRUNCATED'
  | 'ERR_LINERATE_CORRUPT'
  | 'ERR_LINERATE_UNSUPPORTED'
  | 'ERR_LINERATE_LIMIT'
  | 'ERR_LINERATE_BAD_ARGUMENT'
  | 'ERR_LINERATE_OUTPUT_TOO_SMALL'
  | 'ERR_LINERATE_INTERNAL';

/**
 * An error in compressed data, data above a limit, or an internal error. Wrong arguments are a
 * `TypeError` or `RangeError` with Node's own codes, such as `ERR_INVALID_ARG_TYPE`.
 */
export class LinerateError extends Error {
  readonly code: ErrorCode;
  /** The code in words, such as "corrupt" or "limit exceeded". An internal error has none. */
  readonly kind?: string;
  /**
   * Where the error is: an offset in bytes from the beginning of the compressed data. An internal
   * error has none.
   */
  readonly offset?: number;
}

/**
 * A message of a gateway is damaged, truncated or above a limit, needs something unsupported such
 * as a dictionary, or could not be delivered. `offset` counts compressed bytes from the beginning
 * of the connection.
 */
export class GatewayError extends LinerateError {
  readonly kind: string;
  readonly offset: number;
  /** Index of the message, from 0. */
  readonly messageIndex: number;
}

/**
 * The transport. The first two are those of gateways, and have the names that `compress` has in a
 * gateway's URL. The others are for feeds, which compress each message on its own.
 */
export type GatewayKind = 'zlib-stream' | 'zstd-stream' | 'zstd-frame' | 'zlib' | 'gzip' | 'raw-deflate';

/** Opcode, sequence number and event of a payload. */
export interface Envelope {
  /** The opcode; 0 for events. Null if the payload has none. */
  op: number | null;
  /** The sequence number of an event. Null if the payload has none. */
  s: number | null;
  /** The name of an event as it is written; escapes are not decoded. Null if there is none. */
  t: string | null;
}

export interface GatewayOptions {
  /** Largest payload in bytes, or Infinity; 64 MiB by default. One byte more is an error. */
  maxMessage?: number;
  /**
   * Base-2 logarithm of the largest window of a 'zstd-stream' in bytes, 10 to 27; 16 by default,
   * which gateways use. A larger window is an error. Other transports ignore this limit.
   */
  windowLog?: number;
  /**
   * Requires each payload to be exactly one JSON object or one map in Erlang's external term
   * format. The streams have no checksums, so this check is the only way to detect most lost or
   * damaged messages. It costs one pass over the payload, and sets `envelope`.
   */
  checks?: 'json' | 'etf';
  /**
   * Requires the sequence numbers of the payloads that have one to increase by one, too. Needs
   * `checks`.
   */
  sequence?: boolean;
  /**
   * Keeps the last compressed messages for `recording`: at most `messages` of them, and at most
   * `bytes` bytes in total. None are kept by default.
   */
  recent?: { messages: number; bytes: number };
}

/**
 * The decompressor of one connection. It takes the content of the websocket messages in order. It
 * holds up to 34 KB (zlib) or, with the default `windowLog`, 72 KB (zstd). This memory is reported
 * to the garbage collector.
 *
 * After an error in a stream, every call that decompresses throws that error again until `reset`.
 * If each message is compressed on its own, an error affects only its own message.
 */
export class GatewayDecompressor {
  constructor(kind: GatewayKind, options?: GatewayOptions);
  /**
   * Decompresses the content of one websocket message, and returns the payload. Returns null if the
   * gateway's message is incomplete, since zlib streams may split it into several websocket
   * messages. Throws a `GatewayError` for damaged data.
   */
  decompress(data: Bytes): Buffer | null;
  /**
   * Decompresses to a string as `decompress` does to a Buffer, and without making a Buffer. A
   * payload that is not UTF-8 is an error too.
   */
  decompressText(data: Bytes): string | null;
  /**
   * Begins a new connection, even one that resumes a session. Clears the error and the counts, and
   * frees the memory of the old connection.
   */
  reset(): void;
  /**
   * Sets the last sequence number that was received before this connection. Call this method after
   * `reset`. Only the check `sequence` uses the number.
   */
  resumeAfter(sequence: number): void;
  /**
   * Returns the recent compressed messages as a file for `linerate gateway replay`. If older
   * messages of a stream were dropped, the file cannot be replayed. Throws an Error with the code
   * `ERR_LINERATE_BAD_ARGUMENT` without the option `recent`, and a `LinerateError` if a kept
   * message has more than 1 GiB.
   */
  recording(): Buffer;
  /** The transport that the constructor got. */
  readonly kind: GatewayKind;
  /**
   * Number of whole messages on this connection. Messages that are compressed on their own count
   * even if they were damaged.
   */
  readonly messages: number;
  /** Number of compressed bytes on this connection, including those of fragments. */
  readonly compressedBytes: number;
  /** Number of bytes of all payloads of this connection. */
  readonly payloadBytes: number;
  /** Bytes held for this connection, without the working memory that all connections share. */
  readonly memory: number;
  /** Envelope of the last decompressed payload; null before the first, and without `checks`. */
  readonly envelope: Envelope | null;
  /**
   * The error that ended this connection's stream, which every call that decompresses throws; null
   * if there is none.
   */
  readonly error: GatewayError | null;
}

/**
 * Reads only the envelope of a payload, to decide whether the payload is worth parsing. Gateways
 * that write JSON put the members of the envelope first; bytes after the last of them are not
 * checked. Throws a `LinerateError` if the payload is no object or map, or is damaged before these
 * bytes.
 */
export function peek(payload: Bytes | string, encoding?: 'json' | 'etf'): Envelope;

export interface SessionOptions {
  /**
   * Base-2 logarithm of the window in bytes, 8 to 15; 15 by default. Set it as agreed for this
   * direction: `server_max_window_bits` for messages of the server, `client_max_window_bits` for
   * those of the client.
   */
  windowBits?: number;
  /**
   * Keeps messages from referring to earlier ones. Set it as agreed for this direction:
   * `server_no_context_takeover` for messages of the server, `client_no_context_takeover` for those
   * of the client. False by default.
   */
  noContextTakeover?: boolean;
}

/**
 * Compresses the messages of one direction of a websocket connection, for permessage-deflate (RFC
 * 7692).
 */
export class DeflateSession {
  /**
   * `level` is 0 to 9, 2 by default. Levels above 3 give fewer bytes and take longer; 8 and 9 are
   * the same as 7.
   */
  constructor(options?: SessionOptions & { level?: number });
  /**
   * Compresses a message, or a fragment of one if `fin` is false; `fin` is true by default and for
   * the last fragment. Returns the payload of the websocket frame.
   */
  compress(data: Bytes, fin?: boolean): Buffer;
  /** Bytes of native memory that this session holds: its window and other state. */
  readonly memory: number;
}

/**
 * Decompresses the messages of one direction of a websocket connection, for permessage-deflate (RFC
 * 7692). After an error every call throws it again, and the connection must be closed.
 */
export class InflateSession {
  /** `maxMessage` is the largest message in decoded bytes, or Infinity; 64 MiB by default. */
  constructor(options?: SessionOptions & { maxMessage?: number });
  /**
   * Decompresses a message, or a fragment of one if `fin` is false; `fin` is true by default and
   * for the last fragment. `data` is the payload of the websocket frame.
   */
  decompress(data: Bytes, fin?: boolean): Buffer;
  /** Bytes of native memory that this session holds: its window and other state. */
  readonly memory: number;
}

export interface ZstdOptions extends TransformOptions {
  /**
   * Base-2 logarithm of the largest window of a frame in bytes, 10 to 31; 27 (128 MiB) by default.
   * A larger window is an error.
   */
  windowLog?: number;
  /**
   * Largest output in bytes of all frames together; unlimited by default, since output is passed on
   * in pieces. One byte more is an error.
   */
  maxOutputLength?: number;
  /** Largest piece of output, 64 bytes to 1 GiB; 128 KiB by default. */
  chunkSize?: number;
}

/**
 * A stream that decompresses any number of zstd frames on the thread pool. Checksums are verified,
 * and skippable frames are skipped. The stream holds the window of the current frame, one piece of
 * input and little more.
 */
export class ZstdDecompress extends Transform {
  constructor(options?: ZstdOptions);
}

/** The same as `new ZstdDecompress(options)`. */
export function createZstdDecompress(options?: ZstdOptions): ZstdDecompress;

/** The container of deflate data: zlib (RFC 1950), gzip (RFC 1952) or none. */
export type DeflateFormat = 'zlib' | 'gzip' | 'raw';

export interface DeflateOptions {
  /** 'zlib' by default. */
  format?: DeflateFormat;
  /**
   * 0 to 9, 2 by default. Output of level 6 is as small as that of zlib's level 6. Levels 8 and 9
   * take 7 MiB more memory for each thread.
   */
  level?: number;
}

export interface OutputOptions {
  /** Largest output in bytes, or Infinity; 64 MiB by default. One byte more is an error. */
  maxOutputLength?: number;
}

export interface InflateOptions extends OutputOptions {
  /** 'zlib' by default. With 'gzip' all members are decompressed. */
  format?: DeflateFormat;
}

/**
 * Compresses data to deflate on the thread pool. The data is copied first, so it may be changed
 * after the call.
 */
export function deflate(data: Bytes, options?: DeflateOptions): Promise<Buffer>;
/** Compresses data to deflate in the calling thread. */
export function deflateSync(data: Bytes, options?: DeflateOptions): Buffer;
/**
 * Decompresses deflate data on the thread pool. The data is copied first, so it may be changed
 * after the call.
 */
export function inflate(data: Bytes, options?: InflateOptions): Promise<Buffer>;
/** Decompresses deflate data in the calling thread. */
export function inflateSync(data: Bytes, options?: InflateOptions): Buffer;
/**
 * Decompresses all zstd frames of the data on the thread pool. The data is copied first, so it may
 * be changed after the call.
 */
export function zstdDecompress(data: Bytes, options?: OutputOptions): Promise<Buffer>;
/** Decompresses all zstd frames of the data in the calling thread. */
export function zstdDecompressSync(data: Bytes, options?: OutputOptions): Buffer;
