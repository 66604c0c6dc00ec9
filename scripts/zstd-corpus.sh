#!/usr/bin/env bash
# zstd-corpus.sh [FRAMES [FIRST-SEED]]: decodes FRAMES (100,000) frames of zstd's generator,
# decodecorpus, in every way, and compares them with their content, through
# crates/zstd/tests/it/generated.rs, then again with the feature `small`. One in ten frames has a
# dictionary. Frames are made in chunks of 1,000, each with a seed 1,000 above that of the one
# before; only the current chunk is on the disk. The seed of a failure is printed, and its frames
# stay.
#
# The generator is compiled from zstd's sources: those in the folder ZSTD_SOURCE, or those of
# Debian's package, which are found with a package index in a temporary folder and removed at the
# end. Without either the status is 77.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/rust.sh

frames=${1:-100000}
seed=${2:-1}
cargo=${CARGO:-cargo}
chunk=1000
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

none() { # WHY
  echo "zstd-corpus.sh: $1" >&2
  exit 77
}

# Downloads zstd's source package and unpacks it into $work/source. apt gets a copy of the system's
# list of package sources, in which they are lists of source packages.
fetch_source() {
  local apt=$work/apt list
  command -v dpkg-source >/dev/null && command -v make >/dev/null && command -v cc >/dev/null ||
    none "neither ZSTD_SOURCE nor dpkg-source, make and a C compiler"
  mkdir -p "$apt"/{lists,state/lists/partial,cache/archives/partial}
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    if [ -f "$list" ]; then
      sed -E 's/^Types:.*/Types: deb-src/; s/^deb(-src)?[[:blank:]]/deb-src /' "$list" >"$apt/lists/${list##*/}"
    fi
  done
  local options=(-qq -o "Dir::Etc::SourceList=$apt/none" -o "Dir::Etc::SourceParts=$apt/lists" -o "Dir::State=$apt/state"
    -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root -o Acquire::Languages=none)
  apt-get "${options[@]}" update >/dev/null 2>&1 || true # other lists may have no sources
  (cd "$apt" && apt-get "${options[@]}" source --download-only zstd >/dev/null 2>&1) || none "no source package of zstd"
  dpkg-source --extract "$apt"/*.dsc "$work/source" >/dev/null 2>&1
}

source=${ZSTD_SOURCE:-$work/source}
if [ -z "${ZSTD_SOURCE:-}" ]; then fetch_source; fi
if [ ! -x "$source/tests/decodecorpus" ]; then make -s -C "$source/tests" decodecorpus >/dev/null 2>&1; fi
generator=$source/tests/decodecorpus
[ -x "$generator" ] || none "decodecorpus was not compiled"
echo "generator of zstd $(sed -n 's/^#define ZSTD_VERSION_\(MAJOR\|MINOR\|RELEASE\) *\([0-9]*\).*/\2/p' "$source/lib/zstd.h" | paste -sd .)"

# The test programs are compiled once, because `cargo test` for each chunk would check every file
# again.
program() { # OPTION...
  "$cargo" test --locked --package linerate-zstd --test it --no-run --message-format=json "$@" |
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1
}
programs=("$(program)" "$(program --features small)")

# Makes the frames of chunk NUMBER in FOLDER. The last of each ten chunks has a dictionary.
make_chunk() { # FOLDER SEED COUNT NUMBER
  mkdir -p "$1"/{compressed,content}
  local options=()
  if [ $(($4 % 10)) = 9 ]; then options=(--use-dict=$((1000 * (1 + $4 / 10 % 100)))); fi
  "$generator" "-n$3" "-s$2" -p"$1/compressed" -o"$1/content" --max-content-size-log="${LOG:-18}" "${options[@]}" >/dev/null 2>&1
  if [ -e "$1/compressed/dictionary" ]; then mv "$1/compressed/dictionary" "$1/dictionary"; fi
}

done=0
for ((number = 0; done < frames; number++)); do
  count=$((frames - done < chunk ? frames - done : chunk))
  at=$((seed + number * chunk))
  folder=$work/frames
  make_chunk "$folder" "$at" "$count" "$number"
  for program in "${programs[@]}"; do
    if ! LINERATE_FRAMES=$folder "$program" --quiet --exact --ignored generated::frames_of_the_generator_decode >"$work/log" 2>&1; then
      cat "$work/log" >&2
      trap - EXIT
      echo "failed: seed $at, $count frames, in $folder" >&2
      exit 1
    fi
  done
  rm -r "$folder"
  done=$((done + count))
  if [ $((number % 10)) = 9 ] || [ "$done" = "$frames" ]; then echo "$done frames, seeds $seed to $((at + count - 1))"; fi
done
