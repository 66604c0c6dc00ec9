/* A store of dictionaries. Each frame of standard input is a block that was compressed with a
 * dictionary: the text of the first argument itself, not a file. Decodes the blocks to standard
 * output in batches of eight, and checks that each gives the same bytes if it is decoded alone. */
#include "check.h"

#define BLOCK 4096

int main(int argc, char **argv)
{
	static uint8_t out[8][BLOCK], one[BLOCK];
	static linerate_job jobs[8];
	const uint8_t *text = (const uint8_t *)(argc > 1 ? argv[1] : "");
	linerate_zstd_options headers = linerate_zstd_defaults();
	linerate_store_options options = linerate_store_defaults();
	linerate_zstd_frame frame;
	linerate_store store;
	linerate_store_stats stats;
	linerate_block_decoder decoder;
	size_t len, at = 0, count, i, written;
	uint8_t *in = input(&len);
	uint64_t dictionary;

	options.table_budget = 1 << 20;
	options.huge_pages = 0;
	check(linerate_store_new(&options, &store));
	check(linerate_store_insert(store, text, strlen((const char *)text), &dictionary));
	check(linerate_block_decoder_new(store, &decoder));
	while (at < len) {
		for (count = 0; count < 8 && at < len; count++, at += frame.compressed) {
			check(linerate_zstd_frame_info(&headers, in + at, len - at, &frame));
			jobs[count].dictionary = dictionary;
			jobs[count].block = in + at;
			jobs[count].len = frame.compressed;
			jobs[count].out = out[count];
			jobs[count].capacity = BLOCK;
		}
		check(linerate_block_decoder_batch(decoder, jobs, count, LINERATE_ORDER_ANY));
		for (i = 0; i < count; i++) {
			check(jobs[i].error);
			emit(out[i], jobs[i].written);
			check(linerate_block_decoder_decode(decoder, dictionary, jobs[i].block, jobs[i].len, one, BLOCK, &written));
			require(written == jobs[i].written && memcmp(one, out[i], written) == 0, "one by one it is the same");
		}
	}
	check(linerate_store_get_stats(store, &stats));
	require(stats.dictionaries == 1 && stats.evictions == 0, "one dictionary");
	check(linerate_store_release(store, dictionary));
	check(linerate_store_free(store)); /* The decoder keeps the content alive. */
	check(linerate_block_decoder_free(decoder));
	free(in);
	return fflush(stdout) != 0;
}
