//! Many files share one store and several threads.

use std::collections::HashSet;

use linerate_dict::sst::{Reader, Sst, SstOptions};
use linerate_dict::{Id, Kind, Order, Store, StoreOptions};

use super::fixtures::{TABLES, path, read, records};
use super::model::Record;
use crate::common::Noise;

fn open_all(reader: &mut Reader, options: SstOptions) -> Vec<Sst> {
    TABLES.iter().map(|(name, _)| reader.open(path(name), options).unwrap()).collect()
}

/// Returns the keys of all files in random order.
fn wanted<'a>(files: &'a [Sst], records: &'a [Record], seed: u64) -> Vec<(&'a Sst, &'a [u8])> {
    let mut all: Vec<_> =
        files.iter().flat_map(|sst| records.iter().map(move |record| (sst, &record.key[..]))).collect();
    let mut noise = Noise::new(seed);
    for i in (1..all.len()).rev() {
        all.swap(i, noise.below(i + 1));
    }
    all
}

fn value<'a>(records: &'a [Record], key: &[u8]) -> &'a [u8] {
    &records[records.binary_search_by(|record| record.key[..].cmp(key)).unwrap()].value
}

#[test]
fn threads_share_files_and_their_store() {
    // The second budget holds the tables of one or two dictionaries.
    for settings in [StoreOptions::new(), StoreOptions::new().table_budget(12 << 10)] {
        let store = Store::with_options(settings);
        let files = open_all(&mut Reader::new(&store), SstOptions::new());
        let ids: Vec<Id> = files.iter().filter_map(Sst::dictionary).collect();
        // Files of the same rows have equal dictionaries, which the store has once.
        let distinct = ids.iter().collect::<HashSet<_>>().len();
        assert_eq!(store.stats().dictionaries, distinct);
        assert!(ids.len() >= 8 && (2..ids.len()).contains(&distinct), "{distinct} of {}", ids.len());
        let records = records();
        std::thread::scope(|scope| {
            for seed in 0..4 {
                let (store, files, records) = (&store, &files, &records);
                scope.spawn(move || {
                    let mut reader = Reader::new(store);
                    for wanted in wanted(files, records, seed).chunks(50) {
                        for (found, (_, key)) in reader.multi_get(wanted).into_iter().zip(wanted) {
                            assert!(found.unwrap().unwrap().value == value(records, key));
                        }
                    }
                });
            }
        });
        drop(files);
        assert_eq!(store.stats().dictionaries, 0);
    }
}

/// A damaged block is an error only of the keys in it.
#[test]
fn damage_affects_only_its_own_requests() {
    let store = Store::new();
    let mut reader = Reader::new(&store);
    let mut files = open_all(&mut reader, SstOptions::new().map(false));
    let mut bad = read("5-crc32c-zstd-trained");
    bad[300] ^= 1;
    let bad = reader.open_bytes(bad, SstOptions::new()).unwrap();
    let report = reader.verify(&bad).unwrap();
    assert_eq!(report.failed, 1);
    let records = records();
    let lost: Vec<bool> = records.iter().map(|record| reader.get(&bad, &record.key).is_err()).collect();
    assert!(lost.contains(&true) && lost.contains(&false));
    files.push(bad);
    let bad = &files[files.len() - 1];
    let wanted = wanted(&files, &records, 9);
    for (found, (sst, key)) in reader.multi_get(&wanted).into_iter().zip(&wanted) {
        let at = records.iter().position(|record| record.key == *key).unwrap();
        match found {
            Ok(found) => assert!(found.unwrap().value == records[at].value),
            Err(e) => {
                assert!(std::ptr::eq(*sst, bad) && lost[at]);
                assert_eq!(e, report.failures[0]);
            }
        }
    }
    // Blocks behave the same, singly and in batches.
    let blocks = reader.blocks(bad).unwrap();
    let alone: Vec<_> = blocks
        .iter()
        .map(|block| reader.decode_block(bad, *block).map(|block| block.content().to_vec()))
        .collect();
    let wanted: Vec<_> = blocks.iter().map(|block| (bad, *block)).collect();
    for order in [Order::AsGiven, Order::Any] {
        let together = reader.decode_blocks(&wanted, order);
        assert_eq!(together.iter().filter(|block| block.is_err()).count(), 1);
        for (a, b) in alone.iter().zip(together) {
            assert!(b.map(|block| block.content().to_vec()) == *a);
        }
    }
}

#[test]
fn released_dictionary_is_an_error_of_its_files() {
    let store = Store::new();
    let mut reader = Reader::new(&store);
    let sst = reader.open(path("7-xxh3-zstd-trained"), SstOptions::new()).unwrap();
    assert!(reader.get(&sst, b"user/001").is_ok());
    store.release(sst.dictionary().unwrap()).unwrap();
    assert_eq!(reader.get(&sst, b"user/001").unwrap_err().kind, Kind::BadArgument);
    assert_eq!(reader.multi_get(&[(&sst, &b"user/001"[..])])[0].unwrap_err().kind, Kind::BadArgument);
}

/// A full store rejects the file, and keeps nothing of it.
#[test]
fn full_store_is_an_error_on_opening() {
    let store = Store::with_options(StoreOptions::new().raw_limit(1000));
    let mut reader = Reader::new(&store);
    let e = reader.open(path("7-xxh3-zstd-trained"), SstOptions::new()).unwrap_err();
    assert_eq!(e.kind, Kind::Limit);
    assert!(reader.open(path("2-crc32c-snappy"), SstOptions::new()).is_ok());
    assert_eq!(store.stats().dictionaries, 0);
}

#[test]
fn files_and_readers_are_send() {
    fn both<T: Send + Sync>() {}
    fn sent<T: Send>() {}
    both::<Sst>();
    sent::<Reader>();
}
