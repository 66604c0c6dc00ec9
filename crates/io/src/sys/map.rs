//! Memory-mapped files.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::{Mmap, MmapOptions};

use crate::read_at::ReadAt;

/// A memory-mapped file, whose bytes can be [viewed](ReadAt::view) without copying.
///
/// The mapped bytes must not change meanwhile. If the file is truncated within them, reading the
/// missing bytes may end the program with SIGBUS on Unix; [`FileSource`](crate::FileSource) reports
/// an error instead. If others append to a file and truncate it again, map the bytes that stay with
/// [`first`](MapSource::first).
#[derive(Debug)]
pub struct MapSource(Mmap);

impl MapSource {
    /// Maps the file at `path`.
    ///
    /// # Errors
    ///
    /// Returns the errors of opening and mapping it. Mapping always fails on systems without memory
    /// maps (WASI).
    pub fn open(path: impl AsRef<Path>) -> io::Result<MapSource> {
        MapSource::new(&File::open(path)?)
    }

    /// Maps an open file.
    ///
    /// # Errors
    ///
    /// Returns the errors of mapping it. Mapping always fails on systems without memory maps
    /// (WASI).
    pub fn new(file: &File) -> io::Result<MapSource> {
        // SAFETY: the pages are mapped for reading, and we never write to the file. The type's
        // documentation demands that no one else changes it. Changed bytes are at worst another
        // file, of which no byte is trusted, and on Unix truncated pages end the program by SIGBUS.
        Ok(MapSource(unsafe { Mmap::map(file) }?))
    }

    /// Maps the first `len` bytes of an open file, whatever is appended to the file or truncated
    /// after them.
    ///
    /// # Errors
    ///
    /// Returns [`io::ErrorKind::UnexpectedEof`] if the file is shorter,
    /// [`io::ErrorKind::OutOfMemory`] if `len` is more than [`usize::MAX`], and the errors of
    /// mapping the file.
    pub fn first(file: &File, len: u64) -> io::Result<MapSource> {
        if file.metadata()?.len() < len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory)?;
        // SAFETY: as in `new`. The file has these bytes, and the type's documentation demands that
        // they stay.
        Ok(MapSource(unsafe { MmapOptions::new().len(len).map(file) }?))
    }

    /// Hints to the system that the bytes are read from the first to the last. Does nothing except
    /// on Unix.
    #[must_use]
    pub fn sequential(self) -> MapSource {
        #[cfg(unix)]
        let _ = self.0.advise(memmap2::Advice::Sequential);
        self
    }
}

impl AsRef<[u8]> for MapSource {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl ReadAt for MapSource {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        (&self.0[..]).read_at(offset, out)
    }

    fn view(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let start = usize::try_from(offset).ok()?;
        self.0.get(start..start.checked_add(len)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_stay_mapped_when_the_rest_is_cut_off() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        let map = MapSource::first(&file, 5000).unwrap();
        assert_eq!((map.len(), map.view(4999, 2)), (5000, None));
        // Windows does not truncate a mapped file.
        if cfg!(unix) {
            file.set_len(5000).unwrap();
        }
        assert_eq!(map.as_ref(), [0; 5000]);
        let longer = MapSource::first(&file, (1 << 20) + 1).unwrap_err();
        assert_eq!(longer.kind(), io::ErrorKind::UnexpectedEof);
    }
}
