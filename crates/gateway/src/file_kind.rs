//! Recognises what a file of messages holds by its first bytes.

use crate::transport::Transport;

/// Magic number of a recording.
const RECORDING: &[u8] = b"LGWR";
/// Magic number of a zstd frame (RFC 8878, section 3.1.1).
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// First byte of a term in Erlang's external term format.
const ETF: u8 = 131;

/// Kind of a file of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A [`Recording`](crate::Recording).
    Recording,
    /// [`Messages`](crate::Messages), not compressed: JSON or ETF.
    Payloads,
    /// [`Messages`](crate::Messages), compressed for this transport. Independent zlib messages are
    /// reported as a zlib stream, and independent zstd frames whose headers state neither size,
    /// dictionary nor checksum as a zstd stream, since these begin alike. Raw deflate data has no
    /// mark to recognise it by.
    Compressed(Transport),
    /// Zstd data without the lengths of [`Messages`](crate::Messages), so that nothing tells where
    /// its messages begin.
    ZstdFrame,
}

impl FileKind {
    /// Number of bytes at the beginning of a file that are enough to tell its kind, unless about
    /// ten of the first messages are empty.
    pub const HEAD: usize = 64;

    /// Returns the kind of a file that begins with `head`: its first [`HEAD`](Self::HEAD) bytes, or
    /// the whole file if it is shorter. Returns `None` if the kind is not recognised. Files of
    /// other kinds may begin in the same way, so use this only for files that are expected to hold
    /// messages.
    pub fn of(head: &[u8]) -> Option<FileKind> {
        if head.starts_with(RECORDING) {
            return Some(FileKind::Recording);
        }
        if head.starts_with(ZSTD) {
            return Some(FileKind::ZstdFrame);
        }
        // A message may be shorter than a magic number, so the first ones are joined.
        let (mut first, mut rest) = (Vec::new(), head);
        while first.len() <= ZSTD.len()
            && let Some((len, after)) = rest.split_first_chunk::<4>()
        {
            let len = (u32::from_le_bytes(*len) as usize).min(after.len());
            first.extend_from_slice(&after[..len]);
            rest = &after[len..];
        }
        match first.as_slice() {
            [b'{' | b'[' | b' ' | b'\n' | ETF, ..] => Some(FileKind::Payloads),
            // A frame header descriptor of 0: streams have no content size, dictionary or checksum
            // (RFC 8878, section 3.1.1.1.1).
            [0x28, 0xb5, 0x2f, 0xfd, 0, ..] => Some(FileKind::Compressed(Transport::Zstd)),
            bytes if bytes.starts_with(ZSTD) => Some(FileKind::Compressed(Transport::ZstdFrame)),
            [0x1f, 0x8b, 8, ..] => Some(FileKind::Compressed(Transport::Gzip)),
            // The check bits of zlib's header (RFC 1950, section 2.2).
            [method, flags, ..]
                if method & 15 == 8 && u16::from_be_bytes([*method, *flags]).is_multiple_of(31) =>
            {
                Some(FileKind::Compressed(Transport::Zlib))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Encoder, Recorder, write_message};

    #[test]
    fn kinds_are_recognised_by_the_first_bytes() {
        let kind = |all: &[&[u8]]| {
            let mut file = Vec::new();
            all.iter().for_each(|message| write_message(&mut file, message).unwrap());
            FileKind::of(&file)
        };
        let (zlib, zstd) = (FileKind::Compressed(Transport::Zlib), FileKind::Compressed(Transport::Zstd));
        assert_eq!(kind(&[b"{}"]), Some(FileKind::Payloads));
        assert_eq!(kind(&[&[131, 116]]), Some(FileKind::Payloads));
        assert_eq!(kind(&[&[0x78, 0x9c, 1]]), Some(zlib));
        assert_eq!(kind(&[&[0x78], b"", &[0xda]]), Some(zlib));
        assert_eq!(kind(&[&[0x28, 0xb5, 0x2f, 0xfd, 0, 0x30]]), Some(zstd));
        for transport in [Transport::ZstdFrame, Transport::Gzip] {
            let (mut encoder, mut wire) = (Encoder::new(transport).unwrap(), Vec::new());
            encoder.message(b"{}", &mut wire).unwrap();
            assert_eq!(kind(&[&wire]), Some(FileKind::Compressed(transport)));
        }
        assert_eq!((kind(&[b"xyz"]), kind(&[&[0x78, 0x9d]]), kind(&[])), (None, None, None));
        let recording = Recorder::new(Vec::new(), Transport::Zstd).unwrap().finish().unwrap();
        assert_eq!(FileKind::of(&recording), Some(FileKind::Recording));
        assert_eq!(FileKind::of(ZSTD), Some(FileKind::ZstdFrame));
    }
}
