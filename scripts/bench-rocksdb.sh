#!/usr/bin/env bash
# bench-rocksdb.sh FOLDER [--quick] [--files "500 1500"]: measures reads from databases of many
# small SST files, each with its own dictionary, by RocksDB itself, by libzstd with digested
# dictionaries and by Linerate's plugin, and of the same rows without dictionaries; also by the
# distribution's RocksDB if its headers are installed. Makes missing databases in FOLDER (5 GB);
# most of the time goes into training dictionaries. --files has the numbers of files. Prints JSON
# Lines. --quick uses fewer files and rounds.
set -euo pipefail
usage='usage: bench-rocksdb.sh FOLDER [--quick] [--files "500 1500"]'
folder=$(realpath -m "${1:?$usage}")
shift
files="500 1500 5000 15000 30000" few=500 some=1500 given=$* options=()
while [ $# -gt 0 ]; do
  case $1 in
    --quick) files="500 1500" few=50 some=200 options=(--count 1500 --rounds 3) ;;
    --files) files=${2:?$usage} && shift ;;
    *) echo "$usage" >&2 && exit 2 ;;
  esac
  shift
done
cd "$(dirname "$0")/.."

scripts/setup.sh rust cc cxx java python3 rocksdb-11 >&2
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
rocksdb=$target/rocksdb
plugin=$target/rocksdb-plugin
ROCKSDB_INCLUDE=$rocksdb/include scripts/rocksdb-plugin.sh "$plugin" >&2
compile() { # OUTPUT ARGUMENT...
  "${CXX:-c++}" -std=c++20 -O2 bench/rocksdb/plugin.cpp "${@:2}" -lpthread -o "$1"
}
compile "$plugin/bench" -fno-rtti -isystem "$rocksdb/include" -I bindings/rocksdb/plugin/include \
  "$plugin/liblinerate_rocksdb.so" "$rocksdb/librocksdb.so" "-Wl,-rpath,$plugin:$rocksdb"
# Files that are read instead of mapped stay open, so as many as possible must be allowed.
ulimit -n "$(ulimit -Hn)"

version_of() { # HEADERS
  sed -n 's/.*ROCKSDB_\(MAJOR\|MINOR\|PATCH\) \([0-9]*\)$/\2/p' "$1/rocksdb/version.h" | paste -sd.
}
mkdir -p "$folder"
measure() { # OPTION...
  "$plugin/bench" "${options[@]}" "$@" "$folder"
}
python3 bench/lines.py "make bench-rocksdb${given:+ FLAGS='$given'}" "rocksdb=$(version_of "$rocksdb/include")"

# Rows that others made: a JSON object for each package that apt knows, and novels.
if command -v apt-cache >/dev/null && [ ! -e "$folder/packages.jsonl" ]; then
  apt-cache dumpavail | python3 bench/rocksdb/packages.py >"$folder/packages.jsonl"
fi
novels=${LINERATE_CORPORA:-$HOME/.cache/linerate-corpora}/silesia/dickens
if [ -e "$novels" ]; then tr -s '\r\n' ' ' <"$novels" | fold -w 300 >"$folder/dickens.txt"; fi

# Measures the trend over the number of files. The files of a smaller database are the first ones of
# a larger database.
for count in $files; do
  case $count in
    1500) measure --files "$count" --operations get,get2,multiget,multiget-async,iterate ;;
    *) measure --files "$count" --operations get,get2 ;;
  esac
done
measure --files $some --reads read
measure --files $some --cache 50
measure --files $some --block 8K --rows 300
measure --files $some --data text
for data in packages.jsonl dickens.txt; do
  if [ -s "$folder/$data" ]; then measure --files $some --data "$folder/$data"; fi
done
measure --files $some --dictionaries "4K,raw 8K,16K,32K" --none no
measure --files $few --rows 1500 --dictionaries 110K
measure --files $some --dictionaries "" --compression kZlibCompression

# Measures the savings of dictionaries of each size, in files of three sizes. Nothing is read.
for rows in 150 1500 15000; do
  measure --files 8 --rows "$rows" --dictionaries "4K,8K,16K,32K,110K,raw 4K,raw 16K,raw 110K" --operations ""
done

# The distribution's RocksDB, an older version, writes its own files.
if headers=$(echo '#include <rocksdb/version.h>' | "${CXX:-c++}" -E -x c++ - 2>/dev/null | sed -n 's/^# 1 "\(.*\)\/rocksdb\/version.h".*/\1/p' | head -n 1) &&
  [ -n "$headers" ] && compile "$plugin/bench-distribution" -lrocksdb; then
  version=$(version_of "$headers")
  python3 bench/lines.py "make bench-rocksdb${given:+ FLAGS='$given'}" "RocksDB $version=$version"
  mkdir -p "$folder/$version"
  "$plugin/bench-distribution" "${options[@]}" --files $some --operations get,get2 "$folder/$version"
fi
