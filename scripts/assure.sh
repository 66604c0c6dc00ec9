#!/usr/bin/env bash
# assure.sh CSV PART...: runs long checks (parts of scripts/test.sh), each in its own process, and
# goes on after one that failed. The file CSV gets a row for each: its result, seconds, the numbers
# of skips and notes, and the command with its settings. The output of a part also goes to
# target/assure/PART.log. The status is 1 if a part failed.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/rust.sh
. scripts/record.sh

csv=$(realpath -m "${1:?usage: assure.sh CSV PART...}")
unset CSV # make exports it if its command line sets it, but parts write records of their own
logs=${CARGO_TARGET_DIR:-target}/assure
mkdir -p "$logs" "$(dirname "$csv")"
[ -s "$csv" ] || echo "date,cpu,rustc,linerate,part,result,seconds,skipped,notes,command" >"$csv"

# Prints the number of WHAT (skipped, notes) that test.sh prints at its end. Maven may leave escape
# sequences for colours before it on the line.
counted() { # WHAT LOG
  sed -n "s/.*$1: \([0-9]*\)$/\1/p" "$2" | tail -n 1
}

bounds='DAMAGE_ROUNDS|FRAMES|LIMIT|MIRI_SECONDS|MUTANTS|PACKAGES|PROPTEST_CASES|SECONDS_PER_TARGET|SOAK_SECONDS'
settings=$(env | sed -nE "s/^($bounds)=(.*)/\1='\2'/p" | LC_ALL=C sort | tr ',\n' '; ')
# Tests send signals. Under nohup, or in the background of a shell, programs would ignore these.
heeding=()
if env --default-signal=HUP true 2>/dev/null; then heeding=(env --default-signal=HUP,INT,QUIT); fi
failed=
for part in "${@:2}"; do
  log=$logs/$part.log
  begun=$SECONDS result=passed
  ${heeding[@]+"${heeding[@]}"} scripts/test.sh "$part" 2>&1 </dev/null | tee "$log" || { result=failed failed+=" $part"; }
  seconds=$((SECONDS - begun))
  echo "$(date -u +%F),$(processor),$(rustc --version),$(linerate_version),$part,$result,$seconds,$(
    counted skipped "$log"
  ),$(counted notes "$log"),${settings}scripts/test.sh $part" >>"$csv"
done
echo "wrote $csv"
if [ -n "$failed" ]; then
  echo "failed:$failed ($logs/PART.log)" >&2
  exit 1
fi
