#!/usr/bin/env bash
# static-check.sh PROGRAM: runs the main commands of a statically linked `linerate` in a root folder
# that has only the program and files to work on, and compares their output. The status is 77 if no
# such folder can be entered here.
set -euo pipefail
program=$(realpath "${1:?usage: static-check.sh PROGRAM}")
cd "$(dirname "$0")/.."
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# The command that enters the folder, as root of a user namespace; with FOREIGN=TARGET, through the
# emulator that foreign.sh uses.
enter=(unshare --map-root-user)
command -v unshare >/dev/null && "${enter[@]}" true 2>/dev/null || { echo "static-check.sh: unshare(1) makes no user namespace here" >&2; exit 77; }
if [ -n "${FOREIGN:-}" ]; then enter=(scripts/foreign.sh --execute "$FOREIGN" unshare); fi

commands=0
linerate() {
  commands=$((commands + 1))
  "${enter[@]}" --root "$root" --wd / /linerate "$@" || { echo "failed: linerate $*" >&2; exit 1; }
}

same() { # FILE-OR-FOLDER FILE-OR-FOLDER
  diff -r "$root/$1" "$root/$2" >/dev/null || { echo "failed: $2 differs from $1" >&2; exit 1; }
}

headers=$(readelf -lW "$program")
if [[ $headers == *INTERP* ]]; then echo "failed: $program needs a dynamic linker" >&2; exit 1; fi
cp "$program" "$root/linerate"
mkdir "$root/in"
cp -r testdata/nx testdata/gateway testdata/sst "$root/in/"
head -qc 100000 testdata/nx/*.nx >"$root/samples"
truncate -s %4 "$root/samples"
for i in {1..2000}; do echo "{\"id\":\"user-$i\",\"name\":\"name $((i * 7919 % 997))\"}"; done >"$root/rows.json"

linerate --version
linerate nx pack in --metadata -o a.nx
linerate nx list a.nx >/dev/null
linerate nx verify --quiet a.nx
linerate nx extract a.nx -o out
same in out
linerate gzip -k samples
linerate gzip -dc samples.gz >"$root/samples.gunzip"
same samples samples.gunzip
gzip -dc "$root/samples.gz" | cmp - "$root/samples"
linerate zstd -q -f -o samples.zst samples
linerate zstd -q -dc samples.zst >"$root/samples.unzstd"
same samples samples.unzstd
if command -v zstd >/dev/null; then zstd -qdc "$root/samples.zst" | cmp - "$root/samples"; fi
linerate rice encode --dtype i16 --verify -o samples.rice samples
linerate rice decode --raw -o samples.decoded samples.rice
same samples samples.decoded
linerate dict train --lines --block 1K --expect 1G rows.json -o rows.dict
linerate dict build --key id rows.json -o rows.blocks
linerate dict get rows.blocks user-17 >"$root/row"
[ "$(cat "$root/row")" = "$(sed -n 17p "$root/rows.json")" ] || { echo "failed: dict get" >&2; exit 1; }
linerate dict verify --quiet rows.blocks
linerate gateway generate --guilds 4 --events 300 -o traffic
linerate gateway replay --quiet traffic/shard-0.zlib traffic/shard-0.zst
echo "$(basename "$program"): $commands commands ran in an empty root folder"
