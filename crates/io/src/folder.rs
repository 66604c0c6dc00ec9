//! Output folders. On Unix they are held open, so that a symbolic link that replaces one cannot
//! lead writes elsewhere. On other systems they are paths.

#[cfg(any(test, not(unix)))]
#[cfg_attr(all(test, unix), allow(dead_code, unreachable_pub, reason = "only tests use this kind here"))]
mod portable;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub use portable::Folder;
#[cfg(unix)]
pub use unix::Folder;

use std::fs::File;
use std::io;
use std::time::SystemTime;

/// Writes all of `bytes` at `offset` of a file shared by threads.
///
/// # Errors
///
/// Returns the errors of the system. A part may have been written.
#[cfg(unix)]
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

/// Writes all of `bytes` at `offset` of a file shared by threads. Moves the file's position.
///
/// # Errors
///
/// Returns the errors of the system. A part may have been written.
#[cfg(windows)]
pub fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
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

/// Writes all of `bytes` at `offset` of a file shared by threads. Moves the file's position.
///
/// # Errors
///
/// Returns the errors of the system. A part may have been written.
#[cfg(not(any(unix, windows)))]
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    // All threads share the file position.
    static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one = ONE.lock();
    let mut file = file;
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

/// Attributes to set on a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileAttributes {
    /// Modification time.
    pub modified: SystemTime,
    /// Permission bits; `None` leaves them. Ignored except on Unix.
    pub mode: Option<u32>,
}

/// Sets the modification time and, on Unix, the mode, if any, of an open file or folder.
fn set_attributes(file: &File, attributes: &FileAttributes) -> io::Result<()> {
    file.set_modified(attributes.modified)?;
    #[cfg(unix)]
    if let Some(mode) = attributes.mode {
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::path::Path;

    use super::*;

    macro_rules! test_folder {
        ($name:ident, $folder:ty) => {
            #[test]
            fn $name() {
                let place = tempfile::tempdir().unwrap();
                let root = <$folder>::create_all(&place.path().join("a/b")).unwrap();
                let inner = root.create_subfolder("c").unwrap();
                assert!(root.create_subfolder("c").is_ok(), "an existing folder");
                inner.create("temp").unwrap().write_all(b"one").unwrap();
                assert!(inner.create("temp").is_err(), "never overwrites a file");
                inner.reopen("temp").unwrap().write_all(b"two").unwrap();
                inner.commit("temp", "final", false).unwrap();
                assert!(inner.exists("final").unwrap() && !inner.exists("temp").unwrap());
                inner.create("temp").unwrap().write_all(b"new").unwrap();
                let error = inner.commit("temp", "final", false).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
                assert_eq!(read(&place.path().join("a/b/c/final")), "two");
                inner.commit("temp", "final", true).unwrap();
                assert_eq!(read(&place.path().join("a/b/c/final")), "new");
                inner.create("temp").unwrap();
                inner.remove("temp").unwrap();
                assert!(!inner.exists("temp").unwrap());
                assert!(root.free_space().is_none_or(|free| free > 0));
                links(&root, place.path());
            }
        };
    }

    test_folder!(portable_folders, portable::Folder);
    #[cfg(unix)]
    test_folder!(unix_folders, unix::Folder);

    #[cfg(windows)]
    #[test]
    fn folder_on_windows_has_free_space_and_takes_a_time() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::create_all(&place.path().join("a")).unwrap();
        assert!(folder.free_space().unwrap() > 0);
        let modified = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        folder.set_attributes(&FileAttributes { modified, mode: None }).unwrap();
        assert_eq!(std::fs::metadata(place.path().join("a")).unwrap().modified().unwrap(), modified);
    }

    /// Operations of both kinds of folder, by descriptor and by path, for the test of links.
    #[cfg_attr(not(unix), expect(dead_code, reason = "only tests with links call them"))]
    trait Operations {
        fn try_create_subfolder(&self, name: &str) -> bool;
        fn try_commit(&self, temp: &str, name: &str) -> bool;
    }

    macro_rules! operations {
        ($folder:ty) => {
            impl Operations for $folder {
                fn try_create_subfolder(&self, name: &str) -> bool {
                    self.create_subfolder(name).is_ok()
                }
                fn try_commit(&self, temp: &str, name: &str) -> bool {
                    self.create(temp).unwrap().write_all(b"x").unwrap();
                    self.commit(temp, name, true).is_ok()
                }
            }
        };
    }

    operations!(portable::Folder);
    #[cfg(unix)]
    operations!(unix::Folder);

    fn read(path: &Path) -> String {
        let mut text = String::new();
        File::open(path).unwrap().read_to_string(&mut text).unwrap();
        text
    }

    #[cfg(unix)]
    fn links(root: &dyn Operations, place: &Path) {
        std::fs::create_dir(place.join("outside")).unwrap();
        std::fs::write(place.join("outside/file"), "kept").unwrap();
        std::os::unix::fs::symlink(place.join("outside"), place.join("a/b/link")).unwrap();
        assert!(!root.try_create_subfolder("link"), "a link to a folder is not followed");
        std::os::unix::fs::symlink(place.join("outside/file"), place.join("a/b/to-file")).unwrap();
        assert!(root.try_commit("temp", "to-file"), "a link is replaced");
        assert_eq!(read(&place.join("outside/file")), "kept");
        std::fs::write(place.join("a/b/plain"), "x").unwrap();
        assert!(!root.try_create_subfolder("plain"), "a file is not a folder");
    }

    #[cfg(not(unix))]
    fn links(_root: &dyn Operations, _place: &Path) {}
}
