//! Block files: sorted records, in blocks that share a dictionary.
//!
//! A [`Builder`] writes a file from sorted records; a [`Sorter`] sorts them; a [`BlockFile`] is open for
//! reading. `docs/dict/files.md` specifies the format.

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
