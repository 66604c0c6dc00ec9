#!/usr/bin/env bash
# install-c.sh FOLDER PREFIX: puts the C libraries that cargo has built in FOLDER, with headers and pkg-config files, below
# PREFIX; DESTDIR stands before it.
# install-c.sh --remove PREFIX: removes them.
set -euo pipefail

built=${1:?usage: install-c.sh FOLDER|--remove PREFIX}
prefix=${2:?usage: install-c.sh FOLDER|--remove PREFIX}
root=${DESTDIR:-}$prefix
if [ "$built" = --remove ]; then
  rm -f "$root"/lib/libslz.so.1 "$root"/lib/libslz.so "$root"/lib/libslz.a "$root"/lib/pkgconfig/slz.pc "$root"/include/slz.h
  exit
fi

source=$(cd "$(dirname "$0")/.." && pwd)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$source/Cargo.toml" | head -1)
umask 022
mkdir -p "$root/lib/pkgconfig" "$root/include"

# By renaming: a program may have the old one loaded.
put() { # MODE FILE: its content is standard input
  cat >"$2.new"
  chmod "$1" "$2.new"
  mv "$2.new" "$2"
}

put 755 "$root/lib/libslz.so.1" <"$built/libslz.so"
ln -sf libslz.so.1 "$root/lib/libslz.so"
put 644 "$root/lib/libslz.a" <"$built/libslz.a"
put 644 "$root/include/slz.h" <"$source/bindings/c/slz/slz.h"
put 644 "$root/lib/pkgconfig/slz.pc" <<PC
prefix=$prefix
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: slz
Description: stateless deflate, zlib and gzip encoder with the interface of libslz, by Linerate
Version: $version
Libs: -L\${libdir} -lslz
Libs.private: -lpthread -ldl -lm
Cflags: -I\${includedir}
PC
