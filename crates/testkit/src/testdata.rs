//! Files of `testdata/`, the bench's corpus, and larger corpora outside the repository.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::tools::skip;

/// The repository's root.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder `testdata`.
pub fn testdata() -> PathBuf {
    repository().join("testdata")
}

/// The folder of small files that the bench compresses unless it is given others.
pub fn corpus_folder() -> PathBuf {
    repository().join("crates/bench/corpus")
}

/// The files in [`corpus_folder`] with their names, sorted.
pub fn corpus() -> Vec<(String, Vec<u8>)> {
    let files = files_below(&corpus_folder());
    assert!(files.len() >= 6, "crates/bench/corpus lacks files");
    files.iter().map(|path| (file_name(path), fs::read(path).expect("a file of the corpus"))).collect()
}

/// The folder of larger files that the environment variable `LINERATE_CORPORA` names. If it is not
/// set, reports the test as skipped and returns `None`, even if `STRICT` is 1.
pub fn corpora() -> Option<PathBuf> {
    let folder = env::var_os("LINERATE_CORPORA").map(PathBuf::from);
    if folder.is_none() {
        skip("LINERATE_CORPORA names no folder of larger files");
    }
    folder
}

/// The last part of a path.
pub fn file_name(path: &Path) -> String {
    path.file_name().expect("a file").to_string_lossy().into_owned()
}

/// All files below a folder, sorted by path.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.expect("an entry").path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}
