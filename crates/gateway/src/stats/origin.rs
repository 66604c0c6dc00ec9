//! Records of 18 bytes, the format in which discord-zstd-java kept its first measurements of 2,500
//! shards.
//!
//! | bytes | |
//! |---|---|
//! | 8 | nanoseconds of decoding, signed |
//! | 4 | compressed bytes, signed |
//! | 4 | bytes of the payload, signed |
//! | 2 | separator, the same in all records |
//!
//! Numbers are big-endian, as Java writes them. There is no header.

use std::io::{self, Read, Write};

use linerate_core::{Error, Kind};

use super::record::{MessageRecord, Verdict, array};
use crate::record::fill;
use crate::transport::Transport;

/// Size of a record in bytes.
pub const ORIGIN_RECORD: usize = 18;
/// The separator that [`OriginWriter`] writes: carriage return and line feed.
const SEPARATOR: [u8; 2] = *b"\r\n";

/// Writes records of 18 bytes.
pub struct OriginWriter<W> {
    out: W,
}

impl<W: Write> OriginWriter<W> {
    /// Writes to `out`, which should be buffered.
    pub const fn new(out: W) -> Self {
        OriginWriter { out }
    }

    /// Adds a message if it was decoded and timed; the format cannot represent other messages, so
    /// they are left out. It does not store the time of arrival, connection or transport. Sizes
    /// above 2^31 - 1 become 2^31 - 1.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn add(&mut self, record: &MessageRecord) -> io::Result<()> {
        let (Verdict::Decoded, Some(decode_ns)) = (record.verdict, record.decode_ns) else { return Ok(()) };
        let size = |bytes: u32| i32::try_from(bytes).unwrap_or(i32::MAX).to_be_bytes();
        let mut bytes = [0; ORIGIN_RECORD];
        bytes[..8].copy_from_slice(&i64::from(decode_ns).to_be_bytes());
        bytes[8..12].copy_from_slice(&size(record.compressed));
        bytes[12..16].copy_from_slice(&size(record.payload));
        bytes[16..].copy_from_slice(&SEPARATOR);
        self.out.write_all(&bytes)
    }

    /// Flushes and returns the writer.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Iterator over records of 18 bytes. It sets their time and connection to 0 and their verdict to
/// [`Verdict::Decoded`]. It ends after an error.
pub struct OriginReader<R> {
    source: R,
    transport: Transport,
    /// The separator of the first record, once that was read.
    separator: Option<[u8; 2]>,
    /// Offset of the next record in the file.
    at: u64,
    done: bool,
}

impl<R: Read> OriginReader<R> {
    /// Reads from the beginning of a file whose messages were received over `transport`. The source
    /// should be buffered.
    pub const fn new(source: R, transport: Transport) -> Self {
        OriginReader { source, transport, separator: None, at: 0, done: false }
    }

    fn record(&mut self) -> io::Result<Option<MessageRecord>> {
        let mut bytes = [0; ORIGIN_RECORD];
        match fill(&mut self.source, &mut bytes)? {
            0 => return Ok(None),
            ORIGIN_RECORD => {}
            n => {
                return Err(Error::new(
                    Kind::Truncated,
                    self.at + n as u64,
                    "a record of 18 bytes is cut off",
                )
                .into());
            }
        }
        let corrupt = |what| Error::new(Kind::Corrupt, self.at, what);
        let separator = array(&bytes, 16);
        if *self.separator.get_or_insert(separator) != separator {
            return Err(corrupt("records of 18 bytes have different separators").into());
        }
        let ns = u64::try_from(i64::from_be_bytes(array(&bytes, 0)));
        let size = |at| u32::try_from(i32::from_be_bytes(array(&bytes, at)));
        let (Ok(ns), Ok(compressed), Ok(payload)) = (ns, size(8), size(12)) else {
            return Err(corrupt("a record of 18 bytes has a negative number").into());
        };
        self.at += ORIGIN_RECORD as u64;
        Ok(Some(MessageRecord {
            time: 0,
            connection: 0,
            transport: self.transport,
            verdict: Verdict::Decoded,
            compressed,
            payload,
            decode_ns: Some(u32::try_from(ns).unwrap_or(u32::MAX)),
        }))
    }
}

/// The items may be errors of the source, [`Kind::Truncated`] for a file that ends within a record,
/// and [`Kind::Corrupt`] for a negative number or a separator that differs from the first one, all
/// as [`io::Error`].
impl<R: Read> Iterator for OriginReader<R> {
    type Item = io::Result<MessageRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let record = self.record().transpose();
        self.done = !matches!(record, Some(Ok(_)));
        record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(decode_ns: u32, compressed: u32, payload: u32) -> MessageRecord {
        let (transport, verdict) = (Transport::Zstd, Verdict::Decoded);
        MessageRecord {
            time: 0,
            connection: 0,
            transport,
            verdict,
            compressed,
            payload,
            decode_ns: Some(decode_ns),
        }
    }

    fn file(records: &[MessageRecord]) -> Vec<u8> {
        let mut writer = OriginWriter::new(Vec::new());
        records.iter().for_each(|record| writer.add(record).unwrap());
        writer.finish().unwrap()
    }

    fn read(file: &[u8]) -> Vec<io::Result<MessageRecord>> {
        OriginReader::new(file, Transport::Zstd).collect()
    }

    #[test]
    fn records_round_trip_and_failed_messages_are_left_out() {
        let sent = [record(3400, 156, 750), record(u32::MAX, 0, i32::MAX as u32)];
        let failed = MessageRecord { verdict: Verdict::Corrupt, ..sent[0] };
        let file = file(&[sent[0], failed, sent[1]]);
        assert_eq!(file[..18], *b"\0\0\0\0\0\0\x0d\x48\0\0\0\x9c\0\0\x02\xee\r\n");
        assert_eq!(read(&file).into_iter().map(Result::unwrap).collect::<Vec<_>>(), sent);
    }

    #[test]
    fn truncated_file_and_other_separator_are_errors() {
        let file = file(&[record(1, 2, 3), record(4, 5, 6)]);
        for len in 0..file.len() {
            let read = read(&file[..len]);
            assert_eq!(read.iter().flatten().count(), len / ORIGIN_RECORD);
            let error = read.last().and_then(|last| last.as_ref().err()).map(io::Error::kind);
            assert_eq!(error, (len % ORIGIN_RECORD != 0).then_some(io::ErrorKind::UnexpectedEof), "{len}");
        }
        for at in [18, 26, 30, 34, 35] {
            let mut damaged = file.clone();
            damaged[at] ^= 0x80;
            assert!(read(&damaged)[1].is_err(), "{at}");
        }
    }
}
