//! What libzstd says: the verdict and the bytes that ours are held against.

use linerate_core::Error;
use zstd_safe::{DCtx, DParameter, FrameFormat, InBuffer, OutBuffer, ResetDirective, get_error_name};

/// What decoding gave: bytes, or why not.
pub type Verdict = Result<Vec<u8>, &'static str>;

const STRICTER: [&str; 2] = ["a stream of literals", "a Huffman tree has codes of more than 11 bits"];

/// Whether ours says what libzstd says: of its two ways, where they differ, either.
///
/// Two things ours refuses, as the format demands, and libzstd takes. Four streams of literals of which
/// one has no end mark or is not used up exactly: libzstd looks at it only where its fastest loop cannot
/// run. Huffman codes of 12 bits: libzstd never writes them, but reads them.
pub fn agrees(ours: &Result<Vec<u8>, Error>, theirs: &[Verdict]) -> bool {
    match ours {
        Ok(bytes) => theirs.iter().any(|theirs| theirs.as_ref() == Ok(bytes)),
        Err(e) => {
            theirs.iter().any(Result::is_err) || STRICTER.iter().any(|what| e.message.starts_with(what))
        }
    }
}

/// The same of a decoder that keeps exactly the window. In pieces libzstd keeps more than the window, and
/// takes matches that reach there; the format forbids them.
pub fn agrees_in_pieces(ours: &Result<Vec<u8>, Error>, theirs: &[Verdict]) -> bool {
    const TOO_FAR: &str = "a match reaches back before the history";
    agrees(ours, theirs) || ours.as_ref().is_err_and(|e| e.message == TOO_FAR)
}

/// libzstd with its contexts, which are used again and again.
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

    /// Decodes all frames at once into at most `most` bytes.
    pub fn whole(&mut self, src: &[u8], dictionary: &[u8], most: usize) -> Verdict {
        self.reset();
        self.at_once(src, dictionary, most)
    }

    /// The same without magic numbers.
    pub fn magicless(&mut self, src: &[u8], dictionary: &[u8], most: usize) -> Verdict {
        self.reset();
        self.set(DParameter::Format(FrameFormat::Magicless));
        self.at_once(src, dictionary, most)
    }

    /// With a dictionary as bytes: of a digested one libzstd lets matches reach into the tables, which
    /// stand before the content.
    fn at_once(&mut self, src: &[u8], dictionary: &[u8], most: usize) -> Verdict {
        let mut out = Vec::with_capacity(most);
        self.context.decompress_using_dict(&mut out, src, dictionary).map_err(get_error_name)?;
        Ok(out)
    }

    /// Decodes piece by piece with a window of at most `1 << window_log` bytes. An input that ends early
    /// is an error. The pieces are smaller than any frame: what libzstd has all of, it decodes at once.
    pub fn stream(&mut self, src: &[u8], dictionary: &[u8], window_log: u32, most: usize) -> Verdict {
        const PIECE: usize = 8;
        self.reset();
        self.set(DParameter::WindowLogMax(window_log));
        self.context.load_dictionary(dictionary).map_err(get_error_name)?;
        let mut out = Vec::new();
        let mut hint = 0;
        // The empty piece asks for what is left.
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
                if out.len() > most {
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

    /// Both ways. Where they differ, ours may be like either.
    pub fn both(&mut self, src: &[u8], dictionary: &[u8], window_log: u32, most: usize) -> [Verdict; 2] {
        [self.whole(src, dictionary, most), self.stream(src, dictionary, window_log, most)]
    }
}
