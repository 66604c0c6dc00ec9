//! Loading of packs into a store.

use std::borrow::Cow;
use std::sync::Arc;

use linerate_core::Result;

use super::open::{Open, Pack};
use crate::id::Id;
use crate::source::Source;
use crate::store::Store;

/// The dictionaries of a pack in a store: a reference to each, released on drop.
pub struct Loaded {
    store: Store,
    /// IDs in the pack, ascending, and in the store.
    ids: Vec<(u64, Id)>,
}

impl Loaded {
    /// The ID in the store of a dictionary of the pack.
    pub fn get(&self, id: u64) -> Option<Id> {
        let at = self.ids.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(self.ids[at].1)
    }

    /// All dictionaries, as IDs in the pack and in the store.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Id)> + '_ {
        self.ids.iter().copied()
    }

    /// Number of dictionaries.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        for (_, id) in &self.ids {
            // Each has this reference since it was loaded, so this cannot fail.
            let _ = self.store.release(*id);
        }
    }
}

/// Source of registered dictionaries; indexes are rows of the pack's index.
impl Source for Open {
    fn read(&self, index: u32) -> Result<Cow<'_, [u8]>> {
        Open::read(self, index as usize)
    }
}

impl Pack {
    /// Reads all dictionaries into a store, which shares those that it has already.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read) and of [`Store::insert`]. The store is unchanged then.
    pub fn load_into(&self, store: &Store) -> Result<Loaded> {
        let mut loaded = Loaded { store: store.clone(), ids: Vec::new() };
        for (i, entry) in self.open.rows() {
            let id = store.insert_with_hash(&self.open.read(i)?, entry.hash)?;
            loaded.ids.push((entry.id, id));
        }
        Ok(loaded)
    }

    /// Registers all dictionaries in a store, which reads each at first use and keeps the pack open.
    /// Dictionaries with the same hash as one in the store are shared with it.
    ///
    /// # Errors
    /// The errors of [`Store::register`]. The store is unchanged then.
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

/// A dictionary that the store has already; increments its reference count.
fn known(store: &Store, hash: u64) -> Option<Id> {
    store.find(hash).filter(|&id| store.retain(id).is_ok())
}
