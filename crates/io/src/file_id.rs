//! [`FileId`]: tells whether two paths or open files are one file.

use std::fs::File;
use std::io;
use std::path::Path;

/// Identifies a file on this machine, whatever path leads to it. The identity is device and inode
/// number on Unix, and the serial number of the volume and the file index on Windows. Other systems
/// have none. Hard links of one file have the same identity. A new file may get the identity of a
/// deleted one.
///
/// ```
/// use linerate_io::FileId;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("data");
/// std::fs::write(&path, b"data")?;
/// let open = std::fs::File::open(&path)?;
/// assert_eq!(FileId::of(&open)?, FileId::at(&path)?);
/// assert_ne!(FileId::at(&path)?, FileId::at(folder.path())?);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    volume: u64,
    index: u64,
}

impl FileId {
    /// Identifies an open file.
    ///
    /// # Errors
    ///
    /// Returns the errors of the system, and [`io::ErrorKind::Unsupported`] on systems other than
    /// Unix and Windows.
    pub fn of(file: &File) -> io::Result<FileId> {
        #[cfg(unix)]
        return file.metadata().map(|found| FileId::of_metadata(&found));
        #[cfg(windows)]
        return crate::sys::windows::file_index(file).map(|(volume, index)| FileId { volume, index });
        #[cfg(not(any(unix, windows)))]
        return file.metadata().and(Err(io::ErrorKind::Unsupported.into()));
    }

    /// Identifies the file or folder that `path` leads to, with links followed.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`of`](Self::of), and those of following the path.
    pub fn at(path: impl AsRef<Path>) -> io::Result<FileId> {
        #[cfg(unix)]
        return std::fs::metadata(path).map(|found| FileId::of_metadata(&found));
        #[cfg(windows)]
        return crate::sys::windows::open_attributes(path.as_ref()).and_then(|file| FileId::of(&file));
        #[cfg(not(any(unix, windows)))]
        return std::fs::metadata(path).and(Err(io::ErrorKind::Unsupported.into()));
    }

    #[cfg(unix)]
    fn of_metadata(found: &std::fs::Metadata) -> FileId {
        use std::os::unix::fs::MetadataExt;
        FileId { volume: found.dev(), index: found.ino() }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn links_lead_to_one_file_and_a_copy_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a"), b"same").unwrap();
        fs::copy(path("a"), path("copy")).unwrap();
        fs::hard_link(path("a"), path("hard")).unwrap();
        let id = FileId::at(path("a")).unwrap();
        assert_eq!(FileId::of(&File::open(path("a")).unwrap()).unwrap(), id);
        assert_eq!(FileId::at(path("hard")).unwrap(), id);
        assert_ne!(FileId::at(path("copy")).unwrap(), id);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("a", path("soft")).unwrap();
            assert_eq!(FileId::at(path("soft")).unwrap(), id);
        }
        assert!(FileId::at(path("absent")).is_err());
    }
}
