//! Writing archives: Nx 1.x, header version 1, or by [`Format`] the draft R3A.
//!
//! A [`Builder`] takes files from paths, bytes, readers, folders and existing archives, and writes
//! them with the [`Options`] given, usually from a [`Preset`].
//!
//! ```
//! use linerate_nx::pack::{Builder, Preset};
//!
//! let mut options = Preset::from_name("fast-load").unwrap().options();
//! options.threads = 2;
//! let mut builder = Builder::new(options)?;
//! builder.add_bytes("readme.txt", b"some text".to_vec())?;
//! builder.add_bytes("copy of readme.txt", b"some text".to_vec())?;
//! let (archive, summary) = builder.to_bytes()?;
//! assert_eq!(&archive[..4], b"NXUS");
//! assert_eq!((summary.files, summary.shared_files), (2, 1));
//! # Ok::<(), linerate_nx::pack::PackError>(())
//! ```
//!
//! What a call promises:
//!
//! * The bytes written depend on paths, contents and options alone: not on the number of threads,
//!   nor on the order in which files were added.
//! * A file appears under its final name only when it is complete and on the disk. A failure leaves
//!   what was there before, and so does killing the process: what that may leave goes with the next
//!   write in the folder (`linerate_io::AtomicFile`).
//! * Files count as equal only if every byte is.
//! * What is carried over from an existing archive is verified first, unless the options say otherwise.
//! * Memory is three chunks for each thread and what the codec needs, one more where an existing
//!   archive is coded anew, besides what was given as bytes, some hundred bytes for each file, and at
//!   most 100 MiB while small files are compared.
//!
//! Sizes are looked at when a file is added, contents when the archive is written: a file that
//! changed meanwhile is an error.

mod blocks;
mod builder;
mod cancel;
mod codec;
mod content;
mod dedup;
mod edit;
mod error;
mod existing;
mod file_hash;
mod format;
mod names;
mod options;
mod plan;
mod presets;
mod progress;
mod similarity;
mod sink;
mod thread_pool;
mod trained;
mod verify;
mod walk;

pub use self::builder::{Builder, Summary};
pub use self::cancel::CancelToken;
pub use self::edit::{Changes, Clash};
pub use self::error::{PackError, PackResult};
pub use self::existing::Reuse;
pub use self::format::Format;
pub use self::options::{Coding, FileOptions, MAX_CHUNK, MAX_SOLID_LIMIT, MIN_CHUNK, Options, Zstd};
pub use self::presets::{PRESETS, Preset};
pub use self::progress::Progress;
pub(crate) use self::walk::WalkEntry;
pub use self::walk::{BadName, Skipped, Walk};
