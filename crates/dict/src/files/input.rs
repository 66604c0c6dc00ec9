//! [`Input`]: the input of all file readers of this crate.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use linerate_core::{Error, Kind, Result};
use linerate_io::{FileSource, MapSource, ReadAt, read_error};

/// Bytes at offsets: a mapped or read file, memory, or any other [`ReadAt`], such as a file on a
/// web server. Clones share the source.
#[derive(Clone)]
pub struct Input {
    from: Arc<dyn ReadAt>,
}

/// Converts a decoder's error for the frame at `at` into an error of the file. A frame with another
/// dictionary, or with more content than the file states, is corrupt.
pub(crate) fn frame_error(error: Error, at: u64) -> Error {
    match error.kind {
        Kind::BadArgument | Kind::OutputTooSmall => {
            Error::new(Kind::Corrupt, at, "a frame does not match its description in the file")
        }
        _ => error.shifted(at),
    }
}

impl Input {
    /// Maps a file into memory.
    ///
    /// The file must not change, except that bytes may be appended. On Unix, reading what was
    /// truncated terminates the process with a signal; [`Input::file`] reports an error instead.
    /// [`Pack::open`](crate::Pack::open) maps a pack so that it may be edited meanwhile.
    ///
    /// # Errors
    /// Returns [`Kind::Read`] if the file cannot be opened or mapped.
    pub fn map(path: impl AsRef<Path>) -> Result<Input> {
        Ok(Input::source(MapSource::open(path).map_err(|e| read_error(0, &e))?))
    }

    /// Opens a file that is read on demand.
    ///
    /// # Errors
    /// Returns [`Kind::Read`] if the file cannot be opened.
    pub fn file(path: impl AsRef<Path>) -> Result<Input> {
        Ok(Input::source(FileSource::open(path).map_err(|e| read_error(0, &e))?))
    }

    /// Makes an input from bytes in memory.
    pub fn memory(bytes: impl Into<Vec<u8>>) -> Input {
        Input::source(bytes.into())
    }

    /// Makes an input from any source of bytes.
    pub fn source(source: impl ReadAt + 'static) -> Input {
        Input { from: Arc::new(source) }
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> u64 {
        self.from.len()
    }

    /// Returns whether the length is 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether the bytes are in memory or mapped, so that access needs no copy.
    pub(crate) fn is_in_memory(&self) -> bool {
        self.from.view(0, 0).is_some()
    }

    /// Borrows `len` bytes at `at`, if they are in memory or mapped.
    pub(crate) fn view(&self, at: u64, len: usize) -> Option<&[u8]> {
        self.from.view(at, len)
    }

    /// Checks that there are `len` bytes at `at`.
    ///
    /// # Errors
    /// Returns [`Kind::Truncated`] if there are fewer.
    pub(crate) fn check(&self, at: u64, len: u64) -> Result<()> {
        match at.checked_add(len) {
            Some(end) if end <= self.len() => Ok(()),
            _ => Err(Error::new(Kind::Truncated, self.len(), "the file is shorter than it states")),
        }
    }

    /// Returns `len` bytes at `at`, borrowed or read into `buffer`.
    ///
    /// # Errors
    /// Returns [`Kind::Truncated`] if there are fewer, and [`Kind::Read`] if they cannot be read.
    pub(crate) fn bytes<'a>(&'a self, at: u64, len: usize, buffer: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        if let Some(bytes) = self.view(at, len) {
            return Ok(bytes);
        }
        buffer.clear();
        self.append(at, len, buffer)?;
        Ok(buffer)
    }

    /// Appends `len` bytes at `at` to `buffer`.
    ///
    /// # Errors
    /// Returns the errors of [`Input::bytes`].
    pub(crate) fn append(&self, at: u64, len: usize, buffer: &mut Vec<u8>) -> Result<()> {
        self.check(at, len as u64)?;
        if let Some(bytes) = self.view(at, len) {
            buffer.extend_from_slice(bytes);
        } else {
            let before = buffer.len();
            buffer.resize(before + len, 0);
            self.from.read_at(at, &mut buffer[before..]).map_err(|e| read_error(at, &e))?;
        }
        Ok(())
    }

    /// Returns the `N` bytes at `at`.
    ///
    /// # Errors
    /// Returns the errors of [`Input::bytes`].
    pub(crate) fn array<const N: usize>(&self, at: u64) -> Result<[u8; N]> {
        let mut buffer = Vec::new();
        Ok(self.bytes(at, N, &mut buffer)?.try_into().expect("as many as asked for"))
    }
}

impl ReadAt for Input {
    fn len(&self) -> u64 {
        self.from.len()
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.from.read_at(offset, out)
    }

    fn view(&self, offset: u64, len: usize) -> Option<&[u8]> {
        self.from.view(offset, len)
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("len", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_inputs_return_the_same_bytes_and_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, b"0123456789").unwrap();
        let inputs = [Input::map(&path).unwrap(), Input::file(&path).unwrap(), Input::memory(*b"0123456789")];
        for input in inputs {
            let mut buffer = Vec::new();
            assert_eq!((input.len(), input.is_empty()), (10, false));
            assert_eq!(input.bytes(3, 4, &mut buffer).unwrap(), b"3456");
            assert_eq!(input.bytes(10, 0, &mut buffer).unwrap(), b"");
            for (at, len) in [(0, 11), (10, 1), (11, 0), (u64::MAX, 1), (5, usize::MAX)] {
                assert_eq!(
                    input.bytes(at, len, &mut buffer).unwrap_err().kind,
                    Kind::Truncated,
                    "{at} {len}"
                );
            }
            assert_eq!(input.array(8).unwrap(), *b"89");
            input.append(0, 2, &mut buffer).unwrap();
            assert!(buffer.ends_with(b"01"));
        }
        std::fs::write(&path, b"").unwrap();
        assert!(Input::map(&path).unwrap().is_empty());
        let missing = Input::map(folder.path().join("b")).unwrap_err();
        assert_eq!((missing.kind, missing.message), (Kind::Read, "cannot read"));
    }
}
