//! `linerate-bench` as a user runs it: the real program on small data.

mod archives;
mod cold;
mod day;
mod messages;
mod records;
mod waveforms;

use std::process::Command;

use linerate_testkit::program::{Folder, Run};

/// Runs the program in a folder.
fn bench(folder: &Folder, args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate-bench"));
    Run::of(command.args(args).current_dir(folder.path("")).env_remove("LINERATE_CORPORA"), b"")
}

/// The measurements that a run with `--json` prints, after its first line.
fn measurements(run: &Run) -> Vec<serde_json::Value> {
    let mut lines = run.objects();
    assert!(lines.remove(0)["run"]["cpu"].is_string());
    lines
}

/// The path of a recorded gateway connection.
fn connection(name: &str) -> String {
    format!("{}/../../testdata/gateway/{name}", env!("CARGO_MANIFEST_DIR"))
}
