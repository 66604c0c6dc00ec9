#!/usr/bin/env bash
# bench-gateway-node.sh DATA [FLAG...]: builds the npm packages, measures them beside zlib-sync
# (which npm compiles here), node:zlib and fzstd, and prints JSON Lines. An empty DATA means
# $LINERATE_GATEWAY_DATA if that is set, otherwise two generated shards.
set -euo pipefail
cd "$(dirname "$0")/.."

data=${1:-${LINERATE_GATEWAY_DATA:-}}
shift
folder=target/node-bench
{
  scripts/setup.sh rust node python3
  if [ -z "$data" ]; then
    data=target/gateway-shards-2
    if [ ! -e "$data/shard-1.zst" ]; then
      "${CARGO:-cargo}" run --quiet --release --locked --package linerate -- gateway generate --shards 2 --seed 1 -o "$data"
    fi
  fi
  if [ ! -e "$folder/node_modules/fzstd" ]; then
    mkdir -p "$folder"
    npm install --prefix "$folder" --silent --no-audit --no-fund zlib-sync@0.1.10 fzstd@0.1.1 || echo "not installed: zlib-sync, fzstd"
    # Newer versions of npm do not run the install script with which a package compiles itself.
    npm rebuild --prefix "$folder" --silent zlib-sync || echo "not compiled: zlib-sync"
  fi
  scripts/node-packages.sh "$folder" target/node-bench-zlib-sync dist
  rm -rf target/node-bench-zlib-sync
} >&2
NODE_PATH=$PWD/$folder/node_modules node --expose-gc bench/gateway/node.js "$data" "$@"
