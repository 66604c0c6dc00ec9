/* linerate.h: the engines of Linerate from C and C++. Made by cbindgen from bindings/c/linerate/src; do not edit.
 *
 * Every function that can fail returns a linerate_error, whose kind is LINERATE_OK (0) if it did not; after any other nothing
 * has changed, but for the content of output buffers, unless the function says otherwise. Memory for input and output is the
 * caller's: a null pointer is allowed for an empty buffer, and buffers of one call must not overlap. Results are stored
 * through pointers that must not be null, unless a function allows it; the message of an error names the argument that is.
 * Options and parameters may be null, which stands for their defaults, but for those whose defaults need a format or a transport.
 *
 * Handles are numbers. What they stand for is allocated by functions named _new and _open, and freed by those named _free.
 * Functions that take a number of threads may allocate memory while they run; others do where they say so. A handle that was
 * freed, never made, or belongs to another kind is LINERATE_BAD_ARGUMENT, as is one that another thread is using in a call: a
 * handle may move between threads, and is used by one at a time, unless its type says that many may.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */


#ifndef LINERATE_H
#define LINERATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Kinds of errors.
enum linerate_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // No error.
  LINERATE_OK = 0,
  // The input ends early.
  LINERATE_TRUNCATED = 1,
  // The input violates its format or its checksum.
  LINERATE_CORRUPT = 2,
  // The input is valid but uses an unsupported feature.
  LINERATE_UNSUPPORTED = 3,
  // The output buffer is too small. Nothing has changed but its content.
  LINERATE_OUTPUT_TOO_SMALL = 4,
  // An invalid request: a null pointer, an unknown number, a handle that was freed, data after the end.
  LINERATE_BAD_ARGUMENT = 5,
  // A limit set by the caller (memory, output size) would be exceeded.
  LINERATE_LIMIT = 6,
  // A file or a device failed; the system's number may say why.
  LINERATE_READ = 7,
  // An output cannot be created or written; the system's number may say why.
  LINERATE_WRITE = 8,
  // A fault of this library. The handles of the call are of no more use, but to be freed.
  LINERATE_INTERNAL = 9,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum linerate_kind linerate_kind;
#else
typedef int32_t linerate_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Containers of deflate data.
enum linerate_format
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // None (RFC 1951).
  LINERATE_DEFLATE = 0,
  // zlib (RFC 1950), with an Adler-32.
  LINERATE_ZLIB = 1,
  // gzip (RFC 1952), with a CRC-32 and the length.
  LINERATE_GZIP = 2,
  // Only to decode: gzip or zlib, by the first byte.
  LINERATE_ZLIB_OR_GZIP = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum linerate_format linerate_format;
#else
typedef int32_t linerate_format;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Why a decoder of streams has returned.
enum linerate_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // All input is consumed. Without more of it, the data is truncated.
  LINERATE_NEED_INPUT = 0,
  // The output buffer is full, and more follows.
  LINERATE_NEED_OUTPUT = 1,
  // The stream or frame has ended.
  LINERATE_END = 2,
  // A zlib header asks for a preset dictionary.
  LINERATE_NEED_DICTIONARY = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum linerate_status linerate_status;
#else
typedef int32_t linerate_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Engines that need working memory; their sum says which a scratch is for.
enum linerate_engine
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Deflate streams and sessions: 600 KiB, of which levels 0 to 3 touch 127 KiB, and level 3 another 320 KiB among samples of
  // 16 bits. The first call of a stream at level 8 or 9 allocates another 7 MiB.
  LINERATE_ENGINE_DEFLATE = 1,
  // Inflate: 12 KiB.
  LINERATE_ENGINE_INFLATE = 2,
  // zstd frames and streams: 320 KiB at most.
  LINERATE_ENGINE_ZSTD = 4,
  // Gateway sessions: a buffer as large as the last payload, and the two above when they are first needed.
  LINERATE_ENGINE_GATEWAY = 8,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum linerate_engine linerate_engine;
#else
typedef uint32_t linerate_engine;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Orders in which the jobs of a batch are decoded; all stay where they are.
enum linerate_order
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Grouped by dictionary if there are at least two jobs for each, else as given.
  LINERATE_ORDER_ANY = 0,
  // As given.
  LINERATE_ORDER_AS_GIVEN = 1,
  // Grouped by dictionary.
  LINERATE_ORDER_BY_DICTIONARY = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum linerate_order linerate_order;
#else
typedef int32_t linerate_order;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Compression of a connection's messages.
enum linerate_transport
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // One zlib stream, flushed after each message, of which there may be fragments.
  LINERATE_TRANSPORT_ZLIB_STREAM = 0,
  // One zstd frame, flushed after each message.
  LINERATE_TRANSPORT_ZSTD_STREAM = 1,
  // Each message is a zstd frame, which may name a dictionary.
  LINERATE_TRANSPORT_ZSTD_FRAME = 2,
  // Each message is a zlib stream.
  LINERATE_TRANSPORT_ZLIB = 3,
  // Each message is a gzip file.
  LINERATE_TRANSPORT_GZIP = 4,
  // Each message is deflate data up to a final block.
  LINERATE_TRANSPORT_RAW_DEFLATE = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum linerate_transport linerate_transport;
#else
typedef int32_t linerate_transport;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Encodings of payloads, which are checked to be whole.
enum linerate_encoding
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Not checked.
  LINERATE_ENCODING_ANY = 0,
  // One JSON object.
  LINERATE_ENCODING_JSON = 1,
  // One term of Erlang's external format.
  LINERATE_ENCODING_ETF = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum linerate_encoding linerate_encoding;
#else
typedef int32_t linerate_encoding;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Types of samples of version 2.
enum linerate_element
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // int16_t.
  LINERATE_I16 = 0,
  // uint16_t.
  LINERATE_U16 = 1,
  // int32_t.
  LINERATE_I32 = 2,
  // uint32_t.
  LINERATE_U32 = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum linerate_element linerate_element;
#else
typedef int32_t linerate_element;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What to do with a file that exists already.
enum linerate_existing
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // It is a failure.
  LINERATE_EXISTING_FAIL = 0,
  // It stays, and is counted as skipped.
  LINERATE_EXISTING_SKIP = 1,
  // It is replaced, when the new one is complete.
  LINERATE_EXISTING_REPLACE = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum linerate_existing linerate_existing;
#else
typedef int32_t linerate_existing;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Named settings. The page docs/nx/pack.md says what each costs.
enum linerate_preset
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Blocks of 1 MiB, zstd 16, and zstd 9 for larger files.
  LINERATE_PRESET_DEFAULT = 0,
  // Smallest for keeping: blocks of 16 MiB, zstd 16.
  LINERATE_PRESET_ARCHIVE = 1,
  // Decodes fastest for its size: blocks of 1 MiB, zstd 12.
  LINERATE_PRESET_FAST_LOAD = 2,
  // Random access to many small files: blocks of 128 KiB, zstd 12.
  LINERATE_PRESET_VFS = 3,
  // Smallest to fetch: blocks of 4 MiB, zstd 19.
  LINERATE_PRESET_WEB = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum linerate_preset linerate_preset;
#else
typedef int32_t linerate_preset;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Which file a merge takes where archives have different ones under one path.
enum linerate_clash
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // None: it is an error. Files of the same size and hash are no clash.
  LINERATE_CLASH_REFUSE = 0,
  // That of the first archive.
  LINERATE_CLASH_FIRST = 1,
  // That of the last archive.
  LINERATE_CLASH_LAST = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum linerate_clash linerate_clash;
#else
typedef int32_t linerate_clash;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The result of a function.
typedef struct {
  // A linerate_kind: LINERATE_OK if there is no error.
  int32_t kind;
  // The operating system's error number (errno, GetLastError), or 0.
  int32_t os;
  // Offset in bytes, in the input or stream of the function.
  uint64_t offset;
  // The message, in English and without a full stop; never null, valid as long as the library is loaded.
  const char *message;
} linerate_error;

// Working memory, without state between calls: one per thread serves any number of streams. Used by one thread at a time.
typedef struct {
  // The handle.
  uint64_t id;
} linerate_scratch;

// A stream between two calls: all of its state, which may be copied and moved. Its fields belong to the library, but for
// reading checksum and total_in.
typedef struct {
  // CRC-32 or Adler-32 of the input so far.
  uint32_t checksum;
  // Bytes of input so far, modulo 2^32.
  uint32_t total_in;
  // Bits that wait for the next call.
  uint8_t pending;
  // Their number.
  uint8_t pending_len;
  // The linerate_format.
  uint8_t format;
  // The level.
  uint8_t level;
  // What was written: 0 nothing, 1 the header, 2 the last block, 3 all; anything else, what is no stream.
  uint32_t phase;
} linerate_deflater;

// A preset dictionary. Many threads may use it; sessions keep it alive, and it may be freed before them.
typedef struct {
  // The handle; 0 is none.
  uint64_t id;
} linerate_deflate_dictionary;

// Options of a session; linerate_session_defaults fills them.
typedef struct {
  // A linerate_format.
  int32_t format;
  // 0 to 9. Default: 2. Levels 8 and 9 search as 7.
  int32_t level;
  // Logarithm of the window in bytes, 8 to 15, or 0 for messages that are each on their own. Default: 15.
  uint32_t window_bits;
  // Not 0: matches reach into earlier messages. Default: 1.
  uint8_t takeover;
  // Not 0: a message ends with the four bytes of its flush, 00 00 ff ff. Default: 1; permessage-deflate leaves them out.
  uint8_t keep_tail;
  // Not 0: the index of the window is kept between messages, which costs memory and saves time. Default: 1.
  uint8_t keep_index;
  // 0.
  uint8_t reserved[5];
  // A preset dictionary, or a handle of 0: none.
  linerate_deflate_dictionary dictionary;
} linerate_session_options;

// A connection whose messages are compressed with a window of earlier ones. Used by one thread at a time.
typedef struct {
  // The handle.
  uint64_t id;
} linerate_session;

// Lowers the level of a server's streams while it uses more CPU time, or compresses more input, than it may. Many threads may
// use it, and none of them waits.
typedef struct {
  // The handle.
  uint64_t id;
} linerate_controller;

// Options of a decoder; linerate_inflate_defaults fills them.
typedef struct {
  // A linerate_format.
  int32_t format;
  // Logarithm of the window in bytes, 8 to 15. Default: 15. Whole streams have no window.
  uint32_t window_bits;
  // Largest output of a stream in bytes. Default: no limit.
  uint64_t output_limit;
  // Not 0: CRC-32, Adler-32 and length are verified. Default: 1.
  uint8_t verify_checksum;
  // 0.
  uint8_t reserved[7];
} linerate_inflate_options;

// What a call of a decoder has done.
typedef struct {
  // Bytes of input consumed.
  size_t read;
  // Bytes of output written.
  size_t written;
  // A linerate_status.
  int32_t status;
} linerate_progress;

// A decoder of deflate, zlib or gzip in pieces. Used by one thread at a time.
typedef struct {
  // The handle.
  uint64_t id;
} linerate_inflater;

// Options of a gzip file; linerate_gzip_defaults fills them.
typedef struct {
  // Threads that decode a file of more than 64 KiB: with 0 or 1 the one that reads, with 2 another one ahead of it, and from 3 on
  // so many together, for about twice the CPU time, or for hardly more with an index. Default: 1.
  uint32_t threads;
  // 0.
  uint32_t reserved;
  // An index file of indexed_gzip or gztool, of index_len bytes, or null. It is read by the call that opens the file, and may
  // be freed after it. With an index every position is reached at once; what is read from there on is not verified up to
  // the next gzip member.
  const uint8_t *index;
  // Bytes of the index.
  size_t index_len;
} linerate_gzip_options;

// The content of a gzip file. Used by one thread at a time.
typedef struct {
  // The handle.
  uint64_t id;
} linerate_gzip;

// Reads up to len bytes at an offset of a file, as pread does, none beyond the size that was stated: returns how many, 0 at the end
// only, or less than 0 for an error. With two threads or more another thread calls it, one at a time. It may call functions of this library, but not with the
// handle that it reads for, and must neither throw nor jump.
typedef int64_t (*linerate_read_at_fn)(void *context, uint64_t offset, void *buffer, size_t len);

// Options of decoding zstd; linerate_zstd_defaults fills them.
typedef struct {
  // Largest window of a frame in pieces, in bytes. Default: 128 MiB.
  uint64_t window_limit;
  // Not 0: frames have no magic number. Default: 0.
  uint8_t magicless;
  // Not 0: checksums of frames are verified. Default: 1.
  uint8_t verify_checksum;
  // 0.
  uint8_t reserved[6];
} linerate_zstd_options;

// What the headers of a frame say.
typedef struct {
  // Bytes of the frame, from its magic number to its checksum.
  size_t compressed;
  // Bytes of its content at most; exactly, if has_content_size is not 0.
  uint64_t bound;
  // Bytes of its window.
  uint64_t window;
  // Its Dictionary_ID, or 0.
  uint32_t dictionary_id;
  // Not 0: the header states the size of the content.
  uint8_t has_content_size;
  // Not 0: a checksum follows the content.
  uint8_t has_checksum;
  // Not 0: a skippable frame, without content.
  uint8_t is_skippable;
  // 0.
  uint8_t reserved;
} linerate_zstd_frame;

// A dictionary of zstd, digested. Many threads may use it; decoders keep it alive, and it may be freed before them.
typedef struct {
  // The handle; 0 is none.
  uint64_t id;
} linerate_zstd_dictionary;

// A decoder of zstd frames in pieces. Used by one thread at a time.
typedef struct {
  // The handle.
  uint64_t id;
} linerate_zstd_decoder;

// Options of a store; linerate_store_defaults fills them.
typedef struct {
  // Bytes of decoding tables, which are evicted beyond. Default: no limit.
  size_t table_budget;
  // Bytes of dictionaries, beyond which none is inserted. Default: no limit.
  size_t raw_limit;
  // Not 0: memory is in huge pages, where the system has them. Default: 1.
  uint8_t huge_pages;
  // 0.
  uint8_t reserved[7];
} linerate_store_options;

// Dictionaries by number. Many threads may use it; decoders keep it alive, and it may be freed before them.
typedef struct {
  // The handle.
  uint64_t id;
} linerate_store;

// Sizes of a store.
typedef struct {
  // Dictionaries.
  size_t dictionaries;
  // Their bytes.
  size_t raw_bytes;
  // Dictionaries with decoding tables.
  size_t digested;
  // Bytes of these tables.
  size_t table_bytes;
  // How often tables were made.
  uint64_t digests;
  // How often tables were evicted.
  uint64_t evictions;
} linerate_store_stats;

// A decoder of blocks with the dictionaries of a store; some 330 KiB. Used by one thread at a time.
typedef struct {
  // The handle.
  uint64_t id;
} linerate_block_decoder;

// One block of a batch.
typedef struct {
  // Its dictionary: a number of linerate_store_insert, or 0 for none.
  uint64_t dictionary;
  // The block, a zstd frame.
  const uint8_t *block;
  // Its bytes.
  size_t len;
  // Where its content is written. No two jobs of a batch may have memory in common.
  uint8_t *out;
  // Bytes of that memory.
  size_t capacity;
  // Result: the bytes of content.
  size_t written;
  // Result: the error of this block, which is none of the others'.
  linerate_error error;
} linerate_job;

// Dictionaries of zstd frames by their ids. Many threads may use them; sessions keep them alive, and they may be freed before.
typedef struct {
  // The handle; 0 is none.
  uint64_t id;
} linerate_gateway_dictionaries;

// Options of a session; linerate_gateway_defaults fills them.
typedef struct {
  // A linerate_transport.
  int32_t transport;
  // A linerate_encoding. Default: 0.
  int32_t encoding;
  // Not 0: sequence numbers must increase by one. Needs an encoding. Default: 0.
  uint8_t check_sequence;
  // Logarithm of the largest zstd window in bytes, at most 27. Default: 16.
  uint8_t window_log;
  // 0.
  uint8_t reserved[6];
  // Largest payload in bytes. Default: 64 MiB.
  uint64_t max_message;
  // Dictionaries of zstd frames, or an id of 0: none.
  linerate_gateway_dictionaries dictionaries;
} linerate_gateway_options;

// A connection. Used by one thread at a time.
typedef struct {
  // The handle.
  uint64_t id;
} linerate_gateway;

// A decoded message.
typedef struct {
  // Bytes of its payload.
  size_t len;
  // Compressed bytes, those of earlier fragments included.
  size_t compressed;
  // Its number on this connection, from 0.
  uint64_t index;
  // Its opcode, if has_op is not 0.
  uint64_t op;
  // Its sequence number, if has_sequence is not 0.
  uint64_t sequence;
  // Not 0: the message is complete. Otherwise this was a fragment, and there is nothing else.
  uint8_t is_complete;
  // Not 0: the options name an encoding, and the payload has an opcode.
  uint8_t has_op;
  // Not 0: the options name an encoding, and the payload has a sequence number.
  uint8_t has_sequence;
  // 0.
  uint8_t reserved[5];
} linerate_message;

// Bytes of the caller.
typedef struct {
  // The first.
  const uint8_t *at;
  // How many.
  size_t len;
} linerate_bytes;

// Parameters of version 1, which are stored outside of chunks; linerate_rice_defaults fills them.
typedef struct {
  // A power of two from 1 to 32,768. Default: 8.
  uint32_t m;
  // Samples of a segment, or 0: all. Default: 0.
  uint32_t segment;
  // Number of coefficients in taps, at most 32, or 0: the running difference, 1 and -1. Default: 0.
  uint32_t tap_count;
  // The coefficients of the filter; to encode, the first must be 1 or -1.
  int32_t taps[32];
} linerate_rice_params;

// Options of streams of version 2. Zeros are the defaults.
typedef struct {
  // Samples of a segment, at most 65,536, or 0: some 4096.
  uint32_t segment;
  // Samples of a row, which the stream keeps, or 0: none.
  uint32_t row;
  // Channels of which a row has one sample each, at most 1024; 1 is none, and 0 finds out.
  uint32_t channels;
} linerate_rice2_options;

// The header of a stream of version 2.
typedef struct {
  // A linerate_element.
  int32_t element;
  // Samples of a row, or 0.
  uint32_t row;
  // Samples.
  uint64_t samples;
  // Segments.
  uint64_t segments;
  // Bytes of the stream.
  uint64_t bytes;
} linerate_rice2_info;

// Options of an archive; linerate_archive_defaults fills them.
typedef struct {
  // Bytes of decoded blocks that are kept. Default: 64 MiB.
  uint64_t cache;
  // Not 0: whole files are checked against their hashes. Default: 1.
  uint8_t verify;
  // 0.
  uint8_t reserved[7];
} linerate_archive_options;

// An open archive with a cache of decoded blocks. Many threads may use it.
typedef struct {
  // The handle.
  uint64_t id;
} linerate_archive;

// A file of an archive.
typedef struct {
  // Bytes of its content.
  uint64_t size;
  // The hash of its content, if has_hash is not 0: XXH3-64, or XXH64 in archives with a header of version 0.
  uint64_t hash;
  // Bytes of its path, without a terminating zero.
  size_t path_len;
  // Not 0: the archive has hashes.
  uint8_t has_hash;
  // 0.
  uint8_t reserved[7];
} linerate_archive_file;

// How far an extraction or verification is.
typedef struct {
  // Files done, failed ones included.
  uint64_t files;
  // Bytes of content done.
  uint64_t bytes;
  // Files in total.
  uint64_t total_files;
  // Bytes in total.
  uint64_t total_bytes;
} linerate_archive_progress;

// Called after each block, by the thread that decoded it, so by several at once if there are several. 0 cancels the work.
typedef int32_t (*linerate_progress_fn)(void *context, const linerate_archive_progress *progress);

// Called for each file that failed, by the calling thread. The path has path_len bytes and no terminating zero.
typedef void (*linerate_failure_fn)(void *context, const char *path, size_t path_len, linerate_error error);

// Options of an extraction or verification; linerate_run_defaults fills them. Callbacks may call functions of this library, and must
// neither throw nor jump.
typedef struct {
  // Threads, the calling one included. Default: 1.
  uint32_t threads;
  // A linerate_existing. Default: 0. Verifications have no use for it.
  int32_t existing;
  // Not 0: contents are checked against their hashes. Default: 1.
  uint8_t verify;
  // Not 0: each file is flushed to the disk before it gets its name. Default: 0.
  uint8_t sync;
  // 0.
  uint8_t reserved[6];
  // Called with progress, or null.
  linerate_progress_fn on_progress;
  // Called with failures, at the end, or null.
  linerate_failure_fn on_failure;
  // What both are called with.
  void *context;
} linerate_run_options;

// The result of an extraction or verification.
typedef struct {
  // Files written, or found to be right.
  uint64_t files;
  // Their bytes.
  uint64_t bytes;
  // Files that failed.
  uint64_t failures;
  // Files that were there already.
  uint64_t skipped;
  // Not 0: on_progress, or a full disk, stopped the work.
  uint8_t stopped;
  // 0.
  uint8_t reserved[7];
} linerate_run_report;

// Called for each file, link and folder found, by the calling thread; a folder's path ends with a slash. 0 leaves it out, a folder
// with all that is in it, which is not read then. The path is relative to the folder that is packed, in UTF-8, of path_len bytes
// without a terminating zero. It is asked for each path of a folder once.
typedef int32_t (*linerate_choose_fn)(void *context, const char *path, size_t path_len);

// How far packing is.
typedef struct {
  // Blocks written.
  uint64_t blocks;
  // Blocks in total; 0 as long as files are being compared, before any block is written.
  uint64_t total_blocks;
  // Bytes of content packed, with those of blocks in work; of blocks that are copied from an archive, their compressed bytes.
  uint64_t bytes;
  // What bytes becomes; 0 as long as it is not known.
  uint64_t total_bytes;
  // Bytes of the archive that are written.
  uint64_t written;
} linerate_pack_progress;

// Called after each block, and every 100 milliseconds: by the calling thread and by threads of the library, but never by two at
// once, and not while the archive gets its name, nor after. No number is smaller than in an earlier call. 0 cancels the work, and it
// is not called again.
typedef int32_t (*linerate_pack_progress_fn)(void *context, const linerate_pack_progress *progress);

// Options of packing; linerate_pack_defaults fills them. Callbacks may call functions of this library, and must neither throw nor
// jump. No two of them run at once.
typedef struct {
  // A linerate_preset. Default: 0.
  int32_t preset;
  // The level of zstd, -5 to 22, for all blocks, or 0: that of the preset. Default: 0.
  int32_t level;
  // Threads, the calling one included; the archive does not depend on it. 0 is 1. Default: 1.
  uint32_t threads;
  // Not 0: a target that exists is replaced, else it is an error. Default: 0.
  uint8_t replace;
  // Not 0: textures are filtered where it makes their block smaller; only Linerate reads such archives. Default: 0.
  uint8_t filters;
  // Not 0: times, modes, links and empty folders are kept, which other programs ignore. Default: 0; an update keeps them in
  // any case where the archive has them, and a merge those of its archives.
  uint8_t metadata;
  // Not 0: files and folders whose names no archive can hold are left out, else they are an error. Default: 0.
  uint8_t skip_bad_names;
  // Chooses files, or null: all are packed.
  linerate_choose_fn choose;
  // Called with progress, or null.
  linerate_pack_progress_fn on_progress;
  // Called with what is left out, that is links, devices and bad names, and before the function returns an error that concerns
  // a file or folder, with that, or with both files of which an archive can hold one; or null. Of files in an archive it is the
  // path there.
  linerate_failure_fn on_failure;
  // What all three are called with.
  void *context;
} linerate_pack_options;

// The result of packing. All numbers of files are those of the new archive, but for left_out and removed.
typedef struct {
  // Files.
  uint64_t files;
  // Their bytes.
  uint64_t bytes;
  // Bytes of the archive.
  uint64_t archive_bytes;
  // Files that take no space, since another has the same bytes.
  uint64_t shared_files;
  // Files, links, devices and folders that were left out, and told to on_failure.
  uint64_t left_out;
  // Of an update: files that are new.
  uint64_t added;
  // Files with other bytes than before.
  uint64_t replaced;
  // Files of the folders that are in the archive already.
  uint64_t unchanged;
  // Files that the archive had.
  uint64_t removed;
} linerate_pack_report;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The name of a linerate_kind, as in messages of the program linerate: "truncated". "unknown" for any other number.
const char *linerate_kind_name(int32_t kind);

// Writes message, the system's reason and offset as one line, with a terminating zero, and cuts it to capacity bytes. Returns
// the length of the whole line without the zero, even if it was cut. The message of the error must be one of this library, or a C
// string. For the system's reason it allocates memory while it runs.
size_t linerate_error_text(linerate_error error,
                           char *out,
                           size_t capacity);

// The version of the library: "0.1.0".
const char *linerate_version(void);

// Allocates working memory for engines, a sum of linerate_engine.
linerate_error linerate_scratch_new(uint32_t engines, linerate_scratch *scratch);

// Frees working memory; a scratch whose id is 0 is ignored.
linerate_error linerate_scratch_free(linerate_scratch scratch);

// Bytes that a call of linerate_deflater_encode writes at most for len bytes of input: 5 per 65,535 more, and 10.
size_t linerate_deflater_bound(size_t len);

// Bytes that linerate_deflater_flush writes at most.
size_t linerate_deflater_flush_bound(void);

// Bytes that linerate_deflater_finish writes at most.
size_t linerate_deflater_finish_bound(void);

// Bytes that linerate_deflate writes at most for len bytes of input.
size_t linerate_deflate_bound(size_t len);

// Compresses input as one whole stream. Level 0 stores, 1 is the fastest and 9 the smallest.
linerate_error linerate_deflate(linerate_scratch scratch,
                                int32_t format,
                                int32_t level,
                                const uint8_t *from,
                                size_t len,
                                uint8_t *out,
                                size_t capacity,
                                size_t *written);

// Makes a stream at its beginning, in memory that need not be initialised.
linerate_error linerate_deflater_init(linerate_deflater *stream, int32_t format, int32_t level);

// Sets the level of the following calls.
linerate_error linerate_deflater_set_level(linerate_deflater *stream, int32_t level);

// Compresses input without reference to earlier calls. With more true, at most 5 bits wait for the next call; with more false the
// call writes the last block, and linerate_deflater_finish follows. All of input is consumed, or nothing.
linerate_error linerate_deflater_encode(linerate_deflater *stream,
                                        linerate_scratch scratch,
                                        const uint8_t *from,
                                        size_t len,
                                        uint8_t *out,
                                        size_t capacity,
                                        bool more,
                                        size_t *written);

// As linerate_deflater_encode, with matches that reach back into the history: the first bytes of buffer, of which the last
// 32,768 count, are the end of the input of the calls before. What follows them, of len bytes in all, is the input.
linerate_error linerate_deflater_encode_with_history(linerate_deflater *stream,
                                                     linerate_scratch scratch,
                                                     const uint8_t *buffer,
                                                     size_t len,
                                                     size_t history,
                                                     uint8_t *out,
                                                     size_t capacity,
                                                     bool more,
                                                     size_t *written);

// Writes the bits that wait and an empty stored block, after which a decoder has all input so far.
linerate_error linerate_deflater_flush(linerate_deflater *stream,
                                       uint8_t *out,
                                       size_t capacity,
                                       size_t *written);

// Ends the stream: the last block, if it was not written yet, and the trailer. Once more, it writes nothing.
linerate_error linerate_deflater_finish(linerate_deflater *stream,
                                        uint8_t *out,
                                        size_t capacity,
                                        size_t *written);

// Continues a CRC-32, which begins with 0. A null pointer has no bytes.
uint32_t linerate_crc32(uint32_t check, const uint8_t *from, size_t len);

// Continues an Adler-32, which begins with 1. A null pointer has no bytes.
uint32_t linerate_adler32(uint32_t check, const uint8_t *from, size_t len);

// The defaults for a linerate_format.
linerate_session_options linerate_session_defaults(int32_t format);

// Allocates a session.
linerate_error linerate_session_new(const linerate_session_options *options, linerate_session *session);

// Frees a session; one whose id is 0 is ignored.
linerate_error linerate_session_free(linerate_session session);

// Bytes that linerate_session_message writes at most for len bytes of input.
size_t linerate_session_bound(size_t len);

// Compresses a message and flushes it.
linerate_error linerate_session_message(linerate_session session,
                                        linerate_scratch scratch,
                                        const uint8_t *from,
                                        size_t len,
                                        uint8_t *out,
                                        size_t capacity,
                                        size_t *written);

// Appends text to a session's window: the receiver got it in between, in a message that was compressed once for many, by a
// session without takeover. Later messages may refer to it.
linerate_error linerate_session_remember(linerate_session session,
                                         const uint8_t *text,
                                         size_t len);

// Empties a session's window, so that later messages refer to nothing before: the receiver may have got anything in between.
linerate_error linerate_session_forget(linerate_session session);

// Ends the stream of a session: at most linerate_deflater_finish_bound() bytes.
linerate_error linerate_session_finish(linerate_session session,
                                       uint8_t *out,
                                       size_t capacity,
                                       size_t *written);

// Sets the level of the following messages.
linerate_error linerate_session_set_level(linerate_session session, int32_t level);

// Stores the bytes that a session holds.
linerate_error linerate_session_memory(linerate_session session, size_t *bytes);

// Allocates a preset dictionary: of text the last 32,768 bytes, and an index of them.
linerate_error linerate_deflate_dictionary_new(const uint8_t *text,
                                               size_t len,
                                               linerate_deflate_dictionary *dictionary);

// Frees a dictionary; one whose id is 0 is ignored.
linerate_error linerate_deflate_dictionary_free(linerate_deflate_dictionary dictionary);

// Allocates a controller that chooses at most max_level. max_cpu is in percent of one CPU and max_rate in bytes of input per
// second; 0 is no limit.
linerate_error linerate_controller_new(int32_t max_level,
                                       uint32_t max_cpu,
                                       uint64_t max_rate,
                                       linerate_controller *controller);

// Frees a controller; one whose id is 0 is ignored.
linerate_error linerate_controller_free(linerate_controller controller);

// Counts input of a call that compressed, not of one at level 0.
linerate_error linerate_controller_add_input(linerate_controller controller, size_t len);

// Stores the level for the next call of any stream. Every 100 ms of now it is chosen anew: one lower if more was used since
// than a limit allows, one higher if a quarter of each limit was left. now, of any clock that never runs back, and cpu, the CPU
// time that the process has used, are in nanoseconds.
linerate_error linerate_controller_level(linerate_controller controller,
                                         uint64_t now,
                                         uint64_t cpu,
                                         int32_t *level);

// The defaults for a linerate_format.
linerate_inflate_options linerate_inflate_defaults(int32_t format);

// Decodes the stream or gzip member at the beginning of the input into out; progress says where both ended. The dictionary, of
// dictionary_len bytes or null, precedes the content of deflate data, and that of a zlib stream whose header asks for it.
// LINERATE_OUTPUT_TOO_SMALL, LINERATE_TRUNCATED, LINERATE_CORRUPT or LINERATE_LIMIT otherwise.
linerate_error linerate_inflate(linerate_scratch scratch,
                                const linerate_inflate_options *options,
                                const uint8_t *dictionary,
                                size_t dictionary_len,
                                const uint8_t *from,
                                size_t len,
                                uint8_t *out,
                                size_t capacity,
                                linerate_progress *progress);

// Allocates a decoder; its window grows with the output.
linerate_error linerate_inflater_new(const linerate_inflate_options *options, linerate_inflater *inflater);

// Frees a decoder; one whose id is 0 is ignored.
linerate_error linerate_inflater_free(linerate_inflater inflater);

// Decodes until input, output or stream ends. After LINERATE_END it does nothing more. An error is returned after all output
// that precedes it, and by every later call until linerate_inflater_reset; its offset counts from the stream's beginning.
linerate_error linerate_inflater_decode(linerate_inflater inflater,
                                        linerate_scratch scratch,
                                        const uint8_t *from,
                                        size_t len,
                                        uint8_t *out,
                                        size_t capacity,
                                        linerate_progress *progress);

// Begins a new stream, in the memory of the last.
linerate_error linerate_inflater_reset(linerate_inflater inflater);

// After LINERATE_END, continues with the next gzip member, or zlib stream, of the input. The output limit goes on.
linerate_error linerate_inflater_next_member(linerate_inflater inflater);

// Sets the preset dictionary: after LINERATE_NEED_DICTIONARY, or before deflate data without a container.
linerate_error linerate_inflater_set_dictionary(linerate_inflater inflater,
                                                const uint8_t *dictionary,
                                                size_t len);

// Stores the Adler-32 of the dictionary that a zlib header has asked for, or 0 if none has.
linerate_error linerate_inflater_dictionary_id(linerate_inflater inflater, uint32_t *id);

// Stores the bytes that a decoder holds.
linerate_error linerate_inflater_memory(linerate_inflater inflater, size_t *bytes);

// The defaults.
linerate_gzip_options linerate_gzip_defaults(void);

// Opens a file, whose path is UTF-8 on Windows. Windows and buffers are allocated as it is read: less than 1 MiB and the index, and
// with several threads 64 MiB and 24 MiB for each at most.
linerate_error linerate_gzip_open(const char *path,
                                  const linerate_gzip_options *options,
                                  linerate_gzip *gzip);

// Opens a file in memory of the caller, which must stay as it is until linerate_gzip_free.
linerate_error linerate_gzip_open_memory(const uint8_t *from,
                                         size_t len,
                                         const linerate_gzip_options *options,
                                         linerate_gzip *gzip);

// Opens a file of size bytes that read_at reads, with the context, until linerate_gzip_free has returned.
linerate_error linerate_gzip_open_callback(linerate_read_at_fn read_at,
                                           void *context,
                                           uint64_t size,
                                           const linerate_gzip_options *options,
                                           linerate_gzip *gzip);

// Reads content, up to capacity bytes or its end, and stores how many. An error is returned after all content that precedes it,
// and by every later call until linerate_gzip_seek has gone back; its offset counts bytes of the file. The first call after several
// threads were asked for starts them.
linerate_error linerate_gzip_read(linerate_gzip gzip,
                                  uint8_t *out,
                                  size_t capacity,
                                  size_t *written);

// Sets the position in the content, at most its end, from its beginning (whence 0, as SEEK_SET), from where it is (1) or from the
// end (2), and stores it. Without an index what lies between is decoded, from the beginning if the position is before this one.
linerate_error linerate_gzip_seek(linerate_gzip gzip,
                                  int64_t offset,
                                  int32_t whence,
                                  uint64_t *position);

// Frees a gzip file, and ends its threads; one whose id is 0 is ignored.
linerate_error linerate_gzip_free(linerate_gzip gzip);

// The defaults.
linerate_zstd_options linerate_zstd_defaults(void);

// Reads the headers of the frame at the beginning of the input, and of its blocks; nothing is decoded.
linerate_error linerate_zstd_frame_info(const linerate_zstd_options *options,
                                        const uint8_t *from,
                                        size_t len,
                                        linerate_zstd_frame *frame);

// Decodes all frames of the input, one after another, into out. The dictionary may be none, with the id 0.
linerate_error linerate_zstd_decode(linerate_scratch scratch,
                                    const linerate_zstd_options *options,
                                    linerate_zstd_dictionary dictionary,
                                    const uint8_t *from,
                                    size_t len,
                                    uint8_t *out,
                                    size_t capacity,
                                    size_t *written);

// Decodes the frame at the beginning of the input into out; progress says where both ended.
linerate_error linerate_zstd_decode_frame(linerate_scratch scratch,
                                          const linerate_zstd_options *options,
                                          linerate_zstd_dictionary dictionary,
                                          const uint8_t *from,
                                          size_t len,
                                          uint8_t *out,
                                          size_t capacity,
                                          linerate_progress *progress);

// Allocates a dictionary and digests it: a trained one, or raw content of at least 8 bytes.
linerate_error linerate_zstd_dictionary_new(const uint8_t *bytes,
                                            size_t len,
                                            linerate_zstd_dictionary *dictionary);

// Frees a dictionary; one whose id is 0 is ignored.
linerate_error linerate_zstd_dictionary_free(linerate_zstd_dictionary dictionary);

// Stores the Dictionary_ID that frames name it by; 0 for raw content.
linerate_error linerate_zstd_dictionary_id(linerate_zstd_dictionary dictionary, uint32_t *id);

// Allocates a decoder, for frames with this dictionary or, if its id is 0, without one. Its window grows with the content, up to
// what a frame's header states.
linerate_error linerate_zstd_decoder_new(const linerate_zstd_options *options,
                                         linerate_zstd_dictionary dictionary,
                                         linerate_zstd_decoder *decoder);

// Frees a decoder; one whose id is 0 is ignored.
linerate_error linerate_zstd_decoder_free(linerate_zstd_decoder decoder);

// Decodes until input, output or a frame ends; after LINERATE_END the next call takes the next frame. An error is returned after
// all output that precedes it, and by every later call until linerate_zstd_decoder_reset; its offset counts from the first byte.
linerate_error linerate_zstd_decoder_decode(linerate_zstd_decoder decoder,
                                            linerate_scratch scratch,
                                            const uint8_t *from,
                                            size_t len,
                                            uint8_t *out,
                                            size_t capacity,
                                            linerate_progress *progress);

// Begins with a new frame, in the memory of the last.
linerate_error linerate_zstd_decoder_reset(linerate_zstd_decoder decoder);

// Stores the bytes that a decoder holds.
linerate_error linerate_zstd_decoder_memory(linerate_zstd_decoder decoder, size_t *bytes);

// The defaults.
linerate_store_options linerate_store_defaults(void);

// Allocates an empty store.
linerate_error linerate_store_new(const linerate_store_options *options, linerate_store *store);

// Frees a store, and its dictionaries with the last decoder; one whose id is 0 is ignored.
linerate_error linerate_store_free(linerate_store store);

// Copies a dictionary into the store, and stores its number there. The same bytes once more have the same number, and are
// counted: each insertion is undone by one linerate_store_release.
linerate_error linerate_store_insert(linerate_store store,
                                     const uint8_t *bytes,
                                     size_t len,
                                     uint64_t *dictionary);

// Undoes one insertion. After the last the number is unknown, and is never used again.
linerate_error linerate_store_release(linerate_store store, uint64_t dictionary);

// Stores the sizes of a store.
linerate_error linerate_store_get_stats(linerate_store store, linerate_store_stats *stats);

// Allocates a decoder for the blocks of a store.
linerate_error linerate_block_decoder_new(linerate_store store, linerate_block_decoder *decoder);

// Frees a decoder; one whose id is 0 is ignored.
linerate_error linerate_block_decoder_free(linerate_block_decoder decoder);

// Decodes one block, a zstd frame, with a dictionary of the store or, if that is 0, with none. A dictionary's tables are
// allocated in the store when a block first needs them.
linerate_error linerate_block_decoder_decode(linerate_block_decoder decoder,
                                             uint64_t dictionary,
                                             const uint8_t *block,
                                             size_t len,
                                             uint8_t *out,
                                             size_t capacity,
                                             size_t *written);

// Decodes a batch, prefetching the memory of each job while the one before is decoded. The results are in the jobs. The function
// fails, and then changes no job, only if the decoder, the order or the pointers of a job are invalid. It allocates 72 bytes a job,
// and frees them; the decoder keeps 4 more for each job of its largest batch.
linerate_error linerate_block_decoder_batch(linerate_block_decoder decoder,
                                            linerate_job *jobs,
                                            size_t count,
                                            int32_t order);

// The defaults for a linerate_transport.
linerate_gateway_options linerate_gateway_defaults(int32_t transport);

// Allocates a session for a new connection.
linerate_error linerate_gateway_new(const linerate_gateway_options *options, linerate_gateway *gateway);

// Frees a session; one whose id is 0 is ignored.
linerate_error linerate_gateway_free(linerate_gateway gateway);

// Decodes the content of one websocket message, and copies the payload to out. If that is too small, the error is
// LINERATE_OUTPUT_TOO_SMALL, message is stored nevertheless, and the session keeps a copy of the payload until the next message, for
// linerate_gateway_payload. Any other error of a stream is that of every call until linerate_gateway_reset; of independent messages,
// that of this one. The session's window and the scratch's payload buffer grow with the messages.
linerate_error linerate_gateway_message(linerate_gateway gateway,
                                        linerate_scratch scratch,
                                        const uint8_t *from,
                                        size_t len,
                                        uint8_t *out,
                                        size_t capacity,
                                        linerate_message *message);

// Copies the payload for which the buffer of linerate_gateway_message was too small.
linerate_error linerate_gateway_payload(linerate_gateway gateway,
                                        uint8_t *out,
                                        size_t capacity,
                                        size_t *written);

// Begins a new connection, in the memory of the last.
linerate_error linerate_gateway_reset(linerate_gateway gateway);

// Sets the last sequence number before this connection, after linerate_gateway_reset.
linerate_error linerate_gateway_resume_after(linerate_gateway gateway, uint64_t sequence);

// Stores the bytes that a session holds.
linerate_error linerate_gateway_memory(linerate_gateway gateway, size_t *bytes);

// Allocates dictionaries, which must have different ids, and digests them.
linerate_error linerate_gateway_dictionaries_new(const linerate_bytes *list,
                                                 size_t count,
                                                 linerate_gateway_dictionaries *dictionaries);

// Frees dictionaries; those whose id is 0 are ignored.
linerate_error linerate_gateway_dictionaries_free(linerate_gateway_dictionaries dictionaries);

// The defaults.
linerate_rice_params linerate_rice_defaults(void);

// Stores the bytes of a chunk of count samples at most.
linerate_error linerate_rice_bound(const linerate_rice_params *params, size_t count, size_t *bytes);

// Encodes samples as one chunk of version 1, on thread_count threads, the calling one included; uint16_t are the same 16 bits.
linerate_error linerate_rice_encode(const linerate_rice_params *params,
                                    const int16_t *samples,
                                    size_t count,
                                    uint8_t *out,
                                    size_t capacity,
                                    uint32_t thread_count,
                                    size_t *written);

// Stores the number of samples that a chunk of version 1 states.
linerate_error linerate_rice_samples(const uint8_t *chunk, size_t len, size_t *count);

// Decodes a chunk of version 1 into room for samples, on thread_count threads, and stores their number.
linerate_error linerate_rice_decode(const linerate_rice_params *params,
                                    const uint8_t *chunk,
                                    size_t len,
                                    int16_t *samples,
                                    size_t room,
                                    uint32_t thread_count,
                                    size_t *count);

// Decodes the segments from first on, before end, of a chunk of version 1, and stores the number of their samples.
linerate_error linerate_rice_decode_segments(const linerate_rice_params *params,
                                             const uint8_t *chunk,
                                             size_t len,
                                             size_t first,
                                             size_t end,
                                             int16_t *samples,
                                             size_t room,
                                             size_t *count);

// Stores the bytes of a stream of version 2 of count samples at most.
linerate_error linerate_rice2_bound(const linerate_rice2_options *options,
                                    int32_t element,
                                    size_t count,
                                    size_t *bytes);

// Encodes samples of the type element as one stream of version 2, on thread_count threads, the calling one included.
linerate_error linerate_rice2_encode(const linerate_rice2_options *options,
                                     int32_t element,
                                     const void *samples,
                                     size_t count,
                                     uint8_t *out,
                                     size_t capacity,
                                     uint32_t thread_count,
                                     size_t *written);

// Reads the header of a stream of version 2.
linerate_error linerate_rice2_get_info(const uint8_t *stream, size_t len, linerate_rice2_info *info);

// Decodes a stream of version 2 into room for samples of the type element, which must be its own, on thread_count threads, and
// stores their number.
linerate_error linerate_rice2_decode(const uint8_t *stream,
                                     size_t len,
                                     int32_t element,
                                     void *samples,
                                     size_t room,
                                     uint32_t thread_count,
                                     size_t *count);

// Decodes the segments from first on, before end, of a stream of version 2, and stores the number of their samples. It allocates
// memory while it runs.
linerate_error linerate_rice2_decode_segments(const uint8_t *stream,
                                              size_t len,
                                              size_t first,
                                              size_t end,
                                              int32_t element,
                                              void *samples,
                                              size_t room,
                                              size_t *count);

// The defaults.
linerate_archive_options linerate_archive_defaults(void);

// Opens the archive in a file, whose path is UTF-8 on Windows. It allocates tables of all files, and blocks as they are read.
linerate_error linerate_archive_open(const char *path,
                                     const linerate_archive_options *options,
                                     linerate_archive *archive);

// Opens the archive in memory of the caller, which must stay as it is until linerate_archive_free.
linerate_error linerate_archive_open_memory(const uint8_t *from,
                                            size_t len,
                                            const linerate_archive_options *options,
                                            linerate_archive *archive);

// Frees an archive, which no thread may be using; one whose id is 0 is ignored.
linerate_error linerate_archive_free(linerate_archive archive);

// Stores the number of files; their indices are below it.
linerate_error linerate_archive_count(linerate_archive archive, size_t *count);

// Stores what is known about the file of an index.
linerate_error linerate_archive_get(linerate_archive archive, size_t index, linerate_archive_file *file);

// Copies the path of a file, in UTF-8, and a terminating zero: path_len + 1 bytes.
linerate_error linerate_archive_path(linerate_archive archive, size_t index, char *out, size_t capacity);

// Stores the index of the file of exactly this path, of path_len bytes of UTF-8; LINERATE_BAD_ARGUMENT if there is none.
linerate_error linerate_archive_find(linerate_archive archive,
                                     const char *path,
                                     size_t path_len,
                                     size_t *index);

// Reads a whole file, checks it, and stores its size.
linerate_error linerate_archive_read(linerate_archive archive,
                                     size_t index,
                                     uint8_t *out,
                                     size_t capacity,
                                     size_t *written);

// Reads a file from offset on, up to capacity bytes or its end, and stores how many. Its hash is not checked.
linerate_error linerate_archive_read_range(linerate_archive archive,
                                           size_t index,
                                           uint64_t offset,
                                           uint8_t *out,
                                           size_t capacity,
                                           size_t *written);

// The defaults.
linerate_run_options linerate_run_defaults(void);

// Extracts all files to a folder, which is created if it is missing; each appears under its name when it is complete. Files that
// fail are in the report and told to on_failure, and all others are extracted; the function fails if the folder cannot be created,
// the disk has too little space, or all files are larger than 16 TiB, or 1000 times the archive.
linerate_error linerate_archive_extract(linerate_archive archive,
                                        const char *folder,
                                        const linerate_run_options *options,
                                        linerate_run_report *report);

// Reads all files and checks them against their hashes; those that fail are in the report and told to on_failure.
linerate_error linerate_archive_verify(linerate_archive archive,
                                       const linerate_run_options *options,
                                       linerate_run_report *report);

// The defaults.
linerate_pack_options linerate_pack_defaults(void);

// Packs what is in folders, under the paths there, as an archive; a path that two folders have is LINERATE_BAD_ARGUMENT. The target,
// if it lies in a folder, is not packed. It gets its
// name, and the owner and permissions of the file that it replaces, when it is complete: after an error, or when on_progress has
// cancelled the work, which is LINERATE_WRITE, it is as it was, and no temporary file is left.
linerate_error linerate_archive_pack(const char *const *folders,
                                     size_t folder_count,
                                     const char *target,
                                     const linerate_pack_options *options,
                                     linerate_pack_report *report);

// Changes the archive of a path: deletes files, and then adds those of folders, which replace others of their path. deleted has
// paths in the archive, of files or of folders with all that is in them; one that the archive lacks is LINERATE_BAD_ARGUMENT.
// Blocks without a changed file are copied as they are. The new archive has the chunk size of the old one and is written to
// target, or replaces the old one if target is null; what linerate_archive_pack says of its target holds for both. The archive
// that is replaced is locked meanwhile: one that another process is changing is LINERATE_WRITE. On Windows no
// linerate_archive may have it open.
linerate_error linerate_archive_update(const char *path,
                                       const char *const *folders,
                                       size_t folder_count,
                                       const char *const *deleted,
                                       size_t deleted_count,
                                       const char *target,
                                       const linerate_pack_options *options,
                                       linerate_pack_report *report);

// Merges archives into a new one; clash is a linerate_clash. Blocks are copied as they are from archives with the chunk size of the
// preset or, with the default one, of the first archive. What linerate_archive_pack says of its target holds here; the target is none
// of the archives.
linerate_error linerate_archive_merge(const char *const *archives,
                                      size_t archive_count,
                                      int32_t clash,
                                      const char *target,
                                      const linerate_pack_options *options,
                                      linerate_pack_report *report);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LINERATE_H */
