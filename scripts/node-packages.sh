#!/usr/bin/env bash
# node-packages.sh FOLDER OTHER PROFILE: builds the native part with a Cargo profile, and puts the
# packages of bindings/node beside those of others in FOLDER/node_modules. OTHER is replaced by a
# copy of FOLDER with @linerate/zlib-sync in place of zlib-sync, as npm's `overrides` do it.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
"${CARGO:-cargo}" build --quiet --locked --profile "$3" --package linerate-node
folder=$target/$3
if [ "$3" = dev ]; then folder=$target/debug; fi
for native in "$folder"/liblinerate_node.so "$folder"/liblinerate_node.dylib "$folder"/linerate_node.dll; do
  if [ -e "$native" ]; then break; fi
done

modules=$1/node_modules
rm -rf "$modules/linerate" "$modules/@linerate" "$2"
mkdir -p "$modules/@linerate"
cp -R bindings/node/linerate "$modules/linerate"
cp -R bindings/node/zlib-sync "$modules/@linerate/zlib-sync"
# The old files were removed, not overwritten, because a process may have loaded them.
cp "$native" "$modules/linerate/linerate.node"
cp -R "$1" "$2"
rm -rf "$2/node_modules/zlib-sync"
cp -R bindings/node/zlib-sync "$2/node_modules/zlib-sync"
