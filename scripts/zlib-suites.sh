#!/usr/bin/env bash
# zlib-suites.sh FOLDER LIBRARY: runs test suites of software that uses zlib, from the
# distribution's packages, with LIBRARY (liblinerate_z.so) loaded before zlib: those of CPython,
# Perl, Ruby and PHP, and repositories of git, which git without the library then checks. Sources
# and programs are unpacked in FOLDER; only CPython's tests are installed. A suite may fail in tests
# in which it also fails with zlib, and in the tests below. The status is 77 if a suite is missing;
# the others have then run.
set -euo pipefail
mkdir -p "${1:?usage: zlib-suites.sh FOLDER LIBRARY}"
folder=$(cd "$1" && pwd)
library=$(realpath "${2:?usage: zlib-suites.sh FOLDER LIBRARY}")
cd "$(dirname "$0")/.."
. scripts/rust.sh
. scripts/apt-source.sh

# Tests that expect zlib's exact bytes or sizes, or output from a call in which the library still
# buffers. zlib's manual promises neither.
unlike_zlib="
perl t/09limitoutput.t
perl t/09limitoutput.t 106-107
ruby TestZlibDeflate#test_deflate_chunked
ruby TestZlibDeflate#test_deflate_chunked_break
ruby TestZlib#test_deflate_stream
php 001
php 002
php 003
php bug48725
php gzinflate_length
"

# The loader only warns about a library that it cannot load.
if ! LD_PRELOAD=$library /usr/bin/python3 -c 'assert "liblinerate_z" in open("/proc/self/maps").read()'; then
  echo "zlib-suites.sh: $library is not loaded" >&2
  exit 1
fi

lacking=
lacks() { # WHAT
  echo "missing: $1" >&2
  lacking=yes
}

# The following functions run a suite with the library $1, or without one if it is empty. Each
# prints a line for each failed test, and "ran COUNT".

run_python() {
  (LD_PRELOAD=$1 /usr/bin/python3 -m unittest test.test_zlib test.test_gzip 2>&1 || true) |
    sed -nE 's/^(FAIL|ERROR): ([^ ]+) .*/\2/p; s/^Ran ([0-9]+) tests.*/ran \1/p'
}

run_perl() {
  local module
  for module in Compress-Raw-Zlib IO-Compress; do
    (cd "$folder/perl/cpan/$module" && LD_PRELOAD=$1 prove -It t/[0-9c]*.t 2>&1 || true)
  done | awk '/^t\/.*\(Wstat/ { test = $1; print test }
    /^  Failed tests?:/ { print test, $NF }
    /^Files=/ { sub(/.*Tests=/, ""); ran += $1 + 0 }
    END { print "ran", ran }'
}

run_ruby() {
  local root=$folder/root/usr machine
  machine=$(dpkg-architecture -q DEB_HOST_MULTIARCH 2>/dev/null || gcc -print-multiarch)
  (cd "$folder" && LD_PRELOAD=$1 LD_LIBRARY_PATH=$root/lib/$machine \
    RUBYLIB=$root/lib/ruby/$ruby.0:$root/lib/$machine/ruby/$ruby.0:$root/lib/ruby/vendor_ruby:$folder/ruby/tool/lib \
    "$root/bin/ruby$ruby" --disable-gems -rtest/unit ruby/test/zlib/test_zlib.rb 2>&1 || true) |
    sed -nE 's/^(Test[A-Za-z]+#[a-z_0-9]+)( \[|:).*/\1/p; s/^([0-9]+) tests, .*/ran \1/p'
}

run_php() {
  (cd "$folder/php" && TEST_PHP_EXECUTABLE=$folder/root/usr/bin/php$php NO_INTERACTION=1 LD_PRELOAD=$1 \
    "$folder/root/usr/bin/php$php" -n run-tests.php -n -q --no-color ext/zlib/tests 2>&1 || true) |
    sed -nE '/^FAILED TEST/,$s/.*\[ext\/zlib\/tests\/(.*)\.phpt\].*/\1/p; s/^Tests passed *: *([0-9]+).*/ran \1/p'
}

run_git() {
  local at=$folder/git git=(git -c user.name=test -c user.email=test@localhost -c gc.auto=0 -c core.fsyncMethod=batch)
  rm -rf "$at" "$at.bundle" "$at.clone" && mkdir "$at"
  (
    exec 2>&1
    cd "$at"
    export LD_PRELOAD=$1
    # The commands are joined by &&, since `set -e` has no effect here. With the library, git makes
    # loose objects, a pack, and another pack after a change; without the library it checks each.
    # Then git makes a pack without the library, checks it with the library, and clones a bundle.
    git init -q -b main && cp -r "$OLDPWD/docs" "$OLDPWD/crates/deflate" . && "${git[@]}" add -A && "${git[@]}" commit -qm one &&
      LD_PRELOAD='' git fsck --full --strict && "${git[@]}" repack -adfq &&
      LD_PRELOAD='' git fsck --full --strict &&
      echo changed >>docs/index.md && "${git[@]}" commit -qam two && "${git[@]}" gc -q --aggressive &&
      LD_PRELOAD='' git fsck --full --strict &&
      LD_PRELOAD='' git gc -q --aggressive && git fsck --full --strict &&
      "${git[@]}" bundle create -q "$at.bundle" --all &&
      LD_PRELOAD='' git clone -q "$at.bundle" "$at.clone" && diff -r --exclude=.git . "$at.clone"
  ) || echo "status $?"
  echo "ran 1"
}

# Runs a suite with the library and without, and prints the result. It has failed if a test fails
# only with the library and is not listed above, or if less than LEAST-COUNT tests ran.
suite() { # NAME LEAST-COUNT
  local name=$1 ours theirs faults count
  ours=$("run_$name" "$library") theirs=$("run_$name" "")
  faults=$(sed '/^ran /d; s/^/'"$name"' /' <<<"$ours" | grep -vxF -e "$unlike_zlib" -e "$(sed "s/^/$name /" <<<"$theirs")" |
    sed '/^[a-z]* $/d') || true
  count=$(sed -n 's/^ran //p' <<<"$ours")
  if [ "${count:-0}" -lt "$2" ]; then faults+=" only ${count:-0} tests ran"; fi
  echo "$name: $count tests${faults:+, failed: $faults}"
  [ -z "$faults" ] || failed+=" $name"
}
failed=

# Unpacks the parts of a package's source that match into FOLDER, unless it is there.
have_source() { # FOLDER PACKAGE PATTERN...
  local at=$folder/$1
  [ -e "$at" ] && return
  compgen -G "$folder/$2_*.orig.tar.xz" >/dev/null || get_sources "$folder" "$2" || return
  rm -rf "$at.new" && mkdir "$at.new" && tar -xf "$(compgen -G "$folder/$2_*.orig.tar.xz" | head -n 1)" -C "$at.new" --strip-components 1 \
    --wildcards "${@:3}" && mv "$at.new" "$at"
}

# Unpacks packages into $folder/root, unless PROGRAM is there.
have_programs() { # PROGRAM PACKAGE...
  [ -x "$folder/root/usr/bin/$1" ] && return
  local packages=$folder/packages
  mkdir -p "$packages" "$folder/root"
  (cd "$packages" && apt-get download -qq "${@:2}" 2>/dev/null) || return
  for package in "$packages"/*.deb; do dpkg-deb -x "$package" "$folder/root" && rm "$package"; done
}

# Prints the version in the name of a package on which another depends: 3.1 for ruby3.1.
version_of() { # PACKAGE PREFIX
  apt-cache depends "$1" 2>/dev/null | sed -nE "s/.*Depends: $2([0-9.]+)(-cli)?$/\1/p" | head -n 1 || true
}

command -v git >/dev/null && suite git 1 || lacks git
if scripts/setup.sh cpython-tests; then suite python 100; else lacking=yes; fi
if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
  lacks "apt-get and dpkg-deb, for the distribution's sources"
else
  if command -v prove >/dev/null && have_source perl perl '*/cpan/Compress-Raw-Zlib/*' '*/cpan/IO-Compress/*'; then
    suite perl 10000
  else
    lacks "prove, or the source of Perl"
  fi
  ruby=$(version_of ruby ruby)
  if [ -n "$ruby" ] && have_source ruby "ruby$ruby" '*/test/zlib/*' '*/tool/lib/*' &&
    have_programs "ruby$ruby" "ruby$ruby" "libruby$ruby" ruby-test-unit ruby-power-assert; then
    suite ruby 80
  else
    lacks "Ruby and its source"
  fi
  php=$(version_of php-cli php)
  if [ -n "$php" ] && have_source php "php$php" '*/run-tests.php' '*/ext/zlib/tests/*' &&
    have_programs "php$php" "php$php-cli" "php$php-common"; then
    suite php 120
  else
    lacks "PHP and its source"
  fi
fi
if [ -n "$failed" ]; then
  echo "failed:$failed" >&2
  exit 1
fi
[ -z "$lacking" ] || exit 77
