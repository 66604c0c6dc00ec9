//! The dictionaries of a pack in a store.

use std::borrow::Cow;
use std::sync::Arc;

use linerate_core::Result;

use super::open::{Open, Pack};
use crate::id::Id;
use crate::source::Source;
use crate::store::Store;

/// The dictionaries of a pack, which a store has as long as this lives.
pub struct Loaded {
    store: Store,
    /// Numbers in the pack, rising, and in the store.
    ids: Vec<(u64, Id)>,
}

impl Loaded {
    /// The number in the store of a dictionary of the pack.
    pub fn get(&self, id: u64) -> Option<Id> {
        let at = self.ids.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(self.ids[at].1)
    }

    /// All of them: the number in the pack, and in the store.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Id)> + '_ {
        self.ids.iter().copied()
    }

    /// How many they are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        for (_, id) in &self.ids {
            // Each has this user since it was loaded, so this cannot fail.
            let _ = self.store.release(*id);
        }
    }
}

/// Reads what the store asks for. It goes by rows of the index.
impl Source for Open {
    fn read(&self, index: u32) -> Result<Cow<'_, [u8]>> {
        Open::read(self, index as usize)
    }
}

impl Pack {
    /// Reads all dictionaries into a store, which shares those that it has already.
    ///
    /// # Errors
    /// Those of [`read`](Self::read) and of [`Store::insert`]. Then the store is as it was.
    pub fn load_into(&self, store: &Store) -> Result<Loaded> {
        let mut loaded = Loaded { store: store.clone(), ids: Vec::new() };
        for (i, entry) in self.open.rows() {
            let id = store.insert_with_hash(&self.open.read(i)?, entry.hash)?;
            loaded.ids.push((entry.id, id));
        }
        Ok(loaded)
    }

    /// Makes all dictionaries known to a store, which reads each when it is first used, and keeps the
    /// pack open. Those that it has already, by their hashes, are not read again.
    ///
    /// # Errors
    /// Those of [`Store::register`]. Then the store is as it was.
    pub fn register(&self, store: &Store) -> Result<Loaded> {
        let mut loaded = Loaded { store: store.clone(), ids: Vec::new() };
        let mut missing = Vec::new();
        for (i, entry) in self.open.rows() {
            match known(store, entry.hash) {
                Some(id) => loaded.ids.push((entry.id, id)),
                None => missing.push((i as u32, entry)),
            }
        }
        let source: Arc<dyn Source> = self.open.clone();
        let ids = store.register(source, missing.iter().map(|(i, entry)| (*i, entry.hash)))?;
        loaded.ids.extend(missing.iter().zip(ids).map(|((_, entry), id)| (entry.id, id)));
        loaded.ids.sort_unstable();
        Ok(loaded)
    }
}

/// A dictionary that the store has already, with one more user.
fn known(store: &Store, hash: u64) -> Option<Id> {
    store.find(hash).filter(|&id| store.retain(id).is_ok())
}
