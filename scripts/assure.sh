#!/usr/bin/env bash
# assure.sh CSV PART...: long checks (parts of scripts/test.sh), each in a process of its own, the others also after one that
# failed. CSV gets a row for each: its result, seconds, what was skipped and noted, and the name of its log beside CSV.
# Status 1 if one failed.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/rust.sh
. scripts/record.sh

csv=$(realpath -m "${1:?usage: assure.sh CSV PART...}")
logs=$(dirname "$csv")
mkdir -p "$logs"
[ -s "$csv" ] || echo "date,cpu,rustc,linerate,part,result,seconds,skipped,notes,command" >"$csv"

counted() { # WHAT LOG: what test.sh says at its end
  sed -n "s/.*$1: \([0-9]*\)$/\1/p" "$2" | tail -n 1 # after what Maven does to colours
}

failed=
for part in "${@:2}"; do
  log=$logs/assure-$part.log
  begun=$SECONDS result=passed
  scripts/test.sh "$part" 2>&1 </dev/null | tee "$log" || { result=failed failed+=" $part"; }
  seconds=$((SECONDS - begun))
  settings=$(env | sed -nE '/^(DAMAGE_ROUNDS|FRAMES|MUTANTS|SECONDS_PER_TARGET|SOAK_SECONDS)=/p' | LC_ALL=C sort | tr '\n' ' ')
  echo "$(date -u +%F),$(processor),$(rustc --version),$(linerate_version),$part,$result,$seconds,$(
    counted skipped "$log"
  ),$(counted notes "$log"),${settings}scripts/assure.sh $part" >>"$csv"
done
echo "wrote $csv"
if [ -n "$failed" ]; then
  echo "failed:$failed ($logs/assure-PART.log)" >&2
  exit 1
fi
