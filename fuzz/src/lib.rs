//! Fuzz targets as functions: `fuzz_targets/` passes them to libFuzzer, and `src/bin/smoke.rs` runs
//! them for a bounded time, which needs no nightly compiler.
//!
//! A target takes arbitrary bytes and panics if an engine violates an invariant. The targets for
//! deflate interpret the bytes as a [`program`] of calls on one stream.

mod dict_blocks;
mod dict_pack;
mod files;
mod gateway;
mod gateway_message;
mod gateway_stats;
mod inflate;
mod inflate_parallel;
mod nx;
mod nx_filter;
pub mod program;
mod r3a;
mod rice;
mod rice_v2;
mod roundtrip;
mod session;
mod sst;
mod tight_output;
mod websocket;
mod zstd;
mod zstd_reader;

pub use dict_blocks::dict_blocks;
pub use dict_pack::dict_pack;
pub use gateway::{gateway, gateway_zlib};
pub use gateway_message::gateway_message;
pub use gateway_stats::gateway_stats;
pub use inflate::inflate;
pub use inflate_parallel::inflate_parallel;
pub use nx::nx;
pub use nx_filter::nx_filter;
pub use r3a::r3a;
pub use rice::rice;
pub use rice_v2::rice_v2;
pub use roundtrip::roundtrip;
pub use session::deflate_session;
pub use sst::sst;
pub use tight_output::tight_output;
pub use websocket::websocket;
pub use zstd::{zstd_dictionary, zstd_frame, zstd_stream};
pub use zstd_reader::{zstd_reader, zstd_seekable};

/// A fuzz target: takes arbitrary bytes, and panics if an invariant is violated.
pub type Target = fn(&[u8]);

/// All targets, by their names for `cargo fuzz run`.
pub const TARGETS: &[(&str, Target)] = &[
    ("roundtrip", roundtrip),
    ("tight_output", tight_output),
    ("deflate_session", deflate_session),
    ("rice", rice),
    ("rice_v2", rice_v2),
    ("nx", nx),
    ("nx_filter", nx_filter),
    ("r3a", r3a),
    ("zstd_frame", zstd_frame),
    ("zstd_stream", zstd_stream),
    ("zstd_dictionary", zstd_dictionary),
    ("zstd_reader", zstd_reader),
    ("zstd_seekable", zstd_seekable),
    ("sst", sst),
    ("dict_pack", dict_pack),
    ("dict_blocks", dict_blocks),
    ("inflate", inflate),
    ("inflate_parallel", inflate_parallel),
    ("gateway", gateway),
    ("gateway_zlib", gateway_zlib),
    ("gateway_stats", gateway_stats),
    ("gateway_message", gateway_message),
    ("websocket", websocket),
];

/// Largest output, in bytes, of a call that encodes `n` bytes once the stream's header is written:
/// [`linerate_deflate::bound`] without its room for the header.
fn max_output(n: usize) -> usize {
    n + 5 * n.div_ceil(65_535)
}
