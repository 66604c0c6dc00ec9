#!/usr/bin/env bash
# fuzz.sh [SECONDS [CSV [TARGET...]]]: fuzzes each target (or those named) for SECONDS (60) with
# cargo-fuzz, which needs nightly and a C++ compiler. It is coverage-guided, with inputs up to 1
# MiB, debug assertions, overflow checks, and AddressSanitizer, which also covers libzstd's C code
# (through the crate `cc`). CSV gets a row for each target. The status is 1 if an input violates an
# invariant, or a target stopped early. Without cargo-fuzz it only runs seeds and numbered
# mutations, writes no CSV, and has another status after a violation.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/rust.sh
. scripts/record.sh

seconds=${1:-60}
csv=${2:+$(realpath -m "$2")}
wanted=("${@:3}")
cargo=${CARGO:-cargo}
max_len=$((1 << 20))
targets=${CARGO_TARGET_DIR:-$PWD/target}/fuzz
run="$(date -u +%F),$(processor),$(rustc +nightly --version 2>/dev/null || true),$(linerate_version)"
cd fuzz

if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
  echo "cargo-fuzz with a nightly compiler is not installed (cargo install cargo-fuzz):" \
    "running seeds and numbered mutations instead"
  exec "$cargo" run --release --locked --bin smoke -- "$seconds" "$(date +%s)" ${wanted[@]+"${wanted[@]}"}
fi

# Copies files into the corpus of a target as seeds, each after the bytes that the target takes as
# its settings.
seed() { # TARGET SETTINGS FILE...
  local file
  mkdir -p "corpus/$1"
  for file in "${@:3}"; do
    { printf '%b' "$2" && head -c $((max_len - 64)) "$file"; } >"corpus/$1/seed-${file##*/}"
  done
}

# Adds whole files as seeds, so that inputs of hundreds of KiB are tried from the beginning.
seeds() {
  local made
  made=$(mktemp -d)
  head -q -c 42000 ../crates/bench/corpus/*.* >"$made/content"
  gzip -9 -c "$made/content" >"$made/content.gz"
  seed zstd_frame '' ../testdata/zstd/*.zst
  seed zstd_seekable '' ../testdata/zstd/*.zst
  seed zstd_stream '\x07' ../testdata/zstd/*.zst
  seed zstd_reader '\x07' ../testdata/zstd/*.zst
  seed inflate '\x02\x00' "$made/content.gz"
  seed inflate_parallel '\x00\xff' "$made/content.gz"
  seed gateway_message '\x02' "$made/content.gz"
  if command -v zstd >/dev/null; then
    zstd -q -19 --no-check "$made/content" && zstd -q -1 --check "$made/content" -o "$made/quick.zst"
    for target in zstd_frame zstd_seekable; do seed $target '' "$made"/*.zst; done
    for target in zstd_stream zstd_reader; do seed $target '\x07' "$made"/*.zst; done
  fi
  seed nx '' ../testdata/nx/*.nx
  seed nx_filter '' "$made/content"
  seed sst '' ../testdata/sst/*.sst
  seed dict_pack '' ../testdata/dict/*.lrp
  seed dict_blocks '' ../testdata/dict/*.lrb
  seed rice '\x03\x40\x03\x01' ../testdata/rice/*.bin "$made/content"
  seed rice_v2 '\x00\x40\x00\x01' ../testdata/rice-v2/*.rice ../testdata/rice-v2/*.raw
  for target in roundtrip tight_output deflate_session websocket; do seed $target '' "$made"/content*; done
  rm -r "$made"
}

# Prints one of libFuzzer's figures from the end of a log; 0 if the target stopped before it printed
# any.
figure() { # NAME LOG
  awk -v name="stat::$1:" '$1 == name { found = $2 } END { print found + 0 }' "$2"
}

fuzz() { # TARGET
  local log begun corpus status=0 started=$SECONDS finds
  log=$(mktemp)
  begun=$(mktemp)
  corpus=corpus/$1
  mkdir -p "$corpus" "artifacts/$1"
  "$programs/$1" "$corpus" seeds "-artifact_prefix=artifacts/$1/" \
    "-max_total_time=$seconds" "-max_len=$max_len" -timeout=120 -print_final_stats=1 >"$log" 2>&1 || status=$?
  finds=$(find "artifacts/$1" -type f -newer "$begun" | wc -l) # without those of earlier runs
  rm "$begun"
  if [ $status != 0 ]; then tail -n 60 "$log"; fi
  echo "$1: $(figure number_of_executed_units "$log") inputs, $finds finds"
  if [ -n "$csv" ]; then
    echo "$run,$1,address,$((SECONDS - started)),$(figure number_of_executed_units "$log"),$finds,$(
      find "$corpus" -type f | wc -l
    ),$(find "$corpus" -type f -exec cat {} + | wc -c),$max_len,$(figure peak_rss_mb "$log"),scripts/fuzz.sh $seconds" >>"$csv"
  fi
  rm "$log"
  return $status
}

if [ -n "$csv" ] && [ ! -e "$csv" ]; then
  echo "date,cpu,rustc,linerate,target,sanitizer,seconds,executions,finds,corpus_files,corpus_bytes,max_len,peak_mib,command" >"$csv"
fi

seeds
# Without this, AddressSanitizer reports that the constant table of ZSTD_selectBtGetAllMatches is
# used after its scope: GCC makes the table static, but still marks it as dead at the end of the
# scope.
export CFLAGS="${CFLAGS:-} -fno-sanitize-address-use-after-scope"
cargo +nightly fuzz build --features libfuzzer --target-dir "$targets"
programs=$targets/$(rustc +nightly -vV | sed -n 's/^host: //p')/release
failed=
for source in fuzz_targets/*.rs; do
  target=$(basename "$source" .rs)
  if [ ${#wanted[@]} = 0 ] || [[ " ${wanted[*]} " == *" $target "* ]]; then fuzz "$target" || failed+=" $target"; fi
done
if [ -n "$failed" ]; then
  echo "failed:$failed (inputs: fuzz/artifacts; cargo +nightly fuzz tmin makes one smaller)" >&2
  exit 1
fi
