//! `linerate completions` and `linerate man`: completion scripts and manual pages, made from the
//! description that the help is made from.

use std::io::{self, Write};
use std::iter;
use std::process::ExitCode;

use clap::Command;
use clap_complete::Shell;

use crate::command;
use crate::sys::closed;
use crate::ui::error::CliError;
use crate::ui::printer::to_stderr;
use crate::ui::{exit_code, help, signals};

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  linerate completions bash > /usr/share/bash-completion/completions/linerate
  linerate completions zsh > ~/.zfunc/_linerate";

const MAN_EXAMPLES: &str = "\
Examples:
  linerate man > linerate.1                  the page of `linerate` itself
  linerate man rice encode | man -l -
  linerate man --list                        the subcommands that have a page";

#[derive(clap::Args)]
#[command(after_help = format!("{COMPLETIONS_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct CompletionsArgs {
    /// The shell that the script is for
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(clap::Args)]
#[command(after_help = format!("{MAN_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct ManArgs {
    /// The subcommand whose page to print, such as `gzip` or `rice encode`
    subcommand: Vec<String>,
    /// List the subcommands that have a page, one per line
    #[arg(long, conflicts_with = "subcommand")]
    list: bool,
}

pub(crate) fn completions(args: &CompletionsArgs) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "linerate", &mut script);
    print(&script)
}

pub(crate) fn man(args: &ManArgs) -> ExitCode {
    let mut root = command();
    // Gives subcommands their full names, such as `linerate rice encode`, which the pages show.
    root.build();
    if args.list {
        return print(paths(&root).map(|path| path + "\n").collect::<String>().as_bytes());
    }
    let found = args.subcommand.iter().try_fold(&root, |command, name| command.find_subcommand(name));
    let Some(command) = found else {
        to_stderr(format_args!(
            "linerate: there is no subcommand `{}`; `linerate man --list` lists all",
            args.subcommand.join(" ")
        ));
        return ExitCode::from(exit_code::USAGE);
    };
    print(&page(command.clone()))
}

/// The names of the subcommands below `command` that have a page, as `linerate man` takes them:
/// `rice`, `rice encode`.
fn paths(command: &Command) -> Box<dyn Iterator<Item = String> + '_> {
    let shown = command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help");
    Box::new(shown.flat_map(|c| {
        let name = c.get_name();
        iter::once(name.to_owned()).chain(paths(c).map(move |below| format!("{name} {below}")))
    }))
}

fn page(command: Command) -> Vec<u8> {
    let notes = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut page = Vec::new();
    if let Err(e) = clap_mangen::Man::new(command.after_help(None)).render(&mut page) {
        unreachable!("a Vec takes every byte: {e}");
    }
    page.extend_from_slice(sections(&notes).as_bytes());
    page
}

/// Formats in roff the text of the help that follows the options. A paragraph whose first line ends
/// in a colon becomes a section, with that line in capitals as its name. Lists (see
/// [`help::is_list`]) keep their lines; the lines of other paragraphs are filled.
fn sections(text: &str) -> String {
    let mut roff = String::new();
    for paragraph in text.split("\n\n") {
        let (title, body) = match paragraph.split_once(":\n") {
            Some((title, body)) if !title.contains('\n') => (Some(title), body),
            _ => (None, paragraph),
        };
        match title {
            Some(title) => roff.push_str(&format!(".SH {}\n", title.to_uppercase())),
            None => roff.push_str(".PP\n"),
        }
        let is_list = help::is_list(paragraph);
        let lines: Vec<String> =
            body.lines().map(|line| literal(if is_list { line } else { line.trim_start() })).collect();
        match is_list {
            true => roff.push_str(&format!(".nf\n{}\n.fi\n", lines.join("\n"))),
            false => roff.push_str(&format!("{}\n", lines.join("\n"))),
        }
    }
    roff
}

/// Escapes a line of text, so that roff prints it unchanged.
fn literal(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-");
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line }
}

fn print(text: &[u8]) -> ExitCode {
    let mut out = io::stdout().lock();
    let written = closed::check_stdout().and_then(|()| out.write_all(text)).and_then(|()| out.flush());
    match written.map_err(CliError::stdout_write) {
        Ok(()) => ExitCode::SUCCESS,
        Err(CliError::ClosedPipe) => signals::exit_by_sigpipe(),
        Err(error) => {
            to_stderr(format_args!("linerate: {error}"));
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_become_sections_and_lines_of_lists_stay_lines() {
        let roff = sections("Examples:\n  a -b\n.x\n\nTwo words:\n  more text\n\nplain");
        let list = ".SH EXAMPLES\n.nf\n  a \\-b\n\\&.x\n.fi\n";
        assert_eq!(roff, format!("{list}.SH TWO WORDS\nmore text\n.PP\nplain\n"));
    }
}
