//! `struct slz_stream`: the layout that libslz documents, 40 bytes on 64-bit systems and 28 on
//! 32-bit systems.

use std::ffi::c_void;
use std::sync::OnceLock;

use linerate_deflate::{Format, Level, Phase, Stream, StreamState, checksum};

/// Environment variable with the engine's level, 1 to 9, for streams of libslz's level 1.
const VARIABLE: &str = "LINERATE_SLZ_LEVEL";

/// `struct slz_stream` of `slz.h`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Descriptor {
    queue: usize,
    qbits: u32,
    _outbuf: *mut c_void,
    state: u16,
    /// Bit 0: whether the stream compresses; callers change it between calls. Bits 1 and 2: the
    /// format.
    flags: u8,
    /// The engine's level if bit 0 is set.
    level: u8,
    crc32: u32,
    ilen: u32,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Descriptor>() == 40);
#[cfg(target_pointer_width = "32")]
const _: () = assert!(size_of::<Descriptor>() == 28);

const COMPRESS: u8 = 1;

impl Descriptor {
    /// Creates a stream. Level 0 or below stores, level 1 is the level that [`usual_level`]
    /// returns, and levels 2 to 9 are the engine's own. Levels above 9 count as 9.
    pub(crate) fn new(format: Format, level: i32) -> Descriptor {
        let code = match format {
            Format::Gzip => 0,
            Format::Zlib => 1,
            Format::Deflate => 2,
        };
        let compress = if level > 0 { COMPRESS } else { 0 };
        let raw = format == Format::Deflate;
        Descriptor {
            queue: 0,
            qbits: 0,
            _outbuf: std::ptr::null_mut(),
            state: if raw { state::EOB } else { state::INIT },
            flags: compress | code << 1,
            level: if level <= 1 { usual_level() } else { level.min(9) as u8 },
            crc32: if format == Format::Zlib { checksum::ADLER32_START } else { checksum::CRC32_START },
            ilen: 0,
        }
    }

    /// Converts to a stream. Returns `None` for fields that no function of this library leaves,
    /// such as those of memory that was never initialised.
    pub(crate) fn stream(&self, format: Format) -> Option<Stream> {
        let phase = match self.state {
            state::INIT => Phase::Header,
            state::EOB => Phase::Open,
            state::DONE => Phase::Last,
            state::END => Phase::Done,
            _ => return None,
        };
        let level = match self.flags & COMPRESS {
            0 => Level::Stored,
            _ => Level::from_number(self.level).ok().filter(|level| *level != Level::Stored)?,
        };
        let state = StreamState {
            checksum: self.crc32,
            total_in: self.ilen,
            pending: u8::try_from(self.queue).ok()?,
            pending_len: u8::try_from(self.qbits).ok()?,
            phase,
        };
        Stream::from_state(format, level, state).ok()
    }

    /// Stores the state that a call has left in `stream`.
    pub(crate) fn keep(&mut self, stream: &Stream) {
        let StreamState { checksum, total_in, pending, pending_len, phase } = stream.state();
        self.state = match phase {
            Phase::Header => state::INIT,
            Phase::Open => state::EOB,
            Phase::Last => state::DONE,
            // libslz ends raw streams in DONE, since they have no trailer.
            Phase::Done if stream.format() == Format::Deflate => state::DONE,
            Phase::Done => state::END,
        };
        self.queue = pending.into();
        self.qbits = pending_len.into();
        self.crc32 = checksum;
        self.ilen = total_in;
    }

    /// Size in bytes of the header that the next call writes first, or 0 if it is written already.
    pub(crate) fn header_len(&self, format: Format) -> usize {
        if self.state == state::INIT { format.header().len() } else { 0 }
    }

    /// Whether bits are pending for the next call.
    pub(crate) fn has_pending_bits(&self) -> bool {
        self.qbits > 0
    }

    /// Whether the final block has been written.
    pub(crate) fn is_last(&self) -> bool {
        matches!(self.state, state::DONE | state::END)
    }
}

/// The values of `enum slz_state`, without those for a position inside a block, FIXED and LAST:
/// this encoder never stops there.
mod state {
    pub(super) const INIT: u16 = 0;
    pub(super) const EOB: u16 = 1;
    pub(super) const DONE: u16 = 4;
    pub(super) const END: u16 = 5;
}

/// Returns the engine's level for level 1 of libslz: 1, or the level that the environment variable
/// named at the first call.
fn usual_level() -> u8 {
    static LEVEL: OnceLock<u8> = OnceLock::new();
    *LEVEL.get_or_init(|| {
        let named = std::env::var(VARIABLE).ok().and_then(|level| level.parse().ok());
        named.filter(|level| (1..=9).contains(level)).unwrap_or(1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_libslz_documents_them() {
        assert_eq!(std::mem::offset_of!(Descriptor, queue), 0);
        assert_eq!(std::mem::offset_of!(Descriptor, qbits), size_of::<usize>());
        #[cfg(target_pointer_width = "64")]
        {
            assert_eq!(std::mem::offset_of!(Descriptor, _outbuf), 16);
            assert_eq!(std::mem::offset_of!(Descriptor, state), 24);
            assert_eq!(std::mem::offset_of!(Descriptor, flags), 26);
            assert_eq!(std::mem::offset_of!(Descriptor, crc32), 28);
            assert_eq!(std::mem::offset_of!(Descriptor, ilen), 32);
        }
    }

    #[test]
    fn a_descriptor_that_no_call_has_left_stands_for_no_stream() {
        let mut bad = Descriptor::new(Format::Gzip, 1);
        bad.state = 9;
        assert!(bad.stream(Format::Gzip).is_none());
        bad = Descriptor { qbits: 8, ..Descriptor::new(Format::Gzip, 1) };
        assert!(bad.stream(Format::Gzip).is_none());
        bad = Descriptor { queue: 4, qbits: 2, ..Descriptor::new(Format::Gzip, 1) };
        assert!(bad.stream(Format::Gzip).is_none());
        bad = Descriptor { level: 0, ..Descriptor::new(Format::Gzip, 1) };
        assert!(bad.stream(Format::Gzip).is_none());
        assert!(Descriptor { level: 0, ..Descriptor::new(Format::Gzip, 0) }.stream(Format::Gzip).is_some());
    }
}
