/* Inflate: decodes all gzip members, or the zlib stream, of standard input to standard output
 * through a buffer of 4 KiB. If the stream requires a preset dictionary, the text of the first
 * argument is that dictionary, not the name of a file. Then decodes the stream, or the first
 * member, in one call. */
#include "check.h"

int main(int argc, char **argv)
{
	static uint8_t out[4096];
	const char *text = argc > 1 ? argv[1] : "";
	linerate_inflate_options options = linerate_inflate_defaults(LINERATE_ZLIB_OR_GZIP);
	linerate_scratch scratch;
	linerate_inflater inflater;
	linerate_progress progress = {0, 0, LINERATE_NEED_INPUT};
	size_t len, at = 0, total = 0, memory;
	uint8_t *in = input(&len), *whole;
	uint32_t id;

	check(linerate_scratch_new(LINERATE_ENGINE_INFLATE, &scratch));
	check(linerate_inflater_new(&options, &inflater));
	while (at < len || progress.status == LINERATE_NEED_OUTPUT) {
		size_t n = len - at < 1000 ? len - at : 1000;

		check(linerate_inflater_decode(inflater, scratch, in + at, n, out, sizeof(out), &progress));
		emit(out, progress.written);
		at += progress.read;
		total += progress.written;
		if (progress.status == LINERATE_NEED_DICTIONARY) {
			check(linerate_inflater_dictionary_id(inflater, &id));
			require(id == linerate_adler32(1, (const uint8_t *)text, strlen(text)), "another dictionary");
			check(linerate_inflater_set_dictionary(inflater, (const uint8_t *)text, strlen(text)));
		} else if (progress.status == LINERATE_END && at < len) {
			check(linerate_inflater_next_member(inflater));
		}
	}
	require(progress.status == LINERATE_END, "the input ends early");
	check(linerate_inflater_memory(inflater, &memory));
	check(linerate_inflater_reset(inflater));
	check(linerate_inflater_free(inflater));

	whole = (uint8_t *)malloc(total + 1);
	require(whole != NULL, "out of memory");
	options.output_limit = total;
	check(linerate_inflate(scratch, &options, (const uint8_t *)text, strlen(text), in, len, whole, total + 1, &progress));
	require(progress.written <= total, "one member is no more than all");
	check(linerate_scratch_free(scratch));
	free(in);
	free(whole);
	return fflush(stdout) != 0;
}
