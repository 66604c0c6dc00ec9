//! File names: which suffix a format gets, and what replaces it.

use std::path::{Path, PathBuf};

/// Suffix of a chunk of filter 32025.
pub(super) const CHUNK: &str = "drc";

/// Suffix of a file of v2 streams.
pub(super) const STREAMS: &str = "rice";

const NPY: &str = "npy";

/// The name of an encoded array: `a.npy` becomes `a.drc`, `a.raw` becomes `a.raw.drc`.
pub(super) fn encoded(path: &Path, suffix: &str) -> PathBuf {
    match has_suffix(path, &[NPY]) {
        true => path.with_extension(suffix),
        false => appended(path, suffix),
    }
}

/// The name of a decoded array: `a.drc` becomes `a.npy`; raw samples lose the suffix, or get
/// `.raw` if there is no other left.
pub(super) fn decoded(path: &Path, raw: bool) -> PathBuf {
    let stem = if has_suffix(path, &[CHUNK, STREAMS]) { path.with_extension("") } else { path.to_owned() };
    match (raw, stem.extension().is_some() && stem != path) {
        (false, _) => appended(&stem, NPY),
        (true, true) => stem,
        (true, false) => appended(&stem, "raw"),
    }
}

fn has_suffix(path: &Path, suffixes: &[&str]) -> bool {
    let suffix = path.extension().and_then(|s| s.to_str());
    suffix.is_some_and(|s| suffixes.iter().any(|known| s.eq_ignore_ascii_case(known)))
}

fn appended(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_come_and_go() {
        let to = |path: &str| encoded(Path::new(path), CHUNK).display().to_string();
        assert_eq!(to("a/b.npy"), "a/b.drc");
        assert_eq!(to("b.NPY"), "b.drc");
        assert_eq!(to("b.i16"), "b.i16.drc");
        assert_eq!(to("b"), "b.drc");
        let from = |path: &str, raw| decoded(Path::new(path), raw).display().to_string();
        assert_eq!(from("a/b.drc", false), "a/b.npy");
        assert_eq!(from("b.i16.rice", false), "b.i16.npy");
        assert_eq!(from("b.i16.drc", true), "b.i16");
        assert_eq!(from("b.drc", true), "b.raw");
        assert_eq!(from("b.bin", true), "b.bin.raw");
        assert_eq!(from("b.bin", false), "b.bin.npy");
    }
}
