# record.sh, sourced in the project's root: prints the parts of a record's row that describe the
# run.

# Prints the CPU's name with family and model, or the architecture where CPUINFO does not have a name,
# as on ARM64 and on systems other than Linux.
processor() { # [CPUINFO]
  local info=${1:-/proc/cpuinfo}
  [ -r "$info" ] || info=/dev/null
  awk -F '\t*: ' -v name="$(uname -m)" '/^model name/ { name = $2 } /^cpu family/ { f = $2 } /^model\t/ { m = $2 }
    END { print name (f != "" && m != "" ? " (family " f " model " m ")" : "") }' "$info"
}

# Prints the workspace's version, and the commit if there is one.
linerate_version() {
  local version commit
  version=$(sed -n '/^version = /{s/.*"\(.*\)"/\1/p;q}' Cargo.toml)
  commit=$(git describe --always --dirty --exclude '*' 2>/dev/null) || commit=
  echo "$version${commit:+ $commit}"
}
