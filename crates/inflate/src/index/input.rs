//! [`Input`]: reads bytes of a file at any offset.

use std::io::{self, ErrorKind, Read, Seek, SeekFrom};

use linerate_core::{Error, Kind, Result};

use crate::stream::BUFFER;

pub(super) struct Input<R> {
    pub(super) source: R,
    buffer: Box<[u8]>,
    /// Offset of the buffer in the file.
    at: u64,
    len: usize,
    /// Position of the source, if known.
    source_at: Option<u64>,
}

impl<R> Input<R> {
    pub(super) fn new(source: R) -> Self {
        Input { source, buffer: Box::default(), at: 0, len: 0, source_at: None }
    }
}

impl<R: Read + Seek> Input<R> {
    /// Returns the size of the file.
    pub(super) fn len(&mut self) -> Result<u64> {
        self.source_at = None;
        self.source.seek(SeekFrom::End(0)).map_err(|e| read_error(0, &e))
    }

    /// Returns bytes from `at`, or none at the end of the file.
    pub(super) fn bytes(&mut self, at: u64) -> Result<&[u8]> {
        let is_there = (self.at..self.at + self.len as u64).contains(&at);
        if !is_there {
            self.fill(at).map_err(|e| read_error(at, &e))?;
        }
        Ok(&self.buffer[(at - self.at) as usize..self.len])
    }

    fn fill(&mut self, at: u64) -> io::Result<()> {
        if self.buffer.is_empty() {
            self.buffer = vec![0; BUFFER].into();
        }
        (self.at, self.len) = (at, 0);
        if self.source_at != Some(at) {
            self.source_at = None;
            self.source.seek(SeekFrom::Start(at))?;
        }
        self.len = loop {
            match self.source.read(&mut self.buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        self.source_at = Some(at + self.len as u64);
        Ok(())
    }
}

fn read_error(at: u64, error: &io::Error) -> Error {
    Error::from_io(Kind::Read, at, "cannot read", error)
}
