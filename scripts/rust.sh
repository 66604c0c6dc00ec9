# rust.sh, sourced in the project's root: sets wanted_rust to the oldest supported version, defines
# has_rust, which tells whether that or a newer one is installed, and sets a PATH that finds it.
# rustup's installer puts Rust into ~/.cargo/bin, which only new login shells have in PATH.

wanted_rust=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

at_least() { # VERSION MINIMUM
  [ "$(printf '%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

rust_version() { rustc --version 2>/dev/null | cut -d ' ' -f 2; }

has_rust() {
  local have
  have=$(rust_version) && cargo --version >/dev/null 2>&1 && at_least "${have:-0}" "$wanted_rust"
}

has_rust || PATH=${CARGO_HOME:-${HOME:-}/.cargo}/bin:$PATH
