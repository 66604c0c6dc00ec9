//! `linerate nx merge`, `update`, `delete` and `repack`: archives from archives.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use linerate_nx::Kind;
use linerate_nx::pack::{self, BadName, Builder, Changes, Format, Options};
use serde_json::json;

use super::open::{Opened, open};
use super::select::Select;
use super::write::{self, Target};
use super::write_args::{DeleteArgs, EditArgs, FormatName, MergeArgs, RepackArgs, Rules, UpdateArgs};
use super::{metadata, names};
use crate::ui::error::CliError;
use crate::ui::reporter::Reporter;
use crate::ui::signals::CancelToken;
use crate::ui::summary::RunSummary;

pub(crate) fn merge(
    args: &MergeArgs,
    cancel: &CancelToken,
    reporter: &mut Reporter,
) -> Result<RunSummary, CliError> {
    let paths = args.all_archives();
    let mut summary = RunSummary::new(paths[0], "merge");
    let target = Target::of_edit(&args.edit, paths[0]);
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
        options(&args.edit, cancel, args.coding.options(Some(chunk(&opened[0])), args.edit.threads.threads))?;
    args.coding.check_format(format(&args.edit, &opened[0])).map_err(CliError::Refused)?;
    let clash = args.on_clash.clash();
    let mut builder = Builder::merge(options, &opened, clash).map_err(write::engine_error)?;
    builder.metadata(metadata::merged(&opened, &paths, clash, reporter));
    summary.set("archives", paths.len());
    let format = format(&args.edit, &opened[0]);
    // Some systems replace no open file.
    drop(opened);
    write::write(builder, &target, format, None, reporter, &mut summary)?;
    Ok(summary)
}

pub(crate) fn update(
    args: &UpdateArgs,
    rules: &Rules,
    cancel: &CancelToken,
    reporter: &mut Reporter,
) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(&args.archive, "update");
    let target = Target::of_edit(&args.edit, &args.archive);
    let _lock = target.lock(args.edit.wait.wait())?;
    let archive = Arc::new(open(&args.archive, &args.edit.limits)?);
    let options =
        options(&args.edit, cancel, args.coding.options(Some(chunk(&archive)), args.edit.threads.threads))?;
    args.coding.check_format(format(&args.edit, &archive)).map_err(CliError::Refused)?;
    let prefer = |path: &str| rules.prefer(path);
    let prune = |path: &str| rules.prunes(path);
    let walk = rules.walk(&args.folder, &prune);
    let found = Builder::update(options, &archive, walk, prefer, args.mirror);
    let (mut builder, changes, skipped) = found.map_err(write::engine_error)?;
    let mut bad_names: BTreeSet<BadName> = skipped.bad_names.into_iter().collect();
    let carried = metadata::carried(&archive, &args.archive, reporter);
    let keeps = args.metadata || carried.is_some();
    if keeps {
        let mut all = carried.filter(|_| !args.mirror).unwrap_or_default();
        let (of_folder, bad) = metadata::of_folder(&args.folder, rules, None)?;
        all.overlay(of_folder);
        bad_names.extend(bad);
        builder.metadata(all);
    }
    for other in skipped.others.iter().filter(|other| !(keeps && metadata::is_link(other))) {
        let path = other.display().to_string();
        reporter.warn(&path, "not packed, for it is neither a file nor a folder");
    }
    names::warn_of_bad(&bad_names, &args.folder, reporter);
    summary.set("bad_names", bad_names.len());
    names::note_not_portable(changes.added.iter().map(String::as_str), reporter, &mut summary);
    if target.is_dry() {
        list(&changes, args, reporter, &mut summary);
    }
    let format = format(&args.edit, &archive);
    drop(archive);
    write::write(builder, &target, format, None, reporter, &mut summary)?;
    summary.set("added", changes.added.len());
    summary.set("replaced", changes.replaced.len());
    summary.set("unchanged", changes.unchanged);
    summary.set("removed", changes.removed.len());
    Ok(summary)
}

/// A line for each path that would change, with the signs of `diff`, and their numbers.
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

pub(crate) fn delete(
    args: &DeleteArgs,
    select: &Select,
    cancel: &CancelToken,
    reporter: &mut Reporter,
) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(&args.archive, "delete");
    let target = Target::of_edit(&args.edit, &args.archive);
    let _lock = target.lock(args.edit.wait.wait())?;
    let archive = Arc::new(open(&args.archive, &args.edit.limits)?);
    let mut metadata = metadata::carried(&archive, &args.archive, reporter).unwrap_or_default();
    let others: Vec<String> = metadata::others(&metadata).map(str::to_owned).collect();
    let others = || others.iter().map(String::as_str);
    if let Some(glob) = select.unmatched(archive.files().map(|file| file.path()).chain(others())) {
        return Err(CliError::Refused(format!("no file matches `{glob}`")));
    }
    let kept = args.keep_hashes.as_deref().map(hashes).transpose()?;
    let goes = |path: &str, hash: Option<u64>| {
        select.takes(path) && kept.as_ref().is_none_or(|kept| hash.is_some_and(|hash| !kept.contains(&hash)))
    };
    let mut deleted: Vec<String> = Vec::new();
    let mut options = options(&args.edit, cancel, Ok(Options::default()))?;
    options.threads = args.edit.threads.threads;
    let builder = Builder::from_archive(options, &archive, |file| {
        let goes = goes(file.path(), file.hash());
        if goes {
            deleted.push(file.path().to_owned());
        }
        !goes
    });
    let mut builder = builder.map_err(write::engine_error)?;
    // Folders and links have no hash: a list of those to keep says nothing of them.
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
    write::write(builder, &target, format, None, reporter, &mut summary)?;
    Ok(summary)
}

pub(crate) fn repack(
    args: &RepackArgs,
    cancel: &CancelToken,
    reporter: &mut Reporter,
) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(&args.archive, "repack");
    let target = Target::of_edit(&args.edit, &args.archive);
    let _lock = target.lock(args.edit.wait.wait())?;
    let archive = Arc::new(open(&args.archive, &args.edit.limits)?);
    let options =
        options(&args.edit, cancel, args.coding.options(Some(chunk(&archive)), args.edit.threads.threads))?;
    args.coding.check_format(format(&args.edit, &archive)).map_err(CliError::Refused)?;
    let converts = args.edit.format.is_some() && !args.coding.says_anything();
    let builder = match converts {
        true => Builder::from_archive(options, &archive, |_| true),
        false => Builder::repack(options, &archive),
    };
    let mut builder = builder.map_err(write::engine_error)?;
    builder.metadata(metadata::carried(&archive, &args.archive, reporter).unwrap_or_default());
    let total = archive.files().fold(0u64, |sum, file| sum.saturating_add(file.size()));
    let format = format(&args.edit, &archive);
    drop(archive);
    write::write(builder, &target, format, Some(total), reporter, &mut summary)?;
    Ok(summary)
}

fn chunk(archive: &Opened) -> u64 {
    // What is read may be larger than what is written.
    archive.header().chunk.bytes().min(linerate_nx::pack::MAX_CHUNK)
}

/// The one asked for, or else that of the archive.
fn format(args: &EditArgs, archive: &Opened) -> Format {
    args.format.map_or_else(|| archive.source().format(), FormatName::format)
}

fn options(
    args: &EditArgs,
    cancel: &CancelToken,
    options: Result<Options, String>,
) -> Result<Options, CliError> {
    let mut options = options.map_err(CliError::Refused)?;
    options.verify_existing = !args.no_verify;
    options.cancel = pack::CancelToken::from_flag(cancel.flag());
    Ok(options)
}

/// Hashes of 16 hexadecimal digits, one per line; the first word of each line counts.
fn hashes(path: &Path) -> Result<HashSet<u64>, CliError> {
    let text = fs::read_to_string(path).map_err(CliError::io_at("cannot read", path))?;
    let mut at = 0;
    let mut found = HashSet::new();
    for line in text.split_inclusive('\n') {
        if let Some(word) = line.split_whitespace().next() {
            let hash = u64::from_str_radix(word, 16).ok().filter(|_| word.len() == 16);
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
