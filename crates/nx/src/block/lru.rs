//! An LRU list of values with eviction classes. The caches of one reader and of many threads use
//! it.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// The eviction classes, from the first to the last that is evicted. Within a class, the least
/// recently used value is evicted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Class {
    /// Read to its end, so unlikely to be read again.
    Finished,
    Normal,
    /// Decoded before its first read.
    Prefetched,
}

/// A value with its position in the order.
#[derive(Debug)]
struct Held<V> {
    value: V,
    bytes: u64,
    place: (Class, u64),
}

/// Values by key, each with a class and a size. The list evicts nothing by itself.
#[derive(Debug)]
pub(crate) struct Lru<K, V> {
    held: HashMap<K, Held<V>>,
    /// The keys by class, then by the time of the last use.
    order: BTreeMap<(Class, u64), K>,
    /// Number of uses so far.
    clock: u64,
    bytes: u64,
    prefetched: u64,
}

impl<K: Copy + Eq + Hash, V> Lru<K, V> {
    pub(crate) fn new() -> Lru<K, V> {
        Lru { held: HashMap::new(), order: BTreeMap::new(), clock: 0, bytes: 0, prefetched: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.held.len()
    }

    /// Returns the total size of all values in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the total size of the values of class [`Class::Prefetched`] in bytes.
    pub(crate) fn prefetched_bytes(&self) -> u64 {
        self.prefetched
    }

    /// Returns a value, and leaves its place in the order of eviction as it is.
    pub(crate) fn peek(&self, key: &K) -> Option<&V> {
        self.held.get(key).map(|held| &held.value)
    }

    /// Returns a mutable reference to a value, and leaves its place in the order of eviction as it
    /// is.
    pub(crate) fn peek_mut(&mut self, key: &K) -> Option<&mut V> {
        self.held.get_mut(key).map(|held| &mut held.value)
    }

    pub(crate) fn class(&self, key: &K) -> Option<Class> {
        self.held.get(key).map(|held| held.place.0)
    }

    /// Makes a value the most recently used of `class`.
    pub(crate) fn touch(&mut self, key: &K, class: Class) -> Option<&mut V> {
        let held = self.held.get_mut(key)?;
        self.order.remove(&held.place);
        self.prefetched -= prefetched(held.place.0, held.bytes);
        self.clock += 1;
        held.place = (class, self.clock);
        self.prefetched += prefetched(class, held.bytes);
        self.order.insert(held.place, *key);
        Some(&mut held.value)
    }

    /// Inserts a value as the most recently used of `class`. Replaces a value with the same key.
    pub(crate) fn insert(&mut self, key: K, value: V, bytes: u64, class: Class) {
        self.remove(&key);
        self.clock += 1;
        let place = (class, self.clock);
        self.order.insert(place, key);
        self.held.insert(key, Held { value, bytes, place });
        self.bytes += bytes;
        self.prefetched += prefetched(class, bytes);
    }

    /// Sets the size of a value.
    pub(crate) fn resize(&mut self, key: &K, bytes: u64) {
        if let Some(held) = self.held.get_mut(key) {
            self.bytes = self.bytes - held.bytes + bytes;
            let class = held.place.0;
            self.prefetched = self.prefetched - prefetched(class, held.bytes) + prefetched(class, bytes);
            held.bytes = bytes;
        }
    }

    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let held = self.held.remove(key)?;
        self.order.remove(&held.place);
        self.bytes -= held.bytes;
        self.prefetched -= prefetched(held.place.0, held.bytes);
        Some(held.value)
    }

    /// Returns the first key in the order of eviction for which `may_go` returns true.
    pub(crate) fn first(&self, may_go: impl Fn(&K, &V) -> bool) -> Option<K> {
        let may_go = |key: &&K| self.peek(key).is_some_and(|value| may_go(key, value));
        self.order.values().find(may_go).copied()
    }

    /// Returns all keys in the order of eviction.
    #[cfg(test)]
    pub(crate) fn keys(&self) -> Vec<K> {
        self.order.values().copied().collect()
    }
}

fn prefetched(class: Class, bytes: u64) -> u64 {
    if class == Class::Prefetched { bytes } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lru() -> Lru<u32, u32> {
        let mut lru = Lru::new();
        for (key, class) in
            [(1, Class::Prefetched), (2, Class::Normal), (3, Class::Finished), (4, Class::Normal)]
        {
            lru.insert(key, key * 10, 100, class);
        }
        lru
    }

    #[test]
    fn classes_go_in_order_and_the_least_recently_used_first() {
        let mut lru = lru();
        assert_eq!(lru.keys(), [3, 2, 4, 1]);
        assert_eq!(lru.touch(&2, Class::Normal), Some(&mut 20));
        assert_eq!(lru.keys(), [3, 4, 2, 1]);
        assert_eq!(lru.first(|_, value| *value != 30), Some(4));
        assert_eq!(lru.first(|_, value| *value > 40), None);
        assert_eq!(lru.touch(&9, Class::Normal), None);
    }

    #[test]
    fn bytes_follow_what_is_held() {
        let mut lru = lru();
        assert_eq!((lru.len(), lru.bytes(), lru.prefetched_bytes()), (4, 400, 100));
        lru.resize(&1, 250);
        assert_eq!((lru.bytes(), lru.prefetched_bytes()), (550, 250));
        lru.touch(&1, Class::Normal);
        assert_eq!((lru.class(&1), lru.prefetched_bytes()), (Some(Class::Normal), 0));
        lru.insert(2, 21, 7, Class::Prefetched);
        assert_eq!((lru.len(), lru.bytes(), lru.prefetched_bytes()), (4, 457, 7));
        assert_eq!((lru.remove(&2), lru.remove(&2)), (Some(21), None));
        assert_eq!((lru.bytes(), lru.prefetched_bytes(), lru.keys().len()), (450, 0, 3));
    }
}
