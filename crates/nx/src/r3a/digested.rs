//! The digested dictionaries of an archive. Each is digested at its first use and shared by
//! threads.

use std::fmt;
use std::sync::OnceLock;

use linerate_core::Result;
use linerate_zstd::Dictionary;

use super::frame::unusable;

/// The digested dictionaries, one for each dictionary of the archive.
pub(super) struct DigestedDictionaries(Vec<OnceLock<Result<Dictionary<'static>>>>);

impl DigestedDictionaries {
    pub(super) fn new(count: usize) -> DigestedDictionaries {
        DigestedDictionaries((0..count).map(|_| OnceLock::new()).collect())
    }

    /// Returns the digested dictionary of an index; `bytes` is the dictionary.
    ///
    /// # Errors
    /// Returns `Corrupt` if there is no dictionary of this index, or a trained one is damaged.
    pub(super) fn get(&self, index: u8, bytes: &[u8]) -> Result<&Dictionary<'static>> {
        let digested = self.0.get(usize::from(index)).ok_or(unusable())?;
        digested.get_or_init(|| Dictionary::new(bytes).map_err(|_| unusable())).as_ref().map_err(|e| *e)
    }
}

impl fmt::Debug for DigestedDictionaries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DigestedDictionaries({})", self.0.len())
    }
}
