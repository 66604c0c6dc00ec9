#!/usr/bin/env bash
# test.sh PART...: runs parts of the tests in the given order, and counts skips. STRICT=1 makes a skip a failure.
# Parts of `make test`: format rust scalar nostd hdl hdf5 python java node cuda fuzz lint msrv; cli, a part of rust alone.
# Parts of `make assure`: defaults matrix zstd-corpus websocket-peers rocksdb haproxy zlib-suites miri loom tsan damage mutants sanitizers foreign dist java25 node18 zarr labs soak fuzz report packages deny spelling hdl-long pnr repack decoding-study large-folders.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/rust.sh
. scripts/record.sh

cargo=${CARGO:-cargo}
strict=${STRICT:-0}
# Cargo profile of the libraries that other languages load. `rust` has already compiled most of their crates with it;
# users install `dist`, which has link-time optimization.
profile=dev
case $(uname -s) in MINGW* | MSYS* | CYGWIN*) windows=yes ;; *) windows= ;; esac
skipped=0
notes=0
finished=
took=
# All workspaces use one target folder, so that dependencies shared with fuzz/ and scripts/nostd/ are compiled once.
mkdir -p "${CARGO_TARGET_DIR:=target}"
CARGO_TARGET_DIR=$(cd "$CARGO_TARGET_DIR" && pwd)
export CARGO_TARGET_DIR
if [ -t 1 ]; then export CARGO_TERM_COLOR=always; fi

skip() { # WHAT WHY
  if [ "$strict" = 1 ]; then
    echo "failed: $1: $2" >&2
    exit 1
  fi
  echo "skipped: $1: $2"
  skipped=$((skipped + 1))
}

# Prints a remark that is never a failure, not even with STRICT=1.
note() { # WHAT
  echo "note: $1"
  notes=$((notes + 1))
}

ran() { # PART
  [[ " $finished " == *" $1 "* ]]
}

# A test that lacks a program to compare with prints "SKIP: ..." and passes. With STRICT=1 it fails.
cargo_test() { # ARGUMENT...
  local log
  log=$(mktemp)
  "$cargo" test --locked "$@" 2>&1 | tee "$log"
  skipped=$((skipped + $(grep -c 'SKIP: ' "$log" || true)))
  rm "$log"
}

# There is one set of features, because a second one would compile most crates again. Examples are not linked here; `lint`
# checks them.
features=linerate-io/s3,linerate-nx/s3,linerate/s3,linerate-bench/peers,linerate-zstd/futures-io,linerate-zstd/tokio,linerate-nx/futures-io,linerate-nx/tokio,linerate-gateway/metrics,linerate-websocket/axum,linerate-websocket/soketto
test_rust() {
  if [ -n "$windows" ]; then
    # On Windows this tests the engines, the crate for websockets, and the command, without FUSE.
    local engines=()
    for crate in core io deflate inflate zstd rice dict nx gateway gateway-sim websocket; do engines+=(--package "linerate-$crate"); done
    cargo_test "${engines[@]}" --package linerate --features linerate-nx/futures-io,linerate-nx/tokio,linerate-testkit/zlib --tests
    return
  fi
  cargo_test --workspace --tests --features "$features"
  cargo_test --workspace --doc --features "$features"
}

# Runs the tests of the crates that have code per CPU tier on the portable form. It uses the programs that `rust` built,
# because naming the packages would select other features and compile them again.
test_scalar() {
  local crate program found=0 log
  log=$(mktemp)
  while read -r crate program; do
    found=$((found + 1))
    echo "     Running ${program##*/} (crates/$crate)"
    local tests=()
    case $crate/${program##*/} in
      nx/it-*) tests=(filters:: filtered::) ;; # archives: only the texture filters
      nx/linerate_nx-*) ;;
      nx/*) continue ;;
    esac
    (cd "crates/$crate" && LINERATE_CPU=scalar "$program" --quiet "${tests[@]}" </dev/null 2>&1) | tee -a "$log"
  done < <("$cargo" test --workspace --tests --features "$features" --locked --no-run --message-format=json |
    sed -nE 's~.*"package_id":"[^"]*/crates/(core|deflate|gateway|inflate|nx|rice|zstd)#.*"executable":"([^"]*)".*~\1 \2~p')
  [ "$found" -ge 19 ] || { echo "failed: scalar: $found test programs" >&2; exit 1; }
  skipped=$((skipped + $(grep -c 'SKIP: ' "$log" || true)))
  rm "$log"
}

# Tests the workspace with default features, as users of the crates compile it.
test_defaults() { cargo_test --workspace; }
test_matrix() {
  LINERATE_CPU=scalar cargo_test --workspace --tests --features "$features"
  LINERATE_CPU=avx2 cargo_test --workspace --tests --features "$features"
  PROPTEST_CASES=${PROPTEST_CASES:-2000} cargo_test --workspace --tests --features "$features"
}
test_soak() { make soak-java; }

# Decodes frames of zstd's own generator: FRAMES of them, by default 100,000.
test_zstd-corpus() { or_skip "frames of zstd's generator" scripts/zstd-corpus.sh "${FRAMES:-100000}"; }

# Exchanges messages with websocket libraries of others, with every window.
test_websocket-peers() { or_skip "websocket libraries" scripts/websocket-peers.sh; }

# Reads SST files of RocksDB 6, 8, 9 and 11 with every kind of dictionary. The part `rust` reads those of RocksDB 7.
test_rocksdb() {
  if ! scripts/setup.sh cc java rocksdb rocksdb-11 rocksdb-old; then
    skip "SST files of several RocksDBs" "see above"
    return
  fi
  local library format
  for library in 6.29.5/5 8.11.4/6 9.11.2/6 ./7; do
    format=${library#*/}
    library=$CARGO_TARGET_DIR/rocksdb/${library%/*}/librocksdb.so
    LINERATE_ROCKSDB=$library LINERATE_ROCKSDB_FORMAT=$format \
      cargo_test --workspace --features "$features" --test it -- sst::matrix::all_versions sst::matrix::files_for_which
  done
}

# Runs programs of others that read, join, cut and rewrite files of `linerate`.
test_repack() {
  scripts/setup.sh repack python3 || true
  build_program
  or_skip "programs that rewrite our files" scripts/repack.sh
}

# Measures size and decoding speed of textures in BC1 and BC7, by level, block size, parsing, codec
# and threads. Writes lines for records/archives.jsonl to target/decoding-study.jsonl.
test_decoding-study() {
  local textures=${LINERATE_CORPORA:-$HOME/.cache/linerate-corpora}/textures kind
  if [ ! -d "$textures/bc1" ]; then
    skip "the decoding study" "no $textures/bc1; LINERATE_CORPORA has textures by format"
    return
  fi
  for kind in bc1 bc7; do
    "$cargo" run --locked --release --package linerate-bench --bin linerate-bench --features peers -- archives \
      --corpus "$textures/$kind" --only settings --level 12,13,14,16,19,22 --record "$CARGO_TARGET_DIR/decoding-study.jsonl"
  done
}

# Packs, updates, extracts and mounts a folder of 100,000 files and one of 5 GB, and interrupts and
# kills these commands. The folder LARGE_FOLDERS (target/large-folders) needs 16 GB. Writes lines
# for records/large-folders.jsonl to target/large-folders.jsonl.
test_large-folders() {
  local folder=${LARGE_FOLDERS:-$CARGO_TARGET_DIR/large-folders}
  "$cargo" build --locked --release --package linerate
  mkdir -p "$folder"
  python3 bench/large_folders.py --linerate "$CARGO_TARGET_DIR/release/linerate" --folder "$folder" | tee "$CARGO_TARGET_DIR/large-folders.jsonl"
  if [ ! -w /dev/fuse ]; then skip "mounts of large folders" "there is no /dev/fuse"; fi
}

# Builds HAProxy from Debian's source with Linerate's libslz. Pages must come through it unchanged.
test_haproxy() {
  if ! scripts/setup.sh servers wrk; then
    skip HAProxy "see above"
    return
  fi
  or_skip HAProxy scripts/haproxy-slz.sh target/haproxy
  if [ -x target/haproxy/haproxy-linerate ]; then
    python3 bench/servers/measure.py haproxy linerate=target/haproxy/haproxy-linerate --levels 1,2,3 --seconds 1
  fi
}

# Runs test suites of languages, and git, which use zlib, with Linerate's functions loaded before
# zlib's.
test_zlib-suites() {
  "$cargo" build --locked --package linerate-z
  or_skip "suites on zlib" scripts/zlib-suites.sh target/zlib-suites "$CARGO_TARGET_DIR/debug/liblinerate_z.so"
}

# Runs the crates' tests for other machines, with emulators (docs/reference/platforms.md). The
# record is target/platforms.csv. Rust's libraries for these machines come from rustup; foreign.sh
# names those that are missing.
test_foreign() {
  scripts/setup.sh foreign || true
  CSV=target/platforms.csv or_skip "other targets" scripts/foreign.sh
}

# Runs a command, and skips WHAT if its status is 77, which means that something is missing.
or_skip() { # WHAT COMMAND...
  local status=0
  "${@:2}" || status=$?
  if [ $status = 77 ]; then skip "$1" "see above"; else return $status; fi
}

# Runs tests of the portable code in Miri, an interpreter that finds undefined behaviour. Miri has
# no AVX2 and runs no C. Each of the runs below is stopped after MIRI_SECONDS (1,800), which is no
# failure.
test_miri() {
  if ! "$cargo" +nightly miri --version >/dev/null 2>&1; then
    note "no Miri (rustup +nightly component add miri rust-src)"
    return
  fi
  local -x MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-permissive-provenance"
  miri --package linerate-core --lib
  miri --package linerate-inflate --lib
  miri --package linerate-inflate --test it vectors::
  miri --package linerate-zstd --lib
  miri --package linerate-zstd --test it -- generated:: vectors::
}

miri() { # ARGUMENT...
  local status=0 limit=${MIRI_SECONDS:-1800}
  timeout "$limit" "$cargo" +nightly miri test --locked "$@" || status=$?
  if [ $status = 124 ]; then note "Miri was stopped after $limit s: $*"; else return $status; fi
}

# Runs a model of the lock-free slots of dictionaries, with the steps of two threads in every order
# (crates/dict/src/store/model.rs).
test_loom() {
  RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=$CARGO_TARGET_DIR/loom \
    "$cargo" test --locked --package linerate-dict --no-default-features --lib model
}

# Runs tests with threads under ThreadSanitizer, with the standard library compiled for it:
# dictionaries, archives, connections, and the objects that Java holds. One test runs at a time:
# rustix unmaps memory without libc, which the sanitizer does not see, so it would take memory that
# another test maps at the same address for the same memory.
test_tsan() {
  if [[ $(rustup component list --installed --toolchain nightly 2>/dev/null) != *rust-src* ]]; then
    note "no ThreadSanitizer (rustup toolchain install nightly --component rust-src)"
    return
  fi
  local -x RUSTFLAGS=-Zsanitizer=thread CARGO_TARGET_DIR=$CARGO_TARGET_DIR/tsan RUST_TEST_THREADS=1
  local tests=(-Z build-std --target "$(rustc -vV | sed -n 's/^host: //p')" --locked)
  "$cargo" +nightly test "${tests[@]}" --package linerate-dict --lib
  "$cargo" +nightly test "${tests[@]}" --package linerate-dict --test it -- tiers:: hashes:: sources:: pack::
  "$cargo" +nightly test "${tests[@]}" --package linerate-nx --lib -- shared parallel hash
  "$cargo" +nightly test "${tests[@]}" --package linerate-nx --test it shared::
  "$cargo" +nightly test "${tests[@]}" --package linerate-gateway --lib -- ring pool
  "$cargo" +nightly test "${tests[@]}" --package linerate-gateway --test it pool::
  "$cargo" +nightly test "${tests[@]}" --package linerate-java --lib threads
}

# Tests the effects of kills and full disks on each command that writes, and of damaged input on
# each that reads, DAMAGE_ROUNDS (200) times. The record is target/damage.csv.
test_damage() {
  local record=$CARGO_TARGET_DIR/damage.csv rows run
  rows=$(mktemp)
  local -x LINERATE_DAMAGE=${DAMAGE_ROUNDS:-200} LINERATE_DAMAGE_CSV=$rows
  cargo_test --package linerate --test it -- damage::readers damage::writers
  cargo_test --package linerate-websocket --test it frames::every_truncation
  cargo_test --package linerate-hdf5 --test it every_truncation
  run="$(date -u +%F),$(processor),$(linerate_version)"
  {
    echo "date,cpu,linerate,$(sed -n 's/^pub const COLUMNS: &str = "\(.*\)";/\1/p' crates/testkit/src/damage.rs),command"
    sed "s~^~$run,~; s~\$~,scripts/test.sh damage (DAMAGE_ROUNDS=$LINERATE_DAMAGE)~" "$rows"
  } >"$record"
  rm "$rows"
  echo "wrote $record"
}

# Runs every fuzz target under AddressSanitizer, guided by coverage. The record is target/fuzz.csv.
test_sanitizers() {
  if ! "$cargo" +nightly --version >/dev/null 2>&1; then
    note "no fuzzing under AddressSanitizer (rustup toolchain install nightly)"
  elif scripts/setup.sh cxx cargo-fuzz; then
    scripts/fuzz.sh "${SECONDS_PER_TARGET:-60}" target/fuzz.csv
  else
    skip "fuzzing under AddressSanitizer" "see above"
  fi
}

# Changes code in many places, one at a time, which tests must detect: shard MUTANTS (0/200) of all
# such changes. The record is target/mutants.csv.
test_mutants() {
  if scripts/setup.sh cargo-mutants; then
    scripts/mutants.sh target/mutants.csv "${MUTANTS:-0/200}" linerate-{core,io,deflate,inflate,zstd,rice,gateway,gateway-sim}
  else
    skip mutants "see above"
  fi
}

# Opens the report of `linerate plan` in a browser.
test_report() {
  if scripts/setup.sh chromium; then scripts/report-check.sh; else skip "reports in a browser" "see above"; fi
}

# Checks the licences and sources of dependencies, and known vulnerabilities if RustSec's list can be fetched, or if
# ADVISORIES=FOLDER is a clone of it.
test_deny() {
  if ! scripts/setup.sh cargo-deny; then
    skip "licences of dependencies" "see above"
    return
  fi
  "$cargo" deny --log-level error check licenses bans sources
  if [ -n "${ADVISORIES:-}" ]; then
    local -x GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=url.$ADVISORIES.insteadOf
    local -x GIT_CONFIG_VALUE_0=https://github.com/RustSec/advisory-db
  fi
  if "$cargo" deny fetch db >/dev/null 2>&1; then
    "$cargo" deny --log-level error check advisories
    echo "list of vulnerabilities: $(git -C "${CARGO_HOME:-$HOME/.cargo}"/advisory-dbs/advisory-db-* log -1 --format='%cs %h')"
  else
    note "vulnerabilities were not checked: their list cannot be fetched here"
  fi
}

test_spelling() {
  if scripts/setup.sh typos-cli; then
    PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin typos
  else
    skip spelling "see above"
  fi
}

# Tests each crate as a package, outside the workspace.
test_packages() { scripts/package-check.sh; }

# Tests the hardware of accel/hdl: lint, benches, short proofs. Runs before `hdf5`, whose tests also simulate it.
test_hdl() {
  if scripts/setup.sh hdl; then scripts/hdl.sh quick; else skip "FPGA" "see above"; fi
}

test_hdl-long() {
  if scripts/setup.sh hdl; then scripts/hdl.sh long; else skip "FPGA, 10^7 samples and all proofs" "see above"; fi
}

# Places and routes the FPGA cores. The encoders must reach 100 MHz on ECP5. The record is
# target/hdl/fpga.csv.
test_pnr() {
  if scripts/setup.sh python3 pnr; then
    PATH=$PWD/target/venv-hdl/bin:$PATH python3 accel/hdl/syn/record.py target/hdl/fpga.csv --check
  else
    skip "FPGA, place and route" "see above"
  fi
}

# Tests what users install: plugins, wheel, Java library and npm packages, optimized as for a release.
test_dist() {
  local profile=dist
  test_hdf5
  test_python
  test_java
  test_node
}

test_cli() { cargo_test --package linerate; }

test_nostd() {
  "$cargo" check --package linerate-core --no-default-features --locked
  "$cargo" check --package linerate-deflate --no-default-features --locked
  "$cargo" check --package linerate-deflate --no-default-features --features alloc --locked
  "$cargo" check --package linerate-inflate --no-default-features --locked
  "$cargo" check --package linerate-inflate --no-default-features --features alloc,small --locked
  "$cargo" check --package linerate-rice --no-default-features --locked
  "$cargo" check --package linerate-rice --no-default-features --features alloc --locked
  "$cargo" check --package linerate-zstd --no-default-features --locked
  "$cargo" check --package linerate-zstd --no-default-features --features small --locked
  # Without default features these crates only read, and compile no C
  # (crates/testkit/tests/it/without_c.rs).
  "$cargo" check --package linerate-nx --no-default-features --locked
  "$cargo" check --package linerate-dict --no-default-features --locked
  "$cargo" check --package linerate-nx --package linerate-dict --no-default-features --all-targets --locked
  # linerate-rice is left out: its tests need `alloc`, and their dependencies turn `std` on
  # everywhere.
  cargo_test --package linerate-core --package linerate-deflate --package linerate-inflate --package linerate-zstd --no-default-features --lib
  cargo_test --package linerate-zstd --features small --lib
  cargo_test --package linerate-zstd --features small --test it -- vectors:: stream::
  # Only this fails if a dependency brings in std: two panic handlers cannot be linked.
  (cd scripts/nostd && "$cargo" build --locked)
}

# Builds the program `linerate`, whose gateway the tests of clients in other languages start, unless
# an earlier part has built it.
build_program() { ran rust || ran cli || "$cargo" build --quiet --locked --package linerate; }

# Installs the Python package into target/venv, and tests it and the benches in Python.
test_python() {
  scripts/setup.sh python
  target/venv/bin/python -m pip install --quiet --disable-pip-version-check \
    --config-settings "profile=$profile" ./bindings/python
  build_program
  run_pytest bindings/python/tests
  run_pytest bench/waveforms/tests
  run_pytest bench/gateway/tests
}

# Tests the HDF5 plugins, which HDF5 finds by HDF5_PLUGIN_PATH, in h5py and in HDF5's own tools.
test_hdf5() {
  if ! scripts/setup.sh hdf5-tools python; then
    skip "HDF5 plugins" "see above"
    return
  fi
  ran rust || cargo_test --package linerate-hdf5
  scripts/hdf5-plugins.sh "target/hdf5-plugins-$profile" "$profile"
  local -x HDF5_PLUGIN_PATH=$PWD/target/hdf5-plugins-$profile
  run_pytest bindings/hdf5/tests
  cargo_test --workspace --features "$features" --test it plan::shapes::hdf5_file_gives_commands_of_h5repack
}

# Tests the codecs on the newest zarr, which needs a newer Python than 3.11 and has one more way to
# run codecs, and in the test suite of numcodecs.
test_zarr() {
  if ! scripts/setup.sh zarr; then
    skip "the newest zarr" "see above"
    return
  fi
  local -x venv=target/venv-zarr
  $venv/bin/python -m pip install --quiet --disable-pip-version-check --upgrade --requirement scripts/requirements-zarr.txt
  # Since 0.17 numcodecs' test suite is not in its wheel, so it comes from the source archive of the
  # same version.
  local site version
  site=$(echo $venv/lib/python3*/site-packages)
  version=$($venv/bin/python -c 'import numcodecs; print(numcodecs.__version__)')
  $venv/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary numcodecs --dest $venv "numcodecs==$version"
  tar -xzf "$venv/numcodecs-$version.tar.gz" --directory "$site/numcodecs" --strip-components=1 "numcodecs-$version/tests"
  $venv/bin/python -m pip install --quiet --disable-pip-version-check --config-settings "profile=$profile" ./bindings/python
  run_pytest bindings/python/tests/test_codecs.py bindings/python/tests/test_dask.py bindings/python/tests/test_xarray.py \
    bindings/python/tests/suites
}

# Tests the Python package with the newest versions of libraries of laboratories, with numcodecs and
# without zarr 3.
test_labs() {
  if ! scripts/setup.sh labs; then
    skip "SpikeInterface, neo, NWB, LEGEND" "see above"
    return
  fi
  local -x venv=target/venv-labs
  $venv/bin/python -m pip install --quiet --disable-pip-version-check --upgrade --requirement scripts/requirements-labs.txt
  $venv/bin/python -m pip install --quiet --disable-pip-version-check --config-settings "profile=$profile" \
    "./bindings/python[numcodecs,hdf5]"
  run_pytest bindings/python/tests/labs
}

run_pytest() { # ARGUMENT...
  local log
  log=$(mktemp)
  "${venv:-target/venv}/bin/python" -m pytest -q -rs -p no:cacheprovider "$@" 2>&1 | tee "$log"
  local skips
  skips=$(grep -c '^SKIPPED' "$log" || true)
  rm "$log"
  if [ "$skips" != 0 ]; then skip "$skips Python tests" "see above"; fi
}

# Tests all Java modules on the JDK that builds them. Then, if there is Java 25, runs on it the tests of native access:
# loading the library, memory outside the heap, and checked JNI calls.
test_java() {
  if ! scripts/setup.sh java; then
    skip "Java" "see above"
    return
  fi
  build_program
  if [ ! -e target/rocksdb/include ]; then skip "Java in RocksDB" "its headers are not in target/rocksdb (scripts/setup.sh rocksdb-11)"; fi
  run_maven verify
  on_java_25 --projects gateway '-Dtest=LoaderTest,LifetimeTest,CheckedJniTest,CheckedCallsTest'
}

# Tests all Java modules on Java 25.
test_java25() {
  build_program
  on_java_25
}

on_java_25() { # MAVEN-ARGUMENT...
  local newer
  newer=$(java_25)
  if [ -n "$newer" ]; then
    run_maven test "$@" "-Djvm=$newer" -Dlinerate.testArguments=--enable-native-access=ALL-UNNAMED
  else
    # This is no failure even with STRICT=1, because distributions do not have Java 25 yet.
    echo "skipped: Java 25: not found (set JAVA25_HOME=folder)"
    skipped=$((skipped + 1))
  fi
}

java_25() {
  local java
  for java in "${JAVA25_HOME:-/usr/lib/jvm/none}" /usr/lib/jvm/*25*; do
    if [ -x "$java/bin/javac" ]; then
      echo "$java/bin/java"
      return
    fi
  done
}

run_maven() { # ARGUMENT...
  local log skips
  log=$(mktemp)
  mvn --batch-mode --no-transfer-progress --file bindings/java/pom.xml "-Dcargo.profile=$profile" "$@" 2>&1 | tee "$log"
  skips=$(sed -n 's/.*Tests run: .*Skipped: \([1-9][0-9]*\)$/\1/p' "$log" | awk '{ all += $1 } END { print all + 0 }')
  rm "$log"
  if [ "$skips" != 0 ]; then skip "$skips Java tests" "see above"; fi
}

# Tests the npm packages as they would be installed, in target/node. Also tests discord.js with the
# gateway of `linerate`: in target/node without zlib-sync, and in target/node-zlib-sync with
# @linerate/zlib-sync in its place.
test_node() {
  if ! scripts/setup.sh node; then
    skip "Node.js" "see above"
    return
  fi
  build_program
  scripts/node-packages.sh target/node target/node-zlib-sync "$profile"
  node_tests node
}

node_tests() { # PROGRAM
  NODE_PATH=$PWD/target/node/node_modules "$1" --expose-gc --test bindings/node/test/*.test.js
  NODE_PATH=$PWD/target/node-zlib-sync/node_modules "$1" --test bindings/node/test/discord.test.js
}

# Tests the npm packages on the oldest supported Node.js, which npm has as a package.
test_node18() {
  local package
  package=node-$(node -p 'process.platform + "-" + process.arch')
  if ! npm install --prefix target/node18 --silent --no-package-lock --no-audit --no-fund --ignore-scripts "$package@18"; then
    skip "Node.js 18" "npm cannot install $package@18"
    return
  fi
  ran node || test_node
  node_tests "target/node18/node_modules/$package/bin/node"
}

# Runs the CUDA kernels on the CPU, under sanitizers; checks that their sources compile to the committed PTX; and checks the
# interface of nvCOMP, which the bench calls.
test_cuda() {
  if ! scripts/setup.sh cxx; then
    skip "CUDA kernels" "see above"
    return
  fi
  accel/cuda/test.sh
  if scripts/setup.sh nvidia; then
    target/venv-cuda/bin/python accel/cuda/ptx.py --check
    local LINERATE_NVCOMP
    LINERATE_NVCOMP=$(echo "$PWD"/target/venv-cuda/lib/python3*/site-packages/nvidia/libnvcomp/lib64/libnvcomp.so.6)
    export LINERATE_NVCOMP
    # If the part `rust` ran, its packages and features are named, so that nothing is compiled
    # again.
    local crates=(--package linerate-cuda)
    if ran rust; then crates=(--workspace --features "$features"); fi
    cargo_test "${crates[@]}" --test it -- --ignored gpu_bench::
  else
    skip "PTX of the CUDA kernels, interface of nvCOMP" "see above"
  fi
}

test_fuzz() {
  (cd fuzz && "$cargo" test --locked --lib && "$cargo" run --locked --bin smoke -- "${SECONDS_PER_TARGET:-3}")
}

# Checks the syntax of scripts and the formatting of Rust. The first part of `make test`, because it
# takes a second.
test_format() {
  for script in scripts/*.sh .ci/run; do bash -n "$script"; done
  with_lint_rust format
}

test_lint() { with_lint_rust lint; }

# Calls a function that lints, with the version of Rust that `lint-rust` in Cargo.toml names, if it
# is installed. Lints differ between versions, so warnings are errors only with this version, and
# are counted with others.
with_lint_rust() { # FUNCTION
  scripts/setup.sh lint || true
  local lint_rust strictly=yes
  lint_rust=$(sed -n 's/^lint-rust = "\(.*\)"/\1/p' Cargo.toml)
  if [[ $(rust_version) != "${lint_rust%.*}".* ]]; then
    if rustup run "$lint_rust" cargo clippy --version >/dev/null 2>&1; then
      local -x RUSTUP_TOOLCHAIN=$lint_rust
    else
      strictly=
      note "lint runs with Rust $(rust_version) instead of $lint_rust, so warnings are not errors"
    fi
  fi
  "$1"
}

format() {
  if "$cargo" fmt --version >/dev/null 2>&1; then
    formatted . --all
    formatted fuzz
    formatted scripts/nostd
    formatted scripts/zstd-size
  else
    skip formatting "rustfmt is not installed (rustup component add rustfmt)"
  fi
}

lint() {
  if "$cargo" clippy --version >/dev/null 2>&1; then
    clippy --workspace --all-targets --features "$features"
    clippy --workspace --lib --bins # default features: those of `cargo doc` below, which compiles no dependency again
    clippy --package linerate-bench --no-default-features --features demo --bin demo # as `make demo` builds it
    clippy --package linerate-deflate --lib --no-default-features
    clippy --package linerate-deflate --lib --no-default-features --features alloc
    clippy --package linerate-inflate --lib --no-default-features
    clippy --package linerate-inflate --lib --no-default-features --features alloc,small
    clippy --package linerate-rice --lib --no-default-features
    clippy --package linerate-rice --lib --no-default-features --features alloc
    clippy --package linerate-zstd --lib --no-default-features
    clippy --package linerate-zstd --lib --features small
    clippy --manifest-path fuzz/Cargo.toml --all-targets
  else
    skip clippy "it is not installed (rustup component add clippy)"
  fi
  RUSTDOCFLAGS=${strictly:+-D warnings} counting_warnings "$cargo" doc --workspace --no-deps --locked
}

formatted() { # FOLDER ARGUMENT...
  if (cd "$1" && "$cargo" fmt "${@:2}" --check); then return; fi
  [ -z "$strictly" ] && note "this rustfmt would format $1 differently"
}

clippy() { # ARGUMENT...
  local level="--cap-lints warn"
  if [ -n "$strictly" ]; then level="-D warnings"; fi
  # shellcheck disable=SC2086
  counting_warnings "$cargo" clippy --locked "$@" -- $level
}

counting_warnings() { # COMMAND...
  local log warnings
  log=$(mktemp)
  "$@" 2>&1 | tee "$log"
  warnings=$(sed -n 's/.*generated \([0-9]*\) warning.*/\1/p' "$log" | awk '{ all += $1 } END { print all + 0 }')
  rm "$log"
  if [ "$warnings" != 0 ]; then note "$warnings warnings: ${*:2}"; fi
}

# Compiles everything with the minimum supported version of Rust, if rustup has it.
test_msrv() {
  local oldest
  oldest=$(rustup toolchain list 2>/dev/null | sed -n "s/^\($wanted_rust[.0-9]*\)-.*/\1/p" | head -n 1)
  if [ -z "$oldest" ]; then
    note "nothing was compiled with Rust $wanted_rust, which is not installed (rustup toolchain install $wanted_rust)"
  else
    RUSTUP_TOOLCHAIN=$oldest "$cargo" check --workspace --all-targets --locked
  fi
}

# On Windows the C compiler is Microsoft's, which Rust finds by itself.
if [ -n "$windows" ]; then scripts/setup.sh rust gzip; else scripts/setup.sh rust cc gzip; fi
# Without these programs, tests that compare with them are skipped, or fail with STRICT=1.
[ -n "$windows" ] || scripts/setup.sh cxx valgrind strace zlib hdf5-tools cpython-tests servers pkg-config cmake mono zstd python3 rocksdb go node chromium || true
[ -n "$windows" ] || scripts/setup.sh java rocksdb-11 || true
for part in "$@"; do
  echo "== $part"
  began=$SECONDS
  "test_$part"
  finished+=" $part"
  took+=" $part $((SECONDS - began)) s,"
done
echo "took:${took%,}"
echo "notes: $notes"
echo "skipped: $skipped"
