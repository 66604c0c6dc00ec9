#!/usr/bin/env bash
# licences.sh CRATE FOLDER: puts the licences of Linerate, and of everything that a crate links on
# this machine, into FOLDER. The latter need python3 and cargo; without them they are left out.
# licences.sh --remove FOLDER: removes them.
set -euo pipefail

crate=${1:?usage: licences.sh CRATE|--remove FOLDER}
folder=${2:?usage: licences.sh CRATE|--remove FOLDER}
cd "$(dirname "$0")/.."
case $folder in /*) ;; *) folder=$OLDPWD/$folder ;; esac
umask 022

if [ "$crate" = --remove ]; then
  rm -f "$folder"/{LICENSE-APACHE,LICENSE-MIT,THIRD-PARTY.txt}
  rmdir "$folder" 2>/dev/null || true
  exit
fi
mkdir -p "$folder"
cp LICENSE-APACHE LICENSE-MIT "$folder"
chmod 644 "$folder"/LICENSE-*
host=$("${RUSTC:-rustc}" -vV 2>/dev/null | sed -n 's/^host: //p') || true
if [ -z "$host" ] || ! scripts/third-party.py "$host" "$crate" >"$folder/THIRD-PARTY.txt.new"; then
  rm -f "$folder/THIRD-PARTY.txt.new"
  echo "licences.sh: the licences of what $crate links are left out: they need python3 and cargo (scripts/third-party.py TRIPLE $crate)" >&2
  exit
fi
mv "$folder/THIRD-PARTY.txt.new" "$folder/THIRD-PARTY.txt"
