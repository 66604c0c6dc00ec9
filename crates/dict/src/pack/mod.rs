//! Files of dictionaries.
//!
//! A [`Pack`] is such a file, open for reading; an [`Editor`] makes and changes one, and [`compact`]
//! rewrites it without what was removed. The format is described byte by byte in `docs/dict-files.md`.

mod compact;
mod editor;
mod index;
mod layout;
mod load;
mod open;
mod packer;
#[cfg(test)]
mod tests;

pub use compact::{Compacted, compact, compact_locked};
pub use editor::{Editor, Options, user_id};
pub use index::{Entry, Storage};
pub use load::Loaded;
pub use open::{Pack, Stats};
