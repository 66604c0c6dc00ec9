/* slz.h: libslz's interface to Linerate's deflate encoder.
 *
 * A stream is 40 bytes (28 on 32-bit systems) in memory of the caller. It may be copied, moved and
 * kept between calls, and holds no pointer that must stay valid. Working memory belongs to the
 * thread: its first call allocates at most 600 KiB. Levels 0 to 3 touch only 127 KiB of it; level 3
 * touches another 320 KiB if the data is 16-bit samples. The first call at level 8 or 9 allocates
 * another 7 MiB.
 *
 * Each call of an encode function compresses its input without reference to earlier input.
 *
 * The output buffer of a call needs this many bytes, plus those of the header if it is not written
 * yet (10 for gzip, 2 for zlib):
 *   encode   ilen + 5 for each started 65,535 bytes of input
 *   flush    5
 *   finish   2, plus the trailer (8 for gzip, 4 for zlib)
 *
 * Given a null pointer, or a stream whose fields no function of this library can have left, a
 * function on streams returns 0 and changes nothing. But the stream of slz_encode, slz_flush and
 * slz_finish must not be null: these inline functions read its format.
 */
#ifndef SLZ_H
#define SLZ_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* State of a stream. This library leaves streams only in INIT, EOB, DONE or END. */
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
	uint64_t queue; /* pending bits, not written yet */
#else
	uint32_t queue;
#endif
	uint32_t qbits;         /* number of pending bits */
	unsigned char *outbuf;  /* not used */
	uint16_t state;         /* enum slz_state */
	uint8_t level : 1;      /* 0: store, 1: compress; callers may change it between calls */
	uint8_t format : 2;     /* SLZ_FMT_* */
	uint8_t unused1 : 5;
	uint8_t engine_level;   /* the encoder's level where `level` is 1: 1 to 9 */
	uint32_t crc32;         /* CRC-32 (gzip) or Adler-32 (zlib) of the input so far; 0 if raw */
	uint32_t ilen;          /* bytes of input so far, modulo 2^32 */
};

/* Begin a stream; return 0. Level 0 stores. Level 1 is the encoder's level 1, or the level in
 * the environment variable LINERATE_SLZ_LEVEL (1 to 9), which is read once. Levels 2 to 9, which
 * libslz does not have, are the encoder's own, and higher ones count as 9. */
int slz_rfc1951_init(struct slz_stream *strm, int level);
int slz_rfc1950_init(struct slz_stream *strm, int level);
int slz_rfc1952_init(struct slz_stream *strm, int level);

/* Compress `ilen` bytes of `in` to `out`, after the header if it is not written yet; return the
 * number of bytes written. If `more` is 0 and there is input, the last block is final, and only
 * finish may follow: a further encode returns 0. */
long slz_rfc1951_encode(struct slz_stream *strm, unsigned char *out, const unsigned char *in, long ilen, int more);
long slz_rfc1950_encode(struct slz_stream *strm, unsigned char *out, const unsigned char *in, long ilen, int more);
long slz_rfc1952_encode(struct slz_stream *strm, unsigned char *out, const unsigned char *in, long ilen, int more);

/* Write the pending bits, so that all input so far can be decoded; return the number of bytes
 * written. If no bits are pending, write only the header, if it is not written yet. */
int slz_rfc1951_flush(struct slz_stream *strm, unsigned char *buf);
int slz_rfc1950_flush(struct slz_stream *strm, unsigned char *buf);
int slz_rfc1952_flush(struct slz_stream *strm, unsigned char *buf);

/* End the stream: write the header and the final block, unless they are already written, padding
 * and the trailer; return the number of bytes written. A second call writes nothing. */
int slz_rfc1951_finish(struct slz_stream *strm, unsigned char *buf);
int slz_rfc1950_finish(struct slz_stream *strm, unsigned char *buf);
int slz_rfc1952_finish(struct slz_stream *strm, unsigned char *buf);

/* Write the header, if it is not written yet; return the number of bytes written. */
int slz_rfc1950_send_header(struct slz_stream *strm, unsigned char *buf);
int slz_rfc1952_send_header(struct slz_stream *strm, unsigned char *buf);

/* Update the checksum `crc` with `len` bytes and return it. The initial value of CRC-32 is 0, that
 * of Adler-32 is 1. A null pointer or a negative length changes nothing. */
uint32_t slz_crc32_by1(uint32_t crc, const unsigned char *buf, int len);
uint32_t slz_crc32_by4(uint32_t crc, const unsigned char *buf, int len);
uint32_t slz_adler32_by1(uint32_t crc, const unsigned char *buf, int len);
uint32_t slz_adler32_block(uint32_t crc, const unsigned char *buf, long len);

/* Do nothing. libslz once built tables here, so old programs call these functions. */
void slz_make_crc_table(void);
void slz_prepare_dist_table(void);

/* Call the function above for one format: slz_init for the format in its argument, and the others
   for the format of the stream. */
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
