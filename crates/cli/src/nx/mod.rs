//! `linerate nx`: Nx archives listed, checked, extracted, packed and changed.

mod args;
mod bench;
mod coding;
mod diff;
mod edit;
mod extract;
mod info;
mod list;
mod metadata;
mod names;
pub(crate) mod open;
mod pack;
mod select;
mod tree;
mod verify;
mod write;
mod write_args;

use std::path::Path;
use std::process::ExitCode;

pub(crate) use self::args::Args;
use self::args::{ChoiceArgs, DiffArgs, ExtractArgs, ListArgs, NxCommand, VerifyArgs};
use self::select::Select;
use self::write_args::{DeleteArgs, MergeArgs, PackArgs, RepackArgs, UpdateArgs};
use crate::account::Account;
use crate::done::Done;
use crate::exit;
use crate::failure::Failure;
use crate::report::to_stderr;
use crate::say::SayArgs;
use crate::signals::Stop;

pub(crate) fn run(args: &Args) -> ExitCode {
    let result = match &args.command {
        NxCommand::List(args) => run_list(args),
        NxCommand::Info(args) => {
            Ok(Account::new(&args.say, false).each(&args.archives, |path, _| info::process(args, path)))
        }
        NxCommand::Verify(args) => run_verify(args),
        NxCommand::Extract(args) => run_extract(args),
        NxCommand::Pack(args) => run_pack(args),
        NxCommand::Diff(args) => Ok(run_diff(args)),
        NxCommand::Merge(args) => run_merge(args),
        NxCommand::Update(args) => run_update(args),
        NxCommand::Delete(args) => run_delete(args),
        NxCommand::Repack(args) => run_repack(args),
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

/// Writes an archive until it is done or a signal asks to end, which ends the program once what was
/// begun has been removed.
fn stoppable(
    account: Account,
    archive: &Path,
    work: impl FnOnce(&Stop, &mut Account) -> Result<Done, Failure>,
) -> ExitCode {
    account.one(archive, |account| {
        let stop = Stop::on_signal();
        let outcome = work(&stop, account);
        stop.die_if_asked();
        outcome
    })
}

fn select(choice: &ChoiceArgs) -> Result<Select, String> {
    Select::new(&choice.globs(), &choice.exclude, choice.ignore_case)
}

fn run_list(args: &ListArgs) -> Result<ExitCode, String> {
    let select = select(&args.choice)?;
    let path = args.choice.path();
    let say = SayArgs { verbose: false, quiet: false, json: args.json };
    Ok(Account::new(&say, false).one(&path, |account| list::process(args, &path, &select, account)))
}

fn run_verify(args: &VerifyArgs) -> Result<ExitCode, String> {
    if args.against.is_some() && args.archives.len() > 1 {
        return Err("--against takes a single archive".into());
    }
    let account = Account::new(&args.say, false);
    Ok(account.each(&args.archives, |path, account| verify::process(args, path, account)))
}

fn run_extract(args: &ExtractArgs) -> Result<ExitCode, String> {
    let select = select(&args.choice)?;
    let path = args.choice.path();
    let account = Account::new(&args.say, args.stdout);
    Ok(account.one(&path, |account| extract::process(args, &path, &select, account)))
}

fn run_pack(args: &PackArgs) -> Result<ExitCode, String> {
    let mut options = args.coding.options(None, args.threads.threads)?;
    args.coding.check_format(args.target.format.format())?;
    let rules = args.rules.rules()?;
    let first = args.all_sources().next().map(std::path::Path::to_owned).unwrap_or_default();
    let account = Account::new(&args.say, false);
    Ok(stoppable(account, &first, |stop, account| {
        options.cancel = linerate_nx::pack::CancelToken::from_flag(stop.flag());
        pack::process(args, options, &rules, account)
    }))
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

fn run_merge(args: &MergeArgs) -> Result<ExitCode, String> {
    args.coding.options(None, 1)?;
    if args.edit.target.is_none() && !args.edit.dry_run {
        return Err("merging needs -o: none of the archives is changed".into());
    }
    let first = args.all_archives()[0];
    let account = Account::new(&args.edit.say, false);
    Ok(stoppable(account, first, |stop, account| edit::merge(args, stop, account)))
}

fn run_update(args: &UpdateArgs) -> Result<ExitCode, String> {
    args.coding.options(None, 1)?;
    let rules = args.rules.rules()?;
    let account = Account::new(&args.edit.say, false);
    Ok(stoppable(account, &args.archive, |stop, account| edit::update(args, &rules, stop, account)))
}

fn run_delete(args: &DeleteArgs) -> Result<ExitCode, String> {
    let select = Select::new(&args.globs, &[], args.ignore_case)?;
    let account = Account::new(&args.edit.say, false);
    Ok(stoppable(account, &args.archive, |stop, account| edit::delete(args, &select, stop, account)))
}

fn run_repack(args: &RepackArgs) -> Result<ExitCode, String> {
    args.coding.options(None, 1)?;
    let account = Account::new(&args.edit.say, false);
    Ok(stoppable(account, &args.archive, |stop, account| edit::repack(args, stop, account)))
}
