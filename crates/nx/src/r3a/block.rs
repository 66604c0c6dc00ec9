//! One block's bytes to its content, and content to a block.

use linerate_core::{Error, Kind, Result};
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

use super::frame::{self, MAGIC, unusable};
use super::toc::BlockCodec;
use crate::decode::Decoder;
use crate::toc::Codec;

/// Working memory for decoding blocks, used over and over.
pub(super) struct BlockDecoder {
    plain: Decoder,
    /// For blocks with a dictionary, the last of which stays loaded.
    trained: DCtx<'static>,
    loaded: Option<u8>,
}

const DAMAGED: Error = Error::new(Kind::Corrupt, 0, "a damaged block");
const SHORT: Error = Error::new(Kind::Corrupt, 0, "a block that holds less than its files");
const FOREIGN: Error = Error::new(Kind::Unsupported, 0, "a block of an unsupported codec");

/// The room in front of a block for the magic number that its frame lacks.
pub(super) const ROOM: usize = MAGIC.len();

impl BlockDecoder {
    pub(super) fn new(window_log: u32) -> Result<BlockDecoder> {
        let plain = Decoder::new(window_log)?;
        let mut trained = DCtx::try_create().ok_or(Error::new(Kind::Limit, 0, "not enough memory"))?;
        trained
            .set_parameter(DParameter::WindowLogMax(window_log))
            .map_err(|_| Error::new(Kind::BadArgument, 0, "a window limit that zstd does not know"))?;
        Ok(BlockDecoder { plain, trained, loaded: None })
    }

    /// Fills `out` with the content that files need of a block, which stands in `roomy` behind
    /// [`ROOM`] bytes. Errors are at 0.
    pub(super) fn decode(
        &mut self,
        codec: BlockCodec,
        dictionary: Option<(u8, &[u8])>,
        roomy: &mut [u8],
        out: &mut [u8],
    ) -> Result<()> {
        let BlockCodec::Known(codec) = codec else { return Err(FOREIGN) };
        match (codec, dictionary) {
            (Codec::Zstd, Some((number, dictionary))) => {
                roomy[..ROOM].copy_from_slice(&MAGIC);
                self.load(number, dictionary)?;
                self.stream(roomy, out)
            }
            (Codec::Zstd, None) => {
                roomy[..ROOM].copy_from_slice(&MAGIC);
                self.plain.decode(codec, roomy, out).map(|_| ())
            }
            _ => self.plain.decode(codec, &roomy[ROOM..], out).map(|_| ()),
        }
    }

    fn load(&mut self, number: u8, dictionary: &[u8]) -> Result<()> {
        if self.loaded != Some(number) {
            self.loaded = None;
            self.trained.reset(ResetDirective::SessionOnly).map_err(|_| DAMAGED)?;
            self.trained.load_dictionary(dictionary).map_err(|_| unusable())?;
            self.loaded = Some(number);
        }
        Ok(())
    }

    /// Decodes with the dictionary until `out` is full.
    fn stream(&mut self, block: &[u8], out: &mut [u8]) -> Result<()> {
        self.trained.reset(ResetDirective::SessionOnly).map_err(|_| DAMAGED)?;
        let (mut input, mut output) = (InBuffer::around(block), OutBuffer::around(out));
        while output.pos() < output.capacity() {
            let before = (input.pos(), output.pos());
            let left = self.trained.decompress_stream(&mut output, &mut input).map_err(damaged)?;
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

/// Writes blocks as the profile has them: zstd without magic number, content size, checksum and
/// number of the dictionary, or stored where that is no larger.
#[derive(Clone, Copy, Debug)]
pub struct BlockEncoder<'a> {
    /// The level of zstd.
    pub level: i32,
    /// The dictionary, or nothing.
    pub dictionary: &'a [u8],
}

impl BlockEncoder<'_> {
    /// The codec and bytes of a block with that content.
    ///
    /// # Errors
    ///
    /// [`Kind::Limit`] if memory runs out, [`Kind::Corrupt`] if zstd refuses the dictionary.
    pub fn encode(&self, content: &[u8]) -> Result<(Codec, Vec<u8>)> {
        let frame = frame::fold(content, self.level, self.dictionary)?;
        Ok(match frame.len() < content.len() {
            true => (Codec::Zstd, frame),
            false => (Codec::Copy, content.to_vec()),
        })
    }
}
