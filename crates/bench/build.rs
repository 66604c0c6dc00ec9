//! Passes versions to the program, which writes them to records: the commit, the compiler's, and
//! those of libraries that have no function to return their own version.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rustc-env=BENCH_BUILT_FROM={}", built_from());
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    println!("cargo:rustc-env=BENCH_VERSION_RUSTC={}", output(&rustc, &["--version"]));
    println!("cargo:rustc-env=BENCH_VERSION_ISAL={}", output("pkg-config", &["--modversion", "libisal"]));
    let lock = std::fs::read_to_string("../../Cargo.lock").unwrap_or_default();
    println!("cargo:rustc-env=BENCH_VERSION_ZLIB_RS={}", locked(&lock, "zlib-rs"));
    println!("cargo:rustc-env=BENCH_VERSION_LIBDEFLATE={}", locked(&lock, "libdeflate-sys"));
    println!("cargo:rustc-env=BENCH_VERSION_RUZSTD={}", locked(&lock, "ruzstd"));
    println!("cargo:rustc-env=BENCH_VERSION_LZ4_FLEX={}", locked(&lock, "lz4_flex"));
    println!("cargo:rustc-env=BENCH_VERSION_TOWER_HTTP={}", locked(&lock, "tower-http"));
    println!("cargo:rerun-if-changed=../../Cargo.lock");
    println!("cargo:rerun-if-changed=build.rs");
}

/// Returns what `git describe` prints for the sources: a tag or commit, with `-dirty` if files are
/// changed; or "unknown" outside a git checkout. Returns "debug" for builds like those of
/// `cargo test`, which would otherwise be made again after each commit and each edit of another
/// crate, and whose speed is not worth recording.
fn built_from() -> String {
    if std::env::var("PROFILE").as_deref() != Ok("release") {
        return "debug".into();
    }
    // Watches the files that a commit, a checkout or an edit changes. A path that does not exist
    // would make every build compile this crate again.
    for name in ["HEAD", "logs/HEAD"] {
        watch(&output("git", &["rev-parse", "--git-path", name]));
    }
    ["../../Cargo.toml", "../../crates", "../../accel"].iter().for_each(|path| watch(path));
    output("git", &["describe", "--always", "--dirty", "--tags"])
}

fn watch(path: &str) {
    if Path::new(path).exists() {
        println!("cargo:rerun-if-changed={path}");
    }
}

fn output(program: &str, args: &[&str]) -> String {
    let out = Command::new(program).args(args).output();
    let text = out.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned()).unwrap_or_default();
    if text.is_empty() { "unknown".into() } else { text }
}

/// Version of a package in the text of `Cargo.lock`, which has it on the line after the name.
/// "unknown" if the package is not there.
fn locked(lock: &str, package: &str) -> String {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    let version = lines.nth(1).and_then(|line| line.strip_prefix("version = \""));
    version.map_or("unknown", |v| v.trim_end_matches('"')).into()
}
