/* linerate.h: the engines of Linerate for C and C++. cbindgen makes it from
 * bindings/c/linerate/src; do not edit.
 *
 * Every function that can fail returns a linerate_error, whose kind is LINERATE_OK (0) on success.
 * After any other kind nothing has changed except the content of output buffers, unless the
 * function says otherwise. The caller owns the memory for input and output. A null pointer is
 * allowed for an empty buffer, and buffers of one call must not overlap. Pointers through which a
 * function stores results must not be null. If a pointer is null that must not be, the message of
 * the error names the argument. Options and parameters may be null for their defaults, except those
 * whose defaults need a format or a transport.
 *
 * Handles are numbers. Functions with _new or _open in their names allocate the object behind a
 * handle, and functions with _free free it. Functions that take a number of threads may allocate
 * memory while they run; others allocate only where they say so. A handle may move between threads,
 * but one thread at a time may use it, unless the comment of its type says that many threads may. A
 * function fails with LINERATE_BAD_ARGUMENT if another thread is using a handle that only one may
 * use, or if the handle was freed, never made, or belongs to another type. A function that frees
 * fails so if any other thread is using the handle.
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
  // The output buffer is too small. Nothing has changed except the content of the buffer, unless
  // the function says otherwise, as linerate_gateway_message and linerate_session_message do.
  LINERATE_OUTPUT_TOO_SMALL = 4,
  // The request is invalid, for example because of a null pointer, a number that stands for no
  // choice, a handle that is freed or in use, or data after the end of a stream.
  LINERATE_BAD_ARGUMENT = 5,
  // The call would exceed a limit that the caller or the library sets (memory, output size), or
  // an allocation has failed.
  LINERATE_LIMIT = 6,
  // A file or a device cannot be read. The error number of the operating system may give the
  // reason.
  LINERATE_READ = 7,
  // An output cannot be created or written, or the caller cancelled packing. The error number of
  // the operating system may give the reason.
  LINERATE_WRITE = 8,
  // A bug in this library. Handles that were passed to the call, and that only one thread at a
  // time may use, can only be freed afterwards.
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
  // No container: raw deflate data (RFC 1951).
  LINERATE_DEFLATE = 0,
  // zlib (RFC 1950), with an Adler-32.
  LINERATE_ZLIB = 1,
  // gzip (RFC 1952), with a CRC-32 and the length.
  LINERATE_GZIP = 2,
  // gzip or zlib, detected by the first byte. Only for decoding.
  LINERATE_ZLIB_OR_GZIP = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum linerate_format linerate_format;
#else
typedef int32_t linerate_format;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Reasons for which a stream decoder returns.
enum linerate_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The call consumed all input. If there is no more, the data is truncated. But a zstd decoder
  // that gets no input after LINERATE_END also returns this.
  LINERATE_NEED_INPUT = 0,
  // The output buffer is full and more output may follow, or the next call returns an error.
  LINERATE_NEED_OUTPUT = 1,
  // The stream, gzip member or zstd frame has ended.
  LINERATE_END = 2,
  // The zlib header requires a preset dictionary.
  LINERATE_NEED_DICTIONARY = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum linerate_status linerate_status;
#else
typedef int32_t linerate_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Engines that need working memory. The sum of some of these values selects the engines that a
// linerate_scratch is for.
enum linerate_engine
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Deflate streams and sessions: at most 600 KiB. Levels 0 to 3 touch only 127 KiB of it; level
  // 3 touches another 320 KiB if the data is 16-bit samples. The first call at level 8 or 9 with
  // this memory allocates another 7 MiB, which stay allocated. Sessions do not need them.
  LINERATE_ENGINE_DEFLATE = 1,
  // Inflate: about 12 KiB.
  LINERATE_ENGINE_INFLATE = 2,
  // zstd frames and streams: at most 320 KiB.
  LINERATE_ENGINE_ZSTD = 4,
  // Gateway sessions: a buffer for payloads, which grows to the largest one. It keeps up to 1
  // MiB for good, and frees what is above after 256 payloads in a row of at most 1 MiB. The
  // memory of inflate and zstd is added when it is first needed.
  LINERATE_ENGINE_GATEWAY = 8,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum linerate_engine linerate_engine;
#else
typedef uint32_t linerate_engine;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Orders in which the jobs of a batch are decoded. The jobs keep their places in the array.
enum linerate_order
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Grouped by dictionary if there are on average at least two jobs for each dictionary,
  // otherwise in the given order.
  LINERATE_ORDER_ANY = 0,
  // The order of the array.
  LINERATE_ORDER_AS_GIVEN = 1,
  // Grouped by dictionary in any case: all jobs of one dictionary one after another, in the
  // order of the array.
  LINERATE_ORDER_BY_DICTIONARY = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum linerate_order linerate_order;
#else
typedef int32_t linerate_order;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Compression of the messages of a connection.
enum linerate_transport
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // One zlib stream, flushed after each message. A message may arrive in fragments.
  LINERATE_TRANSPORT_ZLIB_STREAM = 0,
  // One zstd frame, flushed after each message.
  LINERATE_TRANSPORT_ZSTD_STREAM = 1,
  // Each message is one or more zstd frames, which may name a dictionary.
  LINERATE_TRANSPORT_ZSTD_FRAME = 2,
  // Each message is a zlib stream.
  LINERATE_TRANSPORT_ZLIB = 3,
  // Each message is a gzip file of one or more members.
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

// Encodings of payloads. If one is chosen, the session checks that each payload is complete, and
// reads its opcode and sequence number.
enum linerate_encoding
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Any encoding: payloads are not checked.
  LINERATE_ENCODING_ANY = 0,
  // One JSON object.
  LINERATE_ENCODING_JSON = 1,
  // One map in Erlang's external term format.
  LINERATE_ENCODING_ETF = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum linerate_encoding linerate_encoding;
#else
typedef int32_t linerate_encoding;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Sample types of version 2.
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

// Treatment of a file of the archive if the folder already has a file of its path.
enum linerate_existing
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The file of the archive is not extracted, and counts as a failure.
  LINERATE_EXISTING_FAIL = 0,
  // The existing file is kept, and the file of the archive counts as skipped.
  LINERATE_EXISTING_SKIP = 1,
  // The file of the archive replaces the existing one when it is completely written.
  LINERATE_EXISTING_REPLACE = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum linerate_existing linerate_existing;
#else
typedef int32_t linerate_existing;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Named settings for packing. The page docs/nx/pack.md compares their sizes and decoding speeds.
enum linerate_preset
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The settings of the original Nx packer: blocks of 1 MiB, zstd 16 for files below 1 MiB,
  // which share blocks, and zstd 9 for larger ones.
  LINERATE_PRESET_DEFAULT = 0,
  // For archives that are kept and should be small: blocks of 16 MiB, zstd 16.
  LINERATE_PRESET_ARCHIVE = 1,
  // For archives that must load fast, which decode fastest for their size: blocks of 1 MiB, zstd
  // 12.
  LINERATE_PRESET_FAST_LOAD = 2,
  // For random access to many small files: blocks of 128 KiB, zstd 12.
  LINERATE_PRESET_VFS = 3,
  // For archives that are fetched over a network, whole or in part: blocks of 4 MiB, zstd 19.
  LINERATE_PRESET_WEB = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum linerate_preset linerate_preset;
#else
typedef int32_t linerate_preset;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The file that a merge takes if archives have different files under the same path.
enum linerate_clash
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // No file: the merge fails. It also fails if a path is a file in one archive and a folder in
  // another. Files with the same size and hash do not clash.
  LINERATE_CLASH_REFUSE = 0,
  // The file of the first archive.
  LINERATE_CLASH_FIRST = 1,
  // The file of the last archive.
  LINERATE_CLASH_LAST = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum linerate_clash linerate_clash;
#else
typedef int32_t linerate_clash;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The result of a function that can fail.
typedef struct {
  // The kind, a linerate_kind. LINERATE_OK means success.
  int32_t kind;
  // The operating system's error number (errno, GetLastError), or 0.
  int32_t os;
  // Offset of the error in bytes, in the input, stream or file that the function reads, or 0 if
  // the error has no place there.
  uint64_t offset;
  // The message, in English and without a full stop. It is never null, and valid while the
  // library is loaded.
  const char *message;
} linerate_error;

// Working memory. No result depends on earlier calls, so one per thread serves any number of
// streams. One thread at a time may use it.
typedef struct {
  // The handle.
  uint64_t id;
} linerate_scratch;

// The whole state of a deflate stream between two calls. It may be copied and moved. Callers may
// read checksum and total_in; all other fields are private to the library.
typedef struct {
  // Checksum of the input so far: CRC-32 for gzip, Adler-32 for zlib. It is 0 for raw deflate
  // data.
  uint32_t checksum;
  // Bytes of input so far, modulo 2^32.
  uint32_t total_in;
  // Bits that did not fill a byte, the first one lowest. The next output begins with them.
  uint8_t pending;
  // Number of pending bits.
  uint8_t pending_len;
  // The container, a linerate_format.
  uint8_t format;
  // The compression level.
  uint8_t level;
  // The part of the output that is written: 0 nothing, 1 the header, 2 the last block, 3
  // everything. Functions reject any other value.
  uint32_t phase;
} linerate_deflater;

// A preset dictionary. Many threads may use it. Sessions keep its content alive, so it may be
// freed before them.
typedef struct {
  // The handle; 0 means no dictionary.
  uint64_t id;
} linerate_deflate_dictionary;

// Options of a session. linerate_session_defaults fills them.
typedef struct {
  // The container, a linerate_format.
  int32_t format;
  // The level, 0 to 9. Default: 2. In a session, levels 8 and 9 are the same as level 7.
  int32_t level;
  // Base-2 logarithm of the window in bytes, 8 to 15. 0 makes each message independent of the
  // others. Default: 15.
  uint32_t window_bits;
  // If not 0, matches may refer to earlier messages. If 0, each message can be decoded alone.
  // Default: 1.
  uint8_t takeover;
  // If not 0, each message ends with the four bytes of its flush, 00 00 ff ff. Default: 1.
  // permessage-deflate (RFC 7692) leaves them out.
  uint8_t keep_tail;
  // If not 0, the session keeps the index of its window between messages, which costs memory and
  // saves time. Default: 1.
  uint8_t keep_index;
  // Reserved: 0.
  uint8_t reserved[5];
  // The preset dictionary. A handle of 0 means none. gzip cannot have one, and zlib only with
  // takeover.
  linerate_deflate_dictionary dictionary;
} linerate_session_options;

// The encoder of a connection. It compresses each message with a window of earlier messages. One
// thread at a time may use it.
typedef struct {
  // The handle.
  uint64_t id;
} linerate_session;

// Chooses the level for a server's streams: a lower one while the server uses more CPU time, or
// compresses more input, than its limits allow, and a higher one again afterwards. Many threads
// may use it, and none of them waits.
typedef struct {
  // The handle.
  uint64_t id;
} linerate_controller;

// Options of a decoder. linerate_inflate_defaults fills them.
typedef struct {
  // The container, a linerate_format.
  int32_t format;
  // Base-2 logarithm of the window in bytes, 8 to 15: the largest distance of a match, and the
  // largest window that a zlib header may state. Default: 15. linerate_inflate has no window and
  // ignores it.
  uint32_t window_bits;
  // Largest output of a stream, in bytes; more is an error. A linerate_inflater counts all
  // members and streams since its last reset together. Default: no limit.
  uint64_t output_limit;
  // If not 0, the decoder verifies CRC-32, Adler-32, the length after gzip data, and the
  // checksum of a gzip header. Default: 1.
  uint8_t verify_checksum;
  // Reserved: 0.
  uint8_t reserved[7];
} linerate_inflate_options;

// Bytes that a call of a decoder read and wrote, and why it returned.
typedef struct {
  // Bytes of input consumed.
  size_t read;
  // Bytes of output written.
  size_t written;
  // The reason for the return, a linerate_status.
  int32_t status;
} linerate_progress;

// A decoder of deflate, zlib or gzip data in pieces. One thread at a time may use it.
typedef struct {
  // The handle.
  uint64_t id;
} linerate_inflater;

// Options of a gzip file. linerate_gzip_defaults fills them.
typedef struct {
  // Number of threads that decode. 0 and 1: the reading thread decodes. 2 without an index:
  // another thread decodes ahead of the reading one. Otherwise that many threads decode
  // together, which takes about twice the CPU time without an index, and hardly more with one.
  // They decode from the beginning of the file on; with an index, the first seek to another
  // position ends them. A file of at most 64 KiB is always decoded by the reading thread.
  // Default: 1.
  uint32_t threads;
  // Reserved: 0.
  uint32_t reserved;
  // The content of an index file of indexed_gzip or gztool, index_len bytes, or null for no
  // index. The call that opens the file reads the index, which may be freed afterwards. With an
  // index, seeking decodes only from the nearest point of the index on, but the content from the
  // new position to the next gzip member is not verified.
  const uint8_t *index;
  // Size of the index in bytes.
  size_t index_len;
} linerate_gzip_options;

// An open gzip file, whose content can be read from any position. One thread at a time may use it.
typedef struct {
  // The handle.
  uint64_t id;
} linerate_gzip;

// A function of the caller that reads up to len bytes at an offset of a file into buffer, like
// pread. It returns the number of bytes read, which is 0 only at the end, or a negative number for
// an error. It is never asked for bytes beyond the size that was passed to
// linerate_gzip_open_callback. With two threads or more another thread calls it, but only one at a
// time. The function may call functions of this library, but not with the handle that it reads
// for. It must neither throw nor jump out.
typedef int64_t (*linerate_read_at_fn)(void *context, uint64_t offset, void *buffer, size_t len);

// Options of the zstd decoders. linerate_zstd_defaults fills them.
typedef struct {
  // Largest window of a frame that is decoded in pieces, in bytes. Default: 128 MiB.
  uint64_t window_limit;
  // If not 0, frames have no magic number. Default: 0.
  uint8_t magicless;
  // If not 0, the decoder verifies the checksums of frames. Default: 1.
  uint8_t verify_checksum;
  // Reserved: 0.
  uint8_t reserved[6];
} linerate_zstd_options;

// A frame as its header and the headers of its blocks describe it.
typedef struct {
  // Size of the whole frame in bytes, from its beginning to its checksum, if it has one.
  size_t compressed;
  // The size of the content in bytes that the header states, if has_content_size is not 0;
  // otherwise the largest size that the headers of the blocks allow.
  uint64_t bound;
  // Size of the window in bytes, or 0 if the frame is skippable.
  uint64_t window;
  // The Dictionary_ID that the header states, or 0 if it states none.
  uint32_t dictionary_id;
  // Not 0 if the header states the size of the content, or if the frame is skippable and its
  // content therefore has 0 bytes.
  uint8_t has_content_size;
  // Not 0 if a checksum follows the content.
  uint8_t has_checksum;
  // Not 0 if the frame is skippable and has no content.
  uint8_t is_skippable;
  // Reserved: 0.
  uint8_t reserved;
} linerate_zstd_frame;

// A digested zstd dictionary. Many threads may use it. Decoders keep its content alive, so it may
// be freed before them.
typedef struct {
  // The handle; 0 means no dictionary.
  uint64_t id;
} linerate_zstd_dictionary;

// A decoder of zstd frames in pieces. One thread at a time may use it.
typedef struct {
  // The handle.
  uint64_t id;
} linerate_zstd_decoder;

// Options of a store. linerate_store_defaults fills them.
typedef struct {
  // Memory for decoding tables, in bytes. If it is used up, the store evicts tables that were
  // not used lately; if it cannot, it builds tables for one block alone. Default: no limit.
  size_t table_budget;
  // Largest total size of the dictionaries, in bytes, each rounded up to a multiple of 64.
  // Beyond it, insertions fail with LINERATE_LIMIT. Default: no limit.
  size_t raw_limit;
  // If not 0, the store uses huge pages where the system has them. Default: 1.
  uint8_t huge_pages;
  // Reserved: 0.
  uint8_t reserved[7];
} linerate_store_options;

// A store of zstd dictionaries, each of which has a number. Many threads may use it. Decoders keep
// its content alive, so it may be freed before them.
typedef struct {
  // The handle.
  uint64_t id;
} linerate_store;

// Counters of a store.
typedef struct {
  // Number of dictionaries.
  size_t dictionaries;
  // Total size of the dictionaries in bytes, each rounded up to a multiple of 64.
  size_t raw_bytes;
  // Number of trained dictionaries whose decoding tables are built and kept. Raw content needs
  // none.
  size_t digested;
  // Total size of these tables in bytes, those of each dictionary rounded up to a multiple of
  // 64.
  size_t table_bytes;
  // Number of times that the tables of a dictionary were built and kept.
  uint64_t digests;
  // Number of times that the tables of a dictionary were evicted.
  uint64_t evictions;
} linerate_store_stats;

// A decoder of blocks that use the dictionaries of a store. It takes about 290 KiB. One thread at
// a time may use it.
typedef struct {
  // The handle.
  uint64_t id;
} linerate_block_decoder;

// One block of a batch.
typedef struct {
  // The dictionary of the block: a number from linerate_store_insert, or 0 for none.
  uint64_t dictionary;
  // The block, a zstd frame.
  const uint8_t *block;
  // Size of the block in bytes.
  size_t len;
  // Buffer for the content. It must not overlap a block, or a buffer of another job of the
  // batch.
  uint8_t *out;
  // Size of that buffer in bytes.
  size_t capacity;
  // Result: size of the content in bytes, or 0 after an error.
  size_t written;
  // Result: the error of this block. It does not affect other blocks.
  linerate_error error;
} linerate_job;

// Dictionaries of zstd frames, found by the Dictionary_ID that a frame names. Many threads may use
// them. Sessions keep their content alive, so they may be freed before the sessions.
typedef struct {
  // The handle; 0 means no dictionaries.
  uint64_t id;
} linerate_gateway_dictionaries;

// Options of a session. linerate_gateway_defaults fills them.
typedef struct {
  // The compression, a linerate_transport.
  int32_t transport;
  // The encoding of payloads, a linerate_encoding. Default: LINERATE_ENCODING_ANY.
  int32_t encoding;
  // If not 0, each sequence number must be the last one plus one; messages without one are
  // allowed. This needs an encoding, without which no session is made. Default: 0.
  uint8_t check_sequence;
  // Base-2 logarithm of the largest window of a zstd stream, in bytes. Values above 27 count as
  // 27. Other transports ignore it. Default: 16.
  uint8_t window_log;
  // Reserved: 0.
  uint8_t reserved[6];
  // Largest payload in bytes; a larger one is an error. Default: 64 MiB.
  uint64_t max_message;
  // Dictionaries for LINERATE_TRANSPORT_ZSTD_FRAME; other transports ignore them. An id of 0
  // means none.
  linerate_gateway_dictionaries dictionaries;
} linerate_gateway_options;

// The session of one connection: the decoder of its messages. One thread at a time may use it.
typedef struct {
  // The handle.
  uint64_t id;
} linerate_gateway;

// A decoded message.
typedef struct {
  // Size of the payload in bytes.
  size_t len;
  // Compressed size of the message in bytes, including its earlier fragments.
  size_t compressed;
  // Number of the message on this connection, from 0. Whole messages count, and damaged messages
  // too if they are independent of each other.
  uint64_t index;
  // The opcode, if has_op is not 0.
  uint64_t op;
  // The sequence number, if has_sequence is not 0.
  uint64_t sequence;
  // Not 0 if the message is complete. If 0, the call decoded a fragment, and all other fields
  // are 0.
  uint8_t is_complete;
  // Not 0 if the options have an encoding and the payload has an opcode.
  uint8_t has_op;
  // Not 0 if the options have an encoding and the payload has a sequence number.
  uint8_t has_sequence;
  // Reserved: 0.
  uint8_t reserved[5];
} linerate_message;

// A buffer of the caller.
typedef struct {
  // The first byte.
  const uint8_t *at;
  // Size in bytes.
  size_t len;
} linerate_bytes;

// Parameters of version 1. Chunks do not contain them. linerate_rice_defaults fills them.
typedef struct {
  // The divisor of the Rice code, a power of two from 1 to 32,768. Chunks with 1 can only be
  // decoded. Default: 8.
  uint32_t m;
  // Samples per segment. 0 makes one segment of all samples. Default: 0.
  uint32_t segment;
  // Number of coefficients in taps, at most 32. 0 selects the difference of neighbouring samples
  // (coefficients 1 and -1). Default: 0.
  uint32_t tap_count;
  // The coefficients of the filter. The first must not be 0 and, for encoding, must be 1 or -1.
  int32_t taps[32];
} linerate_rice_params;

// Options of version 2 streams. A structure of zeros has the defaults.
typedef struct {
  // Samples per segment, at most 65,536. 0 selects one row if a row has 1024 to 16,384 samples,
  // and about 4096 samples otherwise; with channels, 4096 samples of each channel. With
  // channels, any other number counts samples of all channels, and is rounded up to whole rows.
  uint32_t segment;
  // Samples per row, which the stream stores. 0 means no rows or, with more than one channel, as
  // many samples as there are channels.
  uint32_t row;
  // Number of channels, at most 1024, if each row has one sample of each channel. 1 means no
  // channels. 0 lets the encoder detect them, if segment is 0 and the samples are at least 64
  // whole rows of 2 to 512 samples.
  uint32_t channels;
} linerate_rice2_options;

// The header of a version 2 stream.
typedef struct {
  // The sample type, a linerate_element.
  int32_t element;
  // Samples per row, or 0 if there are no rows.
  uint32_t row;
  // Number of samples.
  uint64_t samples;
  // Number of segments.
  uint64_t segments;
  // Size of the stream in bytes.
  uint64_t bytes;
} linerate_rice2_info;

// Options of an archive. linerate_archive_defaults fills them.
typedef struct {
  // Size of the cache of decoded blocks, in bytes. Blocks that calls are using may exceed it.
  // Default: 64 MiB.
  uint64_t cache;
  // If not 0, linerate_archive_read verifies files against their hashes, and
  // linerate_archive_read_range those of which it decodes all blocks. Default: 1.
  uint8_t verify;
  // Reserved: 0.
  uint8_t reserved[7];
} linerate_archive_options;

// An open archive with a cache of decoded blocks. Many threads may use it.
typedef struct {
  // The handle.
  uint64_t id;
} linerate_archive;

// A file in an archive.
typedef struct {
  // Size of the content in bytes.
  uint64_t size;
  // Hash of the content: XXH3-64, or XXH64 in archives whose header has version 0. 0 if has_hash
  // is 0.
  uint64_t hash;
  // Size of the path in bytes, without a terminating zero.
  size_t path_len;
  // Not 0 if the archive stores a hash of this file, as every Nx archive does. If 0, reading the
  // file does not verify its content.
  uint8_t has_hash;
  // Reserved: 0.
  uint8_t reserved[7];
} linerate_archive_file;

// Progress of an extraction or verification.
typedef struct {
  // Number of files done, including failed and skipped ones.
  uint64_t files;
  // Bytes of content decoded so far.
  uint64_t bytes;
  // Total number of files.
  uint64_t total_files;
  // Total bytes of content.
  uint64_t total_bytes;
} linerate_archive_progress;

// A callback for the progress of an extraction or verification. It is called after each block by
// the thread that decoded the block, so several threads may call it at once. Returning 0 cancels
// the work.
typedef int32_t (*linerate_progress_fn)(void *context, const linerate_archive_progress *progress);

// A callback for each file that failed, and for what a packing function leaves out. It is called
// by the thread that called the library. The path has path_len bytes and no terminating zero. It
// is UTF-8 or, on Unix, any bytes for a path on the disk.
typedef void (*linerate_failure_fn)(void *context, const char *path, size_t path_len, linerate_error error);

// Options of an extraction or verification. linerate_run_defaults fills them. Callbacks may call
// functions of this library. They must neither throw nor jump out.
typedef struct {
  // Number of threads, including the calling one. 0 counts as 1. Fewer are used for few blocks,
  // and if the buffers of all would exceed 2 GiB. Default: 1.
  uint32_t threads;
  // Treatment of files that already exist, a linerate_existing. Verification ignores it.
  // Default: LINERATE_EXISTING_FAIL.
  int32_t existing;
  // If not 0, contents are verified against their hashes. If 0, they are only decoded. Default:
  // 1.
  uint8_t verify;
  // If not 0, each extracted file is flushed to the disk before it gets its name. Default: 0.
  uint8_t sync;
  // Reserved: 0.
  uint8_t reserved[6];
  // Called with the progress. May be null.
  linerate_progress_fn on_progress;
  // Called with each failure, at the end of the work. May be null.
  linerate_failure_fn on_failure;
  // The first argument of on_progress and on_failure.
  void *context;
} linerate_run_options;

// The result of an extraction or verification.
typedef struct {
  // Number of files that were extracted or verified without an error.
  uint64_t files;
  // Total size of the extracted or verified files in bytes.
  uint64_t bytes;
  // Number of files that failed.
  uint64_t failures;
  // Number of files that already existed and were kept. 0 for a verification.
  uint64_t skipped;
  // Not 0 if on_progress or a full disk stopped the work before all files were done.
  uint8_t stopped;
  // Reserved: 0.
  uint8_t reserved[7];
} linerate_run_report;

// A callback that chooses what is packed. It is called once for each file, link, folder and device
// that is found in a folder, by the thread that called the library. Returning 0 leaves that path
// out; a folder is then left out with everything in it, and is not read. The path is relative to
// the folder that is packed. It is UTF-8, in which bytes of a name that are not UTF-8 are
// replaced. It has path_len bytes and no terminating zero. The path of a folder ends with a slash.
typedef int32_t (*linerate_choose_fn)(void *context, const char *path, size_t path_len);

// Progress of packing.
typedef struct {
  // Number of blocks written so far.
  uint64_t blocks;
  // Total number of blocks. It is 0 until blocks are encoded, because files are compared first.
  uint64_t total_blocks;
  // Bytes of content encoded so far: those of written blocks, and of the encoded part of the
  // blocks in work. Blocks that are copied from an archive count with their compressed bytes.
  uint64_t bytes;
  // The value that bytes has at the end. It is 0 until blocks are encoded.
  uint64_t total_bytes;
  // Compressed size of the blocks written so far, in bytes. The archive becomes larger than the
  // sum of its blocks by its header, its tables and padding.
  uint64_t written;
} linerate_pack_progress;

// A callback for the progress of packing. It is called every 100 milliseconds, after each block,
// and once before the first block, even if the archive has no blocks. That call comes after all
// calls of choose and, unless the function fails, of on_failure, so a program can cancel because of
// what happened in these. The callback is called by the thread that called the library and by
// threads of the library, but never by two at once. It is not called while the archive gets its
// name, nor afterwards. No field is smaller than in an earlier call. Returning 0 cancels the work;
// then the callback is not called again.
typedef int32_t (*linerate_pack_progress_fn)(void *context, const linerate_pack_progress *progress);

// Options of packing. linerate_pack_defaults fills them. Callbacks may call functions of this
// library. They must neither throw nor jump out. No two of these callbacks run at the same time.
typedef struct {
  // The preset, a linerate_preset. Default: LINERATE_PRESET_DEFAULT.
  int32_t preset;
  // zstd level of all blocks, -5 to 22, or 0 for the levels of the preset. Default: 0.
  int32_t level;
  // Number of threads, including the calling one. 0 counts as 1. The archive does not depend on
  // this number. Default: 1.
  uint32_t threads;
  // If not 0, an existing target is replaced; otherwise it is an error. An update without a
  // target replaces the archive in any case. Default: 0.
  uint8_t replace;
  // If not 0, blocks with textures are filtered if that makes them smaller; with
  // LINERATE_PRESET_FAST_LOAD and LINERATE_PRESET_VFS, decoding time counts too. Only Linerate
  // reads archives with filtered blocks. Default: 0.
  uint8_t filters;
  // If not 0, times, modes, links and empty folders are stored too; other programs ignore them.
  // An update stores them in any case if the archive has them, and a merge keeps those of its
  // archives, whatever this option says. Default: 0.
  uint8_t metadata;
  // If not 0, files, folders and links are left out if no archive can hold their name, or the
  // target of the link; otherwise they are an error. Default: 0.
  uint8_t skip_bad_names;
  // Chooses what is packed from folders. If null, everything is. A merge does not call it.
  linerate_choose_fn choose;
  // Called with the progress. May be null.
  linerate_pack_progress_fn on_progress;
  // Called for everything that cannot be packed and is left out: devices, bad names, damaged
  // metadata of an archive and, unless metadata is stored, links. Also called for the file or
  // folder that an error concerns, before the function returns that error, and for both files if
  // an archive can hold only one of them. The path is that on the disk or, for a file of an
  // archive, that in the archive. May be null.
  linerate_failure_fn on_failure;
  // The first argument of choose, on_progress and on_failure.
  void *context;
} linerate_pack_options;

// Result of packing, updating or merging. All fields except left_out and removed describe the new
// archive. The last four are 0 unless the call was an update.
typedef struct {
  // Number of files.
  uint64_t files;
  // Bytes of content of all files.
  uint64_t bytes;
  // Size of the archive in bytes.
  uint64_t archive_bytes;
  // Number of files that take no space, because another file, or a part of one, has the same
  // content.
  uint64_t shared_files;
  // Number of files, folders, links, devices and damaged metadata that could not be packed and
  // were left out. on_failure was called for each of them. Paths that choose left out do not
  // count.
  uint64_t left_out;
  // For an update, the number of files in the folders that the old archive did not have.
  uint64_t added;
  // For an update, the number of files in the folders that the old archive had with other
  // content.
  uint64_t replaced;
  // For an update, the number of files in the folders that the old archive had with the same
  // content.
  uint64_t unchanged;
  // For an update, the number of files of the old archive that the new one does not have.
  uint64_t removed;
} linerate_pack_report;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the name of a linerate_kind as the linerate program prints it, such as "truncated", or
// "unknown" for any other number.
const char *linerate_kind_name(int32_t kind);

// Writes the message, the reason that the operating system gives and the offset as one line with a
// terminating zero, cut to capacity bytes. The line has no reason if os is 0, and an offset of 0
// only if the error is LINERATE_TRUNCATED, LINERATE_CORRUPT or LINERATE_UNSUPPORTED. Returns the
// length of the whole line without the zero, even if it was cut. If capacity is 0, out may be
// null. The message of the error must come from this library, be another C string, or be null.
// Allocates memory while it runs if os is not 0 or the message is not UTF-8.
size_t linerate_error_text(linerate_error error, char *out, size_t capacity);

// Returns the version of the library, such as "0.1.0".
const char *linerate_version(void);

// Allocates working memory for the engines whose linerate_engine values add up to engines. A
// function of another engine then fails with LINERATE_BAD_ARGUMENT.
linerate_error linerate_scratch_new(uint32_t engines, linerate_scratch *scratch);

// Frees working memory. Ignores a scratch whose id is 0.
linerate_error linerate_scratch_free(linerate_scratch scratch);

// Returns the largest output of one linerate_deflater_encode call, in bytes, for len bytes of
// input: 10 bytes more than the input, and 5 more for each started 65,535 bytes of it.
size_t linerate_deflater_bound(size_t len);

// Returns the largest output of linerate_deflater_flush, in bytes.
size_t linerate_deflater_flush_bound(void);

// Returns the largest output of linerate_deflater_finish, in bytes.
size_t linerate_deflater_finish_bound(void);

// Returns the largest output of linerate_deflate, in bytes, for len bytes of input.
size_t linerate_deflate_bound(size_t len);

// Compresses the input as one whole stream. format is a linerate_format, except
// LINERATE_ZLIB_OR_GZIP. Level 0 stores, level 1 is the fastest that compresses, and level 9
// usually makes the smallest output.
linerate_error linerate_deflate(linerate_scratch scratch,
                                int32_t format,
                                int32_t level,
                                const uint8_t *from,
                                size_t len,
                                uint8_t *out,
                                size_t capacity,
                                size_t *written);

// Initialises a stream, whose memory may be uninitialised. format and level are those of
// linerate_deflate.
linerate_error linerate_deflater_init(linerate_deflater *stream, int32_t format, int32_t level);

// Sets the level, 0 to 9, of the following calls.
linerate_error linerate_deflater_set_level(linerate_deflater *stream, int32_t level);

// Compresses the input without reference to earlier calls. If more is true, at most 5 bits remain
// for the next call. If more is false and there is input, the call writes the last block, and
// linerate_deflater_finish must follow. Without input the call writes at most the header. The call
// consumes all of the input or, if it fails, nothing. It fails with LINERATE_BAD_ARGUMENT after
// the last block.
linerate_error linerate_deflater_encode(linerate_deflater *stream,
                                        linerate_scratch scratch,
                                        const uint8_t *from,
                                        size_t len,
                                        uint8_t *out,
                                        size_t capacity,
                                        bool more,
                                        size_t *written);

// Compresses as linerate_deflater_encode does, but matches may refer to history. The first history
// bytes of buffer are the end of the input of earlier calls; only the last 32,768 of them matter.
// The rest of buffer is the input. len is the length of both together. Fails with
// LINERATE_BAD_ARGUMENT if history is larger than len.
linerate_error linerate_deflater_encode_with_history(linerate_deflater *stream,
                                                     linerate_scratch scratch,
                                                     const uint8_t *buffer,
                                                     size_t len,
                                                     size_t history,
                                                     uint8_t *out,
                                                     size_t capacity,
                                                     bool more,
                                                     size_t *written);

// Writes the pending bits and an empty stored block, and before them the header if it is not
// written yet. A decoder can then decode all input so far. After the last block, writes only the
// pending bits.
linerate_error linerate_deflater_flush(linerate_deflater *stream,
                                       uint8_t *out,
                                       size_t capacity,
                                       size_t *written);

// Ends the stream: writes the header and the last block, unless they were already written, and the
// trailer. A second call writes nothing.
linerate_error linerate_deflater_finish(linerate_deflater *stream,
                                        uint8_t *out,
                                        size_t capacity,
                                        size_t *written);

// Updates a CRC-32 with len bytes and returns it. The initial value is 0. A null pointer changes
// nothing.
uint32_t linerate_crc32(uint32_t check, const uint8_t *from, size_t len);

// Updates an Adler-32 with len bytes and returns it. The initial value is 1. A null pointer
// changes nothing.
uint32_t linerate_adler32(uint32_t check, const uint8_t *from, size_t len);

// Returns the default options for a linerate_format.
linerate_session_options linerate_session_defaults(int32_t format);

// Allocates a session.
linerate_error linerate_session_new(const linerate_session_options *options, linerate_session *session);

// Frees a session. Ignores one whose id is 0.
linerate_error linerate_session_free(linerate_session session);

// Returns the largest output of linerate_session_message, in bytes, for len bytes of input.
size_t linerate_session_bound(size_t len);

// Compresses a message and flushes it, so that the receiver can decode all of it. Fails with
// LINERATE_BAD_ARGUMENT after linerate_session_finish. After LINERATE_OUTPUT_TOO_SMALL the message
// can be compressed again, but the output of later calls may differ from what it would have been.
linerate_error linerate_session_message(linerate_session session,
                                        linerate_scratch scratch,
                                        const uint8_t *from,
                                        size_t len,
                                        uint8_t *out,
                                        size_t capacity,
                                        size_t *written);

// Appends text to the window of a session, so that later messages may refer to it. The receiver
// must decode this text between the last message of the session and the next one, from messages
// that refer to nothing before them: for example a message that a session without takeover
// compressed once for many receivers. Does nothing in a session without takeover. The checksum of
// a zlib or gzip stream does not cover the text.
linerate_error linerate_session_remember(linerate_session session, const uint8_t *text, size_t len);

// Empties the window of a session, so that later messages refer neither to earlier ones nor to the
// preset dictionary. Between this call and the next message the receiver may decode any message
// that refers to nothing before it. Does nothing in a session without takeover.
linerate_error linerate_session_forget(linerate_session session);

// Ends the stream of a session: writes the last block and the trailer of the container, at most
// linerate_deflater_finish_bound() bytes. The session then takes no more messages.
linerate_error linerate_session_finish(linerate_session session,
                                       uint8_t *out,
                                       size_t capacity,
                                       size_t *written);

// Sets the level, 0 to 9, of the following messages. The memory of the session stays the same.
linerate_error linerate_session_set_level(linerate_session session, int32_t level);

// Stores the number of bytes that a session has allocated, without its preset dictionary.
linerate_error linerate_session_memory(linerate_session session, size_t *bytes);

// Allocates a preset dictionary: a copy of the last 32,768 bytes of text, and an index of them.
linerate_error linerate_deflate_dictionary_new(const uint8_t *text,
                                               size_t len,
                                               linerate_deflate_dictionary *dictionary);

// Frees a dictionary. Ignores one whose id is 0.
linerate_error linerate_deflate_dictionary_free(linerate_deflate_dictionary dictionary);

// Allocates a controller that chooses levels from 0 to max_level, and begins with max_level.
// max_cpu is the CPU time that the process may use, in percent of one CPU, and max_rate the input
// that may be compressed, in bytes per second. 0 means no limit.
linerate_error linerate_controller_new(int32_t max_level,
                                       uint32_t max_cpu,
                                       uint64_t max_rate,
                                       linerate_controller *controller);

// Frees a controller. Ignores one whose id is 0.
linerate_error linerate_controller_free(linerate_controller controller);

// Counts the len bytes of input of a call that compressed. Do not count calls at level 0.
linerate_error linerate_controller_add_input(linerate_controller controller, size_t len);

// Stores the level for the next call of any stream. The first call of this function begins a
// period. The first call at least 100 ms later ends it, chooses the level again and begins the
// next period. The level becomes one lower if usage in the period exceeded a limit, and one higher
// if usage was at most three quarters of each limit and earlier excess has been made up for. now
// is the time of any clock that never runs backwards, and cpu the CPU time that the process has
// used so far. Both are in nanoseconds.
linerate_error linerate_controller_level(linerate_controller controller,
                                         uint64_t now,
                                         uint64_t cpu,
                                         int32_t *level);

// Returns the default options for a linerate_format.
linerate_inflate_options linerate_inflate_defaults(int32_t format);

// Decodes the stream or gzip member at the beginning of the input into out. Stores in progress how
// many bytes were read and written. The dictionary has dictionary_len bytes or is null; it
// precedes the content of raw deflate data, and of a zlib stream whose header requires a
// dictionary. Fails with LINERATE_BAD_ARGUMENT if the header requires a dictionary and this one is
// null or another one. Damaged data and small buffers give LINERATE_OUTPUT_TOO_SMALL,
// LINERATE_TRUNCATED, LINERATE_CORRUPT or LINERATE_LIMIT.
linerate_error linerate_inflate(linerate_scratch scratch,
                                const linerate_inflate_options *options,
                                const uint8_t *dictionary,
                                size_t dictionary_len,
                                const uint8_t *from,
                                size_t len,
                                uint8_t *out,
                                size_t capacity,
                                linerate_progress *progress);

// Allocates a decoder. Its window grows with the output, and with a preset dictionary, up to the
// size of window_bits.
linerate_error linerate_inflater_new(const linerate_inflate_options *options, linerate_inflater *inflater);

// Frees a decoder. Ignores one whose id is 0.
linerate_error linerate_inflater_free(linerate_inflater inflater);

// Decodes until the input, the output buffer, or the stream or gzip member ends. After
// LINERATE_END it does nothing until linerate_inflater_next_member or linerate_inflater_reset. If
// the data is damaged, calls return all output before the error first, with LINERATE_NEED_OUTPUT,
// and then the error, until linerate_inflater_reset. The offset of the error counts compressed
// bytes from the beginning of the stream.
linerate_error linerate_inflater_decode(linerate_inflater inflater,
                                        linerate_scratch scratch,
                                        const uint8_t *from,
                                        size_t len,
                                        uint8_t *out,
                                        size_t capacity,
                                        linerate_progress *progress);

// Begins a new stream with the same options, and reuses the memory of the last stream.
linerate_error linerate_inflater_reset(linerate_inflater inflater);

// Continues, after LINERATE_END, with the next gzip member or stream of the input. The output
// limit applies to all of them together, and offsets of errors count from the beginning of the
// first.
linerate_error linerate_inflater_next_member(linerate_inflater inflater);

// Sets the preset dictionary. Call it after LINERATE_NEED_DICTIONARY, or before a block of raw
// deflate data: the first one, or the one before which the encoder set the dictionary. Fails with
// LINERATE_BAD_ARGUMENT if the zlib header requires another dictionary, or none, and in the middle
// of a block.
linerate_error linerate_inflater_set_dictionary(linerate_inflater inflater,
                                                const uint8_t *dictionary,
                                                size_t len);

// Stores the Adler-32 of the dictionary that a zlib header requires. Call it after
// LINERATE_NEED_DICTIONARY; at any other time it stores 0.
linerate_error linerate_inflater_dictionary_id(linerate_inflater inflater, uint32_t *id);

// Stores the number of bytes that a decoder has allocated.
linerate_error linerate_inflater_memory(linerate_inflater inflater, size_t *bytes);

// Returns the default options.
linerate_gzip_options linerate_gzip_defaults(void);

// Opens a file. On Windows the path is UTF-8. Reading allocates windows and buffers: less than 1
// MiB plus the index, and with several threads at most 64 MiB plus 24 MiB for each thread. Fails
// if the index is damaged or does not fit the size of the file. The file itself is checked when it
// is read.
linerate_error linerate_gzip_open(const char *path,
                                  const linerate_gzip_options *options,
                                  linerate_gzip *gzip);

// Opens a gzip file that is in memory of the caller, which must not change until
// linerate_gzip_free.
linerate_error linerate_gzip_open_memory(const uint8_t *from,
                                         size_t len,
                                         const linerate_gzip_options *options,
                                         linerate_gzip *gzip);

// Opens a gzip file of size bytes, which the library reads by calling read_at with context. It may
// call read_at until linerate_gzip_free has returned.
linerate_error linerate_gzip_open_callback(linerate_read_at_fn read_at,
                                           void *context,
                                           uint64_t size,
                                           const linerate_gzip_options *options,
                                           linerate_gzip *gzip);

// Reads up to capacity bytes of content from the current position on, and stores the number read,
// which is smaller only at the end or before an error. Calls return all content before an error
// first, and then the error, until linerate_gzip_seek goes back. The offset of the error counts
// bytes of the file. If the options have several threads, the first call that decodes from the
// beginning starts them.
linerate_error linerate_gzip_read(linerate_gzip gzip, uint8_t *out, size_t capacity, size_t *written);

// Moves the position in the content and stores the new one. offset counts from the beginning
// (whence 0, as SEEK_SET), from the current position (1) or from the end (2). A position beyond
// the end becomes the end, and one before the beginning is LINERATE_BAD_ARGUMENT. Without an
// index, the content in between is decoded, from the beginning of the file if the position moves
// back, and up to the end for whence 2. After an error the position may have moved.
linerate_error linerate_gzip_seek(linerate_gzip gzip, int64_t offset, int32_t whence, uint64_t *position);

// Frees a gzip file, after its threads have ended. Ignores one whose id is 0.
linerate_error linerate_gzip_free(linerate_gzip gzip);

// Returns the default options.
linerate_zstd_options linerate_zstd_defaults(void);

// Reads the header of the frame at the beginning of the input and the headers of its blocks.
// Decodes nothing. Fails with LINERATE_TRUNCATED if the input ends before the frame does.
linerate_error linerate_zstd_frame_info(const linerate_zstd_options *options,
                                        const uint8_t *from,
                                        size_t len,
                                        linerate_zstd_frame *frame);

// Decodes all frames of the input, one after another, into out, and stores the total size of their
// content in written. Skippable frames have no content. A dictionary whose id is 0 means none.
linerate_error linerate_zstd_decode(linerate_scratch scratch,
                                    const linerate_zstd_options *options,
                                    linerate_zstd_dictionary dictionary,
                                    const uint8_t *from,
                                    size_t len,
                                    uint8_t *out,
                                    size_t capacity,
                                    size_t *written);

// Decodes the frame at the beginning of the input into out, and ignores the input after it. Stores
// in progress how many bytes were read and written. A dictionary whose id is 0 means none.
linerate_error linerate_zstd_decode_frame(linerate_scratch scratch,
                                          const linerate_zstd_options *options,
                                          linerate_zstd_dictionary dictionary,
                                          const uint8_t *from,
                                          size_t len,
                                          uint8_t *out,
                                          size_t capacity,
                                          linerate_progress *progress);

// Allocates a dictionary, a copy of the bytes, and digests it. The bytes are a trained dictionary
// if they begin with its magic number and are at least 8, and otherwise raw content.
linerate_error linerate_zstd_dictionary_new(const uint8_t *bytes,
                                            size_t len,
                                            linerate_zstd_dictionary *dictionary);

// Frees a dictionary. Ignores one whose id is 0.
linerate_error linerate_zstd_dictionary_free(linerate_zstd_dictionary dictionary);

// Stores the Dictionary_ID by which frames name the dictionary, or 0 for raw content.
linerate_error linerate_zstd_dictionary_id(linerate_zstd_dictionary dictionary, uint32_t *id);

// Allocates a decoder for frames that use this dictionary or, if its id is 0, none. The window
// grows with the content, up to the size that the header of the frame states.
linerate_error linerate_zstd_decoder_new(const linerate_zstd_options *options,
                                         linerate_zstd_dictionary dictionary,
                                         linerate_zstd_decoder *decoder);

// Frees a decoder. Ignores one whose id is 0.
linerate_error linerate_zstd_decoder_free(linerate_zstd_decoder decoder);

// Decodes until the input, the output buffer or a frame ends; a skippable frame counts too. After
// LINERATE_END the next call begins the next frame. If the data is damaged, calls return all
// output before the error first, with LINERATE_NEED_OUTPUT, and then the error, until
// linerate_zstd_decoder_reset. The offset of the error counts compressed bytes from the first byte
// that the decoder got since it was made or reset.
linerate_error linerate_zstd_decoder_decode(linerate_zstd_decoder decoder,
                                            linerate_scratch scratch,
                                            const uint8_t *from,
                                            size_t len,
                                            uint8_t *out,
                                            size_t capacity,
                                            linerate_progress *progress);

// Begins a new frame, and reuses the memory of the last one.
linerate_error linerate_zstd_decoder_reset(linerate_zstd_decoder decoder);

// Stores the number of bytes that a decoder has allocated, without its dictionary.
linerate_error linerate_zstd_decoder_memory(linerate_zstd_decoder decoder, size_t *bytes);

// Returns the default options.
linerate_store_options linerate_store_defaults(void);

// Allocates an empty store.
linerate_error linerate_store_new(const linerate_store_options *options, linerate_store *store);

// Frees a store. Its dictionaries are freed together with the last decoder that uses the store.
// Ignores a store whose id is 0.
linerate_error linerate_store_free(linerate_store store);

// Copies a dictionary into the store and stores its number in dictionary. The bytes are a trained
// dictionary, or raw content of at least 8 bytes. Inserting the same bytes again gives the same
// number; each insertion needs its own linerate_store_release.
linerate_error linerate_store_insert(linerate_store store,
                                     const uint8_t *bytes,
                                     size_t len,
                                     uint64_t *dictionary);

// Undoes one insertion of a dictionary. When all its insertions are undone, the store frees it,
// and its number is unknown and never used again.
linerate_error linerate_store_release(linerate_store store, uint64_t dictionary);

// Stores the counters of a store.
linerate_error linerate_store_get_stats(linerate_store store, linerate_store_stats *stats);

// Allocates a decoder for blocks that use the dictionaries of a store.
linerate_error linerate_block_decoder_new(linerate_store store, linerate_block_decoder *decoder);

// Frees a decoder. Ignores one whose id is 0.
linerate_error linerate_block_decoder_free(linerate_block_decoder decoder);

// Decodes one block, which is exactly one zstd frame, with a dictionary of the store, or with none
// if dictionary is 0. If the store has no tables for the dictionary, it allocates and builds them
// first.
linerate_error linerate_block_decoder_decode(linerate_block_decoder decoder,
                                             uint64_t dictionary,
                                             const uint8_t *block,
                                             size_t len,
                                             uint8_t *out,
                                             size_t capacity,
                                             size_t *written);

// Decodes a batch of count jobs, and prefetches the memory of each job while it decodes the job
// before. order is a linerate_order. Stores the results in the jobs. The function fails, and then
// changes no job, only if the decoder, the order or the pointers of a job are invalid, or if memory
// runs out. While it runs, it allocates memory for as many jobs; on 64-bit systems a job takes 72
// bytes. The decoder keeps another 4 bytes for each job of its largest batch.
linerate_error linerate_block_decoder_batch(linerate_block_decoder decoder,
                                            linerate_job *jobs,
                                            size_t count,
                                            int32_t order);

// Returns the default options for a linerate_transport.
linerate_gateway_options linerate_gateway_defaults(int32_t transport);

// Allocates a session for a new connection.
linerate_error linerate_gateway_new(const linerate_gateway_options *options, linerate_gateway *gateway);

// Frees a session. Ignores one whose id is 0.
linerate_error linerate_gateway_free(linerate_gateway gateway);

// Decodes the content of one WebSocket message and copies the payload to out. If out is too small,
// the function fails with LINERATE_OUTPUT_TOO_SMALL but stores message, and the session keeps a
// copy of the payload for linerate_gateway_payload until the next message. After an error in the
// data of a zlib or zstd stream, every further call returns that error until
// linerate_gateway_reset. For the other transports an error affects only its own message. The
// window of the session and the payload buffer of the scratch grow with the messages.
linerate_error linerate_gateway_message(linerate_gateway gateway,
                                        linerate_scratch scratch,
                                        const uint8_t *from,
                                        size_t len,
                                        uint8_t *out,
                                        size_t capacity,
                                        linerate_message *message);

// Copies the payload for which the buffer passed to linerate_gateway_message was too small, and
// stores its size in written. The session then frees its own copy, and a further call stores 0. If
// out is too small again, the session keeps its copy.
linerate_error linerate_gateway_payload(linerate_gateway gateway,
                                        uint8_t *out,
                                        size_t capacity,
                                        size_t *written);

// Begins a new connection with the same options, and frees the memory of the last one.
linerate_error linerate_gateway_reset(linerate_gateway gateway);

// Sets the last sequence number that was received before this connection, for check_sequence. Call
// it after linerate_gateway_reset or linerate_gateway_new, before the first message.
linerate_error linerate_gateway_resume_after(linerate_gateway gateway, uint64_t sequence);

// Stores the number of bytes that a session has allocated, without its dictionaries.
linerate_error linerate_gateway_memory(linerate_gateway gateway, size_t *bytes);

// Allocates count dictionaries, copies of the buffers in list, and digests them. Their
// Dictionary_IDs must differ. That of raw content is 0, so only one of them may be raw content; it
// is for frames that name no dictionary.
linerate_error linerate_gateway_dictionaries_new(const linerate_bytes *list,
                                                 size_t count,
                                                 linerate_gateway_dictionaries *dictionaries);

// Frees dictionaries. Ignores those whose id is 0.
linerate_error linerate_gateway_dictionaries_free(linerate_gateway_dictionaries dictionaries);

// Returns the default parameters.
linerate_rice_params linerate_rice_defaults(void);

// Stores the largest size of a version 1 chunk of count samples, in bytes.
linerate_error linerate_rice_bound(const linerate_rice_params *params, size_t count, size_t *bytes);

// Encodes samples as one version 1 chunk on at most thread_count threads, including the calling
// one; 0 counts as 1. Samples of type uint16_t have the same 16 bits and may be passed too.
linerate_error linerate_rice_encode(const linerate_rice_params *params,
                                    const int16_t *samples,
                                    size_t count,
                                    uint8_t *out,
                                    size_t capacity,
                                    uint32_t thread_count,
                                    size_t *written);

// Stores the number of samples that the header of a version 1 chunk states.
linerate_error linerate_rice_samples(const uint8_t *chunk, size_t len, size_t *count);

// Decodes a version 1 chunk into samples on at most thread_count threads, including the calling
// one, and stores the number of samples. room is the size of the buffer samples, in samples.
linerate_error linerate_rice_decode(const linerate_rice_params *params,
                                    const uint8_t *chunk,
                                    size_t len,
                                    int16_t *samples,
                                    size_t room,
                                    uint32_t thread_count,
                                    size_t *count);

// Decodes the segments first to end - 1, counted from 0, of a version 1 chunk, and stores the
// number of their samples. room is the size of the buffer samples, in samples. Fails with
// LINERATE_BAD_ARGUMENT if the chunk has no such segments.
linerate_error linerate_rice_decode_segments(const linerate_rice_params *params,
                                             const uint8_t *chunk,
                                             size_t len,
                                             size_t first,
                                             size_t end,
                                             int16_t *samples,
                                             size_t room,
                                             size_t *count);

// Stores the largest size of a version 2 stream of count samples, in bytes. element, a
// linerate_element, is their type.
linerate_error linerate_rice2_bound(const linerate_rice2_options *options,
                                    int32_t element,
                                    size_t count,
                                    size_t *bytes);

// Encodes samples of type element, a linerate_element, as one version 2 stream on at most
// thread_count threads, including the calling one; 0 counts as 1.
linerate_error linerate_rice2_encode(const linerate_rice2_options *options,
                                     int32_t element,
                                     const void *samples,
                                     size_t count,
                                     uint8_t *out,
                                     size_t capacity,
                                     uint32_t thread_count,
                                     size_t *written);

// Reads the header of a version 2 stream. Other bytes may follow the stream; bytes in info is its
// size. Fails with LINERATE_TRUNCATED if len is smaller than that.
linerate_error linerate_rice2_get_info(const uint8_t *stream, size_t len, linerate_rice2_info *info);

// Decodes a version 2 stream into samples on at most thread_count threads, including the calling
// one, and stores the number of samples. element must be the sample type of the stream, and room
// is the size of the buffer samples, in samples.
linerate_error linerate_rice2_decode(const uint8_t *stream,
                                     size_t len,
                                     int32_t element,
                                     void *samples,
                                     size_t room,
                                     uint32_t thread_count,
                                     size_t *count);

// Decodes the segments first to end - 1, counted from 0, of a version 2 stream, and stores the
// number of their samples. element and room are as for linerate_rice2_decode. Other bytes may
// follow the stream. Fails with LINERATE_BAD_ARGUMENT if the stream has no such segments.
// Allocates memory while it runs.
linerate_error linerate_rice2_decode_segments(const uint8_t *stream,
                                              size_t len,
                                              size_t first,
                                              size_t end,
                                              int32_t element,
                                              void *samples,
                                              size_t room,
                                              size_t *count);

// Returns the default options.
linerate_archive_options linerate_archive_defaults(void);

// Opens an archive file, and reads its header and tables. On Windows the path is UTF-8. Allocates
// tables of all files; the functions that read content allocate blocks.
linerate_error linerate_archive_open(const char *path,
                                     const linerate_archive_options *options,
                                     linerate_archive *archive);

// Opens an archive that is in memory of the caller, which must not change until
// linerate_archive_free.
linerate_error linerate_archive_open_memory(const uint8_t *from,
                                            size_t len,
                                            const linerate_archive_options *options,
                                            linerate_archive *archive);

// Frees an archive. Fails with LINERATE_BAD_ARGUMENT while another call is using it. Ignores one
// whose id is 0.
linerate_error linerate_archive_free(linerate_archive archive);

// Stores the number of files. The files have the indices from 0 to this number, exclusive.
linerate_error linerate_archive_count(linerate_archive archive, size_t *count);

// Stores the size, hash and path length of the file at an index.
linerate_error linerate_archive_get(linerate_archive archive, size_t index, linerate_archive_file *file);

// Copies the path of the file at an index to out, in UTF-8 and with a terminating zero. That takes
// one byte more than path_len of linerate_archive_get.
linerate_error linerate_archive_path(linerate_archive archive, size_t index, char *out, size_t capacity);

// Stores the index of the file with exactly this path, which is path_len bytes of UTF-8. Fails
// with LINERATE_BAD_ARGUMENT if there is none.
linerate_error linerate_archive_find(linerate_archive archive,
                                     const char *path,
                                     size_t path_len,
                                     size_t *index);

// Reads the whole file at an index into out, verifies it against its hash if the options of the
// archive say so, and stores its size. Fails with LINERATE_OUTPUT_TOO_SMALL if capacity is smaller
// than the file.
linerate_error linerate_archive_read(linerate_archive archive,
                                     size_t index,
                                     uint8_t *out,
                                     size_t capacity,
                                     size_t *written);

// Reads up to capacity bytes of the file at an index, from offset on, and stores the number read,
// which is smaller than capacity only at the end of the file, and 0 beyond it. If the options of
// the archive say so, verifies the hash of a file of which this call decodes all blocks, such as a
// file of one block. No hash is verified otherwise.
linerate_error linerate_archive_read_range(linerate_archive archive,
                                           size_t index,
                                           uint64_t offset,
                                           uint8_t *out,
                                           size_t capacity,
                                           size_t *written);

// Returns the default options.
linerate_run_options linerate_run_defaults(void);

// Extracts all files to a folder, which is created if it is missing. Each file appears under its
// name when it is complete. Files that fail are counted in the report and passed to on_failure;
// all others are still extracted. The function itself fails, and extracts nothing, if the folder
// cannot be created, if the disk has too little space (not checked for LINERATE_EXISTING_REPLACE),
// if a file is larger than 1 TiB, or if the content is larger than 16 TiB or, above 16 GiB, than
// 1000 times the archive.
linerate_error linerate_archive_extract(linerate_archive archive,
                                        const char *folder,
                                        const linerate_run_options *options,
                                        linerate_run_report *report);

// Reads all files and, if the options say so, verifies them against their hashes. Files that fail
// are counted in the report and passed to on_failure. The function itself fails if the content
// exceeds the limits of linerate_archive_extract.
linerate_error linerate_archive_verify(linerate_archive archive,
                                       const linerate_run_options *options,
                                       linerate_run_report *report);

// Returns the default options.
linerate_pack_options linerate_pack_defaults(void);

// Packs the content of folders into an archive. The path of a file in the archive is its path in
// the folder. The function fails with LINERATE_BAD_ARGUMENT if two folders have a file of the same
// path, or if one has a file where another has a folder, or if there is no folder. A target that
// lies in one of the folders is not packed.
//
// The archive gets its name, and the owner and permissions of the file that it replaces, when it
// is complete. The file that is replaced is locked during the call. If another process or another
// call is changing it, or if on_progress cancels the work, the function fails with LINERATE_WRITE.
// After an error no temporary file is left, and an existing target is unchanged, unless the error
// is that of the last step, which flushes the new archive's name to the disk.
linerate_error linerate_archive_pack(const char *const *folders,
                                     size_t folder_count,
                                     const char *target,
                                     const linerate_pack_options *options,
                                     linerate_pack_report *report);

// Changes the archive at path: deletes files, then adds the content of folders. Added files
// replace files with the same path. If a path is a file in the archive and a folder in one of the
// folders, or the other way round, that of the folders wins. deleted has paths in the archive: of
// files, or of folders, which are deleted with everything in them. If the archive lacks one of
// them, the function fails with LINERATE_BAD_ARGUMENT.
//
// Blocks without a changed file are copied as they are, and the chunk size stays that of the old
// archive, but at most 256 MiB; if that is less, all blocks are encoded again. The new archive is
// written to target as by linerate_archive_pack, or replaces the old one if target is null. The
// file that is replaced is locked during the call. If another process or another call is changing
// it, the function fails with LINERATE_WRITE. On Windows, no linerate_archive may have it open.
linerate_error linerate_archive_update(const char *path,
                                       const char *const *folders,
                                       size_t folder_count,
                                       const char *const *deleted,
                                       size_t deleted_count,
                                       const char *target,
                                       const linerate_pack_options *options,
                                       linerate_pack_report *report);

// Merges archives into a new one. clash is a linerate_clash. The new archive has the chunk size of
// the preset or, with the default preset, that of the first archive, but at most 256 MiB. Archives
// that have this chunk size keep their blocks, except for blocks with a file that the new archive
// does not take from them. All other files are encoded again. The new archive is written to target
// as by linerate_archive_pack; target must not be one of the archives.
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
