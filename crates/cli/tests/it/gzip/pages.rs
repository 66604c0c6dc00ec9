//! Help, manual pages and completion scripts.

use std::process::Command;

use linerate_testkit::program::{Folder, Run};

use crate::pages::{assert_completions, text};

#[test]
fn help_has_examples_and_exit_statuses() {
    let help = text("gzip --help");
    for part in ["Examples:", "tar c src | linerate gzip", "Exit status:", "--max-output", "--history"] {
        assert!(help.contains(part), "{part}");
    }
    assert!(text("--help").contains("gzip"));
    assert!(text("--version").starts_with("linerate "));
}

#[test]
fn manual_pages_are_roff() {
    assert!(text("man").contains(".TH linerate 1"));
    let page = text("man gzip");
    assert!(page.contains(".TH linerate-gzip 1"));
    assert!(page.contains(".SH EXAMPLES\n.nf\n") && page.contains(".SH EXIT STATUS\n.nf\n"));
    let folder = Folder::new();
    let run = Run::of(&mut folder.command(&["man", "tar"]), b"");
    run.fails(2, "linerate: there is no subcommand `tar`; `linerate man --list` lists all");
}

#[test]
fn completions_are_printed_for_each_shell() {
    assert_completions(["gzip", "max-output"]);
    let script = text("completions bash");
    if let Ok(mut bash) = Command::new("bash").arg("-n").stdin(std::process::Stdio::piped()).spawn() {
        use std::io::Write;
        bash.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        assert!(bash.wait().unwrap().success(), "bash parses it");
    }
}
