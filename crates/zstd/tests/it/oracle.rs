//! Frames of libzstd decode to their content, by the reference kernels and by those of every tier.

use linerate_testkit::testdata::corpus;
use linerate_zstd::{Dictionary, FrameDecoder, Kind, Options, PrefetchQueue, Scratch, Sizes};
use zstd_safe::{CCtx, CParameter};

fn compress(context: &mut CCtx<'_>, data: &[u8]) -> Vec<u8> {
    let mut out = vec![0; zstd_safe::compress_bound(data.len())];
    let n = context.compress2(&mut out[..], data).expect("libzstd compresses");
    out.truncate(n);
    out
}

fn context(level: i32, checksum: bool) -> CCtx<'static> {
    let mut context = CCtx::create();
    context.set_parameter(CParameter::CompressionLevel(level)).unwrap();
    context.set_parameter(CParameter::ChecksumFlag(checksum)).unwrap();
    context
}

/// Makes a scratch for the reference kernels, and one for every tier.
fn scratches() -> Vec<Scratch> {
    let tiers = linerate_testkit::tiers();
    let fast = tiers.map(|tier| Scratch::new().tier(tier));
    [Scratch::new().reference()].into_iter().chain(fast).collect()
}

#[test]
fn output_of_libzstd_round_trips() {
    let mut scratches = scratches();
    for (name, data) in corpus() {
        for level in [-5, 1, 3, 9, 19] {
            for len in [0, 1, 100, 4096, 70_000, data.len()] {
                let data = &data[..len.min(data.len())];
                let frame = compress(&mut context(level, level % 2 == 1), data);
                for scratch in &mut scratches {
                    let mut out = vec![0; data.len()];
                    let n = FrameDecoder::default().decode(scratch, None, &frame, &mut out);
                    assert_eq!(n, Ok(data.len()), "{name} at level {level}");
                    assert!(out == data, "{name} at level {level}");
                }
            }
        }
    }
}

#[test]
fn blocks_with_dictionaries_round_trip() {
    let mut scratches = scratches();
    for (name, data) in corpus() {
        let sizes = vec![1000; data.len() / 1000];
        let mut trained = vec![0; 8 << 10];
        let Ok(n) = zstd_safe::train_from_buffer(&mut trained[..], &data[..sizes.len() * 1000], &sizes)
        else {
            continue;
        };
        trained.truncate(n);
        for bytes in [&trained[..], &data[..3000.min(data.len())]] {
            let owned = Dictionary::new(bytes).unwrap();
            let referring = Dictionary::by_reference(bytes).unwrap();
            let digest = Dictionary::measure(bytes).unwrap();
            let mut buffer = vec![0u64; digest.tables_len().div_ceil(8)];
            let buffer: &mut [u8] = bytemuck::cast_slice_mut(&mut buffer);
            if let Some(short) = digest.tables_len().checked_sub(1) {
                let refused = Dictionary::tables_into(bytes, &mut buffer[..short]).err().map(|e| e.kind);
                assert_eq!(refused, Some(Kind::OutputTooSmall));
            }
            let apart = Dictionary::tables_into(bytes, buffer).unwrap();
            assert_eq!(apart.digest(), digest);
            for block in data.chunks(4096) {
                let mut context = context(3, false);
                context.load_dictionary(bytes).unwrap();
                let frame = compress(&mut context, block);
                for scratch in &mut scratches {
                    for dictionary in [&owned, &referring, &apart] {
                        let mut out = vec![0; block.len()];
                        let n = FrameDecoder::default().decode(scratch, Some(dictionary), &frame, &mut out);
                        assert_eq!(n, Ok(block.len()), "{name}");
                        assert!(out == block, "{name}");

                        out.fill(0);
                        let ahead = FrameDecoder::new(Options::default().two_phase(true));
                        let mut next = PrefetchQueue::new();
                        dictionary.enqueue_prefetch(&mut next, 1000);
                        let sizes =
                            ahead.decode_prefetching(scratch, Some(dictionary), &frame, &mut out, &mut next);
                        assert_eq!(sizes, Ok(Sizes { read: frame.len(), written: block.len() }), "{name}");
                        assert!(out == block, "{name}, in two phases");
                        assert_eq!(next.lines(), 0, "lines are left");
                    }
                }
            }
        }
    }
}
