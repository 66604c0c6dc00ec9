//! Linerate's engines measured against their peers, within one shape of work: the same bytes, the
//! same chunks, one process.
//!
//! The shape "bytes" is a chunk in, compressed bytes out, without reference to earlier chunks.
//! [`table`] lists who takes part, [`verify`] proves each stream with a decoder that is not its
//! encoder's, [`measure`] times them in interleaved rounds, and a [`record::Record`] is what is
//! kept. The shape [`threads`] is one stream from several threads, the shape [`archives`] whole Nx
//! archives beside libzstd and other programs, the shape [`frames`] zstd frames decoded, the shape
//! [`cold`] small ones through very many dictionaries. [`waveforms`] are made-up samples for the codecs of
//! such, [`messages`] the compressed streams of gateways, and made-up traffic for them.

pub mod archives;
pub mod cold;
pub mod command;
pub mod contender;
pub mod corpus;
pub mod csv;
pub mod environment;
pub mod filter;
pub mod frames;
mod kernel;
#[cfg(feature = "plot")]
mod labels;
pub mod measure;
pub mod messages;
mod ours;
mod peers;
#[cfg(feature = "plot")]
pub mod plot;
pub mod record;
pub mod report;
pub mod session;
pub mod stats;
pub mod table;
pub mod threads;
pub mod verify;
pub mod waveforms;

pub use kernel::os::{cpu_time, heap_in_use, pin, resident, thread_time};
