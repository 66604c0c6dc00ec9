#!/usr/bin/env bash
# demo-nx.sh: packs the project's own sources, documents and test data with `linerate nx`, then lists,
# extracts, verifies and measures the archive. The third part of `make demo`; writes to target/demo-nx.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo=${CARGO:-cargo}
demo=target/demo-nx

nx() { # ARGUMENT...: shows the command, then runs it
  echo
  echo "$ linerate nx $*"
  # Without web servers: their dependencies are not needed here.
  "$cargo" run --quiet --release --locked --package linerate --no-default-features -- nx "$@" 2>&1
}

rm -rf "$demo"
mkdir -p "$demo/project"
cp -R crates docs testdata "$demo/project"

echo
echo "An Nx archive of this project's sources, documents and test data"
nx pack --verbose "$demo/project" -o "$demo/project.nx"
nx list --tree "$demo/project.nx" docs crates/bench/corpus
nx info "$demo/project.nx"
nx extract --verbose "$demo/project.nx" -o "$demo/out"
nx verify --verbose "$demo/project.nx"
nx verify --verbose --against "$demo/project" "$demo/project.nx"
nx verify --verbose --against "$demo/out" "$demo/project.nx"
nx bench --seconds 3 --to-files "$demo" "$demo/project.nx"

echo
echo "Every file came out of the archive as it went in."
