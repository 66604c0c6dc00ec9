//! Suffixes of file names, which decompression removes.

use std::path::{Path, PathBuf};

/// Suffixes of compressed files, and what replaces each.
const SUFFIXES: [(&str, &str); 3] = [("zst", ""), ("zstd", ""), ("tzst", "tar")];

/// The path without its suffix, if it has a known one.
pub(crate) fn without_suffix(path: &Path) -> Option<PathBuf> {
    let suffix = path.extension()?.to_str()?;
    let row = SUFFIXES.iter().find(|row| suffix.eq_ignore_ascii_case(row.0))?;
    Some(path.with_extension(row.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_suffixes_are_removed() {
        let without = |p: &str| without_suffix(Path::new(p)).map(|p| p.to_str().unwrap().to_owned());
        assert_eq!(without("a/b.txt.zst").as_deref(), Some("a/b.txt"));
        assert_eq!(without("b.TZST").as_deref(), Some("b.tar"));
        assert_eq!(without("b.gz"), None);
        assert_eq!(without(".zst"), None);
        assert_eq!(without("a.zst/b"), None);
    }
}
