//! An input that is read in order and knows its offset.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};

use linerate_core::Kind;

use crate::ui::error::CliError;

/// Memory is taken in steps of this many bytes as input arrives, so that a length that lies costs
/// no more than the bytes that are there.
const STEP: usize = 16 << 20;

pub(crate) struct Reader {
    inner: BufReader<File>,
    /// Bytes that were looked at and are still to be read.
    ahead: Vec<u8>,
    /// Offset of the next byte.
    at: u64,
    /// Bytes of the whole input, if it is a regular file read from its start.
    len: Option<u64>,
}

impl Reader {
    const BUFFER: usize = 128 << 10;

    pub(crate) fn new(file: File, len: Option<u64>) -> Reader {
        Reader { inner: BufReader::with_capacity(Self::BUFFER, file), ahead: Vec::new(), at: 0, len }
    }

    /// Offset of the next byte.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// Bytes of the whole input, if it is a regular file.
    pub(crate) fn len(&self) -> Option<u64> {
        self.len
    }

    /// The file, for mapping it.
    pub(crate) fn file(&self) -> &File {
        self.inner.get_ref()
    }

    fn some(&mut self, into: &mut [u8]) -> Result<usize, CliError> {
        loop {
            match self.inner.read(into) {
                Ok(n) => return Ok(n),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(CliError::Read { error, offset: self.at + self.ahead.len() as u64 });
                }
            }
        }
    }

    /// The next bytes without reading them: `n` of them, or fewer if the input ends before.
    pub(crate) fn peek(&mut self, n: usize) -> Result<&[u8], CliError> {
        let mut byte = [0];
        while self.ahead.len() < n && self.some(&mut byte)? == 1 {
            self.ahead.push(byte[0]);
        }
        Ok(&self.ahead[..n.min(self.ahead.len())])
    }

    /// Fills `into` as far as the input reaches and returns the number of bytes.
    pub(crate) fn fill(&mut self, into: &mut [u8]) -> Result<usize, CliError> {
        let mut filled = self.ahead.len().min(into.len());
        into[..filled].copy_from_slice(&self.ahead[..filled]);
        self.ahead.drain(..filled);
        self.at += filled as u64;
        while filled < into.len() {
            match self.some(&mut into[filled..])? {
                0 => break,
                n => {
                    filled += n;
                    self.at += n as u64;
                }
            }
        }
        Ok(filled)
    }

    /// Fills `into`, or says `what` is missing where the input ends.
    pub(crate) fn exactly(&mut self, into: &mut [u8], what: &'static str) -> Result<(), CliError> {
        match self.fill(into)? == into.len() {
            true => Ok(()),
            false => Err(CliError::data(Kind::Truncated, self.at, what)),
        }
    }

    /// The next 32-bit word.
    pub(crate) fn word(&mut self, what: &'static str) -> Result<u32, CliError> {
        let mut word = [0; 4];
        self.exactly(&mut word, what)?;
        Ok(u32::from_le_bytes(word))
    }

    /// Appends the next `n` bytes to `into`, or says `what` is missing where the input ends.
    pub(crate) fn append(&mut self, into: &mut Vec<u8>, n: u64, what: &'static str) -> Result<(), CliError> {
        let mut left = n;
        while left > 0 {
            let step = left.min(STEP as u64) as usize;
            let start = into.len();
            into.resize(start + step, 0);
            self.exactly(&mut into[start..], what)?;
            left -= step as u64;
        }
        Ok(())
    }

    /// Passes over `n` bytes, or says `what` is missing where the input ends.
    pub(crate) fn skip(&mut self, n: u64, what: &'static str) -> Result<(), CliError> {
        let held = n.min(self.ahead.len() as u64);
        self.ahead.drain(..held as usize);
        self.at += held;
        let mut left = n - held;
        if let Some(len) = self.len {
            if left > len.saturating_sub(self.at) {
                return Err(CliError::data(Kind::Truncated, len, what));
            }
            // What fits is at most the length of a file, so it is no negative number.
            self.inner.seek_relative(left as i64).map_err(CliError::io("cannot seek"))?;
            self.at += left;
            return Ok(());
        }
        let mut buffer = [0; 16 << 10];
        while left > 0 {
            let step = left.min(buffer.len() as u64) as usize;
            self.exactly(&mut buffer[..step], what)?;
            left -= step as u64;
        }
        Ok(())
    }

    /// Goes back to an offset of a regular file.
    pub(crate) fn rewind(&mut self, at: u64) -> Result<(), CliError> {
        self.ahead.clear();
        self.inner.seek(SeekFrom::Start(at)).map_err(CliError::io("cannot seek"))?;
        self.at = at;
        Ok(())
    }

    /// Whether nothing follows.
    pub(crate) fn has_ended(&mut self) -> Result<bool, CliError> {
        Ok(self.peek(1)?.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn reader(bytes: &[u8], regular: bool) -> Reader {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        Reader::new(file, regular.then_some(bytes.len() as u64))
    }

    #[test]
    fn offsets_are_those_of_the_input() {
        for regular in [true, false] {
            let mut r = reader(b"abcdefghij", regular);
            assert_eq!(r.peek(3).unwrap(), b"abc");
            assert_eq!(r.peek(2).unwrap(), b"ab");
            assert_eq!(r.at(), 0);
            r.skip(1, "x").unwrap();
            let mut two = [0; 2];
            r.exactly(&mut two, "x").unwrap();
            assert_eq!((&two, r.at()), (b"bc", 3));
            let mut more = b"!".to_vec();
            r.append(&mut more, 2, "x").unwrap();
            r.skip(2, "x").unwrap();
            assert_eq!((more.as_slice(), r.at()), (&b"!de"[..], 7));
            assert!(!r.has_ended().unwrap());
            let error = r.exactly(&mut [0; 4], "three are left").unwrap_err();
            assert_eq!((error.kind(), error.offset()), ("truncated", Some(10)));
            assert!(r.has_ended().unwrap());
            r.rewind(9).unwrap();
            assert_eq!(r.peek(5).unwrap(), b"j");
            assert_eq!(r.at(), 9);
            let error = r.skip(2, "one is left").unwrap_err();
            assert_eq!((error.kind(), error.offset()), ("truncated", Some(10)));
        }
    }
}
