//! Dictionaries are identified by content hash.

use std::borrow::Cow;
use std::sync::{Arc, Barrier};

use linerate_dict::{Decoder, Id, Kind, Result, Source, Store, content_hash};

use crate::common::{compress, distinct, rows};

#[test]
fn find_returns_present_dictionaries_only() {
    let store = Store::new();
    let all: Vec<Vec<u8>> = (0..300).map(|i| rows(i, 200)).collect();
    let ids: Vec<Id> = all.iter().map(|bytes| store.insert(bytes).unwrap()).collect();
    for (bytes, &id) in all.iter().zip(&ids) {
        assert_eq!(store.hash(id), Ok(content_hash(bytes)));
        assert_eq!(store.find(content_hash(bytes)), Some(id));
    }
    for (bytes, &id) in all.iter().zip(&ids).step_by(2) {
        store.release(id).unwrap();
        assert_eq!(store.find(content_hash(bytes)), None);
        assert_eq!(store.hash(id).unwrap_err().kind, Kind::BadArgument);
    }
    for (bytes, &id) in all.iter().zip(&ids).skip(1).step_by(2) {
        assert_eq!(store.find(content_hash(bytes)), Some(id));
    }
    // Refilled slots are found only by their new hash.
    let again = store.insert(&all[0]).unwrap();
    assert_eq!(store.find(content_hash(&all[0])), Some(again));
    assert_eq!(store.find(content_hash(b"none")), None);
}

#[test]
fn equal_dictionaries_share_one_id() {
    let store = Store::new();
    let first = store.insert(b"a dictionary").unwrap();
    let before = store.stats();
    assert_eq!(store.insert(b"a dictionary"), Ok(first));
    assert_eq!(store.insert_with_hash(b"a dictionary", content_hash(b"a dictionary")), Ok(first));
    let other = store.insert(b"a different dictionary").unwrap();
    assert_ne!(other, first);
    store.release(other).unwrap();
    assert_eq!((store.stats().dictionaries, store.stats().raw_bytes), (1, before.raw_bytes));
    assert_eq!((store.release(first), store.release(first)), (Ok(false), Ok(false)));
    assert_eq!(store.bytes(first).unwrap(), b"a dictionary");
    assert_eq!(store.release(first), Ok(true));
    assert_eq!(store.find(content_hash(b"a dictionary")), None);
    // Threads that insert the same bytes concurrently share one dictionary.
    let ready = Barrier::new(4);
    let ids: Vec<Id> = std::thread::scope(|scope| {
        let insert = || {
            ready.wait();
            (0..50).map(|i| store.insert(&rows(i, 9000)).unwrap()).collect::<Vec<_>>()
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(insert)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(store.stats().dictionaries, 50);
    let dropped = ids.iter().filter(|&&id| store.release(id).unwrap()).count();
    assert_eq!((dropped, store.stats().dictionaries, store.stats().raw_bytes), (50, 0, 0));
}

/// The source lends the bytes in one case, and returns copies in the other.
#[test]
fn insert_shares_registered_dictionaries() {
    struct One(bool);
    impl Source for One {
        fn read(&self, _: u32) -> Result<Cow<'_, [u8]>> {
            Ok(if self.0 { Cow::Borrowed(b"a dictionary") } else { Cow::Owned(b"a dictionary".to_vec()) })
        }
    }
    for lends in [false, true] {
        let store = Store::new();
        let hash = content_hash(b"a dictionary");
        let registered = store.register(Arc::new(One(lends)), [(0, hash)]).unwrap()[0];
        assert_eq!(store.insert(b"a dictionary"), Ok(registered));
        assert_eq!(store.insert_with_hash(b"a dictionary", hash), Ok(registered));
        assert_eq!(store.stats().dictionaries, 1);
        let dropped: Vec<bool> = (0..3).map(|_| store.release(registered).unwrap()).collect();
        assert_eq!(dropped, [false, false, true]);
    }
}

/// The source returns another dictionary than the one whose hash was stated for it.
#[test]
fn insert_does_not_share_on_a_wrong_hash() {
    struct Liar;
    impl Source for Liar {
        fn read(&self, _: u32) -> Result<Cow<'_, [u8]>> {
            Ok(Cow::Borrowed(b"something else"))
        }
    }
    let store = Store::new();
    let hash = content_hash(b"a dictionary");
    let claimed = store.register(Arc::new(Liar), [(0, hash)]).unwrap()[0];
    let there = store.insert(b"a dictionary").unwrap();
    assert_ne!(there, claimed);
    assert_eq!(store.stats().dictionaries, 2);
    assert_eq!(store.bytes(there).unwrap(), b"a dictionary");
    assert_eq!(store.bytes(claimed).unwrap_err().kind, Kind::Corrupt);
    assert_eq!(store.insert(b"a dictionary"), Ok(there));
}

#[test]
fn trim_of_an_empty_store_unmaps_everything() {
    let store = Store::new();
    let mut decoder = Decoder::new(&store);
    assert_eq!((store.trim(), store.stats().mapped_bytes), (0, 0));
    for round in 0..2 {
        let dictionary = distinct(round, 4000);
        let frame = compress(&dictionary, 3, true, &rows(round, 700));
        let id = store.insert(&dictionary).unwrap();
        assert_eq!(decoder.decode(id, &frame, &mut [0; 700]), Ok(700));
        let mapped = store.stats().mapped_bytes;
        assert!(mapped > 0 && store.stats().digested == 1);
        // Dictionaries in use stay.
        assert_eq!((store.trim(), store.stats().mapped_bytes), (0, mapped));
        store.release(id).unwrap();
        assert_eq!(store.stats().mapped_bytes, mapped);
        assert_eq!((store.trim(), store.stats().mapped_bytes), (mapped, 0));
    }
}

/// The hash of the empty input has its published value.
#[test]
fn the_hash_is_xxh3() {
    assert_eq!(content_hash(b""), 0x2d06_8005_38d3_94c2);
}

#[test]
fn insert_with_wrong_hash_is_an_error() {
    let store = Store::new();
    let (right, wrong) = (distinct(0, 4000), distinct(3, 4000));
    assert!(right[..8] == wrong[..8]);
    let error = store.insert_with_hash(&wrong, content_hash(&right)).unwrap_err();
    assert_eq!(error.kind, Kind::Corrupt);
    assert_eq!(store.stats().dictionaries, 0);
    let id = store.insert_with_hash(&right, content_hash(&right)).unwrap();
    assert_eq!(store.hash(id), Ok(content_hash(&right)));
}
