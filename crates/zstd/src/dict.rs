//! [`DecoderDictionary`], with the names of the `zstd` crate.

use std::io;

use crate::dictionary::Dictionary;

/// A digested dictionary for any number of decoders.
pub struct DecoderDictionary<'a> {
    dictionary: Dictionary<'a>,
}

impl DecoderDictionary<'static> {
    /// Digests a dictionary and copies its content.
    ///
    /// # Panics
    /// Panics if a trained dictionary is damaged, as in the `zstd` crate, or if the content has 4
    /// GiB or more. [`try_copy`](Self::try_copy) returns an error.
    pub fn copy(dictionary: &[u8]) -> Self {
        Self::try_copy(dictionary).unwrap_or_else(|e| panic!("the dictionary is damaged: {e}"))
    }

    /// Digests a dictionary and copies its content.
    ///
    /// # Errors
    /// Returns the errors of [`Dictionary::new`].
    pub fn try_copy(dictionary: &[u8]) -> io::Result<Self> {
        Ok(Dictionary::new(dictionary)?.into())
    }
}

impl<'a> DecoderDictionary<'a> {
    /// Digests a dictionary and borrows its content.
    ///
    /// # Panics
    /// Panics if a trained dictionary is damaged, as in the `zstd` crate, or if the content has 4
    /// GiB or more. [`Dictionary::by_reference`], converted by `into`, returns an error.
    pub fn new(dictionary: &'a [u8]) -> Self {
        let dictionary = Dictionary::by_reference(dictionary);
        dictionary.unwrap_or_else(|e| panic!("the dictionary is damaged: {e}")).into()
    }

    pub(crate) const fn as_dictionary(&self) -> &Dictionary<'a> {
        &self.dictionary
    }
}

impl<'a> From<Dictionary<'a>> for DecoderDictionary<'a> {
    fn from(dictionary: Dictionary<'a>) -> Self {
        DecoderDictionary { dictionary }
    }
}
