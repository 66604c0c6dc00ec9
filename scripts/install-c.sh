#!/usr/bin/env bash
# install-c.sh FOLDER PREFIX [LIBRARY...]: installs the C libraries that cargo has built in FOLDER
# (default: linerate slz z), with headers, pkg-config and CMake files, below PREFIX, and their
# licences in share/doc. DESTDIR is prepended to PREFIX, for making packages. LIBDIR is the folder
# for libraries below PREFIX (default: lib).
# install-c.sh --remove PREFIX [LIBRARY...]: removes them.
set -euo pipefail

built=${1:?usage: install-c.sh FOLDER|--remove PREFIX [LIBRARY...]}
prefix=${2:?usage: install-c.sh FOLDER|--remove PREFIX [LIBRARY...]}
shift 2
[ $# -gt 0 ] || set -- linerate slz z
root=${DESTDIR:-}$prefix
lib=${LIBDIR:-lib}
source=$(cd "$(dirname "$0")/.." && pwd)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$source/Cargo.toml" | head -1)
umask 022

# Writes standard input to another file and renames it to FILE, because a program may have loaded
# the old file.
put() { # MODE FILE
  mkdir -p "${2%/*}"
  cat >"$2.new"
  chmod "$1" "$2.new"
  mv "$2.new" "$2"
}

# Installs a library, whose headers are in bindings/c/NAME.
install_library() { # NAME INTERFACE-VERSION DESCRIPTION HEADER...
  local name=$1 interface=$2 description=$3 header
  shift 3
  put 755 "$root/$lib/lib$name.so.$interface" <"$built/lib$name.so"
  ln -sf "lib$name.so.$interface" "$root/$lib/lib$name.so"
  put 644 "$root/$lib/lib$name.a" <"$built/lib$name.a"
  for header in "$@"; do put 644 "$root/include/$header" <"$source/bindings/c/$name/$header"; done
  put 644 "$root/$lib/pkgconfig/$name.pc" <<PC
prefix=$prefix
libdir=\${prefix}/$lib
includedir=\${prefix}/include

Name: $name
Description: $description
Version: $version
Libs: -L\${libdir} -l$name
Libs.private: -lpthread -ldl -lm
Cflags: -I\${includedir}
PC
}

remove_library() { # NAME INTERFACE-VERSION DESCRIPTION HEADER...
  local name=$1 header
  rm -f "$root/$lib/lib$name.so.$2" "$root/$lib/lib$name".{so,a} "$root/$lib/pkgconfig/$name.pc"
  shift 3
  for header in "$@"; do rm -f "$root/include/$header"; done
}

# Writes the targets linerate::linerate (shared) and linerate::static for find_package(linerate).
install_cmake() {
  local folder=$root/$lib/cmake/linerate up
  up=$(sed 's:[^/]*:..:g' <<<"$lib")
  sed "s:@lib@:$lib:; s:@up@:$up:" <<'CMAKE' | put 644 "$folder/linerate-config.cmake"
get_filename_component(_linerate_prefix "${CMAKE_CURRENT_LIST_DIR}/../../@up@" ABSOLUTE)
if(NOT TARGET linerate::linerate)
  add_library(linerate::linerate SHARED IMPORTED)
  set_target_properties(linerate::linerate PROPERTIES
    IMPORTED_LOCATION "${_linerate_prefix}/@lib@/liblinerate.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_linerate_prefix}/include")
  add_library(linerate::static STATIC IMPORTED)
  set_target_properties(linerate::static PROPERTIES
    IMPORTED_LOCATION "${_linerate_prefix}/@lib@/liblinerate.a"
    INTERFACE_LINK_LIBRARIES "pthread;dl;m"
    INTERFACE_INCLUDE_DIRECTORIES "${_linerate_prefix}/include")
endif()
unset(_linerate_prefix)
CMAKE
  put 644 "$folder/linerate-config-version.cmake" <<CMAKE
set(PACKAGE_VERSION "$version")
if(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION AND PACKAGE_FIND_VERSION VERSION_GREATER_EQUAL "$interface")
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
CMAKE
}

# The version of the interface, which is part of the library's soname, as in
# bindings/c/linerate/build.rs: 0.1 for version 0.1.2, and 1 for 1.2.3.
case $version in
  0.*) interface=${version%.*} ;;
  *) interface=${version%%.*} ;;
esac

# Makes sure that programs find the shared libraries, or says what to do. The system's loader has a
# list of the libraries in its folders, which ldconfig updates. In other folders it does not look.
tell_loader() {
  local folder=$prefix/$lib known found=
  PATH=$PATH:/usr/sbin:/sbin
  if [ -n "${DESTDIR:-}" ] || [ "$(uname -s)" != Linux ]; then return; fi
  # A folder may be listed under another name: /lib for /usr/lib.
  while read -r known; do
    if [ "$known" -ef "$folder" ]; then found=yes; fi
  done < <(ldconfig -v -N -X 2>/dev/null | sed -n 's/^\(\/[^:]*\):.*/\1/p')
  if [ -n "$found" ]; then
    if [ "$(id -u)" = 0 ]; then ldconfig; else echo "so that programs find the libraries in $folder, run as root: ldconfig"; fi
  else
    echo "programs do not look for libraries in $folder: link them with -Wl,-rpath,$folder, or start them with LD_LIBRARY_PATH=$folder"
  fi
}

verb=install
if [ "$built" = --remove ]; then verb=remove; fi
for library in "$@"; do
  case $library in
    linerate)
      ${verb}_library linerate "$interface" "compression engines: deflate, inflate, zstd, Delta-Rice, Nx archives" \
        linerate.h linerate.hpp
      if [ $verb = install ]; then install_cmake; else rm -rf "$root/$lib/cmake/linerate"; fi
      crate=linerate-c
      ;;
    slz)
      ${verb}_library slz 1 \
        "stateless deflate, zlib and gzip encoder with the interface of libslz, by Linerate" slz.h
      crate=linerate-slz
      ;;
    # No header or static library: programs load this library before zlib.
    z)
      if [ $verb = install ]; then
        put 755 "$root/$lib/liblinerate_z.so" <"$built/liblinerate_z.so"
      else
        rm -f "$root/$lib/liblinerate_z.so"
      fi
      crate=linerate-z
      ;;
    *) echo "install-c.sh: unknown library: $library" >&2; exit 2 ;;
  esac
  if [ $verb = install ]; then licences=$crate; else licences=--remove; fi
  "$source/scripts/licences.sh" "$licences" "$root/share/doc/$crate"
done
# The loader need not know liblinerate_z.so, which users name by its path (LD_PRELOAD).
if [ $verb = install ] && [ "$*" != z ]; then tell_loader; fi
