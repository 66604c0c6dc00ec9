/* gzip files: writes the content of the file named by the first argument, which four threads
 * decode ahead of this one. Then reads the end of the content again, through a function that
 * reads the file and from memory, with the index file named by the second argument, if any. */
#include "check.h"

typedef struct bytes {
	const uint8_t *at;
	size_t len;
} bytes;

/* Reads like pread. Another thread may call it. */
static int64_t read_at(void *context, uint64_t offset, void *buffer, size_t len)
{
	const bytes *file = (const bytes *)context;
	size_t left = offset < file->len ? file->len - (size_t)offset : 0;

	if (len > left)
		len = left;
	memcpy(buffer, file->at + (size_t)offset, len);
	return (int64_t)len;
}

static int64_t fail(void *context, uint64_t offset, void *buffer, size_t len)
{
	(void)context, (void)offset, (void)buffer, (void)len;
	return -1;
}

static uint8_t *whole(const char *path, size_t *len)
{
	FILE *file = freopen(path, "rb", stdin);

	require(file != NULL, "cannot open a file");
	return input(len);
}

int main(int argc, char **argv)
{
	static uint8_t out[300000], end[1000], again[1000];
	linerate_gzip_options options = linerate_gzip_defaults();
	linerate_gzip file, memory;
	size_t written, tail, index_len = 0;
	uint64_t size, position;
	uint8_t *index = NULL, *compressed;
	bytes source;

	require(argc > 1, "usage: gzip FILE [INDEX]");
	options.threads = 4;
	check(linerate_gzip_open(argv[1], &options, &file));
	do {
		check(linerate_gzip_read(file, out, sizeof(out), &written));
		emit(out, written);
	} while (written == sizeof(out));
	check(linerate_gzip_seek(file, 0, SEEK_CUR, &size));
	tail = size < sizeof(end) ? (size_t)size : sizeof(end);
	check(linerate_gzip_seek(file, -(int64_t)tail, SEEK_END, &position));
	check(linerate_gzip_read(file, end, sizeof(end), &written));
	require(written == tail && position == size - tail, "the end of the content");
	check(linerate_gzip_free(file));

	source.at = compressed = whole(argv[1], &source.len);
	if (argc > 2)
		index = whole(argv[2], &index_len);
	options.index = index;
	options.index_len = index_len;
	check(linerate_gzip_open_callback(read_at, &source, source.len, &options, &file));
	check(linerate_gzip_open_memory(source.at, source.len, &options, &memory));
	free(index);
	check(linerate_gzip_seek(file, -(int64_t)tail, SEEK_END, &position));
	check(linerate_gzip_read(file, again, sizeof(again), &written));
	require(written == tail && memcmp(again, end, tail) == 0, "the end again");
	check(linerate_gzip_seek(memory, (int64_t)position, SEEK_SET, &position));
	check(linerate_gzip_read(memory, again, sizeof(again), &written));
	require(written == tail && memcmp(again, end, tail) == 0, "the end from memory");
	check(linerate_gzip_seek(memory, 0, SEEK_SET, &position));
	check(linerate_gzip_read(memory, out, 100, &written));
	/* Frees the file while its threads decode. */
	check(linerate_gzip_free(memory));
	check(linerate_gzip_free(file));

	check(linerate_gzip_open_callback(fail, NULL, 1000, NULL, &file));
	require(linerate_gzip_read(file, out, sizeof(out), &written).kind == LINERATE_READ, "a function that fails");
	check(linerate_gzip_free(file));
	free(compressed);
	return fflush(stdout) != 0;
}
