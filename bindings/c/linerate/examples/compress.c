/* Compresses standard input to standard output as gzip, 16 KiB at a time: cc compress.c -llinerate */
#include <linerate.h>
#include <stdio.h>

int main(void)
{
	static uint8_t in[16384], out[16384 + 64];
	linerate_scratch scratch;
	linerate_deflater stream;
	linerate_error error = linerate_scratch_new(LINERATE_ENGINE_DEFLATE, &scratch);
	size_t got, written;

	if (!error.kind)
		error = linerate_deflater_init(&stream, LINERATE_GZIP, 2);
	while (!error.kind && (got = fread(in, 1, sizeof(in), stdin)) > 0) {
		error = linerate_deflater_encode(&stream, scratch, in, got, out, sizeof(out), true, &written);
		if (!error.kind && fwrite(out, 1, written, stdout) != written)
			return 1;
	}
	if (!error.kind)
		error = linerate_deflater_finish(&stream, out, sizeof(out), &written);
	if (error.kind)
		fprintf(stderr, "%s\n", error.message);
	else if (fwrite(out, 1, written, stdout) != written || fflush(stdout) != 0)
		return 1;
	linerate_scratch_free(scratch);
	return error.kind;
}
