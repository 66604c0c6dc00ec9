//! Completion scripts and manual pages, made from the same description as the help.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::failure::Failure;
use crate::{Cli, exit, signals};

/// For `bash`, put the output in /usr/share/bash-completion/completions/linerate.
#[derive(clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Without an argument the page of `linerate` itself.
#[derive(clap::Args)]
pub(crate) struct ManArgs {
    /// The subcommand whose page to print
    subcommand: Option<String>,
}

pub(crate) fn completions(args: &CompletionsArgs) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "linerate", &mut script);
    print(&script)
}

pub(crate) fn man(args: &ManArgs) -> ExitCode {
    let mut root = Cli::command();
    // Gives subcommands their full names.
    root.build();
    let command = match &args.subcommand {
        None => root,
        Some(name) => match root.find_subcommand(name) {
            Some(found) => found.clone(),
            None => {
                eprintln!("linerate: there is no subcommand `{name}`");
                return ExitCode::from(exit::USAGE);
            }
        },
    };
    let mut page = Vec::new();
    match clap_mangen::Man::new(command).render(&mut page) {
        Ok(()) => print(&page),
        Err(e) => unreachable!("a Vec takes every byte: {e}"),
    }
}

fn print(text: &[u8]) -> ExitCode {
    let mut out = io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()).map_err(Failure::writing_stdout) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::ClosedPipe) => signals::die_of_closed_pipe(),
        Err(failure) => {
            eprintln!("linerate: {failure}");
            ExitCode::FAILURE
        }
    }
}
