/* RocksDB's side of the shape `sst` of linerate-bench, through its C API:
 *
 *     sst_cold make FOLDER FILES ROWS DICTIONARY LEVEL
 *         writes FOLDER/tables/00000.sst and so on, each with a dictionary trained on its own rows, and
 *         moves all of them into a database in FOLDER/db without a copy
 *     sst_cold run FOLDER QUERIES MMAP CACHE BATCH
 *         opens the database for reading and prints "ready"; for each line on standard input, looks
 *         up the keys of the file QUERIES and prints nanoseconds of CPU time and of wall time, and
 *         a checksum of the values found
 *
 * QUERIES has pairs of little-endian u32: a file and a row. CACHE is the size of the block cache in bytes. With 0 there
 * is none, and RocksDB holds the index and the dictionary of each file for as long as it is open. BATCH is the number of
 * keys in one MultiGet, 0 for Get. */
#include <rocksdb/c.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static void check(char *error) {
  if (!error) return;
  fprintf(stderr, "sst_cold: %s\n", error);
  exit(1);
}

static uint64_t state;

static unsigned below(unsigned n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (unsigned)((state >> 11) % n);
}

static const char *const WORDS[] = {
    "timeout", "accepted", "session", "retry",  "queue",  "disk",   "index",  "flush",  "commit", "replica",
    "leader",  "shard",    "cache",   "worker", "socket", "tenant", "upload", "report", "batch",  "quota",
    "window",  "policy",   "backup",  "export", "rotate", "verify", "select", "cursor", "stream", "digest"};
enum { WORD_COUNT = sizeof WORDS / sizeof *WORDS };

/* Makes a row of a log, of about 360 bytes. Services, hosts and paths differ from file to file. */
static int row(char *out, size_t room, unsigned file) {
  const char *service = WORDS[file % WORD_COUNT], *path = WORDS[file / WORD_COUNT % WORD_COUNT];
  static const char *const LEVELS[] = {"info", "warning", "error", "debug"};
  return snprintf(
      out, room,
      "{\"time\":\"2026-03-%02uT%02u:%02u:%02u.%03uZ\",\"service\":\"%s-%u\",\"host\":\"node-%03u.%s.example\","
      "\"level\":\"%s\",\"trace\":\"%08x%08x\",\"request\":{\"method\":\"%s\",\"path\":\"/v1/%s/%s/%u\","
      "\"status\":%u,\"bytes\":%u,\"ms\":%u.%02u},\"user\":{\"id\":%u,\"name\":\"%s.%s\",\"plan\":\"%s\"},"
      "\"message\":\"%s %s %s after %s\",\"tags\":[\"%s\",\"%s\"]}",
      1 + below(28), below(24), below(60), below(60), below(1000), service, file % 7, below(40), path,
      LEVELS[below(4)], (unsigned)state, (unsigned)(state >> 32), below(3) ? "GET" : "POST", path, service,
      below(100000), below(8) ? 200 : 503, below(60000), below(900), below(100), below(1000000),
      WORDS[below(WORD_COUNT)], WORDS[below(WORD_COUNT)], below(3) ? "free" : "team", WORDS[below(WORD_COUNT)],
      WORDS[below(WORD_COUNT)], WORDS[below(WORD_COUNT)], WORDS[below(WORD_COUNT)], WORDS[below(WORD_COUNT)],
      WORDS[below(WORD_COUNT)]);
}

static size_t key_of(char *out, unsigned file, unsigned row) {
  return (size_t)sprintf(out, "%05u/%06u", file, row);
}

static rocksdb_options_t *options(size_t cache, int mmap, int dictionary, int level) {
  rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
  rocksdb_block_based_options_set_format_version(table, 5);
  rocksdb_block_based_options_set_block_size(table, 4096);
  if (cache)
    rocksdb_block_based_options_set_block_cache(table, rocksdb_cache_create_lru(cache));
  else
    rocksdb_block_based_options_set_no_block_cache(table, 1);
  rocksdb_options_t *o = rocksdb_options_create();
  rocksdb_options_set_compression(o, rocksdb_zstd_compression);
  rocksdb_options_set_compression_options(o, -14, level, 0, dictionary);
  rocksdb_options_set_compression_options_zstd_max_train_bytes(o, dictionary * 16);
  rocksdb_options_set_allow_mmap_reads(o, (unsigned char)mmap);
  rocksdb_options_set_max_open_files(o, -1);
  rocksdb_options_set_create_if_missing(o, 1);
  rocksdb_options_set_block_based_table_factory(o, table);
  return o;
}

static void make(const char *folder, unsigned files, unsigned rows, int dictionary, int level) {
  char path[4096], key[64], value[1024];
  char *error = NULL;
  const char **all = malloc(files * sizeof *all);
  snprintf(path, sizeof path, "%s/tables", folder);
  mkdir(path, 0777);
  rocksdb_options_t *o = options(0, 0, dictionary, level);
  for (unsigned file = 0; file < files; file++) {
    state = 0x9e3779b97f4a7c15u * (file + 1);
    snprintf(path, sizeof path, "%s/tables/%05u.sst", folder, file);
    rocksdb_sstfilewriter_t *w = rocksdb_sstfilewriter_create(rocksdb_envoptions_create(), o);
    rocksdb_sstfilewriter_open(w, path, &error);
    check(error);
    for (unsigned i = 0; i < rows; i++) {
      size_t len = key_of(key, file, i);
      rocksdb_sstfilewriter_put(w, key, len, value, (size_t)row(value, sizeof value, file), &error);
      check(error);
    }
    rocksdb_sstfilewriter_finish(w, &error);
    check(error);
    rocksdb_sstfilewriter_destroy(w);
    all[file] = strdup(path);
  }
  snprintf(path, sizeof path, "%s/db", folder);
  rocksdb_t *db = rocksdb_open(o, path, &error);
  check(error);
  rocksdb_ingestexternalfileoptions_t *how = rocksdb_ingestexternalfileoptions_create();
  rocksdb_ingestexternalfileoptions_set_move_files(how, 1);
  rocksdb_ingest_external_file(db, all, files, how, &error);
  check(error);
  rocksdb_close(db);
}

static uint64_t now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A checksum of a value. linerate-bench computes the same, and compares the sums. */
static uint64_t seen(const char *value, size_t len) {
  return len + 1000003u * (unsigned char)value[len / 3] + 7919u * (unsigned char)value[len - 30];
}

enum { MOST = 1024 };

static void run(const char *folder, const char *queries, int mmap, size_t cache, unsigned batch) {
  char path[4096];
  char *error = NULL;
  uint32_t *pairs;
  long count;
  FILE *f = fopen(queries, "rb");
  if (!f || batch > MOST) exit(2);
  fseek(f, 0, SEEK_END);
  count = ftell(f) / 8;
  rewind(f);
  pairs = malloc((size_t)count * 8);
  if (fread(pairs, 8, (size_t)count, f) != (size_t)count) exit(2);
  fclose(f);
  char(*keys)[24] = malloc((size_t)count * sizeof *keys);
  size_t *lens = malloc((size_t)count * sizeof *lens);
  for (long i = 0; i < count; i++) lens[i] = key_of(keys[i], pairs[2 * i], pairs[2 * i + 1]);

  snprintf(path, sizeof path, "%s/db", folder);
  rocksdb_options_t *o = options(cache, mmap, 0, 3);
  const char *names[] = {"default"};
  const rocksdb_options_t *each[] = {o};
  rocksdb_column_family_handle_t *family;
  rocksdb_t *db = rocksdb_open_for_read_only_column_families(o, path, 1, names, each, &family, 0, &error);
  check(error);
  rocksdb_readoptions_t *r = rocksdb_readoptions_create();
  const char *at[MOST];
  rocksdb_pinnableslice_t *values[MOST];
  char *errors[MOST];
  puts("ready");
  fflush(stdout);
  for (int c = getchar(); c != EOF; c = getchar()) {
    if (c != '\n') continue;
    uint64_t sum = 0, cpu = now(CLOCK_THREAD_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
    for (long i = 0; i < count;) {
      unsigned n = batch ? batch : 1;
      if (n > count - i) n = (unsigned)(count - i);
      for (unsigned j = 0; j < n; j++) {
        at[j] = keys[i + j];
        errors[j] = NULL;
      }
      if (batch) {
        rocksdb_batched_multi_get_cf(db, r, family, n, at, lens + i, values, errors, 0);
      } else {
        values[0] = rocksdb_get_pinned_cf(db, r, family, keys[i], lens[i], &errors[0]);
      }
      for (unsigned j = 0; j < n; j++) {
        size_t len = 0;
        check(errors[j]);
        const char *value = rocksdb_pinnableslice_value(values[j], &len);
        if (!value || len < 30) exit(3);
        sum += seen(value, len);
        rocksdb_pinnableslice_destroy(values[j]);
      }
      i += n;
    }
    cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
    wall = now(CLOCK_MONOTONIC) - wall;
    printf("%llu %llu %llu\n", (unsigned long long)cpu, (unsigned long long)wall, (unsigned long long)sum);
    fflush(stdout);
  }
  rocksdb_column_family_handle_destroy(family);
  rocksdb_close(db);
}

int main(int argc, char **argv) {
  if (argc == 7 && strcmp(argv[1], "make") == 0)
    make(argv[2], (unsigned)atoi(argv[3]), (unsigned)atoi(argv[4]), atoi(argv[5]), atoi(argv[6]));
  else if (argc == 7 && strcmp(argv[1], "run") == 0)
    run(argv[2], argv[3], atoi(argv[4]), (size_t)atoll(argv[5]), (unsigned)atoi(argv[6]));
  else
    return 2;
  return 0;
}
