#!/usr/bin/env bash
# docs.sh FOLDER: builds the site of docs/ in FOLDER/docs with mdbook, and copies the other files of
# the repository that pages link to into FOLDER. A warning of mdbook is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
site=$1
log=$(mktemp)
trap 'rm -f "$log"' EXIT

mdbook build --dest-dir "$PWD/$site/docs" 2>&1 | tee "$log"
if grep -qE 'WARN|ERROR' "$log"; then
  echo "docs.sh: mdbook warned" >&2
  exit 1
fi
# Copies what links that leave docs/ lead to: for ../../records/x.csv in docs/dict/index.md, the
# file records/x.csv.
grep -rhoE '\]\((\.\./)+[^)#]+' docs --include='*.md' | sed -E 's#^\]\((\.\./)+##' | sort -u | while read -r path; do
  if [ -f "$path" ]; then
    mkdir -p "$site/$(dirname "$path")"
    cp "$path" "$site/$path"
  fi
done
echo "$site/docs/index.html"
