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
rm -f "$out"/*.o
jobs=()
for source in shim/grid.cpp shim/driver.cpp shim/kernels.cpp "${tests[@]/#/tests/}"; do
  "$cxx" "${shim_flags[@]}" -O1 "${sanitizers[@]}" -c "${source%.cpp}.cpp" -o "$out/$(basename "$source" .cpp).o" &
  jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job"; done
for test in "${tests[@]}"; do
  "$cxx" "${sanitizers[@]}" -o "$out/$test" "$out"/{grid,driver,kernels}.o "$out/$test.o"
  for order in forward reverse; do
    echo "== $test, threads in $order order"
    LINERATE_SHIM_ORDER=$order "$out/$test" ../../testdata
  done
done
