#!/usr/bin/env bash
# dist-archive.sh OUT [TRIPLE...]: puts the program, linked statically with musl, into archives
# OUT/linerate-VERSION-TRIPLE.tar.gz with manual pages, completions and licences, and its list of
# components (CycloneDX) beside each: linerate-VERSION-TRIPLE.cdx.json. The same sources and
# compiler give the same bytes.
# dist-archive.sh --check OUT: unpacks the archives for this machine and, with an emulator, for
# ARM64, runs their example there, and runs the program in an empty root folder.
# The status is 77 if something is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packaging.sh

triples="x86_64-unknown-linux-musl aarch64-unknown-linux-musl"
build_needs="rust zig cargo-cyclonedx"
check_needs="cc gzip python3"

build() { # TRIPLE
  local name=linerate-$version-$1 folder
  folder=$temporary/$name
  scripts/cross.sh "$1" --package linerate
  install_program "$1" "$folder" /
  cp LICENSE-APACHE LICENSE-MIT CHANGELOG.md "$folder"
  cat >"$folder/README" <<README
linerate $version: gzip, zstd, waveforms, Nx archives, dictionaries, gateways, and a plan for your data.

The program needs nothing else. Copy bin and share into ~/.local or /usr/local, or start it where it is:

    bin/linerate gzip -k access.log
    bin/linerate --help
    man -l share/man/man1/linerate.1

Linerate is licensed under MIT or Apache-2.0, at your option; what is linked with it: THIRD-PARTY.txt.
README
  scripts/third-party.py "$1" linerate >"$folder/THIRD-PARTY.txt"
  tar -C "$temporary" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -cf - "$name" |
    gzip -9n >"$out/$name.tar.gz"
  list_components "$1" "$out/$name.cdx.json"
  echo "$out/$name.tar.gz"
}

# cargo-cyclonedx writes a file into the folder of every crate, so it works on a copy.
list_components() { # TRIPLE FILE
  local sources=$temporary/sources
  if [ ! -e "$sources" ]; then
    mkdir "$sources"
    git ls-files -z --cached --others --exclude-standard | tar --null --files-from - -cf - | tar -C "$sources" -xf -
  fi
  PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin cargo cyclonedx --quiet --manifest-path "$sources/crates/cli/Cargo.toml" \
    --format json --target "$1" --override-filename components
  sed "s:$sources:.:g" "$sources/crates/cli/components.json" >"$2"
}

check() {
  local triple
  for triple in $triples; do
    if [ ! -e "$out/linerate-$version-$triple.tar.gz" ]; then continue; fi
    case $triple in
      "$(uname -m)"-*) try "$triple" "empty root folder, Linux $(uname -r | cut -d . -f 1,2)" ;;
      aarch64-*)
        scripts/setup.sh arm64 || lacks
        FOREIGN=$triple try "$triple" "empty root folder, $(emulator)" scripts/foreign.sh --execute "$triple"
        ;;
    esac
  done
}

# Unpacks the archive for TRIPLE and tries it, with programs run by COMMAND. WHERE is for the
# record.
try() { # TRIPLE WHERE [COMMAND...]
  local archive=$out/linerate-$version-$1 root=$temporary/$1
  mkdir "$root"
  tar -C "$root" --strip-components=1 -xzf "$archive.tar.gz"
  printf 'one\ntwo\n' >"$root/access.log"
  "${@:3}" "$root/bin/linerate" gzip -k "$root/access.log"
  gzip -dc "$root/access.log.gz" | cmp - "$root/access.log"
  scripts/static-check.sh "$root/bin/linerate"
  if command -v man >/dev/null; then man -l "$root/share/man/man1/linerate-gzip.1" | grep linerate >/dev/null; fi
  python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["components"]), "components")' "$archive.cdx.json"
  ran "$archive.tar.gz" "$2"
}

packages "$@"
