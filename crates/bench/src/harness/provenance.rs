//! The machine, versions and command of a run.

use linerate_candidates::environment::{command, cpu, date};

use crate::bytes;
use crate::records::Run;

/// Returns the [`Run`] that all measurements of this process share.
pub fn run() -> Run {
    let mut versions = bytes::versions();
    versions.extend(
        [
            ("rustc", env!("BENCH_VERSION_RUSTC")),
            ("tier", linerate_core::cpu::tier().name()),
            ("libzstd", zstd_safe::version_string()),
            ("lz4_flex", env!("BENCH_VERSION_LZ4_FLEX")),
            ("tower-http", env!("BENCH_VERSION_TOWER_HTTP")),
            #[cfg(feature = "ruzstd")]
            ("ruzstd", env!("BENCH_VERSION_RUZSTD")),
        ]
        .map(|(name, version)| (name.to_owned(), version.to_owned())),
    );
    let linerate = concat!(env!("CARGO_PKG_VERSION"), " ", env!("BENCH_BUILT_FROM")).into();
    Run { date: date(), cpu: cpu(), linerate, command: command(), versions, ..Run::default() }
}

/// Other libraries that are features of this crate, each with whether this build has it.
const PEERS: [(&str, bool); 7] = [
    ("isal", cfg!(feature = "isal")),
    ("libdeflate", cfg!(feature = "libdeflate")),
    ("libslz", cfg!(feature = "libslz")),
    ("lz4", cfg!(feature = "lz4")),
    ("ruzstd", cfg!(feature = "ruzstd")),
    ("zlib", cfg!(feature = "zlib")),
    ("zlib-ng", cfg!(feature = "zlib-ng")),
];

/// Returns a sentence that lists those of `peers` that this build lacks, or `None` if it lacks none
/// of them. An empty `peers` means all peers.
pub fn absent(peers: &[&str]) -> Option<String> {
    let is_absent = |(name, is_in): &&(&str, bool)| !is_in && (peers.is_empty() || peers.contains(name));
    let missing: Vec<&str> = PEERS.iter().filter(is_absent).map(|(name, _)| *name).collect();
    (!missing.is_empty()).then(|| format!("Not in this build: {}", missing.join(", ")))
}
