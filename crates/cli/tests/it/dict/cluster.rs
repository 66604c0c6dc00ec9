//! `linerate dict cluster`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::data::{FAILED, USAGE, kind};
use linerate_testkit::program::Folder;

/// Writes nine sets of three kinds in turn. The first two sets are folders, the others files.
fn plant(folder: &Folder) {
    for i in 0..9u64 {
        let name = if i < 2 { format!("sets/{i}/deep/rows") } else { format!("sets/{i}") };
        folder.write(&name, &kind(i % 3, 100 + i, 40 << 10));
    }
}

/// The dictionary of each set in `assignment.json`.
fn assignment(bytes: &[u8]) -> BTreeMap<String, Value> {
    let text = std::str::from_utf8(bytes).expect("UTF-8");
    let parse = |line: &str| serde_json::from_str::<Value>(line).expect("JSON");
    let name = |set: &Value| set["set"].as_str().expect("a path").to_owned();
    text.lines().map(parse).map(|set| (name(&set), set["dictionary"].clone())).collect()
}

#[test]
fn sets_of_one_kind_share_a_dictionary() {
    let folder = Folder::new();
    plant(&folder);
    folder.write("sets/empty", b"");
    folder.write("sets/few", b"0123456789");
    let args = ["cluster", "--count=5", "-s4K", "-b1K", "--lines", "sets"];
    let lines = folder.dict(&[&args[..], &["-o", "shared"]].concat()).ok().lines();
    assert!(lines[0].starts_with("11 sets"), "{lines:?}");
    assert_eq!(lines[5], "without a dictionary: 1 (empty), 1 (too few samples)");
    let found = assignment(&folder.read("shared/assignment.json"));
    assert_eq!(found.len(), 11);
    let of = |i: u64| found[&format!("sets/{i}")].as_str().expect("a dictionary");
    for i in 0..9 {
        assert_eq!(of(i), of(i % 3));
        assert!(folder.read(&format!("shared/{}", of(i))).len() <= 4096);
    }
    assert!(of(0) != of(1) && of(1) != of(2) && of(0) != of(2));
    assert!(found["sets/empty"].is_null() && found["sets/few"].is_null());

    let objects = folder.dict(&[&args[..], &["-n", "--json", "-p3"]].concat()).ok().objects();
    assert_eq!(objects.len(), 12);
    let [.., last] = objects.as_slice() else { panic!() };
    let total = |key: &str| last[key]["total"].as_u64().expect("a number");
    assert!(total("shared") < total("own") && total("shared") < total("one"), "{last}");
    assert!(total("shared") < total("without"));
    assert_eq!(last["dictionaries"].as_array().map(Vec::len), Some(3));
    let again: Vec<&Value> = objects.iter().take(11).map(|set| &set["dictionary"]).collect();
    assert!(again.iter().copied().eq(found.values()), "threads change nothing");
}

#[test]
fn each_operand_is_a_set() {
    let folder = Folder::new();
    plant(&folder);
    folder.dict(&["cluster", "--count=1", "-b1K", "sets/2", "sets/5", "sets/0", "-o", "out"]).ok();
    let found = assignment(&folder.read("out/assignment.json"));
    assert_eq!(found.keys().collect::<Vec<_>>(), ["sets/0", "sets/2", "sets/5"]);
    let run = folder.dict(&["cluster", "sets", "-o", "out"]);
    run.fails(FAILED, "linerate: sets: out is not empty; -f writes into it");
    folder.dict(&["cluster", "-f", "--count=1", "sets/2", "-o", "out"]).ok();
    assert_eq!(assignment(&folder.read("out/assignment.json")).len(), 1);
}

/// The system's message about opening a file as a folder.
fn not_a_folder() -> &'static str {
    if cfg!(windows) { "Invalid name" } else { "Not a directory" }
}

#[test]
fn invalid_input_is_one_line_of_error() {
    let folder = Folder::new();
    plant(&folder);
    let absent = "linerate: sets/2: absent: cannot open: No such file or directory";
    folder.dict(&["cluster", "sets/2", "absent", "-o", "out"]).fails(FAILED, absent);
    folder
        .dict(&["cluster", "sets", "-o", "sets/2"])
        .fails(FAILED, &format!("linerate: sets: cannot write sets/2: {}", not_a_folder()));
    for wrong in
        [&["cluster", "sets"][..], &["cluster", "-o", "out"], &["cluster", "--count=0", "sets", "-o", "out"]]
    {
        assert_eq!(folder.dict(wrong).status, Some(USAGE), "{wrong:?}");
    }
    assert!(!folder.has("out"));
}
