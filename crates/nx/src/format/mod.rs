//! The archive format: its tables, and the paths and sizes that are accepted.
//!
//! | module | content |
//! |---|---|
//! | [`header`], [`toc`], [`string_pool`] | header fields, tables and paths, read and written |
//! | [`layout`] | offsets and content lengths of the blocks; checks between the tables |
//! | [`paths`], [`tree`] | safe and portable paths; open folders, never opened through a link |
//! | [`limits`], [`hash`] | resource limits; content hashes |
//! | [`frame`] | decompresses a zstd frame of unknown size |

pub(crate) mod frame;
pub(crate) mod hash;
pub(crate) mod header;
pub(crate) mod layout;
pub(crate) mod limits;
pub(crate) mod paths;
pub(crate) mod string_pool;
pub(crate) mod toc;
pub(crate) mod tree;
