//! [`GzipHeader`]: the fields of a gzip header (RFC 1952, section 2.3), in memory of the caller.

use linerate_core::{Error, Kind, Result};

use crate::container::{Container, Part, flag};
use crate::options::{Format, Options};

/// The fields of a gzip header. Extra field, name and comment are kept in memory of the caller, and
/// cut if it is too small.
///
/// ```
/// use linerate_inflate::GzipHeader;
///
/// let member = b"\x1f\x8b\x08\x08\x80\x11\x64\x4a\0\x03notes.txt\0\
///     \x4b\x4c\x4a\x06\0\xc2\x41\x24\x35\x03\0\0\0";
/// let mut memory = [0; 256];
/// let mut header = GzipHeader::in_memory(&mut memory);
/// assert_eq!(header.read(member)?, 20);
/// assert_eq!((header.name(), header.comment()), (Some(&b"notes.txt"[..]), None));
/// assert_eq!(header.modified(), 1_248_072_064);
/// # Ok::<(), linerate_inflate::Error>(())
/// ```
pub struct GzipHeader<'m> {
    /// The extra field, the name, then the comment.
    memory: &'m mut [u8],
    /// The bytes after the magic number: method, flags, time, extra flags, operating system.
    fixed: [u8; 8],
    /// Number of bytes of `fixed` read so far.
    have: u8,
    /// Number of bytes kept of extra field, name and comment.
    lens: [usize; 3],
    is_cut: bool,
}

impl<'m> GzipHeader<'m> {
    /// Creates an empty header. `memory` holds extra field, name and comment together. An extra
    /// field has at most 65,535 bytes; the format sets no limit for the other two.
    pub const fn in_memory(memory: &'m mut [u8]) -> Self {
        GzipHeader { memory, fixed: [0; 8], have: 0, lens: [0; 3], is_cut: false }
    }

    /// Reads the header at the beginning of a gzip member and verifies its checksum. Returns the
    /// length of the header in bytes. For a stream in pieces see
    /// [`StreamDecoder::read_header`](crate::StreamDecoder::read_header).
    ///
    /// # Errors
    /// Returns [`Kind::Corrupt`] if the header is damaged, and [`Kind::Truncated`] if `src` ends
    /// before the header does.
    pub fn read(&mut self, src: &[u8]) -> Result<usize> {
        let mut container = Container::new(&Options::new(Format::Gzip));
        let len = container.read_parts(src, |part, bytes| self.push(part, bytes))?;
        if container.part == Part::Data {
            return Ok(len);
        }
        Err(Error::new(Kind::Truncated, src.len() as u64, "the input ends before the gzip header"))
    }

    /// Returns the modification time in seconds since 1970; 0 if it is not stated.
    pub fn modified(&self) -> u32 {
        let [_, _, a, b, c, d, ..] = self.fixed;
        u32::from_le_bytes([a, b, c, d])
    }

    /// Returns whether the header says that the content is text (FTEXT).
    pub fn is_text(&self) -> bool {
        self.has(flag::TEXT)
    }

    /// Returns the extra flags (XFL): 2 for the slowest and 4 for the fastest compression, 0 for
    /// neither.
    pub fn extra_flags(&self) -> u8 {
        self.fixed[6]
    }

    /// Returns the operating system (OS): 0 for FAT, 3 for Unix, 11 for NTFS, 255 for unknown.
    pub fn system(&self) -> u8 {
        self.fixed[7]
    }

    /// Returns the extra field: subfields with identifiers and lengths.
    pub fn extra(&self) -> Option<&[u8]> {
        self.field(flag::EXTRA, 0)
    }

    /// Returns the name of the file without its final zero. The standard says ISO 8859-1.
    pub fn name(&self) -> Option<&[u8]> {
        self.field(flag::NAME, 1)
    }

    /// Returns the comment without its final zero. The standard says ISO 8859-1.
    pub fn comment(&self) -> Option<&[u8]> {
        self.field(flag::COMMENT, 2)
    }

    /// Returns whether extra field, name or comment were cut because the memory was too small.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    fn has(&self, flag: u8) -> bool {
        self.fixed[1] & flag != 0
    }

    fn field(&self, flag: u8, index: usize) -> Option<&[u8]> {
        let from = self.lens[..index].iter().sum();
        self.has(flag).then(|| &self.memory[from..][..self.lens[index]])
    }

    /// Takes the next bytes of a part of the header.
    pub(crate) fn push(&mut self, part: Part, bytes: &[u8]) {
        let index = match part {
            Part::GzipId => {
                (self.fixed, self.have, self.lens, self.is_cut) = ([0; 8], 0, [0; 3], false);
                return;
            }
            Part::GzipMethod | Part::GzipTime => {
                let have = usize::from(self.have);
                self.fixed[have..][..bytes.len()].copy_from_slice(bytes);
                self.have += bytes.len() as u8;
                return;
            }
            Part::Extra => 0,
            Part::Name => 1,
            Part::Comment => 2,
            _ => return,
        };
        let bytes = match bytes {
            [text @ .., 0] if index > 0 => text,
            _ => bytes,
        };
        let used: usize = self.lens.iter().sum();
        let len = bytes.len().min(self.memory.len() - used);
        self.memory[used..][..len].copy_from_slice(&bytes[..len]);
        self.lens[index] += len;
        self.is_cut |= len < bytes.len();
    }
}
