//! Where an archive is written to: by offset, from many threads, and into place only when whole.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

/// Something that takes bytes at offsets.
pub(super) trait Sink: Sync {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Sets the length; what was never written reads as zeros.
    fn set_len(&self, len: u64) -> io::Result<()>;
}

/// An archive in memory.
#[derive(Default)]
pub(super) struct Memory(Mutex<Vec<u8>>);

impl Memory {
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for Memory {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let end = offset as usize + bytes.len();
        if memory.len() < end {
            memory.resize(end, 0);
        }
        memory[offset as usize..end].copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).resize(len as usize, 0);
        Ok(())
    }
}

/// A file beside its target, which takes the target's name when it is finished and goes when it is
/// dropped before. A process that is killed leaves the file under its temporary name.
pub(super) struct Pending {
    temporary: NamedTempFile,
    target: PathBuf,
}

impl Pending {
    pub(super) fn create(target: &Path) -> io::Result<Pending> {
        let mut builder = tempfile::Builder::new();
        let name = target.file_name().ok_or(io::Error::from(io::ErrorKind::IsADirectory))?;
        let mut prefix = std::ffi::OsString::from(".");
        prefix.push(name);
        prefix.push(".");
        // As any new file: what the umask leaves, not what temporary files have.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let temporary = builder.prefix(&prefix).suffix(".part").tempfile_in(folder_of(target))?;
        Ok(Pending { temporary, target: target.to_owned() })
    }

    /// Puts the file in place once it is on the disk.
    pub(super) fn finish(self) -> io::Result<()> {
        self.temporary.as_file().sync_all()?;
        self.temporary.persist(&self.target).map_err(|error| error.error)?;
        sync_folder(folder_of(&self.target))
    }
}

impl Sink for Pending {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        write_all_at(self.temporary.as_file(), offset, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.temporary.as_file().set_len(len)
    }
}

fn folder_of(target: &Path) -> &Path {
    target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A rename lasts when its folder is on the disk.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn write_all_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
fn write_all_at(file: &File, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => {
                bytes = &bytes[n..];
                offset += n as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_stands_under_the_final_name_before_the_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("a.nx");
        std::fs::write(&target, b"old").expect("writable");
        let files = || std::fs::read_dir(folder.path()).expect("readable").count();

        let pending = Pending::create(&target).expect("writable");
        pending.write_at(2, b"new").expect("writable");
        assert_eq!(std::fs::read(&target).expect("there"), b"old");
        assert_eq!(files(), 2);
        drop(pending);
        assert_eq!((std::fs::read(&target).expect("there"), files()), (b"old".to_vec(), 1));

        let pending = Pending::create(&target).expect("writable");
        pending.write_at(2, b"new").expect("writable");
        pending.set_len(6).expect("writable");
        pending.finish().expect("renamed");
        assert_eq!((std::fs::read(&target).expect("there"), files()), (b"\0\0new\0".to_vec(), 1));
    }

    #[test]
    fn memory_grows_to_what_is_written() {
        let memory = Memory::default();
        memory.write_at(3, b"de").expect("room");
        memory.write_at(0, b"abc").expect("room");
        memory.set_len(6).expect("room");
        assert_eq!(memory.into_bytes(), b"abcde\0");
    }
}
