#!/usr/bin/env bash
# repack.sh [FOLDER]: lets other programs read, cut, join and rewrite the output of `linerate`, and
# compares each result with its source: htslib's bgzip, tabix and samtools with BGZF; gzip, pigz,
# advdef, zstd, pzstd and tar; cat, head, dd and split; and Python's readers of seekable frames.
# `linerate` is $LINERATE, or the debug build. Works in FOLDER (target/repack). The status is 77 if
# a program is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${1:-target/repack}")
linerate=$(realpath "${LINERATE:-${CARGO_TARGET_DIR:-target}/debug/linerate}")
for tool in advdef awk bgzip cmp dd gzip pigz pzstd python3 samtools split tabix tar zgrep zstd; do
  command -v "$tool" >/dev/null || { echo "repack.sh: no $tool" >&2; exit 77; }
done
mkdir -p "$folder"
if [ ! -e "$folder/venv/ready" ]; then
  python3 -m venv "$folder/venv" &&
    "$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check pyzstd==0.20.0 indexed_zstd==1.7.2 &&
    touch "$folder/venv/ready" || { echo "repack.sh: pip cannot install pyzstd and indexed_zstd" >&2; exit 77; }
fi
python=$folder/venv/bin/python
work=$folder/work
rm -rf "$work"
mkdir "$work"
cd "$work"

part=
part() { part=$1; echo "repack: $1"; }
same() { # FILE FILE WHAT
  cmp "$1" "$2" || { echo "repack.sh: $part: $3" >&2; exit 1; }
}
# Checks that a command fails. Neither Linerate nor the other programs may accept an incomplete
# file.
refused() { # COMMAND...
  if "$@" >/dev/null 2>&1; then echo "repack.sh: $part: no error: $*" >&2; exit 1; fi
}

# Makes a table of 12 MB, sorted by position as genomes are, sequencing reads, and samples.
awk 'BEGIN { srand(7); for (c = 1; c <= 3; c++) for (p = 1; p <= 100000; p++)
  printf "chr%d\t%d\t%d\tname%d\t%.6f\n", c, p * 10, p * 10 + 5, int(rand() * 1e6), rand() }' >table
awk 'BEGIN { srand(8); print "@HD\tVN:1.6\tSO:coordinate"; print "@SQ\tSN:chr1\tLN:9000000"; print "@SQ\tSN:chr2\tLN:9000000"
  split("A C G T", base, " "); for (c = 1; c <= 2; c++) for (r = 1; r <= 20000; r++) { s = ""; q = ""
    for (i = 0; i < 50; i++) { s = s base[1 + int(rand() * 4)]; q = q sprintf("%c", 40 + int(rand() * 30)) }
    printf "r%d.%d\t0\tchr%d\t%d\t60\t50M\t*\t0\t0\t%s\t%s\n", c, r, c, r * 400, s, q } }' >reads.sam
"$python" -c 'import array, random
r = random.Random(9)
array.array("h", (int(900 * r.gauss(0, 1)) for _ in range(400000))).tofile(open("samples", "wb"))'
head -c 5000000 table >front
tail -c +5000001 table >back

part "bgzip reads, seeks in and indexes BGZF"
for options in "" "--rsyncable" "-6 -p4" "-0 -b 1000"; do
  # shellcheck disable=SC2086
  "$linerate" gzip --format bgzf -kf $options table
  bgzip -t table.gz
  bgzip -dc table.gz >out
  same out table "bgzip -d of $options"
  rm -f table.gz.gzi
  bgzip -r table.gz
  for at in 0 1 65279 65280 65281 5000000 11345678; do
    bgzip -b "$at" -s 70000 table.gz >out
    tail -c "+$((at + 1))" table | head -c 70000 >wanted || true
    same out wanted "bgzip -b $at of $options"
  done
  rm -f table.gz.tbi
  tabix -s 1 -b 2 -e 3 table.gz
  for region in chr1:1-100 chr2:500000-502000 chr3:999990-1000000; do
    IFS=:- read -r name from to <<<"$region"
    tabix table.gz "$region" >out
    awk -v c="$name" -v f="$from" -v t="$to" '$1 == c && $2 <= t && $3 >= f' table >wanted
    [ -s wanted ]
    same out wanted "tabix $region of $options"
  done
done

part "samtools copies blocks of BAM"
samtools view --no-PG -b -o theirs.bam reads.sam
"$linerate" gzip -dc theirs.bam | "$linerate" gzip --format bgzf --rsyncable >ours.bam
samtools quickcheck ours.bam
samtools view --no-PG -h ours.bam >out
same out reads.sam "samtools view"
samtools index ours.bam
samtools view --no-PG ours.bam chr2:4000000-4100000 >out
samtools index theirs.bam
samtools view --no-PG theirs.bam chr2:4000000-4100000 >wanted
[ -s wanted ]
same out wanted "samtools view of a region"
samtools view --no-PG reads.sam >records
sed -n '/^@/p' reads.sam | sed 's/LN:9000000/LN:9500000/' >header
samtools reheader --no-PG header ours.bam >reheaded.bam
samtools cat --no-PG -o joined.bam ours.bam ours.bam
for file in reheaded joined; do
  samtools quickcheck "$file.bam"
  "$linerate" gzip -dcp4 --format bgzf "$file.bam" >/dev/null
done
samtools view --no-PG reheaded.bam >out
same out records "samtools reheader"
samtools view --no-PG joined.bam >out
cat records records >wanted
same out wanted "samtools cat"

part "gzip, pigz, advdef and tar read and rewrite gzip"
for options in "-1" "-6 -p4" "--rsyncable" "-2 -b16K --history" "-0" "--format=bgzf"; do
  # shellcheck disable=SC2086
  "$linerate" gzip -kf $options table
  for reader in "gzip -dc" "pigz -dc" "tar -xzOf joined.tgz"; do
    if [[ $reader == tar* ]]; then tar -cf - table | "$linerate" gzip $options >joined.tgz; fi
    # shellcheck disable=SC2086
    $reader $([[ $reader == tar* ]] || echo table.gz) >out
    same out table "$reader of $options"
  done
done
"$linerate" gzip -kf -1 table
advdef -q -z -1 table.gz
gzip -dc table.gz >out
same out table "advdef -z, then gzip"
"$linerate" gzip -dc table.gz >out
same out table "advdef -z, then linerate"
"$linerate" gzip -kf table
[ "$(zgrep -c name1234 table.gz)" = "$(grep -c name1234 table)" ]

part "gzip joined, appended, split, padded and cut by shell tools"
for options in "-2 -p2" "--rsyncable" "--format=bgzf"; do
  # shellcheck disable=SC2086
  "$linerate" gzip -kf $options front back
  cat front.gz back.gz >table.gz
  cp front.gz appended.gz
  gzip -c back >>appended.gz
  split -b 100000 table.gz piece.
  cat piece.* >split.gz
  rm piece.*
  cp table.gz padded.gz
  dd if=/dev/zero of=padded.gz bs=512 count=3 oflag=append conv=notrunc status=none
  for file in table appended split padded; do
    gzip -dc "$file.gz" >out
    same out table "gzip -d of $file.gz, $options"
    for threads in 1 4; do
      "$linerate" gzip -dcp "$threads" "$file.gz" >out
      same out table "linerate gzip -d of $file.gz, $options"
    done
  done
  size=$(stat -c %s table.gz)
  for cut in 1 7 8 9 100 $((size / 2)); do
    head -c "-$cut" table.gz >cut.gz
    # A BGZF file may be cut between two blocks; then only the missing end-of-file block shows it.
    refused gzip -t cut.gz
    refused "$linerate" gzip -t cut.gz
  done
  cp table.gz hurt.gz
  printf '\377\377\377\377' | dd of=hurt.gz bs=1 seek=$((size / 3)) conv=notrunc status=none
  refused gzip -t hurt.gz
  refused "$linerate" gzip -t hurt.gz
done

part "zstd joined, appended, split and cut by shell tools"
for options in "-3" "-9 --long=27 -T4" "--rsyncable" "--fast=5 --no-check" "--no-content-size"; do
  # shellcheck disable=SC2086
  "$linerate" zstd -kfq $options front back
  cat front.zst back.zst >table.zst
  cp front.zst appended.zst
  pzstd -qc back >>appended.zst
  split -b 100000 table.zst piece.
  cat piece.* >split.zst
  rm piece.*
  for file in table appended split; do
    for reader in "zstd -dcq --long=27" "$linerate zstd -dcT1" "$linerate zstd -dcT4"; do
      $reader "$file.zst" >out
      same out table "$reader of $file.zst, $options"
    done
    zstd -lq "$file.zst" >/dev/null
    "$linerate" zstd -lq "$file.zst" >/dev/null
  done
  size=$(stat -c %s table.zst)
  for cut in 1 3 4 5 100 $((size / 4)); do
    head -c "-$cut" table.zst >cut.zst
    refused zstd -tq --long=27 cut.zst
    refused "$linerate" zstd -t cut.zst
  done
  tar -cf - table | "$linerate" zstd -q $options >joined.tar.zst
  tar -I 'zstd --long=27' -xOf joined.tar.zst >out
  same out table "tar of $options"
done

part "frames are sought in by others, and theirs by ours"
split -b 1000000 table piece.
"$linerate" zstd -q piece.??
cat piece.??.zst >frames.zst
rm piece.*
"$python" - "$linerate" <<'PYTHON'
import random, subprocess, sys
from indexed_zstd import IndexedZstdFile
from pyzstd import SeekableZstdFile

table = open("table", "rb").read()
with IndexedZstdFile("frames.zst") as file:
    assert file.is_multiframe()
    for _ in range(200):
        at, size = random.randrange(len(table)), random.randrange(1, 3_000_000)
        file.seek(at)
        assert file.read(size) == table[at:at + size], (at, size)
# pyzstd cannot add a seek table to existing frames, so it writes a seekable file, which linerate
# reads.
with SeekableZstdFile("theirs.zst", "w", max_frame_content_size=300_000) as file:
    file.write(table)
for threads in ("-T1", "-T4"):
    out = subprocess.run([sys.argv[1], "zstd", "-dc", threads, "theirs.zst"], check=True, capture_output=True).stdout
    assert out == table, threads
subprocess.run([sys.argv[1], "zstd", "-lq", "theirs.zst"], check=True, stdout=subprocess.DEVNULL)
PYTHON

part "rice streams joined, split and cut by shell tools"
half=$(($(stat -c %s samples) / 2))
head -c $half samples >first
tail -c +$((half + 1)) samples >second
for file in samples first second; do "$linerate" rice encode -f --dtype i16 "$file"; done
cat first.rice second.rice >joined.rice
split -b 10000 samples.rice piece.
cat piece.* >split.rice
for file in joined split; do
  "$linerate" rice decode -f "$file.rice" -o out.npy
  "$python" -c 'import sys
npy = open("out.npy", "rb").read()
sys.stdout.buffer.write(npy[10 + int.from_bytes(npy[8:10], "little"):])' >out
  same out samples "$file.rice"
done
for cut in 1 4 5 1000; do
  head -c "-$cut" samples.rice >cut.rice
  refused "$linerate" rice verify cut.rice
done
rm -rf "$work"
echo "repack: done"
