//! Decoders to compare, and their inputs.

use linerate_inflate::{Error, Format, Kind, Options, Scratch, Status, StreamDecoder};
use zlib_rs::{Deflate, DeflateFlush, Inflate, InflateError, InflateFlush};

pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// Returns random content: noise, few symbols, and matches at short and long distances.
pub(crate) fn content(noise: &mut Noise, len: usize) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(len + 300);
    let symbols = 1 + noise.below(256);
    let (repeat, reach) = (noise.below(20), 1 + noise.below(40_000));
    while out.len() < len {
        if noise.below(20) < repeat && !out.is_empty() {
            let distance = 1 + noise.below(reach.min(out.len()));
            for _ in 0..3 + noise.below(290) {
                out.push(out[out.len() - distance]);
            }
        } else {
            out.push(noise.below(symbols) as u8);
        }
    }
    out.truncate(len);
    out
}

/// Returns a gzip member with an extra field, a name, a comment and a checksum of its header.
pub(crate) fn with_all_fields(data: &[u8], content: &[u8]) -> Vec<u8> {
    let mut member = vec![0x1f, 0x8b, 8, 1 | 2 | 4 | 8 | 16, 1, 2, 3, 4, 2, 3];
    member.extend_from_slice(&[5, 0]);
    member.extend_from_slice(b"extraname\0comment\0");
    let crc = crc32(&member);
    member.extend_from_slice(&crc.to_le_bytes()[..2]);
    member.extend_from_slice(data);
    member.extend_from_slice(&crc32(content).to_le_bytes());
    member.extend_from_slice(&(content.len() as u32).to_le_bytes());
    member
}

/// Computes the checksum by its definition.
fn crc32(data: &[u8]) -> u32 {
    !data.iter().fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 & 0u32.wrapping_sub(crc & 1)))
    })
}

/// Returns zlib's code for a format and a window: `windowBits` of `inflateInit2`.
fn window_bits(format: Format, bits: u8) -> (bool, u8) {
    match format {
        Format::Deflate => (false, bits),
        Format::Zlib => (true, bits),
        Format::Gzip => (true, bits + 16),
        _ => (true, bits + 32),
    }
}

/// Compresses with zlib-rs. If `is_final` is set the stream ends, and otherwise it is flushed.
pub(crate) fn compress(deflate: &mut Deflate, mut data: &[u8], is_final: bool) -> Vec<u8> {
    let flush = if is_final { DeflateFlush::Finish } else { DeflateFlush::SyncFlush };
    let mut wire = Vec::new();
    loop {
        let (at, read, written) = (wire.len(), deflate.total_in(), deflate.total_out());
        wire.resize(at + 5000, 0);
        deflate.compress(data, &mut wire[at..], flush).expect("zlib-rs compresses");
        let n = (deflate.total_out() - written) as usize;
        data = &data[(deflate.total_in() - read) as usize..];
        wire.truncate(at + n);
        if n < 5000 {
            return wire;
        }
    }
}

/// Compresses a whole stream.
pub(crate) fn compressed(format: Format, level: i32, bits: u8, data: &[u8]) -> Vec<u8> {
    let (header, bits) = window_bits(format, bits);
    compress(&mut Deflate::new(level, header, bits), data, true)
}

/// The end of decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The stream is valid, and has this many compressed bytes.
    End(usize),
    NeedInput,
    NeedDictionary(u32),
    Damaged,
}

/// The input of a decoder and its settings.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) format: Format,
    pub(crate) bits: u8,
    /// The dictionary, set before raw data or when a header asks for it.
    pub(crate) dictionary: Option<&'a [u8]>,
    pub(crate) src: &'a [u8],
}

impl<'a> Case<'a> {
    pub(crate) fn new(format: Format, src: &'a [u8]) -> Self {
        Case { format, bits: 15, dictionary: None, src }
    }
}

/// Decodes with zlib-rs: all input at once, and output in pieces of `piece` bytes.
pub(crate) fn theirs(case: Case<'_>, piece: usize) -> (Verdict, Vec<u8>) {
    let (header, bits) = window_bits(case.format, case.bits);
    let mut inflate = Inflate::new(header, bits);
    if let (Format::Deflate, Some(dictionary)) = (case.format, case.dictionary) {
        inflate.set_dictionary(dictionary).expect("a dictionary");
    }
    let (mut out, mut buffer) = (Vec::new(), vec![0; piece]);
    loop {
        let (read, before) = (inflate.total_in() as usize, inflate.total_out());
        let result = inflate.decompress(&case.src[read..], &mut buffer, InflateFlush::NoFlush);
        let written = (inflate.total_out() - before) as usize;
        out.extend_from_slice(&buffer[..written]);
        match result {
            Ok(zlib_rs::Status::StreamEnd) => return (Verdict::End(inflate.total_in() as usize), out),
            Ok(_) if written == piece => {}
            Ok(_) => return (Verdict::NeedInput, out),
            Err(InflateError::NeedDict { dict_id }) => match case.dictionary {
                None => return (Verdict::NeedDictionary(dict_id), out),
                Some(dictionary) if inflate.set_dictionary(dictionary).is_err() => {
                    return (Verdict::Damaged, out);
                }
                Some(_) => {}
            },
            Err(_) => return (Verdict::Damaged, out),
        }
    }
}

/// Decodes with our decoder: `next` gives the sizes of pieces of input and output in turn.
pub(crate) fn ours(
    case: Case<'_>,
    scratch: &mut Scratch,
    mut next: impl FnMut() -> usize,
) -> (Verdict, Vec<u8>, Option<Error>) {
    let mut decoder = StreamDecoder::new(Options::new(case.format).window_bits(case.bits)).expect("options");
    if let (Format::Deflate, Some(dictionary)) = (case.format, case.dictionary) {
        decoder.set_dictionary(dictionary).expect("a dictionary");
    }
    let (mut at, mut out) = (0, Vec::new());
    loop {
        let piece = &case.src[at..][..next().min(case.src.len() - at)];
        let len = out.len();
        let room = next();
        out.resize(len + room, 0xAA);
        let progress = match decoder.decode(scratch, piece, &mut out[len..]) {
            Ok(progress) => progress,
            Err(error) => {
                out.truncate(len);
                assert!(error.offset <= case.src.len() as u64, "{error}");
                assert_eq!(decoder.decode(scratch, &[], &mut []), Err(error), "errors stay");
                return (Verdict::Damaged, out, Some(error));
            }
        };
        assert!(progress.written <= room && progress.read <= piece.len());
        at += progress.read;
        out.truncate(len + progress.written);
        match progress.status {
            Status::End => return (Verdict::End(at), out, None),
            Status::NeedInput => {
                assert_eq!(progress.read, piece.len(), "all input is consumed");
                if at == case.src.len() {
                    return (Verdict::NeedInput, out, None);
                }
            }
            Status::NeedDictionary => match case.dictionary {
                None => return (Verdict::NeedDictionary(decoder.dictionary_id().expect("an id")), out, None),
                Some(dictionary) if decoder.set_dictionary(dictionary).is_err() => {
                    return (Verdict::Damaged, out, None);
                }
                Some(_) => {}
            },
            _ => {}
        }
    }
}

/// Decodes with our decoder in as few calls as possible.
pub(crate) fn ours_whole(case: Case<'_>, scratch: &mut Scratch) -> (Verdict, Vec<u8>, Option<Error>) {
    ours(case, scratch, || 1 << 20)
}

/// Returns a scratch for each form of the decoder.
pub(crate) fn forms() -> Vec<Scratch> {
    let tiers = linerate_inflate::Tier::ALL.into_iter().filter(|tier| tier.is_supported());
    tiers.map(|tier| Scratch::new().tier(tier)).chain([Scratch::new().reference()]).collect()
}

/// Asserts that all forms and some divisions have the same verdict and output as zlib-rs. Returns
/// the verdict.
#[track_caller]
pub(crate) fn assert_as_zlib(case: Case<'_>, scratches: &mut [Scratch], noise: &mut Noise) -> Verdict {
    let expected = theirs(case, 1 << 16);
    for scratch in scratches.iter_mut() {
        let (verdict, out, error) = ours_whole(case, scratch);
        assert_eq!(verdict, expected.0, "{error:?}, {:x?}", &case.src[..case.src.len().min(64)]);
        assert!(out == expected.1, "{} and {} bytes, {error:?}", out.len(), expected.1.len());
    }
    let scratch = &mut scratches[noise.below(scratches.len())];
    let most = [1, 2, 20, 400, 5000][noise.below(5)];
    let (verdict, out, error) = ours(case, scratch, || 1 + noise.below(most));
    assert_eq!(verdict, expected.0, "pieces below {most}: {error:?}");
    assert!(out == expected.1, "pieces below {most}: {} and {} bytes", out.len(), expected.1.len());
    if let Some(error) = error {
        assert!(matches!(error.kind, Kind::Corrupt | Kind::Limit), "{error}");
    }
    verdict
}
