#!/usr/bin/env bash
# build-shim.sh [OUT]: compiles the kernels and two test doubles for the CPU, with a C++ compiler
# alone: g++, or that in CXX. OUT/libcuda-shim.so stands for the CUDA driver; name it in
# LINERATE_CUDA_DRIVER. OUT/libnvcomp-shim.so stands for nvCOMP; name it in LINERATE_NVCOMP. OUT is
# cuda-shim in cargo's target folder by default: that in CARGO_TARGET_DIR, or the repository's.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
out=$(realpath -m "${1:-${CARGO_TARGET_DIR:-$here/../../target}/cuda-shim}")
mkdir -p "$out"
cd "$here"
. ./flags.sh
jobs=()
for file in grid driver kernels nvcomp; do
  "$cxx" "${shim_flags[@]}" -O2 -fPIC -fvisibility=hidden -c "shim/$file.cpp" -o "$out/$file.o" &
  jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job"; done
"$cxx" -shared -Wl,-z,defs -o "$out/libnvcomp-shim.so" "$out/nvcomp.o"
"$cxx" -shared -Wl,-z,defs -o "$out/libcuda-shim.so" "$out"/{grid,driver,kernels}.o
