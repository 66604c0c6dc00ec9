//! Files of messages and nothing else: the length of each in four bytes, lowest first, and its bytes.

use std::io::{self, Read, Write};

use linerate_core::{Error, Kind};

use crate::record::{LARGEST, fill};

/// Bytes of a length.
const HEAD: usize = 4;

/// Reads a file of messages, payloads or compressed ones: an iterator over them. Each stands behind its
/// length in four bytes, lowest first.
///
/// ```
/// use linerate_gateway::{Messages, write_message};
///
/// let mut file = Vec::new();
/// write_message(&mut file, b"first")?;
/// write_message(&mut file, b"")?;
/// let messages: Vec<Vec<u8>> = Messages::new(&file[..]).collect::<Result<_, _>>()?;
/// assert_eq!(messages, [&b"first"[..], b""]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Messages<R> {
    source: R,
    /// Bytes read.
    at: u64,
    done: bool,
}

impl<R: Read> Messages<R> {
    /// Reads from the beginning of a file. Many small reads are made; a file had better be buffered.
    pub const fn new(source: R) -> Self {
        Messages { source, at: 0, done: false }
    }

    fn message(&mut self) -> io::Result<Option<Vec<u8>>> {
        let cut_off = |at| io::Error::from(Error::new(Kind::Truncated, at, "a file of messages is cut off"));
        let mut head = [0; HEAD];
        match fill(&mut self.source, &mut head)? {
            0 => return Ok(None),
            HEAD => {}
            _ => return Err(cut_off(self.at)),
        }
        let len = u32::from_le_bytes(head);
        if len > LARGEST {
            return Err(Error::new(Kind::Limit, self.at, "a message of a file has more than 1 GiB").into());
        }
        // Memory grows with what is there, whatever the length says.
        let mut message = Vec::new();
        self.source.by_ref().take(len.into()).read_to_end(&mut message)?;
        if message.len() < len as usize {
            return Err(cut_off(self.at));
        }
        self.at += HEAD as u64 + u64::from(len);
        Ok(Some(message))
    }
}

/// Errors are those of the source, and [`Kind::Truncated`] or [`Kind::Limit`], as [`io::Error`], for a file
/// that ends within a message or has one of more than 1 GiB. Nothing comes after an error.
impl<R: Read> Iterator for Messages<R> {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let message = self.message().transpose();
        self.done = !matches!(message, Some(Ok(_)));
        message
    }
}

/// Writes a message as [`Messages`] reads it.
///
/// # Errors
/// Those of `out`; [`io::ErrorKind::InvalidInput`] for more than 1 GiB.
pub fn write_message(mut out: impl Write, message: &[u8]) -> io::Result<()> {
    let len = u32::try_from(message.len()).ok().filter(|&len| len <= LARGEST);
    let len = len.ok_or(io::Error::new(io::ErrorKind::InvalidInput, "a message has more than 1 GiB"))?;
    out.write_all(&len.to_le_bytes())?;
    out.write_all(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_whole_is_read_whatever_is_cut_off() {
        let sent = [&b"one"[..], b"", &[7; 300]];
        let mut file = Vec::new();
        sent.iter().for_each(|message| write_message(&mut file, message).unwrap());
        let ends = [0, 7, 11, 315];
        for len in 0..=file.len() {
            let read: Vec<_> = Messages::new(&file[..len]).collect();
            let whole = ends.iter().filter(|&&end| end > 0 && end <= len).count();
            assert_eq!(read.iter().flatten().map(|m| &m[..]).collect::<Vec<_>>(), sent[..whole]);
            let fault = read.last().and_then(|last| last.as_ref().err()).map(io::Error::kind);
            let expected = (!ends.contains(&len)).then_some(io::ErrorKind::UnexpectedEof);
            assert_eq!(fault, expected, "{len}");
        }
    }

    #[test]
    fn a_length_that_lies_makes_no_memory() {
        for (head, kind) in [
            (LARGEST.to_le_bytes(), io::ErrorKind::UnexpectedEof),
            ((LARGEST + 1).to_le_bytes(), io::ErrorKind::Other),
            ([0xff; 4], io::ErrorKind::Other),
        ] {
            let mut messages = Messages::new(&head[..]);
            assert_eq!(messages.next().unwrap().unwrap_err().kind(), kind);
            assert!(messages.next().is_none());
        }
    }
}
