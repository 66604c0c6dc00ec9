//! libzstd as the oracle of validity and content.

use linerate_core::Error;
use zstd_safe::{DCtx, DParameter, FrameFormat, InBuffer, OutBuffer, ResetDirective, get_error_name};

/// Result of decoding: bytes, or the name of libzstd's error.
pub type Verdict = Result<Vec<u8>, &'static str>;

const STRICTER: [&str; 2] = ["a stream of literals", "a Huffman tree has codes of more than 11 bits"];

/// Whether our result agrees with libzstd's. If its one-call and its streaming decoder differ,
/// either counts.
///
/// As the format demands, our decoder is stricter in two cases. Four literal streams of which one
/// has no end mark, or unused bits: libzstd checks this only if its fastest loop cannot run.
/// Huffman codes of 12 bits: libzstd reads them, but never writes them.
pub fn agrees(ours: &Result<Vec<u8>, Error>, theirs: &[Verdict]) -> bool {
    match ours {
        Ok(bytes) => theirs.iter().any(|theirs| theirs.as_ref() == Ok(bytes)),
        Err(e) => {
            theirs.iter().any(Result::is_err) || STRICTER.iter().any(|what| e.message.starts_with(what))
        }
    }
}

/// As [`agrees`], for a stream decoder that keeps exactly the window. libzstd's streaming decoder
/// keeps more, and accepts matches beyond the window, which the format forbids.
pub fn agrees_in_pieces(ours: &Result<Vec<u8>, Error>, theirs: &[Verdict]) -> bool {
    const TOO_FAR: &str = "a match reaches back before the history";
    agrees(ours, theirs) || ours.as_ref().is_err_and(|e| e.message == TOO_FAR)
}

/// libzstd with a reused context.
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

    /// Decodes all frames in one call into at most `max_len` bytes.
    pub fn whole(&mut self, src: &[u8], dictionary: &[u8], max_len: usize) -> Verdict {
        self.reset();
        self.at_once(src, dictionary, max_len)
    }

    /// As [`whole`](Self::whole), without magic numbers.
    pub fn magicless(&mut self, src: &[u8], dictionary: &[u8], max_len: usize) -> Verdict {
        self.reset();
        self.set(DParameter::Format(FrameFormat::Magicless));
        self.at_once(src, dictionary, max_len)
    }

    /// Loads a dictionary as bytes. With a digested dictionary, libzstd would accept matches into
    /// the tables, which precede the content.
    fn at_once(&mut self, src: &[u8], dictionary: &[u8], max_len: usize) -> Verdict {
        let mut out = Vec::with_capacity(max_len);
        self.context.decompress_using_dict(&mut out, src, dictionary).map_err(get_error_name)?;
        Ok(out)
    }

    /// Decodes piece by piece with a window of at most `1 << window_log` bytes. Truncated input is
    /// an error. Pieces are smaller than any frame, since libzstd would decode a complete frame in
    /// one call.
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

    /// Decodes in both ways. If they differ, either result is accepted.
    pub fn both(&mut self, src: &[u8], dictionary: &[u8], window_log: u32, max_len: usize) -> [Verdict; 2] {
        [self.whole(src, dictionary, max_len), self.stream(src, dictionary, window_log, max_len)]
    }
}
