//! Passes versions to the program, which writes them to records: the compiler's, and those of
//! libraries that have no function to return their own version.

use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    println!("cargo:rustc-env=BENCH_VERSION_RUSTC={}", output(&rustc, &["--version"]));
    println!("cargo:rustc-env=BENCH_VERSION_ISAL={}", output("pkg-config", &["--modversion", "libisal"]));
    let lock = std::fs::read_to_string("../../Cargo.lock").unwrap_or_default();
    println!("cargo:rustc-env=BENCH_VERSION_ZLIB_RS={}", locked(&lock, "zlib-rs"));
    println!("cargo:rustc-env=BENCH_VERSION_LIBDEFLATE={}", locked(&lock, "libdeflate-sys"));
    println!("cargo:rustc-env=BENCH_VERSION_RUZSTD={}", locked(&lock, "ruzstd"));
    println!("cargo:rerun-if-changed=../../Cargo.lock");
    println!("cargo:rerun-if-changed=build.rs");
}

fn output(program: &str, args: &[&str]) -> String {
    let out = Command::new(program).args(args).output();
    let text = out.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned()).unwrap_or_default();
    if text.is_empty() { "unknown".into() } else { text }
}

/// The version of a package in the text of `Cargo.lock`, where it is on the line after the name.
/// "unknown" if the package is not there.
fn locked(lock: &str, package: &str) -> String {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    let version = lines.nth(1).and_then(|line| line.strip_prefix("version = \""));
    version.map_or("unknown", |v| v.trim_end_matches('"')).into()
}
