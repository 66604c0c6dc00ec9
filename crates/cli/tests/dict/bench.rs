//! `linerate dict bench`, which is `linerate bench cold`; tests/bench has the shape.

use crate::data::FAILED;
use linerate_testkit::program::Folder;

#[test]
fn small_run_is_printed_and_recorded() {
    let folder = Folder::new();
    let args =
        ["bench", "--data", "json", "--block", "8K", "--count", "2", "--rounds", "1", "--least", "64K"];
    let run = folder.dict(&[&args[..], &["--csv", "kept.csv"]].concat()).ok();
    let shown = String::from_utf8(run.stdout).unwrap();
    assert!(shown.contains("JSON (generated rows), blocks of 8 KiB, 2 dictionaries of 8 KiB"), "{shown}");
    let kept = String::from_utf8(folder.read("kept.csv")).unwrap();
    assert!(
        kept.lines().skip(1).all(|line| line.ends_with(&format!("linerate dict {}", args.join(" ")))),
        "{kept}"
    );
}

#[test]
fn missing_file_is_one_line_of_error() {
    let run = Folder::new().dict(&["bench", "--data", "absent"]);
    assert_eq!(run.status, Some(FAILED));
    assert!(
        run.stderr.starts_with("linerate: absent: ") && run.stderr.lines().count() == 1,
        "{}",
        run.stderr
    );
}

/// A program runs where its sources are not.
#[test]
fn bench_contains_its_text() {
    let program = std::fs::read(env!("CARGO_BIN_EXE_linerate")).unwrap();
    let there = |wanted: &[u8]| program.windows(wanted.len()).any(|bytes| bytes == wanted);
    assert!(!there(b"/crates/bench/corpus"));
    let carried: [&[u8]; 3] = [
        include_bytes!("../../../bench/corpus/northamerica.tz"),
        include_bytes!("../../../bench/corpus/theory.html"),
        include_bytes!("../../../bench/corpus/zic.c"),
    ];
    assert!(carried.iter().all(|text| there(&text[1000..1200])));
}
