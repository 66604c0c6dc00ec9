//! The bytes that a dictionary saves, and the warning of `train` and `build` if it saves none.

use serde_json::{Value, json};

/// Bytes of all blocks with a dictionary, including its own, and without.
#[derive(Clone, Copy, Debug)]
pub(super) struct Totals {
    /// Uncompressed bytes.
    pub(super) content: u64,
    pub(super) with: u64,
    pub(super) without: u64,
}

impl Totals {
    /// Returns the warning about a dictionary that saves nothing, with `remedy`, or `None`.
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
