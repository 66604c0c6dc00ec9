//! Suffixes of file names: added by compression, removed by decompression.

use std::path::{Path, PathBuf};

use super::args::FormatChoice;

/// Each row has a suffix of compressed files, the suffix that replaces it on decompression, and the
/// format, unless the content shows that.
const SUFFIXES: [(&str, &str, Option<FormatChoice>); 7] = [
    ("gz", "", None),
    ("bgz", "", None),
    ("tgz", "tar", None),
    ("taz", "tar", None),
    ("z", "", None),
    ("zz", "", None),
    ("deflate", "", Some(FormatChoice::Deflate)),
];

/// The path without `suffix` at its end, ignoring case. `None` if the name does not end in
/// `suffix`, consists of nothing else, or is not UTF-8.
fn strip(path: &Path, suffix: &str) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let (stem, end) = name.split_at_checked(name.len().checked_sub(suffix.len())?)?;
    (!stem.is_empty() && end.eq_ignore_ascii_case(suffix)).then(|| path.with_file_name(stem))
}

fn known(path: &Path) -> Option<&'static (&'static str, &'static str, Option<FormatChoice>)> {
    let suffix = path.extension()?.to_str()?;
    SUFFIXES.iter().find(|(known, ..)| suffix.eq_ignore_ascii_case(known))
}

/// The suffix of a path, if it is `given` or one of [`SUFFIXES`]; `None` for another one.
pub(crate) fn compressed_suffix<'s>(path: &Path, given: Option<&'s str>) -> Option<&'s str> {
    let given = given.filter(|suffix| strip(path, suffix).is_some());
    given.or_else(|| known(path).map(|row| row.0))
}

/// The format that the path's suffix means, if the content cannot show it: deflate.
pub(crate) fn format_by_suffix(path: &Path) -> Option<FormatChoice> {
    known(path).and_then(|row| row.2)
}

/// The path with a suffix appended: `given`, or else the suffix of the format.
pub(crate) fn with_suffix(path: &Path, format: FormatChoice, given: Option<&str>) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(given.unwrap_or(match format {
        FormatChoice::Gzip | FormatChoice::Bgzf => ".gz",
        FormatChoice::Zlib => ".zz",
        FormatChoice::Deflate => ".deflate",
    }));
    name.into()
}

/// The path of a file's index.
pub(crate) fn of_index(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".gzidx");
    name.into()
}

/// The path of the decompressed file: without the suffix `given`, or with one of [`SUFFIXES`]
/// replaced. `None` for other suffixes.
pub(crate) fn without_suffix(path: &Path, given: Option<&str>) -> Option<PathBuf> {
    let stripped = given.and_then(|suffix| strip(path, suffix));
    stripped.or_else(|| known(path).map(|row| path.with_extension(row.1)))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn suffixes_are_added_and_removed() {
        let without = |p: &str| without_suffix(Path::new(p), None).map(|p| p.to_str().unwrap().to_owned());
        assert_eq!(without("a/b.txt.gz").as_deref(), Some("a/b.txt"));
        assert_eq!(without("b.TGZ").as_deref(), Some("b.tar"));
        assert_eq!(without("b.deflate").as_deref(), Some("b"));
        assert_eq!(without("b.txt"), None);
        assert_eq!(without(".gz"), None);
        assert_eq!(without("a.gz/b"), None);
        for format in FormatChoice::value_variants() {
            let path = Path::new("x.y");
            for given in [None, Some(".s"), Some("-z"), Some("ö")] {
                let with = with_suffix(path, *format, given);
                assert_eq!(without_suffix(&with, given).as_deref(), Some(path), "{}", with.display());
            }
        }
    }

    #[test]
    fn a_given_suffix_comes_before_the_known_ones_and_is_never_the_whole_name() {
        let without =
            |p, given| without_suffix(Path::new(p), Some(given)).map(|p| p.to_str().unwrap().to_owned());
        assert_eq!(without("a/b.tgz", "gz").as_deref(), Some("a/b.t"));
        assert_eq!(without("b.XX", ".xx").as_deref(), Some("b"));
        assert_eq!(without("b.gz", ".xx").as_deref(), Some("b"));
        for none in ["b", ".xx", "d.xx/b", "b\u{f6}"] {
            assert_eq!(without(none, ".xx"), None);
        }
        assert_eq!(compressed_suffix(Path::new("b.xx"), Some(".xx")), Some(".xx"));
    }
}
