/* Decompresses one gzip or zlib stream from standard input to standard output: cc decompress.c -llinerate */
#include <linerate.h>
#include <stdio.h>

int main(void)
{
	static uint8_t in[16384], out[65536];
	linerate_inflate_options options = linerate_inflate_defaults(LINERATE_ZLIB_OR_GZIP);
	linerate_progress done = {0, 0, LINERATE_NEED_INPUT};
	linerate_scratch scratch;
	linerate_inflater inflater = {0};
	linerate_error error = linerate_scratch_new(LINERATE_ENGINE_INFLATE, &scratch);
	size_t got = 0, at = 0;

	if (!error.kind)
		error = linerate_inflater_new(&options, &inflater);
	while (!error.kind && (done.status == LINERATE_NEED_INPUT || done.status == LINERATE_NEED_OUTPUT)) {
		if (at == got && done.status == LINERATE_NEED_INPUT) {
			at = 0;
			if ((got = fread(in, 1, sizeof(in), stdin)) == 0)
				break;
		}
		error = linerate_inflater_decode(inflater, scratch, in + at, got - at, out, sizeof(out), &done);
		at += done.read;
		if (!error.kind && fwrite(out, 1, done.written, stdout) != done.written)
			return 1;
	}
	if (error.kind)
		fprintf(stderr, "%s\n", error.message);
	else if (done.status != LINERATE_END)
		fprintf(stderr, "the input ends early\n");
	linerate_inflater_free(inflater);
	linerate_scratch_free(scratch);
	return error.kind || done.status != LINERATE_END || fflush(stdout) != 0;
}
