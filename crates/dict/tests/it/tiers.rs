//! Tables are evicted, and dictionaries are released while they have readers.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use linerate_dict::{Decoder, HugePages, Id, Job, Kind, Order, Store, StoreOptions};
use linerate_zstd::Dictionary;

use crate::common::{Noise, compress, distinct, rows};

struct Entry {
    id: Id,
    frame: Vec<u8>,
    content: Vec<u8>,
}

/// Inserts `count` distinct dictionaries, with a block each.
fn fill(store: &Store, count: u64) -> Vec<Entry> {
    (0..count)
        .map(|i| {
            let dictionary = distinct(i, 1500);
            let content = rows(1000 + i, 700);
            Entry {
                id: store.insert(&dictionary).unwrap(),
                frame: compress(&dictionary, 1, true, &content),
                content,
            }
        })
        .collect()
}

fn decodes(decoder: &mut Decoder, entry: &Entry) -> bool {
    let mut out = [0; 700];
    decoder.decode(entry.id, &entry.frame, &mut out) == Ok(700) && out[..] == entry.content
}

/// Returns the size of the tables of one dictionary, rounded up to cache lines.
fn one_slot() -> usize {
    (0..3)
        .map(|i| Dictionary::measure(&distinct(i, 1500)).unwrap().compact_len().next_multiple_of(64))
        .max()
        .unwrap()
}

#[test]
fn one_table_budget_serves_a_thousand_dictionaries_and_four_threads() {
    let store = Store::with_options(StoreOptions::new().table_budget(one_slot()));
    let entries = fill(&store, 1000);
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (store, entries) = (&store, &entries);
            scope.spawn(move || {
                let mut noise = Noise::new(seed);
                let mut decoder = Decoder::new(store);
                for _ in 0..2000 {
                    assert!(decodes(&mut decoder, &entries[noise.below(entries.len())]));
                }
                let counters = decoder.counters();
                assert_eq!(counters.with_tables + counters.without_tables, 2000);
            });
        }
    });
    let stats = store.stats();
    assert_eq!((stats.dictionaries, stats.digested), (1000, 1));
    assert!(stats.evictions > 100 && stats.digests == stats.evictions + 1, "{stats:?}");
    assert!(stats.table_bytes <= one_slot());
}

/// Dictionaries are released concurrently. Readers do not lose a released dictionary.
#[test]
fn one_table_budget_survives_concurrent_release() {
    let store = Store::with_options(StoreOptions::new().table_budget(one_slot()));
    let entries = fill(&store, 1000);
    let ready = Barrier::new(5);
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (store, entries, ready) = (&store, &entries, &ready);
            scope.spawn(move || {
                let mut noise = Noise::new(seed);
                let mut decoder = Decoder::new(store);
                let mut out = [0; 700];
                let mut decoded = 0;
                ready.wait();
                while store.contains(entries[998].id) || decoded < 500 {
                    let entry = &entries[noise.below(1000)];
                    match decoder.decode(entry.id, &entry.frame, &mut out) {
                        Ok(n) => assert!(out[..n] == entry.content),
                        Err(error) => assert_eq!(error.kind, Kind::BadArgument),
                    }
                    decoded += 1;
                }
                // The dictionary of entry 998 is released last.
                let error =
                    decoder.decode(entries[seed as usize].id, &entries[0].frame, &mut out).unwrap_err();
                assert_eq!(error.kind, Kind::BadArgument);
            });
        }
        ready.wait();
        for entry in &entries[..999] {
            assert!(store.release(entry.id).unwrap());
        }
    });
    let stats = store.stats();
    assert_eq!(stats.dictionaries, 1);
    assert!(stats.raw_bytes < 4096 && stats.digested <= 1 && stats.table_bytes <= one_slot(), "{stats:?}");
    assert!(decodes(&mut Decoder::new(&store), &entries[999]));
}

#[test]
fn unknown_ids_in_a_batch_fail_only_their_jobs() {
    let store = Store::new();
    let entries = fill(&store, 8);
    store.release(entries[2].id).unwrap();
    let never = [Id::from_raw(u64::MAX), Id::from_raw(7 << 32), Id::from_raw(u64::from(u32::MAX))];
    let mut buffers = [[0; 700]; 11];
    let known = entries.iter().map(|entry| (entry.id, &entry.frame));
    let unknown = never.iter().map(|&id| (id, &entries[0].frame));
    let mut jobs: Vec<Job<'_>> = known
        .chain(unknown)
        .zip(&mut buffers)
        .map(|((id, frame), buffer)| Job::new(id, frame, buffer))
        .collect();
    jobs.swap(4, 9);
    for order in [Order::AsGiven, Order::ByDictionary, Order::Any] {
        Decoder::new(&store).decode_batch(&mut jobs, order);
        for (at, job) in jobs.iter().enumerate() {
            match at {
                2 | 4 | 8 | 10 => assert_eq!(job.result.unwrap_err().kind, Kind::BadArgument),
                9 => assert!(job.content() == Some(&entries[4].content[..])),
                _ => assert!(job.content() == Some(&entries[at].content[..])),
            }
        }
    }
}

#[test]
fn frequently_used_tables_are_kept() {
    let store = Store::with_options(StoreOptions::new().table_budget(10 * one_slot()));
    let entries = fill(&store, 100);
    let mut decoder = Decoder::new(&store);
    let mut noise = Noise::new(1);
    let mut without = 0;
    for _ in 0..5000 {
        // Four in five blocks have one of five dictionaries.
        let hot = noise.below(5) < 4;
        let entry = &entries[if hot { noise.below(5) } else { noise.below(100) }];
        let digests = store.stats().digests;
        assert!(decodes(&mut decoder, entry));
        without += usize::from(hot && store.stats().digests > digests);
    }
    assert!(without < 400, "{without} of 4000 hot blocks found no tables");
    assert!(store.stats().digests > 500);
}

#[test]
fn batches_larger_than_the_budget_decode() {
    let store = Store::with_options(StoreOptions::new().table_budget(3 * one_slot()));
    let entries = fill(&store, 64);
    let mut decoder = Decoder::new(&store);
    for order in [Order::AsGiven, Order::ByDictionary] {
        let mut buffers = vec![[0; 700]; entries.len()];
        let mut jobs: Vec<Job<'_>> =
            entries.iter().zip(&mut buffers).map(|(e, buffer)| Job::new(e.id, &e.frame, buffer)).collect();
        decoder.decode_batch(&mut jobs, order);
        assert!(jobs.iter().zip(&entries).all(|(job, e)| job.content() == Some(&e.content[..])));
    }
}

/// Dictionaries are inserted and released while others decode with them. A block either decodes, or
/// its dictionary is unknown.
#[test]
fn released_dictionaries_stay_until_decoding_ends() {
    let store = Store::with_options(StoreOptions::new().table_budget(4 * one_slot()));
    let entries = fill(&store, 60);
    let dictionaries: Vec<Vec<u8>> = (100..110).map(|i| distinct(i, 1500)).collect();
    let ready = Barrier::new(4);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|seed| {
                let (store, entries, ready, over) = (&store, &entries, &ready, &over);
                scope.spawn(move || {
                    let mut noise = Noise::new(seed);
                    let mut decoder = Decoder::new(store);
                    let mut unknown = 0;
                    ready.wait();
                    while !over.load(Ordering::Relaxed) {
                        let entry = &entries[noise.below(60)];
                        let mut out = [0; 700];
                        match decoder.decode(entry.id, &entry.frame, &mut out) {
                            Ok(n) => assert!(out[..n] == entry.content),
                            Err(e) => {
                                assert_eq!(e.kind, Kind::BadArgument);
                                unknown += 1;
                            }
                        }
                    }
                    unknown
                })
            })
            .collect();
        ready.wait();
        for entry in &entries[..59] {
            assert!(store.release(entry.id).unwrap());
            assert_eq!(store.release(entry.id).unwrap_err().kind, Kind::BadArgument);
            // Other dictionaries reuse the memory and the slots.
            for dictionary in &dictionaries {
                let id = store.insert(dictionary).unwrap();
                assert!(entries.iter().all(|e| e.id != id));
                assert!(store.release(id).unwrap());
            }
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
        over.store(true, Ordering::Relaxed);
        let unknown: u64 = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
        assert!(unknown > 0);
    });
    let stats = store.stats();
    assert_eq!(stats.dictionaries, 1);
    assert!(stats.raw_bytes < 4096 && stats.digested <= 1, "{stats:?}");
    assert!(decodes(&mut Decoder::new(&store), &entries[59]));
}

#[test]
fn pipeline_keeps_released_dictionaries_of_pushed_jobs() {
    let store = Store::new();
    let entries = fill(&store, 2);
    let mut decoder = Decoder::new(&store);
    let (mut first, mut second) = ([0; 700], [0; 700]);
    let mut pipeline = decoder.pipeline();
    pipeline.push(Job::new(entries[0].id, &entries[0].frame, &mut first));
    assert!(store.release(entries[0].id).unwrap());
    let kept = store.stats().raw_bytes;
    pipeline.push(Job::new(entries[0].id, &entries[0].frame, &mut second));
    pipeline.finish();
    assert!(pipeline.poll().unwrap().content() == Some(&entries[0].content[..]));
    assert_eq!(pipeline.poll().unwrap().result.unwrap_err().kind, Kind::BadArgument);
    assert!(store.stats().raw_bytes < kept);
}

#[test]
fn last_release_drops_a_dictionary() {
    let store = Store::new();
    let id = store.insert(b"a dictionary").unwrap();
    store.retain(id).unwrap();
    assert!(!store.release(id).unwrap());
    assert!(store.contains(id) && store.bytes(id).unwrap() == b"a dictionary");
    assert!(store.release(id).unwrap());
    assert!(!store.contains(id));
    for error in [store.retain(id).unwrap_err(), store.bytes(id).unwrap_err()] {
        assert_eq!(error.kind, Kind::BadArgument);
    }
    let next = store.insert(b"another one").unwrap();
    assert_ne!(next, id);
    assert_eq!(Id::from_raw(next.get()), next);
}

#[test]
fn limits_are_kept_and_reported() {
    let store = Store::with_options(StoreOptions::new().raw_limit(10_000).huge_pages(false));
    let first = store.insert(&[1; 6000]).unwrap();
    assert_eq!(store.insert(&[2; 6000]).unwrap_err().kind, Kind::Limit);
    store.insert(&[3; 3000]).unwrap();
    assert_eq!(store.stats().huge_pages, HugePages::Off);
    store.release(first).unwrap();
    store.insert(&[2; 6000]).unwrap();
    let stats = store.stats();
    assert_eq!(stats.dictionaries, 2);
    assert!(stats.raw_bytes >= 9000 && stats.mapped_bytes <= 10_000);
    assert_ne!(Store::new().stats().huge_pages, HugePages::Off);
}

/// Bounds the memory of a dictionary beside its bytes.
#[test]
fn memory_overhead_of_a_dictionary_is_tables_and_100_bytes() {
    const COUNT: usize = 2500;
    let store = Store::new();
    let mut decoder = Decoder::new(&store);
    let mut tables = 0;
    for i in 0..COUNT as u64 {
        let dictionary = distinct(i, 64);
        tables += Dictionary::measure(&dictionary).unwrap().compact_len().next_multiple_of(64);
        let id = store.insert(&dictionary).unwrap();
        let frame = compress(&dictionary, 1, false, b"a row");
        decoder.decode(id, &frame, &mut [0; 5]).unwrap();
    }
    let stats = store.stats();
    assert_eq!((stats.digested, stats.table_bytes), (COUNT, tables));
    assert!(tables <= COUNT * 5440);
    assert!(stats.slot_bytes <= 100 * COUNT, "{}", stats.slot_bytes);
}
