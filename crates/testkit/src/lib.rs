//! Code that the tests and fuzz targets of several crates share. The crate is not published, and no
//! published crate has it as more than a dev-dependency. Modules that need optional crates are
//! behind features, which `Cargo.toml` describes.
//!
//! | module | content |
//! |---|---|
//! | [`sys::counting`] | an allocator that counts allocations, and can refuse large ones |
//! | [`sys::guarded`] | buffers between guard pages: an access outside ends the process |
//! | [`sys::zlib_window`] | zlib's inflate with an exact window |
//! | [`testdata`] | files of `testdata/`, and corpora named by `LINERATE_CORPORA` |
//! | [`damage`] | kills, full disks and damaged input: how many, and the record of the results |
//! | [`deflate`] | zlib-rs, zlib and libdeflate as oracles of an encoder |
//! | [`disk`] | a file system, small or read-only, for one run of the program `linerate` |
//! | [`data`] | generated content, the same on every machine |
//! | [`c_program`] | C programs against a header and a library, under sanitizers and valgrind |
//! | [`program`] | runs of the program `linerate` in a temporary folder |
//! | [`web`] | a web server on loopback that answers range requests, correctly or wrongly |
//! | [`tools`] | external programs, and tests that are skipped without them |
//! | [`markdown`] | the pages of the documentation, parsed |
//! | [`calls`] | calls in pages, compared with clap's description of their program |
//! | `pages` | the Rust blocks of the documentation, compiled |
//! | [`kill`] | killing a process after a random delay, or sending it SIGTERM |
//! | [`rice`] | golden chunks of the original Delta-Rice filter |
//! | [`nx`] | whether other programs can repack an Nx archive |
//! | [`r3a`] | R3A archives built field by field |
//! | [`zstd`] | zstd frames built field by field, and libzstd as the oracle |
//! | [`tiers`] | the CPU tiers that this machine can test |

#![allow(missing_docs, reason = "not published")]

pub mod c_program;
#[cfg(feature = "calls")]
pub mod calls;
pub mod damage;
pub mod data;
#[cfg(feature = "deflate")]
pub mod deflate;
#[cfg(all(unix, feature = "program"))]
pub mod disk;
pub mod kill;
#[cfg(feature = "markdown")]
pub mod markdown;
#[cfg(feature = "zstd")]
pub mod nx;
#[cfg(doctest)]
mod pages;
#[cfg(feature = "program")]
pub mod program;
#[cfg(feature = "zstd")]
pub mod r3a;
#[cfg(feature = "rice")]
pub mod rice;
pub mod sys;
pub mod testdata;
pub mod tools;
pub mod web;
#[cfg(feature = "zstd")]
pub mod zstd;

use linerate_core::Tier;

/// The CPU tiers that this machine can run, lowest first, regardless of `LINERATE_CPU`.
pub fn tiers() -> impl Iterator<Item = Tier> {
    Tier::ALL.into_iter().filter(|tier| tier.is_supported())
}
