#!/usr/bin/env bash
# foreign.sh [TARGET...]: runs the tests of the workspace's crates for other machines, one program
# after the other: aarch64-unknown-linux-gnu (with qemu-user), i686-unknown-linux-gnu, wasm32-wasip1
# (with Node.js), x86_64-pc-windows-gnu (with wine); and the command, linked statically with musl,
# in an empty root folder. Each target needs Rust's library (rustup target add TARGET, or the
# component rust-src), a C compiler, and the emulator named here, if any. If one is missing, it is
# named and the status is 77. CSV=FILE gets a row for each target and package, as in
# records/platforms.csv.
# PACKAGES="linerate-core ..." builds and tests only these; ONLY="..." builds all and tests only
# these. A test program that takes longer than LIMIT seconds (7200) has failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
. scripts/rust.sh
. scripts/record.sh

# With STRICT=1, tests that lack something would fail. On another machine they are only skipped, and
# counted in the record.
unset STRICT
cargo=${CARGO:-cargo}
tools=$root/target/foreign-tools
targets="aarch64-unknown-linux-gnu i686-unknown-linux-gnu wasm32-wasip1 x86_64-pc-windows-gnu x86_64-unknown-linux-musl"
engines="linerate-core linerate-io linerate-deflate linerate-inflate linerate-zstd linerate-rice linerate-dict linerate-nx linerate-gateway linerate-gateway-sim"
# Modules of the test programs `it`, and other test programs, whose outcome may differ between
# machines: formats, damaged input, memory, files, interfaces. They run unless `left_out` has a
# reason against it, and so do all unit tests, except those that `execute` skips under WASI. The
# rest tries the same at length, or measures; PROGRAMS="--tests" also runs it.
programs="conformance vectors oracle damage stream generated golden goldens v2 v2_golden filters filtered tables extract blocks
block_file zlib_forms zstd_forms streams guarded sessions calls properties contract gzip zstd rice nx dict gateway interface header
misuse differential programs"
# A package that is also tested with other features: its name, its name in the record, cargo's
# arguments, and the modules of `it` to run; none means all.
small="linerate-zstd|linerate-zstd small|--features small --lib --test it|vectors stream generated"

has() { # PROGRAM PACKAGE
  command -v "$1" >/dev/null || { why="$1 (Debian: $2)"; return 1; }
}

has_wine() { wine=$(command -v wine || command -v wine64) || { why="wine (Debian: wine)"; return 1; }; }

# Sets a setting of cargo for the target.
setting() { # NAME VALUE
  local name=${target^^}
  export "CARGO_TARGET_${name//-/_}_$1=$2"
}

# Sets what is needed to test $target: variables of cargo and of the crate cc, the packages to test,
# and name and version of the emulator. Fails, with the reason in $why, if something is missing.
prepare() {
  compiler=$(rustc --version)
  unset RUSTC_BOOTSTRAP
  options=()
  variants=("$small")
  case $target in
    aarch64-unknown-linux-gnu)
      has aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu && has qemu-aarch64 qemu-user || return
      setting LINKER aarch64-linux-gnu-gcc
      export CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc
      foreign_tools
      runner=$(qemu-aarch64 --version | sed -n 's/.* version \([^ ]*\).*/qemu-aarch64 \1/p')
      packages="$engines linerate-websocket linerate-http linerate-plan linerate linerate-c linerate-slz linerate-z"
      ;;
    i686-unknown-linux-gnu)
      has i686-linux-gnu-gcc gcc-i686-linux-gnu || return
      local lib=/usr/i686-linux-gnu/lib
      setting LINKER i686-linux-gnu-gcc
      setting RUSTFLAGS "-C link-arg=-Wl,--dynamic-linker=$lib/ld-linux.so.2,-rpath,$lib"
      export CC_i686_unknown_linux_gnu=i686-linux-gnu-gcc
      runner="Linux $(uname -r | cut -d . -f 1,2), $(uname -m)"
      packages=$engines
      ;;
    wasm32-wasip1)
      has clang clang && has llvm-ar llvm && has node nodejs || return
      [ -d /usr/include/wasm32-wasi ] || { why="the headers of C (Debian: wasi-libc)"; return 1; }
      export CC_wasm32_wasip1=clang AR_wasm32_wasip1=llvm-ar CFLAGS_wasm32_wasip1="-isystem /usr/include/wasm32-wasi"
      runner="Node.js $(node -p process.versions.node)"
      packages="linerate-core linerate-deflate linerate-inflate linerate-zstd linerate-rice"
      variants+=("linerate-nx|linerate-nx reading|--no-default-features --tests|")
      ;;
    x86_64-pc-windows-gnu)
      has x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64 && has_wine || return
      export CC_x86_64_pc_windows_gnu=x86_64-w64-mingw32-gcc WINEDEBUG=${WINEDEBUG:--all}
      # Gives wine a disk C: of its own, separate from that of the user's programs.
      export WINEPREFIX=${CARGO_TARGET_DIR:-$root/target}/wine
      mkdir -p "$WINEPREFIX"
      runner=$("$wine" --version 2>/dev/null)
      random_numbers
      packages="$engines linerate-websocket linerate"
      ;;
    *-linux-musl)
      packages=linerate
      variants=()
      runner="Linux $(uname -r | cut -d . -f 1,2), empty root folder"
      return
      ;;
    *) why="a row in prepare"; return 1 ;;
  esac
  packages=${PACKAGES:-$packages}
  local sysroot
  sysroot=$(rustc --print sysroot)
  if [ ! -d "$sysroot/lib/rustlib/$target/lib" ]; then
    [ -d "$sysroot/lib/rustlib/src/rust/library" ] || { why="Rust's library (rustup target add $target)"; return 1; }
    options+=(-Z build-std=std,panic_unwind)
    export RUSTC_BOOTSTRAP=1
  fi
  setting RUNNER "$root/scripts/foreign.sh --run $target"
}

# Prints why the test program or module PACKAGE/NAME is left out for TARGET. Fails if it is not left
# out.
left_out() { # TARGET NAME
  case $1,$2 in
    aarch64-*,linerate/dict | aarch64-*,linerate/gateway | aarch64-*,linerate/gzip | aarch64-*,linerate/nx | aarch64-*,linerate/rice | aarch64-*,linerate/zstd)
      echo "starts the command hundreds of times, seconds each by emulation" ;;
    aarch64-*,linerate-zstd/conformance | aarch64-*/damage | aarch64-*/oracle | aarch64-*/properties | aarch64-*/v2 | aarch64-*/block_file)
      echo "many cases, minutes by emulation" ;;
    wasm32-*,linerate-deflate/vectors) echo "catches a panic, and panics abort there" ;;
    wasm32-*,"linerate-nx reading"/damage | wasm32-*,"linerate-nx reading"/extract* | wasm32-*,"linerate-nx reading"/golden | wasm32-*,"linerate-nx reading"/memory | wasm32-*,"linerate-nx reading"/r3a | wasm32-*,"linerate-nx reading"/vectors)
      echo "needs temporary folders, memory maps or other programs" ;;
    *) return 1 ;;
  esac
}

# Makes a folder for PATH, where the compilers that tests start are those for the target, and
# programs that would load a library of the target on this machine always fail. `lib` there has
# zlib, which linerate-z loads and cross compilers lack; it is compiled from the source in the crate
# libz-sys.
foreign_tools() {
  local tool zlib
  rm -rf "$tools"
  mkdir -p "$tools/lib"
  zlib=$("$cargo" metadata --locked --format-version 1 | grep -o '[^"]*/libz-sys-[^"/]*/Cargo.toml' | head -n 1)
  aarch64-linux-gnu-gcc -O2 -fPIC -shared -DHAVE_UNISTD_H -Wl,-soname,libz.so.1 "${zlib%/*}"/src/zlib/*.c -o "$tools/lib/libz.so.1"
  for tool in cc=gcc c++=g++ nm=nm; do ln -s "$(command -v "aarch64-linux-gnu-${tool#*=}" || echo /bin/false)" "$tools/${tool%=*}"; done
  for tool in valgrind go mcs; do ln -s /bin/false "$tools/$tool"; done
}

# Rust's library gets random numbers from bcryptprimitives.dll, which wine before 9.0 (Debian 12)
# lacks. Without it no program starts. This compiles such a library, whose one function calls an
# older one that wine has.
random_numbers() {
  local system=$WINEPREFIX/drive_c/windows/system32
  [ -d "$system" ] || "$wine" wineboot --init >/dev/null 2>&1 </dev/null
  if [ -e "$system/bcryptprimitives.dll" ]; then return; fi
  x86_64-w64-mingw32-gcc -O1 -shared -o "$system/bcryptprimitives.dll" -x c - -x none -ladvapi32 <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE into, SIZE_T len) {
  return SystemFunction036(into, (ULONG)len);
}
C
}

# Runs one program for TARGET, with its emulator.
execute() { # TARGET PROGRAM ARGUMENT...
  local target=$1
  shift
  case $target in
    aarch64-*)
      # Tests also start programs for ARM64. If the kernel has no interpreter for these, qemu is
      # registered as one, for this process alone (Linux 6.7).
      if [ "$(uname -m)" = aarch64 ] || grep -qs '^interpreter.*aarch64' /proc/sys/fs/binfmt_misc/*; then "$@"; return; fi
      unshare --user --map-root-user --mount bash -c 'mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
        printf "%s" ":aarch64:M::\x7f\x45\x4c\x46\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:$0:F" >/proc/sys/fs/binfmt_misc/register
        exec "$@"' "$(command -v qemu-aarch64-static || command -v qemu-aarch64)" env QEMU_LD_PREFIX=/usr/aarch64-linux-gnu "PATH=$tools:$PATH" "LD_LIBRARY_PATH=$tools/lib" "PROPTEST_CASES=${PROPTEST_CASES:-32}" ASAN_OPTIONS=detect_leaks=0 "$@"
      ;;
    *-windows-*)
      # Output goes to a file, because processes that wine leaves running would keep a pipe open.
      local wine out status=0
      has_wine
      out=$(mktemp)
      "$wine" "$@" >"$out" 2>&1 </dev/null || status=$?
      cat "$out"
      rm "$out"
      return $status
      ;;
    # WASI has no threads and no temporary folders, and panics abort, so tests with such names are
    # skipped. Without --no-turbo-fast-api-calls Node.js 20 crashes after many calls
    # (nodejs/node#53087).
    wasm32-*) node --no-warnings --no-turbo-fast-api-calls "$root/scripts/wasi.mjs" "$@" --skip concurrent --skip panic --skip parallel \
      --skip shared --skip thread --skip tree:: ;;
    *) "$@" ;;
  esac
}

# Sets $filters, the arguments for the program `it` of $package: the modules to run and, after
# --skip, those that are left out. Notes the latter.
select_modules() { # TARGET
  local name chosen=${modules-$programs} run=() skipped=()
  if [ -n "${PROGRAMS:-}" ]; then chosen=; fi
  for name in tests/it/*; do
    name=${name##*/}
    name=${name%.rs}
    if [ -n "$chosen" ] && [[ " ${chosen//$'\n'/ } " != *" $name "* ]]; then continue; fi
    if why=$(left_out "$1" "$package/$name"); then
      echo "left out: $package/$name: $why"
      echo "$package,0,0,0,0,$name" >>"$FOREIGN_NOTES"
      skipped+=(--skip "$name::")
    else
      run+=("$name::")
    fi
  done
  filters=("${run[@]}")
  if [ ${#run[@]} != 0 ]; then filters+=("${skipped[@]}"); fi
}

# Cargo's runner: runs a test program, and notes its package and how many tests passed, failed, were
# ignored and skipped. If the program is left out, notes its name instead.
run() { # TARGET PROGRAM ARGUMENT...
  local program=${2##*/} package=${as:-$CARGO_PKG_NAME} log status=0 counts why
  program=${program%.*}
  program=${program%-*}
  if [ -n "${ONLY:-}" ] && [[ " $ONLY " != *" $package "* ]]; then return; fi
  if why=$(left_out "$1" "$package/$program"); then
    echo "left out: $package/$program: $why"
    echo "$package,0,0,0,0,$program" >>"$FOREIGN_NOTES"
    return
  fi
  if [ "$program" = it ]; then
    select_modules "$1"
    if [ ${#filters[@]} = 0 ]; then return; fi
    set -- "$@" "${filters[@]}"
  fi
  log=$(mktemp)
  timeout "${LIMIT:-7200}" "$root/scripts/foreign.sh" --execute "$@" 2>&1 | tee "$log" || status=$?
  [ $status != 124 ] || echo "foreign.sh: stopped after ${LIMIT:-7200} s: $package/$program"
  counts=$(sed -nE 's/^test result: [a-zA-Z]+\. ([0-9]+) passed; ([0-9]+) failed; ([0-9]+) ignored.*/\1,\2,\3/p' "$log" | tail -n 1)
  [ -n "$counts" ] || if [ $status = 0 ]; then counts=1,0,0; else counts=0,1,0; fi
  # Counts a failure even if all tests passed but the program did not end as it should.
  if [ $status != 0 ]; then counts=${counts/,0,/,1,}; fi
  echo "$package,$counts,$(grep -c 'SKIP: ' "$log" || true)" >>"$FOREIGN_NOTES"
  rm "$log"
  return $status
}

# Prints cargo's arguments for the listed programs that the packages have.
selected() {
  local package folders= name found
  # The tests of linerate-deflate also compare with zlib and libdeflate, which are compiled from C.
  if [[ " $packages " == *" linerate-deflate "* ]]; then echo "--features linerate-testkit/zlib"; fi
  if [ -n "${PROGRAMS:-}" ]; then echo "$PROGRAMS"; return; fi
  for package in $packages; do
    case $package in
      linerate) folders+=" crates/cli" ;;
      linerate-c) folders+=" bindings/c/linerate" ;;
      linerate-slz) folders+=" bindings/c/slz" ;;
      linerate-z) folders+=" bindings/c/zlib" ;;
      *) folders+=" crates/${package#linerate-}" ;;
    esac
  done
  # shellcheck disable=SC2046,SC2086 # names of folders
  found=" $(cd / && ls $(printf "$root/%s/tests " $folders) 2>/dev/null | sed 's/\.rs$//' | tr '\n' ' ' || true) "
  echo "--lib --bins"
  for name in it $programs; do
    if [[ $found == *" $name "* ]]; then echo "--test $name"; fi
  done
}

# Tests all packages, then those with other features.
tests() {
  local variant package name arguments modules failed=0
  # shellcheck disable=SC2046,SC2086 # names of packages
  "$cargo" test --locked --no-fail-fast --target "$target" $(printf -- '--package %s ' $packages) $(selected) "${options[@]}" || failed=1
  for variant in "${variants[@]}"; do
    IFS='|' read -r package name arguments modules <<<"$variant"
    if [ -n "${PACKAGES:-}" ] && [[ " $PACKAGES " != *" $package "* ]]; then continue; fi
    # shellcheck disable=SC2086 # words
    as=$name modules=$modules "$cargo" test --locked --no-fail-fast --target "$target" --package "$package" $arguments "${options[@]}" || failed=1
  done
  return $failed
}

# Builds the program as for releases, and checks it with static-check.sh.
static() {
  local program=${CARGO_TARGET_DIR:-target}/$target/dist/linerate log
  if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; then compiler=$(rustc +nightly --version); fi
  scripts/cross.sh "$target" --package linerate || return
  log=$(mktemp)
  scripts/static-check.sh "$program" | tee "$log" || return
  echo "linerate,$(sed -n 's/.*: \([0-9]*\) commands .*/\1/p' "$log"),0,0,0" >>"$FOREIGN_NOTES"
  rm "$log"
}

# Appends a row for each noted package to $CSV.
record() {
  local columns=date,cpu,target,runner,rustc,linerate,package,programs,passed,failed,ignored,skipped,left_out,command
  local command="scripts/foreign.sh $target"
  [ -s "$CSV" ] || echo "$columns" >"$CSV"
  awk -F , -v OFS=, -v first="$(date -u +%F),$(processor),$target,\"$runner\",$compiler,$(linerate_version)" -v command="$command" '
    !($1 in programs) { order[++count] = $1 }
    { programs[$1] += NF == 5; passed[$1] += $2; failed[$1] += $3; ignored[$1] += $4; skipped[$1] += $5 }
    NF > 5 { left[$1] = left[$1] (left[$1] ? " " : "") $6 }
    END {
      for (i = 1; i <= count; i++) {
        p = order[i]
        print first, p, programs[p], passed[p], failed[p], ignored[p], skipped[p], left[p], command
      }
    }' "$FOREIGN_NOTES" >>"$CSV"
}

case ${1:-} in
  --run) cd "$OLDPWD"; run "${@:2}"; exit ;;
  --execute) cd "$OLDPWD"; execute "${@:2}"; exit ;;
esac

FOREIGN_NOTES=$(mktemp)
export FOREIGN_NOTES
trap 'rm -f "$FOREIGN_NOTES"' EXIT
status=0
lacking=
for target in ${*:-$targets}; do
  if ! prepare; then
    echo "foreign.sh: $target lacks $why" >&2
    lacking=1
    continue
  fi
  echo "== $target"
  : >"$FOREIGN_NOTES"
  case $target in
    *-linux-musl)
      made=0
      static || made=$?
      case $made in 0) ;; 77) lacking=1 ;; *) status=1 ;; esac
      ;;
    *) tests || status=1 ;;
  esac
  if [ -n "${CSV:-}" ]; then record; fi
done
[ $status = 0 ] || exit $status
if [ -n "$lacking" ]; then exit 77; fi
