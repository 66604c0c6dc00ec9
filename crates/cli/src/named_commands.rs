//! Every command that a page names, in its code and in its text, exists with its options.

use std::ffi::OsString;

use linerate_testkit::markdown::{calls, pages};

use crate::commands::zstd;

/// A span of code such as `nx pack`, without the program's name.
fn short_call(root: &clap::Command, span: &str) -> Option<Vec<String>> {
    let words: Vec<String> = span.split_whitespace().map(str::to_owned).collect();
    let [group, name, ..] = &words[..] else { return None };
    let has_subcommands = root.find_subcommand(group).is_some_and(clap::Command::has_subcommands);
    (has_subcommands && is_name(name)).then_some(words)
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}

/// What of a call does not exist.
fn missing(root: &clap::Command, words: &[String]) -> Option<String> {
    let line = ["linerate"].into_iter().chain(words.iter().map(String::as_str)).map(OsString::from);
    let words = match zstd::rewrite(line) {
        Ok(words) => words,
        Err(message) => return Some(message),
    };
    let mut command = root;
    let mut words = words.iter().skip(1).map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        let word = &*word;
        if word == "--" {
            break;
        }
        let takes_next = if let Some(long) = word.strip_prefix("--") {
            let (name, value) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let is_it = |arg: &&clap::Arg| {
                arg.get_long() == Some(name) || arg.get_all_aliases().is_some_and(|all| all.contains(&name))
            };
            match command.get_arguments().find(is_it) {
                Some(arg) => value.is_none() && needs_value(arg),
                None if ["help", "version"].contains(&name) => false,
                None => return Some(format!("{} has no --{name}", command.get_name())),
            }
        } else if let Some(shorts) = word.strip_prefix('-') {
            let mut rest = shorts.chars();
            let mut takes_next = false;
            while let Some(short) = rest.next() {
                match command.get_arguments().find(|arg| arg.get_short() == Some(short)) {
                    Some(arg) if arg.get_action().takes_values() => {
                        takes_next = rest.as_str().is_empty() && needs_value(arg);
                        break;
                    }
                    Some(_) => {}
                    None if ['h', 'V'].contains(&short) => {}
                    None => return Some(format!("{} has no -{short}", command.get_name())),
                }
            }
            takes_next
        } else if let Some(subcommand) = command.find_subcommand(word) {
            command = subcommand;
            false
        } else if command.has_subcommands() && is_name(word) {
            return Some(format!("{} has no subcommand {word}", command.get_name()));
        } else {
            false
        };
        if takes_next {
            words.next();
        }
    }
    None
}

fn needs_value(arg: &clap::Arg) -> bool {
    arg.get_action().takes_values() && arg.get_num_args().is_none_or(|range| range.min_values() > 0)
}

#[test]
fn every_command_that_a_page_names_exists_with_its_options() {
    let mut root = crate::command();
    root.build();
    let mut wrong = Vec::new();
    let mut found = 0;
    // The log of changes names what there was.
    for page in pages().iter().filter(|page| page.path != "CHANGELOG.md") {
        let mut named = page.calls("linerate");
        named.extend(page.code_spans.iter().filter_map(|span| short_call(&root, span)));
        found += named.len();
        for words in named {
            if let Some(what) = missing(&root, &words) {
                wrong.push(format!("{}: `{}`: {what}", page.path, words.join(" ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(found > 200, "{found} commands");
}

#[test]
fn a_command_or_option_that_does_not_exist_is_found() {
    let mut root = crate::command();
    root.build();
    for (line, wanted) in [
        ("linerate dict pack add a", Some("pack has no subcommand add")),
        ("cat a | linerate gzip -cX > b", Some("gzip has no -X")),
        ("X=1 target/release/linerate nx pack --none a", Some("pack has no --none")),
        ("linerate zstd --adapt a", Some("--adapt is not supported: choose a level, such as -3")),
        ("linerate zstd -19 --long=27 -T0 -o a -- --none", None),
        ("linerate nx pack -o -x a   # --none", None),
        ("xargs -a LIST linerate gzip -p4", None),
        ("npm install linerate --none", None),
    ] {
        let calls = calls("linerate", line);
        let found = calls.iter().find_map(|words| missing(&root, words));
        assert_eq!(found.as_deref(), wanted, "{line}");
    }
    assert!(short_call(&root, "nx update").is_some());
    assert!(short_call(&root, "gzip -x").is_none() && short_call(&root, "nx FILE").is_none());
}
