//! Reads archives: one file, or many files in parallel. Extracts, loads and verifies them.
//!
//! | module | content |
//! |---|---|
//! | [`archive`] | an open archive; files by path |
//! | [`order`] | the order of entries that other programs rely on |
//! | [`metadata`] | finds and parses the metadata of an archive |
//! | [`block_reader`], [`reader`] | reads blocks with coalesced reads; reads single files, whole or in part |
//! | [`queue`], [`parallel`], [`destination`] | reads many files: block order, threads, where files go |
//! | [`memory`] | the number of threads whose buffers fit the limits |
//! | [`extract`], [`verify`], [`loader`] | extracts to a folder; verifies or compares; loads into memory |

pub(crate) mod archive;
pub(crate) mod block_reader;
pub(crate) mod destination;
pub(crate) mod extract;
pub(crate) mod loader;
pub(crate) mod memory;
pub(crate) mod metadata;
pub(crate) mod order;
pub(crate) mod parallel;
pub(crate) mod queue;
pub(crate) mod reader;
pub(crate) mod verify;
