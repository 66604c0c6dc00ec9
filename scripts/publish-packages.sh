#!/usr/bin/env bash
# publish-packages.sh OUT [KIND...]: checks the packages that `make dist` has put into OUT as their
# registries do, and uploads nothing. Kinds: wheels (PyPI), npm, jars (Maven Central). Jars are
# built anew, from the sources and target/natives. publish-packages.sh --really OUT [KIND...]: asks,
# then uploads them. A published version cannot be replaced. In .github/workflows/publish.yml twine
# and npm get their credentials by trusted publishing; elsewhere they ask for a token. Maven needs a
# token and a GPG key in its settings.
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

publish_jars() {
  local goal=(-P release -Dgpg.skip verify)
  if [ -n "$really" ]; then goal=(-P "release,central" deploy); fi
  mvn --batch-mode --no-transfer-progress --file bindings/java/pom.xml -DskipTests "-Dlinerate.natives=$PWD/target/natives" "${goal[@]}"
}

for kind; do
  case $kind in wheels | npm | jars) ;; *) echo "publish-packages.sh: unknown kind: $kind" >&2; exit 2 ;; esac
done
if [ -n "$really" ]; then
  read -r -p "Publish $* of $out, for good? [y/N] " answer
  [ "$answer" = y ] || exit 1
fi
for kind; do "publish_$kind"; done
