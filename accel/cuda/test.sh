#!/usr/bin/env bash
# test.sh: runs the kernels' tests on the CPU, with g++ and its sanitizers alone. They run twice:
# with blocks, the warps of each block, and the lanes of each warp in ascending order, and, without
# the longest tests, with all three in descending order. Programs and logs go to cuda-test in
# cargo's target folder: that in CARGO_TARGET_DIR, or the repository's.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
out=$(realpath -m "${CARGO_TARGET_DIR:-$here/../../target}/cuda-test")
mkdir -p "$out"
cd "$here"
. ./flags.sh
sanitizers=(-fsanitize=address,undefined -fno-sanitize-recover=all)

jobs=()
wait_for_jobs() {
  local job
  for job in "${jobs[@]}"; do wait "$job"; done
  jobs=()
}

compile() { # SOURCE FLAG...
  "$cxx" "${shim_flags[@]}" -O1 "${@:2}" -c "$1" -o "$out/$(basename "$1" .cpp).o" &
  jobs+=($!)
}

# Only kernels and shim are compiled with sanitizers: the shim allocates the exact sizes of chunks
# and outputs, so they see every access outside. The tests are full of small containers, and with
# sanitizers would take longer to compile than all the rest.
rm -f "$out"/{grid,driver,kernels,order,rice1,rice2}.o
compile shim/kernels.cpp "${sanitizers[@]}"
for test in order rice1 rice2; do compile "tests/$test.cpp"; done
for part in grid driver; do compile "shim/$part.cpp" "${sanitizers[@]}"; done
wait_for_jobs

run() { # TEST ORDER ARGUMENT...
  LINERATE_SHIM_ORDER=$2 "$out/$1" ../../testdata "${@:3}" >"$out/$1-$2.log" 2>&1 || {
    cat "$out/$1-$2.log"
    echo "failed: $1, threads and blocks in $2 order" >&2
    exit 1
  }
}

"$cxx" "${sanitizers[@]}" -o "$out/order" "$out"/{grid,order}.o
for direction in forward reverse; do run order "$direction"; done
for test in rice1 rice2; do
  "$cxx" "${sanitizers[@]}" -o "$out/$test" "$out"/{grid,driver,kernels}.o "$out/$test.o"
  run "$test" forward &
  jobs+=($!)
  run "$test" reverse brief &
  jobs+=($!)
done
wait_for_jobs
for log in "$out"/{order,rice1,rice2}-{forward,reverse}.log; do
  echo "== $(basename "$log" .log)"
  cat "$log"
done
