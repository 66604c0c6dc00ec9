//! Decoding: containers and checksums here, the deflate data by zlib-rs.

use std::io::Read;

use linerate_core::Kind;
use linerate_deflate::Format;
use linerate_deflate::checksum::{ADLER32_START, CRC32_START, adler32, crc32};
use zlib_rs::{Inflate, InflateFlush, Status};

use super::args::FormatChoice;
use super::header::Header;
use crate::failure::Failure;
use crate::input::Source;

const WINDOW_BITS: u8 = 15;
/// Room for decoded bytes: much more than the window, which is copied once per round.
const BUFFER: usize = 256 << 10;

/// What was decoded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    /// Offset of bytes after the end that belong to nothing.
    pub(crate) garbage_at: Option<u64>,
}

/// A compressed input whose format is known and whose first header has been read.
pub(crate) struct Decoder<R> {
    source: Source<R>,
    format: Format,
    must_be_bgzf: bool,
    header: Header,
    inflate: Inflate,
    buffer: Vec<u8>,
    bytes_out: u64,
    max_output: u64,
}

/// Takes decoded bytes, with the number of input bytes used so far.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(&[u8], u64) -> Result<(), Failure>;

impl<R: Read> Decoder<R> {
    /// Reads the first header; if `format` is `None`, gzip and zlib are told apart by it.
    pub(crate) fn open(
        mut source: Source<R>,
        format: Option<FormatChoice>,
        max_output: Option<u64>,
    ) -> Result<Self, Failure> {
        let must_be_bgzf = format == Some(FormatChoice::Bgzf);
        let format = match format {
            Some(FormatChoice::Gzip | FormatChoice::Bgzf) => Format::Gzip,
            Some(FormatChoice::Zlib) => Format::Zlib,
            Some(FormatChoice::Deflate) => Format::Deflate,
            None => detect(&mut source)?,
        };
        let mut decoder = Decoder {
            source,
            format,
            must_be_bgzf,
            header: Header::default(),
            inflate: Inflate::new(false, WINDOW_BITS),
            buffer: vec![0; BUFFER],
            bytes_out: 0,
            max_output: max_output.unwrap_or(u64::MAX),
        };
        decoder.header = decoder.read_header()?;
        Ok(decoder)
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// The first header: empty unless the format is gzip.
    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// Decodes everything into `sink`, member by member.
    pub(crate) fn run(&mut self, sink: Sink<'_>) -> Result<Decoded, Failure> {
        loop {
            let member_len = self.member(sink)?;
            if !self.another_member()? {
                let garbage_at = self.garbage()?;
                if self.must_be_bgzf && garbage_at.is_none() && member_len != 0 {
                    let what = "the BGZF end-of-file marker is missing";
                    return Err(Failure::data(Kind::Truncated, self.source.at(), what));
                }
                let bytes_in = garbage_at.unwrap_or(self.source.at());
                return Ok(Decoded { bytes_in, bytes_out: self.bytes_out, garbage_at });
            }
            self.read_header()?;
        }
    }

    fn read_header(&mut self) -> Result<Header, Failure> {
        match self.format {
            Format::Deflate => Ok(Header::default()),
            Format::Zlib => zlib_header(&mut self.source).map(|()| Header::default()),
            Format::Gzip => {
                let at = self.source.at();
                let header = Header::read(&mut self.source)?;
                if self.must_be_bgzf && !header.is_bgzf() {
                    return Err(Failure::data(Kind::Corrupt, at, "this gzip member is not a BGZF block"));
                }
                Ok(header)
            }
        }
    }

    /// Decodes the deflate data and the trailer of one member; returns its decoded length.
    fn member(&mut self, sink: Sink<'_>) -> Result<u64, Failure> {
        self.inflate.reset(false);
        let mut check = if self.format == Format::Zlib { ADLER32_START } else { CRC32_START };
        let mut len = 0;
        loop {
            let (produced, ended) = self.step()?;
            let bytes = &self.buffer[..produced];
            len += produced as u64;
            self.bytes_out += produced as u64;
            if self.bytes_out > self.max_output {
                let what = format!("the output exceeds the limit of {} bytes", self.max_output);
                return Err(Failure::data(Kind::Limit, self.source.at(), what));
            }
            check = match self.format {
                Format::Deflate => check,
                Format::Zlib => adler32(check, bytes),
                Format::Gzip => crc32(check, bytes),
            };
            sink(bytes, self.source.at())?;
            if ended {
                break;
            }
        }
        self.trailer(check, len)?;
        Ok(len)
    }

    /// One round of zlib-rs: the number of bytes decoded, and whether the deflate data has ended.
    fn step(&mut self) -> Result<(usize, bool), Failure> {
        let input = self.source.peek(1)?;
        let at_end = input.is_empty();
        let (before_in, before_out) = (self.inflate.total_in(), self.inflate.total_out());
        let status = self.inflate.decompress(input, &mut self.buffer, InflateFlush::NoFlush);
        let consumed = (self.inflate.total_in() - before_in) as usize;
        let produced = (self.inflate.total_out() - before_out) as usize;
        self.source.consume(consumed);
        match status {
            Ok(Status::StreamEnd) => Ok((produced, true)),
            Ok(Status::Ok | Status::BufError) if at_end && produced == 0 => {
                let what = "the input ends inside the compressed data";
                Err(Failure::data(Kind::Truncated, self.source.at(), what))
            }
            Ok(Status::Ok | Status::BufError) => Ok((produced, false)),
            Err(e) => {
                let detail = self.inflate.error_message().unwrap_or(e.as_str());
                let what = format!("the compressed data is corrupt: {detail}");
                Err(Failure::data(Kind::Corrupt, self.source.at(), what))
            }
        }
    }

    fn trailer(&mut self, check: u32, len: u64) -> Result<(), Failure> {
        let at = self.source.at();
        let wanted = self.format.trailer_len();
        let bytes = self.source.peek(wanted)?;
        let wrong = |by, what| Err(Failure::data(Kind::Corrupt, at + by, what));
        match (self.format, bytes) {
            (Format::Deflate, _) => {}
            (Format::Zlib, &[a, b, c, d, ..]) => {
                if u32::from_be_bytes([a, b, c, d]) != check {
                    return wrong(0, "the data does not match its Adler-32 checksum");
                }
            }
            (Format::Gzip, &[a, b, c, d, e, f, g, h, ..]) => {
                if u32::from_le_bytes([a, b, c, d]) != check {
                    return wrong(0, "the data does not match its CRC-32 checksum");
                }
                if u32::from_le_bytes([e, f, g, h]) != len as u32 {
                    return wrong(4, "the data does not have the length stated after it");
                }
            }
            (_, short) => {
                let at = at + short.len() as u64;
                return Err(Failure::data(Kind::Truncated, at, "the input ends inside the trailer"));
            }
        }
        self.source.consume(wanted);
        Ok(())
    }

    fn another_member(&mut self) -> Result<bool, Failure> {
        Ok(self.format == Format::Gzip && self.source.peek(2)?.starts_with(&[0x1f, 0x8b]))
    }

    /// The offset of what follows the end. Zeros up to the end of the input are the padding of
    /// tapes and disks, and no garbage.
    fn garbage(&mut self) -> Result<Option<u64>, Failure> {
        loop {
            let rest = self.source.peek(1)?;
            let len = rest.len();
            match rest.iter().position(|&byte| byte != 0) {
                Some(zeros) => return Ok(Some(self.source.at() + zeros as u64)),
                None if len == 0 => return Ok(None),
                None => self.source.consume(len),
            }
        }
    }
}

fn detect<R: Read>(source: &mut Source<R>) -> Result<Format, Failure> {
    match *source.peek(2)? {
        [] => Err(Failure::data(Kind::Truncated, 0, "the input is empty")),
        [0x1f, 0x8b, ..] | [0x1f] => Ok(Format::Gzip),
        [cmf, flg, ..] if is_zlib(cmf, flg) => Ok(Format::Zlib),
        _ => Err(Failure::data(Kind::Corrupt, 0, "not in gzip or zlib format")),
    }
}

/// RFC 1950, 2.2: method 8, a window of at most 32 KiB, and a check by 31.
fn is_zlib(cmf: u8, flg: u8) -> bool {
    cmf & 15 == 8 && cmf >> 4 <= 7 && u16::from_be_bytes([cmf, flg]).is_multiple_of(31)
}

fn zlib_header<R: Read>(source: &mut Source<R>) -> Result<(), Failure> {
    const DICTIONARY: u8 = 0x20;
    let at = source.at();
    let wrong = |kind, what: &'static str| Err(Failure::data(kind, at, what));
    match *source.peek(2)? {
        [cmf, flg, ..] if !is_zlib(cmf, flg) => wrong(Kind::Corrupt, "not in zlib format"),
        [_, flg, ..] if flg & DICTIONARY != 0 => {
            wrong(Kind::Unsupported, "the zlib stream needs a preset dictionary")
        }
        [_, _, ..] => {
            source.consume(2);
            Ok(())
        }
        _ => wrong(Kind::Truncated, "the input ends inside the zlib header"),
    }
}
