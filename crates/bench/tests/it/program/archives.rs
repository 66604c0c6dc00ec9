//! The parts of the shape "archives" that start other programs.

use serde_json::Value;

use linerate_testkit::program::{Folder, program};

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
