/* Writes SST files through the C API of RocksDB:
 *
 *     writer table FILE [NAME=VALUE]...     one file, through SstFileWriter
 *     writer db FOLDER [NAME=VALUE]...      a database, flushed once into one file
 *     writer is-11                          exits with 0 if the library is RocksDB 11, else with 1
 *
 * Records come from standard input. Each is a letter (p put, d delete, s single delete, m merge,
 * r delete the range from key to value, x snapshot), then a key, then a value. The length of each,
 * a little-endian u32, precedes its bytes. A record that needs no key or value has empty ones.
 * The names are those of `choices`. */
#include <rocksdb/c.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct choice {
  const char *name;
  long value;
};

static struct choice choices[] = {
    {"version", 5},        {"checksum", 4},      {"compression", 7}, {"level", 3},
    {"dict", 0},           {"train", 0},         {"trainer", 1},     {"block", 4096},
    {"restart", 16},       {"index_restart", 1}, {"index", 0},       {"part", 4096},
    {"delta", 1},          {"hash", 0},          {"filter", 0},      {"reverse", 0},
    {"prefix", 0},         {"separate", 0},      {"uniform", 0},     {NULL, 0},
};

static long *find(const char *name) {
  for (struct choice *c = choices; c->name; c++)
    if (strcmp(c->name, name) == 0) return &c->value;
  fprintf(stderr, "writer: there is no choice %s\n", name);
  exit(2);
}

static void check(char *error) {
  if (!error) return;
  fprintf(stderr, "writer: %s\n", error);
  exit(1);
}

static int reversed(void *state, const char *a, size_t alen, const char *b, size_t blen) {
  (void)state;
  int order = memcmp(b, a, alen < blen ? alen : blen);
  return order ? order : (blen > alen) - (blen < alen);
}

static const char *reversed_name(void *state) {
  (void)state;
  return "rocksdb.ReverseBytewiseComparator";
}

static void nothing(void *state) { (void)state; }

/* These functions are missing in RocksDB 6, so they are weak: their addresses are then null. */
extern void rocksdb_block_based_options_set_checksum(rocksdb_block_based_table_options_t *, char)
    __attribute__((weak));
extern void rocksdb_singledelete(rocksdb_t *, const rocksdb_writeoptions_t *, const char *, size_t, char **)
    __attribute__((weak));
extern void rocksdb_options_set_compression_options_use_zstd_dict_trainer(rocksdb_options_t *, unsigned char)
    __attribute__((weak));
extern void rocksdb_sstfilewriter_delete_range(rocksdb_sstfilewriter_t *, const char *, size_t, const char *, size_t,
                                               char **) __attribute__((weak));

/* These functions are new in RocksDB 11. Older headers and libraries lack them. */
extern void rocksdb_block_based_options_set_separate_key_value_in_data_block(
    rocksdb_block_based_table_options_t *, unsigned char) __attribute__((weak));
extern void rocksdb_block_based_options_set_uniform_cv_threshold(rocksdb_block_based_table_options_t *,
                                                                 double) __attribute__((weak));

static int is_11(void) {
  return rocksdb_block_based_options_set_separate_key_value_in_data_block &&
         rocksdb_block_based_options_set_uniform_cv_threshold;
}

static void set_new(rocksdb_block_based_table_options_t *table) {
  if ((*find("separate") || *find("uniform")) && !is_11()) {
    fprintf(stderr, "writer: this RocksDB is older than 11\n");
    exit(1);
  }
  if (*find("separate")) rocksdb_block_based_options_set_separate_key_value_in_data_block(table, 1);
  /* With so high a limit, RocksDB takes the keys of every index for uniform. */
  if (*find("uniform")) rocksdb_block_based_options_set_uniform_cv_threshold(table, 1e9);
}

static rocksdb_options_t *options(void) {
  rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
  rocksdb_block_based_options_set_format_version(table, (int)*find("version"));
  if (rocksdb_block_based_options_set_checksum)
    rocksdb_block_based_options_set_checksum(table, (char)*find("checksum"));
  rocksdb_block_based_options_set_block_size(table, (size_t)*find("block"));
  rocksdb_block_based_options_set_block_restart_interval(table, (int)*find("restart"));
  rocksdb_block_based_options_set_index_block_restart_interval(table, (int)*find("index_restart"));
  rocksdb_block_based_options_set_index_type(table, (int)*find("index"));
  rocksdb_block_based_options_set_metadata_block_size(table, (uint64_t)*find("part"));
  rocksdb_block_based_options_set_use_delta_encoding(table, (unsigned char)*find("delta"));
  if (*find("hash")) {
    rocksdb_block_based_options_set_data_block_index_type(table, 1);
    rocksdb_block_based_options_set_data_block_hash_ratio(table, 0.75);
  }
  set_new(table);
  if (*find("filter"))
    rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom(10));

  rocksdb_options_t *o = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(o, 1);
  rocksdb_options_set_compression(o, (int)*find("compression"));
  rocksdb_options_set_compression_options(o, -14, (int)*find("level"), 0, (int)*find("dict"));
  rocksdb_options_set_compression_options_zstd_max_train_bytes(o, (int)*find("train"));
  if (rocksdb_options_set_compression_options_use_zstd_dict_trainer)
    rocksdb_options_set_compression_options_use_zstd_dict_trainer(o, (unsigned char)*find("trainer"));
  if (*find("prefix"))
    rocksdb_options_set_prefix_extractor(o, rocksdb_slicetransform_create_fixed_prefix(*find("prefix")));
  if (*find("reverse"))
    rocksdb_options_set_comparator(o, rocksdb_comparator_create(NULL, nothing, reversed, reversed_name));
  rocksdb_options_set_block_based_table_factory(o, table);
  return o;
}

struct record {
  int letter;
  char *text[2];
  size_t len[2];
};

static int next(struct record *r) {
  r->letter = getchar();
  if (r->letter == EOF) return 0;
  for (int i = 0; i < 2; i++) {
    unsigned char size[4];
    if (fread(size, 1, 4, stdin) != 4) exit(3);
    r->len[i] = size[0] | size[1] << 8 | size[2] << 16 | (size_t)size[3] << 24;
    r->text[i] = realloc(r->text[i], r->len[i] + 1);
    if (fread(r->text[i], 1, r->len[i], stdin) != r->len[i]) exit(3);
  }
  return 1;
}

static void write_table(const char *path) {
  char *error = NULL;
  rocksdb_options_t *o = options();
  rocksdb_sstfilewriter_t *w = rocksdb_sstfilewriter_create(rocksdb_envoptions_create(), o);
  rocksdb_sstfilewriter_open(w, path, &error);
  check(error);
  struct record r = {0};
  while (next(&r)) {
    const char *k = r.text[0], *v = r.text[1];
    switch (r.letter) {
      case 'p': rocksdb_sstfilewriter_put(w, k, r.len[0], v, r.len[1], &error); break;
      case 'd': rocksdb_sstfilewriter_delete(w, k, r.len[0], &error); break;
      case 'm': rocksdb_sstfilewriter_merge(w, k, r.len[0], v, r.len[1], &error); break;
      case 'r': rocksdb_sstfilewriter_delete_range(w, k, r.len[0], v, r.len[1], &error); break;
      default: exit(3);
    }
    check(error);
  }
  rocksdb_sstfilewriter_finish(w, &error);
  check(error);
  rocksdb_sstfilewriter_destroy(w);
}

/* Snapshots keep what was written before them, so that a key has several entries. */
static void write_db(const char *folder) {
  char *error = NULL;
  rocksdb_options_t *o = options();
  rocksdb_t *db = rocksdb_open(o, folder, &error);
  check(error);
  rocksdb_writeoptions_t *w = rocksdb_writeoptions_create();
  const rocksdb_snapshot_t *kept[64];
  int snapshots = 0;
  struct record r = {0};
  while (next(&r)) {
    const char *k = r.text[0], *v = r.text[1];
    switch (r.letter) {
      case 'p': rocksdb_put(db, w, k, r.len[0], v, r.len[1], &error); break;
      case 'd': rocksdb_delete(db, w, k, r.len[0], &error); break;
      case 's': rocksdb_singledelete(db, w, k, r.len[0], &error); break;
      case 'r': {
        rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
        rocksdb_writebatch_delete_range(batch, k, r.len[0], v, r.len[1]);
        rocksdb_write(db, w, batch, &error);
        rocksdb_writebatch_destroy(batch);
        break;
      }
      case 'x':
        if (snapshots == 64) exit(3);
        kept[snapshots++] = rocksdb_create_snapshot(db);
        break;
      default: exit(3);
    }
    check(error);
  }
  rocksdb_flushoptions_t *f = rocksdb_flushoptions_create();
  rocksdb_flush(db, f, &error);
  check(error);
  while (snapshots) rocksdb_release_snapshot(db, kept[--snapshots]);
  rocksdb_close(db);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "is-11") == 0) return !is_11();
  if (argc < 3) return 2;
  for (int i = 3; i < argc; i++) {
    char *equals = strchr(argv[i], '=');
    if (!equals) return 2;
    *equals = 0;
    *find(argv[i]) = atol(equals + 1);
  }
  if (strcmp(argv[1], "table") == 0)
    write_table(argv[2]);
  else if (strcmp(argv[1], "db") == 0)
    write_db(argv[2]);
  else
    return 2;
  return 0;
}
