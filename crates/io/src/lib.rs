//! File input and output for the Linerate engines.
//!
//! * [`ReadAt`] reads at positions of memory, files, memory maps, web servers (feature `remote`)
//!   and buckets (feature `s3`).
//! * [`AtomicFile`] is a file that has no name, or a temporary one, until it is committed. Special
//!   files, such as devices, are written to directly.
//! * [`Lock`] is an exclusive advisory lock, on Unix and Windows, for files changed in place or
//!   replaced.
//! * [`remove_leftovers`] removes temporary files and folders that killed processes left.
//! * [`Folder`] is an output folder, on Unix an open directory descriptor, so that a symbolic link
//!   that replaces the folder does not lead writes elsewhere.
//!
//! ```
//! use linerate_io::{AtomicFile, Existing, FileSource, ReadAt};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("notes");
//! let file = AtomicFile::create(&path, Existing::Refuse)?;
//! file.write_all_at(b"some notes", 0)?;
//! assert!(!path.exists());
//! file.commit()?;
//!
//! let mut word = [0; 5];
//! FileSource::open(&path)?.read_at(5, &mut word)?;
//! assert_eq!(&word, b"notes");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Modules
//!
//! `docs/reference/files.md` has the rules that the modules follow.
//!
//! | module | contents |
//! |---|---|
//! | `read_at` | [`ReadAt`], [`FileSource`], [`CountingSource`] |
//! | `cursor` | [`Cursor`]: a source as a reader with a position |
//! | `sys/map` | [`MapSource`]: memory maps |
//! | `sys/huge_pages` | [`prefer_huge_pages`] for large buffers |
//! | `sys/windows` | paths, renames, processes, file indexes, free space and consoles on Windows |
//! | `remote/` | files on servers: `http`, `s3` (requests), `response`, `request_error`, `retry`, `remote_file` |
//! | `url` | recognizes URLs |
//! | `atomic_file/` | [`AtomicFile`]; its path (`target`), `temporary` names, `sync` of many files |
//! | `file_id` | [`FileId`]: tells whether two paths or open files are one file |
//! | `ownership` | [`Ownership`]: owner, group and permission bits, or what the system has of these |
//! | `leftovers` | temporary names, and removal of stale temporary files and folders |
//! | `lock` | [`Lock`] |
//! | `sparse` | [`write_sparse_at`]: long runs of zeros as holes |
//! | `folder/` | [`Folder`] by descriptor (`unix`) or by path (`portable`) |

mod atomic_file;
mod cursor;
mod file_id;
mod folder;
mod leftovers;
mod lock;
mod ownership;
mod read_at;
#[cfg(feature = "remote")]
mod remote;
mod sparse;
mod sys;
mod url;

pub use atomic_file::{AtomicFile, Existing, before_temporaries, remove_temporaries};
pub use cursor::Cursor;
pub use file_id::FileId;
pub use folder::{FileAttributes, Folder, write_all_at};
pub use leftovers::{Leftovers, is_temporary_name, remove_leftovers, temporary_name};
pub use linerate_core::{Error, Kind, Result};
pub use lock::{Holder, LOCK_SUFFIX, Lock, LockError, Wait};
pub use ownership::Ownership;
#[cfg(any(unix, windows))]
pub use read_at::read_exact_at;
pub use read_at::{CountingSource, FileSource, ReadAt, read_error};
#[cfg(feature = "s3")]
pub use remote::S3Source;
#[cfg(feature = "remote")]
pub use remote::{HttpOptions, HttpSource};
pub use sparse::write_sparse_at;
#[cfg(windows)]
pub use sys::windows::on_console_end;
pub use sys::{MapSource, prefer_huge_pages};
pub use url::{is_s3_url, is_url};
