//! Kinds of files of messages, by their first bytes.

use crate::transport::Transport;

/// Begins every recording.
const RECORDING: &[u8] = b"LGWR";
/// Begins a zstd frame (RFC 8878, section 3.1.1).
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// Begins a term of Erlang's external format.
const ETF: u8 = 131;

/// What a file of messages holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A [`Recording`](crate::Recording).
    Recording,
    /// [`Messages`](crate::Messages), not compressed: JSON or ETF.
    Payloads,
    /// [`Messages`](crate::Messages), compressed for this transport. zlib messages that are independent begin like the
    /// messages of a stream, and deflate data like anything: neither is found.
    Compressed(Transport),
    /// One zstd frame. Where its messages begin is not in it.
    ZstdFrame,
}

impl FileKind {
    /// Bytes of the beginning of a file that are enough to tell its kind.
    pub const HEAD: usize = 64;

    /// The kind of a file that begins with `head`, of which all bytes are there, or [`HEAD`](Self::HEAD). Other files
    /// may begin alike: this is for what is said to be messages.
    pub fn of(head: &[u8]) -> Option<FileKind> {
        if head.starts_with(RECORDING) {
            return Some(FileKind::Recording);
        }
        if head.starts_with(ZSTD) {
            return Some(FileKind::ZstdFrame);
        }
        // The first messages may be shorter than what tells a transport.
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
            // The descriptor: of streams neither content size, dictionary nor checksum (RFC 8878, section 3.1.1.1.1).
            [0x28, 0xb5, 0x2f, 0xfd, 0, ..] => Some(FileKind::Compressed(Transport::Zstd)),
            bytes if bytes.starts_with(ZSTD) => Some(FileKind::Compressed(Transport::ZstdFrame)),
            [0x1f, 0x8b, 8, ..] => Some(FileKind::Compressed(Transport::Gzip)),
            // The check of zlib's header (RFC 1950, section 2.2).
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
