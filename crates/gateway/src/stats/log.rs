//! Statistics logs: a header and records of 32 bytes each. `docs/gateway/stats.md` describes the
//! format.

use std::io::{self, Read, Write};

use linerate_core::{Error, Kind};

use super::clock::Clock;
use super::record::{MessageRecord, RECORD, array, dropped, is_sealed, parse, seal};
use crate::record::fill;

/// Magic number of a log.
pub(crate) const MAGIC: [u8; 4] = *b"LGST";
/// The version that is written. In version 1 every message was timed.
const VERSION: u8 = 2;

/// An entry of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogEntry {
    /// A message.
    Message(MessageRecord),
    /// Records were lost, because messages arrived faster than records could be buffered.
    Dropped {
        /// Time at which the loss was noticed, in nanoseconds since 1970.
        time: i64,
        /// Number of lost records.
        records: u64,
    },
}

/// Writes a log to any writer, which should be buffered.
pub struct LogWriter<W> {
    out: W,
}

impl<W: Write> LogWriter<W> {
    /// Writes the header: the clock of decoding times, the time of creation in nanoseconds since
    /// 1970, and the number of the file in its sequence.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn new(mut out: W, clock: Clock, created: i64, number: u32) -> io::Result<Self> {
        let mut header = [0; RECORD];
        header[..4].copy_from_slice(&MAGIC);
        header[4..7].copy_from_slice(&[VERSION, RECORD as u8, u8::from(clock == Clock::ThreadCpu)]);
        header[8..16].copy_from_slice(&created.to_le_bytes());
        header[16..20].copy_from_slice(&number.to_le_bytes());
        out.write_all(&seal(header))?;
        Ok(LogWriter { out })
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn add(&mut self, entry: &LogEntry) -> io::Result<()> {
        let bytes = match *entry {
            LogEntry::Message(record) => record.to_bytes(),
            LogEntry::Dropped { time, records } => dropped(time, records),
        };
        self.out.write_all(&bytes)
    }

    /// Flushes the writer.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
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

/// Iterator over the entries of a log. It ends after an error.
pub struct LogReader<R> {
    source: R,
    version: u8,
    clock: Clock,
    created: i64,
    number: u32,
    /// Offset of the next record in the log.
    at: u64,
    done: bool,
}

impl<R: Read> LogReader<R> {
    /// Reads the header. The source should be buffered.
    ///
    /// # Errors
    /// Returns the errors of `source`, [`Kind::Corrupt`] for a file that is not a log or has a
    /// damaged header, [`Kind::Truncated`] for one that ends within the header, and
    /// [`Kind::Unsupported`] for another version or clock, all as [`io::Error`].
    pub fn open(mut source: R) -> io::Result<Self> {
        let mut header = [0; RECORD];
        let len = fill(&mut source, &mut header)?;
        if !MAGIC.starts_with(&header[..len.min(MAGIC.len())]) {
            return Err(Error::new(Kind::Corrupt, 0, "this is not a statistics log").into());
        }
        if len < RECORD {
            return Err(Error::new(Kind::Truncated, len as u64, "a statistics log is cut off").into());
        }
        if !is_sealed(&header) {
            return Err(
                Error::new(Kind::Corrupt, 0, "the header of a statistics log fails its checksum").into()
            );
        }
        let version = header[4];
        let clock = match header[4..8] {
            [1..=VERSION, 32, 0, 0] => Clock::Monotonic,
            [1..=VERSION, 32, 1, 0] => Clock::ThreadCpu,
            _ => {
                return Err(
                    Error::new(Kind::Unsupported, 4, "a statistics log has an unknown version").into()
                );
            }
        };
        let (created, number) =
            (i64::from_le_bytes(array(&header, 8)), u32::from_le_bytes(array(&header, 16)));
        Ok(LogReader { source, version, clock, created, number, at: RECORD as u64, done: false })
    }

    /// The clock of decoding times.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Time at which the log was created, in nanoseconds since 1970.
    pub fn created(&self) -> i64 {
        self.created
    }

    /// The number of the file in its sequence.
    pub fn number(&self) -> u32 {
        self.number
    }

    fn entry(&mut self) -> io::Result<Option<LogEntry>> {
        let mut bytes = [0; RECORD];
        match fill(&mut self.source, &mut bytes)? {
            0 => return Ok(None),
            RECORD => {}
            n => {
                return Err(
                    Error::new(Kind::Truncated, self.at + n as u64, "a statistics log is cut off").into()
                );
            }
        }
        let entry = parse(&bytes, self.version, self.at)?;
        self.at += RECORD as u64;
        Ok(Some(entry))
    }
}

/// The items may be errors of the source, [`Kind::Corrupt`] for a record that fails its checksum,
/// [`Kind::Unsupported`] for one of an unknown kind, transport or verdict, and [`Kind::Truncated`]
/// for a log that ends within one, all as [`io::Error`].
impl<R: Read> Iterator for LogReader<R> {
    type Item = io::Result<LogEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let entry = self.entry().transpose();
        self.done = !matches!(entry, Some(Ok(_)));
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Verdict;
    use crate::transport::Transport;

    fn entries() -> Vec<LogEntry> {
        let record = MessageRecord {
            time: 1_700_000_000_123_456_789,
            connection: 7,
            transport: Transport::Zstd,
            verdict: Verdict::Limit,
            compressed: 156,
            payload: u32::MAX,
            decode_ns: Some(3400),
        };
        vec![
            LogEntry::Message(record),
            LogEntry::Dropped { time: -1, records: u64::MAX },
            LogEntry::Message(MessageRecord {
                transport: Transport::Zlib,
                verdict: Verdict::Decoded,
                decode_ns: None,
                ..record
            }),
        ]
    }

    fn file() -> Vec<u8> {
        let mut log = LogWriter::new(Vec::new(), Clock::ThreadCpu, -5, 3).unwrap();
        entries().iter().for_each(|entry| log.add(entry).unwrap());
        log.finish().unwrap()
    }

    fn kind(error: &io::Error) -> Kind {
        error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()).expect("a typed error").kind
    }

    /// The number of entries before the first error, and the kind of that error.
    fn read(file: &[u8]) -> (usize, Option<Kind>) {
        let log = match LogReader::open(file) {
            Err(error) => return (0, Some(kind(&error))),
            Ok(log) => log,
        };
        let mut count = 0;
        for (entry, expected) in log.zip(entries()) {
            match entry {
                Err(error) => return (count, Some(kind(&error))),
                Ok(entry) => assert_eq!(entry, expected),
            }
            count += 1;
        }
        (count, None)
    }

    #[test]
    fn entries_round_trip() {
        let file = file();
        assert_eq!(file.len(), RECORD * 4);
        let log = LogReader::open(&file[..]).unwrap();
        assert_eq!((log.clock(), log.created(), log.number()), (Clock::ThreadCpu, -5, 3));
        assert_eq!(log.map(Result::unwrap).collect::<Vec<_>>(), entries());
    }

    #[test]
    fn log_of_version_1_is_read_and_times_all_its_messages() {
        let mut file = file();
        file[4] = 1;
        let sealed = seal(array(&file, 0));
        file[..RECORD].copy_from_slice(&sealed);
        let read: Vec<_> = LogReader::open(&file[..]).unwrap().collect();
        assert_eq!(read.len(), 3);
        assert!(read[..2].iter().zip(entries()).all(|(read, entry)| read.as_ref().unwrap() == &entry));
        assert_eq!(kind(read[2].as_ref().unwrap_err()), Kind::Unsupported);
    }

    #[test]
    fn truncated_log_gives_its_whole_records_and_an_error() {
        let file = file();
        for len in 0..file.len() {
            let whole = len >= RECORD && len % RECORD == 0;
            let expected = if whole { None } else { Some(Kind::Truncated) };
            assert_eq!(read(&file[..len]), ((len / RECORD).saturating_sub(1), expected), "{len}");
        }
    }

    #[test]
    fn every_flipped_bit_is_an_error_of_its_record() {
        let file = file();
        for bit in 0..file.len() * 8 {
            let mut damaged = file.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let before = (bit / 8 / RECORD).saturating_sub(1);
            assert_eq!(read(&damaged), (before, Some(Kind::Corrupt)), "{bit}");
        }
    }

    #[test]
    fn unknown_versions_and_records_are_unsupported() {
        let file = file();
        for (at, value) in
            [(4, 3), (4, 0), (5, 64), (6, 2), (RECORD, 2), (RECORD + 1, 6), (RECORD + 2, 5), (RECORD + 3, 2)]
        {
            let mut newer = file.clone();
            newer[at] = value;
            let begin = at / RECORD * RECORD;
            let sealed = seal(array(&newer, begin));
            newer[begin..begin + RECORD].copy_from_slice(&sealed);
            assert_eq!(read(&newer), (0, Some(Kind::Unsupported)), "{at}");
        }
    }
}
