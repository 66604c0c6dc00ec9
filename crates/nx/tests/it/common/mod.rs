//! Code that tests share: the goldens in `testdata/nx`, and more goldens in the folder that
//! `LINERATE_NX_GOLDENS` names.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]

pub mod make;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use linerate_nx::{Archive, FileSource, MapSource};
use serde_json::Value;

/// An archive and its expected content.
pub struct Golden {
    pub name: String,
    pub path: PathBuf,
    pub files: Vec<Expected>,
    /// Paths of files whose stored data is too short.
    pub damaged: BTreeSet<String>,
    /// Number of blocks that are zstd frames without a last block.
    pub unterminated: u64,
}

/// The expected content of a file.
pub struct Expected {
    pub path: String,
    pub size: u64,
    pub xxh3: u64,
}

impl Golden {
    fn read(json: &Path) -> Golden {
        let record: Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
        let text = |v: &Value| v.as_str().expect("a string").to_owned();
        let files = record["files"].as_array().unwrap().iter().map(|file| Expected {
            path: text(&file["path"]),
            size: file["size"].as_u64().unwrap(),
            xxh3: u64::from_str_radix(file["xxh3"].as_str().unwrap(), 16).unwrap(),
        });
        let damaged = record["damaged_entries"].as_array().into_iter().flatten().map(text);
        Golden {
            name: json.file_stem().unwrap().to_str().unwrap().to_owned(),
            path: json.with_extension("nx"),
            files: files.collect(),
            damaged: damaged.collect(),
            unterminated: record["header"]["unterminated_zstd"].as_u64().unwrap(),
        }
    }

    pub fn open(&self) -> Archive<FileSource> {
        Archive::open(FileSource::open(&self.path).unwrap()).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }

    pub fn open_mapped(&self) -> Archive<MapSource> {
        Archive::open(MapSource::open(&self.path).unwrap()).unwrap()
    }

    /// Whether all content fits in memory and on the disk.
    pub fn is_small(&self) -> bool {
        self.files.iter().map(|file| file.size).sum::<u64>() < 100 << 20
    }
}

/// Returns all goldens, sorted by name.
pub fn goldens() -> Vec<Golden> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/nx");
    let folders = [Some(home), std::env::var_os("LINERATE_NX_GOLDENS").map(PathBuf::from)];
    let mut records: Vec<PathBuf> = folders
        .into_iter()
        .flatten()
        .flat_map(|folder| std::fs::read_dir(folder).expect("a folder of goldens"))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    records.sort_by_key(|path| path.file_name().map(ToOwned::to_owned));
    records.dedup_by_key(|path| path.file_name().map(ToOwned::to_owned));
    records.iter().map(|path| Golden::read(path)).collect()
}

#[track_caller]
pub fn assert_fails<T: std::fmt::Debug>(result: linerate_nx::Result<T>, kind: linerate_nx::Kind, what: &str) {
    let error = result.unwrap_err();
    assert!(error.kind == kind && error.message.contains(what), "{kind:?}, {what}: {error:?}");
}

/// A writer that passes the bytes to a function.
pub struct Sink<F>(pub F);

impl<F: FnMut(&[u8])> Write for Sink<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.0)(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns ranges within `len` bytes: at the ends, in the middle, and across likely chunk borders.
pub fn ranges(len: usize) -> Vec<Range<usize>> {
    let starts = [0, 1, len / 2, len.saturating_sub(1), 32_767, 131_071];
    let lens = [0, 1, 2, 5_000, len];
    let all =
        starts.into_iter().flat_map(|start| lens.into_iter().map(move |l| start..start.saturating_add(l)));
    all.filter(|range| range.end <= len).collect()
}
