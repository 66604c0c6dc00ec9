//! Compares the calls of a program on the documentation's pages with clap's description of the
//! program.

use clap::{Arg, Command};

use crate::markdown::{Page, pages};

/// Asserts that all calls of a program on the repository's pages, apart from the changelog, are
/// valid, and that there are at least `at_least` calls. `named` returns the words of each call on a
/// page. `missing` returns what is wrong with a call, as [`missing`] does.
pub fn assert_exist(
    at_least: usize,
    named: impl Fn(&Page) -> Vec<Vec<String>>,
    missing: impl Fn(&[String]) -> Option<String>,
) {
    let (mut wrong, mut found) = (Vec::new(), 0);
    // The changelog also names commands that were removed.
    for page in pages().iter().filter(|page| page.path != "CHANGELOG.md") {
        for words in named(page) {
            found += 1;
            let what = missing(&words);
            wrong.extend(what.map(|what| format!("{}: `{}`: {what}", page.path, words.join(" "))));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(found >= at_least, "{found} calls");
}

/// Returns a phrase such as `gzip has no --fast` about the first subcommand or option in `words`,
/// the arguments of a call, that the program `root` does not have. Returns `None` if it has all of
/// them. Words after `--`, or after a placeholder for a subcommand, are not checked.
/// [`Command::build`] must have been called for `root`.
pub fn missing(root: &Command, words: &[String]) -> Option<String> {
    let mut command = root;
    let mut words = words.iter().map(String::as_str).take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        let takes_next = if let Some(long) = word.strip_prefix("--") {
            long_takes_next(command, long)
        } else if let Some(shorts) = word.strip_prefix('-') {
            shorts_take_next(command, shorts)
        } else if let Some(subcommand) = command.find_subcommand(word) {
            command = subcommand;
            Ok(false)
        } else if !command.has_subcommands() {
            Ok(false)
        } else if is_name(word) {
            Err(format!("subcommand {word}"))
        } else {
            // A placeholder, such as `COMMAND`, for any subcommand. What follows cannot be checked.
            return None;
        };
        match takes_next {
            Ok(true) => drop(words.next()),
            Ok(false) => {}
            Err(what) => return Some(format!("{} has no {what}", command.get_name())),
        }
    }
    None
}

/// Whether a word may be the name of a subcommand: lower-case ASCII letters and hyphens.
pub fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}

/// Whether the word after the option `--long` is its value. If `command` has no such option, the
/// error is the option's name.
fn long_takes_next(command: &Command, long: &str) -> Result<bool, String> {
    let name = long.split('=').next().unwrap_or_default();
    let is_it = |arg: &&Arg| {
        arg.get_long() == Some(name) || arg.get_all_aliases().is_some_and(|all| all.contains(&name))
    };
    match command.get_arguments().find(is_it) {
        Some(arg) => Ok(!long.contains('=') && needs_value(arg)),
        None if ["help", "version"].contains(&name) => Ok(false),
        None => Err(format!("--{name}")),
    }
}

/// Whether the word after the short options `-shorts` is the value of the last of them. If
/// `command` lacks one of them, the error is its name.
fn shorts_take_next(command: &Command, shorts: &str) -> Result<bool, String> {
    let mut rest = shorts.chars();
    while let Some(short) = rest.next() {
        match command.get_arguments().find(|arg| arg.get_short() == Some(short)) {
            Some(arg) if arg.get_action().takes_values() => {
                return Ok(rest.as_str().is_empty() && needs_value(arg));
            }
            Some(_) => {}
            None if ['h', 'V'].contains(&short) => {}
            None => return Err(format!("-{short}")),
        }
    }
    Ok(false)
}

fn needs_value(arg: &Arg) -> bool {
    arg.get_action().takes_values() && arg.get_num_args().is_none_or(|range| range.min_values() > 0)
}
