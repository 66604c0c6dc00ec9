//! Help, manual pages and completion scripts.

use linerate_testkit::program::{Folder, Run};

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

fn text(args: &[&str]) -> String {
    let folder = Folder::new();
    let run = Run::of(&mut folder.command(args), b"").ok();
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn help_has_examples_and_exit_statuses() {
    for command in COMMANDS {
        let words: Vec<&str> = command.split(' ').collect();
        let help = text(&[&["dict"][..], &words, &["--help"]].concat());
        for part in ["Examples:", &format!("  linerate dict {command} "), "Exit status:", "--json"] {
            assert!(help.contains(part), "{command}: {part}");
        }
    }
    assert!(text(&["dict", "--help"]).contains("length-prefixed"));
    assert!(text(&["--help"]).contains("dict"));
}

#[test]
fn every_subcommand_has_a_manual_page() {
    let page = text(&["man", "dict"]);
    assert!(page.contains(".TH linerate-dict 1") && page.contains(".SH SAMPLES\n"), "{page}");
    for command in COMMANDS {
        let words: Vec<&str> = command.split(' ').collect();
        let page = text(&[&["man", "dict"][..], &words].concat());
        let title = format!(".TH linerate-dict-{} 1", words.join("-"));
        assert!(page.contains(&title) && page.contains(".SH EXAMPLES\n.nf\n"), "{page}");
    }
}

#[test]
fn completions_contain_the_options() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = text(&["completions", shell]);
        assert!(script.contains("small-tables") && script.contains("max-samples"), "{shell}");
    }
}
