#!/usr/bin/env bash
# bench-gpu.sh PROGRAMS [FLAG...]: runs the tests of linerate-cuda for the driver and the codec on
# the GPU of this machine, then prints measurements of the crate as JSON Lines. PROGRAMS is a folder
# with the programs, so that nothing is built, and neither Rust nor a network is needed; or it is
# empty, and the programs are built.
# bench-gpu.sh --build FOLDER: builds the programs for such a machine, and puts nvCOMP beside them.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}

# Builds programs with cargo, and prints their paths, one a line.
built() { # ARGUMENT...
  "$cargo" "$@" --release --locked --package linerate-cuda --message-format=json-render-diagnostics |
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p'
}

build() { # FOLDER
  scripts/setup.sh rust cc
  mkdir -p "$1"
  local program name
  while read -r program; do
    name=${program##*/}
    cp "$program" "$1/test-${name%-*}"
  done < <(built test --no-run --test it)
  cp "$(built build --example gpu)" "$1/bench"
  # nvCOMP is only a peer in the measurements, which also run without it.
  scripts/setup.sh nvidia && cp target/venv-cuda/lib/python3*/site-packages/nvidia/libnvcomp/lib64/libnvcomp.so.6 "$1" || true
}

if [ "$1" = --build ]; then
  build "$2"
  exit
fi

programs=$1
shift
if [ -z "$programs" ]; then
  programs=target/bench-gpu
  rm -rf "$programs"
  build "$programs" >&2
fi
if ! command -v nvidia-smi >/dev/null && [ -z "${LINERATE_CUDA_DRIVER:-}" ]; then
  echo "bench-gpu: no NVIDIA driver is installed here (nvidia-smi is missing)" >&2
  exit 1
fi
if [ -z "${LINERATE_NVCOMP:-}" ] && [ -e "$programs/libnvcomp.so.6" ]; then
  LINERATE_NVCOMP=$(realpath "$programs/libnvcomp.so.6")
  export LINERATE_NVCOMP
fi
"$programs/test-it" driver:: v1:: v2:: >&2
"$programs/bench" "$@"
