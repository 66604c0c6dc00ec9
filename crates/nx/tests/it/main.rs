//! The integration tests, linked into one program. Files beside this folder are programs of their
//! own, because they need their own process. Each says why at its top.

mod cases;
mod common;
mod damage;
mod extract;
mod extract_killed;
#[cfg(feature = "pack")]
mod filtered;
mod filters;
mod golden;
#[cfg(feature = "pack")]
mod hazards;
#[cfg(feature = "pack")]
mod metadata;
#[cfg(feature = "pack")]
mod pack;
#[cfg(feature = "pack")]
mod pack_edit;
#[cfg(feature = "pack")]
mod pack_killed;
#[cfg(feature = "pack")]
mod pack_sizes;
#[cfg(feature = "pack")]
mod pack_tree;
mod path_clashes;
mod r3a;
#[cfg(feature = "pack")]
mod r3a_dictionaries;
#[cfg(feature = "pack")]
mod r3a_write;
#[cfg(feature = "pack")]
mod reach;
#[cfg(feature = "pack")]
mod read_ahead;
#[cfg(feature = "remote")]
mod remote;
#[cfg(feature = "s3")]
mod remote_s3;
#[cfg(feature = "pack")]
mod repack_order;
#[cfg(feature = "pack")]
mod shared;
#[cfg(all(feature = "pack", feature = "futures-io", feature = "tokio"))]
mod shared_async;
mod tables;
#[cfg(feature = "pack")]
mod update_decodes;
mod vectors;
#[cfg(all(windows, feature = "pack"))]
mod windows;
