//! Keeps the picture of the front page and the tables of some pages in step with `records/`.
//!
//! `LINERATE_UPDATE=1 cargo test -p linerate-testkit --test results` writes them anew.

mod damage;
mod deflate;
mod dict;
mod gateway;
mod http;
mod nx;
mod packages;
mod picture;
mod platforms;
mod records;
mod rocksdb;
mod servers;
mod tables;
mod waveforms;
mod websocket;
mod zstd;

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use linerate_testkit::markdown::pages;
use linerate_testkit::testdata::repository;

const PICTURE: &str = "docs/results.svg";
/// At the beginning of a line.
const BEGIN: &str = "\n<!-- records: ";
const END: &str = "<!-- end -->";

/// Compares a file with what it should hold, or writes it.
fn check(path: &str, wanted: &str) {
    let file = repository().join(Path::new(path));
    if env::var_os("LINERATE_UPDATE").is_some() {
        fs::write(&file, wanted).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert!(found == wanted, "{path} is not what the records give; LINERATE_UPDATE=1 writes it");
}

/// The page with each table between its marks replaced by the one of that name, and the names. Links to records lead from
/// the folder of the page, `depth` folders below the root.
fn fill(page: &str, depth: usize, tables: &BTreeMap<&str, String>) -> (String, Vec<String>) {
    let mut filled = String::new();
    let mut rest = page;
    let mut names = Vec::new();
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (name, after) = after.split_once(" -->").expect("a mark has an end");
        let (_, after) = after.split_once(END).expect("a table has an end");
        let table = tables.get(name).unwrap_or_else(|| panic!("no table {name}"));
        let table = table.replace("](records/", &format!("]({}records/", "../".repeat(depth)));
        filled.push_str(&format!("{before}{BEGIN}{name} -->\n\n{table}\n{END}"));
        names.push(name.to_owned());
        rest = after;
    }
    (filled + rest, names)
}

#[test]
fn the_picture_of_the_front_page_is_that_of_the_records() {
    check(PICTURE, &picture::picture());
}

#[test]
fn the_tables_of_pages_are_those_of_the_records() {
    let tables = tables::tables();
    let mut placed = Vec::new();
    for path in pages().into_iter().map(|page| page.path) {
        let text = fs::read_to_string(repository().join(&path)).expect("a page");
        let (filled, names) = fill(&text, path.matches('/').count(), &tables);
        check(&path, &filled);
        placed.extend(names);
    }
    placed.sort();
    assert_eq!(placed, tables.into_keys().collect::<Vec<_>>(), "each table is on one page");
}

#[test]
fn fill_replaces_what_is_between_the_marks_only() {
    let tables = BTreeMap::from([("a", "| [new](records/x.csv) |\n".to_owned())]);
    let page = "x\n<!-- records: a -->\n| old |\n<!-- end -->\ny\n";
    let filled = "x\n<!-- records: a -->\n\n| [new](../../records/x.csv) |\n\n<!-- end -->\ny\n";
    assert_eq!(fill(page, 2, &tables), (filled.to_owned(), vec!["a".to_owned()]));
}
