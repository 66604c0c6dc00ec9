#!/usr/bin/env bash
# fuzz.sh SECONDS: fuzzes each target for SECONDS with cargo-fuzz (nightly and a C++ compiler), or without it runs
# seeds and numbered mutations.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"

seconds=${1:-60}
cargo=${CARGO:-cargo}

if cargo +nightly fuzz --version >/dev/null 2>&1; then
  for source in fuzz_targets/*.rs; do
    target=$(basename "$source" .rs)
    mkdir -p "corpus/$target"
    cargo +nightly fuzz run --features libfuzzer "$target" "corpus/$target" seeds -- \
      "-max_total_time=$seconds" -max_len=4096
  done
else
  echo "cargo-fuzz with a nightly compiler is not installed (cargo install cargo-fuzz):" \
    "running seeds and numbered mutations instead"
  "$cargo" run --release --locked --bin smoke -- "$seconds" "$(date +%s)"
fi
