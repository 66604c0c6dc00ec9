//! [`Source`]: dictionaries that are read at first use.

use std::borrow::Cow;
use std::sync::Arc;

use linerate_core::Result;

/// A place that dictionaries are read from when they are first used, such as a file (see
/// [`Store::register`](crate::Store::register)).
pub trait Source: Send + Sync {
    /// Returns the bytes of dictionary `index`. Borrowed bytes are not copied: the store keeps the
    /// source as long as it has dictionaries of the source, and refers to the bytes. Owned bytes
    /// are copied into the store.
    ///
    /// The store may call this from any thread, once for each dictionary unless it fails. Neither
    /// this function nor dropping the source may use the store.
    ///
    /// # Errors
    /// Returns any error. The block that needed the dictionary fails with it, and the next block
    /// that needs the dictionary calls again.
    fn read(&self, index: u32) -> Result<Cow<'_, [u8]>>;
}

/// The sources of a store, by number.
#[derive(Default)]
pub(crate) struct Sources {
    /// Each source with the number of its dictionaries.
    all: Vec<Option<(Arc<dyn Source>, usize)>>,
}

impl Sources {
    /// Adds a source with a count of 0, and returns its number. Returns `None` if the numbers are
    /// used up.
    pub(crate) fn add(&mut self, source: Arc<dyn Source>) -> Option<u32> {
        let at = self.all.iter().position(Option::is_none).unwrap_or(self.all.len());
        let number = u32::try_from(at).ok().filter(|&number| number < u32::MAX)?;
        if at == self.all.len() {
            self.all.push(None);
        }
        self.all[at] = Some((source, 0));
        Some(number)
    }

    pub(crate) fn get(&self, number: u32) -> Option<&Arc<dyn Source>> {
        self.all.get(number as usize)?.as_ref().map(|(source, _)| source)
    }

    /// Counts one more dictionary of a source.
    pub(crate) fn retain(&mut self, number: u32) {
        if let Some(Some((_, users))) = self.all.get_mut(number as usize) {
            *users += 1;
        }
    }

    /// Counts one dictionary of a source less. If it was the last, returns the source, to be
    /// dropped after the lock is released.
    pub(crate) fn release(&mut self, number: u32) -> Option<Arc<dyn Source>> {
        let place = self.all.get_mut(number as usize)?;
        let (_, users) = place.as_mut()?;
        *users = users.saturating_sub(1);
        if *users == 0 { place.take().map(|(source, _)| source) } else { None }
    }
}
