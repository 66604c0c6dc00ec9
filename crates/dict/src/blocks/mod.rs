//! Block files: sorted records, in blocks that share a dictionary.
//!
//! A [`BlockFile`] is open for reading. With the feature `train`, a `Builder` writes a file from
//! sorted records, and a `Sorter` sorts them. `docs/dict/files.md` specifies the format.

mod block;
#[cfg(feature = "train")]
mod builder;
#[cfg(feature = "json")]
mod field;
mod file;
mod layout;
mod options;
mod reader;
mod scan;
#[cfg(feature = "train")]
mod sorter;
mod verify;

#[cfg(feature = "train")]
pub use builder::{Builder, Summary};
#[cfg(feature = "json")]
pub use field::{Field, FieldError};
pub use file::{BlockFile, Stats};
pub use layout::{Counts, DictionaryPlace, DictionaryReference};
pub use options::{BlockFileOptions, DictionaryChoice};
pub use reader::Reader;
pub use scan::Scan;
#[cfg(feature = "train")]
pub use sorter::{Duplicates, Sorted, Sorter};
pub use verify::Verified;
