//! Files that take their name only when they are whole.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

/// Bytes gathered before they are written.
const BUFFER: usize = 256 << 10;

/// A file beside its target, `.NAME.*.part`, that takes the target's name when it is finished, and
/// is gone when it is dropped before.
pub(crate) struct Pending {
    file: BufWriter<File>,
    path: TempPath,
    target: PathBuf,
}

impl Pending {
    pub(crate) fn create(target: &Path) -> io::Result<Pending> {
        let name = target.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        let mut prefix = OsString::from(".");
        prefix.push(name);
        prefix.push(".");
        // Opened here, so that its permissions are those of any new file.
        let new = |path: &Path| File::options().write(true).create_new(true).open(path);
        let made =
            tempfile::Builder::new().prefix(&prefix).suffix(".part").make_in(folder_of(target), new)?;
        let (file, path) = made.into_parts();
        Ok(Pending { file: BufWriter::with_capacity(BUFFER, file), path, target: target.to_owned() })
    }

    /// Puts the bytes on the disk; the file has no name yet.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()
    }

    /// Gives the file its name, in place of what had it. The disk may forget until
    /// [`sync_folder`].
    pub(crate) fn rename(mut self) -> io::Result<()> {
        self.sync()?;
        self.path.persist(&self.target).map_err(|error| error.error)
    }

    /// All of it, to the end.
    pub(crate) fn finish(self) -> io::Result<()> {
        let folder = folder_of(&self.target).to_owned();
        self.rename()?;
        sync_folder(&folder)
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

pub(crate) fn folder_of(target: &Path) -> &Path {
    target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A new name lasts when its folder is on the disk.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
pub(crate) fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_stands_under_the_final_name_before_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        std::fs::write(&target, b"old").unwrap();
        let files = || std::fs::read_dir(folder.path()).unwrap().count();
        let mut pending = Pending::create(&target).unwrap();
        pending.write_all(b"new").unwrap();
        pending.sync().unwrap();
        assert_eq!((std::fs::read(&target).unwrap(), files()), (b"old".to_vec(), 2));
        drop(pending);
        assert_eq!((std::fs::read(&target).unwrap(), files()), (b"old".to_vec(), 1));
        let mut pending = Pending::create(&target).unwrap();
        pending.write_all(b"new").unwrap();
        pending.finish().unwrap();
        assert_eq!((std::fs::read(&target).unwrap(), files()), (b"new".to_vec(), 1));
        assert!(Pending::create(Path::new("/")).is_err());
    }
}
