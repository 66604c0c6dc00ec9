//! Help, manual pages and completion scripts.

use linerate_testkit::program::{Folder, Run};

use crate::pages::{assert_completions, assert_help, assert_manual_page, text};

#[test]
fn help_has_examples_and_exit_statuses() {
    for command in ["encode", "decode", "info", "tune", "verify"] {
        assert_help("rice", command);
    }
    assert!(text("rice --help").contains("cd_values"));
}

#[test]
fn every_subcommand_has_a_manual_page() {
    let page = text("man rice");
    assert!(page.contains(".TH linerate-rice 1") && page.contains(".SH FORMATS\n"), "{page}");
    assert_manual_page("rice", "encode");
    assert!(text("man rice encode").contains("cd_values"));
    let folder = Folder::new();
    let run = Run::of(&mut folder.command(&["man", "rice", "eat"]), b"");
    run.fails(2, "linerate: there is no subcommand `rice eat`; `linerate man --list` lists all");
}

#[test]
fn completions_contain_the_options() {
    assert_completions(["cd-values", "tune"]);
}
