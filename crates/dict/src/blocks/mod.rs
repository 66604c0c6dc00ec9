//! Sorted files of records, in blocks that share a dictionary.
//!
//! A [`Builder`] writes a file from records in the order of their keys, which a [`Sorter`] brings them
//! into; a [`BlockFile`] is one that is open. The format is described byte by byte in
//! `docs/dict-files.md`.

mod block;
mod builder;
mod file;
mod layout;
mod options;
mod reader;
mod scan;
mod sorter;
mod verify;

pub use builder::{Builder, MAX_KEY_LEN, MAX_VALUE_LEN, Summary};
pub use file::{BlockFile, Stats};
pub use layout::{Counts, DictionaryPlace, DictionaryReference};
pub use options::{DictionaryChoice, Options};
pub use reader::Reader;
pub use scan::Scan;
pub use sorter::{Duplicates, Sorted, Sorter};
pub use verify::Verified;
