//! Writes archives in one of two [formats](Format): Nx 1.x, with header version 1, or 65 if blocks
//! are filtered; or the draft R3A.
//!
//! A [`Builder`] collects files from paths, bytes, readers, folders and existing archives. It
//! writes them with [`PackOptions`], usually those of a [`Preset`].
//!
//! ```
//! use linerate_nx::pack::{Builder, Preset};
//!
//! let options = Preset::from_name("fast-load").unwrap().options();
//! let mut builder = Builder::new(options.threads(2))?;
//! builder.add_bytes("readme.txt", b"some text".to_vec())?;
//! builder.add_bytes("copy of readme.txt", b"some text".to_vec())?;
//! let (archive, summary) = builder.to_bytes()?;
//! assert_eq!(&archive[..4], b"NXUS");
//! assert_eq!((summary.files, summary.shared_files), (2, 1));
//! # Ok::<(), linerate_nx::pack::PackError>(())
//! ```
//!
//! Guarantees:
//!
//! * The output depends on paths, contents, metadata, options, and the blocks and order of existing
//!   archives alone: not on the number of threads, nor on the order in which files were added.
//! * The archive appears under its name only when it is complete; if it replaces a file, also only
//!   when it is flushed to the disk. After an error the target is unchanged, unless the last step
//!   failed, which flushes the new name. After a kill the target is the old file or the whole new
//!   one. The next write in the folder removes the temporary files of a killed run
//!   (`linerate_io::AtomicFile`).
//! * Files count as equal only if every byte is equal; but [`Clash::Refuse`] compares files of the
//!   same path by size and hash.
//! * Blocks reused from an existing archive are verified first, unless the options say otherwise.
//! * Each thread needs memory for three chunks and the codec's state. Filters add four chunks. One
//!   more chunk is needed to encode an existing archive again, or if zstd searches whole blocks
//!   above 16 MiB for long matches. The builder also holds the files given as bytes, a few hundred
//!   bytes per file and per chunk, and about 100 MiB while it groups small files.
//!
//! The size of a file is read when it is added, its content when the archive is written. A file
//! whose size changes in between is an error, as is one whose content changes after it was hashed.
//!
//! | module | content |
//! |---|---|
//! | `builder` | collects files; plan, header, blocks |
//! | `options`, `presets` | options; named sets of them |
//! | `content`, `walk`, `existing` | sources of bytes: memory, files, folders, archives |
//! | `names` | paths that may be added |
//! | `dedup` | finds equal pieces |
//! | `plan`, `similarity` | assigns files to blocks; groups small files by similarity |
//! | `codec`, `decode_cost` | encodes one block; estimates how long a zstd frame takes to decode |
//! | `filters`, `textures` | sets of texture filters; finds textures in blocks and filters them |
//! | `blocks`, `file_hash` | encodes blocks in parallel and writes them in order; hashes across threads |
//! | `sink`, `format` | the output: file or memory; Nx, or converted to R3A |
//! | `workers`, `cancel`, `progress` | a parallel map; a cancel token, which also counts steps; progress |
//! | `trained` | dictionaries for R3A |
//! | `capture` | captures the chosen files of a walk with their metadata; merges metadata of archives |
//! | `edit`, `compare`, `verify` | edits archives; compares entries with a folder; verifies reused entries |

mod blocks;
mod builder;
mod cancel;
mod capture;
mod codec;
mod compare;
mod content;
mod decode_cost;
mod dedup;
mod edit;
mod error;
mod existing;
mod file_hash;
mod filters;
mod format;
mod names;
mod options;
mod plan;
mod presets;
mod progress;
mod similarity;
mod sink;
mod textures;
mod trained;
mod verify;
mod walk;
mod workers;

pub use self::builder::{Builder, Summary};
pub use self::cancel::CancelToken;
pub use self::edit::{Changes, Clash, MergeClash};
pub use self::error::{PackError, PackResult};
pub use self::existing::Reuse;
pub use self::filters::Filters;
pub use self::format::Format;
pub use self::options::{Coding, FileOptions, MAX_CHUNK, PackOptions, Zstd};
pub use self::presets::{PRESETS, Preset};
pub use self::progress::{Progress, Stage};
pub(crate) use self::walk::WalkEntry;
pub use self::walk::{BadName, Skipped, Walk};
