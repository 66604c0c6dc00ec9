//! `make help`.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::{root, run, text};

#[test]
fn help_lists_every_target_those_with_digits_too() {
    let makefile = fs::read_to_string(root().join("Makefile")).expect("a Makefile");
    let phony = makefile.lines().find_map(|line| line.strip_prefix(".PHONY: ")).expect("a line of targets");
    let targets: BTreeSet<&str> = phony.split_whitespace().collect();
    assert!(targets.contains("test-hdf5"), "the reader has gone blind");

    let help = text(&run(Command::new("make").args(["--no-print-directory", "help"])).stdout);
    let listed: BTreeSet<&str> = help.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(listed, targets);
}
