/* Entry points of the CUDA kernels: names, parameters, grids, memory, and how errors are reported.
 *
 * Every kernel works on a batch: chunks of version 1 (HDF5 filter 32025) or streams of version 2. Descriptors are
 * arrays in device memory; addresses in them are device addresses. Each kernel is an `extern "C" __global__` function
 * with exactly the parameters given here, in this order; pointers are passed as 64-bit device addresses. No kernel
 * uses dynamic shared memory. All of a call goes on one stream, in the given order; nothing returns to the host
 * but the results.
 *
 * This file is C and C++ without any #include, so that NVRTC and bindings can read it. u32 is `unsigned int`,
 * u64 `unsigned long long`. Every structure has its natural layout, without padding but what is named `reserved`.
 */
#ifndef LINERATE_CUDA_KERNELS_H
#define LINERATE_CUDA_KERNELS_H

typedef unsigned int rice_u32;
typedef unsigned long long rice_u64;

/* ---- Results -----------------------------------------------------------------------------------------------------
 *
 * One for each chunk or stream. The first kernel of a call writes it (rice1_index, rice2_index, rice1_offsets,
 * rice2_offsets), the others lower `status`. Nothing need be initialised by the host.
 */
typedef struct rice_result {
  rice_u64 status; /* RICE_OK, or offset << 16 | problem << 8 | kind; of several errors that of the lowest offset */
  rice_u64 size;   /* decode: samples; encode: bytes of the chunk or stream (also when they did not fit) */
} rice_result;

#define RICE_OK 0xffffffffffffffffull

/* Bits 0 to 7: the variants of linerate_core::Kind, from 1. */
enum rice_kind {
  RICE_TRUNCATED = 1,
  RICE_CORRUPT = 2,
  RICE_UNSUPPORTED = 3,
  RICE_OUTPUT_TOO_SMALL = 4,
  RICE_BAD_ARGUMENT = 5,
  RICE_LIMIT = 6
};

/* Bits 8 to 15: the message. The comment is the text of the crate. */
enum rice_problem {
  /* version 1 */
  RICE1_ENDS_IN_FIRST_WORD = 1,    /* a chunk ends within its first word */
  RICE1_ENDS_BEFORE_SEGMENT = 2,   /* a chunk ends before its last segment */
  RICE1_SEGMENT_TOO_LONG = 3,      /* a segment is longer than what is left */
  RICE1_CHUNK_TOO_SHORT = 4,       /* a chunk is too short for its number of samples */
  RICE1_SEGMENT_TOO_SHORT = 5,     /* a segment is too short for its samples */
  RICE1_CHUNK_GOES_ON = 6,         /* a chunk goes on after its last segment */
  RICE1_SEGMENT_ENDS = 7,          /* a segment ends before its samples do */
  RICE1_NINE_ZEROS = 8,            /* more than eight zeros in a code */
  RICE1_SEGMENT_GOES_ON = 9,       /* a segment goes on after its samples */
  RICE1_PADDING = 10,              /* the bits after the last code are not zero */
  RICE_OUTPUT_SMALL = 11,          /* the output has fewer samples than are to be decoded */
  RICE1_CAPACITY = 12,             /* the output cannot hold the chunk */
  RICE1_TOO_LARGE = 13,            /* a chunk of about 16 GiB or more, which only the CPU decodes */
  /* version 2 */
  RICE2_ENDS_IN_HEADER = 20,       /* the stream ends within its header */
  RICE2_MAGIC = 21,                /* not a version 2 stream */
  RICE2_VERSION = 22,              /* a stream of an unknown version */
  RICE2_HEADER_CHECKSUM = 23,      /* the checksum of the header does not match */
  RICE2_UNKNOWN_TYPE = 24,         /* samples of an unknown type */
  RICE2_FEATURES = 25,             /* a stream with unknown features */
  RICE2_SEGMENT_SIZE = 26,         /* segments of no samples or of more than 65536 */
  RICE2_ENDS_IN_TABLE = 27,        /* the stream ends within its table of segments */
  RICE2_ENDS_BEFORE_SEGMENT = 28,  /* the stream ends before its last segment does */
  RICE2_SHAPE = 29,                /* the shape of the array is damaged */
  RICE2_GOES_ON = 30,              /* bytes follow the stream */
  RICE2_OTHER_TYPE = 31,           /* the samples of the stream are of another type */
  RICE2_PLACE = 32,                /* a segment that ends before it begins, or too late */
  RICE2_SEGMENT_TOO_SHORT = 33,    /* a segment too short for what it holds */
  RICE2_RAW_END = 34,              /* a raw segment that does not end after its samples */
  RICE2_UNKNOWN_KIND = 35,         /* a segment of an unknown kind */
  RICE2_MODES = 36,                /* modes that do not exist */
  RICE2_SHIFT = 37,                /* a prediction that shifts by more than 15 bits */
  RICE2_ORDER = 38,                /* a prediction of an impossible order */
  RICE2_BLOCK_MODE = 39,           /* a block of a mode that does not exist */
  RICE2_CODES = 40,                /* a segment whose codes do not match its samples */
  RICE2_CHECKSUM = 41,             /* the checksum of a segment does not match */
  RICE2_SLOTS = 42,                /* RICE_LIMIT: more segments than the descriptor has slots (`segments`) */
  RICE2_TOO_LARGE = 43,            /* RICE_BAD_ARGUMENT: more than 16 GiB in one stream */
  RICE2_CHANNELS = 44,             /* an impossible number of channels */
  RICE2_REFERENCE = 45,            /* a reference to a channel that does not come before */
  RICE2_PARTS = 46,                /* RICE_UNSUPPORTED: channels, and the descriptor has no memory for them (`parts`) */
  RICE2_FILE_SAMPLES = 47,         /* samples in a stream of bytes of a file */
  RICE2_FILE_RECORD = 48,          /* a record of the file is damaged */
  RICE2_FILE_FORM = 49,            /* a record of a file of an unknown form */
  RICE2_CAPACITY = 50              /* the output cannot hold the stream */
};

/* ---- Version 1 ---------------------------------------------------------------------------------------------------
 *
 * All chunks of a call have the same parameters, passed by value.
 */
#define RICE1_MAX_TAPS 32

typedef struct rice1_params {
  rice_u32 k;         /* log2(m): 0 to 15 (encode: from 1) */
  rice_u32 segment;   /* samples per segment; 0: the whole chunk */
  rice_u32 tap_count; /* coefficients of the filter, 1 to 32 */
  int taps[RICE1_MAX_TAPS]; /* taps[0] is not 0 (encode: 1 or -1) */
} rice1_params;       /* 140 bytes */

typedef struct rice1_chunk {
  rice_u64 data;          /* address of the encoded bytes, a multiple of 4 */
  rice_u64 bytes;         /* decode: size of the chunk; encode: capacity at `data` (Params::bound always suffices) */
  rice_u64 samples;       /* address of the 16-bit samples, a multiple of 2 */
  rice_u32 sample_count;  /* decode: samples that fit there; encode: samples to encode */
  rice_u32 first_segment; /* sum of `segments` of the chunks before */
  rice_u32 segments;      /* slots: ceil(sample_count / segment), 0 if there are no samples */
  rice_u32 first_tile;    /* sum of `tiles` of the chunks before */
  rice_u32 tiles;         /* slots: RICE1_DECODE_TILES or RICE1_ENCODE_TILES below; decode by rice1_decode: 0 */
  rice_u32 reserved;      /* 0 */
} rice1_chunk;            /* 48 bytes */

/* Where rice1_index found a segment. A slot without one, or of a damaged chunk, has no samples. */
typedef struct rice1_segment {
  rice_u32 chunk;   /* index of its chunk */
  rice_u32 start;   /* of its payload, in words of the chunk */
  rice_u32 words;   /* of its payload */
  rice_u32 samples;
} rice1_segment; /* 16 bytes */

/* Tiles of long segments, for decoding: the payload in pieces of 2048 words, each of 256 subsequences of 8 words. */
#define RICE1_TILE_WORDS 2048
#define RICE1_SUBSEQUENCES 256
#define RICE1_DECODE_TILES(chunk_bytes, segments) ((rice_u32)((chunk_bytes) / 4 / RICE1_TILE_WORDS + (segments)))

typedef struct rice1_tile {
  rice_u32 entry; /* first code, in bits from the start of the tile */
  rice_u32 exit;  /* first code after the tile, in bits from its end */
  rice_u32 count; /* codes; after rice1_chain the samples of the segment before the tile */
  rice_u32 sum;   /* of the differences; after rice1_chain the sample before the tile */
} rice1_tile;     /* 16 bytes */

/* Tiles for encoding: 1024 samples of one segment, by one warp. With n = min(segment or sample_count, sample_count):
 * every segment but the last has ceil(n / 1024) tiles, the last as many as its samples need; the macro counts all of
 * a chunk. */
#define RICE1_TILE_SAMPLES 1024
#define RICE1_ENCODE_TILES(sample_count, n)                                                          \
  ((sample_count) == 0 ? 0u                                                                          \
                       : (rice_u32)((sample_count) / (n) * (((n) + RICE1_TILE_SAMPLES - 1) / RICE1_TILE_SAMPLES) + \
                                    ((sample_count) % (n) + RICE1_TILE_SAMPLES - 1) / RICE1_TILE_SAMPLES))

/* Decode: rice1_index, then either rice1_decode, or rice1_sync, rice1_chain and rice1_decode_tiles.
 *
 * Tiles are for few and long segments and the filters [1] and [1, -1] only: fewer than about 16,384 segments in the
 * batch, of 2048 samples or more. Otherwise rice1_decode, one thread per segment. Both give the same samples and
 * results.
 *
 * rice1_index: finds the segments by their lengths, checks the layout of each chunk, writes `results`.
 *   block 512; grid = chunks. segments: one per slot of the batch. tile_owner: a u32 for each tile slot, the index of
 *   its segment or 0xffffffff; 0 (null) without tiles.
 *     (const rice1_chunk *chunks, rice_u32 chunk_count, rice1_params params, rice1_segment *segments,
 *      rice_u32 *tile_owner, rice_result *results)
 *
 * rice1_decode: block 32; grid = ceil(segment slots / 32).
 *     (const rice1_chunk *chunks, const rice1_segment *segments, rice_u32 segment_count, rice1_params params,
 *      rice_result *results)
 *
 * rice1_sync: speculative decoding of each subsequence until they agree. block 256; grid = tile slots.
 *   tiles: one per tile slot. subsequences: 256 u32 per tile slot. Neither is initialised by the host.
 *     (const rice1_chunk *chunks, const rice1_segment *segments, const rice_u32 *tile_owner, rice1_params params,
 *      rice1_tile *tiles, rice_u32 *subsequences)
 *
 * rice1_chain: joins the tiles of each segment; block 32; grid = segment slots.
 *     (const rice1_chunk *chunks, const rice1_segment *segments, rice1_params params, rice1_tile *tiles,
 *      rice_u32 *subsequences)
 *
 * rice1_decode_tiles: block 256; grid = tile slots.
 *     (const rice1_chunk *chunks, const rice1_segment *segments, const rice_u32 *tile_owner, rice1_params params,
 *      const rice1_tile *tiles, const rice_u32 *subsequences, rice_result *results)
 *
 * Encode: rice1_measure, rice1_offsets, rice1_pack. tile_bits and tile_starts: a u64 for each tile slot.
 *
 * rice1_measure: bits of each tile. block 128; grid = ceil(tile slots / 4).
 *     (const rice1_chunk *chunks, rice_u32 chunk_count, rice_u32 tile_count, rice1_params params, rice_u64 *tile_bits)
 *
 * rice1_offsets: where each tile begins, the sizes of the chunks; writes `results`. block 256; grid = chunks.
 *     (const rice1_chunk *chunks, rice_u32 chunk_count, rice1_params params, const rice_u64 *tile_bits,
 *      rice_u64 *tile_starts, rice_result *results)
 *
 * rice1_pack: the words of the chunks. block 128; grid = ceil(tile slots / 4). Of a chunk that does not fit into its
 *   capacity nothing beyond it is written, and the status is RICE_OUTPUT_TOO_SMALL.
 *     (const rice1_chunk *chunks, rice_u32 chunk_count, rice_u32 tile_count, rice1_params params,
 *      const rice_u64 *tile_bits, const rice_u64 *tile_starts, rice_result *results)
 *
 * `chunk_count` is the number of chunks of the batch, `tile_count` and `segment_count` those of slots. A grid of 0
 * blocks is no launch.
 */

/* ---- Version 2 ---------------------------------------------------------------------------------------------------
 *
 * All streams of a call have samples of the same type. Entry points end in _16 or _32, the bits of a sample.
 */
#define RICE2_NO_SHAPE 0xffffffffu
#define RICE2_MAX_BLOCKS 2048 /* blocks of 32 samples in a segment */

typedef struct rice2_stream {
  rice_u64 data;          /* address of the encoded bytes, a multiple of 4 */
  rice_u64 bytes;         /* decode: size of the stream; encode: capacity at `data` (v2::bound always suffices) */
  rice_u64 samples;       /* address of the samples, a multiple of their size */
  rice_u64 sample_count;  /* decode: samples that fit there; encode: samples to encode */
  rice_u64 axes;          /* encode: address of the sizes of `axis_count` axes, u64 each, the slowest first */
  rice_u64 parts;         /* decode: with channels address of memory for `sample_count` samples; else not used */
  rice_u32 axis_count;    /* encode: 0 to 64, or RICE2_NO_SHAPE for no shape record */
  rice_u32 row;           /* encode: samples per row, or 0 */
  rice_u32 segment;       /* encode: samples per segment, 1 to 65536 */
  rice_u32 first_segment; /* sum of `segments` of the streams before */
  rice_u32 segments;      /* slots: number of segments (v2::info tells it), with channels of their parts; or more when
                             decoding */
  rice_u32 reserved;      /* 0 */
} rice2_stream;           /* 72 bytes */

/* Where rice2_index found a segment, or with channels a part of one. A slot without one, or of a damaged stream, has no
 * samples. */
typedef struct rice2_segment {
  rice_u64 start;             /* in bytes of its stream */
  rice_u64 first;             /* its first sample in the stream; of a part in `parts`, one part after another */
  rice_u32 words;             /* its size in 32-bit words */
  rice_u32 samples;           /* 0 once it is found to be damaged */
  rice_u32 stream;            /* index of its stream */
  rice_u32 frames;            /* of a part: its samples, even if it is damaged */
  unsigned short channel;     /* of a part */
  unsigned short channels;    /* of its stream; 1 without channels, 0 in a slot without a segment */
  unsigned char distances[2]; /* to the channels that a part refers to; without references 0 */
  unsigned char shift;        /* of the references */
  unsigned char reserved;
  short weights[2];           /* of the references */
  rice_u32 reserved2;
} rice2_segment; /* 48 bytes */

/* Decode: rice2_index, rice2_decode_*, rice2_linear_*; rice2_channels_* if a stream has channels; rice2_verify.
 *
 * element: code of the samples' type in the header: 0 i16, 1 u16, 2 i32, 3 u32.
 * linear: 1 + segment slots u32; linear[0] must be 0 before rice2_decode (cuMemsetD32Async).
 * No stream may have more than 2^32 - 1 segments in all of the batch.
 *
 * rice2_index: checks header and table, finds the segments, writes `results`. block 32; grid = streams.
 *     (const rice2_stream *streams, rice_u32 stream_count, rice_u32 element, rice2_segment *segments,
 *      rice_result *results)
 *
 * rice2_decode_16, rice2_decode_32: one block per segment. Raw segments and fixed predictors to samples, linear
 *   predictions to residuals; those go on the list `linear`. A damaged segment loses its samples in `segments`.
 *   block 128; grid = segment slots.
 *     (const rice2_stream *streams, rice2_segment *segments, rice_u32 *linear, rice_result *results)
 *
 * rice2_linear_16, rice2_linear_32: undoes linear prediction, one thread per segment of the list. block 32;
 *   grid = ceil(segment slots / 32); blocks beyond the list do nothing.
 *     (const rice2_stream *streams, const rice2_segment *segments, const rice_u32 *linear)
 *
 * rice2_channels_16, rice2_channels_32: adds to the parts what other channels predict, and interleaves them. block 128;
 *   grid = segment slots.
 *     (const rice2_stream *streams, rice_u32 element, const rice2_segment *segments)
 *
 * rice2_verify: compares the checksum of each segment's samples. block 128; grid = ceil(segment slots / 4).
 *     (const rice2_stream *streams, const rice2_segment *segments, rice_u32 segment_count, rice_u32 sample_bytes,
 *      rice_result *results)
 *
 * Encode: rice2_plan_*, rice2_offsets, rice2_pack_*. The bytes are those of linerate_rice::v2::encode without
 * channels, which these kernels do not encode.
 * plans: one rice2_plan per segment slot. modes: 1 byte per block of 32 samples: `mode_stride` bytes per segment slot,
 * at least ceil(longest segment / 32).
 *
 * rice2_plan_16, rice2_plan_32: chooses step, centre, predictor and modes of each segment. block 256; grid = any, each
 *   block takes every grid-th segment; 4 per multiprocessor serve.
 *     (const rice2_stream *streams, rice_u32 stream_count, rice_u32 segment_count, rice_u32 element,
 *      rice2_plan *plans, unsigned char *modes, rice_u32 mode_stride)
 *
 * rice2_offsets: header, shape record and table; sizes; writes `results`. block 256; grid = streams.
 *     (const rice2_stream *streams, rice_u32 stream_count, rice_u32 element, rice2_plan *plans,
 *      rice_result *results)
 *
 * rice2_pack_16, rice2_pack_32: the segments. block 128; grid = segment slots.
 *     (const rice2_stream *streams, rice_u32 stream_count, const rice2_plan *plans, const unsigned char *modes,
 *      rice_u32 mode_stride)
 */
typedef struct rice2_plan {
  rice_u64 start;    /* of the segment, in bytes of the stream: by rice2_offsets */
  rice_u32 bytes;    /* size, a multiple of 4 */
  rice_u32 sum;      /* checksum of the samples */
  rice_u32 kind;     /* predictor and flags, as in the segment */
  rice_u32 low;      /* lowest mode */
  rice_u32 width;    /* bits per mode */
  rice_u32 order;    /* of a linear prediction, else 0 */
  rice_u32 shift;
  rice_u32 centre;
  rice_u32 step;
  rice_u32 escapes;
  rice_u32 fixed;    /* bytes of fixed bits */
  rice_u32 is_unsigned; /* 1 for unsigned samples */
  short taps[8];
} rice2_plan; /* 72 bytes */

#endif
