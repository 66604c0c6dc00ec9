//! Where the bytes of a file come from.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use linerate_core::{Error, Kind, Result};

use crate::kernel::Map;

/// Bytes at offsets: a file, mapped or read, or memory. Clones share them.
#[derive(Clone, Debug)]
pub struct Input {
    from: Arc<From>,
}

#[derive(Debug)]
enum From {
    Memory(Vec<u8>),
    Mapped(Map),
    File { file: File, len: u64 },
}

/// The error of the system, in the words of this crate.
pub(crate) fn io_error(error: &io::Error) -> Error {
    let what = match error.kind() {
        ErrorKind::NotFound => "there is no such file",
        ErrorKind::PermissionDenied => "the system does not permit it",
        ErrorKind::AlreadyExists => "the file is there already",
        ErrorKind::UnexpectedEof => "the file became shorter while it was read",
        ErrorKind::StorageFull => "there is no space left for the file",
        ErrorKind::WouldBlock => "somebody else writes the file",
        _ => "the system could not read or write a file",
    };
    Error::new(Kind::Io, 0, what)
}

/// What a decoder says of a frame at `at` in a file, in words of the file: a frame that names another
/// dictionary or has more content than the file says is damage there.
pub(crate) fn frame_error(error: Error, at: u64) -> Error {
    match error.kind {
        Kind::BadArgument | Kind::OutputTooSmall => {
            Error::new(Kind::Corrupt, at, "a frame is another one than its file says")
        }
        _ => error.shifted(at),
    }
}

impl Input {
    /// A file mapped into memory, of which nothing is read before it is needed.
    ///
    /// The file must stay as it is, apart from bytes that are appended. One that is cut short ends
    /// the program with a signal on Unix; [`Input::file`] reports an error instead.
    ///
    /// # Errors
    /// [`Kind::Io`].
    pub fn map(path: impl AsRef<Path>) -> Result<Input> {
        let map = File::open(path).and_then(|file| Map::new(&file)).map_err(|e| io_error(&e))?;
        Ok(Input { from: Arc::new(From::Mapped(map)) })
    }

    /// A file read piece by piece.
    ///
    /// # Errors
    /// [`Kind::Io`].
    pub fn file(path: impl AsRef<Path>) -> Result<Input> {
        let file = File::open(path).map_err(|e| io_error(&e))?;
        let len = file.metadata().map_err(|e| io_error(&e))?.len();
        Ok(Input { from: Arc::new(From::File { file, len }) })
    }

    /// Bytes in memory.
    pub fn memory(bytes: impl Into<Vec<u8>>) -> Input {
        Input { from: Arc::new(From::Memory(bytes.into())) }
    }

    /// Bytes there are.
    pub fn len(&self) -> u64 {
        match &*self.from {
            From::File { len, .. } => *len,
            _ => self.all().map_or(0, |bytes| bytes.len() as u64),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All bytes, if they are in memory or mapped.
    pub(crate) fn all(&self) -> Option<&[u8]> {
        match &*self.from {
            From::Memory(bytes) => Some(bytes),
            From::Mapped(map) => Some(map.bytes()),
            From::File { .. } => None,
        }
    }

    /// `len` bytes at `at`, in place if they are in memory or mapped.
    pub(crate) fn view(&self, at: u64, len: usize) -> Option<&[u8]> {
        let at = usize::try_from(at).ok()?;
        self.all()?.get(at..at.checked_add(len)?)
    }

    /// Whether there are `len` bytes at `at`.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if not.
    pub(crate) fn check(&self, at: u64, len: u64) -> Result<()> {
        match at.checked_add(len) {
            Some(end) if end <= self.len() => Ok(()),
            _ => Err(Error::new(Kind::Truncated, self.len(), "the file is shorter than it says")),
        }
    }

    /// `len` bytes at `at`, in place or read into `room`.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if there are fewer, [`Kind::Io`].
    pub(crate) fn bytes<'a>(&'a self, at: u64, len: usize, room: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        if let Some(bytes) = self.view(at, len) {
            return Ok(bytes);
        }
        room.clear();
        self.append(at, len, room)?;
        Ok(room)
    }

    /// Reads `len` bytes at `at` behind what `room` holds.
    ///
    /// # Errors
    /// As [`Input::bytes`].
    pub(crate) fn append(&self, at: u64, len: usize, room: &mut Vec<u8>) -> Result<()> {
        self.check(at, len as u64)?;
        if let Some(bytes) = self.view(at, len) {
            room.extend_from_slice(bytes);
        } else if let From::File { file, .. } = &*self.from {
            let before = room.len();
            room.resize(before + len, 0);
            read_exact_at(file, &mut room[before..], at).map_err(|e| io_error(&e))?;
        }
        Ok(())
    }

    /// The `N` bytes at `at`.
    ///
    /// # Errors
    /// As [`Input::bytes`].
    pub(crate) fn array<const N: usize>(&self, at: u64) -> Result<[u8; N]> {
        let mut room = Vec::new();
        Ok(self.bytes(at, N, &mut room)?.try_into().expect("as many as asked for"))
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, out: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, at)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut out: &mut [u8], mut at: u64) -> io::Result<()> {
    while !out.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, out, at) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(n) => {
                out = &mut out[n..];
                at += n as u64;
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_inputs_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, b"0123456789").unwrap();
        let inputs = [Input::map(&path).unwrap(), Input::file(&path).unwrap(), Input::memory(*b"0123456789")];
        for input in inputs {
            let mut room = Vec::new();
            assert_eq!((input.len(), input.is_empty()), (10, false));
            assert_eq!(input.bytes(3, 4, &mut room).unwrap(), b"3456");
            assert_eq!(input.bytes(10, 0, &mut room).unwrap(), b"");
            for (at, len) in [(0, 11), (10, 1), (11, 0), (u64::MAX, 1), (5, usize::MAX)] {
                assert_eq!(input.bytes(at, len, &mut room).unwrap_err().kind, Kind::Truncated, "{at} {len}");
            }
            assert_eq!(input.array(8).unwrap(), *b"89");
            input.append(0, 2, &mut room).unwrap();
            assert!(room.ends_with(b"01"));
        }
        std::fs::write(&path, b"").unwrap();
        assert!(Input::map(&path).unwrap().is_empty());
        let missing = Input::map(folder.path().join("b")).unwrap_err();
        assert_eq!((missing.kind, missing.what), (Kind::Io, "there is no such file"));
    }
}
