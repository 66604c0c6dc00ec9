//! Compares compressed sizes with `sizes.csv`, so that a change of ratio shows up as a change of
//! that file.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use linerate_deflate::{Format, Scratch};

use crate::common::{CODING, encode};

const HEADER: &str = "file,level,chunk,bytes\n";
const CHUNKS: [usize; 4] = [1_024, 4_096, 16_384, 65_536];

/// Returns the rows of every file, level and chunk size. The last chunk size is the whole file.
fn measure() -> String {
    let mut scratch = Scratch::boxed();
    let mut table = HEADER.to_owned();
    for (name, plain) in linerate_testkit::testdata::corpus() {
        for level in CODING {
            for chunk in CHUNKS.into_iter().chain([plain.len()]) {
                let bytes = encode(&mut scratch, Format::Deflate, level, &plain, chunk).len();
                writeln!(table, "{name},{},{chunk},{bytes}", level as u8).expect("a string takes it");
            }
        }
    }
    table
}

/// Parses a table: the size of each row by the rest of the row.
fn rows(table: &str) -> BTreeMap<&str, i64> {
    let rows = table.strip_prefix(HEADER).expect("the header").lines();
    rows.map(|row| row.rsplit_once(',').expect("columns"))
        .map(|(key, bytes)| (key, bytes.parse().expect("a number")))
        .collect()
}

/// Returns a line for each row that differs, then the sum.
fn differences(recorded: &str, measured: &str) -> String {
    let (before, after) = (rows(recorded), rows(measured));
    let mut text = String::new();
    for (key, now) in &after {
        match before.get(key) {
            Some(was) if was == now => {}
            Some(was) => writeln!(text, "{key}: {was} -> {now} ({:+})", now - was).expect("a string"),
            None => writeln!(text, "{key}: new, {now}").expect("a string"),
        }
    }
    let [was, now] = [before, after].map(|rows| rows.values().sum::<i64>());
    writeln!(text, "all: {was} -> {now} ({:+})", now - was).expect("a string");
    text
}

#[test]
fn sizes_match_the_record() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/sizes.csv");
    let measured = measure();
    if env::var_os("LINERATE_UPDATE").is_some_and(|value| value == "1") {
        fs::write(path, measured).expect("a file that can be written");
        return;
    }
    let recorded = fs::read_to_string(path).expect("sizes.csv").replace("\r\n", "\n");
    assert!(
        recorded == measured,
        "sizes differ; if they should, LINERATE_UPDATE=1 cargo test -p linerate-deflate --test it sizes \
         writes crates/deflate/tests/it/sizes.csv anew\n{}",
        differences(&recorded, &measured)
    );
}
