//! The shape "messages": small runs of recorded connections.

use linerate_testkit::program::{FAILED, Folder, USAGE};

use crate::{bench, connection as sample};

#[test]
fn small_run_is_printed_recorded_and_drawn() {
    let folder = Folder::new();
    let args = ["messages", "--rounds", "1", "--connections", "10", &sample("sample.msgs")];
    let run = bench(&folder, &[&args[..], &["--csv", "kept.csv", "--svg", "drawn"]].concat()).ok();
    let text = run.text();
    assert!(
        text.contains("files: sample") && text.contains("/ zlib-rs") && text.contains("/ libzstd"),
        "{text}"
    );
    let kept = String::from_utf8(folder.read("kept.csv")).unwrap();
    assert!(kept.lines().count() > 3 * 5 && kept.contains("linerate-bench messages --rounds 1"), "{kept}");
    for name in ["drawn/gateway-speed.svg", "drawn/gateway-memory.svg"] {
        assert!(String::from_utf8(folder.read(name)).unwrap().contains("libzstd 8K"));
    }
}

#[test]
fn results_are_printed_as_json() {
    let folder = Folder::new();
    let args = ["messages", "--json", "--rounds", "1", "--connections", "0", "--transport", "zstd-stream"];
    let run = bench(&folder, &[&args[..], &[&sample("sample.zst")]].concat()).ok();
    let rows: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    let rows = rows.as_array().unwrap();
    assert!(rows.iter().all(|row| row["transport"] == "zstd-stream" && row["measure"] != "many"));
    assert!(rows.len() >= 6, "{rows:?}");
}

#[test]
fn missing_file_is_one_line_of_error() {
    let run = bench(&Folder::new(), &["messages", "absent.zst"]);
    assert_eq!(run.status, Some(FAILED));
    assert!(
        run.stderr.starts_with("linerate-bench: absent: ") && run.stderr.lines().count() == 1,
        "{}",
        run.stderr
    );
    assert_eq!(bench(&Folder::new(), &["messages", "--transport", "lz4"]).status, Some(USAGE));
    assert_eq!(bench(&Folder::new(), &["messages", "--shards", "2", "x"]).status, Some(USAGE));
}
