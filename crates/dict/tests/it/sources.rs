//! Dictionaries are read at first use.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use linerate_dict::{
    Decoder, Encoder, Error, Id, Job, Kind, Order, Result, Source, Store, StoreOptions, content_hash,
};

use crate::common::{Noise, compress, distinct, rows};

/// A source of dictionaries that represents a file.
struct Shelf {
    dictionaries: Vec<Vec<u8>>,
    /// Whether the source lends the bytes.
    lends: bool,
    reads: AtomicUsize,
    closed: Arc<AtomicBool>,
}

impl Source for Shelf {
    fn read(&self, index: u32) -> Result<Cow<'_, [u8]>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let missing = Error::new(Kind::Read, 0, "the shelf has no such dictionary");
        let bytes = self.dictionaries.get(index as usize).ok_or(missing)?;
        Ok(if self.lends { Cow::Borrowed(bytes) } else { Cow::Owned(bytes.clone()) })
    }
}

impl Drop for Shelf {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
    }
}

/// Makes a source of which every fifth dictionary is raw content.
fn shelf(count: u64, lends: bool) -> Shelf {
    let one = |i| if i % 5 == 4 { rows(i, 1500) } else { distinct(i, 1500) };
    Shelf {
        dictionaries: (0..count).map(one).collect(),
        lends,
        reads: AtomicUsize::new(0),
        closed: Arc::default(),
    }
}

fn register(store: &Store, shelf: &Arc<Shelf>) -> Vec<Id> {
    let all = shelf.dictionaries.iter().zip(0..).map(|(bytes, index)| (index, content_hash(bytes)));
    store.register(shelf.clone(), all).unwrap()
}

#[test]
fn registered_dictionaries_are_read_once_at_first_use() {
    for lends in [true, false] {
        let store = Store::new();
        let shelf = Arc::new(shelf(200, lends));
        let ids = register(&store, &shelf);
        assert_eq!(store.hash(ids[7]), Ok(content_hash(&shelf.dictionaries[7])));
        assert_eq!(store.find(content_hash(&shelf.dictionaries[8])), Some(ids[8]));
        assert_eq!((shelf.reads.load(Ordering::Relaxed), store.stats().raw_bytes), (0, 0));
        let frames: Vec<Vec<u8>> =
            shelf.dictionaries.iter().map(|d| compress(d, 1, true, &rows(9, 700))).collect();
        let ready = Barrier::new(4);
        std::thread::scope(|scope| {
            for seed in 0..4 {
                let (store, ids, frames, ready) = (&store, &ids, &frames, &ready);
                scope.spawn(move || {
                    let (mut noise, mut decoder, mut out) = (Noise::new(seed), Decoder::new(store), [0; 700]);
                    ready.wait();
                    for turn in 0..300 {
                        let at = if turn < 100 { turn } else { noise.below(200) };
                        assert_eq!(decoder.decode(ids[at], &frames[at], &mut out), Ok(700));
                        assert!(out[..] == rows(9, 700));
                    }
                });
            }
        });
        assert_eq!(store.bytes(ids[150]).unwrap(), shelf.dictionaries[150]);
        for &id in &ids {
            store.bytes(id).unwrap();
        }
        assert_eq!(shelf.reads.load(Ordering::Relaxed), 200);
        assert_eq!(store.stats().raw_bytes == 0, lends);
    }
}

#[test]
fn source_is_dropped_with_its_last_dictionary() {
    for lends in [true, false] {
        let store = Store::new();
        let shelf = Arc::new(shelf(5, lends));
        let (ids, closed) = (register(&store, &shelf), shelf.closed.clone());
        let frame = compress(&shelf.dictionaries[0], 3, true, &rows(1, 500));
        drop(shelf);
        for &id in &ids[1..] {
            assert!(store.release(id).unwrap() && !closed.load(Ordering::Relaxed));
        }
        let mut out = [0; 500];
        assert_eq!(Decoder::new(&store).decode(ids[0], &frame, &mut out), Ok(500));
        // A store that copied everything no longer needs the source.
        assert_eq!(closed.load(Ordering::Relaxed), !lends);
        store.release(ids[0]).unwrap();
        assert!(closed.load(Ordering::Relaxed));
        let empty = self::shelf(0, lends);
        let closed = empty.closed.clone();
        assert_eq!(store.register(Arc::new(empty), []), Ok(vec![]));
        assert!(closed.load(Ordering::Relaxed));
    }
}

/// The last reader drops the source, without a further release.
#[test]
fn released_source_is_dropped_by_its_last_reader() {
    let store = Store::new();
    let shelf = Arc::new(shelf(2, true));
    let (ids, closed) = (register(&store, &shelf), shelf.closed.clone());
    let frames = [0, 1].map(|i| compress(&shelf.dictionaries[i], 3, true, &rows(1, 500)));
    drop(shelf);
    let mut decoder = Decoder::new(&store);
    let mut buffers = [[0; 500], [0; 500]];
    let mut pipeline = decoder.pipeline();
    for ((id, frame), buffer) in ids.iter().zip(&frames).zip(&mut buffers) {
        pipeline.push(Job::new(*id, frame, buffer));
    }
    // The pipeline has the last dictionary pinned until its job is decoded.
    for &id in &ids {
        assert!(store.release(id).unwrap());
    }
    assert_eq!(store.stats().dictionaries, 0);
    assert!(!closed.load(Ordering::Relaxed));
    pipeline.finish();
    while let Some(job) = pipeline.poll() {
        assert_eq!(job.result, Ok(500));
    }
    drop(pipeline);
    assert!(closed.load(Ordering::Relaxed));
}

impl Shelf {
    /// Makes a source whose first dictionary is a different one, the second is damaged, and the
    /// third is too short.
    fn spoiled(lends: bool) -> (Shelf, Vec<u64>) {
        let mut shelf = shelf(6, lends);
        let mut hashes: Vec<u64> = shelf.dictionaries.iter().map(|d| content_hash(d)).collect();
        shelf.dictionaries[0] = distinct(3, 1500);
        shelf.dictionaries[1].truncate(20);
        shelf.dictionaries[2].truncate(7);
        hashes[1] = content_hash(&shelf.dictionaries[1]);
        hashes[2] = content_hash(&shelf.dictionaries[2]);
        (shelf, hashes)
    }
}

#[test]
fn unreadable_dictionary_fails_only_its_own_blocks() {
    for lends in [true, false] {
        let store = Store::new();
        let (shelf, hashes) = Shelf::spoiled(lends);
        let right = distinct(0, 1500);
        let third = shelf.dictionaries[3].clone();
        let shelf = Arc::new(shelf);
        let wanted = hashes.iter().zip(0..).map(|(&hash, index)| (index, hash)).chain([(99, 5)]);
        let ids = store.register(shelf, wanted).unwrap();
        let content = rows(1, 500);
        // Without a checksum, the block itself would decode to wrong bytes.
        let frames = [compress(&right, 3, false, &content), compress(&third, 3, false, &content)];
        let asked =
            [(ids[3], 1), (ids[0], 0), (ids[1], 0), (ids[3], 1), (ids[2], 0), (ids[6], 0), (ids[3], 1)];
        let mut buffers = vec![[0; 500]; asked.len()];
        let mut jobs: Vec<Job<'_>> = asked
            .iter()
            .zip(&mut buffers)
            .map(|(&(id, frame), buffer)| Job::new(id, &frames[frame], buffer))
            .collect();
        let mut decoder = Decoder::new(&store);
        decoder.decode_batch(&mut jobs, Order::AsGiven);
        let kind = |at: usize| jobs[at].result.map_err(|error| error.kind);
        assert_eq!([kind(0), kind(3), kind(6)], [Ok(500); 3]);
        assert!(jobs[3].content() == Some(&content[..]));
        assert_eq!(kind(1), Err(Kind::Corrupt));
        assert_eq!(kind(2), Err(Kind::Truncated));
        assert_eq!(kind(4), Err(Kind::BadArgument));
        assert_eq!(kind(5), Err(Kind::Read));
        let mut block = [0; 900];
        assert_eq!(Encoder::new(&store).encode(ids[0], b"row", &mut block).unwrap_err().kind, Kind::Corrupt);
        assert_eq!(store.bytes(ids[0]).unwrap_err().kind, Kind::Corrupt);
    }
}

#[test]
fn dictionaries_over_the_limit_can_be_read_later() {
    let store = Store::with_options(StoreOptions::new().raw_limit(4000));
    let shelf = Arc::new(shelf(3, false));
    let ids = register(&store, &shelf);
    store.bytes(ids[0]).unwrap();
    store.bytes(ids[1]).unwrap();
    assert_eq!(store.bytes(ids[2]).unwrap_err().kind, Kind::Limit);
    store.release(ids[0]).unwrap();
    assert_eq!(store.bytes(ids[2]).unwrap(), shelf.dictionaries[2]);
}
