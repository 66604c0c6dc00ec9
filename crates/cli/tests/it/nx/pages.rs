//! Help, manual pages and completion scripts.

use crate::pages::{assert_completions, assert_help, text};

const COMMANDS: &[&str] =
    &["list", "info", "verify", "extract", "pack", "diff", "merge", "update", "delete", "repack", "bench"];

#[test]
fn help_has_examples_and_exit_statuses() {
    for command in COMMANDS {
        assert_help("nx", command);
    }
    assert!(text("nx --help").contains("solid blocks"));
}

#[test]
fn every_subcommand_has_a_manual_page() {
    let page = text("man nx");
    assert!(page.contains(".TH linerate-nx 1") && page.contains(".SH FORMAT\n"), "{page}");
    let page = text("man nx list");
    assert!(page.contains(".TH linerate-nx-list 1") && page.contains(".SH GLOBS\n"), "{page}");
}

#[test]
fn completions_contain_the_options() {
    assert_completions(["ignore-case", "max-memory"]);
}
