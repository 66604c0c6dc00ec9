#!/usr/bin/env bash
# rocksdb-plugin.sh DIR [PROFILE|STATIC-LIBRARY]: links the plugin for RocksDB,
# liblinerate_rocksdb.so, from its Rust half and its C++ half, and puts it into DIR. The Rust half
# is built with a Cargo profile (`dist` by default) or is the given static library. If the folder
# JAVA_INCLUDE has jni.h, also links liblinerate_rocksdb_java.so, with which the Java module loads
# the plugin. RocksDB's headers are those of the system, or of the folder ROCKSDB_INCLUDE. The
# plugin is compiled without RTTI, so that any RocksDB can load it. STRIP= keeps symbols, for
# profiles.
set -euo pipefail
folder=${1:?usage: rocksdb-plugin.sh DIR [PROFILE|STATIC-LIBRARY]}
static=${2:-dist}
# Checks the version of the headers before anything is built or installed.
version=$(printf '#include <rocksdb/version.h>\nROCKSDB_MAJOR ROCKSDB_MINOR\n' |
  "${CXX:-c++}" -E -P -x c++ ${ROCKSDB_INCLUDE:+-isystem "$ROCKSDB_INCLUDE"} - 2>/dev/null | tail -n 1) || version=
read -r major minor <<<"$version" || true
if [[ ! $major =~ ^[0-9]+$ ]] || ((major * 100 + minor < 1004)); then
  found="RocksDB's headers are not there"
  [[ ! $major =~ ^[0-9]+$ ]] || found="RocksDB's headers are of version $major.$minor"
  echo "rocksdb-plugin.sh: $found, and the plugin needs those of 10.4 or newer: install a librocksdb-dev of that version (Debian 12 and 13 have older ones), or get those of 11.8 by 'scripts/setup.sh rocksdb-11' and set ROCKSDB_INCLUDE=target/rocksdb/include" >&2
  exit 1
fi
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
cd "$(dirname "$0")/.."

if [[ $static != *.a ]]; then
  "${CARGO:-cargo}" build --quiet --profile "$static" --locked --package linerate-rocksdb
  static=${CARGO_TARGET_DIR:-target}/${static/%dev/debug}/liblinerate_rocksdb_rust.a
fi
# Links a library to another file and renames it, because a process may have loaded the old one.
link() { # NAME ARGUMENT...
  "${CXX:-c++}" -std=c++20 -O2 -fPIC -fno-rtti -Wall -Wextra -Werror -shared ${ROCKSDB_INCLUDE:+-isystem "$ROCKSDB_INCLUDE"} \
    -I bindings/rocksdb/plugin/include "${@:2}" -Wl,--gc-sections ${STRIP--s} "-Wl,-soname,$1" -lpthread -ldl -lm -o "$folder/.new"
  mv "$folder/.new" "$folder/$1"
  echo "$folder/$1"
}
link liblinerate_rocksdb.so bindings/rocksdb/plugin/linerate.cc "$static" -Wl,--version-script=bindings/rocksdb/plugin/exports.map
if [ -n "${JAVA_INCLUDE:-}" ]; then
  link liblinerate_rocksdb_java.so bindings/rocksdb/plugin/java.cpp -isystem "$JAVA_INCLUDE" -isystem "$JAVA_INCLUDE/linux"
fi
