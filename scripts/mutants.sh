#!/usr/bin/env bash
# mutants.sh CSV K/N CRATE...: changes the code of crates in one place after another (cargo-mutants), shard K of N of all such
# mutants. Each must fail a test of its crate; those that no test can tell from the code stand in .cargo/mutants.toml, with the
# reason. CSV gets a row for each crate. Status 1 if a mutant was missed; target/mutants has the logs.
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

# All crates in one run: the copy is compiled once.
packages=()
for crate in "${@:3}"; do packages+=(--package "$crate"); done
options=(--no-shuffle --colors never)
# Mutants of every crate, not of the first ones, where cargo-mutants has the choice.
if [[ $("$cargo" mutants --help) == *--sharding* ]]; then options+=(--sharding round-robin); fi
status=0
"$cargo" mutants "${packages[@]}" --shard "$shard" --output "$logs" "${options[@]}" || status=$?
[[ $status = [023] ]] || exit $status # 2: some were missed; 3: some took too long

for crate in "${@:3}"; do
  count() { grep -c "^crates/${crate#linerate-}/" "$logs/mutants.out/$1.txt" || true; }
  all=("$(count caught)" "$(count missed)" "$(count unviable)" "$(count timeout)")
  printf -v row '%s,' "$(date -u +%F)" "$(processor)" "$(rustc --version)" "$(linerate_version)" "$crate" "$shard" \
    $((all[0] + all[1] + all[2] + all[3])) "${all[@]}"
  echo "${row}scripts/mutants.sh CSV $shard ${*:3}" >>"$csv"
done
[ ! -s "$logs/mutants.out/missed.txt" ]
