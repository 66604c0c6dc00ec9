//! A reader and a writer for engine functions that do their own I/O.

use std::cell::Cell;
use std::io::{self, Read, Seek, SeekFrom, Write};

use crate::ui::error::CliError;
use crate::ui::output::OutputCount;
use crate::ui::write_behind::Target;

/// A reader that counts its bytes in a cell, which the caller can read meanwhile. Seeking does not
/// change the count.
pub(super) struct CountedReader<'a, R> {
    pub(super) inner: R,
    pub(super) bytes: &'a Cell<u64>,
}

impl<R: Read> Read for CountedReader<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let len = self.inner.read(into)?;
        self.bytes.set(self.bytes.get() + len as u64);
        Ok(len)
    }
}

impl<R: Seek> Seek for CountedReader<'_, R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

/// Writes to a target up to the limit of the output. An error, such as exceeding the limit, is kept
/// in `failure`, because an engine can return only an [`io::Error`].
pub(super) struct TargetWriter<'a> {
    pub(super) target: &'a mut dyn Target,
    pub(super) progress: &'a mut dyn FnMut(u64),
    /// Offset up to which the input was read.
    pub(super) read: &'a Cell<u64>,
    pub(super) output: &'a mut OutputCount,
    pub(super) failure: Option<CliError>,
}

impl Write for TargetWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (at, left) = (self.read.get(), usize::try_from(self.output.left()).unwrap_or(usize::MAX));
        let bytes = &bytes[..bytes.len().min(left)];
        (self.progress)(at);
        let written = match bytes {
            [] => Err(self.output.exceeded(at)),
            _ => self.target.put(bytes).and_then(|()| self.output.add(bytes.len(), at)),
        };
        written.map_err(|error| {
            self.failure = Some(error);
            io::Error::other("cannot write")
        })?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
