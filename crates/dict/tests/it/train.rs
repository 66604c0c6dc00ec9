//! Trained dictionaries, and small tables.

use linerate_dict::{Decoder, Kind, Savings, Store, Training, shrink_tables};
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
    // 5 KiB of sequence tables and 4 KiB of Huffman codes, which are unchanged.
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
    assert_eq!(Training::new(4 << 10).train(&[b"one"]).unwrap_err().kind, Kind::BadArgument);
    assert_eq!(Training::new(4 << 10).train(&[]).unwrap_err().kind, Kind::BadArgument);
}
