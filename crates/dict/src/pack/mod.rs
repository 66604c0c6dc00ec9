//! Packs: files of dictionaries.
//!
//! A [`Pack`] is open for reading. With the feature `encode`, an `Editor` creates and changes
//! packs, and `compact` rewrites them without removed dictionaries. `docs/dict/files.md` specifies
//! the format.

mod codec;
#[cfg(feature = "encode")]
mod compact;
#[cfg(feature = "encode")]
mod compressor;
#[cfg(feature = "encode")]
mod editor;
mod index;
mod layout;
mod load;
mod open;
#[cfg(all(test, feature = "encode"))]
mod tests;

#[cfg(feature = "encode")]
pub use compact::{Compacted, compact, compact_locked};
#[cfg(feature = "encode")]
pub use editor::{Editor, PackOptions, user_id};
pub use index::{Entry, Storage};
pub use load::Loaded;
pub use open::{Pack, Stats};
