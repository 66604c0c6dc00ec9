//! The parts and options of the shape "archives" that need the program.

use serde_json::Value;

use linerate_testkit::program::{Folder, USAGE, program};

use super::{bench, measurements};

#[test]
fn memory_and_extraction_are_those_of_the_program() {
    let folder = Folder::new();
    folder.write("mods/text", "a line of text\n".repeat(1000).as_bytes());
    folder.write("mods/a/large", &vec![7; 3_000_000]);
    let args = ["archives", "--corpus", "mods", "--only", "memory,extract", "--json"];
    let program = program().display().to_string();
    let more = ["--level", "1", "--rounds", "1", "--scratch", ".", "--linerate", &program];
    let run = bench(&folder, &[&args[..], &more].concat());
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let found = measurements(&run);
    let of = |measure: &str| found.iter().filter(|m| m["params"]["measure"] == measure).collect::<Vec<_>>();
    let memory = of("memory");
    assert_eq!(memory.len(), 8);
    assert!(memory.iter().all(|m| m["metrics"]["counted"].as_f64().unwrap() > 1e6), "{memory:?}");
    let extract = of("extract");
    let is_there = |output: Value| {
        extract.iter().any(|m| m["contender"] == "linerate" && m["params"]["output"] == output)
    };
    assert!(is_there("mapped".into()) && is_there(Value::Null), "{extract:?}");
    assert_eq!(folder.names(), ["mods"], "scratch folders are removed");
}

#[test]
fn contenders_of_a_level_read_all_files_three_times() {
    let folder = Folder::new();
    // tar stores paths of more than 100 bytes in another way.
    for name in [&"folder".repeat(20), "short"] {
        folder.write(&format!("level/{name}/text"), "a line of text\n".repeat(1000).as_bytes());
    }
    let args = ["archives", "--corpus", "level", "--only", "level-load", "--json", "--rounds", "1"];
    let found = measurements(&bench(&folder, &[&args[..], &["--scratch", "."]].concat()).ok());
    let of =
        |name: &str| found.iter().find(|m| m["contender"] == name).unwrap_or_else(|| panic!("no {name}"));
    for contender in ["nx", "nx-batch", "folder"] {
        let metrics = &of(contender)["metrics"];
        assert!(metrics["pass_3"].is_number() && metrics["cpu"].is_number(), "{contender}: {metrics}");
    }
    assert!(of("nx")["metrics"]["hits"].is_number() && of("folder")["metrics"]["hits"].is_null());
    assert_eq!(folder.names(), ["level"], "scratch folders are removed");
}

#[test]
fn mean_size_of_0_to_cut_into_is_a_usage_error() {
    let run = bench(&Folder::new(), &["archives", "--corpus", ".", "--cut", "0"]);
    assert_eq!(run.status, Some(USAGE), "{}", run.stderr);
}
