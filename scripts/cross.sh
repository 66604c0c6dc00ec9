#!/usr/bin/env bash
# cross.sh TRIPLE CARGO-ARGUMENT...: builds for a machine of a release, with the profile dist, and
# zig as C compiler and linker:
#   scripts/cross.sh aarch64-unknown-linux-musl --package linerate
# puts the program into target/TRIPLE/dist. With glibc, programs need version 2.17 (CentOS 7, Debian
# 8). With musl, programs are static, and libraries to be loaded (--package linerate-java) link the
# system's libc. For macOS there is no SDK here, so nothing that needs Apple's frameworks can be
# linked.
#
# Rust's library comes from rustup (rustup target add TRIPLE), or nightly compiles it from its
# source (rust-src). PROFILE names another profile. cross.sh TRIPLE --compiler prints these
# compilers and the profile, and cross.sh --list the triples. The status is 77 if something is
# missing.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/rust.sh

triples="x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-unknown-linux-musl aarch64-unknown-linux-musl
x86_64-pc-windows-gnu x86_64-apple-darwin aarch64-apple-darwin"
usage="usage: cross.sh TRIPLE CARGO-ARGUMENT..., TRIPLE --compiler, or --list"

# Crates whose libraries other programs load.
loaded='linerate-(java|node|python|hdf5-deltarice2?|c|z|slz)$'

lacks() { # WHAT
  echo "cross.sh: $triple lacks $1" >&2
  exit 77
}

triple=${1:?$usage}
shift
if [ "$triple" = --list ]; then
  printf '%s\n' $triples
  exit
fi
[[ " ${triples//$'\n'/ } " == *" $triple "* ]] || { echo "cross.sh: no target of releases: $triple ($usage)" >&2; exit 2; }

scripts/setup.sh rust zig || lacks "zig, which links for other machines"
PATH=$PWD/target/venv-dist/bin:$PATH

toolchain=
std=()
if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$triple/lib" ]; then
  if [ ! -d "$(rustc +nightly --print sysroot 2>/dev/null)/lib/rustlib/src/rust/library" ]; then
    lacks "Rust's library (rustup target add $triple)"
  fi
  toolchain=+nightly
  std=(-Z "build-std=std,panic_unwind")
fi

if [ "${1:-}" = --compiler ]; then
  # shellcheck disable=SC2086
  echo "$(rustc $toolchain --version), zig $(python -m ziglang version), profile ${PROFILE:-dist}$(
    env | sed -n 's/^CARGO_PROFILE_DIST_\(.*\)=/ \1=/p' | LC_ALL=C sort | tr -d '\n')"
  exit
fi

target=$triple
flags=
case $triple in
  *-linux-gnu) target=$triple.2.17 ;;
  # Cargo makes no loadable library of code that links musl statically, which is its default.
  *-musl)
    for argument; do if [[ $argument =~ $loaded ]]; then flags="-C target-feature=-crt-static"; fi; done
    # The start files of a program are zig's, because only rustup's library has its own.
    if [ -z "$flags" ] && [ ${#std[@]} != 0 ]; then flags="-C link-self-contained=no"; fi
    ;;
esac
# These flags add to those that a user has set for this target; RUSTFLAGS would replace them all.
variable=CARGO_TARGET_$(tr a-z- A-Z_ <<<"$triple")_RUSTFLAGS
export "$variable=${!variable:-} $flags"

# shellcheck disable=SC2086
cargo $toolchain zigbuild "${std[@]}" --locked --target "$target" --profile "${PROFILE:-dist}" "$@"
