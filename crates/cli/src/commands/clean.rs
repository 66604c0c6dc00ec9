//! `linerate clean`: removes the temporary files and folders of killed runs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueHint;
use linerate_io::{is_temporary_name, remove_leftovers};

use crate::ui::error::CliError;
use crate::ui::reporter::Reporter;
use crate::ui::summary::RunSummary;
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::{exit_code, output_args};

const EXAMPLES: &str = "\
Examples:
  linerate clean .                   the current folder and all below it
  linerate clean --dry-run /data     print the names, remove nothing
  linerate clean --json /data /srv

Leftovers:
  Incomplete files have names like .linerate-5f3a-1c2-9d4e1-0.tmp on systems that cannot keep them
  unnamed. The name contains the ID of the process that writes the file. A file is removed if that
  process has ended. Where this is unknown, as after a restart of the system or on a network drive that
  another machine writes to, a file is removed if it has not been written to for a day. Folders with
  such names, which `nx bench --to-files` makes, are removed with all files in them. Every run of
  linerate that writes a file first removes the files that were left in its folder: this subcommand is
  for folders that are no longer written to, and for those with more than 16,384 entries.";

#[derive(clap::Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct Args {
    #[arg(short = 'n', long, help = output_args::DRY_RUN)]
    dry_run: bool,

    #[command(flatten)]
    verbosity: VerbosityArgs,

    /// Folders to clean with all folders below them; links are not followed
    #[arg(required = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    folders: Vec<PathBuf>,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    Reporter::new(&args.verbosity, false)
        .each(&args.folders, |folder, reporter| clean(args, folder, reporter))
}

fn clean(args: &Args, folder: &Path, reporter: &mut Reporter) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(folder, "clean");
    std::fs::read_dir(folder).map_err(CliError::io("cannot read the folder"))?;
    let found = remove_leftovers(folder, true, args.dry_run);
    let name = folder.display().to_string();
    for (path, error) in found.failed {
        let is_temporary = path.file_name().and_then(OsStr::to_str).is_some_and(is_temporary_name);
        let doing = if path.is_dir() && !is_temporary { "cannot read the folder" } else { "cannot remove" };
        reporter.entry_failed(&name, &path.display().to_string(), CliError::io(doing)(error));
    }
    summary.lines = found.removed.iter().map(|path| path.display().to_string()).collect();
    summary.set("dry_run", args.dry_run);
    summary.set("removed", summary.lines.clone());
    summary.text = Some(match (args.dry_run, found.removed.len()) {
        (false, count) => format!("{count} removed"),
        (true, count) => format!("{count} would be removed"),
    });
    Ok(summary)
}
