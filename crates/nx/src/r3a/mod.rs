//! Reads and writes R3A 2.0, a draft format related to Nx, in one profile of it: [`PROFILE`].
//!
//! R3A has no settled specification, and no program is known to write complete R3A archives. Where
//! the draft leaves a choice, the profile decides; `docs/nx/reference.md` lists what is read and
//! written. Only readers of the same profile can be expected to read the archives.
//!
//! The model is that of Nx: entries, blocks, paths. [`Head`] reads the header with its tables and
//! segments, and [`HeadBuilder`] writes it. [`Archive`] reads files. [`AsNx`] shows an R3A archive
//! as an Nx archive, so that every function that reads Nx works on it. [`to_nx`] and [`from_nx`]
//! convert archives and copy their blocks.
//!
//! | module | content |
//! |---|---|
//! | `header`, `toc`, `string_pool` | header fields, tables and paths |
//! | `segment`, `dictionaries`, `user_data`, `frame` | the segments after the pool, and their zstd frames |
//! | `digested` | digested dictionaries |
//! | `head`, `head_builder` | reads and writes all of these |
//! | `layout` | offsets and content lengths of the blocks |
//! | `archive`, `block` | an open archive; decodes and encodes one block |
//! | `as_nx`, `convert`, `convert_from` | an R3A archive shown as Nx; conversion in both directions |

mod archive;
mod as_nx;
mod block;
mod convert;
#[cfg(feature = "pack")]
mod convert_from;
mod dictionaries;
mod digested;
mod frame;
mod head;
#[cfg(feature = "pack")]
mod head_builder;
mod header;
mod layout;
mod segment;
mod string_pool;
mod toc;
mod user_data;

pub use archive::{Archive, is_r3a};
pub use as_nx::{AsNx, open_either};
#[cfg(feature = "pack")]
pub use block::BlockEncoder;
pub use convert::{Conversion, to_nx};
#[cfg(feature = "pack")]
pub use convert_from::from_nx;
#[cfg(feature = "pack")]
pub(crate) use convert_from::{Recoded, from_nx_with};
pub use dictionaries::Dictionaries;
#[cfg(feature = "pack")]
pub(crate) use dictionaries::MAX_DICTIONARIES;
pub use head::Head;
#[cfg(feature = "pack")]
pub use head_builder::{HeadBuilder, Tables};
#[cfg(feature = "pack")]
pub(crate) use header::MAX_OFFSET;
pub use header::{Form, Header, MAGIC, Preset, Widths};
pub use toc::{Block, BlockCodec, Toc};
pub use user_data::Extension;

/// The name of the supported profile. The meaning of a name never changes.
pub const PROFILE: &str = "r3a-2.0-doc";
