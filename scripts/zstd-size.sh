#!/usr/bin/env bash
# zstd-size.sh CSV FILE...: measures code size and speed of small programs around zstd decoders:
# linerate-zstd with and without `small` and std, ruzstd, libzstd, and libzstd without everything
# optional (feature `thin` of zstd-sys). Size: .text, .rodata and .data.rel.ro of a program with
# link-time optimization and panic=abort, minus those of the same program without a decoder. Speed:
# CPU time for one frame of `zstd -3` with a checksum for each FILE, as the median of $ROUNDS (7)
# turns.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,5s/^# //p' "$0"; exit 2; }
csv=$(realpath "$1")
shift
files=()
for file; do files+=("$(realpath "$file")"); done
cd "$(dirname "$0")/.."
. scripts/rust.sh
. scripts/record.sh

cargo=${CARGO:-cargo}
rounds=${ROUNDS:-7}
target=${CARGO_TARGET_DIR:-$PWD/target}/zstd-size
programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT

# A row is DECODER:OPT-LEVEL FEATURES. The first four rows have no decoder. The code of one with the
# same opt-level, with std or without, is subtracted from that of each other row.
rows=(
  "none:3 -" "none:s -" "none:z -" "none:3 std"
  "linerate-zstd:3 linerate-std" "linerate-zstd:3 linerate"
  "linerate-zstd:3 linerate-small" "linerate-zstd:s linerate-small" "linerate-zstd:z linerate-small"
  "ruzstd:3 ruzstd" "ruzstd:s ruzstd" "ruzstd:z ruzstd"
  "libzstd:3 libzstd" "libzstd:s libzstd" "libzstd:z libzstd-thin"
)

code_bytes() { # PROGRAM
  size -A "$1" | awk '$1 == ".text" || $1 == ".rodata" || $1 == ".data.rel.ro" { all += $2 } END { print all }'
}

version() { # PACKAGE
  sed -n "/^name = \"$1\"/{n;s/version = \"\(.*\)\"/\1/p}" scripts/zstd-size/Cargo.lock
}

declare -A bytes
for row in "${rows[@]}"; do
  read -r what features <<<"$row"
  options=()
  if [ "$features" != - ]; then options=(--features "$features"); fi
  CARGO_PROFILE_RELEASE_OPT_LEVEL=${what#*:} "$cargo" build --quiet --release --locked --target-dir "$target" \
    --manifest-path scripts/zstd-size/Cargo.toml "${options[@]}"
  cp "$target/release/zstd-size" "$programs/$what $features"
  bytes[$row]=$(code_bytes "$programs/$what $features")
done

made="$(date -u +%F),$(processor),$(rustc --version),$(version linerate-zstd) $(git rev-parse --short HEAD)"
echo "date,cpu,rustc,linerate,decoder,version,features,opt_level,code_bytes,file,content_bytes,frame_bytes,mb_s,turns,command" >"$csv"
command="scripts/zstd-size.sh CSV ${files[*]##*/}"
for file in "${files[@]}"; do
  len=$(wc -c <"$file")
  zstd -q -3 --check -f "$file" -o "$programs/frame"
  for row in "${rows[@]:4}"; do
    "$programs/$row" "$programs/frame" "$len" 0 | cmp - "$file"
    : >"$programs/speeds $row"
  done
  for ((turn = 0; turn < rounds; turn++)); do
    for row in "${rows[@]:4}"; do "$programs/$row" "$programs/frame" "$len" 3 >>"$programs/speeds $row"; done
  done
  for row in "${rows[@]:4}"; do
    read -r what features <<<"$row"
    decoder=${what%:*} level=${what#*:}
    base="none:$level -"
    case $features in
      linerate-std) base="none:$level std" features=std ;;
      linerate-small) features=small ;;
      libzstd-thin) features=thin ;;
      *) features= ;;
    esac
    case $decoder in
      linerate-zstd) version=$(version linerate-zstd) ;;
      libzstd) version=$(version zstd-sys | sed 's/.*zstd\.//') ;;
      *) version=$(version "$decoder") ;;
    esac
    speed=$(sort -n "$programs/speeds $row" | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }')
    size=$((${bytes[$row]} - ${bytes[$base]}))
    echo "$made,$decoder,$version,$features,$level,$size,${file##*/},$len,$(wc -c <"$programs/frame"),$speed,$rounds,$command" >>"$csv"
  done
done
column -s, -t <(cut -d, -f5-10,13 "$csv")
