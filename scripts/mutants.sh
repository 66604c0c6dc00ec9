#!/usr/bin/env bash
# mutants.sh CSV K/N CRATE...: changes the code of crates in one place after another with
# cargo-mutants, for shard K of N of all such changes, which are called mutants. Each must make a
# test fail, else it is missed. .cargo/mutants.toml lists those that no test can distinguish from
# the code, with the reason. CSV gets a row for each crate. The status is 1 if a mutant was missed;
# target/mutants has the logs.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/rust.sh
. scripts/record.sh

csv=$(realpath -m "${1:?usage: mutants.sh CSV K/N CRATE...}")
shard=${2:?usage: mutants.sh CSV K/N CRATE...}
cargo=${CARGO:-cargo}
logs=${CARGO_TARGET_DIR:-$PWD/target}/mutants
unset CARGO_TARGET_DIR # the copy of the tree has its own
mkdir -p "$logs" "$(dirname "$csv")"
[ -s "$csv" ] || echo "date,cpu,rustc,linerate,crate,shard,mutants,caught,missed,unviable,timeouts,command" >"$csv"

# Features of a crate that its tests need: a mutant in code that is not compiled would be missed.
declare -A features=([linerate-io]=s3 [linerate-deflate]=linerate-testkit/zlib [linerate-zstd]=futures-io,tokio [linerate-rice]=file [linerate-gateway]=linerate-gateway/client,linerate-gateway/metrics)
# Crates whose tests detect the mutants of a crate, if not only its own do.
declare -A tests=([linerate-gateway]=linerate-gateway,linerate-gateway-sim)
options=(--shard "$shard" --no-shuffle --colors never)
# Takes mutants from all parts of a crate instead of its first files, if cargo-mutants offers it.
if [[ $("$cargo" mutants --help) == *--sharding* ]]; then options+=(--sharding round-robin); fi
missed=

# Tries the mutants of crates with the same features, in one copy of the tree.
mutate() { # CRATE...
  local crate out=$logs/$1 status=0 row all arguments=()
  for crate; do arguments+=(--package "$crate"); done
  if [ -n "${features[$1]:-}" ]; then arguments+=(--features "${features[$1]}"); fi
  if [ -n "${tests[$1]:-}" ]; then arguments+=(--test-package "${tests[$1]}"); fi
  mkdir -p "$out"
  "$cargo" mutants "${arguments[@]}" "${options[@]}" --output "$out" || status=$?
  [[ $status = [023] ]] || exit $status # 2: some were missed; 3: some took too long
  for crate; do
    all=("$(count caught)" "$(count missed)" "$(count unviable)" "$(count timeout)")
    printf -v row '%s,' "$(date -u +%F)" "$(processor)" "$(rustc --version)" "$(linerate_version)" "$crate" "$shard" \
      $((all[0] + all[1] + all[2] + all[3])) "${all[@]}"
    echo "${row}scripts/mutants.sh CSV $shard $crate" >>"$csv"
    if [ "${all[1]}" != 0 ]; then missed+=" $crate"; fi
  done
}

# Prints the number of mutants of $crate with this result (caught, missed, ...).
count() { # RESULT
  grep -c "^crates/${crate#linerate-}/" "$out/mutants.out/$1.txt" || true
}

plain=()
for crate in "${@:3}"; do
  if [ -n "${features[$crate]:-}" ]; then mutate "$crate"; else plain+=("$crate"); fi
done
if [ ${#plain[@]} != 0 ]; then mutate "${plain[@]}"; fi
if [ -n "$missed" ]; then
  echo "missed:$missed ($logs/CRATE/mutants.out/missed.txt)" >&2
  exit 1
fi
