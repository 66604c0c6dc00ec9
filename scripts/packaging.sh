# packaging.sh, sourced in the project's root by the scripts that make packages.
. scripts/rust.sh

script=${0##*/}
project=$PWD
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
profile=${PROFILE:-dist}
target=${CARGO_TARGET_DIR:-target}
# Files have the time of the commit, so that the same sources give the same bytes.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

lacks() { # [WHAT]
  echo "$script: lacks ${1:-what is named above}" >&2
  exit 77
}

# Handles the arguments of a script: OUT [TRIPLE...] calls the script's function build for each
# triple, by default $triples; --check OUT [...] calls its function check. $build_needs and
# $check_needs are needs of scripts/setup.sh. Sets $out to the absolute path of OUT.
packages() { # [--check] OUT [TRIPLE...]
  local mode=build triple
  if [ "${1:-}" = --check ]; then
    mode=check
    shift
  fi
  mkdir -p "${1:?usage: $script [--check] OUT [TRIPLE...]}"
  out=$(realpath "$1")
  shift
  # shellcheck disable=SC2086 # names
  if [ $mode = check ]; then
    scripts/setup.sh $check_needs || lacks
    check "$@"
    return
  fi
  scripts/setup.sh $build_needs || lacks
  # shellcheck disable=SC2086 # names
  if [ $# = 0 ]; then set -- $triples; fi
  for triple; do build "$triple"; done
}

# Builds CRATE for every platform that can be linked here, and after each calls COMMAND with two
# more arguments: the folder of the result and the triple.
each_platform() { # CRATE COMMAND...
  local crate=$1 triple status
  shift
  for triple in $(scripts/cross.sh --list); do
    status=0
    scripts/cross.sh "$triple" --package "$crate" || status=$?
    case $status in
      0) "$@" "$target/$triple/$profile" "$triple" ;;
      77) ;;
      *) return $status ;;
    esac
  done
}

# Installs the program for TRIPLE below FOLDER/PREFIX, with manual pages and completions, which the
# program for this machine prints.
install_program() { # TRIPLE FOLDER PREFIX
  local here
  here=$(uname -m)-${1#*-}
  scripts/cross.sh "$here" --package linerate
  DESTDIR=$2 scripts/install.sh "$target/$here/$profile/linerate" "$3"
  rm -r "$2/$3/share/doc" # licences of a build for this machine; a package gets its own
  cp "$target/$1/$profile/linerate" "$2/$3/bin/linerate"
}

# Prints where a package was installed and its example ran, and notes this for the record of
# dist.sh.
ran() { # FILE WHERE
  echo "${1##*/}: installed and run: $2"
  if [ -n "${PACKAGE_NOTES:-}" ]; then printf '%s\t%s\n' "${1##*/}" "$2" >>"$PACKAGE_NOTES"; fi
}

debian=${SUITE:-bookworm}

emulator() { qemu-aarch64-static --version | sed -n 's/.* version \([^ ]*\).*/qemu-aarch64 \1/p'; }

# Unpacks Debian's packages for ARM64 in ROOT. Exits with 77 if there is no emulator.
arm64_root() { # ROOT PACKAGE,...
  scripts/setup.sh arm64 || lacks
  mmdebstrap --quiet --variant=extract --architectures=arm64 --include="$2" "$debian" "$1"
}

# Runs a command for ARM64 in ROOT, in its folder /tmp.
in_arm64() { # ROOT COMMAND...
  "$project/scripts/foreign.sh" --execute aarch64-unknown-linux-gnu unshare --root "$1" --wd /tmp "${@:2}"
}
