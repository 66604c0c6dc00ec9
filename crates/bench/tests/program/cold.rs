//! The shape "cold" from end to end, with few dictionaries: what is printed, kept and drawn.

use std::path::Path;
use std::process::{Command, Output};

use linerate_bench::cold::row::COLUMNS;
use linerate_bench::csv;

fn bench(args: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_linerate-bench"))
        .arg("cold")
        .args(args)
        .args(["--rounds", "1", "--least", "64K"])
        .current_dir(folder)
        .env_remove("LINERATE_CORPORA")
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_sweep_prints_keeps_and_draws() {
    let folder = tempfile::tempdir().unwrap();
    let args =
        ["--data", "json,text", "--block", "4K", "--dict", "2K", "--count", "1,2,20", "--csv", "r.csv"];
    let out = bench(&[&args[..], &["--svg", "plots"]].concat(), folder.path());
    let (shown, said) = (text(&out.stdout), text(&out.stderr));
    assert!(out.status.success(), "{said}");
    assert!(shown.contains("JSON (generated rows), blocks of 4 KiB, 20 dictionaries of 2 KiB"), "{shown}");
    assert!(shown.contains("text (carried text), blocks of 4 KiB, 1 dictionary of 2 KiB"), "{shown}");
    assert_eq!(shown.matches("beside the content of a dictionary: linerate ").count(), 6);
    assert_eq!(shown.matches("from nothing to the first block: linerate ").count(), 6);

    let kept = std::fs::read_to_string(folder.path().join("r.csv")).unwrap();
    let rows: Vec<Vec<String>> = kept.lines().map(|line| csv::fields(line).unwrap()).collect();
    assert_eq!(rows[0], COLUMNS);
    assert_eq!(rows.len(), 1 + 6 * 24);
    let at = |name: &str| COLUMNS.iter().position(|column| *column == name).unwrap();
    for row in &rows[1..] {
        assert_eq!(row.len(), COLUMNS.len());
        assert!(row[at("best_us")].parse::<f64>().unwrap() > 0.0);
        assert!(!row[at("command")].contains("r.csv"));
        let decoded = row[at("measure")] == "cold";
        let share = row[at("share")].parse::<f64>();
        assert!(if decoded { share.unwrap() > 0.0 } else { share.is_err() }, "{row:?}");
        if decoded && row[at("mode")] == "hot" {
            assert_eq!(row[at("share")], "1.0");
        }
    }

    let mut drawn: Vec<_> = std::fs::read_dir(folder.path().join("plots")).unwrap().flatten().collect();
    drawn.sort_by_key(std::fs::DirEntry::file_name);
    let names: Vec<_> = drawn.iter().map(|entry| entry.file_name().into_string().unwrap()).collect();
    assert_eq!(names, ["cases-1.svg", "sweep-JSON-4K-2K.svg", "sweep-text-4K-2K.svg"]);
    for entry in drawn {
        well_formed(&std::fs::read_to_string(entry.path()).unwrap());
    }
}

/// Every element of a picture that is opened is closed, in order.
fn well_formed(svg: &str) {
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (tag, rest) = tag.split_once('>').expect("a tag ends");
        assert!(!rest.contains('>'), "{rest}");
        let name = tag.split([' ', '\n', '/']).find(|part| !part.is_empty()).unwrap_or_default();
        match tag.chars().next() {
            Some('/') => assert_eq!(open.pop(), Some(name), "{svg}"),
            Some('?' | '!') => {}
            _ if tag.ends_with('/') => {}
            _ => open.push(name),
        }
    }
    assert!(open.is_empty() && svg.contains("<svg"), "{open:?}");
}

#[test]
fn json_has_numbers_and_the_options_that_were_given() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--data", "json", "--count", "3", "--small-tables", "--level", "1", "--batch", "5", "--json"];
    let out = bench(&args, folder.path());
    assert!(out.status.success(), "{}", text(&out.stderr));
    let rows: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 24);
    let first = &rows[0];
    assert_eq!(
        (&first["dictionaries"], &first["level"], &first["tables"]),
        (&3.into(), &1.into(), &"small".into())
    );
    assert!(rows.iter().any(|row| row["calls"] == "batch 5" && row["best_mb_s"].as_f64().unwrap() > 0.0));
}

#[test]
fn invalid_arguments_are_one_line_errors() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("short"), vec![b'a'; 9000]).unwrap();
    for (args, expected) in [
        (
            &["--data", "short", "--count", "9"][..],
            "short: 9000 bytes are too few for 9 different dictionaries of 8192",
        ),
        (&["--data", "absent"], "absent: "),
        (&["--block", "1"], "`1`: not from 256 B to 128 KiB"),
    ] {
        let out = bench(args, folder.path());
        let said = text(&out.stderr);
        assert!(!out.status.success() && said.contains(expected), "{args:?}: {said}");
    }
}

/// Only Linux says how much memory there is.
#[cfg(target_os = "linux")]
#[test]
fn case_larger_than_memory_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let out = bench(&["--data", "json", "--dict", "1M", "--count", "1000000"], folder.path());
    let said = text(&out.stderr);
    assert!(!out.status.success() && said.contains("1,000,000 dictionaries of 1024 KiB take "), "{said}");
}
