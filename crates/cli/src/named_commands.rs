//! Tests that every command of `linerate` that a page of the documentation names, in its code and
//! in its text, exists with its options.

use std::ffi::OsString;

use linerate_testkit::calls::{self, is_name};
use linerate_testkit::markdown;

use crate::commands::zstd;

fn root() -> clap::Command {
    let mut root = crate::command();
    root.build();
    root
}

/// The words of a span of code such as `nx pack`, a command without the program's name. Returns
/// `None` unless the first word is a subcommand that has subcommands, and the second looks like the
/// name of one.
fn short_call(root: &clap::Command, span: &str) -> Option<Vec<String>> {
    let words: Vec<String> = span.split_whitespace().map(str::to_owned).collect();
    let [group, name, ..] = &words[..] else { return None };
    let has_subcommands = root.find_subcommand(group).is_some_and(clap::Command::has_subcommands);
    (has_subcommands && is_name(name)).then_some(words)
}

/// Returns a sentence about the first subcommand or option of a call that does not exist, or `None`
/// if all exist. `words` are those after the program's name.
fn missing(root: &clap::Command, words: &[String]) -> Option<String> {
    let line = ["linerate"].into_iter().chain(words.iter().map(String::as_str)).map(OsString::from);
    let words = match zstd::rewrite(line) {
        Ok(words) => words,
        Err(message) => return Some(message),
    };
    let words: Vec<String> = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    calls::missing(root, &words)
}

#[test]
fn every_command_that_a_page_names_exists_with_its_options() {
    let root = root();
    let named = |page: &markdown::Page| {
        let short = page.code_spans.iter().filter_map(|span| short_call(&root, span));
        page.calls("linerate").into_iter().chain(short).collect()
    };
    calls::assert_exist(200, named, |words| missing(&root, words));
}

#[test]
fn a_command_or_option_that_does_not_exist_is_found() {
    let root = root();
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
        let calls = markdown::calls("linerate", line);
        let found = calls.iter().find_map(|words| missing(&root, words));
        assert_eq!(found.as_deref(), wanted, "{line}");
    }
    assert!(short_call(&root, "nx update").is_some());
    assert!(short_call(&root, "gzip -x").is_none() && short_call(&root, "nx FILE").is_none());
}
