#!/usr/bin/env bash
# publish-packages.sh OUT [KIND...]: checks the packages that `make dist` has put into OUT as their
# registries do, and uploads nothing. Kinds: wheels (PyPI), npm, jars (Maven Central).
# publish-packages.sh --really OUT [KIND...]: asks, then uploads them. A published version cannot be
# replaced. In .github/workflows/publish.yml twine and npm get their credentials by trusted
# publishing; elsewhere they ask for a token. Maven Central takes a user token from MAVEN_USERNAME and
# MAVEN_PASSWORD, and signatures by gpg, which asks for its passphrase unless MAVEN_GPG_PASSPHRASE
# is set.
set -euo pipefail
shopt -s nullglob
really=
if [ "${1:-}" = --really ]; then
  really=yes
  shift
fi
out=$(realpath "${1:?usage: publish-packages.sh [--really] OUT [KIND...]}")
shift
[ $# -gt 0 ] || set -- wheels npm jars
cd "$(dirname "$0")/.."
PATH=$PWD/target/venv-dist/bin:$PATH

publish_wheels() {
  twine check --strict "$out"/pylinerate-*
  if [ -n "$really" ]; then twine upload --non-interactive "$out"/pylinerate-*; fi
}

# The native parts come first, because the others depend on them.
publish_npm() {
  local package dry_run=(--dry-run)
  if [ -n "$really" ]; then dry_run=(); fi
  for package in "$out"/npm/linerate-{linux,darwin,win32}-*.tgz "$out"/npm/linerate-[0-9]*.tgz "$out"/npm/linerate-zlib-sync-*.tgz; do
    npm publish --access public "${dry_run[@]}" "$package"
  done
}

# Checks OUT/maven, the repository of files that `make dist-check` has tested. Uploads a copy of it
# with signatures as one deployment, which waits in the portal until somebody publishes it there.
publish_jars() {
  local file portal=https://central.sonatype.com
  temporary=$(mktemp -d)
  trap 'rm -rf "$temporary"' EXIT
  cp -r "$out/maven/dev" "$temporary"
  find "$temporary" -name 'maven-metadata*' -delete
  while read -r file; do check_module "${file%.pom}"; done < <(find "$temporary" -name '*.pom')
  while read -r file; do check_sums "$file"; done < <(find "$temporary" -name '*.pom' -o -name '*.jar')
  if [ -z "$really" ]; then return; fi
  if [ -n "$(find "$temporary" -name '*-SNAPSHOT')" ]; then refuse "$out/maven has a SNAPSHOT, which is no release"; fi
  while read -r file; do sign "$file"; done < <(find "$temporary" -name '*.pom' -o -name '*.jar')
  tar -C "$temporary" -czf "$temporary/bundle.tar.gz" dev
  # The token is not an argument, because other users can see those.
  printf 'Authorization: Bearer %s\n' "$(printf '%s:%s' "$MAVEN_USERNAME" "$MAVEN_PASSWORD" | base64 | tr -d '\n')" |
    curl --fail-with-body --silent --show-error --header @- --form "bundle=@$temporary/bundle.tar.gz" \
      "$portal/api/v1/publisher/upload?publishingType=USER_MANAGED"
  echo ": uploaded; publish it at $portal/publishing/deployments"
}

# Maven Central requires sources and documentation of each module that has a jar.
check_module() { # PATH-WITHOUT-SUFFIX
  local suffix
  if grep -q '<packaging>pom</packaging>' "$1.pom"; then return; fi
  for suffix in .jar -sources.jar -javadoc.jar; do
    if [ ! -f "$1$suffix" ]; then refuse "$out/maven lacks $(basename "$1")$suffix"; fi
  done
}

check_sums() { # FILE
  local kind sum
  for kind in md5 sha1; do
    sum=$("${kind}sum" <"$1")
    if [ "${sum%% *}" != "$(cat "$1.$kind")" ]; then refuse "$(basename "$1") differs from its .$kind"; fi
  done
}

sign() { # FILE
  if [ -n "${MAVEN_GPG_PASSPHRASE:-}" ]; then
    gpg --batch --pinentry-mode loopback --passphrase-fd 3 --armor --detach-sign "$1" 3<<<"$MAVEN_GPG_PASSPHRASE"
  else
    gpg --armor --detach-sign "$1"
  fi
}

refuse() { # WHY
  echo "publish-packages.sh: $1" >&2
  exit 1
}

for kind; do
  case $kind in wheels | npm | jars) ;; *) echo "publish-packages.sh: unknown kind: $kind" >&2; exit 2 ;; esac
done
if [ -n "$really" ]; then
  read -r -p "Publish $* of $out, for good? [y/N] " answer
  [ "$answer" = y ] || exit 1
fi
for kind; do "publish_$kind"; done
