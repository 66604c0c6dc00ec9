//! Sizes of idle streams and of the scratch of a thread.

use linerate_inflate::{BlockDecoder, Format, Options, Scratch, Status, StreamDecoder};

use crate::common::{Noise, compressed, content};

/// Returns a stream that is idle in the middle of a dynamic block, after more output than its
/// window holds.
fn idle(bits: u8, scratch: &mut Scratch) -> usize {
    let data = content(&mut Noise(3), 200_000);
    let src = compressed(Format::Zlib, 6, bits.max(9), &data);
    let mut decoder = StreamDecoder::new(Options::new(Format::Zlib).window_bits(bits)).unwrap();
    let mut out = vec![0; data.len()];
    let progress = decoder.decode(scratch, &src[..src.len() / 2], &mut out).unwrap();
    assert_eq!(progress.status, Status::NeedInput);
    assert!(progress.written > 50_000);
    decoder.memory()
}

#[test]
fn idle_streams_hold_their_window_and_at_most_400_bytes() {
    let mut scratch = Scratch::new();
    for bits in 9..=15 {
        let memory = idle(bits, &mut scratch);
        assert!((1 << bits..=(1 << bits) + 400).contains(&memory), "{bits}: {memory}");
    }
    assert!(idle(15, &mut scratch) <= 33 << 10 && idle(11, &mut scratch) <= 3000);
}

#[test]
fn block_decoder_has_200_bytes_and_scratch_12_kilobytes() {
    assert!(size_of::<BlockDecoder>() <= 208, "{}", size_of::<BlockDecoder>());
    assert!(size_of::<Scratch>() <= 16 << 10, "{}", size_of::<Scratch>());
}
