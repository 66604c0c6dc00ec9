/* Compresses standard input to standard output as gzip, 16 KiB at a time: cc compress.c -lslz */
#include <slz.h>
#include <stdio.h>

int main(void)
{
	static unsigned char in[16384], out[16384 + 5 + 10 + 20];
	struct slz_stream stream;
	size_t got;

	slz_init(&stream, 1, SLZ_FMT_GZIP);
	while ((got = fread(in, 1, sizeof(in), stdin)) > 0) {
		long written = slz_encode(&stream, out, in, (long)got, 1);

		if (fwrite(out, 1, (size_t)written, stdout) != (size_t)written)
			return 1;
	}
	got = (size_t)slz_finish(&stream, out);
	return fwrite(out, 1, got, stdout) != got || fflush(stdout) != 0;
}
