//! The shape "cold" from end to end, with few dictionaries.

use linerate_testkit::program::{Folder, Run};

use super::measurements;

fn bench(folder: &Folder, args: &[&str]) -> Run {
    super::bench(folder, &[&["cold"], args, &["--rounds", "1", "--least", "64K"]].concat())
}

#[test]
fn a_sweep_is_printed_and_kept() {
    let folder = Folder::new();
    let args =
        ["--data", "json,text", "--block", "4K", "--dict", "2K", "--count", "1,2,20", "--record", "r.jsonl"];
    let shown = bench(&folder, &args).ok().text();
    assert!(shown.contains("\ncold, JSON, "), "{shown}");
    assert_eq!(shown.matches("whose dictionaries are in no cache").count(), 6, "{shown}");
    let kept = String::from_utf8(folder.read("r.jsonl")).unwrap();
    let all: Vec<serde_json::Value> =
        kept.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(all.len(), 6 * 24);
    for m in &all {
        assert!(
            m["metrics"]["time"].is_number() || m["metrics"]["time"]["median"].as_f64().unwrap() > 0.0,
            "{m}"
        );
        let by_hot = &m["metrics"]["speed_by_hot"];
        assert_eq!(by_hot.is_null(), m["shape"] == "cold-open", "{m}");
        if m["params"]["mode"] == "hot" {
            assert_eq!(by_hot, 1, "{m}");
        }
        assert_eq!(m["params"]["text"].is_null(), m["data"] == "JSON");
    }
    assert!(!kept.contains("r.jsonl"), "the command names no file of the record");
}

#[test]
fn json_has_numbers_and_the_options_that_were_given() {
    let folder = Folder::new();
    let args = ["--data", "json", "--count", "3", "--small-tables", "--level", "1", "--batch", "5", "--json"];
    let found = measurements(&bench(&folder, &args).ok());
    assert_eq!(found.len(), 24);
    let params = &found[0]["params"];
    assert_eq!(
        (&params["count"], &params["level"], &params["tables"]),
        (&3.into(), &1.into(), &"small".into())
    );
    assert!(found.iter().any(|m| m["params"]["calls"] == "batch 5"));
}

#[test]
fn invalid_arguments_are_one_line_errors() {
    let folder = Folder::new();
    folder.write("short", &vec![b'a'; 9000]);
    for (args, expected) in [
        (
            &["--data", "short", "--count", "9"][..],
            "short: 9000 bytes are too few for 9 different dictionaries of 8192",
        ),
        (&["--data", "absent"], "absent: "),
        (&["--block", "1"], "`1`: not from 256 B to 128 KiB"),
    ] {
        let run = bench(&folder, args);
        assert!(run.status != Some(0) && run.stderr.contains(expected), "{args:?}: {}", run.stderr);
    }
}

/// Only on Linux the bench knows how much memory is available.
#[cfg(target_os = "linux")]
#[test]
fn case_larger_than_memory_is_an_error() {
    let run = bench(&Folder::new(), &["--data", "json", "--dict", "1M", "--count", "1000000"]);
    assert!(run.stderr.contains("1,000,000 dictionaries of 1024 KiB take "), "{}", run.stderr);
    assert_ne!(run.status, Some(0));
}
