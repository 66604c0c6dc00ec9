//! The record of one message, in 32 bytes. `docs/gateway/stats.md` describes the format.

use linerate_core::{Error, Kind};

use super::log::LogEntry;
use crate::transport::Transport;

/// Size in bytes of a record, and of a log's header.
pub(super) const RECORD: usize = 32;
/// Number of bytes that the checksum covers: all bytes before the checksum itself.
pub(super) const CHECKED: usize = RECORD - 4;

const MESSAGE: u8 = 0;
const DROPPED: u8 = 1;
/// Value of the fourth byte of a record, in logs of version 2, if decoding the message was not
/// timed.
const UNTIMED: u8 = 1;

/// Outcome of decoding a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Verdict {
    /// The message was decoded.
    #[default]
    Decoded = 0,
    /// The message is damaged, or failed the checks of the session.
    Corrupt = 1,
    /// The message is cut off.
    Truncated = 2,
    /// The message is above a limit, or memory ran out.
    Limit = 3,
    /// The message needs something unsupported, such as a dictionary.
    Unsupported = 4,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Verdict; 5] =
        [Verdict::Decoded, Verdict::Corrupt, Verdict::Truncated, Verdict::Limit, Verdict::Unsupported];

    /// The name of the verdict, in lower case.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Verdict::Decoded => "decoded",
            Verdict::Corrupt => "corrupt",
            Verdict::Truncated => "truncated",
            Verdict::Limit => "limit",
            Verdict::Unsupported => "unsupported",
        }
    }
}

impl From<Kind> for Verdict {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Truncated => Verdict::Truncated,
            Kind::Limit => Verdict::Limit,
            Kind::Unsupported => Verdict::Unsupported,
            _ => Verdict::Corrupt,
        }
    }
}

/// The record of a message. A number that does not fit becomes the largest that does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageRecord {
    /// Time at which the last part of the message arrived, in nanoseconds since 1970; 0 if unknown.
    /// Accurate to about 50 milliseconds if decoding was not timed. With
    /// [`Clock::ThreadCpu`](super::Clock::ThreadCpu), the time at which decoding ended.
    pub time: i64,
    /// Number of the connection, unique within one recorder.
    pub connection: u32,
    /// Transport of the connection.
    pub transport: Transport,
    /// Outcome of decoding the message.
    pub verdict: Verdict,
    /// Number of compressed bytes of all parts of the message.
    pub compressed: u32,
    /// Size of the payload in bytes; 0 unless the message was decoded.
    pub payload: u32,
    /// Nanoseconds spent decoding all parts of the message, if it was timed.
    pub decode_ns: Option<u32>,
}

impl MessageRecord {
    pub(super) fn to_bytes(self) -> [u8; RECORD] {
        let untimed = if self.decode_ns.is_none() { UNTIMED } else { 0 };
        let mut bytes = [0; RECORD];
        bytes[..4].copy_from_slice(&[MESSAGE, self.transport as u8, self.verdict as u8, untimed]);
        bytes[4..8].copy_from_slice(&self.connection.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.time.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.compressed.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.payload.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.decode_ns.unwrap_or(0).to_le_bytes());
        seal(bytes)
    }
}

/// The record that tells that `records` records were lost.
pub(super) fn dropped(time: i64, records: u64) -> [u8; RECORD] {
    let mut bytes = [0; RECORD];
    bytes[0] = DROPPED;
    bytes[8..16].copy_from_slice(&time.to_le_bytes());
    bytes[16..24].copy_from_slice(&records.to_le_bytes());
    seal(bytes)
}

/// Writes the checksum to the end of a record or header.
pub(super) fn seal(mut bytes: [u8; RECORD]) -> [u8; RECORD] {
    let sum = crc32fast::hash(&bytes[..CHECKED]);
    bytes[CHECKED..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// Whether a record or header has the right checksum.
pub(super) fn is_sealed(bytes: &[u8; RECORD]) -> bool {
    seal(*bytes) == *bytes
}

/// Reads a record. `version` is the version of its log, and `offset` is where the record begins in
/// the log, for errors.
pub(super) fn parse(bytes: &[u8; RECORD], version: u8, offset: u64) -> Result<LogEntry, Error> {
    if !is_sealed(bytes) {
        return Err(Error::new(Kind::Corrupt, offset, "a record of a statistics log fails its checksum"));
    }
    let unknown = Error::new(Kind::Unsupported, offset, "a statistics log has an unknown record");
    let time = i64::from_le_bytes(array(bytes, 8));
    match bytes[..4] {
        [MESSAGE, transport, verdict, untimed @ 0..=UNTIMED] if version > 1 || untimed == 0 => {
            let transport = Transport::ALL.get(usize::from(transport)).copied().ok_or(unknown)?;
            let verdict = Verdict::ALL.get(usize::from(verdict)).copied().ok_or(unknown)?;
            Ok(LogEntry::Message(MessageRecord {
                time,
                connection: u32::from_le_bytes(array(bytes, 4)),
                transport,
                verdict,
                compressed: u32::from_le_bytes(array(bytes, 16)),
                payload: u32::from_le_bytes(array(bytes, 20)),
                decode_ns: (untimed == 0).then(|| u32::from_le_bytes(array(bytes, 24))),
            }))
        }
        [DROPPED, 0, 0, 0] => Ok(LogEntry::Dropped { time, records: u64::from_le_bytes(array(bytes, 16)) }),
        _ => Err(unknown),
    }
}

/// Returns the `N` bytes that begin at `at`.
pub(super) fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|i| bytes[at + i])
}
