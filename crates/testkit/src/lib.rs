//! Shared by the tests of several crates. Not published, and a dev-dependency only. What needs other crates is behind
//! features, which `Cargo.toml` describes.
//!
//! | module | content |
//! |---|---|
//! | [`sys::counting`] | an allocator that counts |
//! | [`sys::guarded`] | buffers between guard pages: an access outside ends the process |
//! | [`sys::zlib_window`] | zlib's inflate with exactly one window |
//! | [`testdata`] | files of `testdata/`, and corpora named by `LINERATE_CORPORA` |
//! | [`damage`] | the matrix of kills, full disks and damaged input: counts and the rows of its record |
//! | [`deflate`] | zlib-rs, zlib and libdeflate as oracles of an encoder |
//! | [`disk`] | a small file system that is full, mounted for one run of the program |
//! | [`data`] | generated content, the same on every machine |
//! | [`c_program`] | C programs against a header and a library, under sanitizers and valgrind |
//! | [`program`] | the program `linerate`, run in a folder of the test's own |
//! | [`web`] | a web server on loopback that answers range requests, also wrongly |
//! | [`tools`] | external programs: present or skipped |
//! | [`markdown`] | the pages of the documentation, parsed |
//! | [`calls`] | calls that pages show, compared with clap's description of their program |
//! | `pages` | the Rust blocks of the documentation, compiled |
//! | [`kill`] | killing a process after a random delay |
//! | [`rice`] | golden chunks of the original Delta-Rice filter |
//! | [`nx`] | whether other programs can repack an Nx archive |
//! | [`r3a`] | R3A archives built field by field |
//! | [`zstd`] | zstd frames built field by field, and libzstd as the oracle |
//! | [`tiers`] | the CPU tiers to test |

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

/// The CPU tiers that this machine can run, lowest first, whatever `LINERATE_CPU` says.
pub fn tiers() -> impl Iterator<Item = Tier> {
    Tier::ALL.into_iter().filter(|tier| tier.is_supported())
}
