#!/usr/bin/env bash
# hdf5-plugins.sh DIR: builds the HDF5 plugins and puts them, and nothing else, into DIR, for
# HDF5_PLUGIN_PATH. HDF5 loads every library that it finds in such a folder.
set -euo pipefail
folder=${1:?usage: hdf5-plugins.sh DIR}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}/dist
for plugin in deltarice deltarice2; do
  "${CARGO:-cargo}" build --quiet --profile dist --locked --package "linerate-hdf5-$plugin"
  for end in so dylib; do [ ! -e "$target/liblinerate_$plugin.$end" ] || break; done
  # By renaming: a process may have the old one loaded.
  cp "$target/liblinerate_$plugin.$end" "$folder/.new"
  mv "$folder/.new" "$folder/liblinerate_$plugin.$end"
  echo "$folder/liblinerate_$plugin.$end"
done
