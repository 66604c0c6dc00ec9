//! The shape "archives", as far as it starts other programs.

use serde_json::Value;

use linerate_testkit::program::{Folder, program};

use crate::bench;

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
    let rows: Value = serde_json::from_slice(&run.stdout).unwrap();
    let rows = rows.as_array().unwrap();
    let of = |measure: &str| rows.iter().filter(|row| row["measure"] == measure).collect::<Vec<_>>();
    let memory = of("memory");
    assert_eq!(memory.len(), 8);
    assert!(memory.iter().all(|row| row["counted_bytes"].as_u64().unwrap() > 1 << 20), "{memory:?}");
    let extract = of("extract");
    let timed = |name: &str| {
        extract.iter().any(|row| row["contender"] == name && row["best_ms"].as_f64().unwrap() > 0.0)
    };
    assert!(timed("linerate mapped output zstd 1 x2") && timed("linerate zstd 1 x2"), "{extract:?}");
    assert_eq!(folder.names(), ["mods"], "scratch folders are removed");
}
