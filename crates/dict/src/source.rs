//! Dictionaries that are read when they are first used.

use std::borrow::Cow;
use std::sync::Arc;

use linerate_core::Result;

/// Where the dictionaries come from that a store registers without having them, such as a file:
/// [`Store::register`](crate::Store::register).
pub trait Source: Send + Sync {
    /// The bytes of the dictionary `index`. What is borrowed is not copied: the store keeps the source
    /// as long as it has dictionaries of it, and refers to the bytes. What is owned is copied into the
    /// store. It is asked once for each dictionary that goes well, from any thread, and must not use
    /// the store.
    ///
    /// # Errors
    /// Those of the source. They are the result of the block that needed the dictionary, and the next
    /// block asks again.
    fn read(&self, index: u32) -> Result<Cow<'_, [u8]>>;
}

/// The sources that a store has dictionaries of, by number.
#[derive(Default)]
pub(crate) struct Sources {
    /// Each with as many users as it has dictionaries.
    all: Vec<Option<(Arc<dyn Source>, usize)>>,
}

impl Sources {
    /// Takes a source without users; returns its number.
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

    /// One user more.
    pub(crate) fn retain(&mut self, number: u32) {
        if let Some(Some((_, users))) = self.all.get_mut(number as usize) {
            *users += 1;
        }
    }

    /// One user less; without any, the source, to be dropped where nobody waits for it.
    pub(crate) fn release(&mut self, number: u32) -> Option<Arc<dyn Source>> {
        let place = self.all.get_mut(number as usize)?;
        let (_, users) = place.as_mut()?;
        *users = users.saturating_sub(1);
        if *users == 0 { place.take().map(|(source, _)| source) } else { None }
    }
}
