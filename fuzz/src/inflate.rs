//! Inflate: arbitrary bytes as deflate, zlib or gzip, in arbitrary pieces.

use linerate_inflate::{BufferDecoder, Format, Kind, Options, Scratch, Status, StreamDecoder};
use zlib_rs::{Inflate, InflateFlush};

/// Output is not compared beyond this number of bytes.
const LIMIT: usize = 1 << 18;

/// Whether the compressed data is valid so far, and its length in bytes if its end was reached.
type Verdict = (bool, Option<usize>);

/// Decodes `src` by zlib-rs, at most [`LIMIT`] bytes of output.
fn theirs(header: bool, bits: u8, src: &[u8]) -> (Verdict, Vec<u8>) {
    let mut inflate = Inflate::new(header, bits);
    let mut out = vec![0; LIMIT];
    let result = inflate.decompress(src, &mut out, InflateFlush::NoFlush);
    out.truncate(inflate.total_out() as usize);
    let ended = matches!(result, Ok(zlib_rs::Status::StreamEnd)).then(|| inflate.total_in() as usize);
    ((result.is_ok(), ended), out)
}

/// Decodes `src` by a [`StreamDecoder`], at most [`LIMIT`] bytes of output. `pieces` chooses the
/// lengths of pieces of input and output, in turn; if it is empty, pieces have [`LIMIT`] bytes.
fn ours(options: Options, src: &[u8], pieces: &[u8], scratch: &mut Scratch) -> (Verdict, Vec<u8>) {
    let mut decoder = StreamDecoder::new(options).expect("options");
    let mut lens = pieces.iter().cycle().map(|&len| usize::from(len) * usize::from(len / 32 + 1));
    let (mut at, mut out, mut idle) = (0, Vec::new(), 0);
    loop {
        // All lengths may be 0. After a call without progress, `idle` makes the pieces longer.
        let mut next = |idle| lens.next().unwrap_or(LIMIT).max(idle);
        let piece = &src[at..][..next(idle).min(src.len() - at)];
        let (len, room) = (out.len(), next(idle).min(LIMIT - out.len()));
        out.resize(len + room, 0);
        let progress = match decoder.decode(scratch, piece, &mut out[len..]) {
            Ok(progress) => progress,
            Err(error) => {
                assert!(error.offset <= src.len() as u64, "{error}");
                out.truncate(len);
                return ((false, None), out);
            }
        };
        at += progress.read;
        out.truncate(len + progress.written);
        idle = usize::from(progress.read + progress.written == 0);
        match progress.status {
            Status::End => return ((true, Some(at)), out),
            Status::NeedDictionary => return ((false, None), out),
            Status::NeedInput if at == src.len() => return ((true, None), out),
            Status::NeedOutput if out.len() == LIMIT => return ((true, None), out),
            _ => {}
        }
    }
}

/// Decodes by stream decoders, one of them in the reference form, and by a buffer decoder, and
/// compares with zlib-rs. The first byte chooses the format, the second how many of the next bytes,
/// 0 to 15, choose the lengths of pieces. The rest is the compressed data.
///
/// # Panics
/// If a decoder, with any split into pieces, has another verdict or other bytes than zlib-rs.
pub fn inflate(data: &[u8]) {
    let [choice, count, rest @ ..] = data else { return };
    let (pieces, src) = rest.split_at(usize::from(count % 16).min(rest.len()));
    let (format, header, bits) = match choice % 4 {
        0 => (Format::Deflate, false, 15),
        1 => (Format::Zlib, true, 15),
        2 => (Format::Gzip, true, 31),
        _ => (Format::ZlibOrGzip, true, 47),
    };
    let options = Options::new(format);
    let (expected, bytes) = theirs(header, bits, src);
    let mut scratch = Scratch::new();
    let mut reference = Scratch::new().reference();
    for (scratch, pieces) in [(&mut scratch, &[][..]), (&mut reference, &[]), (&mut Scratch::new(), pieces)] {
        let (verdict, out) = ours(options, src, pieces, scratch);
        // If the buffer is full, zlib-rs has not read the rest of the input, so verdicts may differ.
        if bytes.len() < LIMIT {
            assert_eq!(verdict, expected);
        }
        assert!(out == bytes, "{} and {} bytes", out.len(), bytes.len());
    }
    let mut out = vec![0; bytes.len()];
    let whole = BufferDecoder::new(options).decode(&mut scratch, None, src, &mut out);
    match (whole, expected.1) {
        (Ok(sizes), Some(read)) => {
            assert!((sizes.read, sizes.written) == (read, bytes.len()) && out == bytes)
        }
        (Err(error), Some(_)) => panic!("{error}"),
        (Ok(sizes), None) => assert!(bytes.len() == LIMIT, "{sizes:?}"),
        (Err(error), None) => assert!(error.kind != Kind::Truncated || expected.0, "{error}"),
    }
}
