//! `linerate dict sst ls` and `get`: lists and looks up entries of SST files.

use std::cmp::Ordering;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueHint;
use linerate_dict::sst::{Entry, EntryKind, KeyOrder, Reader, Scan, Sst};
use serde_json::{Value, json};

use super::keys::{KeyArgs, prefix_end};
use super::scan::{Range, RangeArgs};
use super::sst_file::{LimitArgs, open};
use crate::ui::error::{CliError, engine_error};
use crate::ui::reporter::Reporter;
use crate::ui::summary::RunSummary;
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::{exit_code, output};

const LS_EXAMPLES: &str = "\
Examples:
  linerate dict sst ls 000012.sst                            keys
  linerate dict sst ls --long --prefix user 000012.sst       with sequence number, kind and size
  linerate dict sst ls --values --json --limit 10 000012.sst";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{LS_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct LsArgs {
    /// Print sequence numbers, kinds and sizes
    #[arg(short = 'l', long, conflicts_with = "json")]
    pub(super) long: bool,

    /// Print values, too
    #[arg(long)]
    pub(super) values: bool,

    #[command(flatten)]
    pub(super) range: RangeArgs,

    #[command(flatten)]
    pub(super) keys: KeyArgs,

    #[command(flatten)]
    pub(super) limits: LimitArgs,

    #[command(flatten)]
    pub(super) verbosity: VerbosityArgs,

    /// The file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) file: PathBuf,
}

const GET_EXAMPLES: &str = "\
Examples:
  linerate dict sst get 000012.sst user-17           the value, and a line end
  linerate dict sst get --json 000012.sst user-17 user-4
  linerate dict sst get --sequence 1000 --hex 000012.sst 0007ff";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{GET_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct GetArgs {
    /// Ignore entries after this sequence number
    #[arg(long, value_name = "N", default_value_t = u64::MAX, hide_default_value = true)]
    pub(super) sequence: u64,

    #[command(flatten)]
    pub(super) keys: KeyArgs,

    #[command(flatten)]
    pub(super) limits: LimitArgs,

    #[command(flatten)]
    pub(super) verbosity: VerbosityArgs,

    /// The file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) file: PathBuf,

    /// Keys; a missing one is an error, as is, without --json, one whose newest entry is no value.
    /// The values of the others are still printed
    #[arg(value_name = "KEY", required = true)]
    pub(super) wanted: Vec<String>,
}

/// The entries to list: those whose keys have the prefix, or else those in the range.
struct Selection {
    prefix: Option<Vec<u8>>,
    range: Range,
}

/// Position of a key relative to the entries to list.
#[derive(PartialEq, Eq)]
enum Position {
    Before,
    Within,
    After,
}

impl Selection {
    /// The key to seek to before listing; `None` to begin with the first entry of the file.
    fn start(&self, order: KeyOrder) -> Option<Vec<u8>> {
        match (&self.prefix, order) {
            (None, _) => self.range.from.clone(),
            (Some(prefix), KeyOrder::Bytewise) => Some(prefix.clone()),
            (Some(prefix), KeyOrder::Reverse) => prefix_end(prefix),
            // The order of keys is unknown, so all entries are scanned.
            _ => None,
        }
    }

    fn position(&self, order: KeyOrder, key: &[u8]) -> Position {
        // The order of two keys in the file; `None` if it is unknown.
        let compare = |a: &[u8], b: &[u8]| match order {
            KeyOrder::Bytewise => Some(a.cmp(b)),
            KeyOrder::Reverse => Some(b.cmp(a)),
            _ => None,
        };
        if let Some(prefix) = &self.prefix {
            return match compare(key, prefix) {
                _ if key.starts_with(prefix) => Position::Within,
                Some(Ordering::Greater) => Position::After,
                _ => Position::Before,
            };
        }
        let ended = self.range.to.as_ref().and_then(|to| compare(key, to));
        if ended.is_some_and(Ordering::is_ge) { Position::After } else { Position::Within }
    }
}

pub(super) fn ls(args: &LsArgs) -> Result<ExitCode, String> {
    let prefix = args.range.prefix.as_ref().map(|prefix| args.keys.parse(prefix)).transpose()?;
    let selection = Selection { prefix, range: args.range.range(&args.keys)? };
    Ok(Reporter::new(&args.verbosity, true).one(&args.file, |_| {
        let mut summary = RunSummary::new(&args.file, "ls");
        summary.silent = true;
        let (sst, mut reader) = open(&args.file, &args.limits)?;
        let stdout = output::stdout()?;
        let mut out = BufWriter::with_capacity(64 << 10, stdout);
        let listed = list(args, &selection, &sst, &mut reader, &mut out);
        // If the file is damaged, the entries before the damage are still printed.
        out.flush().map_err(CliError::stdout_write)?;
        listed.map(|()| summary)
    }))
}

fn list(
    args: &LsArgs,
    selection: &Selection,
    sst: &Sst,
    reader: &mut Reader,
    out: &mut BufWriter<File>,
) -> Result<(), CliError> {
    let order = sst.key_order();
    if selection.range.to.is_some() && selection.prefix.is_none() && order == KeyOrder::Unknown {
        return Err(CliError::Refused(
            "the order of its keys is unknown, so --to cannot be used; leave it out".into(),
        ));
    }
    let start = selection.start(order);
    let mut scan: Scan<'_> = match &start {
        Some(start) => reader.scan_from(sst, start).map_err(engine_error)?,
        None => reader.scan(sst),
    };
    let mut left = args.range.limit.unwrap_or(u64::MAX);
    while left > 0 {
        let Some(entry) = scan.next_entry().map_err(engine_error)? else { break };
        match selection.position(order, entry.key) {
            Position::Before => continue,
            Position::After => break,
            Position::Within => print(args, &entry, out).map_err(CliError::stdout_write)?,
        }
        left -= 1;
    }
    Ok(())
}

fn print(args: &LsArgs, entry: &Entry<'_>, out: &mut impl Write) -> std::io::Result<()> {
    if args.verbosity.json {
        return writeln!(out, "{}", object(&args.keys, entry, args.values));
    }
    if args.long {
        write!(out, "{:>20} {:<15} {:>10} ", entry.sequence, entry.kind.name(), entry.value.len())?;
    }
    if args.keys.hex {
        write!(out, "{}", args.keys.show(entry.key))?;
    } else {
        out.write_all(entry.key)?;
    }
    if args.values {
        out.write_all(b"\t")?;
        out.write_all(entry.value)?;
    }
    out.write_all(b"\n")
}

fn object(keys: &KeyArgs, entry: &Entry<'_>, values: bool) -> Value {
    let mut object = json!({
        "sequence": entry.sequence,
        "kind": entry.kind.name(),
        "bytes": entry.value.len(),
    });
    keys.put(&mut object, "key", entry.key);
    if values {
        KeyArgs { hex: false }.put(&mut object, "value", entry.value);
    }
    object
}

pub(super) fn get(args: &GetArgs) -> Result<ExitCode, String> {
    let wanted: Result<Vec<Vec<u8>>, String> = args.wanted.iter().map(|key| args.keys.parse(key)).collect();
    let wanted = wanted?;
    Ok(Reporter::new(&args.verbosity, true).one(&args.file, |reporter| {
        let mut summary = RunSummary::new(&args.file, "get");
        summary.silent = true;
        let (sst, mut reader) = open(&args.file, &args.limits)?;
        let stdout = output::stdout()?;
        let mut out = BufWriter::with_capacity(64 << 10, stdout);
        for key in &wanted {
            if let Err(error) = find(args, &sst, &mut reader, key, &mut out) {
                reporter.key_failed(&args.file.display().to_string(), &args.keys.show(key), error);
            }
        }
        out.flush().map_err(CliError::stdout_write)?;
        Ok(summary)
    }))
}

fn find(
    args: &GetArgs,
    sst: &Sst,
    reader: &mut Reader,
    key: &[u8],
    out: &mut impl Write,
) -> Result<(), CliError> {
    let refused = |message: &str| Err(CliError::Refused(message.into()));
    let Some(entry) = reader.get_at(sst, key, args.sequence).map_err(engine_error)? else {
        return refused("there is no such key");
    };
    if args.verbosity.json {
        return writeln!(out, "{}", object(&args.keys, &entry, true)).map_err(CliError::stdout_write);
    }
    match entry.kind {
        EntryKind::Value => {
            out.write_all(entry.value).and_then(|()| out.write_all(b"\n")).map_err(CliError::stdout_write)
        }
        kind if kind.is_deletion() => refused("the key was deleted"),
        kind => refused(&format!(
            "the newest entry is of the kind `{}`, not a value; --json prints it",
            kind.name()
        )),
    }
}
