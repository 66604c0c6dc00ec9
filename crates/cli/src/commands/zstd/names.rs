//! Suffixes of file names: added by compression, removed by decompression.

use std::path::{Path, PathBuf};

/// Suffixes of compressed files, and what replaces each: nothing, or another suffix.
const SUFFIXES: [(&str, &str); 3] = [("zst", ""), ("zstd", ""), ("tzst", "tar")];

/// The path with `.zst` appended.
pub(crate) fn with_suffix(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".zst");
    name.into()
}

/// The path of the decompressed file, if the path has a suffix of compressed files, in upper or
/// lower case.
pub(crate) fn without_suffix(path: &Path) -> Option<PathBuf> {
    let suffix = path.extension()?.to_str()?;
    let row = SUFFIXES.iter().find(|row| suffix.eq_ignore_ascii_case(row.0))?;
    Some(path.with_extension(row.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_added_and_removed() {
        let without = |p: &str| without_suffix(Path::new(p)).map(|p| p.to_str().unwrap().to_owned());
        assert_eq!(without("a/b.txt.zst").as_deref(), Some("a/b.txt"));
        assert_eq!(without("b.TZST").as_deref(), Some("b.tar"));
        assert_eq!(without("b.gz"), None);
        assert_eq!(without(".zst"), None);
        assert_eq!(without("a.zst/b"), None);
        for name in ["a", "a.tar", "a.zst", "d.d/.a"] {
            assert_eq!(without_suffix(&with_suffix(Path::new(name))).as_deref(), Some(Path::new(name)));
        }
    }
}
