//! Tests the contract of all subcommands (docs/reference/cli.md) on clap's description of them.

use std::collections::BTreeMap;

use clap::{Arg, Command};

use crate::ui::output_args::{DRY_RUN, FILE, FOLDER, FORCE, RECORDING, STREAM};

/// Subcommands that keep the flags of the programs that they replace, and need not have the flags
/// of the contract.
const EXEMPT: [&str; 2] = ["gzip", "zstd"];
/// Short flags that clap adds everywhere.
const BUILT_IN: [char; 2] = ['h', 'V'];

/// The subcommands that the help of `command` lists, except `help` itself.
fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|sub| sub.get_name() != "help" && !sub.is_hide_set())
}

/// The subcommands without subcommands of their own, by name (`rice encode`), in the order of the
/// help.
fn leaves() -> Vec<(String, Command)> {
    fn visit(command: &Command, path: &str, found: &mut Vec<(String, Command)>) {
        for sub in shown(command) {
            let path = format!("{path} {}", sub.get_name());
            match sub.has_subcommands() {
                true => visit(sub, &path, found),
                false => found.push((path.trim_start().to_owned(), sub.clone())),
            }
        }
    }
    let mut root = crate::command();
    root.build();
    let mut found = Vec::new();
    visit(&root, "", &mut found);
    found
}

fn short(command: &Command, flag: char) -> Option<&Arg> {
    command.get_arguments().find(|arg| arg.get_short() == Some(flag))
}

fn long<'c>(command: &'c Command, flag: &str) -> Option<&'c Arg> {
    command.get_arguments().find(|arg| arg.get_long() == Some(flag))
}

fn help(arg: &Arg) -> String {
    arg.get_help().map(ToString::to_string).unwrap_or_default()
}

/// The row of a subcommand in the table of docs/reference/cli.md.
fn row(name: &str, command: &Command) -> String {
    let output = short(command, 'o').map_or("", |arg| match help(arg) {
        text if text == STREAM || text == RECORDING => "FILE or `-`",
        text if text == FILE => "FILE",
        text if text == FOLDER => "FOLDER",
        text if text.starts_with(FOLDER) => "FOLDER or `-`",
        other => panic!("{name}: -o has a help text of its own: {other}"),
    });
    let has = |flag: char, name: &str| match short(command, flag) {
        Some(arg) if arg.get_long() == Some(name) => "yes",
        _ => "",
    };
    let cells = [
        output,
        has('f', "force"),
        has('k', "keep"),
        has('n', "dry-run"),
        has('q', "quiet"),
        has('v', "verbose"),
        if long(command, "json").is_some() { "yes" } else { "" },
        has('p', "threads"),
        has('b', "block"),
    ];
    format!("| `{name}` | {} |", cells.join(" | ")).replace("|  |", "| |").replace("|  |", "| |")
}

#[test]
fn every_subcommand_has_the_flags_that_the_table_of_docs_cli_md_gives_it() {
    let page = include_str!("../../../../docs/reference/cli.md");
    let rows: Vec<String> = leaves().iter().map(|(name, command)| row(name, command)).collect();
    let listed: Vec<&str> = page
        .lines()
        .skip_while(|line| !line.starts_with("| command |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    assert_eq!(listed, rows, "the table should be:\n{}", rows.join("\n"));
}

#[test]
fn a_short_flag_has_one_long_name_in_all_subcommands() {
    let mut names: BTreeMap<char, (String, String)> = BTreeMap::new();
    for (command, arg) in leaves()
        .iter()
        .filter(|(name, _)| !EXEMPT.contains(&name.as_str()))
        .flat_map(|(name, command)| command.get_arguments().map(move |arg| (name.clone(), arg)))
    {
        let Some(flag) = arg.get_short().filter(|flag| !BUILT_IN.contains(flag)) else { continue };
        let long = arg.get_long().unwrap_or_default().to_owned();
        let (first, before) = names.entry(flag).or_insert_with(|| (command.clone(), long.clone()));
        assert_eq!(*before, long, "-{flag} of `{first}` and of `{command}`");
    }
    // If an exempt subcommand has one of these short flags, the flag has the same long name there
    // as in the other subcommands.
    for (name, command) in leaves().iter().filter(|(name, _)| EXEMPT.contains(&name.as_str())) {
        for flag in ['o', 'f', 'k', 'q', 'v', 'p', 'b'] {
            let found = short(command, flag).and_then(Arg::get_long);
            let others = names.get(&flag).map(|(_, long)| long.as_str());
            assert!(found.is_none() || others.is_none() || found == others, "{name} -{flag}");
        }
    }
}

#[test]
fn shared_flags_have_the_same_help_in_all_subcommands() {
    let mut texts: BTreeMap<String, (String, String)> = BTreeMap::new();
    // `nx bench` may have help texts of its own.
    for (name, command) in leaves().iter().filter(|(name, _)| name != "nx bench") {
        for flag in ["verbose", "quiet", "json", "threads"] {
            let Some(arg) = long(command, flag) else { continue };
            let (first, text) = texts.entry(flag.to_owned()).or_insert_with(|| (name.clone(), help(arg)));
            assert_eq!(help(arg), *text, "--{flag} of `{name}` and of `{first}`");
        }
        for (flag, text) in [("force", FORCE), ("dry-run", DRY_RUN)] {
            let Some(arg) = long(command, flag) else { continue };
            assert!(
                EXEMPT.contains(&name.as_str()) || help(arg) == text,
                "--{flag} of `{name}`: {}",
                help(arg)
            );
        }
    }
}

#[test]
fn threads_are_all_cores_by_default() {
    for (name, command) in leaves() {
        let Some(arg) = long(&command, "threads") else { continue };
        assert_eq!(arg.get_default_values(), ["0"], "{name}");
    }
}

#[test]
fn every_help_has_an_example_and_the_table_of_exit_statuses() {
    fn check(command: &Command, path: &str) {
        let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(text.contains("Examples:\n  linerate "), "{path} has no example");
        assert!(text.contains("Exit status:\n  0  "), "{path} has no table of exit statuses");
        for sub in shown(command) {
            check(sub, &format!("{path} {}", sub.get_name()));
        }
    }
    let mut root = crate::command();
    root.build();
    check(&root, "linerate");
}
