#!/usr/bin/env bash
# foreign.sh [TARGET...]: the tests of linerate-core, linerate-inflate and linerate-zstd on other machines: aarch64-unknown-linux-gnu (by qemu-user;
# there those of linerate-nx's texture filters, too), i686-unknown-linux-gnu, wasm32-wasip1 (by Node). Each needs Rust's library for the target (rustup target add TARGET), a C
# compiler for libzstd, which tests compare with, and what runs its programs. What lacks one is named, and the status is 77.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/rust.sh

cargo=${CARGO:-cargo}
lacking=

has() { # PROGRAM PACKAGE
  command -v "$1" >/dev/null || { why="$1 (Debian: $2)"; return 1; }
}

# Sets what cargo and the crate cc go by, and the tests to run.
prepare() { # TARGET
  tests=(--tests)
  case $1 in
    aarch64-unknown-linux-gnu)
      has aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu && has qemu-aarch64 qemu-user || return
      export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc
      export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
      ;;
    i686-unknown-linux-gnu)
      has i686-linux-gnu-gcc gcc-i686-linux-gnu || return
      export CARGO_TARGET_I686_UNKNOWN_LINUX_GNU_LINKER=i686-linux-gnu-gcc CC_i686_unknown_linux_gnu=i686-linux-gnu-gcc
      local lib=/usr/i686-linux-gnu/lib
      export CARGO_TARGET_I686_UNKNOWN_LINUX_GNU_RUNNER="$lib/ld-linux.so.2 --library-path $lib"
      ;;
    wasm32-wasip1)
      has clang clang && has llvm-ar llvm && has node nodejs || return
      [ -d /usr/include/wasm32-wasi ] || { why="the headers of C (Debian: wasi-libc)"; return 1; }
      export CC_wasm32_wasip1=clang AR_wasm32_wasip1=llvm-ar CFLAGS_wasm32_wasip1="-isystem /usr/include/wasm32-wasi"
      export CARGO_TARGET_WASM32_WASIP1_RUNNER="node --no-warnings $PWD/scripts/wasi.mjs"
      ;;
    *) why="it is unknown here"; return 1 ;;
  esac
  [ -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ] || { why="Rust's library (rustup target add $1)"; return 1; }
}

if [ $# = 0 ]; then set -- aarch64-unknown-linux-gnu i686-unknown-linux-gnu wasm32-wasip1; fi
for target; do
  if ! prepare "$target"; then
    echo "foreign.sh: $target lacks $why" >&2
    lacking=1
    continue
  fi
  echo "== $target"
  "$cargo" test --locked --target "$target" --package linerate-core --package linerate-zstd "${tests[@]}"
  "$cargo" test --locked --target "$target" --package linerate-inflate --lib --test vectors --test gzip_header --test oracle
  if [ "$target" = aarch64-unknown-linux-gnu ]; then
    "$cargo" test --locked --target "$target" --package linerate-nx --lib --test filters --test filtered
  fi
  "$cargo" test --locked --target "$target" --package linerate-zstd --features small --lib --test vectors --test stream --test generated
done
if [ -n "$lacking" ]; then exit 77; fi
