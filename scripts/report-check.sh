#!/usr/bin/env bash
# report-check.sh [PAGE]: opens a report, by default a generated sample, in headless Chromium. Fails
# if the browser's console has a message or the page makes any request. Leaves
# target/report/{light,dark,narrow}.png to look at.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh chromium

cargo=${CARGO:-cargo}
folder=$PWD/target/report
mkdir -p "$folder"
page=${1:-$folder/sample.html}
if [ $# = 0 ]; then
  "$cargo" run --quiet --locked --package linerate-plan --example sample_report -- "$page"
fi
page=$(realpath "$page")
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)

# Opens the page, takes a screenshot, logs the console and the network, and checks both.
open() { # NAME FLAG...
  timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$profile" \
    --disable-background-networking --disable-component-update --no-first-run \
    --enable-logging=stderr --v=0 --log-net-log="$folder/$1.netlog.json" --screenshot="$folder/$1.png" "${@:2}" \
    "file://$page" >"$folder/$1.log" 2>&1
  [ -s "$folder/$1.png" ] || fail "$1: no screenshot; see $folder/$1.log"
  if grep -E ':CONSOLE' "$folder/$1.log"; then fail "$1: the page writes to the console"; fi
  if requests "$folder/$1.netlog.json" | grep .; then fail "$1: the page makes requests"; fi
}

# Prints the addresses that the page requested. In the log, the initiator of such requests is "null"
# or a file; requests of the browser's own services have none.
requests() { # NETLOG
  grep -E '"initiator":"(null|file://)' "$1" | grep -oE '"url":"[^"]*"' || true
}

fail() { # WHAT
  echo "report-check.sh: $1" >&2
  exit 1
}

open light --blink-settings=preferredColorScheme=1 --window-size=1200,2800
open dark --blink-settings=preferredColorScheme=0 --window-size=1200,2800
open narrow --blink-settings=preferredColorScheme=1 --window-size=500,4200
# Checks that this check can fail: it catches a page that makes a request and writes to the console.
probe=$profile/probe.html
sed 's|default-src .none.; style-src .unsafe-inline.|img-src *|; s|<main>|<main><img src="http://127.0.0.1:9/x.png" alt=""/>|' \
  "$page" >"$probe"
if (page=$probe && open probe --window-size=600,400) >/dev/null 2>&1; then fail "a page with a request passed"; fi
echo "report: no message, no request; screenshots are in target/report"
