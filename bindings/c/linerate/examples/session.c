/* Compresses the messages of one connection, the lines of standard input, to a zlib stream on
 * standard output. The window of each is the lines before it and a preset dictionary. */
#include "check.h"

int main(void)
{
	static const uint8_t text[] = "{\"timestamp\":\"2026-11-21T08:\",\"level\":\"INFO\",\"service\":\"";
	linerate_scratch scratch;
	linerate_deflate_dictionary dictionary;
	linerate_session session;
	linerate_session_options options = linerate_session_defaults(LINERATE_ZLIB);
	size_t len, at = 0, written, memory, capacity;
	uint8_t *in = input(&len), *out;

	check(linerate_scratch_new(LINERATE_ENGINE_DEFLATE, &scratch));
	check(linerate_deflate_dictionary_new(text, sizeof(text) - 1, &dictionary));
	options.window_bits = 12;
	options.dictionary = dictionary;
	check(linerate_session_new(&options, &session));
	check(linerate_deflate_dictionary_free(dictionary)); /* The session keeps its content alive. */
	check(linerate_session_memory(session, &memory));
	require(memory > 1 << 12, "a session has a window");
	capacity = linerate_session_bound(len) + linerate_deflater_finish_bound();
	out = (uint8_t *)malloc(capacity);
	require(out != NULL, "out of memory");
	while (at < len) {
		const uint8_t *end = (const uint8_t *)memchr(in + at, '\n', len - at);
		size_t n = end ? (size_t)(end - in) + 1 - at : len - at;

		check(linerate_session_message(session, scratch, in + at, n, out, capacity, &written));
		emit(out, written);
		at += n;
		check(linerate_session_set_level(session, (int32_t)(at % 4)));
	}
	check(linerate_session_finish(session, out, capacity, &written));
	emit(out, written);
	check(linerate_session_free(session));
	check(linerate_scratch_free(scratch));
	free(in);
	free(out);
	return fflush(stdout) != 0;
}
