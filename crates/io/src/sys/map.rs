//! Memory-mapped files.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;

use crate::read_at::ReadAt;

/// A memory-mapped file: reads without copying.
///
/// The file must not change meanwhile. Truncating it ends the program with SIGBUS on Unix;
/// [`FileSource`](crate::FileSource) reports an error instead.
#[derive(Debug)]
pub struct MapSource(Mmap);

impl MapSource {
    /// Maps the file of that name.
    ///
    /// # Errors
    ///
    /// Those of opening and mapping it.
    pub fn open(path: impl AsRef<Path>) -> io::Result<MapSource> {
        MapSource::new(&File::open(path)?)
    }

    /// Maps an open file.
    ///
    /// # Errors
    ///
    /// Those of mapping it.
    pub fn new(file: &File) -> io::Result<MapSource> {
        // SAFETY: the pages are mapped for reading and we never write to the file. The type's
        // documentation demands that no one else changes it: changed bytes are at worst another file, of
        // which no byte is trusted, and truncated pages end the program by SIGBUS.
        Ok(MapSource(unsafe { Mmap::map(file) }?))
    }

    /// Hints to the system that the bytes are read from the first to the last.
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
