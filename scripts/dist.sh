#!/usr/bin/env bash
# dist.sh OUT [KIND...]: makes the packages of a release for every platform that can be linked here,
# in OUT, and SHA256SUMS.
# dist.sh --check OUT [KIND...]: installs each package that can run here in an empty environment,
# and runs an example of its page. CSV=FILE gets a row for each package, as in records/packages.csv.
# Kinds: archive (program, static), deb, wheels, jars, npm. With --check also crates: each crate as
# cargo packs it (package-check.sh); and rows: the rows of the README's install table, tried in empty
# folders (dist-rows.py; ROWS=WORDS takes the rows that contain one of the words). After a kind that
# failed the others are still made or checked; the status is then 1. The status is 77 if something is missing.
set -euo pipefail
check=
if [ "${1:-}" = --check ]; then
  check=--check
  shift
fi
out=$(realpath -m "${1:?usage: dist.sh [--check] OUT [KIND...]}")
shift
cd "$(dirname "$0")/.."
. scripts/rust.sh
. scripts/record.sh

# Prints name and path of each package, without checksums, and of jars only those that programs use.
# Maven names a snapshot by its time, in place of which SNAPSHOT is printed.
packages() {
  find "$out" -type f \( -name '*.whl' -o -name '*.tar.gz' -o -name '*.cdx.json' -o -name '*.deb' -o -name '*.tgz' -o -name '*.jar' \) \
    ! -name '*-sources.jar' ! -name '*-javadoc.jar' -printf '%f\t%p\n' |
    sed -E 's/^([^\t]*)-[0-9]{8}\.[0-9]{6}-[0-9]+\.jar\t/\1-SNAPSHOT.jar\t/' | LC_ALL=C sort
}

kind() { # NAME
  case $1 in
    pylinerate-*) echo wheels ;;
    *.deb) echo deb ;;
    *.jar) echo jars ;;
    *.tgz) echo npm ;;
    *) echo archive ;;
  esac
}

# Prints the triple of the platform that is part of a package's name, if any.
triple() { # NAME
  local cpu system
  case $1 in
    *x86_64* | *amd64* | *-x64-*) cpu=x86_64 ;;
    *aarch64* | *arm64*) cpu=aarch64 ;;
    *) return ;;
  esac
  case $1 in
    *musl*) system=unknown-linux-musl ;;
    *win32*) system=pc-windows-gnu ;;
    *darwin*) system=apple-darwin ;;
    *) system=unknown-linux-gnu ;;
  esac
  echo "$cpu-$system"
}

# Notes the sources and compilers of the packages of KIND that are newer than FILE, for the record
# of a check, which may come much later.
note_built() { # KIND FILE
  local name path triple
  packages | while IFS=$'\t' read -r name path; do
    if [ "$(kind "$name")" != "$1" ] || [ ! "$path" -nt "$2" ]; then continue; fi
    triple=$(triple "$name")
    printf '%s\t%s\t%s\n' "$name" "$(linerate_version)" "$([ -z "$triple" ] || scripts/cross.sh "$triple" --compiler)"
  done >>"$built"
}

record() {
  local name path kind triple where version compiler
  [ -s "$CSV" ] || echo "date,cpu,linerate,package,bytes,kind,target,built_with,installed,example,command" >"$CSV"
  packages | while IFS=$'\t' read -r name path; do
    kind=$(kind "$name")
    if [[ " ${kinds[*]} " != *" $kind "* ]]; then continue; fi
    triple=$(triple "$name")
    where=$(awk -F '\t' -v name="$name" '$1 == name { print $2 }' "$PACKAGE_NOTES" | paste -sd ';' | sed 's/;/; /g')
    IFS=$'\t' read -r version compiler < <(awk -F '\t' -v name="$name" '$1 == name { found = $2 "\t" $3 } END { print found }' "$built")
    echo "$(date -u +%F),$(processor),$version,$name,$(stat -c %s "$path"),$kind,$triple,\"$compiler\",\"$where\",$(
      if [ -n "$where" ]; then echo yes; else echo no; fi
    ),make dist-check" >>"$CSV"
  done
}

kinds=("$@")
if [ $# = 0 ]; then kinds=(archive deb wheels jars npm ${check:+crates rows}); fi
built=${CARGO_TARGET_DIR:-target}/dist-built.tsv
mkdir -p "$out" "${built%/*}"
touch "$built"
PACKAGE_NOTES=$(mktemp)
export PACKAGE_NOTES
begun=$(mktemp)
trap 'rm -f "$PACKAGE_NOTES" "$begun"' EXIT
left_out=
failed=
for kind in "${kinds[@]}"; do
  echo "== $kind"
  touch "$begun"
  status=0
  case $kind in
    crates) scripts/package-check.sh || status=$? ;;
    rows) scripts/dist-rows.py $check "$out" || status=$? ;;
    *) "scripts/dist-$kind.sh" $check "$out" || status=$? ;;
  esac
  case $status in 0) ;; 77) left_out+=" $kind" ;; *) failed+=" $kind" ;; esac
  if [ -z "$check" ]; then note_built "$kind" "$begun"; fi
done
if [ -n "$check" ]; then
  if [ -n "${CSV:-}" ]; then record; fi
else
  (cd "$out" && find . -type f ! -name 'SHA256SUMS*' -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' sha256sum >SHA256SUMS.new &&
    mv SHA256SUMS.new SHA256SUMS)
fi
if [ -n "$failed" ]; then
  echo "failed:$failed (see above)" >&2
  exit 1
fi
if [ -n "$left_out" ]; then
  echo "left out:$left_out (see above)"
  exit 77
fi
