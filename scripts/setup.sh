#!/usr/bin/env bash
# setup.sh NEED...: makes sure that each need is met. As root on a Debian-like machine it installs
# missing packages; elsewhere it prints what is missing and how to get it, and fails. What goes into
# target/ or is compiled into ~/.cargo/bin is installed by any user. Needs:
#   rust, lint        Rust; clippy and rustfmt
#   cc, cxx           a C compiler; g++ with its sanitizers
#   gzip, zstd, python3, valgrind
#   peers             C libraries that the bench links and builds
#   archivers         programs that the bench of archives starts
#   rocksdb           its library and tools, with which tests write files
#   rocksdb-11        the library of a newer one, from Maven, and its headers
#   rocksdb-old       libraries of three older ones, from Maven
#   hdf5-tools
#   java              JDK 17 or newer, and Maven
#   zlib              its headers, for C programs
#   cpython-tests     CPython's tests of zlib, for the system's Python
#   servers, wrk      nginx and Apache, unpacked in target/servers; a program that sends requests
#   strace            shows system calls
#   pkg-config, cmake find installed C libraries
#   mono              compiles and runs C#
#   go                compiles programs that decode our streams
#   chromium          a browser without a window, for reports and websockets
#   node              Node.js 18 or newer with npm, and target/node with the packages of bindings/node
#   hdl               Icarus Verilog, Verilator, Yosys, z3 and GHDL, for accel/hdl
#   pnr               nextpnr for iCE40, and target/venv-hdl with Yosys and nextpnr for ECP5
#   zig               target/venv-dist with zig, which compiles C and links for other machines, and programs that pack wheels
#   mdbook, cargo-fuzz, cargo-mutants, cargo-deny, typos-cli, cargo-cyclonedx
#                     from crates.io, compiled here, into ~/.cargo/bin: the site of docs/, fuzzing, mutants, licences,
#                     spelling, and a program's components
#   repack            htslib's programs, samtools, pigz and advdef, which rewrite compressed files
#   foreign           C compilers and emulators for ARM64, 32-bit x86, WebAssembly and Windows
#   arm64             an emulator of ARM64 that runs programs in another root folder, and mmdebstrap, which fills one
#   deb               dpkg-deb, lintian and mmdebstrap, for Debian packages and a system to try them in
#   nvidia            NVIDIA's compiler of CUDA kernels, and nvCOMP, wheels in target/venv-cuda
#   python            target/venv with the packages of scripts/requirements-test.txt
#   zarr              target/venv-zarr with the newest zarr, on Python 3.12 or newer
#   labs              target/venv-labs with the packages of scripts/requirements-labs.txt
#   bench-python      target/venv-bench with the packages of bench/waveforms
#
# It takes Rust from PATH or ~/.cargo/bin if that is new enough; otherwise the distribution's rustc if that is; otherwise
# the distribution's rustup; otherwise rustup's own installer, after asking if there is a terminal.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/rust.sh

rustup_url=https://sh.rustup.rs
missing=()
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Links a program from standard input. The result goes to a temporary file, because a linker that
# runs as root may replace /dev/null by its output.
links() { # LIBRARY...
  local program
  program=$(mktemp)
  if cc -x c - "$@" -o "$program" 2>/dev/null; then rm -f "$program"; else rm -f "$program"; return 1; fi
}

has_lint() { cargo clippy --version >/dev/null 2>&1 && cargo fmt --version >/dev/null 2>&1; }
has_cc() { command -v cc >/dev/null; }
has_cxx() { command -v g++ >/dev/null; }
has_valgrind() { command -v valgrind >/dev/null; }
has_strace() { command -v strace >/dev/null; }
has_zlib() { has_cc && printf '#include <zlib.h>\nint main(void) { return zlibVersion() == 0; }' | links -lz; }
has_cpython-tests() { /usr/bin/python3 -c 'import test.test_zlib' 2>/dev/null; }
install_cpython-tests() {
  install python3 && install "libpython$(/usr/bin/python3 -c 'import sys; print(*sys.version_info[:2], sep=".")')-testsuite"
}
has_servers() {
  local program
  for program in nginx apache2; do
    [ -x "/usr/sbin/$program" ] || [ -x "${CARGO_TARGET_DIR:-target}/servers/usr/sbin/$program" ] || return
  done
}
# The packages are unpacked and not installed, because installed servers would start.
get_servers() {
  local folder=${CARGO_TARGET_DIR:-$PWD/target}/servers package
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null && mkdir -p "$folder" || return
  if can_install; then install libpcre2-8-0 libcrypt1 libssl3 libexpat1 libuuid1 || return; fi
  quietly env -C "$folder" apt-get download -qq nginx apache2-bin libapr1 libaprutil1 &&
    (cd "$folder" && for package in ./*.deb; do dpkg-deb -x "$package" . && rm "$package"; done)
}
has_wrk() { command -v wrk >/dev/null; }
has_pkg-config() { command -v pkg-config >/dev/null; }
has_mono() { command -v mcs >/dev/null && command -v mono >/dev/null; }
has_cmake() { command -v cmake >/dev/null; }
has_go() { command -v go >/dev/null; }
has_gzip() { command -v gzip >/dev/null; }
has_zstd() { command -v zstd >/dev/null; }

has_peers() {
  command -v cmake >/dev/null && has_cc &&
    echo 'int main(void) { return 0; }' | links -lisal -lz
}

has_archivers() {
  local program
  for program in mksquashfs unsquashfs squashfuse tar zstd zip unzip; do
    command -v "$program" >/dev/null || return
  done
  command -v 7zz >/dev/null || command -v 7z >/dev/null
}

has_rocksdb() {
  command -v sst_dump >/dev/null && has_cc &&
    printf '#include <rocksdb/c.h>\nint main(void) { return 0; }' | links -lrocksdb
}

# get_rocksdb-11 takes the library from Maven's rocksdbjni, whose libraries for Linux contain RocksDB
# and export its C and C++ interfaces. It takes the headers from the crate librocksdb-sys, which is
# downloaded and not built.
rocksdb_11=11.8.1
rocksdb_folder=${CARGO_TARGET_DIR:-$PWD/target}/rocksdb
rocksdb_headers=0.19.0+11.8.1
has_rocksdb-11() { [ -e "$rocksdb_folder/$rocksdb_11" ] && [ -e "target/rocksdb/include/$rocksdb_headers" ]; }
get_rocksdb-11() {
  has_java || return 1
  local machine
  case $(uname -sm) in
    "Linux x86_64") machine=linux64 ;;
    "Linux aarch64") machine=linux-aarch64 ;;
    *) return 1 ;;
  esac
  mkdir -p "$rocksdb_folder" target
  # Maven's modules look for the headers in target/rocksdb.
  [ -e target/rocksdb ] || ln -sfn "$(cd "$rocksdb_folder" && pwd)" target/rocksdb
  get_rocksdb_headers || return
  if [ -e "$rocksdb_folder/$rocksdb_11" ]; then return; fi
  mvn --batch-mode --quiet dependency:copy -Dmdep.useBaseVersion=true \
    "-Dartifact=org.rocksdb:rocksdbjni:$rocksdb_11" "-DoutputDirectory=$rocksdb_folder" &&
    (cd "$rocksdb_folder" && jar xf "rocksdbjni-$rocksdb_11.jar" "librocksdbjni-$machine.so" &&
      mv "librocksdbjni-$machine.so" librocksdb.so && rm "rocksdbjni-$rocksdb_11.jar" && touch "$rocksdb_11")
}

# Older versions of RocksDB's library, from rocksdbjni, each in a folder named after its version.
rocksdb_old="6.29.5 8.11.4 9.11.2"
has_rocksdb-old() {
  local version
  for version in $rocksdb_old; do [ -e "$rocksdb_folder/$version/librocksdb.so" ] || return 1; done
}
get_rocksdb-old() {
  has_java || return 1
  local machine version
  case $(uname -sm) in
    "Linux x86_64") machine=linux64 ;;
    "Linux aarch64") machine=linux-aarch64 ;;
    *) return 1 ;;
  esac
  for version in $rocksdb_old; do
    mkdir -p "$rocksdb_folder/$version" &&
      mvn --batch-mode --quiet dependency:copy -Dmdep.useBaseVersion=true \
        "-Dartifact=org.rocksdb:rocksdbjni:$version" "-DoutputDirectory=$rocksdb_folder/$version" &&
      (cd "$rocksdb_folder/$version" && jar xf "rocksdbjni-$version.jar" "librocksdbjni-$machine.so" &&
        mv "librocksdbjni-$machine.so" librocksdb.so && rm "rocksdbjni-$version.jar") || return
  done
}

get_rocksdb_headers() {
  local project manifest
  project=$(mktemp -d)
  mkdir "$project/src" && touch "$project/src/lib.rs" &&
    printf '[package]\nname = "headers"\nedition = "2021"\n[dependencies]\nlibrocksdb-sys = "=%s"\n[workspace]\n' \
      "$rocksdb_headers" >"$project/Cargo.toml" &&
    manifest=$("${CARGO:-cargo}" metadata --quiet --format-version 1 --manifest-path "$project/Cargo.toml" |
      grep -o '[^"]*/librocksdb-sys-[^"/]*/Cargo.toml' | head -n 1)
  rm -r "$project"
  [ -n "$manifest" ] && rm -rf "$rocksdb_folder/include" &&
    cp -r "${manifest%/*}/rocksdb/include" "$rocksdb_folder/include" && touch "$rocksdb_folder/include/$rocksdb_headers"
}

has_hdf5-tools() { command -v h5dump >/dev/null && command -v h5repack >/dev/null; }
has_chromium() {
  command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null
}
has_java() {
  local have
  have=$(javac -version 2>&1 | cut -d ' ' -f 2) && at_least "${have:-0}" 17 && command -v mvn >/dev/null
}
has_node() {
  local have
  have=$(node --version 2>/dev/null) && at_least "${have#v}" 18 && command -v npm >/dev/null
}
has_all() { # PROGRAM...
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null || return
  done
}
has_hdl() { has_all iverilog verilator yosys yosys-smtbmc yosys-abc z3 ghdl c++ make && has_python3; }
has_nextpnr-ice40() { has_all yosys nextpnr-ice40; }
has_foreign() {
  has_all aarch64-linux-gnu-g++ qemu-aarch64 i686-linux-gnu-gcc clang llvm-ar node x86_64-w64-mingw32-gcc &&
    [ -d /usr/include/wasm32-wasi ] && { has_all wine || has_all wine64; }
}
# With --no-remove, since Debian's compilers for other machines conflict with gcc-multilib, which
# must not be removed.
install_foreign() {
  install --no-remove g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user gcc-i686-linux-gnu libc6-dev-i386-cross \
    clang llvm wasi-libc nodejs gcc-mingw-w64-x86-64 wine wine64
}
has_repack() { has_all advdef awk bgzip pigz pzstd samtools tabix zgrep zstd; }
has_deb() { has_all dpkg-deb readelf lintian mmdebstrap; }
has_arm64() { has_all qemu-aarch64-static mmdebstrap; }
has_python3() { python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

has_cxx-python() {
  command -v c++ >/dev/null && python3 -c 'import sysconfig, pathlib, sys
sys.exit(not (pathlib.Path(sysconfig.get_path("include")) / "Python.h").exists())'
}

# Makes a virtual environment with the packages of REQUIREMENTS. The copy of that file is made last:
# it marks a complete installation.
make_venv() { # VENV REQUIREMENTS [PYTHON]
  if [ -x "$1/bin/python" ] && cmp -s "$2" "$1/requirements.txt"; then return; fi
  echo "installing: $2 into $1"
  quietly "${3:-python3}" -m venv "$1" &&
    quietly "$1/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$2" &&
    cp "$2" "$1/requirements.txt"
}

newest_python() { # Prints a Python on which the newest zarr runs.
  local version python
  for version in 3.14 3.13 3.12; do
    for python in "$(command -v "python$version" || true)" "$HOME"/.pyenv/versions/"$version".*/bin/python; do
      if "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        echo "$python"
        return
      fi
    done
  done
  return 1
}

need_venv() { # VENV REQUIREMENTS
  need python3 "install python3 python3-venv" "Python 3.11 or newer with venv (Debian: apt-get install python3-venv)"
  if has_python3; then make_venv "$@" || missing+=("$1 with the packages of $2${why:+; $why}"); fi
}

# Installs the npm packages of PACKAGE-FILE into FOLDER. The copy of that file is made last: it
# marks a complete installation. No package runs scripts when it is installed.
make_node() { # FOLDER PACKAGE-FILE
  if cmp -s "$2" "$1/installed.json"; then return; fi
  echo "installing: $2 into $1"
  mkdir -p "$1" && cp "$2" "$1/package.json" &&
    npm install --prefix "$1" --loglevel error --no-package-lock --no-audit --no-fund --ignore-scripts &&
    cp "$2" "$1/installed.json"
}

can_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

# Runs COMMAND without its output. If it fails, $why gets the first line that names an error, or the
# last line.
quietly() { # COMMAND...
  why=
  if ! "$@" >"$log" 2>&1; then
    why="$1 said: $(grep -m 1 -iE '^(E|error|curl|wget):' "$log" || tail -n 1 "$log")"
    return 1
  fi
}

update_once() {
  if [ -z "${updated:-}" ]; then
    quietly apt-get update -qq || true # a missing package fails in the next step
    updated=1
  fi
}

# Installs packages. If an earlier installation was interrupted, it is finished first, since apt-get
# refuses to work before that.
install() { # PACKAGE...
  local -x DEBIAN_FRONTEND=noninteractive
  update_once
  if quietly apt-get install -y -qq --no-install-recommends "$@"; then return; fi
  [[ $why == *"dpkg was interrupted"* ]] && quietly dpkg --configure -a &&
    quietly apt-get install -y -qq --no-install-recommends "$@"
}

# Prints the version of PACKAGE in the distribution, if any.
offered() { # PACKAGE
  update_once
  apt-cache policy "$1" | awk '/Candidate:/ && $2 != "(none)" { print $2 }'
}

install_rust() {
  local rustc
  rustc=$(offered rustc)
  if at_least "${rustc:-0}" "$wanted_rust"; then
    install rustc cargo ca-certificates
  elif command -v rustup >/dev/null || { [ -n "$(offered rustup)" ] && install rustup ca-certificates; }; then
    hash -r
    quietly rustup toolchain install stable --profile minimal --no-self-update && quietly rustup default stable
  else
    run_rustup_installer
  fi
}

run_rustup_installer() {
  local answer=yes script
  echo "the distribution's Rust is too old, and it has no rustup; rustup's installer is at $rustup_url (minimal profile, into ~/.cargo and ~/.rustup)"
  if [ -t 0 ]; then read -r -p "Run it? [Y/n] " answer; fi
  if [[ $answer == [nN]* ]]; then
    why="rustup's installer was declined"
    return 1
  fi
  command -v curl >/dev/null || install curl ca-certificates || return
  script=$(mktemp)
  quietly curl --proto '=https' --tlsv1.2 -sSf "$rustup_url" -o "$script" &&
    quietly sh "$script" -y --profile minimal --default-toolchain stable --no-modify-path
  local status=$?
  rm "$script"
  return $status
}

# Installs rustup's components, or the distribution's packages, whichever belong to the Rust in use.
install_lint() {
  if command -v rustup >/dev/null && quietly rustup component add clippy rustfmt; then return; fi
  install rust-clippy rustfmt
}

# Runs INSTALL-COMMAND if has_NAME fails and this user can install packages. Notes HOW-TO as missing
# if has_NAME still fails.
need() { # NAME INSTALL-COMMAND HOW-TO
  if "has_$1"; then return; fi
  why=
  if can_install; then
    echo "installing: $1"
    $2 || true
    hash -r
  fi
  "has_$1" || [[ " ${missing[*]-}" == *" $3"* ]] || missing+=("$3${why:+; $why}")
}

need_crate() { # CRATE PROGRAM
  if has_all "$2" || [ -x "${CARGO_HOME:-$HOME/.cargo}/bin/$2" ]; then return; fi
  echo "installing: $1, some minutes"
  quietly "${CARGO:-cargo}" install "$1" --locked || missing+=("$1: cargo install $1 --locked; $why")
}

how_to_get_rust() {
  local have
  have=$(rust_version || true)
  printf 'Rust %s or newer' "$wanted_rust"
  if [ -n "$have" ]; then printf ' (found: %s)' "$have"; fi
  if command -v rustup >/dev/null; then
    printf ': rustup toolchain install stable --profile minimal && rustup default stable'
  else
    printf ", which needs no root: curl --proto '=https' --tlsv1.2 -sSf %s | sh -s -- --profile minimal" "$rustup_url"
  fi
}

for name in "$@"; do
  case $name in
    rust) need rust install_rust "$(how_to_get_rust)" ;;
    lint) need lint install_lint "clippy and rustfmt: rustup component add clippy rustfmt" ;;
    cc) need cc "install gcc libc6-dev" "a C compiler (Debian: apt-get install gcc libc6-dev)" ;;
    cxx) need cxx "install g++ libc6-dev" "g++ (Debian: apt-get install g++ libc6-dev)" ;;
    gzip) need gzip "install gzip" "gzip (Debian: apt-get install gzip)" ;;
    valgrind) need valgrind "install valgrind" "valgrind (Debian: apt-get install valgrind)" ;;
    strace) need strace "install strace" "strace (Debian: apt-get install strace)" ;;
    zstd) need zstd "install zstd" "zstd (Debian: apt-get install zstd)" ;;
    python3) need python3 "install python3 python3-venv" "Python 3.11 or newer with venv (Debian: apt-get install python3-venv)" ;;
    peers) need peers "install cmake make gcc g++ libc6-dev zlib1g-dev libisal-dev liblzo2-2" \
      "cmake, zlib and ISA-L (Debian: apt-get install cmake g++ zlib1g-dev libisal-dev liblzo2-2)" ;;
    archivers) need archivers "install squashfs-tools squashfuse tar zstd zip unzip 7zip" \
      "archivers (Debian: apt-get install squashfs-tools squashfuse tar zstd zip unzip 7zip)" ;;
    rocksdb) need rocksdb "install librocksdb-dev rocksdb-tools gcc libc6-dev" \
      "RocksDB with its tools (Debian: apt-get install librocksdb-dev rocksdb-tools)" ;;
    rocksdb-11)
      if ! has_rocksdb-11; then
        echo "getting: RocksDB $rocksdb_11"
        get_rocksdb-11 || missing+=("RocksDB $rocksdb_11 (on Linux, with Maven and a JDK from 17 on: scripts/setup.sh java)")
      fi
      ;;
    rocksdb-old)
      if ! has_rocksdb-old; then
        echo "getting: RocksDB $rocksdb_old"
        get_rocksdb-old || missing+=("RocksDB $rocksdb_old (on Linux, with Maven and a JDK from 17 on: scripts/setup.sh java)")
      fi
      ;;
    hdf5-tools) need hdf5-tools "install hdf5-tools" "h5dump and h5repack (Debian: apt-get install hdf5-tools)" ;;
    zlib) need zlib "install zlib1g-dev gcc libc6-dev" "zlib's headers (Debian: apt-get install zlib1g-dev)" ;;
    cpython-tests)
      need cpython-tests install_cpython-tests "CPython's tests (Debian: apt-get install libpython3.11-testsuite)"
      ;;
    servers)
      if ! has_servers; then
        echo "downloading: nginx and Apache"
        why=
        get_servers || missing+=("nginx and Apache (Debian: apt-get install nginx apache2)${why:+; $why}")
      fi
      ;;
    wrk) need wrk "install wrk" "wrk (Debian: apt-get install wrk)" ;;
    pkg-config) need pkg-config "install pkgconf" "pkg-config (Debian: apt-get install pkgconf)" ;;
    mono) need mono "install mono-mcs mono-runtime" "Mono (Debian: apt-get install mono-mcs mono-runtime)" ;;
    cmake) need cmake "install cmake make" "CMake (Debian: apt-get install cmake)" ;;
    go) need go "install golang-go" "Go (Debian: apt-get install golang-go)" ;;
    chromium) need chromium "install chromium" "Chromium (Debian: apt-get install chromium)" ;;
    java) need java "install default-jdk-headless maven" \
      "a JDK from 17 on, and Maven (Debian: apt-get install default-jdk-headless maven)" ;;
    node)
      need node "install nodejs npm" "Node.js 18 or newer with npm (Debian: apt-get install nodejs npm)"
      if has_node; then
        make_node target/node bindings/node/package.json || missing+=("target/node with the packages of bindings/node")
      fi
      ;;
    mdbook | cargo-fuzz | cargo-mutants | cargo-deny | cargo-cyclonedx) need_crate "$name" "$name" ;;
    typos-cli) need_crate "$name" typos ;;
    hdl)
      need hdl "install iverilog verilator yosys z3 ghdl g++ make python3 python3-venv" \
        "tools for Verilog and VHDL (Debian: apt-get install iverilog verilator yosys z3 ghdl g++ make python3-venv)"
      ;;
    pnr)
      need nextpnr-ice40 "install yosys nextpnr-ice40" "nextpnr for iCE40 (Debian: apt-get install yosys nextpnr-ice40)"
      need_venv target/venv-hdl accel/hdl/syn/requirements.txt
      ;;
    repack)
      need repack "install advancecomp gzip pigz samtools tabix zstd" \
        "bgzip, samtools, pigz, advdef and zstd (Debian: apt-get install advancecomp pigz samtools tabix zstd)"
      ;;
    zig) need_venv target/venv-dist scripts/requirements-dist.txt ;;
    deb)
      need deb "install dpkg-dev lintian mmdebstrap" "dpkg-deb, lintian, mmdebstrap (Debian: apt-get install dpkg-dev lintian mmdebstrap)"
      ;;
    foreign)
      need foreign install_foreign "compilers and emulators for other machines (Debian: apt-get install g++-aarch64-linux-gnu qemu-user gcc-i686-linux-gnu clang llvm wasi-libc nodejs gcc-mingw-w64-x86-64 wine)"
      ;;
    arm64)
      need arm64 "install qemu-user-static mmdebstrap" "qemu-aarch64-static, mmdebstrap (Debian: apt-get install qemu-user-static mmdebstrap)"
      ;;
    nvidia) need_venv target/venv-cuda accel/cuda/requirements.txt ;;
    python) need_venv target/venv scripts/requirements-test.txt ;;
    zarr)
      if newer=$(newest_python); then
        make_venv target/venv-zarr scripts/requirements-zarr.txt "$newer" ||
          missing+=("target/venv-zarr with the packages of scripts/requirements-zarr.txt")
      else
        missing+=("Python 3.12 or newer with venv, for the newest zarr")
      fi
      ;;
    labs) need_venv target/venv-labs scripts/requirements-labs.txt ;;
    bench-python)
      need cxx-python "install g++ python3-dev" "g++ and Python's headers (Debian: apt-get install g++ python3-dev)"
      # hdf5plugin is built from source for this machine, with threads and only the measured filters.
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
