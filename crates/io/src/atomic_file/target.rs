//! Path of the target: the file that its links lead to, its folder and its name.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A chain of this many symbolic links from a target, or more, is an error. Linux follows this
/// many.
const MAX_LINKS: usize = 40;

/// Returns the name of a file, which the path must end with. A separator or `.` after it would make
/// it a folder.
pub(super) fn file_name(target: &Path) -> io::Result<&OsStr> {
    let bytes = target.as_os_str().as_encoded_bytes();
    match target.file_name() {
        Some(name) if bytes.ends_with(name.as_encoded_bytes()) => Ok(name),
        None if bytes.is_empty() => Err(io::ErrorKind::InvalidFilename.into()),
        _ => Err(io::ErrorKind::IsADirectory.into()),
    }
}

/// Follows symbolic links at the end of a path to the final target, which need not exist.
pub(super) fn follow_links(target: &Path) -> io::Result<PathBuf> {
    let mut path = target.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => path = folder_of(&path).join(fs::read_link(&path)?),
            _ => return Ok(path),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

pub(super) fn folder_of(target: &Path) -> &Path {
    target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
