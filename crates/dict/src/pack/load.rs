//! Loads packs into a store.

use std::borrow::Cow;
use std::sync::Arc;

use linerate_core::Result;

use super::open::{Open, Pack};
use crate::id::Id;
use crate::source::Source;
use crate::store::Store;

/// The dictionaries of a pack in a store. It holds a reference to each, and releases them on drop.
pub struct Loaded {
    store: Store,
    /// IDs in the pack, ascending, each with its ID in the store.
    ids: Vec<(u64, Id)>,
}

impl Loaded {
    /// Returns the ID in the store of a dictionary of the pack.
    pub fn get(&self, id: u64) -> Option<Id> {
        let at = self.ids.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(self.ids[at].1)
    }

    /// Iterates over all dictionaries, as pairs of ID in the pack and ID in the store.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Id)> + '_ {
        self.ids.iter().copied()
    }

    /// Returns the number of dictionaries.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns whether there are no dictionaries.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        for (_, id) in &self.ids {
            // This fails only if a caller has released the dictionary, too.
            let _ = self.store.release(*id);
        }
    }
}

/// Reads registered dictionaries. Their indexes are rows of the pack's index.
impl Source for Open {
    fn read(&self, index: u32) -> Result<Cow<'_, [u8]>> {
        Open::read(self, index as usize)
    }
}

impl Pack {
    /// Reads all dictionaries into a store. Dictionaries that the store already has are shared.
    ///
    /// # Errors
    /// Returns the errors of [`read`](Self::read) and of [`Store::insert`]. After an error the
    /// store is unchanged.
    pub fn load_into(&self, store: &Store) -> Result<Loaded> {
        let mut loaded = Loaded { store: store.clone(), ids: Vec::new() };
        for (i, entry) in self.open.rows() {
            let id = store.insert_with_hash(&self.open.read(i)?, entry.hash)?;
            loaded.ids.push((entry.id, id));
        }
        Ok(loaded)
    }

    /// Registers all dictionaries in a store, which reads each at first use and keeps the pack
    /// open. If a dictionary in the store has the same hash, it is shared.
    ///
    /// # Errors
    /// Returns the errors of [`Store::register`]. After an error the store is unchanged.
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

/// Finds a dictionary that the store already has, and increments its reference count.
fn known(store: &Store, hash: u64) -> Option<Id> {
    store.find(hash).filter(|&id| store.retain(id).is_ok())
}
