/* Compresses lines for two listeners, who get every line. A session for each listener compresses
 * it, except for every fourth line: a session without takeover compresses that once for both. One
 * listener's session then remembers the line, and the other's forgets its window. Writes the
 * stream of the first listener or, with the argument `forget`, that of the second. */
#include "check.h"

enum { REMEMBERS, FORGETS, LISTENERS };

int main(int argc, char **argv)
{
	int shown = argc > 1 && !strcmp(argv[1], "forget") ? FORGETS : REMEMBERS;
	linerate_scratch scratch;
	linerate_session sessions[LISTENERS], alone;
	linerate_session_options options = linerate_session_defaults(LINERATE_DEFLATE);
	size_t len, at = 0, line = 0, written, capacity;
	uint8_t *in = input(&len), *out;
	int i;

	check(linerate_scratch_new(LINERATE_ENGINE_DEFLATE, &scratch));
	options.window_bits = 11;
	for (i = 0; i < LISTENERS; i++)
		check(linerate_session_new(&options, &sessions[i]));
	options.takeover = 0; /* Messages do not refer to earlier ones. */
	check(linerate_session_new(&options, &alone));
	capacity = linerate_session_bound(len);
	out = (uint8_t *)malloc(capacity);
	require(out != NULL, "out of memory");
	for (; at < len; line++) {
		const uint8_t *text = in + at, *end = (const uint8_t *)memchr(text, '\n', len - at);
		size_t n = end ? (size_t)(end - text) + 1 : len - at;

		at += n;
		if (line % 4 == 3) {
			check(linerate_session_message(alone, scratch, text, n, out, capacity, &written));
			check(linerate_session_remember(sessions[REMEMBERS], text, n));
			check(linerate_session_forget(sessions[FORGETS]));
			emit(out, written);
			continue;
		}
		for (i = 0; i < LISTENERS; i++) {
			check(linerate_session_message(sessions[i], scratch, text, n, out, capacity, &written));
			if (i == shown)
				emit(out, written);
		}
	}
	for (i = 0; i < LISTENERS; i++)
		check(linerate_session_free(sessions[i]));
	check(linerate_session_free(alone));
	check(linerate_scratch_free(scratch));
	free(in);
	free(out);
	return fflush(stdout) != 0;
}
