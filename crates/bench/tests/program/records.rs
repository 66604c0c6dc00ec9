//! What all shapes share: the list of them, records, and `--against`.

use serde_json::Value;

use linerate_testkit::program::Folder;

use crate::bench;

/// A run of the shape "bytes" that takes no time.
const BYTES: [&str; 9] =
    ["bytes", "--corpus", "corpus", "--chunk", "4K", "--rounds", "3", "--only", "linerate 1,memcpy"];

fn with_corpus() -> Folder {
    let folder = Folder::new();
    folder.write("corpus/text", "some words of text\n".repeat(2000).as_bytes());
    folder
}

#[test]
fn shapes_and_contenders_are_listed() {
    let folder = Folder::new();
    let shapes = String::from_utf8(bench(&folder, &["--list"]).ok().stdout).unwrap();
    for shape in ["bytes", "threads", "inflate", "frames", "cold", "messages", "archives"] {
        assert!(shapes.lines().any(|line| line.starts_with(shape)), "{shape}: {shapes}");
    }
    let contenders = String::from_utf8(bench(&folder, &["contenders"]).ok().stdout).unwrap();
    assert!(contenders.contains("linerate 2 deflate") && contenders.contains("zlib-rs 1"), "{contenders}");
}

#[test]
fn a_run_against_its_own_record_has_every_row_in_both() {
    let folder = with_corpus();
    bench(&folder, &[&BYTES[..], &["--csv", "r.csv"]].concat());
    let run = bench(&folder, &[&BYTES[..], &["--against", "r.csv"]].concat());
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(text.contains("Against r.csv, shape bytes, corpus corpus,"), "{text}");
    assert!(text.contains("sizes: 0 smaller, 0 larger"), "{text}");
    assert!(!text.contains("missing: ") && !text.contains("new: "), "{text}");

    let run = bench(&folder, &[&BYTES[..], &["--against", "r.csv", "--json"]].concat());
    let json: Value = serde_json::from_slice(&run.stdout).unwrap();
    let (rows, changes) = (json["rows"].as_array().unwrap(), json["against"]["changes"].as_array().unwrap());
    assert!(rows.len() >= 3 && rows.len() == changes.len(), "{json:#}");
    assert!(changes.iter().all(|change| change["size"] == 1.0 && change["verdict"].is_string()));
    assert_eq!(json["against"]["cpu"]["same"], true);
    assert!(rows.iter().all(|row| !row["command"].as_str().unwrap().contains("r.csv")));
}

#[test]
fn a_record_of_another_shape_is_an_error_before_the_run() {
    let folder = with_corpus();
    folder.write("other.csv", b"date,cpu,what\n");
    let run = bench(&folder, &[&BYTES[..], &["--against", "other.csv"]].concat());
    run.fails(1, "linerate-bench: other.csv: its columns are those of another shape");
    let run = bench(&folder, &[&BYTES[..], &["--against", "absent.csv"]].concat());
    assert!(
        run.status == Some(1) && run.stderr.starts_with("linerate-bench: absent.csv: "),
        "{}",
        run.stderr
    );
}

#[test]
fn records_of_two_cpus_are_side_by_side() {
    let folder = with_corpus();
    bench(&folder, &[&BYTES[..], &["--csv", "here.csv"]].concat());
    let here = String::from_utf8(folder.read("here.csv")).unwrap();
    let cpu = linerate_bench::environment::cpu();
    folder.write("records/here.csv", here.as_bytes());
    folder.write("records/there.csv", here.replace(&cpu, "another").as_bytes());
    let text = String::from_utf8(bench(&folder, &["records", "records"]).ok().stdout).unwrap();
    assert!(text.contains("B  another: ") && text.contains("A median  relative  B median"), "{text}");
    assert!(text.contains("linerate 1 gzip"), "{text}");
}
