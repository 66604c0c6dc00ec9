//! Help, manual pages and completion scripts.

use linerate_testkit::program::{Folder, Run};

fn text(args: &[&str]) -> String {
    let folder = Folder::new();
    let run = Run::of(&mut folder.command(args), b"").ok();
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn help_has_examples_and_exit_statuses() {
    for command in ["encode", "decode", "info", "tune", "verify"] {
        let help = text(&["rice", command, "--help"]);
        for part in ["Examples:", &format!("  linerate rice {command} "), "Exit status:", "--json"] {
            assert!(help.contains(part), "{command}: {part}");
        }
    }
    assert!(text(&["rice", "--help"]).contains("cd_values"));
}

#[test]
fn every_subcommand_has_a_manual_page() {
    let page = text(&["man", "rice"]);
    assert!(page.contains(".TH linerate-rice 1") && page.contains(".SH FORMATS\n"), "{page}");
    let page = text(&["man", "rice", "encode"]);
    assert!(page.contains(".TH linerate-rice-encode 1"), "{page}");
    assert!(page.contains(".SH EXAMPLES\n.nf\n") && page.contains("cd_values"));
    let folder = Folder::new();
    let run = Run::of(&mut folder.command(&["man", "rice", "eat"]), b"");
    run.fails(2, "linerate: there is no subcommand `rice eat`");
}

#[test]
fn completions_contain_the_options() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = text(&["completions", shell]);
        assert!(script.contains("cd-values") && script.contains("tune"), "{shell}");
    }
}
