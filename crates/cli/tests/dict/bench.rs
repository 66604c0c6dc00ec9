//! `linerate dict bench`, as far as it is more than `linerate-bench cold`.

use crate::data::FAILED;
use crate::support::Folder;

#[test]
fn a_small_run_is_printed_and_kept() {
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
fn a_file_that_is_not_there_is_one_line() {
    let run = Folder::new().dict(&["bench", "--data", "absent"]);
    assert_eq!(run.status, Some(FAILED));
    assert!(
        run.stderr.starts_with("linerate: absent: ") && run.stderr.lines().count() == 1,
        "{}",
        run.stderr
    );
}
