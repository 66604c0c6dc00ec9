//! Dictionaries that are read when they are first used.

use std::borrow::Cow;

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
