//! Keeps the tables and figures of pages, and the picture on the front page, in step with
//! `records/`.
//!
//! `LINERATE_UPDATE=1 cargo test -p linerate-bench --test it tables` rewrites them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use linerate_bench::records::{self, Measurement};
use linerate_bench::tables::{Pages, picture};

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Folders without pages: build outputs, and inputs of tests.
const SKIPPED: &[&str] = &["target", "node_modules", "corpus", "seeds", "artifacts", "venv"];

fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() && !SKIPPED.contains(&name.as_str()) && !name.starts_with('.') {
            pages(&path, found);
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// Compares a file with its expected content, or writes that if they differ and `LINERATE_UPDATE`
/// is set.
fn check(path: &Path, wanted: &str) -> Result<(), String> {
    let found = fs::read_to_string(path).unwrap_or_default();
    if found != wanted && env::var_os("LINERATE_UPDATE").is_some() {
        return fs::write(path, wanted).map_err(|error| error.to_string());
    }
    let same = found == wanted;
    same.then_some(()).ok_or_else(|| "not what the records give; LINERATE_UPDATE=1 writes it".to_owned())
}

#[test]
fn the_picture_of_the_front_page_is_that_of_the_records() {
    let picture = picture(&root().join("records")).expect("a picture");
    check(&root().join("docs/results.svg"), &picture).expect("docs/results.svg");
}

#[test]
fn tables_and_values_of_pages_are_what_their_queries_give() {
    let (queries, mut found, mut wrong) = (Pages::new(&root().join("records")), Vec::new(), Vec::new());
    pages(root(), &mut found);
    for path in found {
        let name = path.strip_prefix(root()).expect("below the root");
        let text = fs::read_to_string(&path).expect("a page");
        let filled = queries.fill(&text, name.components().count() - 1);
        if let Err(error) = filled.and_then(|filled| check(&path, &filled)) {
            wrong.push(format!("{}:{error}", name.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_record_is_read_and_has_no_case_of_a_cpu_twice() {
    for path in fs::read_dir(root().join("records")).expect("records").flatten().map(|entry| entry.path()) {
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        let mut cases = BTreeSet::new();
        for (run, measured) in records::read(&path).expect("a record") {
            let Measurement { shape, data, contender, params, .. } = &measured;
            let case = format!("{} {}: {shape} of {data} by {contender}, {params:?}", run.cpu, run.source);
            assert!(cases.insert(case.clone()), "{}: twice {case}", path.display());
        }
    }
}
