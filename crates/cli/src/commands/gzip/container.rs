//! Headers and trailers of gzip (RFC 1952) and zlib (RFC 1950).

use std::io::Read;

use linerate_core::{Error, Kind};
use linerate_deflate::Format;
use linerate_deflate::gzip::Header;

use crate::ui::error::{CliError, engine_error};
use crate::ui::input::Source;

/// First bytes of a gzip member (RFC 1952, section 2.3.1).
pub(super) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Detects by its first two bytes whether an input is gzip or zlib. Fails for other data.
pub(super) fn detect<R: Read>(source: &mut Source<R>) -> Result<Format, CliError> {
    of_start(source.peek(2)?)
}

/// Detects gzip or zlib by the beginning of a file. A single byte that gzip begins with counts as a
/// gzip header that is cut off.
pub(super) fn of_start(start: &[u8]) -> Result<Format, CliError> {
    match *start {
        [] => Err(CliError::data(Kind::Truncated, 0, "the input is empty")),
        [0x1f, 0x8b, ..] | [0x1f] => Ok(Format::Gzip),
        [cmf, flg, ..] if is_zlib(cmf, flg) => Ok(Format::Zlib),
        _ => Err(CliError::data(Kind::Corrupt, 0, "the input is not in gzip or zlib format")),
    }
}

/// Reads the header of a member. The result is empty unless the format is gzip.
pub(super) fn read_header<R: Read>(source: &mut Source<R>, format: Format) -> Result<Header, CliError> {
    match format {
        Format::Deflate => Ok(Header::default()),
        Format::Zlib => zlib_header(source).map(|()| Header::default()),
        Format::Gzip => gzip_header(source),
    }
}

/// Checks the two bytes of a zlib header (RFC 1950, section 2.2): they state method 8 and a window
/// of at most 32 KiB, and as a big-endian number are divisible by 31.
fn is_zlib(cmf: u8, flg: u8) -> bool {
    cmf & 15 == 8 && cmf >> 4 <= 7 && u16::from_be_bytes([cmf, flg]).is_multiple_of(31)
}

fn gzip_header<R: Read>(source: &mut Source<R>) -> Result<Header, CliError> {
    let start = source.at();
    // Keeps the I/O error, since the engine's error lacks its details.
    let mut failure = None;
    let header = Header::read(|| {
        source.byte().map_err(|error| {
            failure = Some(error);
            Error::new(Kind::Read, 0, "cannot read")
        })
    });
    header.map_err(|error| failure.unwrap_or_else(|| engine_error(error.shifted(start))))
}

fn zlib_header<R: Read>(source: &mut Source<R>) -> Result<(), CliError> {
    const DICTIONARY: u8 = 0x20;
    let at = source.at();
    let wrong = |kind, what: &'static str| Err(CliError::data(kind, at, what));
    match *source.peek(2)? {
        [cmf, flg, ..] if !is_zlib(cmf, flg) => wrong(Kind::Corrupt, "the input is not in zlib format"),
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

/// Reads a trailer, and compares it with the checksum of the content and, for gzip, its length
/// modulo 2^32. Does nothing for deflate, which has no trailer.
pub(super) fn read_trailer<R: Read>(
    source: &mut Source<R>,
    format: Format,
    (check, len): (u32, u64),
) -> Result<(), CliError> {
    let at = source.at();
    let wanted = format.trailer_len();
    let bytes = source.peek(wanted)?;
    let wrong = |by, what| Err(CliError::data(Kind::Corrupt, at + by, what));
    match (format, bytes) {
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
            return Err(CliError::data(Kind::Truncated, at, "the input ends inside the trailer"));
        }
    }
    source.consume(wanted);
    Ok(())
}
