//! Headers and trailers of zlib and gzip (RFC 1950, section 2.2; RFC 1952, section 2.3), resumable
//! at every byte.

use linerate_core::{Error, Kind, Result};

use crate::checksum::{ADLER32_START, CRC32_START, adler32, crc32};
#[cfg(feature = "std")]
use crate::checksum::{adler32_combine, crc32_combine};
use crate::options::{Format, Options};
use crate::window::MAX_WINDOW_BITS;

/// The part of a stream or gzip member that comes next in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The first byte decides between zlib and gzip.
    Detect,
    ZlibHeader,
    DictionaryId,
    /// The caller must set the dictionary.
    Dictionary,
    GzipId,
    GzipMethod,
    GzipTime,
    ExtraLen,
    Extra,
    Name,
    Comment,
    HeaderCrc,
    Data,
    Adler,
    Crc,
    Len,
    End,
}

/// Flags of a gzip header.
pub(crate) mod flag {
    pub(crate) const TEXT: u8 = 1;
    pub(super) const HEADER_CRC: u8 = 2;
    pub(crate) const EXTRA: u8 = 4;
    pub(crate) const NAME: u8 = 8;
    pub(crate) const COMMENT: u8 = 16;
    pub(super) const RESERVED: u8 = 0xe0;
}

/// State of the header and trailer of one stream or member.
pub(crate) struct Container {
    /// The current field so far, lowest byte first. After a zlib header that asks for a dictionary,
    /// the dictionary's Adler-32.
    value: u32,
    /// Number of bytes of the field read so far.
    have: u8,
    pub(crate) part: Part,
    flags: u8,
    window_bits: u8,
    verify: bool,
    is_gzip: bool,
    /// Number of bytes left of the extra field.
    left: u16,
    /// Checksum of the header, later of the content.
    check: u32,
    /// Number of bytes of content, modulo 2^32.
    len: u32,
}

impl Container {
    pub(crate) fn new(options: &Options) -> Self {
        let part = match options.format {
            Format::Deflate => Part::Data,
            Format::Zlib => Part::ZlibHeader,
            Format::Gzip => Part::GzipId,
            Format::ZlibOrGzip => Part::Detect,
        };
        let is_gzip = options.format == Format::Gzip;
        let (window_bits, verify) = (options.window_bits, options.verify_checksum);
        let (check, verify) = match options.format {
            Format::Deflate => (0, false),
            Format::Zlib => (ADLER32_START, verify),
            Format::Gzip | Format::ZlibOrGzip => (CRC32_START, verify),
        };
        Container { value: 0, have: 0, part, flags: 0, window_bits, verify, is_gzip, left: 0, check, len: 0 }
    }

    /// Returns the Adler-32 of the dictionary that the zlib header asks for.
    pub(crate) fn dictionary_id(&self) -> u32 {
        self.value
    }

    pub(crate) fn is_gzip(&self) -> bool {
        self.is_gzip
    }

    /// Continues with the data, after the dictionary or after a header that was not read here.
    pub(crate) fn begin_data(&mut self) {
        (self.part, self.value) = (Part::Data, 0);
    }

    /// Turns verification of this member off, because decoding begins in its middle.
    #[cfg(feature = "std")]
    pub(crate) fn stop_verifying(&mut self) {
        self.verify = false;
    }

    /// Counts content and updates its checksum.
    pub(crate) fn update(&mut self, content: &[u8]) {
        self.len = self.len.wrapping_add(content.len() as u32);
        if !self.verify {
            return;
        }
        self.check = if self.is_gzip { crc32(self.check, content) } else { adler32(self.check, content) };
    }

    /// Counts content and updates its checksum, from the length and checksum of the added part.
    #[cfg(feature = "std")]
    pub(crate) fn update_by(&mut self, len: u64, check: u32) {
        self.len = self.len.wrapping_add(len as u32);
        if self.verify {
            let combine = if self.is_gzip { crc32_combine } else { adler32_combine };
            self.check = combine(self.check, check, len);
        }
    }

    /// Returns the checksum function for a part of the content, which returns 0 if no checksum is
    /// verified.
    #[cfg(feature = "std")]
    pub(crate) fn check_of(&self) -> fn(&[u8]) -> u32 {
        match (self.verify, self.is_gzip) {
            (false, _) => |_| 0,
            (true, true) => |content| crc32(CRC32_START, content),
            (true, false) => |content| adler32(ADLER32_START, content),
        }
    }

    /// Returns the checksum and length of the content if the position is directly after the data.
    #[cfg(feature = "std")]
    pub(crate) fn data_end(&self, format: Format) -> Option<(u32, u32)> {
        let is_there = match self.part {
            Part::Crc | Part::Adler => self.have == 0,
            Part::End => format == Format::Deflate,
            _ => false,
        };
        is_there.then_some((self.check, self.len))
    }

    /// Continues after the deflate data, with the trailer if the format has one.
    pub(crate) fn end_data(&mut self, format: Format) {
        self.part = match (format, self.is_gzip) {
            (Format::Deflate, _) => Part::End,
            (_, true) => Part::Crc,
            (_, false) => Part::Adler,
        };
    }

    /// Continues with the trailer of a gzip member whose data was decoded elsewhere.
    #[cfg(feature = "std")]
    pub(crate) fn end_data_of(&mut self, check: u32, len: u32) {
        (self.check, self.len, self.part) = (check, len, Part::Crc);
    }

    /// Reads headers up to the data or the dictionary, and trailers up to the end. Returns the
    /// number of bytes consumed, which is less than all only if the header or trailer has ended.
    ///
    /// # Errors
    /// Returns [`Kind::Corrupt`] for a damaged header or trailer, and [`Kind::Limit`] if a zlib
    /// stream states a window above the limit. Offsets are in `src`.
    pub(crate) fn read(&mut self, src: &[u8]) -> Result<usize> {
        self.read_parts(src, |_, _| {})
    }

    /// Like [`read`](Self::read), and passes each part's bytes to `each`, in several calls if `src`
    /// divides the part.
    pub(crate) fn read_parts(&mut self, src: &[u8], mut each: impl FnMut(Part, &[u8])) -> Result<usize> {
        let mut at = 0;
        while !matches!(self.part, Part::Data | Part::Dictionary | Part::End) {
            let (part, from) = (self.part, at);
            let step = self.step(src, &mut at);
            each(part, &src[from..at]);
            match step {
                Ok(true) => {}
                Ok(false) => break,
                Err((kind, message)) => return Err(Error::new(kind, at as u64, message)),
            }
        }
        Ok(at)
    }

    /// Reads a field, and returns whether it is complete.
    fn step(&mut self, src: &[u8], at: &mut usize) -> core::result::Result<bool, (Kind, &'static str)> {
        let bytes = match self.part {
            Part::Detect | Part::Data | Part::Dictionary | Part::End => 0,
            Part::ZlibHeader | Part::GzipId | Part::GzipMethod | Part::ExtraLen | Part::HeaderCrc => 2,
            Part::DictionaryId | Part::Adler | Part::Crc | Part::Len => 4,
            Part::GzipTime => 6,
            Part::Extra | Part::Name | Part::Comment => return Ok(self.skip(src, at)),
        };
        if self.part == Part::Detect {
            let Some(&first) = src.get(*at) else { return Ok(false) };
            self.is_gzip = first == 0x1f;
            (self.part, self.check) =
                if self.is_gzip { (Part::GzipId, CRC32_START) } else { (Part::ZlibHeader, ADLER32_START) };
            return Ok(true);
        }
        let from = *at;
        while self.have < bytes {
            let Some(&byte) = src.get(*at) else {
                self.checks_header(&src[from..]);
                return Ok(false);
            };
            // The six bytes of time, flags and system do not fit `value`, but only their checksum
            // matters.
            self.value |= u32::from(byte).checked_shl(8 * u32::from(self.have)).unwrap_or(0);
            self.have += 1;
            *at += 1;
        }
        self.checks_header(&src[from..*at]);
        let value = self.value;
        (self.value, self.have) = (0, 0);
        self.field(value)?;
        Ok(true)
    }

    /// Skips bytes of a field of variable length, and returns whether it has ended.
    fn skip(&mut self, src: &[u8], at: &mut usize) -> bool {
        let rest = &src[*at..];
        let (len, ended) = if self.part == Part::Extra {
            let len = rest.len().min(self.left.into());
            self.left -= len as u16;
            (len, self.left == 0)
        } else {
            let end = rest.iter().position(|&byte| byte == 0);
            (end.map_or(rest.len(), |end| end + 1), end.is_some())
        };
        self.checks_header(&rest[..len]);
        *at += len;
        if ended {
            self.next_part(self.part);
        }
        ended
    }

    /// Adds bytes of a gzip header to its checksum.
    fn checks_header(&mut self, bytes: &[u8]) {
        use Part::{Comment, Extra, ExtraLen, GzipId, GzipMethod, GzipTime, Name};
        if matches!(self.part, GzipId | GzipMethod | GzipTime | ExtraLen | Extra | Name | Comment) {
            self.check = crc32(self.check, bytes);
        }
    }

    /// Checks or keeps the value of a field of fixed length, and goes on to the next part.
    fn field(&mut self, value: u32) -> core::result::Result<(), (Kind, &'static str)> {
        let corrupt = |message| Err((Kind::Corrupt, message));
        match self.part {
            Part::ZlibHeader => return self.zlib_header(value as u8, (value >> 8) as u8),
            Part::DictionaryId => {
                self.value = value.swap_bytes();
                self.part = Part::Dictionary;
            }
            Part::GzipId if value != 0x8b1f => return corrupt("the input is not in gzip format"),
            Part::GzipMethod if value & 0xff != 8 => {
                return corrupt("the compression method of a gzip member is unknown");
            }
            Part::GzipMethod if (value >> 8) as u8 & flag::RESERVED != 0 => {
                return corrupt("a gzip header has unknown flags");
            }
            Part::GzipMethod => {
                self.flags = (value >> 8) as u8;
                self.part = Part::GzipTime;
            }
            Part::ExtraLen => {
                self.left = value as u16;
                self.part = Part::Extra;
            }
            Part::HeaderCrc if self.verify && value != self.check & 0xffff => {
                return corrupt("a gzip header does not match its checksum");
            }
            Part::Adler if self.verify && value.swap_bytes() != self.check => {
                return corrupt("the data does not match its Adler-32 checksum");
            }
            Part::Crc if self.verify && value != self.check => {
                return corrupt("the data does not match its CRC-32 checksum");
            }
            Part::Len if self.verify && value != self.len => {
                return corrupt("the data does not have the length stated after it");
            }
            part => self.next_part(part),
        }
        Ok(())
    }

    /// Continues with the part that follows `part` of a header or trailer.
    fn next_part(&mut self, part: Part) {
        let rows = [
            (flag::EXTRA, Part::ExtraLen),
            (flag::NAME, Part::Name),
            (flag::COMMENT, Part::Comment),
            (flag::HEADER_CRC, Part::HeaderCrc),
        ];
        let passed = match part {
            Part::GzipId => {
                self.part = Part::GzipMethod;
                return;
            }
            Part::Crc => {
                self.part = Part::Len;
                return;
            }
            Part::Adler | Part::Len => {
                self.part = Part::End;
                return;
            }
            Part::GzipTime => 0,
            Part::Extra => 1,
            Part::Name => 2,
            Part::Comment => 3,
            _ => 4,
        };
        let next = rows[passed..].iter().find(|(flag, _)| self.flags & flag != 0);
        self.part = next.map_or(Part::Data, |row| row.1);
        if self.part == Part::Data {
            self.check = CRC32_START;
        }
    }

    fn zlib_header(&mut self, method: u8, flags: u8) -> core::result::Result<(), (Kind, &'static str)> {
        const DICTIONARY: u8 = 0x20;
        if !u16::from_be_bytes([method, flags]).is_multiple_of(31) {
            return Err((Kind::Corrupt, "not in zlib format"));
        }
        if method & 15 != 8 {
            return Err((Kind::Corrupt, "the compression method of a zlib stream is unknown"));
        }
        let bits = (method >> 4) + 8;
        if bits > MAX_WINDOW_BITS {
            return Err((Kind::Corrupt, "the window of a zlib stream is larger than the format allows"));
        }
        if bits > self.window_bits {
            return Err((Kind::Limit, "the window of a zlib stream is larger than the limit"));
        }
        self.part = if flags & DICTIONARY != 0 { Part::DictionaryId } else { Part::Data };
        Ok(())
    }
}
