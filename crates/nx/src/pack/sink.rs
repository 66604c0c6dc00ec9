//! The output of an archive. Several threads write to it at offsets.

use std::fs::File;
use std::io;
use std::sync::{Mutex, PoisonError};

use linerate_core::lock;
use linerate_io::{AtomicFile, write_all_at};

/// Writes bytes at offsets.
pub(super) trait Sink: Sync {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Sets the length. Bytes that were never written are zeros.
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
        let mut memory = lock(&self.0);
        let end = offset as usize + bytes.len();
        if memory.len() < end {
            memory.resize(end, 0);
        }
        memory[offset as usize..end].copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        lock(&self.0).resize(len as usize, 0);
        Ok(())
    }
}

/// The archive's file.
impl Sink for AtomicFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.write_all_at(bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        AtomicFile::set_len(self, len)
    }
}

/// A temporary file, which is converted to R3A afterwards.
impl Sink for File {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        write_all_at(self, bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        File::set_len(self, len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_grows_as_written() {
        let memory = Memory::default();
        memory.write_at(3, b"de").expect("writable");
        memory.write_at(0, b"abc").expect("writable");
        memory.set_len(6).expect("writable");
        assert_eq!(memory.into_bytes(), b"abcde\0");
    }
}
