//! Help, manual pages and completion scripts.

use crate::pages::{assert_completions, assert_help, assert_manual_page, text};

const COMMANDS: &[&str] = &[
    "train",
    "cluster",
    "build",
    "get",
    "scan",
    "verify",
    "info",
    "pack make",
    "pack append",
    "pack list",
    "pack compact",
    "pack extract",
    "sst ls",
    "sst get",
    "sst stats",
    "sst verify",
];

#[test]
fn help_has_examples_and_exit_statuses() {
    for command in COMMANDS {
        assert_help("dict", command);
    }
    assert!(text("dict --help").contains("length-prefixed"));
    assert!(text("--help").contains("dict"));
}

#[test]
fn every_subcommand_has_a_manual_page() {
    let page = text("man dict");
    assert!(page.contains(".TH linerate-dict 1") && page.contains(".SH SAMPLES\n"), "{page}");
    for command in COMMANDS {
        assert_manual_page("dict", command);
    }
}

#[test]
fn completions_contain_the_options() {
    assert_completions(["small-tables", "max-samples"]);
}
