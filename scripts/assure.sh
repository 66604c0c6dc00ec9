#!/usr/bin/env bash
# assure.sh CSV PART...: runs long checks (parts of scripts/test.sh), each in its own process, and
# goes on after one that failed. CSV gets a row for each: its result, seconds, the numbers of skips
# and notes, and the settings. The output goes to target/assure/PART.log. The status is 1 if one
# failed.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/rust.sh
. scripts/record.sh

csv=$(realpath -m "${1:?usage: assure.sh CSV PART...}")
unset CSV # of make's command line: parts write records of their own
logs=${CARGO_TARGET_DIR:-target}/assure
mkdir -p "$logs" "$(dirname "$csv")"
[ -s "$csv" ] || echo "date,cpu,rustc,linerate,part,result,seconds,skipped,notes,command" >"$csv"

counted() { # WHAT LOG: what test.sh says at its end
  sed -n "s/.*$1: \([0-9]*\)$/\1/p" "$2" | tail -n 1 # after what Maven does to colours
}

bounds='DAMAGE_ROUNDS|FRAMES|LIMIT|MIRI_SECONDS|MUTANTS|PACKAGES|PROPTEST_CASES|SECONDS_PER_TARGET|SOAK_SECONDS'
settings=$(env | sed -nE "s/^($bounds)=(.*)/\1='\2'/p" | LC_ALL=C sort | tr ',\n' '; ')
# Tests send signals, which programs ignore under nohup or in the background of a shell.
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
