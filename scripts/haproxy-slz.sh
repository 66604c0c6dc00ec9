#!/usr/bin/env bash
# haproxy-slz.sh FOLDER: builds HAProxy from Debian's source package three times in FOLDER:
# haproxy-slz with its bundled SLZ, haproxy-linerate with libslz.so.1 of bindings/c/slz instead,
# haproxy-zlib with the system's zlib. Apart from what setup.sh installs, the system stays as it is,
# because apt's lists are in FOLDER. The status is 77 if the source or compilers are missing.
set -euo pipefail
mkdir -p "${1:?usage: haproxy-slz.sh FOLDER}"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
. scripts/rust.sh
. scripts/apt-source.sh

missing() { # WHAT
  echo "missing: $1" >&2
  exit 77
}

command -v apt-get >/dev/null || missing "apt-get, for Debian's source of HAProxy"
scripts/setup.sh rust cc zlib || exit 77
command -v make >/dev/null || missing "make (Debian: apt-get install make)"
compgen -G "$folder/haproxy_*.orig.tar.*" >/dev/null || get_sources "$folder" haproxy || missing "Debian's source of HAProxy"

"${CARGO:-cargo}" build --profile dist --locked --package linerate-slz
library=$folder/lib
scripts/install-c.sh "${CARGO_TARGET_DIR:-target}/dist" "$folder" slz

# Builds HAProxy without the packages that Debian's build uses, which do not matter for the
# measurement.
build() { # NAME ARGUMENT...
  local name=$1
  shift
  [ -x "$folder/haproxy-$name" ] && return
  rm -rf "$folder/source" && mkdir "$folder/source"
  tar -xf "$folder"/haproxy_*.orig.tar.* -C "$folder/source" --strip-components 1
  # Newer versions of HAProxy bundle libslz 1.3, whose stream structure and constants differ from
  # those of our library, so our header is used.
  if [ "$name" = linerate ]; then cp bindings/c/slz/slz.h "$folder/source/include/import/slz.h"; fi
  make -s -C "$folder/source" TARGET=linux-glibc CPU_CFLAGS=-O2 "$@"
  cp "$folder/source/haproxy" "$folder/haproxy-$name"
}

build slz
# Compiles the code that calls SLZ, leaves the bundled SLZ out, and links our library, which has the
# same interface.
build linerate USE_SLZ= DEFINE=-DUSE_SLZ "ADDLIB=-L$library -lslz -Wl,-rpath,$library"
build zlib USE_ZLIB=1
rm -rf "$folder/source"
for program in "$folder"/haproxy-{slz,linerate,zlib}; do "$program" -vv | sed -n '1p; /^Built with \(libslz\|zlib\)/p'; done
