//! The bytes that a dictionary saves, and the warning of `train` and `build` if it saves none.

use serde_json::{Value, json};

/// Bytes of blocks: uncompressed, compressed with a dictionary, and compressed without one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Totals {
    /// Uncompressed bytes.
    pub(super) content: u64,
    /// Uncompressed bytes of the blocks that were compressed both ways. If these are fewer than
    /// `content`, the compressed bytes are extrapolated.
    pub(super) measured: u64,
    /// Compressed bytes with the dictionary, and its own bytes if they are included.
    pub(super) with: u64,
    /// Whether `with` includes the bytes of the dictionary, as it does unless that is in a pack.
    pub(super) includes_dictionary: bool,
    /// Compressed bytes without a dictionary.
    pub(super) without: u64,
}

impl Totals {
    /// Returns a warning that ends with `remedy` if the dictionary saves nothing, otherwise `None`.
    pub(super) fn warning(&self, remedy: &str) -> Option<String> {
        let Totals { content, with, without, .. } = self;
        let included = if self.includes_dictionary { ", including the dictionary," } else { " with it" };
        (with >= without).then(|| {
            format!(
                "the dictionary saves nothing: {content} bytes compress to {with}{included} and to {without} \
                 without it; {remedy}"
            )
        })
    }

    /// The line about a dictionary that saves bytes.
    pub(super) fn line(&self) -> String {
        let Totals { content, measured, with, without, .. } = self;
        let included = if self.includes_dictionary { " and its own bytes" } else { "" };
        let saved = without.saturating_sub(*with);
        let estimated = match measured < content {
            true => format!(", estimated from {measured} of {content} bytes of rows"),
            false => String::new(),
        };
        format!("the dictionary saves {saved} bytes: {with} with it{included}, {without} without{estimated}")
    }

    pub(super) fn object(&self) -> Value {
        let Totals { content, measured, with, without, .. } = self;
        json!({ "content": content, "measured": measured, "with": with, "without": without })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_dictionary_are_mentioned_where_they_count() {
        let saves = Totals { content: 90, measured: 90, with: 20, includes_dictionary: true, without: 30 };
        assert_eq!(saves.warning("x"), None);
        assert_eq!(saves.line(), "the dictionary saves 10 bytes: 20 with it and its own bytes, 30 without");
        let packed = Totals { includes_dictionary: false, ..saves };
        assert_eq!(packed.line(), "the dictionary saves 10 bytes: 20 with it, 30 without");
        let part = Totals { measured: 45, ..packed };
        assert!(part.line().ends_with(", 30 without, estimated from 45 of 90 bytes of rows"));
        let warning = |totals: Totals| Totals { with: 30, ..totals }.warning("x").expect("a warning");
        let begin = "the dictionary saves nothing: 90 bytes compress to 30";
        assert_eq!(warning(saves), format!("{begin}, including the dictionary, and to 30 without it; x"));
        assert_eq!(warning(packed), format!("{begin} with it and to 30 without it; x"));
    }
}
