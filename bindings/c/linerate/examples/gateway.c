/* Decodes the messages of one connection. On standard input each message follows its length,
 * four little-endian bytes; the payloads go to standard output. The first argument is the number of
 * a linerate_transport. The text of the second is a dictionary for zstd frames, not the name of a
 * file. */
#include "check.h"

int main(int argc, char **argv)
{
	static uint8_t out[512];
	linerate_gateway_options options = linerate_gateway_defaults(argc > 1 ? atoi(argv[1]) : LINERATE_TRANSPORT_ZLIB_STREAM);
	linerate_gateway_dictionaries dictionaries = {0};
	linerate_gateway gateway;
	linerate_scratch scratch;
	linerate_message message;
	linerate_bytes text;
	size_t len, at = 0, memory, written;
	uint8_t *in = input(&len);
	uint64_t messages = 0;

	if (argc > 2) {
		text.at = (const uint8_t *)argv[2];
		text.len = strlen(argv[2]);
		check(linerate_gateway_dictionaries_new(&text, 1, &dictionaries));
	}
	options.encoding = LINERATE_ENCODING_JSON;
	options.check_sequence = 1;
	options.max_message = 1 << 20;
	options.dictionaries = dictionaries;
	check(linerate_gateway_new(&options, &gateway));
	check(linerate_gateway_dictionaries_free(dictionaries)); /* The session keeps their content alive. */
	check(linerate_scratch_new(LINERATE_ENGINE_GATEWAY, &scratch));
	check(linerate_gateway_reset(gateway));
	check(linerate_gateway_resume_after(gateway, 6));
	while (at + 4 <= len) {
		size_t n = in[at] | (size_t)in[at + 1] << 8 | (size_t)in[at + 2] << 16 | (size_t)in[at + 3] << 24;
		linerate_error error;

		at += 4;
		require(n <= len - at, "the input ends early");
		error = linerate_gateway_message(gateway, scratch, in + at, n, out, sizeof(out), &message);
		at += n;
		if (error.kind == LINERATE_OUTPUT_TOO_SMALL) {
			uint8_t *large = (uint8_t *)malloc(message.len);

			require(large != NULL, "out of memory");
			check(linerate_gateway_payload(gateway, large, message.len, &written));
			emit(large, written);
			free(large);
		} else {
			check(error);
			emit(out, message.len);
		}
		require(!message.is_complete || (message.index == messages++ && message.has_op), "messages are counted");
	}
	check(linerate_gateway_memory(gateway, &memory));
	check(linerate_gateway_free(gateway));
	check(linerate_scratch_free(scratch));
	free(in);
	return fflush(stdout) != 0;
}
