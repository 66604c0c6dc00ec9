//! `linerate nx merge`, `update`, `delete` and `repack`: write archives made from existing
//! archives.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{ValueEnum, ValueHint};
use linerate_nx::Kind;
use linerate_nx::pack::{self, Builder, Changes, Clash, Format, PackOptions};
use serde_json::json;

use super::coding::{CodingArgs, presets};
use super::open::{Opened, open};
use super::select::{GLOBS, Select};
use super::write::{self, Target};
use super::write_args::{EditArgs, FormatName, RuleArgs, Rules, cancellable};
use super::{metadata, names};
use crate::ui::error::CliError;
use crate::ui::reporter::Reporter;
use crate::ui::signals::CancelToken;
use crate::ui::summary::RunSummary;
use crate::ui::{exit_code, inputs};

const MERGE_EXAMPLES: &str = "\
Examples:
  linerate nx merge base.nx patch.nx -o all.nx
  linerate nx merge --on-clash last base.nx patch.nx -o all.nx     the patch wins";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{MERGE_EXAMPLES}\n\n{}\n\n{}", presets(), exit_code::HELP))]
pub(crate) struct MergeArgs {
    /// Which file to take if archives have different contents under the same path
    #[arg(long, value_enum, value_name = "RULE", default_value = "refuse")]
    pub(crate) on_clash: OnClash,

    #[command(flatten)]
    pub(crate) edit: EditArgs,

    /// Archives, as an option
    #[arg(long, value_name = "ARCHIVE", num_args = 1.., value_hint = ValueHint::FilePath)]
    pub(crate) sources: Vec<PathBuf>,

    /// Archives to merge; blocks of archives with the chunk size of the new one, by default that of
    /// the first archive, are copied unchanged
    #[arg(value_name = "ARCHIVE", required_unless_present = "sources", value_hint = ValueHint::FilePath)]
    pub(crate) archives: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) coding: CodingArgs,
}

impl MergeArgs {
    /// The archives to merge: first those of `--sources`, then those by position.
    pub(crate) fn all_archives(&self) -> Vec<&Path> {
        self.sources.iter().chain(&self.archives).map(PathBuf::as_path).collect()
    }
}

/// Which of several different files with the same path a merge takes.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum OnClash {
    Refuse,
    First,
    Last,
}

impl OnClash {
    pub(crate) fn clash(self) -> Clash {
        match self {
            OnClash::Refuse => Clash::Refuse,
            OnClash::First => Clash::First,
            OnClash::Last => Clash::Last,
        }
    }
}

const UPDATE_EXAMPLES: &str = "\
Examples:
  linerate nx update mods.nx mods                add what is new or changed in the folder
  linerate nx update --mirror mods.nx mods       also delete what the folder lacks
  linerate nx update mods.nx mods -o new.nx      leave mods.nx unchanged";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{UPDATE_EXAMPLES}\n\n{}\n\n{GLOBS}\n\n{}", presets(), exit_code::HELP))]
pub(crate) struct UpdateArgs {
    /// Delete files that are not in the folder
    #[arg(long)]
    pub(crate) mirror: bool,

    /// Also keep times, modes, links and empty folders, as `pack --metadata` does; the default for
    /// an archive that has them
    #[arg(long)]
    pub(crate) metadata: bool,

    #[command(flatten)]
    pub(crate) rules: RuleArgs,

    #[command(flatten)]
    pub(crate) edit: EditArgs,

    /// The archive to update; unchanged files keep their blocks
    #[arg(value_name = "ARCHIVE", value_hint = ValueHint::FilePath)]
    pub(crate) archive: PathBuf,

    /// The folder with the new content
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,

    #[command(flatten)]
    pub(crate) coding: CodingArgs,
}

const DELETE_EXAMPLES: &str = "\
Examples:
  linerate nx delete mods.nx '*.bak' old
  linerate nx delete --dry-run mods.nx '*.bak'           print the paths that would be deleted
  linerate nx delete --keep-hashes wanted.txt store.nx   delete files whose hash is not listed";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{DELETE_EXAMPLES}\n\n{GLOBS}\n\n{}", exit_code::HELP))]
pub(crate) struct DeleteArgs {
    /// Delete files whose hash is not in FILE. Each line of FILE begins with a hash of 16
    /// hexadecimal digits, as `list --long` prints it. With globs, delete only files that match
    /// them
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) keep_hashes: Option<PathBuf>,

    /// Match globs case-insensitively
    #[arg(short = 'i', long)]
    pub(crate) ignore_case: bool,

    #[command(flatten)]
    pub(crate) edit: EditArgs,

    /// The archive; blocks without deleted files are copied unchanged, others are encoded again
    #[arg(value_name = "ARCHIVE", value_hint = ValueHint::FilePath)]
    pub(crate) archive: PathBuf,

    /// Globs that choose the files to delete
    #[arg(value_name = "GLOB", required_unless_present = "keep_hashes")]
    pub(crate) globs: Vec<String>,
}

const REPACK_EXAMPLES: &str = "\
Examples:
  linerate nx repack --preset archive mods.nx                in place
  linerate nx repack --chunkedlevel 19 mods.nx -o small.nx
  linerate nx repack --filters auto mods.nx                  filter textures
  linerate nx repack --format r3a mods.nx -o mods.r3a        convert, without encoding blocks again";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{REPACK_EXAMPLES}\n\n{}\n\n{}", presets(), exit_code::HELP))]
pub(crate) struct RepackArgs {
    #[command(flatten)]
    pub(crate) edit: EditArgs,

    /// The archive to compress again. Its chunk size is kept unless another one or a preset is
    /// given; filters are removed unless --filters is given. With --format and no packing options,
    /// blocks are copied unchanged
    #[arg(value_name = "ARCHIVE", value_hint = ValueHint::FilePath)]
    pub(crate) archive: PathBuf,

    #[command(flatten)]
    pub(crate) coding: CodingArgs,
}

pub(super) fn run_merge(args: &MergeArgs) -> Result<ExitCode, String> {
    args.coding.options(None, 1)?;
    if args.edit.output.is_none() && !args.edit.dry_run {
        return Err("`merge` needs -o FILE, since it changes none of the archives".into());
    }
    let first = args.all_archives()[0];
    let reporter = Reporter::new(&args.edit.verbosity, false);
    Ok(cancellable(reporter, first, |cancel, reporter| merge(args, cancel, reporter)))
}

pub(super) fn run_update(args: &UpdateArgs) -> Result<ExitCode, String> {
    args.coding.options(None, 1)?;
    let rules = args.rules.rules()?;
    let reporter = Reporter::new(&args.edit.verbosity, false);
    Ok(cancellable(reporter, &args.archive, |cancel, reporter| update(args, &rules, cancel, reporter)))
}

pub(super) fn run_delete(args: &DeleteArgs) -> Result<ExitCode, String> {
    let select = Select::new(&args.globs, &[], args.ignore_case)?;
    let reporter = Reporter::new(&args.edit.verbosity, false);
    Ok(cancellable(reporter, &args.archive, |cancel, reporter| delete(args, &select, cancel, reporter)))
}

pub(super) fn run_repack(args: &RepackArgs) -> Result<ExitCode, String> {
    args.coding.options(None, 1)?;
    let reporter = Reporter::new(&args.edit.verbosity, false);
    Ok(cancellable(reporter, &args.archive, |cancel, reporter| repack(args, cancel, reporter)))
}

fn merge(args: &MergeArgs, cancel: &CancelToken, reporter: &mut Reporter) -> Result<RunSummary, CliError> {
    let paths = args.all_archives();
    let mut summary = RunSummary::new(paths[0], "merge");
    let target = Target::of_edit(&args.edit, paths[0]);
    // Unlike `update`, `delete` and `repack`, which may replace their archive, a merge must not
    // replace any of its archives.
    paths.iter().for_each(|path| inputs::keep(path));
    target.checked()?;
    let _lock = target.lock(args.edit.wait.wait())?;
    let opened: Result<Vec<Arc<Opened>>, CliError> = paths
        .iter()
        .enumerate()
        .map(|(i, path)| match open(path, &args.edit.limits) {
            Err(error) if i > 0 => Err(error.in_file(&path.display().to_string())),
            opened => opened.map(Arc::new),
        })
        .collect();
    let opened = opened?;
    let options =
        options(&args.edit, cancel, args.coding.options(Some(chunk(&opened[0])), args.edit.threads.count()))?;
    args.coding.check_format(format(&args.edit, &opened[0])).map_err(CliError::Refused)?;
    let clash = args.on_clash.clash();
    if clash == Clash::Refuse {
        refuse_clashes(&opened, &paths)?;
    }
    let mut builder = Builder::merge(options, &opened, clash).map_err(write::engine_error)?;
    builder.metadata(metadata::merged(&opened, &paths, clash, reporter));
    summary.set("archives", paths.len());
    let format = format(&args.edit, &opened[0]);
    // The builder now holds the archives alone, and closes them before the output gets its name,
    // since Windows does not replace open files.
    drop(opened);
    write::write(builder, &target, format, reporter, &mut summary)?;
    Ok(summary)
}

/// Fails if the archives have different files under the same path, or a file where another file has
/// a folder. The error names the first such clash with both archives, and the number of clashes.
/// `names` are the paths of the archives.
fn refuse_clashes(opened: &[Arc<Opened>], names: &[&Path]) -> Result<(), CliError> {
    let clashes = Builder::merge_clashes(opened).map_err(write::engine_error)?;
    let Some(clash) = clashes.first() else { return Ok(()) };
    let (one, other) = (names[clash.archive].display(), names[clash.other_archive].display());
    let path = clash.path.escape_debug();
    let what = match clash.path == clash.other_path {
        true => format!("{path}: {one} and {other} have different files under this path"),
        false => {
            format!("{path}: a file in {one}, but a folder of {} in {other}", clash.other_path.escape_debug())
        }
    };
    let remedy = match clash.archive == clash.other_archive {
        true => "`nx delete` removes one of them",
        false => "--on-clash chooses one",
    };
    Err(CliError::Refused(format!("{what} (clashes in all: {}); {remedy}", clashes.len())))
}

fn update(
    args: &UpdateArgs,
    rules: &Rules,
    cancel: &CancelToken,
    reporter: &mut Reporter,
) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(&args.archive, "update");
    let target = Target::of_edit(&args.edit, &args.archive);
    target.checked()?;
    let _lock = target.lock(args.edit.wait.wait())?;
    let archive = Arc::new(open(&args.archive, &args.edit.limits)?);
    let options = args.coding.options_of_update(chunk(&archive), args.edit.threads.count());
    let options = self::options(&args.edit, cancel, options)?;
    args.coding.check_format(format(&args.edit, &archive)).map_err(CliError::Refused)?;
    let carried = metadata::carried(&archive, &args.archive, reporter);
    let own: Vec<&Path> = [Some(&*args.archive), target.path()].into_iter().flatten().collect();
    let prune = |path: &str| rules.prunes(path);
    let walk = rules.walk(&args.folder, &prune).leave_out(&own).metadata(args.metadata || carried.is_some());
    let watch = write::watch(&args.folder, &options.cancel, reporter);
    let found = Builder::update(options, &archive, walk, |path| rules.options(path), args.mirror);
    drop(watch);
    let (mut builder, changes, skipped) = found.map_err(write::engine_error)?;
    builder.metadata(carried.filter(|_| !args.mirror).unwrap_or_default());
    names::warn_of_skipped(&skipped, &args.folder, reporter);
    summary.set("bad_names", skipped.bad_names.len());
    names::note_not_portable(changes.added.iter().map(String::as_str), reporter, &mut summary);
    names::note_clashes(builder.names(), reporter, &mut summary);
    if target.is_dry() {
        list(&changes, args, reporter, &mut summary);
    }
    let format = format(&args.edit, &archive);
    drop(archive);
    write::write(builder, &target, format, reporter, &mut summary)?;
    summary.set("added", changes.added.len());
    summary.set("replaced", changes.replaced.len());
    summary.set("unchanged", changes.unchanged);
    summary.set("removed", changes.removed.len());
    Ok(summary)
}

/// Adds to the summary a line for each path that an update would change, with a sign as `diff`
/// prints it, and a line with their numbers. With `--json`, prints an object for each path instead.
fn list(changes: &Changes, args: &UpdateArgs, reporter: &Reporter, summary: &mut RunSummary) {
    let Changes { added, replaced, removed, unchanged, .. } = changes;
    let all = [('+', "added", added), ('M', "replaced", replaced), ('-', "removed", removed)];
    let mut paths: Vec<(&str, char, &str)> = all
        .iter()
        .flat_map(|(sign, change, paths)| paths.iter().map(|path| (path.as_str(), *sign, *change)))
        .collect();
    paths.sort_unstable();
    for (path, sign, change) in paths {
        summary.lines.push(format!("{sign} {path}"));
        let file = args.archive.display().to_string();
        reporter.record(&json!({ "file": file, "path": path, "change": change }));
    }
    summary.lines.push(format!(
        "{} added, {} replaced, {unchanged} unchanged, {} removed",
        added.len(),
        replaced.len(),
        removed.len()
    ));
}

fn delete(
    args: &DeleteArgs,
    select: &Select,
    cancel: &CancelToken,
    reporter: &mut Reporter,
) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(&args.archive, "delete");
    let target = Target::of_edit(&args.edit, &args.archive);
    target.checked()?;
    let _lock = target.lock(args.edit.wait.wait())?;
    let archive = Arc::new(open(&args.archive, &args.edit.limits)?);
    let mut metadata = metadata::carried(&archive, &args.archive, reporter).unwrap_or_default();
    let others: Vec<String> = metadata.others().map(str::to_owned).collect();
    let others = || others.iter().map(String::as_str);
    if let Some(glob) = select.unmatched(archive.files().map(|file| file.path()).chain(others())) {
        return Err(CliError::Refused(format!("no file matches `{glob}`")));
    }
    let kept = args.keep_hashes.as_deref().map(hashes).transpose()?;
    let is_deleted = |path: &str, hash: Option<u64>| {
        select.takes(path) && kept.as_ref().is_none_or(|kept| hash.is_some_and(|hash| !kept.contains(&hash)))
    };
    let mut deleted: Vec<String> = Vec::new();
    let mut options = options(&args.edit, cancel, Ok(PackOptions::default()))?;
    options.threads = args.edit.threads.count();
    let builder = Builder::from_archive(options, &archive, |file| {
        let is_deleted = is_deleted(file.path(), file.hash());
        if is_deleted {
            deleted.push(file.path().to_owned());
        }
        !is_deleted
    });
    let mut builder = builder.map_err(write::engine_error)?;
    // Folders and links have no hash, so with --keep-hashes all of them stay.
    if kept.is_none() {
        metadata.retain(|path| !select.takes(path));
        let stays = |path: &str| metadata.folders.contains_key(path) || metadata.links.contains_key(path);
        deleted.extend(others().filter(|path| !stays(path)).map(str::to_owned));
    }
    builder.metadata(metadata);
    summary.set("deleted", deleted.len());
    if target.is_dry() {
        deleted.sort_unstable();
        summary.lines = deleted;
    }
    let format = format(&args.edit, &archive);
    drop(archive);
    write::write(builder, &target, format, reporter, &mut summary)?;
    Ok(summary)
}

fn repack(args: &RepackArgs, cancel: &CancelToken, reporter: &mut Reporter) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(&args.archive, "repack");
    let target = Target::of_edit(&args.edit, &args.archive);
    target.checked()?;
    let _lock = target.lock(args.edit.wait.wait())?;
    let archive = Arc::new(open(&args.archive, &args.edit.limits)?);
    let options =
        options(&args.edit, cancel, args.coding.options(Some(chunk(&archive)), args.edit.threads.count()))?;
    args.coding.check_format(format(&args.edit, &archive)).map_err(CliError::Refused)?;
    let converts = args.edit.format.is_some() && !args.coding.is_given();
    let builder = match converts {
        true => Builder::from_archive(options, &archive, |_| true),
        false => Builder::repack(options, &archive),
    };
    let mut builder = builder.map_err(write::engine_error)?;
    builder.metadata(metadata::carried(&archive, &args.archive, reporter).unwrap_or_default());
    let format = format(&args.edit, &archive);
    drop(archive);
    write::write(builder, &target, format, reporter, &mut summary)?;
    Ok(summary)
}

/// The chunk size for a new archive made from `archive`, in bytes.
fn chunk(archive: &Opened) -> u64 {
    // Archives may have larger chunks than the largest that is written.
    archive.header().chunk.bytes().min(linerate_nx::pack::MAX_CHUNK)
}

/// The format of the new archive: the one of `--format`, or else the format of `archive`.
fn format(args: &EditArgs, archive: &Opened) -> Format {
    args.format.map_or_else(|| archive.source().format(), FormatName::format)
}

fn options(
    args: &EditArgs,
    cancel: &CancelToken,
    options: Result<PackOptions, String>,
) -> Result<PackOptions, CliError> {
    let mut options = options.map_err(CliError::Refused)?;
    options.verify_existing = !args.no_verify;
    options.cancel = pack::CancelToken::from_flag(cancel.flag());
    Ok(options)
}

/// Reads a file of hashes. The first word of each line is a hash of 16 hexadecimal digits; blank
/// lines are ignored.
fn hashes(path: &Path) -> Result<HashSet<u64>, CliError> {
    let text = fs::read_to_string(path).map_err(CliError::io_at("cannot read", path))?;
    let mut at = 0;
    let mut found = HashSet::new();
    for line in text.split_inclusive('\n') {
        if let Some(word) = line.split_whitespace().next() {
            // `from_str_radix` alone would accept a sign.
            let is_hash = word.len() == 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
            let hash = u64::from_str_radix(word, 16).ok().filter(|_| is_hash);
            let hash = hash.ok_or_else(|| {
                let what = format!("{}: `{word}` is not a hash of 16 hexadecimal digits", path.display());
                CliError::data(Kind::Corrupt, at, what)
            })?;
            found.insert(hash);
        }
        at += line.len() as u64;
    }
    Ok(found)
}
