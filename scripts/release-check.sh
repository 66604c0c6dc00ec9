#!/usr/bin/env bash
# release-check.sh VERSION: prints what this checkout still needs before it can be published as
# VERSION, one item a line. Lines that begin with "to decide" are the open items of RELEASING.md,
# which need a person: addresses, names, accounts. The status is 1 if there is any line.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?usage: release-check.sh VERSION}
found=0

# Prints WHAT is wrong with FILE unless a line of it matches PATTERN.
want() { # PATTERN FILE WHAT
  grep -qE -- "$1" "$2" && return
  echo "$2: $3"
  found=1
}

while IFS= read -r item; do
  echo "to decide: $item (RELEASING.md)"
  found=1
done < <(sed -n 's/^\* \[ \] \([^:]*\):.*/\1/p' RELEASING.md)

number=${version//./\\.}
want "^version = \"$number\"$" Cargo.toml "the version is not $version"
if grep '^linerate-.* version = ' Cargo.toml | grep -qvF "version = \"$version\""; then
  echo "Cargo.toml: the workspace needs one of its crates in a version other than $version"
  found=1
fi
want "^version: $number$" CITATION.cff "the version is not $version"
want "^## \[?$number\]? - [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md "no section \"## $version - YYYY-MM-DD\""
want '^repository = "https://' Cargo.toml "no \`repository\`: the address of the sources"
pom=bindings/java/pom.xml
want "^  <version>$number</version>$" $pom "the version is not $version (mvn -f bindings/java versions:set -DnewVersion=$version)"
want '^  <url>https://' $pom "no \`url\`, which Maven Central requires"
want '^  <scm>' $pom "no \`scm\`, which Maven Central requires"
want '^\[project.urls\]$' bindings/python/pyproject.toml "no \`project.urls\`"
for package in bindings/node/*/package.json; do
  want "^  \"version\": \"$number\"" "$package" "the version is not $version"
  want '^  "repository"' "$package" "no \`repository\`"
done
want "\"linerate\": \"$number\"" bindings/node/zlib-sync/package.json "wants another version of linerate than $version"
want "\"version\": \"$number\"" packaging/vcpkg/linerate/vcpkg.json "the version is not $version"
want "version: \"$number\"" packaging/conda-forge/recipe.yaml "the version is not $version"
mapfile -t manifests < <(git grep -L '^publish = false' -- 'crates/*/Cargo.toml' 'bindings/**/Cargo.toml' 'accel/*/Cargo.toml')
for manifest in "${manifests[@]}"; do
  want '^repository.workspace = true' "$manifest" "no \`repository.workspace\`"
done
if [ -n "$(git status --porcelain)" ]; then echo "uncommitted changes"; found=1; fi
if [ "$(git describe --exact-match --tags 2>/dev/null)" != "v$version" ]; then echo "no tag v$version on this commit"; found=1; fi
exit $found
