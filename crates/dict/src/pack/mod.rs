//! Packs: files of dictionaries.
//!
//! A [`Pack`] is open for reading; an [`Editor`] creates and changes packs, and [`compact`] rewrites them
//! without removed dictionaries. `docs/dict/files.md` specifies the format.

mod codec;
mod compact;
mod editor;
mod index;
mod layout;
mod load;
mod open;
#[cfg(test)]
mod tests;

pub use compact::{Compacted, compact, compact_locked};
pub use editor::{Editor, Options, user_id};
pub use index::{Entry, Storage};
pub use load::Loaded;
pub use open::{Pack, Stats};
