//! Everything that a run leads to, to compare runs with different numbers of threads.

use serde_json::Value;

use linerate_testkit::program::{Folder, Run};

/// What a run leads to: the exit status, standard error, the JSON objects without times and
/// threads, and the files with their contents.
pub(crate) type Outcome = (Option<i32>, String, Vec<Value>, Vec<(String, Vec<u8>)>);

pub(crate) fn outcome(folder: &Folder, run: Run) -> Outcome {
    let records = run.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let records = records.map(|line| {
        let mut record: Value = serde_json::from_slice(line).expect("JSON");
        record["seconds"] = Value::Null;
        record["threads"] = Value::Null;
        record
    });
    let files = folder.names().into_iter().filter(|name| folder.path(name).is_file());
    let files = files.map(|name| {
        let bytes = folder.read(&name);
        (name, bytes)
    });
    (run.status, run.stderr, records.collect(), files.collect())
}
