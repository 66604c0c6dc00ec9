/* Delta-Rice: encodes standard input, int16_t samples, as one version 1 chunk and one version 2
 * stream, and writes the chunk and then the stream. Decodes each again, first all of it, then its
 * second segment alone, and checks the samples. */
#include "check.h"

int main(void)
{
	linerate_rice_params params = linerate_rice_defaults();
	linerate_rice2_options options = {1000, 0, 1};
	linerate_rice2_info info;
	size_t len, count, bytes, written, back;
	uint8_t *in = input(&len), *out;
	int16_t *samples, *again;

	count = len / sizeof(int16_t);
	samples = (int16_t *)malloc(len);
	again = (int16_t *)malloc(len);
	require(samples && again && count > 2000, "out of memory, or too few samples");
	memcpy(samples, in, len);

	params.segment = 1000;
	check(linerate_rice_bound(&params, count, &bytes));
	out = (uint8_t *)malloc(bytes);
	require(out != NULL, "out of memory");
	check(linerate_rice_encode(&params, samples, count, out, bytes, 2, &written));
	emit(out, written);
	check(linerate_rice_samples(out, written, &back));
	require(back == count, "a chunk states its samples");
	check(linerate_rice_decode(&params, out, written, again, count, 1, &back));
	require(back == count && memcmp(samples, again, len) == 0, "version 1 is lossless");
	check(linerate_rice_decode_segments(&params, out, written, 1, 2, again, count, &back));
	require(back == 1000 && memcmp(samples + 1000, again, 2000) == 0, "the second segment");
	free(out);

	check(linerate_rice2_bound(&options, LINERATE_I16, count, &bytes));
	out = (uint8_t *)malloc(bytes);
	require(out != NULL, "out of memory");
	check(linerate_rice2_encode(&options, LINERATE_I16, samples, count, out, bytes, 1, &written));
	emit(out, written);
	check(linerate_rice2_get_info(out, written, &info));
	require(info.samples == count && info.bytes == written && info.element == LINERATE_I16, "a stream describes itself");
	check(linerate_rice2_decode(out, written, LINERATE_I16, again, count, 2, &back));
	require(back == count && memcmp(samples, again, len) == 0, "version 2 is lossless");
	check(linerate_rice2_decode_segments(out, written, 1, 2, LINERATE_I16, again, count, &back));
	require(back == 1000 && memcmp(samples + 1000, again, 2000) == 0, "the second segment");
	free(out);
	free(in);
	free(samples);
	free(again);
	return fflush(stdout) != 0;
}
