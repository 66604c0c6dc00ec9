//! libzstd as the oracle that says whether a frame is valid, and what its content is.

use linerate_core::Error;
use zstd_safe::{DCtx, DParameter, FrameFormat, InBuffer, OutBuffer, ResetDirective, get_error_name};

/// Result of decoding: bytes, or the name of libzstd's error.
pub type Verdict = Result<Vec<u8>, &'static str>;

const STRICTER: [&str; 2] = ["a stream of literals", "a Huffman tree has codes of more than 11 bits"];

/// Whether the result of `linerate-zstd` agrees with one of libzstd's, which has a decoder for one
/// call and one for streams.
///
/// `linerate-zstd` may also refuse what libzstd accepts in two cases, since the format forbids it.
/// Four streams of literals of which one has unused bits or no end mark: libzstd checks this only
/// if its fastest loop cannot run. Huffman codes of 12 bits: libzstd reads them, but never writes
/// them.
pub fn agrees(ours: &Result<Vec<u8>, Error>, theirs: &[Verdict]) -> bool {
    match ours {
        Ok(bytes) => theirs.iter().any(|theirs| theirs.as_ref() == Ok(bytes)),
        Err(e) => {
            theirs.iter().any(Result::is_err) || STRICTER.iter().any(|what| e.message.starts_with(what))
        }
    }
}

/// Like [`agrees`], for a stream decoder, which keeps exactly the window and may therefore also
/// refuse a match beyond it. The format forbids such matches; libzstd's stream decoder keeps more
/// than the window, and accepts some.
pub fn agrees_in_pieces(ours: &Result<Vec<u8>, Error>, theirs: &[Verdict]) -> bool {
    const TOO_FAR: &str = "a match reaches back before the history";
    agrees(ours, theirs) || ours.as_ref().is_err_and(|e| e.message == TOO_FAR)
}

/// libzstd's decoders. They share a context, which is reset before each use.
pub struct Oracle {
    context: DCtx<'static>,
    piece: Vec<u8>,
}

impl Default for Oracle {
    fn default() -> Self {
        Oracle { context: DCtx::create(), piece: Vec::with_capacity(1 << 17) }
    }
}

impl Oracle {
    fn set(&mut self, parameter: DParameter) {
        self.context.set_parameter(parameter).map_err(get_error_name).expect("a parameter of libzstd");
    }

    fn reset(&mut self) {
        let reset = self.context.reset(ResetDirective::SessionAndParameters);
        reset.map_err(get_error_name).expect("a context that can be reset");
    }

    /// Decodes all frames in one call. Content of more than `max_len` bytes is an error.
    pub fn whole(&mut self, src: &[u8], dictionary: &[u8], max_len: usize) -> Verdict {
        self.reset();
        self.at_once(src, dictionary, max_len)
    }

    /// Decodes as [`whole`](Self::whole) does, but frames without magic numbers.
    pub fn magicless(&mut self, src: &[u8], dictionary: &[u8], max_len: usize) -> Verdict {
        self.reset();
        self.set(DParameter::Format(FrameFormat::Magicless));
        self.at_once(src, dictionary, max_len)
    }

    /// Decodes all frames in one call, with the dictionary given as bytes. With a digested
    /// dictionary, libzstd would accept matches that reach into the dictionary's tables, which
    /// precede its content.
    fn at_once(&mut self, src: &[u8], dictionary: &[u8], max_len: usize) -> Verdict {
        let mut out = Vec::with_capacity(max_len);
        self.context.decompress_using_dict(&mut out, src, dictionary).map_err(get_error_name)?;
        Ok(out)
    }

    /// Decodes with the stream decoder, in pieces of 8 bytes and with windows of at most
    /// `1 << window_log` bytes. Truncated input and content of more than `max_len` bytes are
    /// errors. The pieces are smaller than any frame with content, since libzstd decodes a complete
    /// frame with its decoder for one call.
    pub fn stream(&mut self, src: &[u8], dictionary: &[u8], window_log: u32, max_len: usize) -> Verdict {
        const PIECE: usize = 8;
        self.reset();
        self.set(DParameter::WindowLogMax(window_log));
        self.context.load_dictionary(dictionary).map_err(get_error_name)?;
        let mut out = Vec::new();
        let mut hint = 0;
        // The empty piece flushes the remaining output.
        for piece in src.chunks(PIECE).chain([&[][..]]) {
            let mut input = InBuffer::around(piece);
            loop {
                self.piece.clear();
                let mut output = OutBuffer::around(&mut self.piece);
                let before = input.pos();
                if before < piece.len() || hint != 0 {
                    hint = self.context.decompress_stream(&mut output, &mut input).map_err(get_error_name)?;
                }
                out.extend_from_slice(&self.piece);
                if out.len() > max_len {
                    return Err("Destination buffer is too small");
                }
                if input.pos() == before && self.piece.is_empty() {
                    break;
                }
            }
            if input.pos() < piece.len() {
                return Err("Src size is incorrect");
            }
        }
        if hint == 0 { Ok(out) } else { Err("Src size is incorrect") }
    }

    /// The results of [`whole`](Self::whole) and [`stream`](Self::stream), for [`agrees`].
    pub fn both(&mut self, src: &[u8], dictionary: &[u8], window_log: u32, max_len: usize) -> [Verdict; 2] {
        [self.whole(src, dictionary, max_len), self.stream(src, dictionary, window_log, max_len)]
    }
}
