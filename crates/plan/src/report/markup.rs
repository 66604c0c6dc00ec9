//! Escapes text for HTML and SVG, since names of files and settings are untrusted.

/// Escapes text for the content of an element or the value of a quoted attribute. Tabs and line
/// feeds become spaces. Other control characters, U+FFFE and U+FFFF, most of which XML forbids, and
/// characters that override the direction of text become U+FFFD.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' => escaped.push(' '),
            '\u{fffe}' | '\u{ffff}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                escaped.push('\u{fffd}')
            }
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Cuts text to `max` characters, ending in an ellipsis if it was longer.
pub(super) fn shortened(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.into();
    }
    let kept: String = text.chars().take(max - 1).collect();
    format!("{}\u{2026}", kept.trim_end_matches([' ', ',']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_control_characters_are_escaped() {
        assert_eq!(escape("<a b='\"&\">"), "&lt;a b=&#39;&quot;&amp;&quot;&gt;");
        assert_eq!(escape("a\u{1b}[0m\0\u{202e}b\nc"), "a\u{fffd}[0m\u{fffd}\u{fffd}b c");
    }

    #[test]
    fn long_text_is_cut_with_an_ellipsis() {
        assert_eq!(shortened("zstd 12, blocks", 15), "zstd 12, blocks");
        assert_eq!(shortened("zstd 12, blocks", 10), "zstd 12\u{2026}");
    }
}
