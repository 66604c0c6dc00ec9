#!/usr/bin/env bash
# test.sh PART...: runs parts of the tests, in that order, and counts what was skipped.
# Parts: rust scalar nostd cli hdf5 python java fuzz lint. STRICT=1 makes a skip a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo=${CARGO:-cargo}
strict=${STRICT:-0}
skipped=0
if [ -t 1 ]; then export CARGO_TERM_COLOR=always; fi

skip() { # WHAT WHY
  if [ "$strict" = 1 ]; then
    echo "failed: $1: $2" >&2
    exit 1
  fi
  echo "skipped: $1: $2"
  skipped=$((skipped + 1))
}

# A test that lacks a program to test against says "SKIP: ..." and passes, or under STRICT=1 fails.
cargo_test() { # ARGUMENT...
  local log
  log=$(mktemp)
  "$cargo" test --locked "$@" 2>&1 | tee "$log"
  skipped=$((skipped + $(grep -c 'SKIP: ' "$log" || true)))
  rm "$log"
}

test_rust() {
  cargo_test --workspace
  # The same packages and features, so that nothing is compiled twice.
  local s3="--package linerate-nx --package linerate --features linerate-nx/s3,linerate/s3"
  cargo_test $s3 --lib --test remote --test remote_s3
  cargo_test $s3 --test nx remote::
}
test_scalar() { LINERATE_CPU=scalar cargo_test --workspace; }
test_cli() { cargo_test --package linerate; }

test_nostd() {
  "$cargo" build --package linerate-core --no-default-features --locked
  "$cargo" build --package linerate-deflate --no-default-features --locked
  "$cargo" build --package linerate-deflate --no-default-features --features alloc --locked
  "$cargo" build --package linerate-rice --no-default-features --locked
  "$cargo" build --package linerate-rice --no-default-features --features alloc --locked
  "$cargo" build --package linerate-zstd --no-default-features --locked
  # Only this fails when a dependency brings std in: two panic handlers cannot be linked.
  (cd scripts/nostd && "$cargo" build --locked)
}

# The package as users install it, into target/venv.
test_python() {
  scripts/setup.sh python
  target/venv/bin/python -m pip install --quiet --disable-pip-version-check ./bindings/python
  # Clients are tested with the program's gateway; the Rust tests have built it, unless this part runs alone.
  [ -x "${CARGO_TARGET_DIR:-target}/debug/linerate" ] || "$cargo" build --locked --package linerate
  run_pytest bindings/python/tests
  run_pytest bench/waveforms/tests
  run_pytest bench/gateway/tests
}

# The plugins as HDF5 finds them, in h5py and in HDF5's own tools.
test_hdf5() {
  if ! scripts/setup.sh hdf5-tools python; then
    skip "HDF5 plugins" "see above"
    return
  fi
  cargo_test --package linerate-hdf5
  scripts/hdf5-plugins.sh target/hdf5-plugins
  HDF5_PLUGIN_PATH=$PWD/target/hdf5-plugins run_pytest bindings/hdf5/tests
}

run_pytest() { # ARGUMENT...
  local log
  log=$(mktemp)
  target/venv/bin/python -m pytest -q -rs -p no:cacheprovider "$@" 2>&1 | tee "$log"
  local skips
  skips=$(grep -c '^SKIPPED' "$log" || true)
  rm "$log"
  if [ "$skips" != 0 ]; then skip "$skips Python tests" "see above"; fi
}

# All Java modules: on the JDK that builds them, and once more on 25 where there is one.
test_java() {
  if ! scripts/setup.sh java; then
    skip "Java" "see above"
    return
  fi
  # The gateway that the integration tests talk to.
  "$cargo" build --quiet --locked --package linerate
  run_maven verify
  local newer
  newer=$(java_25)
  if [ -n "$newer" ]; then
    run_maven test "-Djvm=$newer" -Dlinerate.testArguments=--enable-native-access=ALL-UNNAMED
  else
    # No failure under STRICT: distributions do not have it yet.
    echo "skipped: Java 25: there is none (JAVA25_HOME=folder names one)"
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
  mvn --batch-mode --no-transfer-progress --file bindings/java/pom.xml "$@" 2>&1 | tee "$log"
  skips=$(sed -n 's/.*Tests run: .*Skipped: \([1-9][0-9]*\)$/\1/p' "$log" | awk '{ all += $1 } END { print all + 0 }')
  rm "$log"
  if [ "$skips" != 0 ]; then skip "$skips Java tests" "see above"; fi
}

test_fuzz() {
  (cd fuzz && "$cargo" test --release --locked --lib && "$cargo" run --release --locked --bin smoke -- "${SECONDS_PER_TARGET:-10}")
}

has_component() { "$cargo" "$1" --version >/dev/null 2>&1; }

test_lint() {
  if has_component fmt; then
    "$cargo" fmt --all --check
    (cd fuzz && "$cargo" fmt --check)
    (cd scripts/nostd && "$cargo" fmt --check)
  else
    skip formatting "rustfmt is not installed (rustup component add rustfmt)"
  fi
  if has_component clippy; then
    "$cargo" clippy --workspace --all-targets --locked -- -D warnings
    "$cargo" clippy --package linerate-nx --all-targets --features s3 --locked -- -D warnings
    "$cargo" clippy --package linerate-deflate --lib --no-default-features --locked -- -D warnings
    "$cargo" clippy --package linerate-deflate --lib --no-default-features --features alloc --locked -- -D warnings
    "$cargo" clippy --package linerate-rice --lib --no-default-features --locked -- -D warnings
    "$cargo" clippy --package linerate-rice --lib --no-default-features --features alloc --locked -- -D warnings
    "$cargo" clippy --package linerate-zstd --lib --no-default-features --locked -- -D warnings
    (cd fuzz && "$cargo" clippy --all-targets --locked -- -D warnings)
  else
    skip clippy "it is not installed (rustup component add clippy)"
  fi
  RUSTDOCFLAGS="-D warnings" "$cargo" doc --workspace --no-deps --locked
  for script in scripts/*.sh .ci/run; do bash -n "$script"; done
}

scripts/setup.sh rust cc gzip
# Without these a test that compares with other programs is skipped, or fails under STRICT=1.
scripts/setup.sh zstd python3 rocksdb || true
for part in "$@"; do
  echo "== $part"
  "test_$part"
done
echo "skipped: $skipped"
