#!/usr/bin/env bash
# hdf5-plugins.sh DIR [PROFILE]: builds the HDF5 plugins with a Cargo profile (dist) and puts them,
# and nothing else, into DIR, for HDF5_PLUGIN_PATH. HDF5 loads every library in such a folder.
set -euo pipefail
folder=${1:?usage: hdf5-plugins.sh DIR [PROFILE]}
profile=${2:-dist}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
cd "$(dirname "$0")/.."

"${CARGO:-cargo}" build --quiet --profile "$profile" --locked \
  --package linerate-hdf5-deltarice --package linerate-hdf5-deltarice2
target=${CARGO_TARGET_DIR:-target}/${profile/%dev/debug}
for plugin in deltarice deltarice2; do
  for end in so dylib; do [ ! -e "$target/liblinerate_$plugin.$end" ] || break; done
  # Copied to another name and then renamed, because a process may have loaded the old library.
  cp "$target/liblinerate_$plugin.$end" "$folder/.new"
  mv "$folder/.new" "$folder/liblinerate_$plugin.$end"
  echo "$folder/liblinerate_$plugin.$end"
done
