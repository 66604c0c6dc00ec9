/* slz.h: libslz's interface, served by Linerate's deflate encoder.
 *
 * A stream is 40 bytes (28 on 32-bit systems) that belong to the caller: they may be copied, moved and kept between calls,
 * and hold no pointer that must live. Working memory belongs to the thread: its first call allocates at most 600 KiB, of
 * which levels up to 3 touch 127 KiB, and level 3 another 320 KiB among samples of 16 bits; its first at level 8 or 9
 * allocates another 7 MiB.
 *
 * Each call of an encode function compresses its input without reference to earlier input.
 *
 * How many bytes of room a call needs, and a header more if that was not written yet: 10 for gzip, 2 for zlib:
 *   encode   ilen + 5 for each started 65,535 bytes of input
 *   flush    5
 *   finish   2, and the trailer: 8 for gzip, 4 for zlib
 *
 * Null pointers and streams that were not initialised make a function return 0 and change nothing, but the
 * stream of slz_encode, slz_flush and slz_finish must not be null: these are inline, and read its format.
 */
#ifndef SLZ_H
#define SLZ_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a stream is. This library leaves streams in INIT, EOB, DONE and END only. */
enum slz_state {
	SLZ_ST_INIT,  /* the container's header is not written yet */
	SLZ_ST_EOB,   /* between blocks */
	SLZ_ST_FIXED, /* inside a block with fixed trees */
	SLZ_ST_LAST,  /* inside the final block */
	SLZ_ST_DONE,  /* the final block is written */
	SLZ_ST_END    /* the trailer is written */
};

/* Containers. */
enum {
	SLZ_FMT_GZIP,   /* RFC 1952 */
	SLZ_FMT_ZLIB,   /* RFC 1950 */
	SLZ_FMT_DEFLATE /* RFC 1951 */
};

struct slz_stream {
#if UINTPTR_MAX > 0xffffffffu
	uint64_t queue; /* bits that are not written yet */
#else
	uint32_t queue;
#endif
	uint32_t qbits;         /* their number */
	unsigned char *outbuf;  /* not used */
	uint16_t state;         /* enum slz_state */
	uint8_t level : 1;      /* 0: store, 1: compress; may be changed between calls */
	uint8_t format : 2;     /* SLZ_FMT_* */
	uint8_t unused1 : 5;
	uint8_t engine_level;   /* the encoder's level where `level` is 1: 1 to 9 */
	uint32_t crc32;         /* CRC-32 (gzip) or Adler-32 (zlib) of the input so far */
	uint32_t ilen;          /* bytes of input so far, modulo 2^32 */
};

/* Begin a stream; return 0. Level 0 stores. Level 1 is the encoder's level 1, or the one that the environment variable
 * LINERATE_SLZ_LEVEL names (1 to 9); levels 2 to 9 are the encoder's own, which libslz does not have. */
int slz_rfc1951_init(struct slz_stream *strm, int level);
int slz_rfc1950_init(struct slz_stream *strm, int level);
int slz_rfc1952_init(struct slz_stream *strm, int level);

/* Compress `ilen` bytes of `in` to `out`; return the bytes written. With `more` 0 and input, the last block is final, and only
 * finish may follow. */
long slz_rfc1951_encode(struct slz_stream *strm, unsigned char *out, const unsigned char *in, long ilen, int more);
long slz_rfc1950_encode(struct slz_stream *strm, unsigned char *out, const unsigned char *in, long ilen, int more);
long slz_rfc1952_encode(struct slz_stream *strm, unsigned char *out, const unsigned char *in, long ilen, int more);

/* Write what is pending, so that everything encoded can be decoded: nothing if the output is at the end of a byte. */
int slz_rfc1951_flush(struct slz_stream *strm, unsigned char *buf);
int slz_rfc1950_flush(struct slz_stream *strm, unsigned char *buf);
int slz_rfc1952_flush(struct slz_stream *strm, unsigned char *buf);

/* Write the final block, if there was none, padding and the trailer. */
int slz_rfc1951_finish(struct slz_stream *strm, unsigned char *buf);
int slz_rfc1950_finish(struct slz_stream *strm, unsigned char *buf);
int slz_rfc1952_finish(struct slz_stream *strm, unsigned char *buf);

/* Write the header, if it is not written yet. */
int slz_rfc1950_send_header(struct slz_stream *strm, unsigned char *buf);
int slz_rfc1952_send_header(struct slz_stream *strm, unsigned char *buf);

/* Checksums, continued from `crc`: CRC-32 begins with 0, Adler-32 with 1. */
uint32_t slz_crc32_by1(uint32_t crc, const unsigned char *buf, int len);
uint32_t slz_crc32_by4(uint32_t crc, const unsigned char *buf, int len);
uint32_t slz_adler32_by1(uint32_t crc, const unsigned char *buf, int len);
uint32_t slz_adler32_block(uint32_t crc, const unsigned char *buf, long len);

/* Needed by old programs only; they do nothing. */
void slz_make_crc_table(void);
void slz_prepare_dist_table(void);

/* The same by the format of the stream. */
static inline int slz_init(struct slz_stream *strm, int level, int format)
{
	switch (format) {
	case SLZ_FMT_GZIP: return slz_rfc1952_init(strm, level);
	case SLZ_FMT_ZLIB: return slz_rfc1950_init(strm, level);
	default: return slz_rfc1951_init(strm, level);
	}
}

static inline long slz_encode(struct slz_stream *strm, void *out, const void *in, long ilen, int more)
{
	unsigned char *to = (unsigned char *)out;
	const unsigned char *from = (const unsigned char *)in;

	switch (strm->format) {
	case SLZ_FMT_GZIP: return slz_rfc1952_encode(strm, to, from, ilen, more);
	case SLZ_FMT_ZLIB: return slz_rfc1950_encode(strm, to, from, ilen, more);
	default: return slz_rfc1951_encode(strm, to, from, ilen, more);
	}
}

static inline int slz_flush(struct slz_stream *strm, void *buf)
{
	unsigned char *to = (unsigned char *)buf;

	switch (strm->format) {
	case SLZ_FMT_GZIP: return slz_rfc1952_flush(strm, to);
	case SLZ_FMT_ZLIB: return slz_rfc1950_flush(strm, to);
	default: return slz_rfc1951_flush(strm, to);
	}
}

static inline int slz_finish(struct slz_stream *strm, void *buf)
{
	unsigned char *to = (unsigned char *)buf;

	switch (strm->format) {
	case SLZ_FMT_GZIP: return slz_rfc1952_finish(strm, to);
	case SLZ_FMT_ZLIB: return slz_rfc1950_finish(strm, to);
	default: return slz_rfc1951_finish(strm, to);
	}
}

#ifdef __cplusplus
}
#endif

#endif
