/* streams MODE LEVEL SEED: compresses standard input to standard output through the functions of
 * zlib.h. MODE is `pieces`: in pieces of random length, with flushes, changed settings and copied
 * streams between them, and little room for output; `header`: with a gzip header of the caller;
 * `compress`: in one call of compress2; or `file`: by the functions that write gzip files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define MAX (4 << 20)

static unsigned char in[MAX], out[MAX + MAX / 64 + 1024];
static unsigned seed;

static unsigned noise(unsigned below)
{
	seed = seed * 1664525u + 1013904223u;
	return (unsigned)(((unsigned long long)seed * below) >> 32);
}

static void check(int holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "%s\n", what);
		exit(1);
	}
}

static void emit(const void *bytes, size_t len)
{
	check(fwrite(bytes, 1, len, stdout) == len, "standard output");
}

/* Calls deflate with `room` bytes of output at a time until it is done. */
static void run(z_stream *z, int flush, size_t room)
{
	int code;

	do {
		unsigned char *exact = malloc(room);

		check(exact != NULL, "memory");
		z->next_out = exact;
		z->avail_out = (uInt)room;
		code = deflate(z, flush);
		check(code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR, "deflate");
		emit(exact, room - z->avail_out);
		free(exact);
	} while (z->avail_out == 0);
	check(z->avail_in == 0 && (flush != Z_FINISH) == (code != Z_STREAM_END), "all is done");
}

static void pieces(z_stream *z, size_t len)
{
	static const int flushes[] = {Z_NO_FLUSH, Z_NO_FLUSH, Z_PARTIAL_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_BLOCK};
	size_t at, piece;

	for (at = 0; at < len; at += piece) {
		piece = 1 + noise(noise(3) ? 2000 : 90000);
		if (piece > len - at)
			piece = len - at;
		/* In a block of exactly this size, sanitizers and valgrind find reads beyond it. */
		z->next_in = malloc(piece);
		check(z->next_in != NULL, "memory");
		memcpy(z->next_in, in + at, piece);
		unsigned char *exact = z->next_in;
		z->avail_in = (uInt)piece;
		run(z, flushes[noise(6)], noise(4) ? 20000 : 7 + noise(100));
		free(exact);
		if (noise(8) == 0) {
			z_stream copy;

			check(deflateCopy(&copy, z) == Z_OK, "deflateCopy");
			deflateEnd(z);
			*z = copy;
			/* zlib streams must not move, so this one is copied back. */
			check(deflateCopy(z, &copy) == Z_OK, "deflateCopy");
			deflateEnd(&copy);
		}
		if (noise(8) == 0) {
			z->next_out = out;
			z->avail_out = sizeof(out);
			check(deflateParams(z, (int)noise(10), Z_DEFAULT_STRATEGY) == Z_OK, "deflateParams");
			emit(out, sizeof(out) - z->avail_out);
		}
	}
	run(z, Z_FINISH, 1 + noise(1000));
}

int main(int argc, char **argv)
{
	z_stream z;
	size_t len = fread(in, 1, sizeof(in), stdin);
	int level, code;

	check(argc == 4 && len < sizeof(in), "usage, or too much input");
	level = atoi(argv[2]);
	seed = (unsigned)atoi(argv[3]);
	memset(&z, 0, sizeof(z));
	if (strcmp(argv[1], "pieces") == 0) {
		check(deflateInit2(&z, level, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK, "deflateInit2");
		pieces(&z, len);
		code = deflateEnd(&z);
		check(code == Z_OK, "deflateEnd");
	} else if (strcmp(argv[1], "header") == 0) {
		gz_header header;

		memset(&header, 0, sizeof(header));
		header.name = (Bytef *)"a name";
		check(deflateInit2(&z, level, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK, "deflateInit2");
		check(deflateSetHeader(&z, &header) == Z_OK, "deflateSetHeader");
		z.next_in = in;
		z.avail_in = (uInt)len;
		run(&z, Z_FINISH, 5000);
		check(deflateEnd(&z) == Z_OK, "deflateEnd");
	} else if (strcmp(argv[1], "compress") == 0) {
		uLongf got = compressBound((uLong)len);

		check(compress2(out, &got, in, (uLong)len, level) == Z_OK, "compress2");
		emit(out, got);
	} else {
		char mode[] = {'w', 'b', (char)('0' + level), 0};
		gzFile file = gzdopen(dup(1), mode);

		check(file != NULL && gzwrite(file, in, (unsigned)(len / 2)) == (int)(len / 2), "gzwrite");
		check(gzflush(file, Z_SYNC_FLUSH) == Z_OK, "gzflush");
		check(gzsetparams(file, 3, Z_DEFAULT_STRATEGY) == Z_OK, "gzsetparams");
		check(gzwrite(file, in + len / 2, (unsigned)(len - len / 2)) == (int)(len - len / 2), "gzwrite");
		check(gzclose(file) == Z_OK, "gzclose");
	}
	return fflush(stdout) != 0;
}
