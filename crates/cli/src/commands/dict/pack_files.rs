//! `linerate dict pack`: makes, changes, lists and extracts packs.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueHint;
use linerate_dict::pack::{Editor, PackOptions, Storage, user_id};
use serde_json::{Value, json};

use super::blockfile::{open_pack, openable};
use super::samples::files_of;
use crate::ui::error::{CliError, engine_error};
use crate::ui::progress::SharedProgress;
use crate::ui::reporter::Reporter;
use crate::ui::signals::{CancelToken, cancellable};
use crate::ui::stdout::StdoutLines;
use crate::ui::summary::RunSummary;
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::wait::WaitArgs;
use crate::ui::{exit_code, output_args};

const MAKE_EXAMPLES: &str = "\
Examples:
  linerate dict pack make -o all.pack *.dict
  linerate dict pack make --uncompressed -o all.pack dictionaries    opens fastest";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{MAKE_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct MakeArgs {
    #[arg(short = 'o', long, value_name = "FILE", help = output_args::FILE, value_parser = output_args::path(), value_hint = ValueHint::FilePath)]
    pub(super) output: PathBuf,

    /// Store dictionaries uncompressed: larger, and faster to open
    #[arg(long)]
    pub(super) uncompressed: bool,

    /// The level of zstd that dictionaries are compressed at, -7 to 22
    #[arg(long, value_name = "LEVEL", default_value_t = 19, allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-7..=22))]
    pub(super) level: i32,

    #[command(flatten)]
    pub(super) add: AddArgs,
}

const APPEND_EXAMPLES: &str = "\
Examples:
  linerate dict pack append all.pack new.dict
  linerate dict pack append --cluster 3 --used-by 000012.sst all.pack t.dict";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{APPEND_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct AppendArgs {
    #[command(flatten)]
    pub(super) wait: WaitArgs,

    /// The pack
    #[arg(value_name = "PACK", value_hint = ValueHint::FilePath)]
    pub(super) pack: PathBuf,

    #[command(flatten)]
    pub(super) add: AddArgs,
}

/// Dictionaries to add, with their cluster and users.
#[derive(clap::Args, Debug)]
pub(crate) struct AddArgs {
    /// Cluster number; dictionaries are compressed with the first one of their cluster if that
    /// makes them smaller
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) cluster: u32,

    /// Name of a user of these dictionaries, such as a file name
    #[arg(long, value_name = "NAME")]
    pub(super) used_by: Vec<String>,

    #[command(flatten)]
    pub(super) verbosity: VerbosityArgs,

    /// Dictionaries, and folders with *.dict files; those that the pack already has are not added
    /// again
    #[arg(value_name = "DICT", required = true, value_hint = ValueHint::AnyPath)]
    pub(super) files: Vec<PathBuf>,
}

const LIST_EXAMPLES: &str = "\
Examples:
  linerate dict pack list all.pack
  linerate dict pack list --json all.pack";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{LIST_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(super) verbosity: VerbosityArgs,

    /// The pack
    #[arg(value_name = "PACK", value_hint = ValueHint::FilePath)]
    pub(super) pack: PathBuf,
}

const COMPACT_EXAMPLES: &str = "\
Examples:
  linerate dict pack compact all.pack                  without removed dictionaries
  linerate dict pack compact --drop-unused all.pack
  linerate dict pack compact --drop 7 --drop 9 all.pack";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{COMPACT_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct CompactArgs {
    #[command(flatten)]
    pub(super) wait: WaitArgs,

    /// Drop dictionaries without users
    #[arg(long)]
    pub(super) drop_unused: bool,

    /// Drop the dictionary with this number, which must have no users
    #[arg(long, value_name = "N")]
    pub(super) drop: Vec<u64>,

    /// Store dictionaries uncompressed from now on
    #[arg(long)]
    pub(super) uncompressed: bool,

    /// The level of zstd that dictionaries are compressed at, -7 to 22
    #[arg(long, value_name = "LEVEL", default_value_t = 19, allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-7..=22))]
    pub(super) level: i32,

    #[command(flatten)]
    pub(super) verbosity: VerbosityArgs,

    /// The pack
    #[arg(value_name = "PACK", value_hint = ValueHint::FilePath)]
    pub(super) pack: PathBuf,
}

const EXTRACT_EXAMPLES: &str = "\
Examples:
  linerate dict pack extract all.pack -o dictionaries    1.dict, 2.dict and so on
  linerate dict pack extract all.pack 7 9 -o .";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXTRACT_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct ExtractArgs {
    #[arg(short = 'o', long, value_name = "FOLDER", help = output_args::FOLDER, value_parser = output_args::path(), value_hint = ValueHint::DirPath)]
    pub(super) output: PathBuf,

    #[arg(short = 'f', long, help = output_args::FORCE)]
    pub(super) force: bool,

    #[command(flatten)]
    pub(super) verbosity: VerbosityArgs,

    /// The pack
    #[arg(value_name = "PACK", value_hint = ValueHint::FilePath)]
    pub(super) pack: PathBuf,

    /// Numbers of the dictionaries to extract. Default: all
    #[arg(value_name = "N")]
    pub(super) numbers: Vec<u64>,
}

const USE_EXAMPLES: &str = "\
Examples:
  linerate dict pack retain all.pack 7 000012.sst
  linerate dict pack release all.pack 7 000012.sst";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{USE_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct UseArgs {
    #[command(flatten)]
    pub(super) wait: WaitArgs,

    #[command(flatten)]
    pub(super) verbosity: VerbosityArgs,

    /// The pack
    #[arg(value_name = "PACK", value_hint = ValueHint::FilePath)]
    pub(super) pack: PathBuf,

    /// The number of the dictionary
    #[arg(value_name = "N")]
    pub(super) number: u64,

    /// Names of users, such as file names
    #[arg(value_name = "NAME", required = true)]
    pub(super) names: Vec<String>,
}

pub(super) fn make(args: &MakeArgs, reporter: &mut Reporter) -> Result<RunSummary, CliError> {
    let summary = RunSummary::new(&args.output, "make");
    if args.output.exists() {
        return Err(CliError::Refused("the pack exists already; `append` adds to it".into()));
    }
    let options = PackOptions::new().uncompressed(args.uncompressed).level(args.level);
    cancellable(|cancel| {
        let editor = Editor::create(&args.output, options).map_err(engine_error)?;
        add(&args.add, editor, &args.output, cancel, reporter, summary)
    })
}

pub(super) fn append(args: &AppendArgs, reporter: &mut Reporter) -> Result<RunSummary, CliError> {
    let summary = RunSummary::new(&args.pack, "append");
    openable(&args.pack)?;
    cancellable(|cancel| {
        let lock = args.wait.lock(&args.pack)?;
        let editor = Editor::open_locked(&args.pack, lock).map_err(engine_error)?;
        add(&args.add, editor, &args.pack, cancel, reporter, summary)
    })
}

fn add(
    args: &AddArgs,
    mut editor: Editor,
    pack: &Path,
    cancel: &CancelToken,
    reporter: &Reporter,
    mut summary: RunSummary,
) -> Result<RunSummary, CliError> {
    let files = dictionaries_of(args)?;
    let total = files.iter().map(|file| fs::metadata(file).ok().map(|meta| meta.len())).sum();
    let progress = SharedProgress::new(reporter.step("packing", total));
    let mut added = Vec::new();
    for file in &files {
        if cancel.is_cancelled() {
            return Err(CliError::Refused("interrupted".into()));
        }
        let number = add_one(args, file, &mut editor, &progress);
        added.push((file, number.map_err(|e| e.in_file(&file.display().to_string()))?));
    }
    editor.commit().map_err(engine_error)?;
    drop(progress);
    let stats = open_pack(pack)?.stats();
    for (file, number) in &added {
        summary.lines.push(format!("{number:>10} {}", file.display()));
    }
    let listed: Vec<Value> = added
        .iter()
        .map(|(file, number)| json!({ "file": file.display().to_string(), "number": number }))
        .collect();
    summary.text = Some(format!(
        "{} dictionaries in the pack, {} bytes -> {} bytes",
        stats.dictionaries, stats.bytes, stats.len
    ));
    summary.set("added", listed);
    summary.set("dictionaries", stats.dictionaries);
    summary.set("dictionary_bytes", stats.bytes);
    summary.set("bytes", stats.len);
    Ok(summary)
}

/// The operands that are files, and the `*.dict` files below the operands that are folders.
fn dictionaries_of(args: &AddArgs) -> Result<Vec<PathBuf>, CliError> {
    let files = files_of(&args.files)?;
    let is_dictionary = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "dict");
    Ok(files.into_iter().filter(|file| args.files.contains(file) || is_dictionary(file)).collect())
}

fn add_one(
    args: &AddArgs,
    file: &Path,
    editor: &mut Editor,
    progress: &SharedProgress,
) -> Result<u64, CliError> {
    let bytes = fs::read(file).map_err(CliError::io("cannot open"))?;
    let number = editor.add(&bytes, args.cluster).map_err(engine_error)?;
    for name in &args.used_by {
        editor.retain(number, user_id(name)).map_err(engine_error)?;
    }
    progress.add(bytes.len());
    Ok(number)
}

pub(super) fn list(args: &ListArgs) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(&args.pack, "list");
    let pack = open_pack(&args.pack)?;
    let mut lines = StdoutLines::new()?;
    if !args.verbosity.json {
        lines.write(format_args!(
            "{:>10} {:>10} {:>10} {:>10} {:>10} {:>8} {:>6} {:<16}",
            "number", "bytes", "stored", "with", "id", "cluster", "users", "hash"
        ))?;
    }
    for entry in pack.entries() {
        let base = if let Storage::CompressedWith(base) = entry.storage { Some(base) } else { None };
        if args.verbosity.json {
            lines.write(json!({
                "number": entry.id,
                "bytes": entry.len,
                "stored": entry.stored_len,
                "with": base,
                "id": entry.zstd_id,
                "cluster": entry.cluster,
                "users": entry.users,
                "hash": format!("{:016x}", entry.hash),
            }))?;
            continue;
        }
        let base = match (entry.storage, base) {
            (_, Some(base)) => base.to_string(),
            (Storage::Uncompressed, _) => "plain".into(),
            _ => "-".into(),
        };
        lines.write(format_args!(
            "{:>10} {:>10} {:>10} {base:>10} {:>10} {:>8} {:>6} {:016x}",
            entry.id, entry.len, entry.stored_len, entry.zstd_id, entry.cluster, entry.users, entry.hash
        ))?;
    }
    lines.finish()?;
    summary.silent = true;
    Ok(summary)
}

pub(super) fn compact(args: &CompactArgs) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(&args.pack, "compact");
    openable(&args.pack)?;
    let lock = args.wait.lock(&args.pack)?;
    let pack = open_pack(&args.pack)?;
    if let Some(number) = args.drop.iter().find(|&&number| pack.entry(number).is_none()) {
        return Err(CliError::Refused(format!("the pack has no dictionary of the number {number}")));
    }
    // An uncompressed pack stays uncompressed.
    let uncompressed = args.uncompressed || pack.stats().uncompressed;
    let options = PackOptions::new().uncompressed(uncompressed).level(args.level);
    drop(pack);
    // A signal ends the program only after the compaction, so that no incomplete file is left.
    let compacted = cancellable(|_| {
        linerate_dict::pack::compact_locked(&args.pack, lock, options, |entry| {
            !args.drop.contains(&entry.id) && (entry.users > 0 || !args.drop_unused)
        })
    });
    let compacted = compacted.map_err(engine_error)?;
    summary.text = Some(format!(
        "{} dictionaries kept, {} dropped, {} -> {} bytes",
        compacted.kept, compacted.dropped, compacted.before, compacted.after
    ));
    summary.set("kept", compacted.kept);
    summary.set("dropped", compacted.dropped);
    summary.set("before", compacted.before);
    summary.set("after", compacted.after);
    Ok(summary)
}

pub(super) fn extract(args: &ExtractArgs) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(&args.pack, "extract");
    let pack = open_pack(&args.pack)?;
    let numbers = match args.numbers.as_slice() {
        [] => pack.entries().map(|entry| entry.id).collect(),
        numbers => numbers.to_vec(),
    };
    fs::create_dir_all(&args.output).map_err(CliError::io_at("cannot create", &args.output))?;
    for &number in &numbers {
        if pack.entry(number).is_none() {
            return Err(CliError::Refused(format!("the pack has no dictionary of the number {number}")));
        }
        let bytes = pack.read(number).map_err(engine_error)?;
        output_args::write(&args.output.join(format!("{number}.dict")), args.force, &bytes)?;
        summary.bytes += bytes.len() as u64;
    }
    summary.text = Some(format!("{} dictionaries, {} bytes", numbers.len(), summary.bytes));
    summary.output = Some(args.output.clone());
    summary.set("dictionaries", numbers.len());
    Ok(summary)
}

/// Records users of a dictionary if `adds` is true, else removes them.
pub(super) fn change_users(args: &UseArgs, adds: bool) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(&args.pack, if adds { "retain" } else { "release" });
    openable(&args.pack)?;
    let lock = args.wait.lock(&args.pack)?;
    let mut editor = Editor::open_locked(&args.pack, lock).map_err(engine_error)?;
    let mut changed = 0;
    for name in &args.names {
        let is_changed = match adds {
            true => editor.retain(args.number, user_id(name)),
            false => editor.release(args.number, user_id(name)),
        };
        changed += usize::from(is_changed.map_err(engine_error)?);
    }
    editor.commit().map_err(engine_error)?;
    summary.text = Some(format!("{changed} of {} users changed", args.names.len()));
    summary.set("changed", changed);
    Ok(summary)
}
