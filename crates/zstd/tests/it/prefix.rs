//! Decoding the beginning of a frame, and later more of it, equals decoding it whole.

use linerate_testkit::data::Noise;
use linerate_zstd::{Dictionary, Kind, Options, PrefixDecoder, PrefixEnd, Scratch};
use zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer, zstd_sys::ZSTD_EndDirective};

/// Generates words with noise between them, which compress to blocks with sequences and literals.
fn text(len: usize, seed: u64) -> Vec<u8> {
    let words = ["time ", "of ", "the ", "wave", "form", "s, ", "dictionary ", "block\n", "0123", "é"];
    let (mut noise, mut out) = (Noise::new(seed), Vec::new());
    while out.len() < len {
        match noise.number() % 11 {
            0 => out.extend_from_slice(&noise.number().to_le_bytes()[..4]),
            n => out.extend_from_slice(words[n as usize - 1].as_bytes()),
        }
    }
    out.truncate(len);
    out
}

/// Generates several blocks of every type: compressed, raw, runs.
fn mixed() -> Vec<u8> {
    let mut noise = Noise::new(7);
    let raw: Vec<u8> = (0..200_000).map(|_| noise.number() as u8).collect();
    [&text(300_000, 1)[..], &raw, &[9; 300_000], &text(70_001, 2)].concat()
}

/// Makes one frame. The frame lacks its end if `is_open`.
fn frame(content: &[u8], sized: bool, checksum: bool, is_open: bool, dictionary: &[u8]) -> Vec<u8> {
    let mut context = CCtx::create();
    context.set_parameter(CParameter::ContentSizeFlag(sized)).unwrap();
    context.set_parameter(CParameter::ChecksumFlag(checksum)).unwrap();
    context.load_dictionary(dictionary).unwrap();
    if sized {
        context.set_pledged_src_size(Some(content.len() as u64)).unwrap();
    }
    let mut out = vec![0; zstd_safe::compress_bound(content.len()) + 64];
    let (mut input, mut output) = (InBuffer::around(content), OutBuffer::around(&mut out[..]));
    let end = if is_open { ZSTD_EndDirective::ZSTD_e_flush } else { ZSTD_EndDirective::ZSTD_e_end };
    while context.compress_stream2(&mut output, &mut input, end).unwrap() > 0 {}
    let len = output.pos();
    out.truncate(len);
    out
}

/// Decodes `len` bytes, with an output that grows by `step`.
fn in_steps(
    decoder: &mut PrefixDecoder,
    scratch: &mut Scratch,
    dictionary: Option<&Dictionary<'_>>,
    src: &[u8],
    len: usize,
    step: usize,
) -> linerate_zstd::Result<(Vec<u8>, PrefixEnd)> {
    decoder.start();
    let (mut out, mut to) = (vec![0; len], 0);
    loop {
        to = len.min(to + step);
        let part = decoder.decode(scratch, dictionary, src, &mut out[..to])?;
        if part.end != PrefixEnd::Full || to == len {
            out.truncate(part.written);
            return Ok((out, part.end));
        }
        assert_eq!(part.written, to);
        // Use a new scratch, because a scratch keeps nothing between calls.
        *scratch = Scratch::new();
    }
}

#[test]
fn steps_of_any_length_give_the_content() {
    let (content, dictionary) = (mixed(), text(10_000, 1));
    let digested = Dictionary::new(&dictionary).unwrap();
    let (mut decoder, mut scratch) = (PrefixDecoder::new(Options::new()), Scratch::new());
    for (sized, checksum, is_open, with) in [
        (true, true, false, false),
        (false, true, false, false),
        (false, false, false, true),
        (false, true, true, false),
        (true, false, true, true),
    ] {
        let src = frame(&content, sized, checksum, is_open, if with { &dictionary } else { &[] });
        let digested = with.then_some(&digested);
        let expected = if is_open { PrefixEnd::InputEnd } else { PrefixEnd::FrameEnd };
        for step in [997, 4096, 100_000, 1 << 17, content.len()] {
            let len = content.len();
            let (out, end) = in_steps(&mut decoder, &mut scratch, digested, &src, len, step).unwrap();
            // To its reader, an open frame may have more blocks.
            assert!(
                out == content && end == expected,
                "{sized} {checksum} {is_open}, steps of {step}: {end:?}"
            );
        }
        let (out, end) =
            in_steps(&mut decoder, &mut scratch, digested, &src, content.len() + 1000, 1 << 20).unwrap();
        assert!(out == content && end == expected, "{sized} {checksum} {is_open}: space left");
    }
}

#[test]
fn frame_cut_off_anywhere_gives_a_prefix_of_the_content() {
    let content = text(3000, 3);
    for (sized, checksum) in [(true, true), (false, false)] {
        let src = frame(&content, sized, checksum, false, &[]);
        let (mut decoder, mut scratch) = (PrefixDecoder::new(Options::new()), Scratch::new());
        for cut in 0..src.len() {
            let (out, end) =
                in_steps(&mut decoder, &mut scratch, None, &src[..cut], content.len(), 4000).unwrap();
            assert!(content.starts_with(&out) && end == PrefixEnd::InputEnd, "{cut} bytes: {end:?}");
        }
    }
    // The available bytes of a raw block that is cut off are content.
    let mut noise = Noise::new(1);
    let raw: Vec<u8> = (0..1000).map(|_| noise.number() as u8).collect();
    let src = frame(&raw, false, false, false, &[]);
    let (mut decoder, mut scratch) = (PrefixDecoder::new(Options::new()), Scratch::new());
    let (out, end) = in_steps(&mut decoder, &mut scratch, None, &src[..500], 1000, 100).unwrap();
    assert!(out.len() > 480 && raw.starts_with(&out) && end == PrefixEnd::InputEnd);
}

#[test]
fn no_block_is_decoded_before_its_content_is_needed() {
    let content = text(400_000, 4);
    let mut src = frame(&content, true, true, false, &[]);
    let end = src.len();
    // The last block is damaged. The blocks before it hold 128 KiB each.
    src[end - 2000..].fill(0xff);
    let (mut decoder, mut scratch) = (PrefixDecoder::new(Options::new()), Scratch::new());
    let mut out = vec![0; content.len()];
    for to in [1000, 1 << 17, 1 << 18, 3 << 17] {
        let part = decoder.decode(&mut scratch, None, &src, &mut out[..to]).unwrap();
        assert_eq!((part.written, part.end), (to, PrefixEnd::Full));
        assert!(out[..to] == content[..to]);
    }
    let error = decoder.decode(&mut scratch, None, &src, &mut out).unwrap_err();
    assert_eq!(error.kind, Kind::Corrupt);
}

#[test]
fn wrong_checksum_size_dictionary_or_skippable_frame_is_an_error() {
    let content = text(5000, 5);
    let kind = |src: &[u8]| {
        let mut out = vec![0; content.len()];
        let mut decoder = PrefixDecoder::new(Options::new());
        decoder.decode(&mut Scratch::new(), None, src, &mut out).map_err(|e| e.kind)
    };
    let src = frame(&content, true, true, false, &[]);
    assert!(kind(&src).is_ok());
    let mut wrong = src.clone();
    *wrong.last_mut().unwrap() ^= 1;
    assert_eq!(kind(&wrong), Err(Kind::Corrupt));
    let mut wrong = src.clone();
    // Change the low byte of the content size.
    wrong[5] ^= 1;
    assert_eq!(kind(&wrong), Err(Kind::Corrupt));
    assert_eq!(kind(&[0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0]), Err(Kind::BadArgument));
    assert_eq!(kind(b"no frame"), Err(Kind::Corrupt));
    // A frame with Dictionary_ID 7.
    assert_eq!(kind(&[0x28, 0xb5, 0x2f, 0xfd, 0x21, 7, 1, 1, 0, 0]), Err(Kind::BadArgument));
    let mut decoder = PrefixDecoder::new(Options::new());
    let mut out = vec![0; 10];
    decoder.decode(&mut Scratch::new(), None, &src, &mut out).unwrap();
    let error = decoder.decode(&mut Scratch::new(), None, &src, &mut out[..9]).unwrap_err();
    assert_eq!(error.kind, Kind::BadArgument, "a shorter output");
}

#[test]
fn damaged_frame_is_an_error_or_gives_the_same_bytes_in_any_steps() {
    let content = text(150_000, 6);
    let src = frame(&content, false, false, false, &[]);
    let (mut decoder, mut scratch) = (PrefixDecoder::new(Options::new()), Scratch::new());
    let mut noise = Noise::new(8);
    for case in 0..300 {
        let mut damaged = src.clone();
        let at = noise.number() as usize % damaged.len();
        damaged[at] ^= 1 << (noise.number() % 8);
        let mut decode = |step| in_steps(&mut decoder, &mut scratch, None, &damaged, content.len(), step);
        let (whole, steps) = (decode(content.len()), decode(40_000));
        match (&whole, &steps) {
            (Ok(whole), Ok(steps)) => assert!(whole == steps, "case {case}, byte {at}"),
            _ => assert!(whole.is_err() && steps.is_err(), "case {case}, byte {at}: {steps:?}"),
        }
    }
}
