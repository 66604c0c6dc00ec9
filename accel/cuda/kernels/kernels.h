/* Entry points of the CUDA kernels: names, parameters, grids, memory, and how errors are reported.
 *
 * Every kernel works on a batch: chunks of version 1 (HDF5 filter 32025) or streams of version 2. Descriptors are
 * arrays in device memory; addresses in them are device addresses. Each kernel is an `extern "C" __global__` function
 * with exactly the parameters given here, in this order; pointers are passed as 64-bit device addresses. No kernel
 * uses dynamic shared memory. All kernels of a call are launched on one CUDA stream, in the given order; nothing
 * returns to the host but the results.
 *
 * This file is C and C++ without any #include, so that NVRTC and bindings can read it. u32 is `unsigned int`,
 * u64 `unsigned long long`. Every structure has its natural layout; its only padding is the fields whose names begin
 * with `reserved`. A word has 32 bits. A slot is an element of an array that has room for each segment or tile that a
 * batch may have.
 */
#ifndef LINERATE_CUDA_KERNELS_H
#define LINERATE_CUDA_KERNELS_H

typedef unsigned int rice_u32;
typedef unsigned long long rice_u64;

/* ---- Results -----------------------------------------------------------------------------------------------------
 *
 * One for each chunk or stream. When decoding, the first kernel of a call writes it (rice1_index or rice2_index);
 * when encoding, the second (rice1_offsets or rice2_offsets). Later kernels change only `status`, and only to a
 * smaller value. The host need not initialise it.
 */
typedef struct rice_result {
  rice_u64 status; /* RICE_OK, or offset << 16 | problem << 8 | kind of the error with the lowest offset, which is in
                      bytes of the chunk or stream */
  rice_u64 size;   /* decode: number of samples, or 0 if the first kernel found an error; encode: bytes of the chunk or
                      stream, also if they do not fit, or 0 with RICE2_SLOTS */
} rice_result;

#define RICE_OK 0xffffffffffffffffull

/* Bits 0 to 7 of a status: the first six variants of linerate_core::Kind, numbered from 1. */
enum rice_kind {
  RICE_TRUNCATED = 1,
  RICE_CORRUPT = 2,
  RICE_UNSUPPORTED = 3,
  RICE_OUTPUT_TOO_SMALL = 4,
  RICE_BAD_ARGUMENT = 5,
  RICE_LIMIT = 6
};

/* Bits 8 to 15 of a status: the problem. The comment is the message that the crate linerate-rice has for it, except for
 * 13, 42 and 46, which only the kernels report. */
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
  RICE2_SLOTS = 42,                /* more segments than the descriptor has slots (`segments`); also in version 1 */
  RICE2_TOO_LARGE = 43,            /* more than 16 GiB in one stream */
  RICE2_CHANNELS = 44,             /* an impossible number of channels */
  RICE2_REFERENCE = 45,            /* a reference to a channel that does not come before */
  RICE2_PARTS = 46,                /* channels, and the descriptor has no memory for their samples (`parts` is 0) */
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
  rice_u32 segment;   /* samples per segment, or 0 for one segment per chunk */
  rice_u32 tap_count; /* number of coefficients of the filter, 1 to 32 */
  int taps[RICE1_MAX_TAPS]; /* taps[0] is not 0 (encode: 1 or -1) */
} rice1_params;       /* 140 bytes */

typedef struct rice1_chunk {
  rice_u64 data;          /* address of the encoded bytes, a multiple of 4 */
  rice_u64 bytes;         /* decode: size of the chunk; encode: capacity at `data` (Params::bound always suffices) */
  rice_u64 samples;       /* address of the 16-bit samples, a multiple of 2 */
  rice_u32 sample_count;  /* decode: samples that fit there; encode: samples to encode */
  rice_u32 first_segment; /* sum of `segments` of the chunks before */
  rice_u32 segments;      /* segment slots: ceil(sample_count / segment), 1 if `segment` is 0, 0 if sample_count is 0 */
  rice_u32 first_tile;    /* sum of `tiles` of the chunks before */
  rice_u32 tiles;         /* tile slots: RICE1_DECODE_TILES or RICE1_ENCODE_TILES below; 0 to decode by rice1_decode */
  rice_u32 reserved;      /* 0 */
} rice1_chunk;            /* 48 bytes */

/* Where rice1_index found a segment. `samples` is 0 in a slot without a segment, and in all slots of a chunk in which
 * rice1_index found an error. */
typedef struct rice1_segment {
  rice_u32 chunk;   /* index of its chunk */
  rice_u32 start;   /* offset of its payload in the chunk, in words */
  rice_u32 words;   /* size of its payload in words */
  rice_u32 samples; /* number of its samples */
} rice1_segment; /* 16 bytes */

/* For decoding, the payload of a segment is divided into tiles of 2048 words, the last of which may have fewer, and a
 * tile into 256 subsequences of 8 words. RICE1_DECODE_TILES: tile slots of a chunk of so many bytes and segment slots. */
#define RICE1_TILE_WORDS 2048
#define RICE1_SUBSEQUENCES 256
#define RICE1_DECODE_TILES(chunk_bytes, segments) ((rice_u32)((chunk_bytes) / 4 / RICE1_TILE_WORDS + (segments)))

typedef struct rice1_tile {
  rice_u32 entry; /* where its first code begins, in bits from the start of the tile */
  rice_u32 exit;  /* where the first code after the tile begins, in bits from the end of the tile */
  rice_u32 count; /* codes that begin in the tile; after rice1_chain, codes of the segment before the tile */
  rice_u32 sum;   /* a number with the low 16 bits of the sum of the values of these codes; after rice1_chain, the low
                     16 bits of the sum of the values before the tile: with the filter [1, -1], the sample before it */
} rice1_tile;     /* 16 bytes */

/* For encoding, a segment is divided into tiles of 1024 samples, the last of which may have fewer; a warp encodes a
 * tile. RICE1_ENCODE_TILES: tiles of a chunk of `sample_count` samples in segments of `n` samples, where n is `segment`,
 * but `sample_count` if that is less or `segment` is 0. */
#define RICE1_TILE_SAMPLES 1024
#define RICE1_ENCODE_TILES(sample_count, n)                                                          \
  ((sample_count) == 0 ? 0u                                                                          \
                       : (rice_u32)((sample_count) / (n) * (((n) + RICE1_TILE_SAMPLES - 1) / RICE1_TILE_SAMPLES) + \
                                    ((sample_count) % (n) + RICE1_TILE_SAMPLES - 1) / RICE1_TILE_SAMPLES))

/* Decode: rice1_index, then either rice1_decode, or rice1_sync, rice1_chain and rice1_decode_tiles.
 *
 * Tiles can undo the filters [1] and [1, -1] only. They are faster for few and long segments: fewer than about 16,384 in
 * the batch, the longest of at least 2048 samples. Otherwise rice1_decode is faster, one thread per segment. Both give
 * the same samples and results.
 *
 * rice1_index: finds the segments by their lengths, checks the layout of each chunk, writes `results`.
 *   block 512; grid = chunks. segments: one per segment slot of the batch. tile_owner: a u32 for each tile slot of the
 *   batch, the slot of its segment, or 0xffffffff for none; 0 (null) without tiles.
 *     (const rice1_chunk *chunks, rice_u32 chunk_count, rice1_params params, rice1_segment *segments,
 *      rice_u32 *tile_owner, rice_result *results)
 *
 * rice1_decode: decodes the segments, one thread each. block 32; grid = ceil(segment slots / 32).
 *     (const rice1_chunk *chunks, const rice1_segment *segments, rice_u32 segment_count, rice1_params params,
 *      rice_result *results)
 *
 * rice1_sync: decodes each subsequence speculatively, again and again until those of a tile agree where codes begin.
 *   block 256; grid = tile slots.
 *   tiles: one per tile slot. subsequences: 256 u32 per tile slot. Neither is initialised by the host.
 *     (const rice1_chunk *chunks, const rice1_segment *segments, const rice_u32 *tile_owner, rice1_params params,
 *      rice1_tile *tiles, rice_u32 *subsequences)
 *
 * rice1_chain: makes the tiles of each segment agree where codes begin, and counts the codes before each tile.
 *   block 32; grid = segment slots.
 *     (const rice1_chunk *chunks, const rice1_segment *segments, rice1_params params, rice1_tile *tiles,
 *      rice_u32 *subsequences)
 *
 * rice1_decode_tiles: decodes the tiles to samples. block 256; grid = tile slots.
 *     (const rice1_chunk *chunks, const rice1_segment *segments, const rice_u32 *tile_owner, rice1_params params,
 *      const rice1_tile *tiles, const rice_u32 *subsequences, rice_result *results)
 *
 * Encode: rice1_measure, rice1_offsets, rice1_pack. tile_bits and tile_starts: a u64 for each tile slot, the number of
 * bits of its codes, and the offset in bits of the first of these codes in the chunk.
 *
 * rice1_measure: finds tile_bits. block 128; grid = ceil(tile slots / 4).
 *     (const rice1_chunk *chunks, rice_u32 chunk_count, rice_u32 tile_count, rice1_params params, rice_u64 *tile_bits)
 *
 * rice1_offsets: finds tile_starts and the sizes of the chunks; writes `results` and the first word of each chunk, its
 *   number of samples. block 256; grid = chunks.
 *     (const rice1_chunk *chunks, rice_u32 chunk_count, rice1_params params, const rice_u64 *tile_bits,
 *      rice_u64 *tile_starts, rice_result *results)
 *
 * rice1_pack: writes all other words of the chunks. block 128; grid = ceil(tile slots / 4). If a chunk exceeds its
 *   capacity, nothing is written beyond that, and the error is of kind RICE_OUTPUT_TOO_SMALL.
 *     (const rice1_chunk *chunks, rice_u32 chunk_count, rice_u32 tile_count, rice1_params params,
 *      const rice_u64 *tile_bits, const rice_u64 *tile_starts, rice_result *results)
 *
 * `chunk_count` is the number of chunks of the batch, `tile_count` and `segment_count` are its numbers of tile slots and
 * segment slots. A kernel whose grid would have 0 blocks is not launched.
 */

/* ---- Version 2 ---------------------------------------------------------------------------------------------------
 *
 * All streams of a call have samples of the same type. Kernels that depend on the size of a sample have two forms,
 * whose names end in _16 and _32, the bits of a sample; but rice2_verify takes the size as a parameter.
 */
#define RICE2_NO_SHAPE 0xffffffffu
#define RICE2_MAX_BLOCKS 2048 /* largest number of blocks of 32 samples in a segment */

typedef struct rice2_stream {
  rice_u64 data;          /* address of the encoded bytes, a multiple of 4 */
  rice_u64 bytes;         /* decode: size of the stream; encode: capacity at `data` (v2::bound always suffices) */
  rice_u64 samples;       /* address of the samples, a multiple of their size */
  rice_u64 sample_count;  /* decode: samples that fit there; encode: samples to encode */
  rice_u64 axes;          /* encode: address of the sizes of `axis_count` axes, u64 each, the slowest first */
  rice_u64 parts;         /* decode, with channels: address of memory for as many samples as the stream has, and not 0
                             even if it has none; otherwise not used */
  rice_u32 axis_count;    /* encode: number of axes, 0 to 64, or RICE2_NO_SHAPE for no shape record */
  rice_u32 row;           /* encode: samples per row, or 0 */
  rice_u32 segment;       /* encode: samples per segment, 1 to 65536 */
  rice_u32 first_segment; /* sum of `segments` of the streams before */
  rice_u32 segments;      /* segment slots: at least the number of segments, with channels the number of their parts; when
                             decoding, v2::info tells both numbers */
  rice_u32 reserved;      /* 0 */
} rice2_stream;           /* 72 bytes */

/* Where rice2_index found a segment, or with channels a part of a segment: the samples of one of its channels. `samples`
 * and `channels` are 0 in a slot without a segment, and in all slots of a stream in which rice2_index found an error. */
typedef struct rice2_segment {
  rice_u64 start;             /* its offset in its stream, in bytes */
  rice_u64 first;             /* index of its first sample in the output, or if it is a part, in `parts`, where the parts
                                 of a segment follow one another */
  rice_u32 words;             /* its size in words */
  rice_u32 samples;           /* number of its samples, or 0 once rice2_decode_* finds it damaged */
  rice_u32 stream;            /* index of its stream */
  rice_u32 frames;            /* number of its samples, even if it is damaged */
  unsigned short channel;     /* channel of a part; without channels 0 */
  unsigned short channels;    /* number of channels of its stream; without channels 1 */
  unsigned char distances[2]; /* number of the part's channel minus that of each channel it refers to; 0 for no
                                 reference. rice2_decode_* writes `distances`, `shift` and `weights` */
  unsigned char shift;        /* right shift of the weighted sum of the samples that the part refers to */
  unsigned char reserved;
  short weights[2];           /* weights of the two channels that the part refers to */
  rice_u32 reserved2;
} rice2_segment; /* 48 bytes */

/* Decode: rice2_index, rice2_decode_*, rice2_linear_*; rice2_channels_* if a stream has channels; rice2_verify.
 *
 * element: code of the samples' type in the header: 0 i16, 1 u16, 2 i32, 3 u32.
 * linear: a u32, the length of the list, and a u32 for each segment slot, the list. The length must be 0 before
 * rice2_decode_*; the host queues this on the CUDA stream.
 * All streams of a batch together have at most 2^32 - 1 segment slots.
 *
 * rice2_index: checks header and table, finds the segments, writes `results`. block 32; grid = streams.
 *     (const rice2_stream *streams, rice_u32 stream_count, rice_u32 element, rice2_segment *segments,
 *      rice_result *results)
 *
 * rice2_decode_16, rice2_decode_32: decodes the segments, one block of threads each. Raw segments and those with a fixed
 *   predictor become samples. Those with a linear prediction become residuals, and their slots go on the list `linear`.
 *   A damaged segment gets `samples` = 0 in `segments`. block 128; grid = segment slots.
 *     (const rice2_stream *streams, rice2_segment *segments, rice_u32 *linear, rice_result *results)
 *
 * rice2_linear_16, rice2_linear_32: undoes the linear predictions, one thread per segment of the list. block 32;
 *   grid = ceil(segment slots / 32); blocks beyond the list do nothing.
 *     (const rice2_stream *streams, const rice2_segment *segments, const rice_u32 *linear)
 *
 * rice2_channels_16, rice2_channels_32: adds to the parts of a segment what other channels predict, and interleaves them
 *   in the output. block 128; grid = segment slots.
 *     (const rice2_stream *streams, rice_u32 element, const rice2_segment *segments)
 *
 * rice2_verify: compares the checksum of the samples of each segment or part. sample_bytes: 2 or 4. block 128;
 *   grid = ceil(segment slots / 4).
 *     (const rice2_stream *streams, const rice2_segment *segments, rice_u32 segment_count, rice_u32 sample_bytes,
 *      rice_result *results)
 *
 * Encode: rice2_plan_*, rice2_offsets, rice2_pack_*. The bytes are those of linerate_rice::v2::encode without
 * channels, which these kernels do not encode.
 * plans: one rice2_plan per segment slot. modes: `mode_stride` bytes per segment slot, at least
 * ceil(samples of the longest segment / 32): one byte per block of 32 samples.
 *
 * rice2_plan_16, rice2_plan_32: chooses step, centre, predictor and modes of each segment. block 256; grid = any number:
 *   the blocks take the segments in turn. 4 blocks per multiprocessor are enough.
 *     (const rice2_stream *streams, rice_u32 stream_count, rice_u32 segment_count, rice_u32 element,
 *      rice2_plan *plans, unsigned char *modes, rice_u32 mode_stride)
 *
 * rice2_offsets: writes header, table and shape record of each stream, `start` of each plan, and `results`. block 256;
 *   grid = streams.
 *     (const rice2_stream *streams, rice_u32 stream_count, rice_u32 element, rice2_plan *plans,
 *      rice_result *results)
 *
 * rice2_pack_16, rice2_pack_32: writes the segments, except those that exceed the capacity. block 128;
 *   grid = segment slots.
 *     (const rice2_stream *streams, rice_u32 stream_count, const rice2_plan *plans, const unsigned char *modes,
 *      rice_u32 mode_stride)
 */
/* How a segment is encoded. rice2_offsets writes `start`, and rice2_plan_* all other fields; in the plan of a raw segment
 * those from `low` to `fixed`, and `taps`, are 0. */
typedef struct rice2_plan {
  rice_u64 start;    /* offset of the segment in the stream, in bytes */
  rice_u32 bytes;    /* size of the segment in bytes, a multiple of 4 */
  rice_u32 sum;      /* checksum of the samples */
  rice_u32 kind;     /* predictor and flags, as in the segment */
  rice_u32 low;      /* lowest mode */
  rice_u32 width;    /* bits per mode */
  rice_u32 order;    /* number of coefficients of a linear prediction; 0 for another predictor */
  rice_u32 shift;    /* right shift of the sum of a linear prediction */
  rice_u32 centre;   /* value that is subtracted from each sample */
  rice_u32 step;     /* common divisor of the differences to `centre`, by which they are divided */
  rice_u32 escapes;  /* number of escaped samples */
  rice_u32 fixed;    /* bytes that the fixed bits of all blocks take */
  rice_u32 is_unsigned; /* 1 for unsigned samples, else 0 */
  short taps[8];     /* coefficients of a linear prediction, 0 from `order` on */
} rice2_plan; /* 72 bytes */

#endif
