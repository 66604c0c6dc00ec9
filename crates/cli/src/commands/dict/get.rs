//! `linerate dict get`: prints the values of keys.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueHint;

use super::blockfile::{PackArg, open_blocks};
use super::rows::{RowArgs, Rows};
use crate::ui::error::{CliError, engine_error};
use crate::ui::exit_code;
use crate::ui::reporter::Reporter;
use crate::ui::summary::RunSummary;

const EXAMPLES: &str = "\
Examples:
  linerate dict get rows.blocks user-17              the value, and a line end
  linerate dict get --json rows.blocks user-17 user-4
  linerate dict get --hex rows.blocks 0007ff";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct GetArgs {
    #[command(flatten)]
    rows: RowArgs,

    #[command(flatten)]
    pack: PackArg,

    /// The block file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: PathBuf,

    /// Keys; a missing one is an error, but the values of the others are still printed
    #[arg(value_name = "KEY", required = true)]
    keys: Vec<String>,
}

pub(crate) fn run(args: &GetArgs) -> Result<ExitCode, String> {
    let keys: Result<Vec<Vec<u8>>, String> = args.keys.iter().map(|key| args.rows.keys.parse(key)).collect();
    let keys = keys?;
    Ok(Reporter::new(&args.rows.verbosity, true).one(&args.file, |reporter| process(args, &keys, reporter)))
}

fn process(args: &GetArgs, keys: &[Vec<u8>], reporter: &mut Reporter) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(&args.file, "get");
    summary.silent = true;
    let file = open_blocks(&args.file, &args.pack)?;
    let wanted: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let name = args.file.display().to_string();
    let mut rows = Rows::new(&args.rows)?;
    for (key, value) in wanted.iter().zip(file.multi_get(&mut file.reader(), &wanted)) {
        match value {
            Ok(Some(value)) => rows.write(key, &value)?,
            Ok(None) => {
                let missing = CliError::Refused("there is no such key".into());
                reporter.key_failed(&name, &args.rows.keys.show(key), missing);
            }
            Err(error) => reporter.key_failed(&name, &args.rows.keys.show(key), engine_error(error)),
        }
    }
    rows.finish()?;
    Ok(summary)
}
