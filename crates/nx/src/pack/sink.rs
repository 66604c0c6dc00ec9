//! Where an archive is written to: by offset, from many threads, and into place only when whole.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::{NamedTempFile, TempPath};

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

/// A file that takes its target's name when it is finished, and is gone when it is dropped before.
///
/// On Linux it has no name until then, so that nothing stays behind when the process is killed, where
/// the file system can do that. Elsewhere it stands beside the target as `.NAME.*.part`.
pub(super) struct Pending {
    file: File,
    /// Its name until it is finished, if it has one.
    path: Option<TempPath>,
    target: PathBuf,
}

impl Pending {
    pub(super) fn create(target: &Path) -> io::Result<Pending> {
        if target.file_name().is_none() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let (file, path) = match unnamed::create(folder_of(target)) {
            Some(file) => (file, None),
            None => {
                let (file, path) = named(target)?.into_parts();
                (file, Some(path))
            }
        };
        Ok(Pending { file, path, target: target.to_owned() })
    }

    /// Puts the file in place once it is on the disk.
    pub(super) fn finish(self) -> io::Result<()> {
        let Pending { file, path, target } = self;
        file.sync_all()?;
        let folder = folder_of(&target);
        let path = match path {
            Some(path) => path,
            // A name beside the target first: a link does not replace what is there.
            None => with_names(&target, |names| names.make_in(folder, |path| unnamed::link(&file, path)))?
                .into_temp_path(),
        };
        path.persist(&target).map_err(|error| error.error)?;
        sync_folder(folder)
    }
}

/// A file beside `target`. It is opened here, as any new file: so its permissions are those, and an
/// error has the system's number.
fn named(target: &Path) -> io::Result<NamedTempFile<File>> {
    let new = |path: &Path| File::options().write(true).create_new(true).open(path);
    with_names(target, |names| names.make_in(folder_of(target), new))
}

/// Has temporary files named after `target`.
fn with_names<T>(target: &Path, make: impl FnOnce(&tempfile::Builder<'_, '_>) -> T) -> T {
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(target.file_name().unwrap_or_default());
    prefix.push(".");
    let mut names = tempfile::Builder::new();
    make(names.prefix(&prefix).suffix(".part"))
}

#[cfg(target_os = "linux")]
mod unnamed {
    use std::fs::{self, File};
    use std::io;
    use std::os::fd::AsRawFd;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, Mode, OFlags};

    /// A file without a name in that folder, if it can be given one later.
    pub(super) fn create(folder: &Path) -> Option<File> {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(folder, flags, Mode::from_raw_mode(0o666)).ok()?);
        fs::symlink_metadata(number(&file)).is_ok().then_some(file)
    }

    pub(super) fn link(file: &File, path: &Path) -> io::Result<()> {
        Ok(rustix::fs::linkat(CWD, number(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
    }

    /// The path by which the kernel finds an open file.
    fn number(file: &File) -> String {
        format!("/proc/self/fd/{}", file.as_raw_fd())
    }
}

#[cfg(not(target_os = "linux"))]
mod unnamed {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub(super) fn create(_folder: &Path) -> Option<File> {
        None
    }

    pub(super) fn link(_file: &File, _path: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Sink for File {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        write_all_at(self, offset, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        File::set_len(self, len)
    }
}

impl Sink for Pending {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        Sink::write_at(&self.file, offset, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }
}

pub(super) fn folder_of(target: &Path) -> &Path {
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
        drop(pending);
        assert_eq!((std::fs::read(&target).expect("there"), files()), (b"old".to_vec(), 1));

        let pending = Pending::create(&target).expect("writable");
        pending.write_at(2, b"new").expect("writable");
        pending.set_len(6).expect("writable");
        pending.finish().expect("renamed");
        assert_eq!((std::fs::read(&target).expect("there"), files()), (b"\0\0new\0".to_vec(), 1));
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_those_of_any_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let mode = |name| std::fs::metadata(folder.path().join(name)).expect("there").permissions().mode();
        std::fs::write(folder.path().join("any"), b"").expect("writable");
        Pending::create(&folder.path().join("a.nx")).expect("writable").finish().expect("renamed");
        assert_eq!(mode("a.nx"), mode("any"));
        let file = named(&folder.path().join("b.nx")).expect("writable");
        let name = file.path().file_name().expect("a name").to_str().expect("UTF-8");
        assert!(name.starts_with(".b.nx.") && name.ends_with(".part"), "{name}");
        assert_eq!(file.as_file().metadata().expect("open").permissions().mode(), mode("any"));
    }

    #[cfg(unix)]
    #[test]
    fn errors_have_the_number_of_the_system() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = Pending::create(&folder.path().join("absent/a.nx")).err().expect("no such folder");
        assert_eq!(error.raw_os_error(), Some(2));
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
