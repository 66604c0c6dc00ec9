#!/usr/bin/env bash
# install.sh BINARY PREFIX: installs the program, its manual pages, completions and licences below
# PREFIX.
# install.sh --remove PREFIX: removes them. DESTDIR is prepended to PREFIX, for making packages.
set -euo pipefail

binary=${1:?usage: install.sh BINARY|--remove PREFIX}
prefix=${DESTDIR:-}${2:?usage: install.sh BINARY|--remove PREFIX}
man=$prefix/share/man/man1
bash=$prefix/share/bash-completion/completions/linerate
zsh=$prefix/share/zsh/site-functions/_linerate
fish=$prefix/share/fish/vendor_completions.d/linerate.fish
licences=$prefix/share/doc/linerate

if [ "$binary" = --remove ]; then
  rm -f "$prefix/bin/linerate" "$man"/linerate.1 "$man"/linerate-*.1 "$bash" "$zsh" "$fish"
  "$(dirname "$0")/licences.sh" --remove "$licences"
  exit
fi

# Writes standard input to another file and renames it to FILE, because the program may be running.
put() { # MODE FILE
  mkdir -p "$(dirname "$2")"
  cat >"$2.new"
  chmod "$1" "$2.new"
  mv "$2.new" "$2"
}

umask 022 # so that everybody can read the new folders
put 755 "$prefix/bin/linerate" <"$binary"
"$binary" man | put 644 "$man/linerate.1"
"$binary" man --list | while read -r -a name; do
  "$binary" man "${name[@]}" | put 644 "$man/linerate-$(IFS=-; echo "${name[*]}").1"
done
"$binary" completions bash | put 644 "$bash"
"$binary" completions zsh | put 644 "$zsh"
"$binary" completions fish | put 644 "$fish"
"$(dirname "$0")/licences.sh" linerate "$licences"
