//! Trained dictionaries, and small tables.

use linerate_dict::{Decoder, Encoder, Kind, Savings, Store, Training, shrink_tables};
use linerate_testkit::data::{Noise, records};
use linerate_zstd::Dictionary;

use crate::common::{compress, libzstd, rows};

fn samples(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.as_chunks::<1024>().0.iter().map(|sample| &sample[..]).collect()
}

#[test]
fn small_tables_halve_memory_at_a_small_cost_in_size() {
    let learned = rows(1, 400 << 10);
    let fresh = rows(2, 400 << 10);
    let training = Training::new(8 << 10);
    let large = training.train(&samples(&learned)).unwrap();
    let small = training.small_tables(true).train(&samples(&learned)).unwrap();
    let blocks: Vec<&[u8]> = fresh.chunks(4096).collect();
    let [large, small] = [large, small].map(|d| Savings::measure(&d, &blocks, 3).unwrap());
    // Full sequence tables have 5 KiB, and small ones half of that. The Huffman table stays; the
    // bound allows 4 KiB for it.
    assert!(small.tables <= (5 << 9) + (4 << 10), "{small:?}");
    assert!(small.tables < large.tables, "{small:?} {large:?}");
    assert!((small.with as f64) < 1.01 * large.with as f64, "{small:?} {large:?}");
    assert!(small.with < small.without && small.ratio() > small.ratio_without());
    assert_eq!(small.content, fresh.len());
}

#[test]
fn libzstd_and_linerate_decode_blocks_of_small_tables() {
    let learned = rows(1, 400 << 10);
    let dictionary = Training::new(8 << 10).small_tables(true).train(&samples(&learned)).unwrap();
    let store = Store::new();
    let id = store.insert(&dictionary).unwrap();
    let mut decoder = Decoder::new(&store);
    for (i, level) in [1, 3, 9, 19].into_iter().cycle().take(40).enumerate() {
        let content = rows(10 + i as u64, 100 + 200 * i);
        let frame = compress(&dictionary, level, false, &content);
        assert_eq!(libzstd(&dictionary, &frame, content.len()).as_ref(), Some(&content));
        let mut out = vec![0; content.len()];
        assert_eq!(decoder.decode(id, &frame, &mut out), Ok(content.len()));
        assert!(out == content);
    }
}

#[test]
fn raw_content_is_unchanged_and_damage_is_an_error() {
    let learned = rows(1, 200 << 10);
    let dictionary = Training::new(4 << 10).train(&samples(&learned)).unwrap();
    let small = shrink_tables(&dictionary).unwrap();
    assert_eq!(shrink_tables(&small).unwrap(), small);
    let [before, after] = [&dictionary, &small].map(|d| Dictionary::measure(d).unwrap());
    assert_eq!((before.id(), before.content_len()), (after.id(), after.content_len()));
    assert_eq!(shrink_tables(b"raw content").unwrap(), b"raw content");
    let kind = shrink_tables(&dictionary[..50]).unwrap_err().kind;
    assert!(matches!(kind, Kind::Truncated | Kind::Corrupt));
}

#[test]
fn too_few_samples_and_too_small_sizes_are_refused() {
    let refused = |size, samples: &[&[u8]]| {
        Training::new(size).train(samples).is_err_and(|e| e.kind == Kind::BadArgument)
    };
    let learned = rows(1, 64 << 10);
    let few: [&[&[u8]]; 5] = [&[], &[b"one"], &[&b""[..]; 100], &[&learned[..]; 4], &[&b"a"[..]; 10]];
    // All samples have one byte, except the one that is held out.
    let uneven: Vec<&[u8]> = (0..5).map(|i| if i == 3 { &learned[..] } else { &learned[..1] }).collect();
    assert!(refused(4 << 10, &uneven));
    for few in few {
        assert!(refused(4 << 10, few));
    }
    assert!([0, 1, 255].into_iter().all(|size| refused(size, &samples(&learned))));
}

#[test]
fn dictionaries_of_odd_samples_are_valid() {
    let noise = Noise::new(1).bytes(40_000);
    let magic = [&b"\x37\xa4\x30\xec"[..], &noise[..100]].concat();
    let short = rows(1, 300);
    let large = rows(3, 4 << 20);
    let odd: [Vec<&[u8]>; 7] = [
        large.chunks(700 << 10).collect(),
        vec![&[7; 3000]; 30],
        noise.chunks(1000).collect(),
        noise[..8000].chunks(1000).chain([&b""[..]; 9]).collect(),
        vec![&magic; 40],
        short.chunks(60).collect(),
        short.chunks(5).collect(),
    ];
    for (i, samples) in odd.iter().enumerate() {
        for (size, level) in [(256, 1), (300, 3), (4 << 10, 3), (4 << 10, 19), (64 << 10, -5)] {
            let dictionary = Training::new(size).level(level).train(samples).unwrap();
            assert!((8..=size).contains(&dictionary.len()), "{i} {size}");
            let store = Store::new();
            let id = store.insert(&dictionary).unwrap();
            let (mut encoder, mut block) =
                (Encoder::new(&store).level(level).unwrap(), vec![0; Encoder::bound(3000)]);
            let mut out = vec![0; 3000];
            for sample in samples.iter().take(3).map(|sample| &sample[..sample.len().min(3000)]) {
                let n = encoder.encode(id, sample, &mut block).unwrap();
                assert_eq!(
                    libzstd(&dictionary, &block[..n], sample.len()).as_deref(),
                    Some(sample),
                    "{i} {size}"
                );
                assert_eq!(Decoder::new(&store).decode(id, &block[..n], &mut out), Ok(sample.len()));
                assert!(out[..sample.len()] == *sample);
            }
        }
    }
}

/// Calls `check` with the kind, block size, level, a dictionary, and blocks that it was not trained
/// with.
fn each_case(size: usize, mut check: impl FnMut(&str, usize, i32, &[u8], &[&[u8]])) {
    for (kind, bytes) in records(400 << 10) {
        for block in [1 << 10, 4 << 10, 16 << 10] {
            let (learned, fresh) = bytes.split_at(300 << 10);
            let learned: Vec<&[u8]> = learned.chunks(block).collect();
            for level in [1, 3, 9] {
                let dictionary = Training::new(size).level(level).train(&learned).unwrap();
                check(kind, block, level, &dictionary, &fresh.chunks(block).collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn no_trained_dictionary_makes_blocks_larger_than_none() {
    let (mut sum, mut count) = (0.0, 0);
    each_case(4 << 10, |kind, block, level, dictionary, blocks| {
        let savings = Savings::measure(dictionary, blocks, level).unwrap();
        assert!(savings.with as f64 <= 1.005 * savings.without as f64, "{kind} {block} {level} {savings:?}");
        sum += savings.with as f64 / savings.without as f64;
        count += 1;
    });
    assert!(sum / f64::from(count) < 0.9, "{}", sum / f64::from(count));
}

/// Returns whether the dictionary has tables.
fn has_table(dictionary: &[u8]) -> bool {
    Dictionary::measure(dictionary).is_ok_and(|digest| digest.is_trained())
}

#[test]
fn dictionaries_of_every_kind_are_decoded_by_libzstd_and_linerate() {
    each_case(2 << 10, |kind, block, level, dictionary, blocks| {
        assert!(dictionary.len() <= 2 << 10);
        assert!(
            !has_table(dictionary) || dictionary[8] < 128,
            "{kind}: older libzstd needs a code of byte 255"
        );
        let store = Store::new();
        let id = store.insert(dictionary).unwrap();
        let mut out = vec![0; block];
        for content in blocks.iter().take(3) {
            let frame = compress(dictionary, level, false, content);
            assert_eq!(
                libzstd(dictionary, &frame, block).as_deref(),
                Some(*content),
                "{kind} {block} {level}"
            );
            assert_eq!(Decoder::new(&store).decode(id, &frame, &mut out), Ok(content.len()));
            assert!(out[..content.len()] == **content, "{kind} {block} {level}");
        }
    });
}

/// The bytes of a dictionary are the same on every machine, whatever its CPU.
#[test]
fn training_is_repeatable() {
    let learned = rows(1, 200 << 10);
    let trained = |level| Training::new(4 << 10).level(level).train(&samples(&learned)).unwrap();
    assert_eq!(trained(3), trained(3));
    let hash = linerate_dict::content_hash(&trained(3));
    assert_eq!(hash, 0xcf8f_9a09_51e3_933e, "{hash:#x}");
}
