# record.sh, sourced in the project's root: prints the parts of a record's row that describe the
# run.

# Prints the CPU's name with family and model.
processor() {
  awk -F '\t*: ' '/^model name/ { n = $2 } /^cpu family/ { f = $2 } /^model\t/ { m = $2 }
    END { print n " (family " f " model " m ")" }' /proc/cpuinfo 2>/dev/null || uname -m
}

# Prints the workspace's version, and the commit if there is one.
linerate_version() {
  local version commit
  version=$(sed -n '/^version = /{s/.*"\(.*\)"/\1/p;q}' Cargo.toml)
  commit=$(git describe --always --dirty --exclude '*' 2>/dev/null) || commit=
  echo "$version${commit:+ $commit}"
}
