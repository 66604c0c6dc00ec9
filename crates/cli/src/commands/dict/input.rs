//! Reads lines and length-prefixed records one by one, from files of any size.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::Path;

use linerate_core::Kind;

use crate::ui::error::CliError;
use crate::ui::input::{self, Counted};
use crate::ui::inputs;

/// Maximum bytes of a line, key or value. A longer one is refused, since it is probably damage.
const MAX_LEN: usize = 64 << 20;

/// Opens a file, or standard input for `-`. From then on the program refuses to write an output
/// over the file.
pub(crate) fn open(path: &Path) -> Result<File, CliError> {
    let file = if is_stdin(path) { input::stdin() } else { File::open(path) };
    let file = file.map_err(CliError::io("cannot open"))?;
    inputs::keep_open(&file);
    Ok(file)
}

pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads lines, records or blocks of a file, and counts their bytes.
pub(crate) struct InputReader {
    inner: BufReader<Counted<File>>,
    /// Offset in bytes of the next line, record or block.
    pub(crate) offset: u64,
}

impl InputReader {
    pub(crate) fn new(file: File) -> InputReader {
        InputReader { inner: BufReader::with_capacity(128 << 10, Counted::new(file)), offset: 0 }
    }

    /// Reads the next `len` bytes, fewer only at the end of the file, and appends them to `into`.
    /// Returns their number.
    pub(crate) fn take(&mut self, len: usize, into: &mut Vec<u8>) -> Result<usize, CliError> {
        let before = into.len();
        let read = (&mut self.inner).take(len as u64).read_to_end(into);
        read.map_err(|error| self.error(error))?;
        let n = into.len() - before;
        self.offset += n as u64;
        Ok(n)
    }

    /// Reads the next line, without the `\n` at its end, into `line`, replacing its content.
    /// Returns false at the end of the file. Fails for a line of more than 64 MiB.
    pub(crate) fn line(&mut self, line: &mut Vec<u8>) -> Result<bool, CliError> {
        line.clear();
        let mut limited = (&mut self.inner).take(MAX_LEN as u64 + 1);
        let n = std::io::BufRead::read_until(&mut limited, b'\n', line).map_err(|error| self.error(error))?;
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if n > MAX_LEN {
            return Err(CliError::data(Kind::Limit, self.offset, "a line is longer than 64 MiB"));
        }
        self.offset += n as u64;
        Ok(n > 0)
    }

    /// Reads the next record into `key` and `value`, replacing their content. Returns false at the
    /// end of the file. Fails if the file ends inside the record, or if its key or value has more
    /// than 64 MiB.
    pub(crate) fn record(&mut self, key: &mut Vec<u8>, value: &mut Vec<u8>) -> Result<bool, CliError> {
        key.clear();
        value.clear();
        let begin = self.offset;
        let mut len = Vec::with_capacity(4);
        if self.take(4, &mut len)? == 0 {
            return Ok(false);
        }
        self.prefixed(&len, key)?;
        len.clear();
        self.take(4, &mut len)?;
        self.prefixed(&len, value)?;
        debug_assert!(self.offset > begin);
        Ok(true)
    }

    /// Reads a key or value and appends it to `into`. `len` has the bytes of its length prefix; if
    /// the file has ended there, they are fewer than four, which is an error.
    fn prefixed(&mut self, len: &[u8], into: &mut Vec<u8>) -> Result<(), CliError> {
        let cut = |at| CliError::data(Kind::Truncated, at, "the file ends inside a record");
        let len = u32::from_le_bytes(len.try_into().map_err(|_| cut(self.offset))?) as usize;
        if len > MAX_LEN {
            return Err(CliError::data(Kind::Limit, self.offset, "a key or value is longer than 64 MiB"));
        }
        if self.take(len, into)? < len {
            return Err(cut(self.offset));
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
