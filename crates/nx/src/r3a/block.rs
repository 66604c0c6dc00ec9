//! Decodes and encodes one block.

use linerate_core::{Error, Kind, Result};
use linerate_zstd::{Dictionary, Format};

#[cfg(feature = "pack")]
use super::frame;
use super::toc::BlockCodec;
use crate::block::decode::Decoder;
use crate::format::toc::Codec;

/// Decodes blocks with reused memory.
pub(super) struct BlockDecoder(Decoder);

const FOREIGN: Error = Error::new(Kind::Unsupported, 0, "a block of an unsupported codec");

impl BlockDecoder {
    pub(super) fn new(window_log: u32) -> Result<BlockDecoder> {
        Decoder::new(window_log, Format::Magicless).map(BlockDecoder)
    }

    /// Decodes a block into `out`. Errors have offset 0.
    pub(super) fn decode(
        &mut self,
        codec: BlockCodec,
        dictionary: Option<&Dictionary<'_>>,
        block: &[u8],
        out: &mut [u8],
    ) -> Result<()> {
        let BlockCodec::Known(codec) = codec else { return Err(FOREIGN) };
        match (codec, dictionary) {
            (Codec::Zstd, Some(dictionary)) => self.0.decode_with(dictionary, block, out),
            _ => self.0.decode(codec, block, out).map(|_| ()),
        }
    }
}

/// Encodes blocks by the rules of the profile: as zstd frames without magic number, content size,
/// checksum and dictionary id, or stored if that is no larger.
#[cfg(feature = "pack")]
#[derive(Clone, Copy, Debug)]
pub struct BlockEncoder<'a> {
    /// The zstd level.
    pub level: i32,
    /// The dictionary; empty for none.
    pub dictionary: &'a [u8],
}

#[cfg(feature = "pack")]
impl BlockEncoder<'_> {
    /// Encodes a block and returns its codec and bytes.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::Limit`] if memory runs out, and [`Kind::Corrupt`] if zstd rejects the
    /// dictionary.
    pub fn encode(&self, content: &[u8]) -> Result<(Codec, Vec<u8>)> {
        let frame = frame::compress(content, self.level, self.dictionary)?;
        Ok(match frame.len() < content.len() {
            true => (Codec::Zstd, frame),
            false => (Codec::Copy, content.to_vec()),
        })
    }
}
