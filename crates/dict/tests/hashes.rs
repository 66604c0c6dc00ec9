//! Dictionaries told apart by what they are.

mod common;

use common::{distinct, rows};
use linerate_dict::{Id, Kind, Store, content_hash};

#[test]
fn a_dictionary_is_found_by_its_hash_as_long_as_it_is_there() {
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
    // Slots that are filled again are found under their new hash alone.
    let again = store.insert(&all[0]).unwrap();
    assert_eq!(store.find(content_hash(&all[0])), Some(again));
    assert_eq!(store.find(content_hash(b"none")), None);
}

#[test]
fn the_same_bytes_may_be_there_twice() {
    let store = Store::new();
    let (first, second) = (store.insert(b"a dictionary").unwrap(), store.insert(b"a dictionary").unwrap());
    let hash = content_hash(b"a dictionary");
    assert!(store.find(hash) == Some(first) || store.find(hash) == Some(second));
    store.release(first).unwrap();
    assert_eq!(store.find(hash), Some(second));
}

/// As its description says for the empty input.
#[test]
fn the_hash_is_xxh3() {
    assert_eq!(content_hash(b""), 0x2d06_8005_38d3_94c2);
}

#[test]
fn another_dictionary_than_expected_is_refused() {
    let store = Store::new();
    let (right, wrong) = (distinct(0, 4000), distinct(3, 4000));
    assert!(right[..8] == wrong[..8]);
    let error = store.insert_expecting(&wrong, content_hash(&right)).unwrap_err();
    assert_eq!(error.kind, Kind::Corrupt);
    assert_eq!(store.stats().dictionaries, 0);
    let id = store.insert_expecting(&right, content_hash(&right)).unwrap();
    assert_eq!(store.hash(id), Ok(content_hash(&right)));
}
