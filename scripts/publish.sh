#!/usr/bin/env bash
# publish.sh [CARGO-ARGUMENT...]: packs all published crates and builds each from its package, in
# the order of their dependencies, as if crates.io had the others (--no-verify only packs). Nothing
# is uploaded.
# publish.sh --really [CARGO-ARGUMENT...]: asks, then publishes them. Run cargo login before. A
# published version cannot be removed. If it stopped halfway, pass --exclude CRATE for each crate
# that is already published.
#
# If an earlier commit has a tag v*, cargo-semver-checks compares the interfaces with those of the
# latest one.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/rust.sh
cargo=${CARGO:-cargo}

if [[ $("$cargo" publish -h) != *--workspace* ]]; then
  echo "publish.sh: lacks cargo 1.90 or newer, which publishes a workspace in order" >&2
  exit 77
fi

tag=$(git describe --tags --abbrev=0 --match 'v*' HEAD^ 2>/dev/null || true)
if [ -z "$tag" ]; then
  echo "no tag v* yet: no interfaces to compare with"
elif "$cargo" semver-checks --version >/dev/null 2>&1; then
  "$cargo" semver-checks --workspace --baseline-rev "$tag"
else
  echo "publish.sh: lacks cargo-semver-checks (cargo install cargo-semver-checks --locked)" >&2
  exit 77
fi

mode=--dry-run
if [ "${1:-}" = --really ]; then
  shift
  mode=
  version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
  read -r -p "Publish version $version of every crate on crates.io, for good? [y/N] " answer
  [ "$answer" = y ] || exit 1
fi
# shellcheck disable=SC2086
"$cargo" publish --workspace --locked $mode "$@"
