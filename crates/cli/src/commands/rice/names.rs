//! File names: the suffix of each format, and the suffix that replaces it.

use std::path::{Path, PathBuf};

/// Suffix of a chunk of filter 32025.
pub(crate) const CHUNK: &str = "drc";

/// Suffix of a file of v2 streams.
pub(crate) const STREAMS: &str = "rice";

const NPY: &str = "npy";

const WAV: &str = "wav";

/// Suffix of raw samples whose name would have no suffix.
const RAW: &str = "raw";

/// Suffixes of the files below a folder that `encode -r` processes, unless it makes v1 chunks.
pub(super) const TO_ENCODE: [&str; 2] = [NPY, WAV];

/// Suffixes of the files below a folder that `encode -r --v1` and `tune -r` process. A v1 chunk
/// cannot hold a WAV file.
pub(super) const TO_ENCODE_V1: [&str; 1] = [NPY];

/// Suffixes of encoded files, which `decode -r` and `verify -r` process.
pub(super) const ENCODED: [&str; 2] = [CHUNK, STREAMS];

/// The name of an encoded file. If `suffix` is `drc`, `a.npy` becomes `a.drc`, and a file with
/// another suffix keeps it: `a.raw` becomes `a.raw.drc`.
pub(crate) fn encoded(path: &Path, suffix: &str) -> PathBuf {
    match has_suffix(path, &[NPY]) {
        true => path.with_extension(suffix),
        false => appended(path, suffix),
    }
}

/// The format that a file is decoded to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decoded {
    Npy,
    Raw,
    Wav,
}

/// The name of a decoded file: `a.drc` becomes `a.npy`. The name for raw samples or a WAV file only
/// loses the suffix of an encoded file, but gets `.raw` or `.wav` if it has none, or if no other
/// suffix remains.
pub(crate) fn decoded(path: &Path, decoded: Decoded) -> PathBuf {
    let stem = if has_suffix(path, &ENCODED) { path.with_extension("") } else { path.to_owned() };
    match (decoded, stem.extension().is_some() && stem != path) {
        (Decoded::Npy, _) => appended(&stem, NPY),
        (_, true) => stem,
        (Decoded::Raw, false) => appended(&stem, RAW),
        (Decoded::Wav, false) => appended(&stem, WAV),
    }
}

/// Removes the suffix of an array or an encoded file, by which the names of an operand and of its
/// output differ. `None` if there is none.
pub(super) fn without_suffix(path: &Path) -> Option<PathBuf> {
    has_suffix(path, &[CHUNK, STREAMS, NPY, WAV, RAW]).then(|| path.with_extension(""))
}

/// Whether the name ends in a dot and one of `suffixes`, in upper or lower case.
pub(super) fn has_suffix(path: &Path, suffixes: &[&str]) -> bool {
    let suffix = path.extension().and_then(|s| s.to_str());
    suffix.is_some_and(|s| suffixes.iter().any(|known| s.eq_ignore_ascii_case(known)))
}

/// Appends a dot and the suffix to the name.
pub(crate) fn appended(path: &Path, suffix: &str) -> PathBuf {
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
        let from = |path: &str, ending| decoded(Path::new(path), ending).display().to_string();
        assert_eq!(from("a/b.drc", Decoded::Npy), "a/b.npy");
        assert_eq!(from("b.i16.rice", Decoded::Npy), "b.i16.npy");
        assert_eq!(from("b.i16.drc", Decoded::Raw), "b.i16");
        assert_eq!(from("b.drc", Decoded::Raw), "b.raw");
        assert_eq!(from("b.bin", Decoded::Raw), "b.bin.raw");
        assert_eq!(from("b.bin", Decoded::Npy), "b.bin.npy");
        assert_eq!(from("b.wav.rice", Decoded::Wav), "b.wav");
        assert_eq!(from("b.rice", Decoded::Wav), "b.wav");
    }
}
