//! The bytes that a dictionary saves, and the warning of `train` and `build` if it saves none.

use serde_json::{Value, json};

/// Bytes of all blocks: uncompressed, compressed with a dictionary, and compressed without one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Totals {
    /// Uncompressed bytes.
    pub(super) content: u64,
    /// Compressed bytes with the dictionary, plus its own bytes unless it is in a pack.
    pub(super) with: u64,
    /// Compressed bytes without a dictionary.
    pub(super) without: u64,
}

impl Totals {
    /// Returns a warning that ends with `remedy` if the dictionary saves nothing, otherwise `None`.
    pub(super) fn warning(&self, remedy: &str) -> Option<String> {
        let Totals { content, with, without } = self;
        (with >= without).then(|| {
            format!(
                "the dictionary saves nothing: {content} bytes compress to {with}, including the dictionary, \
                 and to {without} without it; {remedy}"
            )
        })
    }

    pub(super) fn object(&self) -> Value {
        json!({ "content": self.content, "with": self.with, "without": self.without })
    }
}
