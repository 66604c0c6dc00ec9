//! `linerate nx`: Nx archives listed, checked, extracted, packed and changed.

mod account;
mod args;
mod bench;
mod diff;
mod done;
mod info;
mod lines;
mod list;
mod open;
mod select;
mod tree;

use std::process::ExitCode;

use self::account::Account;
pub(crate) use self::args::Args;
use self::args::{ChoiceArgs, DiffArgs, ListArgs, NxCommand, SayArgs};
use self::select::Select;
use crate::exit;
use crate::report::to_stderr;

pub(crate) fn run(args: &Args) -> ExitCode {
    let result = match &args.command {
        NxCommand::List(args) => run_list(args),
        NxCommand::Info(args) => {
            Ok(Account::new(&args.say, false).each(&args.archives, |path, _| info::process(args, path)))
        }
        NxCommand::Diff(args) => Ok(run_diff(args)),
        NxCommand::Bench(args) => {
            let path = args.archive.path();
            Ok(Account::new(&args.say, false).one(&path, |_| bench::process(args, &path)))
        }
    };
    result.unwrap_or_else(|what| usage(&what))
}

fn usage(what: &str) -> ExitCode {
    to_stderr(format_args!("linerate: {what}"));
    ExitCode::from(exit::USAGE)
}

fn select(choice: &ChoiceArgs) -> Result<Select, String> {
    Select::new(choice.split().1, &choice.exclude, choice.ignore_case)
}

fn run_list(args: &ListArgs) -> Result<ExitCode, String> {
    let select = select(&args.choice)?;
    let path = args.choice.split().0;
    let say = SayArgs { verbose: false, quiet: false, json: args.json };
    Ok(Account::new(&say, false).one(&path, |account| list::process(args, &path, &select, account)))
}

fn run_diff(args: &DiffArgs) -> ExitCode {
    let mut differences = 0;
    let code = Account::new(&args.say, false).one(&args.old, |account| {
        let (done, count) = diff::process(args, account)?;
        differences = count;
        Ok(done)
    });
    if args.exit_code && differences > 0 { ExitCode::FAILURE } else { code }
}
