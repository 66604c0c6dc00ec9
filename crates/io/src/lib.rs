//! Files as Linerate reads and writes them.
//!
//! * [`ReadAt`]: bytes at offsets, from memory, files, maps, web servers and buckets.
//! * [`AtomicFile`]: a file that appears under its name when it is whole, and not before.
//! * [`Lock`]: one writer at a time for files that are changed in place.
//! * [`remove_leftovers`]: what killed runs left, removed.
//! * [`Folder`]: a folder held open, so that no link can lead out of it.

mod atomic_file;
mod folder;
mod leftovers;
mod lock;
mod read_at;
#[cfg(feature = "remote")]
mod remote;
mod sys;
mod url;

pub use atomic_file::{AtomicFile, Existing, Ownership, remove_temporaries};
pub use folder::{FileAttributes, Folder, write_all_at};
pub use leftovers::{Leftovers, is_temporary_name, remove_leftovers, sweep_once, temporary_name};
pub use linerate_core::{Error, Kind, Result};
pub use lock::{Holder, Lock, LockError, Wait};
#[cfg(any(unix, windows))]
pub use read_at::read_exact_at;
pub use read_at::{CountingSource, FileSource, ReadAt, read_error};
#[cfg(feature = "s3")]
pub use remote::S3Source;
#[cfg(feature = "remote")]
pub use remote::{HttpOptions, HttpSource};
pub use sys::MapSource;
pub use url::{is_s3_url, is_url};
