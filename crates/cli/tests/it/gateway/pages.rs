//! Help, manual pages and completion scripts.

use linerate_testkit::program::{Folder, Run};

const COMMANDS: &[&str] = &["replay", "stats", "record", "transcode", "serve", "generate"];

fn text(args: &[&str]) -> String {
    let folder = Folder::new();
    Run::of(&mut folder.command(args), b"").ok().text()
}

#[test]
fn help_has_examples_and_exit_statuses() {
    for command in COMMANDS {
        let help = text(&["gateway", command, "--help"]);
        for part in ["Examples:", &format!("  linerate gateway {command} "), "Exit status:", "--json"] {
            assert!(help.contains(part), "{command}: {part}");
        }
    }
    let help = text(&["gateway", "--help"]);
    assert!(help.contains("Files:") && COMMANDS.iter().all(|command| help.contains(command)), "{help}");
    assert!(text(&["--help"]).contains("gateway"));
}

/// Also in builds without default features: `cargo test --package linerate --no-default-features`.
#[test]
fn help_examples_use_existing_commands_and_options() {
    for command in COMMANDS {
        let help = text(&["gateway", command, "--help"]);
        let (options, examples) = help.split_once("Examples:").expect("examples");
        let (_, options) = options.split_once("\nOptions:\n").expect("options");
        let has = |word: &str| options.split([' ', ',', '\n', '[', '=']).any(|option| option == word);
        for line in examples.lines() {
            for word in line.split_whitespace().filter(|word| word.starts_with("--")) {
                let end = word.find(['=', ',', '.', ':', ';']).unwrap_or(word.len());
                assert!(has(&word[..end]), "{command}: {word} in `{line}`");
            }
            if let Some(used) = line.strip_prefix("  linerate gateway ") {
                let used = used.split(' ').next().unwrap_or_default();
                assert!(COMMANDS.contains(&used), "{command}: `{line}`");
            }
        }
    }
}

#[test]
fn every_subcommand_has_a_manual_page() {
    assert!(text(&["man", "gateway"]).contains(".TH linerate-gateway 1"));
    for command in COMMANDS {
        let page = text(&["man", "gateway", command]);
        let title = format!(".TH linerate-gateway-{command} 1");
        assert!(page.contains(&title) && page.contains(".SH EXAMPLES\n.nf\n"), "{page}");
    }
}

#[test]
fn completions_contain_the_options() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = text(&["completions", shell]);
        assert!(script.contains("max-message") && script.contains("window-log"), "{shell}");
    }
}
