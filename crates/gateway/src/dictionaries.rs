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
    /// The dictionaries, sorted by id.
    by_id: Vec<Dictionary<'static>>,
}

impl Dictionaries {
    /// Digests dictionaries. A dictionary in zstd's format states its id. A dictionary without the
    /// magic number of that format is raw content and has the id 0; frames that name no dictionary
    /// use it.
    ///
    /// # Errors
    /// Returns [`Kind::Corrupt`] or [`Kind::Truncated`] for a damaged dictionary, [`Kind::Limit`]
    /// for a dictionary of 4 GiB or more, and [`Kind::BadArgument`] for two dictionaries with the
    /// same id, such as two of raw content.
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

    /// Number of bytes that the dictionaries hold: contents, tables, and the list of dictionaries.
    pub fn memory(&self) -> usize {
        let digested: usize = self.by_id.iter().map(|one| one.memory() + one.content().len()).sum();
        digested + self.by_id.capacity() * size_of::<Dictionary<'static>>()
    }

    /// The dictionary for a frame with this `Dictionary_ID`, which is 0 if the frame names none.
    pub(crate) fn find(&self, id: u32) -> Option<&Dictionary<'static>> {
        let at = self.by_id.binary_search_by_key(&id, Dictionary::id).ok()?;
        Some(&self.by_id[at])
    }
}
