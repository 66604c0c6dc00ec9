//! R3A 2.0, a draft format next to Nx, under the one profile [`PROFILE`].
//!
//! R3A has no settled document, and no program is known to write whole archives of it. Where the
//! draft leaves a choice, the profile makes it, once: `docs/nx.md` lists what it reads and what it
//! writes. Archives made under it are for readers of the same profile.
//!
//! The model is that of Nx: entries, blocks, paths. [`Head`] reads all that stands before the
//! blocks and [`HeadBuilder`] writes it; [`Archive`] reads files; [`AsNx`] shows an R3A archive as the Nx
//! archive of the same blocks, so that everything that reads Nx reads it; [`to_nx`] and [`from_nx`]
//! convert, with blocks copied as they are.

mod archive;
mod as_nx;
mod block;
mod convert;
mod dictionaries;
mod frame;
mod head;
mod head_builder;
mod header;
mod layout;
mod pool;
mod segment;
mod toc;
mod user_data;

pub use archive::{Archive, is_r3a};
pub use as_nx::{AsNx, as_nx_if_r3a};
pub use block::BlockEncoder;
pub use convert::{Conversion, from_nx, to_nx};
pub(crate) use convert::{Recoded, from_nx_with};
pub use dictionaries::{Dictionaries, MAX_DICTIONARIES};
pub use head::Head;
pub use head_builder::{HeadBuilder, Tables};
pub use header::{
    COUNT_BITS, Form, Header, MAGIC, MAGIC_SWAPPED, MAX_CHUNK, MAX_OFFSET, Preset, VERSION, Widths,
};
pub use toc::{Block, BlockCodec, Toc};
pub use user_data::{Extension, MAX_EXTENSIONS};

/// The name of the profile that is read and written. What it means does not change.
pub const PROFILE: &str = "r3a-2.0-doc";
