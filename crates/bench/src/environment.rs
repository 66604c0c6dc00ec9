//! Where and with what a measurement was made.

use std::process::Command;

pub use linerate_candidates::environment::{command, cpu, date};

/// The compiler that built this program.
pub fn rustc() -> &'static str {
    env!("BENCH_VERSION_RUSTC")
}

/// Linerate's version, and the commit where the sources this was built from are a git checkout.
pub fn linerate() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let git = Command::new("git")
        .args(["-C", env!("CARGO_MANIFEST_DIR"), "describe", "--always", "--dirty", "--tags"])
        .output();
    match git {
        Ok(out) if out.status.success() => {
            format!("{version} {}", String::from_utf8_lossy(&out.stdout).trim())
        }
        _ => version.into(),
    }
}
