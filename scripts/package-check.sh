#!/usr/bin/env bash
# package-check.sh [CRATE...]: packs every published crate, unpacks the packages outside the
# workspace, and there builds each (or those named) with its examples and runs its documentation
# tests. Where a crate depends on another one, that is the unpacked one, not the registry's.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/rust.sh
cargo=${CARGO:-cargo}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export CARGO_TARGET_DIR=$folder/target

mapfile -t crates < <("$cargo" metadata --no-deps --format-version 1 |
  python3 -c 'import json, sys
for p in json.load(sys.stdin)["packages"]:
    if p["publish"] is None: print(p["name"])')
[ ${#crates[@]} -gt 0 ] || { echo "package-check.sh: cargo metadata names no crate to publish" >&2; exit 1; }
packages=()
for crate in "${crates[@]}"; do packages+=(--package "$crate"); done
"$cargo" package --quiet --no-verify --allow-dirty "${packages[@]}"

mkdir -p "$folder/.cargo"
echo '[patch.crates-io]' >"$folder/.cargo/config.toml"
for file in "$CARGO_TARGET_DIR"/package/*.crate; do
  tar -xzf "$file" -C "$folder"
  name=$(basename "$file" .crate)
  echo "${name%-*} = { path = '$folder/$name' }" >>"$folder/.cargo/config.toml"
done

if [ $# -gt 0 ]; then crates=("$@"); fi
for crate in "${crates[@]}"; do
  echo "     Package $crate"
  cd "$folder/$crate"-[0-9]*
  "$cargo" build --quiet --examples
  "$cargo" build --quiet
  if [ -e src/lib.rs ] && ! grep -q '^crate-type = \["cdylib"\]' Cargo.toml; then "$cargo" test --quiet --doc; fi
done
echo "packages: ${#crates[@]} built and tested"
