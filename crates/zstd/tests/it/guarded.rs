//! Buffers lie between guard pages: an access out of bounds ends the program.
use linerate_testkit::data::{Noise, json_rows, kinds};
use linerate_testkit::sys::guarded::Guarded;
use linerate_testkit::zstd::encoder::{compress, level};
use linerate_testkit::zstd::frame::{Frame, Literals, windowed};
use linerate_testkit::zstd::vectors::{bad, dictionary, few, good};
use linerate_zstd::{
    Dictionary, Error, FrameDecoder, Options, PrefetchQueue, Scratch, Status, StreamDecoder,
};
use zstd_safe::CParameter;

use crate::common::ours;

/// Input, output and dictionary, each next to a guard page.
struct GuardedBuffers {
    src: Guarded,
    dst: Guarded,
    dictionary: Guarded,
    scratches: Vec<(String, Scratch)>,
}

impl GuardedBuffers {
    fn new() -> GuardedBuffers {
        let large = || Guarded::new(400_000);
        GuardedBuffers { src: large(), dst: large(), dictionary: large(), scratches: ours::scratches() }
    }

    /// Decodes with all buffers at either end of their memory, and asserts equal results.
    fn decode(&mut self, name: &str, frame: &[u8], dictionary: &[u8], most: usize) -> Result<Vec<u8>, Error> {
        let mut results = Vec::new();
        for last in [true, false] {
            let src = copy_in(&mut self.src, frame, last);
            let by_reference = copy_in(&mut self.dictionary, dictionary, last);
            let digested = (!dictionary.is_empty()).then(|| Dictionary::by_reference(by_reference));
            let digested = digested.transpose()?;
            for (_, scratch) in &mut self.scratches {
                let dst = slice_at(&mut self.dst, most, last);
                for two_phase in [false, true] {
                    let decoder = FrameDecoder::new(Options::new().two_phase(two_phase));
                    let result = decoder.decode(scratch, digested.as_ref(), src, dst);
                    results.push(result.map(|n| dst[..n].to_vec()));
                }
                results.push(in_pieces(scratch, digested.as_ref(), src, dst));
            }
        }
        let first = results.swap_remove(0);
        for result in results {
            match (&first, &result) {
                (Ok(a), Ok(b)) => assert!(a == b, "{name}: other bytes"),
                (Err(_), Err(_)) => {}
                _ => panic!("{name}: {:?} and {:?}", first.is_ok(), result.is_ok()),
            }
        }
        first
    }
}

/// Copies the bytes to one end of the memory.
fn copy_in<'m>(memory: &'m mut Guarded, bytes: &[u8], last: bool) -> &'m [u8] {
    let target = slice_at(memory, bytes.len(), last);
    target.copy_from_slice(bytes);
    target
}

fn slice_at(memory: &mut Guarded, n: usize, last: bool) -> &mut [u8] {
    if last { memory.last(n) } else { memory.first(n) }
}

/// Decodes with a stream decoder, each frame in one call.
fn in_pieces(
    scratch: &mut Scratch,
    dictionary: Option<&Dictionary<'_>>,
    src: &[u8],
    dst: &mut [u8],
) -> Result<Vec<u8>, Error> {
    const UNDONE: Error = Error::new(linerate_zstd::Kind::Truncated, 0, "not done");
    let mut decoder = StreamDecoder::new(Options::new());
    let (mut read, mut written) = (0, 0);
    while read < src.len() {
        let progress = decoder.decode(scratch, dictionary, &src[read..], &mut dst[written..])?;
        read += progress.read;
        written += progress.written;
        if progress.status != Status::FrameEnd {
            return Err(UNDONE);
        }
    }
    Ok(dst[..written].to_vec())
}

#[test]
fn hand_made_frames_stay_within_their_buffers() {
    let mut buffers = GuardedBuffers::new();
    for vector in good().into_iter().filter(|vector| !vector.magicless) {
        let content = vector.content.expect("known");
        if content.len() > 300_000 || vector.bytes.len() > 300_000 {
            continue;
        }
        let dictionary = vector.dictionary.map(|name| dictionary(name).bytes()).unwrap_or_default();
        let got = buffers.decode(&vector.name, &vector.bytes, &dictionary, content.len());
        assert!(got.as_ref() == Ok(&content), "{}: {:?}", vector.name, got.err());
        if let Some(less) = content.len().checked_sub(1) {
            assert!(
                buffers.decode(&vector.name, &vector.bytes, &dictionary, less).is_err(),
                "{}",
                vector.name
            );
        }
    }
    for vector in bad() {
        let dictionary = vector.dictionary.map(|name| dictionary(name).bytes()).unwrap_or_default();
        assert!(
            buffers.decode(&vector.name, &vector.bytes, &dictionary, 300_000).is_err(),
            "{}",
            vector.name
        );
    }
}

#[test]
fn frames_of_libzstd_stay_within_their_buffers() {
    let mut buffers = GuardedBuffers::new();
    let contents = kinds(3000).into_iter().chain(kinds(140_000)).chain([("rows", json_rows(1, 200))]);
    for (kind, content) in contents {
        for number in [1, 5, 19] {
            if number == 19 && content.len() > 3000 {
                continue;
            }
            let frame = compress(&content, &[], &[level(number), CParameter::ChecksumFlag(number == 5)]);
            assert!(buffers.decode(kind, &frame, &[], content.len()) == Ok(content.clone()), "{kind}");
        }
    }
    let rows = json_rows(2, 30);
    let dictionary = linerate_testkit::zstd::encoder::train(&json_rows(3, 500), 370, 4096);
    for from in 0..100 {
        let content = &rows[from * 50..from * 90 + 400];
        let frame = compress(content, &dictionary, &[level(3)]);
        assert!(
            buffers.decode("with dictionary", &frame, &dictionary, content.len()).as_deref() == Ok(content)
        );
    }
}

#[test]
fn damaged_frames_stay_within_their_buffers() {
    let mut buffers = GuardedBuffers::new();
    let mut noise = Noise::new(6);
    for (kind, content) in kinds(2000) {
        for number in [1, 19] {
            let frame = compress(&content, &[], &[level(number)]);
            for _ in 0..60 {
                let mut frame = frame.clone();
                for _ in 0..1 + noise.below(4) {
                    let at = noise.below(frame.len());
                    frame[at] = noise.number() as u8;
                }
                frame.truncate(frame.len() - noise.below(frame.len()) * noise.below(2));
                // Only termination and bounds are tested.
                let _ = buffers.decode(kind, &frame, &[], 2000 + noise.below(100));
            }
        }
    }
}

/// The queue holds addresses of freed memory.
#[test]
fn prefetching_freed_memory_is_harmless() {
    let gone = {
        let mut memory = Guarded::new(100_000);
        let mut list = PrefetchQueue::new();
        list.enqueue(memory.last(100_000));
        list.enqueue(memory.first(5000));
        list
    };
    for vector in good().into_iter().filter(|vector| !vector.magicless && vector.dictionary.is_none()) {
        let content = vector.content.expect("known");
        for (kernels, mut scratch) in ours::scratches() {
            let mut list = gone.clone();
            let mut out = vec![0; content.len()];
            let decoder = FrameDecoder::new(Options::new());
            let sizes = decoder.decode_prefetching(&mut scratch, None, &vector.bytes, &mut out, &mut list);
            // Decodes the first of several frames.
            let sizes = sizes.unwrap_or_else(|e| panic!("{}, {kernels}: {e}", vector.name));
            assert!(out[..sizes.written] == content[..sizes.written], "{}, {kernels}", vector.name);
            assert_eq!(list.lines(), 0, "{}", vector.name);
        }
    }
}

/// Changed regions are rejected, or decode to any bytes within the buffers.
#[test]
fn corrupt_dictionary_tables_stay_within_their_buffers() {
    let mut buffers = GuardedBuffers::new();
    let mut noise = Noise::new(8);
    let rows = json_rows(9, 20);
    let dictionary = linerate_testkit::zstd::encoder::train(&json_rows(10, 500), 370, 2048);
    let digest = Dictionary::measure(&dictionary).unwrap();
    let frames = [&rows[..300], &rows[..4000]].map(|content| compress(content, &dictionary, &[level(3)]));
    let mut taken = 0;
    for round in 0..3000 {
        let region = buffers.dictionary.first(digest.region_len());
        drop(Dictionary::digest_into(&dictionary, region).unwrap());
        for _ in 0..round % 4 {
            let at = noise.below(digest.tables_len());
            region[at] ^= 1 << noise.below(8);
        }
        let Ok(changed) = Dictionary::view(digest, region) else { continue };
        taken += 1;
        for frame in &frames {
            let src = copy_in(&mut buffers.src, frame, true);
            for (_, scratch) in &mut buffers.scratches {
                let _ = FrameDecoder::default().decode(scratch, Some(&changed), src, buffers.dst.last(5000));
            }
        }
    }
    assert!(taken > 800, "{taken}");
}

/// The pair table is used for many literals. A code that claims too many cells must be rejected
/// before.
#[test]
fn code_that_overruns_its_table_is_an_error() {
    let made = dictionary("tree-11");
    let literals = few(b'a', 12, 12_000);
    let frame = Frame::with(windowed(17), &made).plain(Literals::Treeless(2, literals.clone()), &[]).bytes();
    let bytes = made.bytes();
    let digest = Dictionary::measure(&bytes).unwrap();
    let mut words = vec![0u32; digest.region_len().div_ceil(4)];
    let tables = digest.tables_len();
    let (mut scratch, mut out, mut refused) = (Scratch::new(), vec![0; 12_000], 0);
    for cell in 0..2048 {
        for bits in [1, 4, 10, 12] {
            let region = bytemuck::cast_slice_mut(&mut words);
            drop(Dictionary::digest_into(&bytes, region).unwrap());
            let low = tables - 2 * (2048 - cell);
            let same = region[low] == bits;
            region[low] = bits;
            let Ok(changed) = Dictionary::view(digest, region) else {
                assert!(!same, "cell {cell}");
                refused += 1;
                continue;
            };
            let n = FrameDecoder::default().decode(&mut scratch, Some(&changed), &frame, &mut out);
            assert!(!same || n == Ok(12_000) && out == literals, "cell {cell}");
        }
    }
    assert!(refused > 2048, "{refused}");
}
