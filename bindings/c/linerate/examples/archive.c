/* Nx archives: lists the archive named by the first argument, reads its first file whole and in
 * ranges, verifies all files on two threads, and extracts them to the folder named by the second
 * argument. With a third argument it cancels the verification. */
#include "check.h"

static int on_progress(void *context, const linerate_archive_progress *progress)
{
	return context == NULL || progress->bytes > progress->total_bytes;
}

static void on_failure(void *context, const char *path, size_t len, linerate_error error)
{
	(void)context;
	printf("%.*s: %s\n", (int)len, path, error.message);
}

int main(int argc, char **argv)
{
	linerate_archive_options options = linerate_archive_defaults();
	linerate_run_options how = linerate_run_defaults();
	linerate_archive archive, again;
	linerate_archive_file file;
	linerate_run_report report;
	size_t count, index, len, written, at;
	uint8_t *whole, *part, *bytes;
	char path[256];

	require(argc > 2, "usage: archive FILE FOLDER [cancel]");
	check(linerate_archive_open(argv[1], &options, &archive));
	check(linerate_archive_count(archive, &count));
	for (index = 0; index < count; index++) {
		check(linerate_archive_get(archive, index, &file));
		check(linerate_archive_path(archive, index, path, sizeof(path)));
		printf("%8lu %s\n", (unsigned long)file.size, path);
	}
	check(linerate_archive_path(archive, 0, path, sizeof(path)));
	check(linerate_archive_find(archive, path, strlen(path), &index));
	check(linerate_archive_get(archive, index, &file));
	whole = (uint8_t *)malloc(file.size);
	part = (uint8_t *)malloc(1000);
	require(whole && part, "out of memory");
	check(linerate_archive_read(archive, index, whole, file.size, &written));
	for (at = 0; at < file.size; at += written) {
		check(linerate_archive_read_range(archive, index, at, part, 1000, &written));
		require(written > 0 && memcmp(whole + at, part, written) == 0, "a range of the file");
	}

	how.threads = 2;
	how.on_progress = on_progress;
	how.on_failure = on_failure;
	how.context = argc > 3 ? &how : NULL;
	check(linerate_archive_verify(archive, &how, &report));
	printf("verified %lu, failed %lu, stopped %d\n", (unsigned long)report.files, (unsigned long)report.failures, report.stopped);
	how.context = NULL;
	how.existing = LINERATE_EXISTING_SKIP;
	check(linerate_archive_extract(archive, argv[2], &how, &report));
	printf("extracted %lu, failed %lu, skipped %lu\n", (unsigned long)report.files, (unsigned long)report.failures,
	       (unsigned long)report.skipped);
	check(linerate_archive_free(archive));

	bytes = input(&len); /* Standard input is the same archive. */
	check(linerate_archive_open_memory(bytes, len, &options, &again));
	check(linerate_archive_read(again, index, whole, file.size, &written));
	check(linerate_archive_free(again));
	free(bytes);
	free(whole);
	free(part);
	return fflush(stdout) != 0;
}
