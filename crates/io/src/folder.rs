//! Folders that files are written to: held open, so that no link can lead out of them.

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

/// Writes all of `bytes` at `offset` of a file that several threads write to.
#[cfg(unix)]
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

/// Writes all of `bytes` at `offset` of a file that several threads write to.
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

/// Writes all of `bytes` at `offset` of a file that several threads write to.
#[cfg(not(any(unix, windows)))]
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    // The position is one for all.
    static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one = ONE.lock();
    let mut file = file;
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

/// What a file or folder is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileAttributes {
    /// When its content was last changed.
    pub modified: SystemTime,
    /// Its permission bits, where the system has them.
    pub mode: Option<u32>,
}

/// Sets the time and the mode of an open file or folder.
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

    macro_rules! keeps_its_promises {
        ($name:ident, $folder:ty) => {
            #[test]
            fn $name() {
                let place = tempfile::tempdir().unwrap();
                let root = <$folder>::create_all(&place.path().join("a/b")).unwrap();
                let inner = root.create_subfolder("c").unwrap();
                assert!(root.create_subfolder("c").is_ok(), "a folder that is there");
                inner.create("temp").unwrap().write_all(b"one").unwrap();
                assert!(inner.create("temp").is_err(), "never over a file");
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

    keeps_its_promises!(portable_folders, portable::Folder);
    #[cfg(unix)]
    keeps_its_promises!(unix_folders, unix::Folder);

    /// What both kinds of folder do, for the tests.
    trait Enter {
        fn try_enter(&self, name: &str) -> bool;
        fn try_publish(&self, temp: &str, name: &str) -> bool;
    }

    macro_rules! enter {
        ($folder:ty) => {
            impl Enter for $folder {
                fn try_enter(&self, name: &str) -> bool {
                    self.create_subfolder(name).is_ok()
                }
                fn try_publish(&self, temp: &str, name: &str) -> bool {
                    self.create(temp).unwrap().write_all(b"x").unwrap();
                    self.commit(temp, name, true).is_ok()
                }
            }
        };
    }

    enter!(portable::Folder);
    #[cfg(unix)]
    enter!(unix::Folder);

    fn read(path: &Path) -> String {
        let mut text = String::new();
        File::open(path).unwrap().read_to_string(&mut text).unwrap();
        text
    }

    #[cfg(unix)]
    fn links(root: &dyn Enter, place: &Path) {
        std::fs::create_dir(place.join("outside")).unwrap();
        std::fs::write(place.join("outside/file"), "kept").unwrap();
        std::os::unix::fs::symlink(place.join("outside"), place.join("a/b/link")).unwrap();
        assert!(!root.try_enter("link"), "a link to a folder is not entered");
        std::os::unix::fs::symlink(place.join("outside/file"), place.join("a/b/to-file")).unwrap();
        assert!(root.try_publish("temp", "to-file"), "a link is replaced");
        assert_eq!(read(&place.join("outside/file")), "kept");
        std::fs::write(place.join("a/b/plain"), "x").unwrap();
        assert!(!root.try_enter("plain"), "a file is not a folder");
    }

    #[cfg(not(unix))]
    fn links(_root: &dyn Enter, _place: &Path) {}
}
