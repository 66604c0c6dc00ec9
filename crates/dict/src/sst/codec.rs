//! Decompression of blocks.

use linerate_core::{Error, Kind, Result};
use linerate_inflate::{BufferDecoder, Format, Options, Scratch};

use super::bytes::Bytes;
use super::compression::Compression;
use super::open::Dictionary;
use crate::coding::decoder::Decoder;
use crate::id::Id;
use crate::store::Store;

const TOO_LONG: Error = Error::new(Kind::Limit, 0, "the content of a block exceeds the limit");
const IMPOSSIBLE: Error = Error::new(Kind::Corrupt, 0, "the stated length of a block is impossibly large");
const WRONG_LENGTH: Error =
    Error::new(Kind::Corrupt, 0, "the length of a block's content differs from its header");
const DAMAGED: Error = Error::new(Kind::Corrupt, 0, "the compressed bytes of a block are damaged");

/// A compressed block, with its uncompressed length.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompressedBlock<'a> {
    pub(super) compression: Compression,
    pub(super) payload: &'a [u8],
    /// Number of uncompressed bytes.
    pub(super) len: usize,
}

impl<'a> CompressedBlock<'a> {
    /// Parses the uncompressed length before the payload of a compressed block. Refuses unsupported
    /// types, and lengths that are impossible or exceed `limit`.
    pub(super) fn parse(
        compression: Compression,
        body: &'a [u8],
        limit: usize,
    ) -> Result<CompressedBlock<'a>> {
        // Upper bound of the compression ratio, rounded up.
        let most: u64 = match compression {
            Compression::None => 1,
            Compression::Snappy => 64,
            Compression::Lz4 | Compression::Lz4Hc => 256,
            Compression::Zlib => 1100,
            Compression::Zstd => 1 << 16,
            Compression::Bzip2 => {
                return Err(Error::new(
                    Kind::Unsupported,
                    0,
                    "blocks compressed with bzip2 are not supported",
                ));
            }
            Compression::Other(0x80..=0xfe) => {
                return Err(Error::new(
                    Kind::Unsupported,
                    0,
                    "a block has a custom compression type, which only its compression manager reads",
                ));
            }
            Compression::Other(_) => {
                return Err(Error::new(Kind::Unsupported, 0, "the compression type of a block is not known"));
            }
        };
        let mut rest = Bytes(body);
        let len = rest.varint32()?;
        // Snappy has its own length field.
        let payload = if compression == Compression::Snappy { body } else { rest.0 };
        if u64::from(len) > (payload.len() as u64 + 1) * most {
            return Err(IMPOSSIBLE);
        }
        let len = len as usize;
        if len > limit { Err(TOO_LONG) } else { Ok(CompressedBlock { compression, payload, len }) }
    }
}

/// Decompresses blocks of all supported types.
pub(super) struct Codec {
    pub(super) decoder: Decoder,
    inflate: Option<Box<Scratch>>,
}

impl Codec {
    pub(super) fn new(store: &Store) -> Self {
        Codec { decoder: Decoder::new(store), inflate: None }
    }

    /// Decompresses a block into `out`, which has its stated length.
    pub(super) fn decompress(
        &mut self,
        compressed: CompressedBlock<'_>,
        dictionary: Option<&Dictionary>,
        out: &mut [u8],
    ) -> Result<()> {
        let n = match compressed.compression {
            Compression::Zstd => {
                let id = dictionary.map_or(Id::NONE, |dictionary| dictionary.id);
                // Offsets within the frame are not offsets in the file, so they are dropped.
                self.decoder.decode(id, compressed.payload, out).map_err(|e| e.with_offset(0))?
            }
            Compression::Snappy => {
                snap::raw::Decoder::new().decompress(compressed.payload, out).map_err(|_| DAMAGED)?
            }
            Compression::None => {
                out.copy_from_slice(compressed.payload);
                out.len()
            }
            Compression::Lz4 | Compression::Lz4Hc => with_bytes(self.decoder.store(), dictionary, |bytes| {
                lz4_flex::block::decompress_into_with_dict(compressed.payload, out, bytes)
            })?
            .map_err(|_| DAMAGED)?,
            Compression::Zlib | Compression::Bzip2 | Compression::Other(_) => {
                let inflate = self.inflate.get_or_insert_with(Box::default);
                with_bytes(self.decoder.store(), dictionary, |bytes| {
                    inflate_block(inflate, compressed.payload, bytes, out)
                })??
            }
        };
        if n == out.len() { Ok(()) } else { Err(WRONG_LENGTH) }
    }
}

fn inflate_block(scratch: &mut Scratch, payload: &[u8], dictionary: &[u8], out: &mut [u8]) -> Result<usize> {
    let decoder = BufferDecoder::new(Options::new(Format::Deflate));
    match decoder.decode(scratch, Some(dictionary), payload, out) {
        Ok(sizes) if sizes.read == payload.len() => Ok(sizes.written),
        _ => Err(DAMAGED),
    }
}

/// Calls `see` with the bytes of a dictionary, which are not copied; without a dictionary, with
/// an empty slice.
fn with_bytes<T>(store: &Store, dictionary: Option<&Dictionary>, see: impl FnOnce(&[u8]) -> T) -> Result<T> {
    let Some(dictionary) = dictionary else { return Ok(see(&[])) };
    match store.shared().pin(dictionary.id)? {
        Some(pin) => Ok(see(pin.bytes())),
        None => Ok(see(&dictionary.short)),
    }
}
