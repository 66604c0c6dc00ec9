//! Suffixes of file names: added by compression, removed by decompression.

use std::path::{Path, PathBuf};

use super::args::FormatChoice;

/// Suffixes of compressed files, what replaces each, and the format where it cannot be detected.
const SUFFIXES: [(&str, &str, Option<FormatChoice>); 7] = [
    ("gz", "", None),
    ("bgz", "", None),
    ("tgz", "tar", None),
    ("taz", "tar", None),
    ("z", "", None),
    ("zz", "", None),
    ("deflate", "", Some(FormatChoice::Deflate)),
];

fn known(path: &Path) -> Option<&'static (&'static str, &'static str, Option<FormatChoice>)> {
    let suffix = path.extension()?.to_str()?;
    SUFFIXES.iter().find(|(known, ..)| suffix.eq_ignore_ascii_case(known))
}

/// The suffix of a path, if it is one of compressed files.
pub(crate) fn compressed_suffix(path: &Path) -> Option<&'static str> {
    known(path).map(|row| row.0)
}

/// The format of the path's suffix, where it cannot be detected by content.
pub(crate) fn format_by_suffix(path: &Path) -> Option<FormatChoice> {
    known(path).and_then(|row| row.2)
}

/// The path with the suffix of the format.
pub(crate) fn with_suffix(path: &Path, format: FormatChoice) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(match format {
        FormatChoice::Gzip | FormatChoice::Bgzf => ".gz",
        FormatChoice::Zlib => ".zz",
        FormatChoice::Deflate => ".deflate",
    });
    name.into()
}

/// The path without its suffix, if it has a known one.
pub(crate) fn without_suffix(path: &Path) -> Option<PathBuf> {
    known(path).map(|row| path.with_extension(row.1))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn suffixes_are_added_and_removed() {
        let without = |p: &str| without_suffix(Path::new(p)).map(|p| p.to_str().unwrap().to_owned());
        assert_eq!(without("a/b.txt.gz").as_deref(), Some("a/b.txt"));
        assert_eq!(without("b.TGZ").as_deref(), Some("b.tar"));
        assert_eq!(without("b.deflate").as_deref(), Some("b"));
        assert_eq!(without("b.txt"), None);
        assert_eq!(without(".gz"), None);
        assert_eq!(without("a.gz/b"), None);
        for format in FormatChoice::value_variants() {
            let path = Path::new("x.y");
            assert_eq!(without_suffix(&with_suffix(path, *format)).as_deref(), Some(path));
        }
    }
}
