#!/usr/bin/env bash
# setup.sh NEED...: makes sure that each need is there. As root on a Debian-like machine it installs
# what is missing; elsewhere it says what is missing and how to get it, and fails.
# Needs: rust, cc, gzip, zstd, python3, peers (the C libraries that the bench links and builds),
# archivers (the programs that the bench of archives starts),
# rocksdb (its library and tools, which tests have files written with), hdf5-tools,
# java (a JDK from 17 on, and Maven),
# and python: target/venv with the packages of scripts/requirements-test.txt;
# bench-python: the same in target/venv-bench for bench/waveforms.
set -euo pipefail
cd "$(dirname "$0")/.."

wanted_rust=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
missing=()

at_least() { # VERSION MINIMUM
  [ "$(printf '%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

has_rust() {
  local have
  have=$(rustc --version 2>/dev/null | cut -d ' ' -f 2) && cargo --version >/dev/null 2>&1 &&
    at_least "$have" "$wanted_rust"
}

has_cc() { command -v cc >/dev/null; }
has_gzip() { command -v gzip >/dev/null; }
has_zstd() { command -v zstd >/dev/null; }

has_peers() {
  command -v cmake >/dev/null && has_cc &&
    echo 'int main(void) { return 0; }' | cc -x c - -lisal -lz -o /dev/null 2>/dev/null
}

has_archivers() {
  local program
  for program in mksquashfs unsquashfs tar zstd zip unzip; do
    command -v "$program" >/dev/null || return
  done
  command -v 7zz >/dev/null || command -v 7z >/dev/null
}

has_rocksdb() {
  command -v sst_dump >/dev/null && has_cc &&
    printf '#include <rocksdb/c.h>\nint main(void) { return 0; }' | cc -x c - -lrocksdb -o /dev/null 2>/dev/null
}

has_hdf5-tools() { command -v h5dump >/dev/null && command -v h5repack >/dev/null; }
has_java() {
  local have
  have=$(javac -version 2>&1 | cut -d ' ' -f 2) && at_least "${have:-0}" 17 && command -v mvn >/dev/null
}
has_python3() { python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

has_cxx-python() {
  command -v c++ >/dev/null && python3 -c 'import sysconfig, pathlib, sys
sys.exit(not (pathlib.Path(sysconfig.get_path("include")) / "Python.h").exists())'
}

# The copy of the requirements is made last: it says that all of them are in.
make_venv() { # VENV REQUIREMENTS
  if [ -x "$1/bin/python" ] && cmp -s "$2" "$1/requirements.txt"; then return; fi
  echo "installing: $2 into $1"
  python3 -m venv "$1" &&
    "$1/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$2" &&
    cp "$2" "$1/requirements.txt"
}

need_venv() { # VENV REQUIREMENTS
  need python3 "install python3 python3-venv" "Python 3.11 or newer with venv (Debian: apt-get install python3-venv)"
  if has_python3; then make_venv "$@" || missing+=("$1 with the packages of $2"); fi
}

can_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

update_once() {
  if [ -z "${updated:-}" ]; then
    apt-get update -qq
    updated=1
  fi
}

install() { # PACKAGE...
  update_once
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

# The distribution's compiler if it is new enough, else the distribution's rustup.
install_rust() {
  update_once
  local offered
  offered=$(apt-cache policy rustc | awk '/Candidate:/ { print $2 }')
  if at_least "${offered:-0}" "$wanted_rust"; then
    install cargo rustc rust-clippy rustfmt ca-certificates
  elif command -v rustup >/dev/null || install rustup ca-certificates; then
    rustup default stable
  fi
}

need() { # NAME HAS INSTALL-COMMAND HOW-TO
  if "has_$1"; then return; fi
  if can_install; then
    echo "installing: $1"
    $2 || true
    hash -r
  fi
  "has_$1" || missing+=("$3")
}

for name in "$@"; do
  case $name in
    rust) need rust install_rust "Rust $wanted_rust or newer (cargo, rustc, clippy, rustfmt): https://rustup.rs" ;;
    cc) need cc "install gcc libc6-dev" "a C compiler (Debian: apt-get install gcc libc6-dev)" ;;
    gzip) need gzip "install gzip" "gzip (Debian: apt-get install gzip)" ;;
    zstd) need zstd "install zstd" "zstd (Debian: apt-get install zstd)" ;;
    python3) need python3 "install python3 python3-venv" "Python 3.11 or newer with venv (Debian: apt-get install python3-venv)" ;;
    peers) need peers "install cmake make gcc g++ libc6-dev zlib1g-dev libisal-dev" \
      "cmake, zlib and ISA-L (Debian: apt-get install cmake g++ zlib1g-dev libisal-dev)" ;;
    archivers) need archivers "install squashfs-tools tar zstd zip unzip 7zip" \
      "archivers (Debian: apt-get install squashfs-tools tar zstd zip unzip 7zip)" ;;
    rocksdb) need rocksdb "install librocksdb-dev rocksdb-tools gcc libc6-dev" \
      "RocksDB with its tools (Debian: apt-get install librocksdb-dev rocksdb-tools)" ;;
    hdf5-tools) need hdf5-tools "install hdf5-tools" "h5dump and h5repack (Debian: apt-get install hdf5-tools)" ;;
    java) need java "install default-jdk-headless maven" \
      "a JDK from 17 on, and Maven (Debian: apt-get install default-jdk-headless maven)" ;;
    python) need_venv target/venv scripts/requirements-test.txt ;;
    bench-python)
      need cxx-python "install g++ python3-dev" "g++ and Python's headers (Debian: apt-get install g++ python3-dev)"
      # hdf5plugin is built from source, with threads, for this machine, and only what is measured.
      export HDF5PLUGIN_OPENMP=True HDF5PLUGIN_NATIVE=True
      export HDF5PLUGIN_STRIP=blosc,bzip2,fcidecomp,htj2k,lz4,sperr,sz,sz3,zfp,zstd
      need_venv target/venv-bench bench/waveforms/requirements.txt
      ;;
    *) echo "setup.sh: unknown need: $name" >&2; exit 2 ;;
  esac
done

for what in "${missing[@]+"${missing[@]}"}"; do
  echo "missing: $what" >&2
done
[ ${#missing[@]} = 0 ]
