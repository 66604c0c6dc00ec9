//! `bench`: that it measures; speeds are not checked.

use super::data::{DAMAGED, LIMIT, golden};
use linerate_testkit::program::Folder;

#[test]
fn bench_prints_a_row_for_each_number_of_threads() {
    let folder = Folder::new();
    let golden = golden("defaults");
    let args = ["bench", "--attempts", "2", "-p", "3", golden.file()];
    let lines = folder.nx(&args).ok().lines();
    let counts: Vec<&str> =
        lines[2..5].iter().map(|line| line.split_whitespace().next().expect("a word")).collect();
    assert_eq!(counts, ["1", "2", "3"]);
    assert!(lines.iter().any(|line| line.starts_with("PCIe 4.0 x4")), "{lines:?}");
    let mut json = args.to_vec();
    json.insert(1, "--json");
    let found = folder.nx(&json).ok().objects().remove(0);
    let rows = found["threads"].as_array().expect("rows");
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row["best"].as_f64() >= row["median"].as_f64()));
    let bytes: u64 = golden.entries().values().map(|(size, _)| size).sum();
    assert_eq!(found["bytes"].as_u64(), Some(bytes));
    let required = &found["drives"][2]["required"];
    let expected = 7e9 * found["ratio"].as_f64().expect("a number");
    assert!((required.as_f64().expect("a number") / expected - 1.0).abs() < 1e-9);
}

#[test]
fn bench_of_an_archive_without_content_prints_a_dash_as_share_of_the_required_speed() {
    let folder = Folder::new();
    let run = folder.nx(&["bench", "--attempts=1", "-p1", golden("single-empty").file()]).ok();
    assert!(!run.text().contains("NaN"), "{}", run.text());
    let drive = run.lines().into_iter().find(|line| line.starts_with("PCIe 4.0 x4")).expect("a row");
    assert!(drive.ends_with(" 0.000        -"), "{drive}");
}

#[test]
fn bench_of_a_damaged_archive_names_the_file() {
    let folder = Folder::new();
    let golden = golden("damaged-by-its-writer");
    let run = folder.nx(&["bench", "--attempts", "1", "-p1", golden.file()]);
    assert_eq!(run.status, Some(DAMAGED));
    assert!(golden.damaged().iter().any(|path| run.stderr.contains(path)), "{}", run.stderr);
}

#[test]
fn bench_keeps_memory_limits() {
    let folder = Folder::new();
    let golden = golden("defaults");
    let run = folder.nx(&["bench", "--max-output", "1K", golden.file()]);
    assert_eq!(run.status, Some(LIMIT), "{}", run.stderr);
}
