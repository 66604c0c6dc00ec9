/* pieces FORMAT LEVEL SEED: compresses standard input to standard output in pieces of random
 * length, with flushes, level changes and copied streams in between. After each call it checks
 * what slz.h promises, such as the size of the output. */
#include <slz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX (1 << 17)
#define GUARD 0xA5

static unsigned char in[MAX], out[MAX + MAX / 65535 * 5 + 64];
static uint32_t seed;

static uint32_t noise(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)seed * below) >> 32);
}

static void check(int holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "%s\n", what);
		exit(1);
	}
}

/* Returns the size of the header, or 0 if it is already written. */
static size_t header(const struct slz_stream *stream)
{
	return stream->state != SLZ_ST_INIT ? 0 : stream->format == SLZ_FMT_GZIP ? 10 : 2;
}

/* Writes the output of a call, and checks that it stayed within its bound. */
static void emit(long written, size_t room)
{
	check(written >= 0 && (size_t)written <= room, "a call wrote more than its bound");
	check(out[room] == GUARD, "a call wrote past its bound");
	check(fwrite(out, 1, (size_t)written, stdout) == (size_t)written, "standard output");
}

int main(int argc, char **argv)
{
	struct slz_stream stream, copy;
	uint32_t sum;
	size_t total = 0, got;
	int format, level;

	check(argc == 4 && sizeof(stream) == (sizeof(void *) == 8 ? 40 : 28), "usage, or the size of the stream");
	format = atoi(argv[1]);
	level = atoi(argv[2]);
	seed = (uint32_t)atoi(argv[3]);
	sum = format == SLZ_FMT_ZLIB ? 1 : 0;
	slz_make_crc_table();
	slz_prepare_dist_table();
	memset(&stream, 0xff, sizeof(stream));
	check(slz_init(&stream, level, format) == 0 && stream.format == format, "slz_init");
	check(stream.state == (format == SLZ_FMT_DEFLATE ? SLZ_ST_EOB : SLZ_ST_INIT), "the first state");
	while ((got = fread(in, 1, 1 + noise(noise(4) ? 3000 : MAX), stdin)) > 0) {
		size_t room = got + (got + 65534) / 65535 * 5 + header(&stream);

		/* A stream may be moved. */
		copy = stream;
		memset(&stream, 0xff, sizeof(stream));
		stream = copy;
		stream.level = level > 0 && noise(8) > 0;
		out[room] = GUARD;
		emit(slz_encode(&stream, out, in, (long)got, 1), room);
		total += got;
		if (format == SLZ_FMT_GZIP)
			sum = slz_crc32_by4(sum, in, (int)got);
		else if (format == SLZ_FMT_ZLIB)
			sum = slz_adler32_block(sum, in, (long)got);
		check(stream.ilen == (uint32_t)total && stream.crc32 == sum, "length and checksum of the stream");
		if (noise(3) == 0) {
			out[5] = GUARD;
			emit(slz_flush(&stream, out), 5);
			check(stream.qbits == 0, "bits are pending after a flush");
			check(slz_flush(&stream, out) == 0, "a second flush wrote something");
		}
	}
	got = header(&stream) + 2 + (format == SLZ_FMT_GZIP ? 8 : format == SLZ_FMT_ZLIB ? 4 : 0);
	out[got] = GUARD;
	emit(slz_finish(&stream, out), got);
	check(stream.state == (format == SLZ_FMT_DEFLATE ? SLZ_ST_DONE : SLZ_ST_END), "the last state");
	check(slz_finish(&stream, out) == 0, "a second finish wrote something");
	check(slz_encode(&stream, out, in, 1, 1) == 0 && stream.ilen == (uint32_t)total, "data after the end");
	return fflush(stdout) != 0;
}
