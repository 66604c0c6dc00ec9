/* Deflate streams: compresses standard input in one call. Then compresses it to gzip on standard
 * output in calls of 10,000 bytes: every other call has the input before it as history, and
 * every third is flushed. */
#include "check.h"

int main(void)
{
	const size_t piece = 10000;
	linerate_scratch scratch;
	linerate_deflater stream;
	size_t len, at, written, total = 0, capacity;
	uint8_t *in = input(&len), *out;
	int calls = 0;

	check(linerate_scratch_new(LINERATE_ENGINE_DEFLATE, &scratch));
	capacity = linerate_deflate_bound(len) + linerate_deflater_bound(piece);
	out = (uint8_t *)malloc(capacity);
	require(out != NULL, "out of memory");
	check(linerate_deflate(scratch, LINERATE_ZLIB, 6, in, len, out, capacity, &written));
	fprintf(stderr, "linerate %s: zlib %s\n", linerate_version(), written < len ? "is smaller" : "is larger");

	check(linerate_deflater_init(&stream, LINERATE_GZIP, 1));
	for (at = 0; at < len; at += piece, calls++) {
		size_t n = len - at < piece ? len - at : piece, history = at < 32768 ? at : 32768;

		require(linerate_deflater_bound(n) <= capacity, "room for a call");
		if (calls % 2)
			check(linerate_deflater_encode(&stream, scratch, in + at, n, out, capacity, true, &written));
		else
			check(linerate_deflater_encode_with_history(&stream, scratch, in + at - history, history + n, history,
								    out, capacity, true, &written));
		emit(out, written);
		total += written;
		if (calls % 3 == 0) {
			check(linerate_deflater_flush(&stream, out, linerate_deflater_flush_bound(), &written));
			emit(out, written);
			check(linerate_deflater_set_level(&stream, calls % 10));
		}
	}
	require(stream.checksum == linerate_crc32(0, in, len) && linerate_adler32(1, in, 0) == 1, "checksums");
	check(linerate_deflater_finish(&stream, out, linerate_deflater_finish_bound(), &written));
	emit(out, written);
	check(linerate_scratch_free(scratch));
	free(in);
	free(out);
	return fflush(stdout) != 0;
}
