/* Helpers of the examples. Any error ends the program with status 1. */
#include <linerate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void check(linerate_error error)
{
	char text[256];

	if (error.kind == LINERATE_OK)
		return;
	linerate_error_text(error, text, sizeof(text));
	fprintf(stderr, "%s: %s\n", linerate_kind_name(error.kind), text);
	exit(1);
}

static inline void require(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static inline void emit(const uint8_t *bytes, size_t len)
{
	require(fwrite(bytes, 1, len, stdout) == len, "cannot write standard output");
}

/* Returns all of standard input, in memory that the caller frees, and stores its size in len. */
static inline uint8_t *input(size_t *len)
{
	size_t capacity = 1 << 16, got;
	uint8_t *bytes = (uint8_t *)malloc(capacity);

	for (*len = 0; bytes && (got = fread(bytes + *len, 1, capacity - *len, stdin)) > 0;)
		if ((*len += got) == capacity)
			bytes = (uint8_t *)realloc(bytes, capacity *= 2);
	require(bytes != NULL, "out of memory");
	return bytes;
}
