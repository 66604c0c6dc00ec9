#!/usr/bin/env bash
# test.sh: runs the kernels' tests on the CPU, with g++ and its sanitizers alone, in both orders of threads. Programs
# go to target/cuda-test.
set -euo pipefail
cd "$(dirname "$0")"
out=${CARGO_TARGET_DIR:-../../target}/cuda-test
mkdir -p "$out"
. ./flags.sh
tests=(rice1 rice2)
sanitizers=(-fsanitize=address,undefined -fno-sanitize-recover=all)
rm -f "$out"/{grid,driver,kernels,rice1,rice2}.o
jobs=()
for source in shim/grid.cpp shim/driver.cpp shim/kernels.cpp "${tests[@]/%/.cpp}"; do
  [ -e "$source" ] || source=tests/$source
  "$cxx" "${shim_flags[@]}" -O1 "${sanitizers[@]}" -c "$source" -o "$out/$(basename "$source" .cpp).o" &
  jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job"; done
for test in "${tests[@]}"; do
  "$cxx" "${sanitizers[@]}" -o "$out/$test" "$out"/{grid,driver,kernels}.o "$out/$test.o"
  echo "== $test"
  "$out/$test" ../../testdata
  echo "== $test, threads and blocks in reverse order"
  LINERATE_SHIM_ORDER=reverse "$out/$test" ../../testdata brief
done
