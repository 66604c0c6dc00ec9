//! Decoders of zstd frames and streams: ours, libzstd, and for frames also ruzstd, with the feature
//! of that name.

use linerate_zstd::{Dictionary, FrameDecoder, Options, Scratch, StreamDecoder};
use zstd_safe::zstd_sys::ZSTD_EndDirective::ZSTD_e_flush;
use zstd_safe::{CCtx, CParameter, DCtx, DDict, InBuffer, OutBuffer, ResetDirective, get_error_name};

use crate::decoding::Decoder;
use crate::harness::corpus::Corpus;
use crate::harness::message;

/// The decoders of frames in this build. If there is a dictionary, each has digested it.
pub(super) fn contenders(dictionary: Option<&[u8]>) -> Result<Vec<Decoder>, String> {
    Ok(vec![
        ours(dictionary)?,
        libzstd(dictionary),
        #[cfg(feature = "ruzstd")]
        ruzstd(dictionary)?,
    ])
}

fn ours(dictionary: Option<&[u8]>) -> Result<Decoder, String> {
    let digested = dictionary.map(Dictionary::new).transpose().map_err(message)?;
    let mut scratch = Scratch::new();
    let memory = scratch.memory();
    let run = move |frame: &[u8], out: &mut [u8]| {
        let decoder = FrameDecoder::new(Options::new());
        decoder.decode(&mut scratch, digested.as_ref(), frame, out).map_err(message)
    };
    let state = ours_state()?;
    Ok(Decoder { name: "linerate", run: Box::new(run), state: Some(state), scratch: Some(memory) })
}

/// Bytes that our decoder of a stream with a window of 64 KiB keeps between calls.
fn ours_state() -> Result<usize, String> {
    let (stream, _) = messages()?;
    let mut decoder = StreamDecoder::new(Options::new());
    let (mut scratch, mut out) = (Scratch::new(), vec![0; 1 << 20]);
    decoder.decode(&mut scratch, None, &stream, &mut out).map_err(message)?;
    Ok(decoder.memory())
}

fn libzstd(dictionary: Option<&[u8]>) -> Decoder {
    let digested = dictionary.map(DDict::create);
    let mut context = DCtx::create();
    let run = move |frame: &[u8], out: &mut [u8]| {
        match &digested {
            Some(dictionary) => context.decompress_using_ddict(out, frame, dictionary),
            None => context.decompress(out, frame),
        }
        .map_err(|e| get_error_name(e).into())
    };
    // Contexts of libzstd share no memory, so their scratch is 0.
    Decoder { name: "libzstd", run: Box::new(run), state: libzstd_state().ok(), scratch: Some(0) }
}

/// Bytes that libzstd's decoder of a stream with a window of 64 KiB keeps between calls.
fn libzstd_state() -> Result<usize, String> {
    let (stream, content) = messages()?;
    let mut context = DCtx::create();
    let mut input = InBuffer::around(&stream);
    let mut out = vec![0; content];
    let mut output = OutBuffer::around(&mut out[..]);
    while input.pos() < stream.len() {
        context.decompress_stream(&mut output, &mut input).map_err(get_error_name)?;
    }
    Ok(context.sizeof())
}

/// Returns one zstd frame of flushed messages, with a window of 64 KiB and without its last block,
/// and the length of its content.
fn messages() -> Result<(Vec<u8>, usize), String> {
    let rows = Corpus::rows(300_000).files.concat();
    Ok((streams::flushed(rows.chunks(1000), 3)?.concat(), rows.len()))
}

#[cfg(feature = "ruzstd")]
fn ruzstd(dictionary: Option<&[u8]>) -> Result<Decoder, String> {
    let mut decoder = ruzstd::decoding::FrameDecoder::new();
    if let Some(bytes) = dictionary {
        let dictionary = ruzstd::decoding::Dictionary::decode_dict(bytes).map_err(message)?;
        decoder.add_dict(dictionary).map_err(message)?;
    }
    let run = move |frame: &[u8], out: &mut [u8]| decoder.decode_all(frame, out).map_err(message);
    Ok(Decoder { name: "ruzstd", run: Box::new(run), state: None, scratch: None })
}

/// Streams of flushed pieces, as gateways send them, and their decoders.
pub(super) mod streams {
    use super::*;

    /// Compresses the first `most` bytes of the corpus, its files joined, into a stream whose
    /// pieces of `piece` bytes are flushed and have their compressed length in front. Returns the
    /// stream and its content.
    pub(in super::super) fn compress(
        corpus: &Corpus,
        piece: usize,
        level: i32,
        most: usize,
    ) -> Result<(Vec<u8>, Vec<u8>), String> {
        let mut content = corpus.files.concat();
        content.truncate(most);
        let mut stream = Vec::new();
        for part in flushed(content.chunks(piece), level)? {
            stream.extend_from_slice(&(part.len() as u32).to_le_bytes());
            stream.extend_from_slice(&part);
        }
        Ok((stream, content))
    }

    /// Compresses pieces into one zstd frame with a window of 64 KiB, and flushes after each.
    /// Returns the compressed bytes of each piece. The frame is not ended.
    pub(super) fn flushed<'p>(
        pieces: impl Iterator<Item = &'p [u8]>,
        level: i32,
    ) -> Result<Vec<Vec<u8>>, String> {
        let mut context = CCtx::create();
        context.set_parameter(CParameter::CompressionLevel(level)).map_err(get_error_name)?;
        context.set_parameter(CParameter::WindowLog(16)).map_err(get_error_name)?;
        let one = |piece: &[u8]| {
            let mut out = Vec::with_capacity(zstd_safe::compress_bound(piece.len()) + 64);
            let mut output = OutBuffer::around(&mut out);
            let mut input = InBuffer::around(piece);
            while context.compress_stream2(&mut output, &mut input, ZSTD_e_flush).map_err(get_error_name)? > 0
            {
            }
            Ok(out)
        };
        pieces.map(one).collect()
    }

    /// Passes the pieces of a stream that [`compress`] made to `decode` one by one. The content of
    /// each piece is written after that of the piece before or, if `out` has room for one piece
    /// only, over it.
    fn pieces(
        mut stream: &[u8],
        out: &mut [u8],
        piece: usize,
        mut decode: impl FnMut(&[u8], &mut [u8]) -> Result<usize, String>,
    ) -> Result<usize, String> {
        let mut written = 0;
        while let Some((len, rest)) = stream.split_first_chunk() {
            let (part, rest) = rest.split_at(u32::from_le_bytes(*len) as usize);
            let at = if out.len() == piece { 0 } else { written };
            let end = (at + piece).min(out.len());
            written += decode(part, &mut out[at..end])?;
            stream = rest;
        }
        Ok(written)
    }

    pub(in super::super) fn contenders(piece: usize) -> Vec<Decoder> {
        let (mut scratch, mut decoder) = (Scratch::new(), StreamDecoder::new(Options::default()));
        let ours = move |stream: &[u8], out: &mut [u8]| {
            decoder.reset();
            pieces(stream, out, piece, |part, out| {
                let done = decoder.decode(&mut scratch, None, part, out).map_err(message)?;
                Ok(done.written)
            })
        };
        let mut context = DCtx::create();
        let theirs = move |stream: &[u8], out: &mut [u8]| {
            context.reset(ResetDirective::SessionOnly).map_err(get_error_name)?;
            pieces(stream, out, piece, |part, out| {
                let (mut output, mut input) = (OutBuffer::around(out), InBuffer::around(part));
                context.decompress_stream(&mut output, &mut input).map_err(get_error_name)?;
                Ok(output.pos())
            })
        };
        let decoder = |name, run| Decoder { name, run, state: None, scratch: None };
        vec![decoder("linerate", Box::new(ours)), decoder("libzstd", Box::new(theirs))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_stream_of_ours_is_much_smaller() {
        let (ours, theirs) = (ours_state().unwrap(), libzstd_state().unwrap());
        assert!(ours <= 80_000, "{ours}");
        assert!(theirs > 3 * ours, "{theirs}");
    }
}
