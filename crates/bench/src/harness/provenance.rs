//! With what a run measures.

use std::process::Command;

use linerate_candidates::environment::{command, cpu, date};

use crate::bytes;
use crate::records::Run;

/// What this run's measurements share.
pub fn run() -> Run {
    let mut versions = bytes::versions();
    versions.extend(
        [
            ("rustc", env!("BENCH_VERSION_RUSTC")),
            ("tier", linerate_core::cpu::tier().name()),
            ("libzstd", zstd_safe::version_string()),
            #[cfg(feature = "ruzstd")]
            ("ruzstd", env!("BENCH_VERSION_RUZSTD")),
        ]
        .map(|(name, version)| (name.to_owned(), version.to_owned())),
    );
    Run { date: date(), cpu: cpu(), linerate: linerate(), command: command(), versions, ..Run::default() }
}

/// Libraries to compare with, each a feature of this crate.
pub const PEERS: [&str; 7] = ["isal", "libdeflate", "libslz", "lz4", "ruzstd", "zlib", "zlib-ng"];

/// Names those of these peers that this build lacks, in a sentence.
pub fn absent(peers: &[&str]) -> Option<String> {
    let is_in = [
        cfg!(feature = "isal"),
        cfg!(feature = "libdeflate"),
        cfg!(feature = "libslz"),
        cfg!(feature = "lz4"),
        cfg!(feature = "ruzstd"),
        cfg!(feature = "zlib"),
        cfg!(feature = "zlib-ng"),
    ];
    let missing = PEERS.into_iter().zip(is_in).filter(|(name, is_in)| !is_in && peers.contains(name));
    let missing: Vec<&str> = missing.map(|(name, _)| name).collect();
    (!missing.is_empty()).then(|| format!("Not in this build: {}", missing.join(", ")))
}

/// Linerate's version, and the commit where the sources this was built from are a git checkout.
fn linerate() -> String {
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
