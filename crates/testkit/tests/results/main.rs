//! Keeps the picture of the front page and the tables of `docs/results.md` in step with `records/`.
//!
//! `LINERATE_UPDATE=1 cargo test -p linerate-testkit --test results` writes them anew.

mod picture;
mod records;
mod tables;

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use linerate_testkit::testdata::repository;

const PICTURE: &str = "docs/results.svg";
const PAGE: &str = "docs/results.md";
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

/// The page with each table between its marks replaced by the one of that name.
fn fill(page: &str, tables: &BTreeMap<&str, String>) -> String {
    let mut filled = String::new();
    let mut rest = page;
    let mut names = Vec::new();
    while let Some((before, after)) = rest.split_once("<!-- records: ") {
        let (name, after) = after.split_once(" -->").expect("a mark has an end");
        let (_, after) = after.split_once(END).expect("a table has an end");
        let table = tables.get(name).unwrap_or_else(|| panic!("no table {name}"));
        filled.push_str(&format!("{before}<!-- records: {name} -->\n\n{table}\n{END}"));
        names.push(name);
        rest = after;
    }
    assert_eq!(names.len(), tables.len(), "{PAGE} has {names:?}");
    filled + rest
}

#[test]
fn the_picture_of_the_front_page_is_that_of_the_records() {
    check(PICTURE, &picture::picture());
}

#[test]
fn the_tables_of_results_are_those_of_the_records() {
    let page = fs::read_to_string(repository().join(PAGE)).expect("a page");
    check(PAGE, &fill(&page, &tables::tables()));
}

#[test]
fn fill_replaces_what_is_between_the_marks_only() {
    let tables = BTreeMap::from([("a", "| new |\n".to_owned())]);
    let page = "x\n<!-- records: a -->\n| old |\n<!-- end -->\ny\n";
    assert_eq!(fill(page, &tables), "x\n<!-- records: a -->\n\n| new |\n\n<!-- end -->\ny\n");
}
