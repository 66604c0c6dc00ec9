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
use crate::ui::error::CliError;
use crate::ui::exit_code;
use crate::ui::printer::to_stderr;
use crate::ui::reporter::Reporter;
use crate::ui::signals::CancelToken;
use crate::ui::summary::RunSummary;

pub(crate) fn run(args: &Args) -> ExitCode {
    let result =
        match &args.command {
            NxCommand::List(args) => run_list(args),
            NxCommand::Info(args) => Ok(Reporter::new(&args.verbosity, false)
                .each(&args.archives, |path, _| info::process(args, path))),
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
                Ok(Reporter::new(&args.verbosity, false).one(&path, |_| bench::process(args, &path)))
            }
        };
    result.unwrap_or_else(|what| usage(&what))
}

fn usage(what: &str) -> ExitCode {
    to_stderr(format_args!("linerate: {what}"));
    ExitCode::from(exit_code::USAGE)
}

/// Writes an archive until it is done or a signal asks to end, which ends the program once what was
/// begun has been removed.
fn stoppable(
    reporter: Reporter,
    archive: &Path,
    work: impl FnOnce(&CancelToken, &mut Reporter) -> Result<RunSummary, CliError>,
) -> ExitCode {
    reporter.one(archive, |reporter| {
        let cancel = CancelToken::on_signal();
        let outcome = work(&cancel, reporter);
        cancel.exit_if_cancelled();
        outcome
    })
}

fn select(choice: &ChoiceArgs) -> Result<Select, String> {
    Select::new(&choice.globs(), &choice.exclude, choice.ignore_case)
}

fn run_list(args: &ListArgs) -> Result<ExitCode, String> {
    let select = select(&args.choice)?;
    let path = args.choice.path();
    Ok(Reporter::new(&args.verbosity, false)
        .one(&path, |reporter| list::process(args, &path, &select, reporter)))
}

fn run_verify(args: &VerifyArgs) -> Result<ExitCode, String> {
    if args.against.is_some() && args.archives.len() > 1 {
        return Err("--against takes a single archive".into());
    }
    let reporter = Reporter::new(&args.verbosity, false);
    Ok(reporter.each(&args.archives, |path, reporter| verify::process(args, path, reporter)))
}

fn run_extract(args: &ExtractArgs) -> Result<ExitCode, String> {
    if args.is_stdout() && (args.metadata || args.sync || args.strip_components > 0) {
        return Err(
            "standard output takes contents alone: no --metadata, --sync or --strip-components".into()
        );
    }
    let select = select(&args.choice)?;
    let path = args.choice.path();
    let reporter = Reporter::new(&args.verbosity, args.is_stdout());
    Ok(reporter.one(&path, |reporter| extract::process(args, &path, &select, reporter)))
}

fn run_pack(args: &PackArgs) -> Result<ExitCode, String> {
    let mut options = args.coding.options(None, args.threads.threads)?;
    args.coding.check_format(args.output.format.format())?;
    let rules = args.rules.rules()?;
    let first = args.all_sources().next().map(std::path::Path::to_owned).unwrap_or_default();
    let reporter = Reporter::new(&args.verbosity, false);
    Ok(stoppable(reporter, &first, |cancel, reporter| {
        options.cancel = linerate_nx::pack::CancelToken::from_flag(cancel.flag());
        pack::process(args, options, &rules, reporter)
    }))
}

fn run_diff(args: &DiffArgs) -> ExitCode {
    let mut differences = 0;
    let code = Reporter::new(&args.verbosity, false).one(&args.old, |reporter| {
        let (summary, count) = diff::process(args, reporter)?;
        differences = count;
        Ok(summary)
    });
    if args.exit_code && differences > 0 { ExitCode::FAILURE } else { code }
}

fn run_merge(args: &MergeArgs) -> Result<ExitCode, String> {
    args.coding.options(None, 1)?;
    if args.edit.output.is_none() && !args.edit.dry_run {
        return Err("merging needs -o: none of the archives is changed".into());
    }
    let first = args.all_archives()[0];
    let reporter = Reporter::new(&args.edit.verbosity, false);
    Ok(stoppable(reporter, first, |cancel, reporter| edit::merge(args, cancel, reporter)))
}

fn run_update(args: &UpdateArgs) -> Result<ExitCode, String> {
    args.coding.options(None, 1)?;
    let rules = args.rules.rules()?;
    let reporter = Reporter::new(&args.edit.verbosity, false);
    Ok(stoppable(reporter, &args.archive, |cancel, reporter| edit::update(args, &rules, cancel, reporter)))
}

fn run_delete(args: &DeleteArgs) -> Result<ExitCode, String> {
    let select = Select::new(&args.globs, &[], args.ignore_case)?;
    let reporter = Reporter::new(&args.edit.verbosity, false);
    Ok(stoppable(reporter, &args.archive, |cancel, reporter| edit::delete(args, &select, cancel, reporter)))
}

fn run_repack(args: &RepackArgs) -> Result<ExitCode, String> {
    args.coding.options(None, 1)?;
    let reporter = Reporter::new(&args.edit.verbosity, false);
    Ok(stoppable(reporter, &args.archive, |cancel, reporter| edit::repack(args, cancel, reporter)))
}
