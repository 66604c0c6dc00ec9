//! Files that take their name only when they are whole.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
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

    /// Overwrites what was written at `at`; what is written next goes behind all again.
    pub(crate) fn overwrite(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(at))?;
        self.file.write_all(bytes)?;
        self.file.seek(SeekFrom::End(0)).map(|_| ())
    }

    /// The folder that it will be in.
    pub(crate) fn folder(&self) -> PathBuf {
        folder_of(&self.target).to_owned()
    }

    /// Gives the file its name. The disk may forget it until [`sync_folder`].
    pub(crate) fn rename(mut self, replace: Replace) -> io::Result<()> {
        self.sync()?;
        let done = match replace {
            Replace::Permit => self.path.persist(&self.target),
            Replace::Refuse => self.path.persist_noclobber(&self.target),
        };
        done.map_err(|error| error.error)
    }

    /// All of it, to the end, in place of what has the name.
    pub(crate) fn finish(self) -> io::Result<()> {
        let folder = self.folder();
        self.rename(Replace::Permit)?;
        sync_folder(&folder)
    }
}

/// What becomes of a file that has the name already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replace {
    /// It is replaced.
    Permit,
    /// It stays, and that is an error.
    Refuse,
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn folder_of(target: &Path) -> &Path {
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
        let mut pending = Pending::create(&target).unwrap();
        pending.write_all(b"0123456789").unwrap();
        pending.overwrite(2, b"ab").unwrap();
        pending.write_all(b"!").unwrap();
        let refused = pending.rename(Replace::Refuse).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!((std::fs::read(&target).unwrap(), files()), (b"new".to_vec(), 1));
        std::fs::remove_file(&target).unwrap();
        let mut pending = Pending::create(&target).unwrap();
        pending.write_all(b"0123456789").unwrap();
        pending.overwrite(2, b"ab").unwrap();
        pending.write_all(b"!").unwrap();
        pending.rename(Replace::Refuse).unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"01ab456789!");
        assert!(Pending::create(Path::new("/")).is_err());
    }
}
