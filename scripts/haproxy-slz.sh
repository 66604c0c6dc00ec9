#!/usr/bin/env bash
# haproxy-slz.sh FOLDER: builds HAProxy from Debian's source package three times in FOLDER: haproxy-slz with the SLZ that it
# brings, haproxy-linerate with libslz.so.1 of bindings/c/slz in its place, haproxy-zlib with the system's zlib. Nothing else on
# the system changes: apt's lists are in FOLDER. Exit status 77 if the source cannot be had, or there are no compilers.
set -euo pipefail
mkdir -p "${1:?usage: haproxy-slz.sh FOLDER}"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
. scripts/rust.sh

missing() { # WHAT
  echo "missing: $1" >&2
  exit 77
}

get_source() {
  local state=$folder/apt
  . /etc/os-release
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
  # Where the system's own packages come from.
  apt-get indextargets --format '$(LABEL) $(RELEASE) deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    sed -nE "s/^(Debian|Ubuntu) ${VERSION_CODENAME:?} (deb-src)/\2/p" >"$state/sources.list"
  local options=(-qq -o "Dir::Etc::sourcelist=$state/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State=$state"
    -o "Dir::State::status=/var/lib/dpkg/status" -o "Dir::Cache=$state/cache" -o APT::Get::List-Cleanup=0 -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update && (cd "$folder" && apt-get "${options[@]}" --download-only source haproxy)
}

command -v apt-get >/dev/null || missing "apt-get, for Debian's source of HAProxy"
scripts/setup.sh rust cc zlib || exit 77
command -v make >/dev/null || missing "make (Debian: apt-get install make)"
compgen -G "$folder/haproxy_*.orig.tar.*" >/dev/null || get_source || missing "Debian's source of HAProxy"

"${CARGO:-cargo}" build --profile dist --locked --package linerate-slz
library=$folder/lib
scripts/install-c.sh "${CARGO_TARGET_DIR:-target}/dist" "$folder" slz

# Its own objects, without the packages that Debian's build has: they are no part of the measurement.
build() { # NAME ARGUMENT...
  local name=$1
  shift
  [ -x "$folder/haproxy-$name" ] && return
  rm -rf "$folder/source" && mkdir "$folder/source"
  tar -xf "$folder"/haproxy_*.orig.tar.* -C "$folder/source" --strip-components 1
  make -s -C "$folder/source" TARGET=linux-glibc CPU_CFLAGS=-O2 "$@"
  cp "$folder/source/haproxy" "$folder/haproxy-$name"
}

build slz
# The code that calls SLZ is compiled, the bundled object is left out, and the library with its interface linked.
build linerate USE_SLZ= DEFINE=-DUSE_SLZ "ADDLIB=-L$library -lslz -Wl,-rpath,$library"
build zlib USE_ZLIB=1
rm -rf "$folder/source"
for program in "$folder"/haproxy-{slz,linerate,zlib}; do "$program" -vv | sed -n '1p; /^Built with \(libslz\|zlib\)/p'; done
