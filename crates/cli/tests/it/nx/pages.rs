//! Help, manual pages and completion scripts.

use linerate_testkit::program::{Folder, Run};

const COMMANDS: &[&str] =
    &["list", "info", "verify", "extract", "pack", "diff", "merge", "update", "delete", "repack", "bench"];

fn text(args: &[&str]) -> String {
    let folder = Folder::new();
    let run = Run::of(&mut folder.command(args), b"").ok();
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn help_has_examples_and_exit_statuses() {
    for command in COMMANDS {
        let help = text(&["nx", command, "--help"]);
        for part in ["Examples:", &format!("  linerate nx {command} "), "Exit status:", "--json"] {
            assert!(help.contains(part), "{command}: {part}");
        }
    }
    assert!(text(&["nx", "--help"]).contains("solid blocks"));
}

#[test]
fn every_subcommand_has_a_manual_page() {
    let page = text(&["man", "nx"]);
    assert!(page.contains(".TH linerate-nx 1") && page.contains(".SH FORMAT\n"), "{page}");
    let page = text(&["man", "nx", "list"]);
    assert!(page.contains(".TH linerate-nx-list 1") && page.contains(".SH GLOBS\n"), "{page}");
}

#[test]
fn completions_contain_the_options() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = text(&["completions", shell]);
        assert!(script.contains("ignore-case") && script.contains("max-memory"), "{shell}");
    }
}
