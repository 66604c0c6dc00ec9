//! A file as memory.

use std::fs::File;
use std::io;

use memmap2::Mmap;

/// A file mapped for reading.
#[derive(Debug)]
pub(crate) struct Map(Mmap);

impl Map {
    pub(crate) fn new(file: &File) -> io::Result<Map> {
        // SAFETY: the pages are mapped for reading and we never write to what was mapped. That nobody
        // else changes it meanwhile is what we ask of our users: bytes that change are at worst another
        // file, none of whose bytes is trusted, and pages that vanish end the program by SIGBUS.
        Ok(Map(unsafe { Mmap::map(file) }?))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}
