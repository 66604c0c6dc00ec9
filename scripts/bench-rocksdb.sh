#!/usr/bin/env bash
# bench-rocksdb.sh FOLDER [--quick]: reads databases of many small SST files, each with a dictionary of its own, by RocksDB
# itself, by libzstd with digested dictionaries, and by the plugin; databases are made in FOLDER, some GB, unless they are
# there. Prints JSON Lines. --quick does three cases.
set -euo pipefail
folder=$(realpath -m "${1:?usage: bench-rocksdb.sh FOLDER [--quick]}")
quick=${2:-}
cd "$(dirname "$0")/.."

scripts/setup.sh rust cc cxx java python3 rocksdb-11 >&2
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
rocksdb=$target/rocksdb
export ROCKSDB_INCLUDE=$rocksdb/include
plugin=$target/rocksdb-plugin
scripts/rocksdb-plugin.sh "$plugin" >&2
program=$plugin/bench
"${CXX:-c++}" -std=c++20 -O2 -fno-rtti -isystem "$ROCKSDB_INCLUDE" -I bindings/rocksdb/plugin/include bench/rocksdb/plugin.cpp \
  "$plugin/liblinerate_rocksdb.so" "$rocksdb/librocksdb.so" "-Wl,-rpath,$plugin:$rocksdb" -lpthread -o "$program"
# Every file of a database is open.
ulimit -n "$(ulimit -Hn)"

version=$(sed -n 's/.*ROCKSDB_\(MAJOR\|MINOR\|PATCH\) \([0-9]*\)$/\2/p' "$ROCKSDB_INCLUDE/rocksdb/version.h" | paste -sd.)
mkdir -p "$folder"
python3 bench/lines.py "make bench-rocksdb${quick:+ FLAGS=$quick}" "rocksdb=$version"

measure() { # OPTION...
  "$program" "$@" "$folder"
}

measure --files 1500
measure --files 1500 --operation multiget --operations 100
measure --files 1500 --operation iterate --operations 400
if [ "$quick" = --quick ]; then exit; fi
for files in 150 5000; do measure --files "$files"; done
measure --files 5000 --operation multiget --operations 100
for dictionary in 4096 16384; do measure --files 1500 --dictionary "$dictionary"; done
measure --files 1500 --block 8192 --rows 400
measure --files 1500 --kind text
measure --files 1500 --kind tuples --rows 2000
for cache in 10 50; do measure --files 1500 --cache "$cache"; done
for reads in read direct; do measure --files 1500 --reads "$reads"; done
# Where there is nothing to gain, nothing may be lost.
measure --files 1500 --dictionary 0
measure --files 1500 --dictionary 0 --block 16384
for compression in kZlibCompression kLZ4Compression kNoCompression; do
  measure --files 1500 --dictionary 0 --compression "$compression"
done
