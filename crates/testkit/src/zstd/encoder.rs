//! Makes frames and dictionaries with libzstd.

use zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd_safe::{CCtx, CParameter, compress_bound, get_error_name, train_from_buffer};

/// Compresses `content` into one frame in one call. The frame's header has the content size, unless
/// a parameter disables it.
pub fn compress(content: &[u8], dictionary: &[u8], parameters: &[CParameter]) -> Vec<u8> {
    let mut context = context(dictionary, parameters);
    let mut out = Vec::with_capacity(compress_bound(content.len()));
    context.compress2(&mut out, content).map_err(get_error_name).expect("libzstd compresses");
    out
}

fn context(dictionary: &[u8], parameters: &[CParameter]) -> CCtx<'static> {
    let mut context = CCtx::create();
    for parameter in parameters {
        context.set_parameter(*parameter).map_err(get_error_name).expect("a parameter that libzstd has");
    }
    context.load_dictionary(dictionary).map_err(get_error_name).expect("a dictionary");
    context
}

/// Compresses the pieces into one frame, with a flush after each but the last, which ends the
/// frame. If there are several pieces, the frame's header has a window and no content size.
pub fn compress_flushed(pieces: &[&[u8]], dictionary: &[u8], parameters: &[CParameter]) -> Vec<u8> {
    use zstd_safe::{InBuffer, OutBuffer};
    let mut context = context(dictionary, parameters);
    let total: usize = pieces.iter().map(|piece| compress_bound(piece.len()) + 64).sum();
    let mut out = Vec::with_capacity(total);
    for (i, piece) in pieces.iter().enumerate() {
        let end = i + 1 == pieces.len();
        let directive = if end { ZSTD_EndDirective::ZSTD_e_end } else { ZSTD_EndDirective::ZSTD_e_flush };
        let mut input = InBuffer::around(piece);
        let at = out.len();
        let mut output = OutBuffer::around_pos(&mut out, at);
        while context.compress_stream2(&mut output, &mut input, directive).map_err(get_error_name).unwrap()
            > 0
        {}
    }
    out
}

pub fn level(level: i32) -> CParameter {
    CParameter::CompressionLevel(level)
}

/// Trains a dictionary of at most `max_len` bytes. Each `piece` bytes of `samples` are a sample.
pub fn train(samples: &[u8], piece: usize, max_len: usize) -> Vec<u8> {
    let sizes: Vec<usize> = samples.chunks(piece).map(<[u8]>::len).collect();
    let mut dictionary = Vec::with_capacity(max_len);
    train_from_buffer(&mut dictionary, samples, &sizes).map_err(get_error_name).expect("enough samples");
    dictionary
}
