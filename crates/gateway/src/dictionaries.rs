//! Dictionaries of zstd frames, found by their id.

use linerate_core::{Error, Kind};
use linerate_zstd::Dictionary;

/// Dictionaries of zstd frames, digested once and shared by any number of sessions.
///
/// ```
/// use std::sync::Arc;
/// use linerate_gateway::{Dictionaries, Limits, Session, Transport};
///
/// let content = br#"{"kind":"commit","commit":{"operation":"create","collection":"app.bsky.feed."#;
/// let dictionaries = Arc::new(Dictionaries::new([&content[..]])?);
/// let session = Session::new(Transport::ZstdFrame, Limits::new()).dictionaries(dictionaries);
/// # Ok::<(), linerate_gateway::Error>(())
/// ```
pub struct Dictionaries {
    /// In order of their ids.
    by_id: Vec<Dictionary<'static>>,
}

impl Dictionaries {
    /// Digests dictionaries in zstd's format, of which each has an id. One without the magic number of that format is raw
    /// content: its id is 0, and frames that name no dictionary use it.
    ///
    /// # Errors
    /// [`Kind::Corrupt`] or [`Kind::Truncated`] for a damaged dictionary, [`Kind::BadArgument`] for two with the same id.
    pub fn new<'b>(dictionaries: impl IntoIterator<Item = &'b [u8]>) -> Result<Dictionaries, Error> {
        let digested: Result<Vec<_>, Error> = dictionaries.into_iter().map(Dictionary::new).collect();
        let mut by_id = digested?;
        by_id.sort_by_key(Dictionary::id);
        if by_id.windows(2).any(|pair| pair[0].id() == pair[1].id()) {
            return Err(Error::new(Kind::BadArgument, 0, "two dictionaries have the same id"));
        }
        Ok(Dictionaries { by_id })
    }

    /// The ids, in ascending order.
    pub fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.by_id.iter().map(Dictionary::id)
    }

    /// Bytes held: contents and tables.
    pub fn memory(&self) -> usize {
        let digested: usize = self.by_id.iter().map(|one| one.memory() + one.content().len()).sum();
        digested + self.by_id.capacity() * size_of::<Dictionary<'static>>()
    }

    /// The dictionary of a frame with this Dictionary_ID; 0 if it names none.
    pub(crate) fn find(&self, id: u32) -> Option<&Dictionary<'static>> {
        let at = self.by_id.binary_search_by_key(&id, Dictionary::id).ok()?;
        Some(&self.by_id[at])
    }
}
