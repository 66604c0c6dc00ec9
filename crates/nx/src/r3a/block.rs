//! Decodes and encodes one block.

use linerate_core::{Error, Kind, Result};
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

use super::frame::{self, MAGIC, unusable};
use super::toc::BlockCodec;
use crate::decode::Decoder;
use crate::toc::Codec;

/// Reusable decoding contexts.
pub(super) struct BlockDecoder {
    plain: Decoder,
    /// For blocks with a dictionary. The last one stays loaded.
    with_dictionary: DCtx<'static>,
    loaded: Option<u8>,
}

const DAMAGED: Error = Error::new(Kind::Corrupt, 0, "a damaged block");
const SHORT: Error = Error::new(Kind::Corrupt, 0, "a block that holds less than its files");
const FOREIGN: Error = Error::new(Kind::Unsupported, 0, "a block of an unsupported codec");

/// Free bytes before a block, for the magic number that its frame lacks.
pub(super) const MAGIC_SPACE: usize = MAGIC.len();

impl BlockDecoder {
    pub(super) fn new(window_log: u32) -> Result<BlockDecoder> {
        let plain = Decoder::new(window_log)?;
        let mut with_dictionary =
            DCtx::try_create().ok_or(Error::new(Kind::Limit, 0, "not enough memory"))?;
        with_dictionary
            .set_parameter(DParameter::WindowLogMax(window_log))
            .map_err(|_| Error::new(Kind::BadArgument, 0, "a window limit that zstd does not know"))?;
        Ok(BlockDecoder { plain, with_dictionary, loaded: None })
    }

    /// Decodes a block into `out`. `padded` is [`MAGIC_SPACE`] bytes followed by the block. Errors have
    /// offset 0.
    pub(super) fn decode(
        &mut self,
        codec: BlockCodec,
        dictionary: Option<(u8, &[u8])>,
        padded: &mut [u8],
        out: &mut [u8],
    ) -> Result<()> {
        let BlockCodec::Known(codec) = codec else { return Err(FOREIGN) };
        match (codec, dictionary) {
            (Codec::Zstd, Some((number, dictionary))) => {
                padded[..MAGIC_SPACE].copy_from_slice(&MAGIC);
                self.load(number, dictionary)?;
                self.stream(padded, out)
            }
            (Codec::Zstd, None) => {
                padded[..MAGIC_SPACE].copy_from_slice(&MAGIC);
                self.plain.decode(codec, padded, out).map(|_| ())
            }
            _ => self.plain.decode(codec, &padded[MAGIC_SPACE..], out).map(|_| ()),
        }
    }

    fn load(&mut self, number: u8, dictionary: &[u8]) -> Result<()> {
        if self.loaded != Some(number) {
            self.loaded = None;
            self.with_dictionary.reset(ResetDirective::SessionOnly).map_err(|_| DAMAGED)?;
            self.with_dictionary.load_dictionary(dictionary).map_err(|_| unusable())?;
            self.loaded = Some(number);
        }
        Ok(())
    }

    /// Decodes with the dictionary until `out` is full.
    fn stream(&mut self, block: &[u8], out: &mut [u8]) -> Result<()> {
        self.with_dictionary.reset(ResetDirective::SessionOnly).map_err(|_| DAMAGED)?;
        let (mut input, mut output) = (InBuffer::around(block), OutBuffer::around(out));
        while output.pos() < output.capacity() {
            let before = (input.pos(), output.pos());
            let left = self.with_dictionary.decompress_stream(&mut output, &mut input).map_err(damaged)?;
            let ended = left == 0 || (input.pos(), output.pos()) == before;
            if ended && output.pos() < output.capacity() {
                return Err(SHORT);
            }
        }
        Ok(())
    }
}

fn damaged(code: zstd_safe::ErrorCode) -> Error {
    match zstd_safe::get_error_name(code).contains("too much memory") {
        true => Error::new(Kind::Limit, 0, "a block with a zstd window beyond the limit"),
        false => DAMAGED,
    }
}

/// Encodes blocks by the profile: zstd without magic number, content size, checksum and dictionary id, or
/// stored if that is no larger.
#[derive(Clone, Copy, Debug)]
pub struct BlockEncoder<'a> {
    /// The zstd level.
    pub level: i32,
    /// The dictionary, or empty.
    pub dictionary: &'a [u8],
}

impl BlockEncoder<'_> {
    /// Encodes a block and returns its codec and bytes.
    ///
    /// # Errors
    ///
    /// [`Kind::Limit`] if memory runs out, [`Kind::Corrupt`] if zstd rejects the dictionary.
    pub fn encode(&self, content: &[u8]) -> Result<(Codec, Vec<u8>)> {
        let frame = frame::compress(content, self.level, self.dictionary)?;
        Ok(match frame.len() < content.len() {
            true => (Codec::Zstd, frame),
            false => (Codec::Copy, content.to_vec()),
        })
    }
}
