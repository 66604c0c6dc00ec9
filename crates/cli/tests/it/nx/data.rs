//! Archives that the original library wrote, with their records.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

pub(crate) use linerate_testkit::program::{DAMAGED, FAILED, LIMIT, USAGE, WARNED};

/// An archive that the original library wrote, with the record of its content.
pub(crate) struct Golden {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) record: Value,
}

impl Golden {
    pub(crate) fn file(&self) -> &str {
        self.path.to_str().expect("UTF-8")
    }

    /// Sizes and hashes of the files by their paths, from the record.
    pub(crate) fn entries(&self) -> BTreeMap<String, (u64, String)> {
        let files = self.record["files"].as_array().expect("files");
        let entry = |file: &Value| {
            let text = |key: &str| file[key].as_str().expect("text").to_owned();
            (text("path"), (file["size"].as_u64().expect("a size"), text("xxh3")))
        };
        files.iter().map(entry).collect()
    }

    /// Paths that the original packer damaged.
    pub(crate) fn damaged(&self) -> Vec<String> {
        let damaged = self.record["damaged_entries"].as_array().into_iter().flatten();
        damaged.map(|path| path.as_str().expect("text").to_owned()).collect()
    }
}

/// All archives in `testdata/nx`.
pub(crate) fn goldens() -> Vec<Golden> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/nx");
    let entries = fs::read_dir(&folder).expect("testdata/nx").map(|entry| entry.expect("an entry").path());
    let mut archives: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "nx")).collect();
    archives.sort();
    assert!(archives.len() > 10, "{archives:?}");
    archives
        .into_iter()
        .map(|path| {
            let record = fs::read(path.with_extension("json")).expect("a record beside each archive");
            let record = serde_json::from_slice(&record).expect("JSON");
            let name = path.file_stem().and_then(|stem| stem.to_str()).expect("UTF-8").to_owned();
            Golden { name, path, record }
        })
        .collect()
}

pub(crate) fn golden(name: &str) -> Golden {
    goldens().into_iter().find(|golden| golden.name == name).unwrap_or_else(|| panic!("{name}"))
}
