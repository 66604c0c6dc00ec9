/* Writes Nx archives.
 * "pack TARGET FOLDER" packs a folder and prints the progress; with "cancel" it stops halfway.
 * "pack TARGET FOLDER update PATH" deletes PATH, a file or folder of the archive, and adds the
 * files of the folder, in place of those with the same paths.
 * "pack TARGET ARCHIVE merge ARCHIVE" merges two archives. */
#include "check.h"

/* Called by one thread at a time. Returning 0 cancels. */
static int on_progress(void *context, const linerate_pack_progress *progress)
{
	const int *stops = (const int *)context;
	const unsigned long percent = progress->total_bytes ? (unsigned long)(100 * progress->bytes / progress->total_bytes) : 0;

	fprintf(stderr, "\r%3lu %% ", percent);
	return !(*stops && percent >= 50);
}

static linerate_error pack(const char *folder, const char *target, linerate_pack_options *options, linerate_pack_report *report)
{
	options->preset = LINERATE_PRESET_FAST_LOAD;
	options->level = 3;
	options->threads = 2;
	options->on_progress = on_progress;
	return linerate_archive_pack(&folder, 1, target, options, report);
}

static int choose(void *context, const char *path, size_t len)
{
	(void)context;
	return len < 4 || memcmp(path + len - 4, ".bak", 4) != 0;
}

static void on_failure(void *context, const char *path, size_t len, linerate_error error)
{
	(void)context;
	printf("%.*s: %s\n", (int)len, path, error.message);
}

int main(int argc, char **argv)
{
	linerate_pack_options options = linerate_pack_defaults();
	linerate_pack_report report;
	linerate_error error;
	int stops = argc == 4 && strcmp(argv[3], "cancel") == 0;
	const char *target, *from[2];

	require(argc > 2, "usage: pack TARGET FOLDER [cancel | update PATH] | pack TARGET ARCHIVE merge ARCHIVE");
	target = argv[1];
	from[0] = argv[2];
	from[1] = argc > 4 ? argv[4] : NULL;
	options.replace = 1;
	options.choose = choose;
	options.on_failure = on_failure;
	options.context = &stops;
	if (argc > 4 && strcmp(argv[3], "merge") == 0)
		error = linerate_archive_merge(from, 2, LINERATE_CLASH_LAST, target, &options, &report);
	else if (argc > 4)
		error = linerate_archive_update(target, from, 1, from + 1, 1, NULL, &options, &report);
	else
		error = pack(from[0], target, &options, &report);
	fputc('\n', stderr);
	check(error);
	printf("%lu files, %lu bytes; %lu left out; %lu added, %lu replaced, %lu unchanged, %lu removed\n", (unsigned long)report.files,
	       (unsigned long)report.bytes, (unsigned long)report.left_out, (unsigned long)report.added, (unsigned long)report.replaced,
	       (unsigned long)report.unchanged, (unsigned long)report.removed);
	return fflush(stdout) != 0;
}
