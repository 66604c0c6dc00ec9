//! Fuzz targets as plain functions: `fuzz_targets/` gives them to libFuzzer, `src/bin/smoke.rs`
//! runs them for a bounded time with an ordinary compiler.
//!
//! Every target takes any bytes and panics if an engine breaks a promise. Those for deflate read
//! them as a [`program`] of calls on one stream.

mod dict_blocks;
mod dict_pack;
mod files;
mod gateway;
mod nx;
pub mod program;
mod r3a;
mod rice;
mod rice_v2;
mod roundtrip;
mod sst;
mod tight_output;
mod zstd;

pub use dict_blocks::dict_blocks;
pub use dict_pack::dict_pack;
pub use gateway::{gateway, gateway_zlib};
pub use nx::nx;
pub use r3a::r3a;
pub use rice::rice;
pub use rice_v2::rice_v2;
pub use roundtrip::roundtrip;
pub use sst::sst;
pub use tight_output::tight_output;
pub use zstd::{zstd_dictionary, zstd_frame, zstd_stream};

/// A fuzz target: any bytes in, a panic if a promise is broken.
pub type Target = fn(&[u8]);

/// All targets, by the names that `cargo fuzz run` takes.
pub const TARGETS: &[(&str, Target)] = &[
    ("roundtrip", roundtrip),
    ("tight_output", tight_output),
    ("rice", rice),
    ("rice_v2", rice_v2),
    ("nx", nx),
    ("r3a", r3a),
    ("zstd_frame", zstd_frame),
    ("zstd_stream", zstd_stream),
    ("zstd_dictionary", zstd_dictionary),
    ("sst", sst),
    ("dict_pack", dict_pack),
    ("dict_blocks", dict_blocks),
    ("gateway", gateway),
    ("gateway_zlib", gateway_zlib),
];

/// Most bytes that one [`linerate_deflate::Stream::encode`] may write for `n` bytes after the
/// header: the promise itself, without the slack that `bound` has for a header.
fn promised(n: usize) -> usize {
    n + 5 * n.div_ceil(65_535)
}
