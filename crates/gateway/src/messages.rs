//! Files of messages. Each message is stored as its length (u32, little-endian) and its bytes.

use std::io::{self, Read, Write};

use linerate_core::{Error, Kind};

use crate::record::{MAX_MESSAGE, fill, read_up_to};

/// Size of the length field in bytes.
const HEAD: usize = 4;

/// Iterator over a file of messages, plain or compressed. Each message is preceded by its length
/// (u32, little-endian).
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
    /// Offset of the next message in the file.
    at: u64,
    done: bool,
}

impl<R: Read> Messages<R> {
    /// Reads from the beginning of a file, which should be buffered, since reads are small.
    pub const fn new(source: R) -> Self {
        Messages { source, at: 0, done: false }
    }

    fn message(&mut self) -> io::Result<Option<Vec<u8>>> {
        let truncated =
            |at| io::Error::from(Error::new(Kind::Truncated, at, "a file of messages is cut off"));
        let mut head = [0; HEAD];
        match fill(&mut self.source, &mut head)? {
            0 => return Ok(None),
            HEAD => {}
            _ => return Err(truncated(self.at)),
        }
        let len = u32::from_le_bytes(head);
        if len > MAX_MESSAGE {
            return Err(Error::new(Kind::Limit, self.at, "a message of a file has more than 1 GiB").into());
        }
        let message = read_up_to(&mut self.source, len)?;
        if message.len() < len as usize {
            return Err(truncated(self.at));
        }
        self.at += HEAD as u64 + u64::from(len);
        Ok(Some(message))
    }
}

/// The items may be errors of the source, [`Kind::Truncated`] for a file that ends within a
/// message, and [`Kind::Limit`] for a message of more than 1 GiB, all as [`io::Error`]. The
/// iterator ends after an error.
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
/// Returns the errors of `out`, and [`io::ErrorKind::InvalidInput`] for more than 1 GiB.
pub fn write_message(mut out: impl Write, message: &[u8]) -> io::Result<()> {
    let len = u32::try_from(message.len()).ok().filter(|&len| len <= MAX_MESSAGE);
    let len = len.ok_or(io::Error::new(io::ErrorKind::InvalidInput, "a message has more than 1 GiB"))?;
    out.write_all(&len.to_le_bytes())?;
    out.write_all(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_file_gives_its_whole_messages_and_an_error() {
        let sent = [&b"one"[..], b"", &[7; 300]];
        let mut file = Vec::new();
        sent.iter().for_each(|message| write_message(&mut file, message).unwrap());
        let ends = [0, 7, 11, 315];
        for len in 0..=file.len() {
            let read: Vec<_> = Messages::new(&file[..len]).collect();
            let whole = ends.iter().filter(|&&end| end > 0 && end <= len).count();
            assert_eq!(read.iter().flatten().map(|m| &m[..]).collect::<Vec<_>>(), sent[..whole]);
            let error = read.last().and_then(|last| last.as_ref().err()).map(io::Error::kind);
            let expected = (!ends.contains(&len)).then_some(io::ErrorKind::UnexpectedEof);
            assert_eq!(error, expected, "{len}");
        }
    }

    #[test]
    fn length_beyond_the_file_or_limit_is_an_error() {
        for (head, kind) in [
            (MAX_MESSAGE.to_le_bytes(), io::ErrorKind::UnexpectedEof),
            ((MAX_MESSAGE + 1).to_le_bytes(), io::ErrorKind::Other),
            ([0xff; 4], io::ErrorKind::Other),
        ] {
            let mut messages = Messages::new(&head[..]);
            assert_eq!(messages.next().unwrap().unwrap_err().kind(), kind);
            assert!(messages.next().is_none());
        }
    }
}
