//! The Makefile and `scripts/`, as in a fresh clone.

mod install;
mod machine;
mod publish;
mod record;
mod setup;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The folder of the Makefile.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("crates/cli is in crates/").to_owned()
}

/// Runs `command` in [`root`], without a terminal. Returns its output and its exit status.
fn run(command: &mut Command) -> Output {
    command.current_dir(root()).stdin(Stdio::null()).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}
