#!/usr/bin/env bash
# dist-deb.sh OUT [TRIPLE...]: puts Debian packages into OUT, for Debian 9, Ubuntu 18.04 and newer:
#   linerate          the program with manual pages and completions, and the HDF5 plugins where Debian's HDF5 looks for them
#   liblinerate0.1    the shared library
#   liblinerate-dev   headers, static library, files for pkg-config and CMake
# DEBFULLNAME and DEBEMAIL name the maintainer, by default git's user.name and user.email.
#
# dist-deb.sh --check OUT: runs lintian, then installs the packages for this machine in a new system
# (SUITE, default: bookworm), which needs root, and runs the examples of the pages there. With an
# emulator it unpacks those for ARM64 in another system.
# The status is 77 if something is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packaging.sh

triples="x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu"
build_needs="rust zig deb"
check_needs=deb
maintainer="${DEBFULLNAME:-$(git config user.name || echo Linerate)} <${DEBEMAIL:-$(git config user.email || true)}>"
# The version of the library's interface, in its soname, as in bindings/c/linerate/build.rs.
case $version in
  0.*) interface=${version%.*} ;;
  *) interface=${version%%.*} ;;
esac
library=liblinerate$interface
umask 022

# Prints Debian's name of the machine.
machine() { # TRIPLE
  case $1 in
    x86_64-*-linux-gnu) echo amd64 ;;
    aarch64-*-linux-gnu) echo arm64 ;;
    *) echo "dist-deb.sh: no packages for $1" >&2; exit 2 ;;
  esac
}

# Prints the dependencies of a package with these files: only glibc, in the newest version that one
# of the files needs. Fails if a file needs another library.
needs() { # FILE...
  local file other
  for file; do
    other=$(readelf --dynamic "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(lib(c|m|dl|rt|pthread)\.so\.[0-9]|ld-linux.*)$' || true)
    [ -z "$other" ] || { echo "dist-deb.sh: $file needs $other" >&2; exit 1; }
  done
  echo "libc6 (>= $(readelf --version-info "$@" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1 | cut -d _ -f 2))"
}

document() { # FOLDER PACKAGE CRATE TRIPLE
  local folder=$1/usr/share/doc/$2
  mkdir -p "$folder"
  {
    cat <<COPYRIGHT
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: linerate

Files: *
$(grep '^Copyright' LICENSE-MIT | sed 's/ (c)/:/')
License: Apache-2.0 or Expat
Comment: third-party.txt.gz has the licences of what is linked with it.

License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.

License: Expat
COPYRIGHT
    sed -n '/^Permission is/,$p' LICENSE-MIT | sed 's/^$/./; s/^/ /'
  } >"$folder/copyright"
  scripts/third-party.py "$4" "$3" | gzip -9n >"$folder/third-party.txt.gz"
  gzip -9n <CHANGELOG.md >"$folder/changelog.gz"
  gzip -9n >"$folder/changelog.Debian.gz" <<CHANGELOG
linerate ($version-1) unstable; urgency=medium

  * Version $version: see changelog.gz.

 -- $maintainer  $(date --utc --rfc-email --date "@$SOURCE_DATE_EPOCH")
CHANGELOG
}

# Packs FOLDER as PACKAGE. Standard input has the fields of the control file that are specific to
# this package, the description last.
pack() { # FOLDER PACKAGE MACHINE
  local folder=$1 control=$1/DEBIAN
  mkdir -p "$control"
  {
    printf 'Package: %s\nSource: linerate\nVersion: %s-1\nArchitecture: %s\nMaintainer: %s\nPriority: optional\n' \
      "$2" "$version" "$3" "$maintainer"
    echo "Installed-Size: $(du -k -s --apparent-size "$folder/usr" | cut -f 1)"
    cat
  } >"$control/control"
  (cd "$folder" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
  find "$folder" -type d -exec chmod 755 {} +
  dpkg-deb --root-owner-group --uniform-compression -Zxz --build "$folder" "$out/$2_$version-1_$3.deb"
}

build() { # TRIPLE
  local machine built folder program lib plugin crate depends
  machine=$(machine "$1")
  built=$target/$1/$profile
  folder=$temporary/$machine
  lib=lib/${1/-unknown/}
  for crate in linerate linerate-c linerate-hdf5-deltarice linerate-hdf5-deltarice2; do
    scripts/cross.sh "$1" --package "$crate"
  done

  program=$folder/program
  install_program "$1" "$program" /usr
  gzip -9n "$program"/usr/share/man/man1/*.1
  mkdir -p "$program/usr/$lib/hdf5/serial/plugins" "$program/usr/share/zsh/vendor-completions"
  mv "$program/usr/share/zsh/site-functions/_linerate" "$program/usr/share/zsh/vendor-completions/"
  rmdir "$program/usr/share/zsh/site-functions"
  for plugin in deltarice deltarice2; do
    install -m 644 "$built/liblinerate_$plugin.so" "$program/usr/$lib/hdf5/serial/plugins/"
  done
  document "$program" linerate linerate "$1"
  mkdir -p "$program/usr/share/lintian/overrides"
  cat >"$program/usr/share/lintian/overrides/linerate" <<OVERRIDES
# There is no zlib in it; lintian finds its name beside a number in a text.
linerate: embedded-library zlib *
OVERRIDES
  depends=$(needs "$program/usr/bin/linerate" "$program/usr/$lib"/hdf5/serial/plugins/*.so)
  pack "$program" linerate "$machine" <<CONTROL
Section: utils
Depends: $depends
Description: lossless compression for servers, bots, detectors and games
 The program linerate: gzip and zstd, waveforms, Nx archives, dictionaries,
 message gateways, and a plan that names the setting which suits your data
 and drive. The package also has the HDF5 plugins of the filter Delta-Rice.
CONTROL

  DESTDIR=$folder/library LIBDIR=$lib scripts/install-c.sh "$built" /usr linerate
  rm -r "$folder/library/usr/share/doc" # its licences are those of a build for this machine
  mkdir -p "$folder/dev/usr/$lib"
  mv "$folder/library/usr/include" "$folder/dev/usr/"
  mv "$folder/library/usr/$lib"/{liblinerate.so,liblinerate.a,pkgconfig,cmake} "$folder/dev/usr/$lib/"
  chmod 644 "$folder/library/usr/$lib"/*.so.*
  document "$folder/library" "$library" linerate-c "$1"
  mkdir "$folder/library/DEBIAN"
  echo "liblinerate $interface $library (>= $version)" >"$folder/library/DEBIAN/shlibs"
  echo "activate-noawait ldconfig" >"$folder/library/DEBIAN/triggers"
  depends=$(needs "$folder/library/usr/$lib"/*.so.*)
  pack "$folder/library" "$library" "$machine" <<CONTROL
Section: libs
Multi-Arch: same
Depends: $depends
Description: compression engines with a C interface: shared library
 Deflate, inflate, zstd, Delta-Rice and Nx archives behind one C interface.
 Memory and threads are the caller's.
CONTROL
  document "$folder/dev" liblinerate-dev linerate-c "$1"
  pack "$folder/dev" liblinerate-dev "$machine" <<CONTROL
Section: libdevel
Multi-Arch: same
Depends: $library (= $version-1), libc6-dev
Description: compression engines with a C interface: headers
 Deflate, inflate, zstd, Delta-Rice and Nx archives behind one C interface.
 With it come the static library, and files for pkg-config and CMake.
CONTROL
}

check() {
  local machine
  # A first upload to Debian must close a report, which these packages do not need.
  lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$out"/*_"$version"-1_*.deb
  for machine in "$(dpkg --print-architecture)" arm64; do
    if [ -e "$temporary/$machine" ] || [ ! -e "$out/linerate_$version-1_$machine.deb" ]; then continue; fi
    if [ "$machine" = "$(dpkg --print-architecture)" ]; then new_system "$machine"; else unpacked "$machine"; fi
  done
}

new_system() { # MACHINE
  local root=$temporary/$1 package
  [ "$(id -u)" = 0 ] || lacks "root, which makes a system to install in"
  mmdebstrap --quiet --variant=minbase "--include=$used" "$debian" "$root"
  for package in linerate "$library" liblinerate-dev; do
    cp "$out/${package}_$version-1_$1.deb" "$root/tmp/"
    chroot "$root" dpkg --install "/tmp/${package}_$version-1_$1.deb"
  done
  examples "$1" "installed in a new $debian" chroot "$root"
}

unpacked() { # MACHINE
  local root=$temporary/$1 package
  arm64_root "$root" "$used,coreutils,dash,diffutils,grep,gzip"
  for package in linerate "$library" liblinerate-dev; do dpkg-deb -x "$out/${package}_$version-1_$1.deb" "$root"; done
  examples "$1" "unpacked in $debian, $(emulator)" in_arm64 "$root"
}

# Packages that the examples use.
used=gcc,libc6-dev,pkgconf,hdf5-tools

# Runs the examples in the system of MACHINE, where COMMAND runs programs. WHERE is for the record.
examples() { # MACHINE WHERE COMMAND...
  local package
  cp bindings/c/linerate/examples/compress.c "$temporary/$1/tmp/" # the example of the page
  "${@:3}" sh -eux <<'EXAMPLES'
cd /tmp
printf 'one\ntwo\n' >notes.txt
linerate gzip -k notes.txt
gzip -dc notes.txt.gz | cmp - notes.txt
gcc compress.c -o compress $(pkg-config --cflags --libs linerate)
./compress <notes.txt | gzip -dc | cmp - notes.txt
gcc compress.c -o compress -Wl,-Bstatic -llinerate -Wl,-Bdynamic -lpthread -ldl -lm
./compress <notes.txt | gzip -dc | cmp - notes.txt
seq 1 4096 >numbers.txt
printf 'PATH samples\nINPUT-CLASS TEXTIN\nINPUT-SIZE 16\nRANK 2\nDIMENSION-SIZES 4 1024\nOUTPUT-CLASS IN\nOUTPUT-SIZE 16\nOUTPUT-ARCHITECTURE NATIVE\n' >numbers.conf
h5import numbers.txt -config numbers.conf -outfile plain.h5
h5repack -l CHUNK=4x1024 -f UD=32025,0,2,8,1024 plain.h5 small.h5
h5dump -pH small.h5 | grep -q 32025
h5diff plain.h5 small.h5
test "$(stat -c %s small.h5)" -lt "$(stat -c %s plain.h5)"
EXAMPLES
  for package in linerate "$library" liblinerate-dev; do ran "${package}_$version-1_$1.deb" "$2"; done
}

packages "$@"
