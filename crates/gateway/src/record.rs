//! Files of recorded connections.
//!
//! The header is `LGWR`, the version 1, the transport and two zero bytes. Then come the entries;
//! numbers are little-endian:
//!
//! | bytes | |
//! |---|---|
//! | 8 | time of receipt: nanoseconds since 1970, signed |
//! | 4 | number of compressed bytes |
//! | 4 | size of the payload; 2^32 - 1 if unknown, or if these bytes do not complete a message |
//! | 2 | type: 0 a message, 1 a new connection, which has no bytes |
//! | n | compressed bytes |
//!
//! Transports: 0 zlib and 1 zstd streams, 2 zstd frames, 3 zlib, 4 gzip, 5 raw deflate.
//!
//! Recordings contain private messages. They are made only on request.

use std::io::{self, Read, Write};

use linerate_core::{Error, Kind};

use crate::transport::Transport;

const MAGIC: [u8; 4] = *b"LGWR";
const VERSION: u8 = 1;
const HEADER: usize = 8;
const HEAD: usize = 18;
const UNKNOWN: u32 = u32::MAX;
/// Largest message that is read from or written to a file, in bytes.
pub(crate) const MAX_MESSAGE: u32 = 1 << 30;
/// Most bytes that are allocated for a message before it is read. Nearly every message fits.
const ALLOCATED: u32 = 64 << 10;

/// An entry of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The connection ended; the following entries belong to a new one.
    Connection {
        /// Time of the change, in nanoseconds since 1970.
        time: i64,
    },
    /// The content of one websocket message.
    Frame {
        /// Time of receipt, in nanoseconds since 1970.
        time: i64,
        /// Size of the payload in bytes, if it is known and these bytes complete a message.
        payload: Option<u32>,
        /// Compressed bytes.
        wire: Vec<u8>,
    },
}

/// Writes a recording to any writer, which should be buffered.
pub struct Recorder<W> {
    out: W,
}

impl<W: Write> Recorder<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn new(mut out: W, transport: Transport) -> io::Result<Self> {
        let [a, b, c, d] = MAGIC;
        out.write_all(&[a, b, c, d, VERSION, transport as u8, 0, 0])?;
        Ok(Recorder { out })
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// Returns the errors of `out`, and [`io::ErrorKind::InvalidInput`] for a frame of more than
    /// 1 GiB.
    pub fn add(&mut self, entry: &Entry) -> io::Result<()> {
        match entry {
            Entry::Connection { time } => self.entry(*time, UNKNOWN, &[], 1),
            Entry::Frame { time, payload, wire } => self.frame(*time, *payload, wire),
        }
    }

    /// Adds the content of a websocket message, as [`add`](Self::add) does for an
    /// [`Entry::Frame`].
    ///
    /// # Errors
    /// Returns the errors of [`add`](Self::add).
    pub fn frame(&mut self, time: i64, payload: Option<u32>, wire: &[u8]) -> io::Result<()> {
        self.entry(time, payload.unwrap_or(UNKNOWN), wire, 0)
    }

    fn entry(&mut self, time: i64, payload: u32, wire: &[u8], kind: u16) -> io::Result<()> {
        let len = u32::try_from(wire.len()).ok().filter(|&len| len <= MAX_MESSAGE);
        let len = len.ok_or(io::Error::new(io::ErrorKind::InvalidInput, "a message has more than 1 GiB"))?;
        self.out.write_all(&time.to_le_bytes())?;
        self.out.write_all(&len.to_le_bytes())?;
        self.out.write_all(&payload.to_le_bytes())?;
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(wire)
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

/// Iterator over the entries of a recording. It ends after an error.
pub struct Recording<R> {
    source: R,
    transport: Transport,
    /// Offset of the next entry in the file.
    at: u64,
    done: bool,
}

impl<R: Read> Recording<R> {
    /// Reads the header. The source should be buffered.
    ///
    /// # Errors
    /// Returns the errors of `source`, [`Kind::Truncated`] for a file of less than 8 bytes,
    /// [`Kind::Corrupt`] for one that is not a recording, and [`Kind::Unsupported`] for an unknown
    /// version or transport, all as [`io::Error`].
    pub fn open(mut source: R) -> io::Result<Self> {
        let mut header = [0; HEADER];
        if fill(&mut source, &mut header)? < HEADER {
            return Err(Error::new(Kind::Truncated, 0, "a recording is cut off").into());
        }
        if header[..4] != MAGIC {
            return Err(Error::new(Kind::Corrupt, 0, "this is not a recording").into());
        }
        let [VERSION, transport, 0, 0] = header[4..] else {
            return Err(Error::new(Kind::Unsupported, 4, "a recording has an unknown version").into());
        };
        let Some(&transport) = Transport::ALL.get(usize::from(transport)) else {
            return Err(Error::new(Kind::Unsupported, 5, "a recording has an unknown transport").into());
        };
        Ok(Recording { source, transport, at: HEADER as u64, done: false })
    }

    /// Transport of the recorded connections.
    pub fn transport(&self) -> Transport {
        self.transport
    }

    fn entry(&mut self) -> io::Result<Option<Entry>> {
        let truncated = |at| Error::new(Kind::Truncated, at, "a recording is cut off");
        let mut head = [0; HEAD];
        match fill(&mut self.source, &mut head)? {
            0 => return Ok(None),
            HEAD => {}
            _ => return Err(truncated(self.at).into()),
        }
        let (time, rest) = head.split_first_chunk::<8>().expect("eighteen bytes");
        let (len, rest) = rest.split_first_chunk::<4>().expect("ten bytes");
        let (payload, kind) = rest.split_first_chunk::<4>().expect("six bytes");
        let (time, len) = (i64::from_le_bytes(*time), u32::from_le_bytes(*len));
        let payload = Some(u32::from_le_bytes(*payload)).filter(|&len| len != UNKNOWN);
        if len > MAX_MESSAGE {
            return Err(Error::new(Kind::Limit, self.at, "a recorded message has more than 1 GiB").into());
        }
        let entry = match kind {
            [0, 0] => {
                let wire = read_up_to(&mut self.source, len)?;
                if wire.len() < len as usize {
                    return Err(truncated(self.at).into());
                }
                Entry::Frame { time, payload, wire }
            }
            [1, 0] if len == 0 => Entry::Connection { time },
            _ => {
                return Err(Error::new(
                    Kind::Corrupt,
                    self.at,
                    "an entry of a recording has an unknown type",
                )
                .into());
            }
        };
        self.at += HEAD as u64 + u64::from(len);
        Ok(Some(entry))
    }
}

/// The items may be errors of the source, [`Kind::Truncated`] for a file that ends within an entry,
/// [`Kind::Limit`] for a message of more than 1 GiB, and [`Kind::Corrupt`] for an entry of an
/// unknown type or a new connection with bytes, all as [`io::Error`].
impl<R: Read> Iterator for Recording<R> {
    type Item = io::Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let entry = self.entry().transpose();
        self.done = !matches!(entry, Some(Ok(_)));
        entry
    }
}

/// Reads `len` bytes, or fewer at the end of the source. Beyond the first 64 KiB, memory grows with
/// the bytes read and not with `len`, which may be wrong in a damaged file.
pub(crate) fn read_up_to(source: &mut impl Read, len: u32) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(len.min(ALLOCATED) as usize);
    source.take(len.into()).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads until `into` is full or the source ends. Returns the number of bytes read.
pub(crate) fn fill(source: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    let mut at = 0;
    while at < into.len() {
        match source.read(&mut into[at..]) {
            Ok(0) => break,
            Ok(n) => at += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Vec<Entry>, Vec<u8>) {
        let entries = vec![
            Entry::Frame { time: -5, payload: Some(70_000), wire: vec![1; 300] },
            Entry::Connection { time: 1 << 60 },
            Entry::Frame { time: 0, payload: None, wire: Vec::new() },
        ];
        let mut recorder = Recorder::new(Vec::new(), Transport::Zstd).unwrap();
        entries.iter().for_each(|entry| recorder.add(entry).unwrap());
        (entries, recorder.finish().unwrap())
    }

    #[test]
    fn entries_round_trip() {
        let (entries, file) = sample();
        let recording = Recording::open(&file[..]).unwrap();
        assert_eq!(recording.transport(), Transport::Zstd);
        assert_eq!(recording.collect::<io::Result<Vec<_>>>().unwrap(), entries);
    }

    #[test]
    fn truncated_recording_gives_its_whole_entries_and_an_error() {
        let (entries, file) = sample();
        let ends = [8, 8 + 18 + 300, 8 + 2 * 18 + 300, file.len()];
        for len in 0..file.len() {
            let Ok(recording) = Recording::open(&file[..len]) else {
                assert!(len < 8);
                continue;
            };
            let read: Vec<_> = recording.collect();
            let whole = ends.iter().filter(|&&end| end > 8 && end <= len).count();
            assert_eq!(
                read.iter().filter_map(|e| e.as_ref().ok()).cloned().collect::<Vec<_>>(),
                entries[..whole]
            );
            assert_eq!(read.last().is_some_and(Result::is_err), !ends.contains(&len), "{len}");
        }
    }

    #[test]
    fn damaged_header_length_and_type_are_errors() {
        let (_, file) = sample();
        for (at, byte) in [(0, b'X'), (4, 2), (5, 9), (6, 1)] {
            let mut bad = file.clone();
            bad[at] = byte;
            assert!(Recording::open(&bad[..]).is_err());
        }
        let mut long = file.clone();
        long[8 + 8..8 + 12].fill(0xff);
        assert!(Recording::open(&long[..]).unwrap().next().unwrap().is_err());
        let mut odd = file;
        odd[8 + 16] = 7;
        assert!(Recording::open(&odd[..]).unwrap().next().unwrap().is_err());
    }
}
