//! StdoutLines and length-prefixed records, one by one, from files of any size.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::Path;

use linerate_core::Kind;

use crate::ui::error::CliError;
use crate::ui::input::{self, Counted};

/// The longest line, key or value. What is longer is damage sooner than data.
const LONGEST: usize = 64 << 20;

/// A file, or standard input for `-`.
pub(crate) fn open(path: &Path) -> Result<File, CliError> {
    let file = if is_stdin(path) { input::stdin() } else { File::open(path) };
    file.map_err(CliError::io("cannot open"))
}

pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads a file in pieces that are counted.
pub(crate) struct Pieces {
    inner: BufReader<Counted<File>>,
    /// Where the next piece begins.
    pub(crate) at: u64,
}

impl Pieces {
    pub(crate) fn new(file: File) -> Pieces {
        Pieces { inner: BufReader::with_capacity(128 << 10, Counted::new(file)), at: 0 }
    }

    /// At most `len` bytes more; fewer only at the end.
    pub(crate) fn take(&mut self, len: usize, into: &mut Vec<u8>) -> Result<usize, CliError> {
        let before = into.len();
        let read = (&mut self.inner).take(len as u64).read_to_end(into);
        read.map_err(|error| self.error(error))?;
        let n = into.len() - before;
        self.at += n as u64;
        Ok(n)
    }

    /// The next line without its end, replacing what is in `line`; false at the end of the file.
    pub(crate) fn line(&mut self, line: &mut Vec<u8>) -> Result<bool, CliError> {
        line.clear();
        let mut limited = (&mut self.inner).take(LONGEST as u64 + 1);
        let n = std::io::BufRead::read_until(&mut limited, b'\n', line).map_err(|error| self.error(error))?;
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if n > LONGEST {
            return Err(CliError::data(Kind::Limit, self.at, "a line is longer than 64 MiB"));
        }
        self.at += n as u64;
        Ok(n > 0)
    }

    /// The next record of key and value, replacing what is in them; false at the end of the file.
    pub(crate) fn record(&mut self, key: &mut Vec<u8>, value: &mut Vec<u8>) -> Result<bool, CliError> {
        key.clear();
        value.clear();
        let begin = self.at;
        let mut len = Vec::with_capacity(4);
        if self.take(4, &mut len)? == 0 {
            return Ok(false);
        }
        self.counted(&len, key)?;
        len.clear();
        self.take(4, &mut len)?;
        self.counted(&len, value)?;
        debug_assert!(self.at > begin);
        Ok(true)
    }

    fn counted(&mut self, len: &[u8], into: &mut Vec<u8>) -> Result<(), CliError> {
        let cut = |at| CliError::data(Kind::Truncated, at, "the file ends within a record");
        let len = u32::from_le_bytes(len.try_into().map_err(|_| cut(self.at))?) as usize;
        if len > LONGEST {
            return Err(CliError::data(Kind::Limit, self.at, "a key or value is longer than 64 MiB"));
        }
        if self.take(len, into)? < len {
            return Err(cut(self.at));
        }
        Ok(())
    }

    fn error(&self, error: std::io::Error) -> CliError {
        match error.kind() {
            ErrorKind::IsADirectory => CliError::Refused("it is a directory".into()),
            _ => CliError::Read { error, offset: self.inner.get_ref().at },
        }
    }
}
