//! Help, manual pages and completion scripts.

use crate::pages::{assert_completions, assert_help, assert_manual_page, text};

const COMMANDS: &[&str] = &["replay", "stats", "record", "transcode", "serve", "generate"];

#[test]
fn help_has_examples_and_exit_statuses() {
    for command in COMMANDS {
        assert_help("gateway", command);
    }
    let help = text("gateway --help");
    assert!(help.contains("Files:") && COMMANDS.iter().all(|command| help.contains(command)), "{help}");
    assert!(text("--help").contains("gateway"));
}

/// This must hold in builds without default features, too:
/// `cargo test --package linerate --no-default-features`.
#[test]
fn help_examples_use_existing_commands_and_options() {
    for command in COMMANDS {
        let help = text(&format!("gateway {command} --help"));
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
    assert!(text("man gateway").contains(".TH linerate-gateway 1"));
    for command in COMMANDS {
        assert_manual_page("gateway", command);
    }
}

#[test]
fn completions_contain_the_options() {
    assert_completions(["max-message", "window-log"]);
}
