/* zstd: decodes all frames of standard input to standard output through a buffer of 4 KiB. The text
 * of the first argument, if any, is the dictionary itself, not the name of a file. Then decodes the
 * frames one by one, and all of them in one call. */
#include "check.h"

int main(int argc, char **argv)
{
	static uint8_t out[4096];
	const uint8_t *text = (const uint8_t *)(argc > 1 ? argv[1] : "");
	linerate_zstd_options options = linerate_zstd_defaults();
	linerate_zstd_dictionary dictionary = {0};
	linerate_zstd_decoder decoder;
	linerate_zstd_frame frame;
	linerate_scratch scratch;
	linerate_progress progress = {0, 0, LINERATE_NEED_INPUT};
	size_t len, at = 0, total = 0, memory, written;
	uint8_t *in = input(&len), *whole;
	uint32_t id = 1;

	check(linerate_scratch_new(LINERATE_ENGINE_ZSTD, &scratch));
	if (*text) {
		check(linerate_zstd_dictionary_new(text, strlen((const char *)text), &dictionary));
		check(linerate_zstd_dictionary_id(dictionary, &id));
		require(id == 0, "raw content has no id");
	}
	options.window_limit = 1 << 23;
	check(linerate_zstd_decoder_new(&options, dictionary, &decoder));
	while (at < len || progress.status == LINERATE_NEED_OUTPUT) {
		size_t n = len - at < 1000 ? len - at : 1000;

		check(linerate_zstd_decoder_decode(decoder, scratch, in + at, n, out, sizeof(out), &progress));
		emit(out, progress.written);
		at += progress.read;
		total += progress.written;
	}
	require(progress.status == LINERATE_END, "the input ends early");
	check(linerate_zstd_decoder_memory(decoder, &memory));
	check(linerate_zstd_decoder_reset(decoder));
	check(linerate_zstd_decoder_free(decoder));

	whole = (uint8_t *)malloc(total + 1);
	require(whole != NULL, "out of memory");
	for (at = 0, written = 0; at < len; at += progress.read, written += progress.written) {
		check(linerate_zstd_frame_info(&options, in + at, len - at, &frame));
		check(linerate_zstd_decode_frame(scratch, &options, dictionary, in + at, len - at, whole, total + 1, &progress));
		require(progress.read == frame.compressed && progress.written <= frame.bound, "the headers say so");
	}
	require(written == total, "as many bytes frame by frame");
	check(linerate_zstd_decode(scratch, &options, dictionary, in, len, whole, total + 1, &written));
	require(written == total, "as many bytes in one call");
	check(linerate_zstd_dictionary_free(dictionary));
	check(linerate_scratch_free(scratch));
	free(in);
	free(whole);
	return fflush(stdout) != 0;
}
