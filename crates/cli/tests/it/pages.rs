//! Checks of help, manual pages and completion scripts, which the tests of the subcommands call.

use linerate_testkit::program::{Folder, Run};

/// The output of `linerate LINE`.
pub(crate) fn text(line: &str) -> String {
    let args: Vec<&str> = line.split(' ').collect();
    Run::of(&mut Folder::new().command(&args), b"").ok().text()
}

pub(crate) fn assert_help(engine: &str, command: &str) {
    let help = text(&format!("{engine} {command} --help"));
    for part in ["Examples:", &format!("  linerate {engine} {command} "), "Exit status:", "--json"] {
        assert!(help.contains(part), "{command}: {part}");
    }
}

pub(crate) fn assert_manual_page(engine: &str, command: &str) {
    let page = text(&format!("man {engine} {command}"));
    let title = format!(".TH linerate-{engine}-{} 1", command.replace(' ', "-"));
    assert!(page.contains(&title) && page.contains(".SH EXAMPLES\n.nf\n"), "{page}");
}

pub(crate) fn assert_completions(words: [&str; 2]) {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = text(&format!("completions {shell}"));
        assert!(words.iter().all(|word| script.contains(word)), "{shell}");
    }
}
