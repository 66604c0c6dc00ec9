//! The gzip header (RFC 1952, 2.3): written with name and time, read with everything it may have.

use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use linerate_core::Kind;
use linerate_deflate::Format;
use linerate_deflate::checksum::{CRC32_START, crc32};

use crate::ui::error::CliError;
use crate::ui::input::Source;

const FLAG_HEADER_CRC: u8 = 2;
const FLAG_EXTRA: u8 = 4;
const FLAG_NAME: u8 = 8;
const FLAG_COMMENT: u8 = 16;
const FLAGS_RESERVED: u8 = 0xe0;

/// A name longer than any file system takes is read, but not kept.
const LONGEST_NAME: usize = 1024;

/// The header for a file of that name and time. What is absent is not stored.
pub(crate) fn bytes(name: Option<&OsStr>, modified: Option<SystemTime>) -> Vec<u8> {
    let mut header = Format::Gzip.header().to_vec();
    let seconds = modified.and_then(|t| t.duration_since(UNIX_EPOCH).ok()).map(|d| d.as_secs());
    // Zero means that no time is stored, and stands for those that do not fit, too.
    let seconds = seconds.and_then(|s| u32::try_from(s).ok()).unwrap_or(0);
    header[4..8].copy_from_slice(&seconds.to_le_bytes());
    if let Some(name) = name {
        header[3] |= FLAG_NAME;
        header.extend_from_slice(&raw(name));
        header.push(0);
    }
    header
}

/// The header for the file at `path`.
pub(crate) fn for_file(path: &Path, meta: &Metadata) -> Vec<u8> {
    bytes(path.file_name(), meta.modified().ok())
}

#[cfg(unix)]
fn raw(name: &OsStr) -> Vec<u8> {
    std::os::unix::ffi::OsStrExt::as_bytes(name).to_vec()
}

#[cfg(not(unix))]
fn raw(name: &OsStr) -> Vec<u8> {
    name.to_string_lossy().into_owned().into_bytes()
}

/// What a gzip header said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Header {
    name: Option<Vec<u8>>,
    seconds: u32,
    extra: Vec<u8>,
}

impl Header {
    /// Reads a header from its first byte.
    pub(crate) fn read<R: Read>(source: &mut Source<R>) -> Result<Header, CliError> {
        let begin = source.at();
        let mut fields = Fields { source, crc: CRC32_START };
        let [magic1, magic2, method, flags, t0, t1, t2, t3, _xfl, _os] = fields.array()?;
        let wrong = |what: &'static str, by| Err(CliError::data(Kind::Corrupt, begin + by, what));
        if [magic1, magic2] != [0x1f, 0x8b] {
            return wrong("not in gzip format", 0);
        }
        if method != 8 {
            return wrong("the gzip header names a method other than deflate", 2);
        }
        if flags & FLAGS_RESERVED != 0 {
            return wrong("the gzip header has reserved flags set", 3);
        }
        let mut header = Header { seconds: u32::from_le_bytes([t0, t1, t2, t3]), ..Header::default() };
        if flags & FLAG_EXTRA != 0 {
            let len = u16::from_le_bytes(fields.array()?);
            for _ in 0..len {
                header.extra.push(fields.byte()?);
            }
        }
        if flags & FLAG_NAME != 0 {
            header.name = fields.text()?;
        }
        if flags & FLAG_COMMENT != 0 {
            fields.text()?;
        }
        if flags & FLAG_HEADER_CRC != 0 {
            let computed = fields.crc as u16;
            let at = fields.source.at();
            if u16::from_le_bytes(fields.array()?) != computed {
                return Err(CliError::data(Kind::Corrupt, at, "the checksum of the gzip header is wrong"));
            }
        }
        Ok(header)
    }

    /// The file's name, without any folders that it may bring: they are not ours to choose.
    pub(crate) fn file_name(&self) -> Option<OsString> {
        let name = self.name.as_deref()?;
        let base = name.rsplit(|&b| b == b'/' || cfg!(windows) && b == b'\\').next()?;
        if base.is_empty() || base == b"." || base == b".." {
            return None;
        }
        from_raw(base)
    }

    pub(crate) fn modified(&self) -> Option<SystemTime> {
        (self.seconds != 0).then(|| UNIX_EPOCH + Duration::from_secs(self.seconds.into()))
    }

    /// Whether an extra field marks a BGZF block: subfield "BC" of 2 bytes.
    pub(crate) fn is_bgzf(&self) -> bool {
        bgzf_size(&self.extra).is_some()
    }
}

/// The length of a BGZF block less one, by the extra field of its header.
pub(crate) fn bgzf_size(extra: &[u8]) -> Option<u16> {
    let mut rest = extra;
    while let [id1, id2, len1, len2, tail @ ..] = rest {
        let len = usize::from(u16::from_le_bytes([*len1, *len2]));
        if let ([b'B', b'C'], 2, [size1, size2, ..]) = ([*id1, *id2], len, tail) {
            return Some(u16::from_le_bytes([*size1, *size2]));
        }
        rest = tail.get(len..).unwrap_or(&[]);
    }
    None
}

#[cfg(unix)]
fn from_raw(name: &[u8]) -> Option<OsString> {
    let name: &OsStr = std::os::unix::ffi::OsStrExt::from_bytes(name);
    Some(name.to_owned())
}

#[cfg(not(unix))]
fn from_raw(name: &[u8]) -> Option<OsString> {
    String::from_utf8(name.to_vec()).ok().map(OsString::from)
}

/// Reads fields and keeps the checksum over them.
struct Fields<'s, R> {
    source: &'s mut Source<R>,
    crc: u32,
}

impl<R: Read> Fields<'_, R> {
    fn byte(&mut self) -> Result<u8, CliError> {
        let byte = self.source.byte()?.ok_or_else(|| {
            CliError::data(Kind::Truncated, self.source.at(), "the input ends inside the gzip header")
        })?;
        self.crc = crc32(self.crc, &[byte]);
        Ok(byte)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], CliError> {
        let mut bytes = [0; N];
        for byte in &mut bytes {
            *byte = self.byte()?;
        }
        Ok(bytes)
    }

    /// A text up to its zero byte; `None` if it is too long to keep.
    fn text(&mut self) -> Result<Option<Vec<u8>>, CliError> {
        let mut text = Vec::new();
        let mut len = 0;
        loop {
            match self.byte()? {
                0 => return Ok((len <= LONGEST_NAME).then_some(text)),
                byte if len < LONGEST_NAME => text.push(byte),
                _ => {}
            }
            len += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Header, CliError> {
        Header::read(&mut Source::new(bytes))
    }

    #[test]
    fn what_is_written_is_read() {
        let time = UNIX_EPOCH + Duration::from_secs(1_234_567_890);
        let header = read(&bytes(Some(OsStr::new("a.txt")), Some(time))).unwrap();
        assert_eq!(header.file_name().as_deref(), Some(OsStr::new("a.txt")));
        assert_eq!(header.modified(), Some(time));
        assert_eq!(bytes(None, None), Format::Gzip.header());
        assert_eq!(read(&bytes(None, None)).unwrap(), Header::default());
    }

    #[test]
    fn folders_in_names_are_dropped() {
        let name = |n: &str| read(&bytes(Some(OsStr::new(n)), None)).unwrap().file_name();
        assert_eq!(name("/etc/passwd").as_deref(), Some(OsStr::new("passwd")));
        assert_eq!(name("../../x").as_deref(), Some(OsStr::new("x")));
        for nothing in ["", ".", "..", "a/..", "a/"] {
            assert_eq!(name(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn every_optional_field_and_its_checksum() {
        let mut bytes = vec![0x1f, 0x8b, 8, 0x1e, 1, 0, 0, 0, 0, 3];
        bytes.extend_from_slice(&[10, 0, b'X', b'Y', 0, 0, b'B', b'C', 2, 0, 1, 0]);
        bytes.extend_from_slice(b"name\0comment\0");
        let crc = crc32(CRC32_START, &bytes) as u16;
        bytes.extend_from_slice(&crc.to_le_bytes());
        let header = read(&bytes).unwrap();
        assert_eq!(header.name.as_deref(), Some(&b"name"[..]));
        assert!(header.is_bgzf());
        for len in 0..bytes.len() {
            let error = read(&bytes[..len]).unwrap_err();
            assert_eq!((error.kind(), error.offset()), ("truncated", Some(len as u64)));
        }
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        assert_eq!(read(&bytes).unwrap_err().kind(), "corrupt");
    }

    #[test]
    fn endless_names_are_not_kept() {
        let mut long = bytes(None, None);
        long[3] = FLAG_NAME;
        long.resize(100_000, b'x');
        long.push(0);
        assert_eq!(read(&long).unwrap().file_name(), None);
    }
}
