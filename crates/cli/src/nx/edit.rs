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
use crate::account::Account;
use crate::done::Done;
use crate::failure::Failure;
use crate::signals::Stop;

pub(crate) fn merge(args: &MergeArgs, stop: &Stop, account: &mut Account) -> Result<Done, Failure> {
    let paths = args.all_archives();
    let mut done = Done::new(paths[0], "merge");
    let target = Target::of_edit(&args.edit, paths[0]);
    let _lock = target.lock(args.edit.wait.wait())?;
    let opened: Result<Vec<Arc<Opened>>, Failure> = paths
        .iter()
        .enumerate()
        .map(|(i, path)| match open(path, &args.edit.limits) {
            Err(failure) if i > 0 => Err(failure.within(&path.display().to_string())),
            opened => opened.map(Arc::new),
        })
        .collect();
    let opened = opened?;
    let options =
        options(&args.edit, stop, args.coding.options(Some(chunk(&opened[0])), args.edit.threads.threads))?;
    args.coding.check_format(format(&args.edit, &opened[0])).map_err(Failure::Refused)?;
    let clash = args.on_clash.clash();
    let mut builder = Builder::merge(options, &opened, clash).map_err(write::failure)?;
    builder.metadata(metadata::merged(&opened, &paths, clash, account));
    done.set("archives", paths.len());
    let format = format(&args.edit, &opened[0]);
    // Some systems replace no open file.
    drop(opened);
    write::write(builder, &target, format, None, account, &mut done)?;
    Ok(done)
}

pub(crate) fn update(
    args: &UpdateArgs,
    rules: &Rules,
    stop: &Stop,
    account: &mut Account,
) -> Result<Done, Failure> {
    let mut done = Done::new(&args.archive, "update");
    let target = Target::of_edit(&args.edit, &args.archive);
    let _lock = target.lock(args.edit.wait.wait())?;
    let archive = Arc::new(open(&args.archive, &args.edit.limits)?);
    let options =
        options(&args.edit, stop, args.coding.options(Some(chunk(&archive)), args.edit.threads.threads))?;
    args.coding.check_format(format(&args.edit, &archive)).map_err(Failure::Refused)?;
    let prefer = |path: &str| rules.prefer(path);
    let prune = |path: &str| rules.prunes(path);
    let walk = rules.walk(&args.folder, &prune);
    let found = Builder::update(options, &archive, walk, prefer, args.mirror);
    let (mut builder, changes, skipped) = found.map_err(write::failure)?;
    let mut bad_names: BTreeSet<BadName> = skipped.bad_names.into_iter().collect();
    let carried = metadata::carried(&archive, &args.archive, account);
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
        account.warn(&path, "not packed, for it is neither a file nor a folder");
    }
    names::warn_of_bad(&bad_names, &args.folder, account);
    done.set("bad_names", bad_names.len());
    names::note_not_portable(changes.added.iter().map(String::as_str), account, &mut done);
    if target.is_dry() {
        list(&changes, args, account, &mut done);
    }
    let format = format(&args.edit, &archive);
    drop(archive);
    write::write(builder, &target, format, None, account, &mut done)?;
    done.set("added", changes.added.len());
    done.set("replaced", changes.replaced.len());
    done.set("unchanged", changes.unchanged);
    done.set("removed", changes.removed.len());
    Ok(done)
}

/// A line for each path that would change, with the signs of `diff`, and their numbers.
fn list(changes: &Changes, args: &UpdateArgs, account: &Account, done: &mut Done) {
    let Changes { added, replaced, removed, unchanged, .. } = changes;
    let all = [('+', "added", added), ('M', "replaced", replaced), ('-', "removed", removed)];
    let mut paths: Vec<(&str, char, &str)> = all
        .iter()
        .flat_map(|(sign, change, paths)| paths.iter().map(|path| (path.as_str(), *sign, *change)))
        .collect();
    paths.sort_unstable();
    for (path, sign, change) in paths {
        done.lines.push(format!("{sign} {path}"));
        let file = args.archive.display().to_string();
        account.record(&json!({ "file": file, "path": path, "change": change }));
    }
    done.lines.push(format!(
        "{} added, {} replaced, {unchanged} unchanged, {} removed",
        added.len(),
        replaced.len(),
        removed.len()
    ));
}

pub(crate) fn delete(
    args: &DeleteArgs,
    select: &Select,
    stop: &Stop,
    account: &mut Account,
) -> Result<Done, Failure> {
    let mut done = Done::new(&args.archive, "delete");
    let target = Target::of_edit(&args.edit, &args.archive);
    let _lock = target.lock(args.edit.wait.wait())?;
    let archive = Arc::new(open(&args.archive, &args.edit.limits)?);
    let mut metadata = metadata::carried(&archive, &args.archive, account).unwrap_or_default();
    let others: Vec<String> = metadata::others(&metadata).map(str::to_owned).collect();
    let others = || others.iter().map(String::as_str);
    if let Some(glob) = select.unmatched(archive.files().map(|file| file.path()).chain(others())) {
        return Err(Failure::Refused(format!("no file matches `{glob}`")));
    }
    let kept = args.keep_hashes.as_deref().map(hashes).transpose()?;
    let goes = |path: &str, hash: Option<u64>| {
        select.takes(path) && kept.as_ref().is_none_or(|kept| hash.is_some_and(|hash| !kept.contains(&hash)))
    };
    let mut deleted: Vec<String> = Vec::new();
    let mut options = options(&args.edit, stop, Ok(Options::default()))?;
    options.threads = args.edit.threads.threads;
    let builder = Builder::from_archive(options, &archive, |file| {
        let goes = goes(file.path(), file.hash());
        if goes {
            deleted.push(file.path().to_owned());
        }
        !goes
    });
    let mut builder = builder.map_err(write::failure)?;
    // Folders and links have no hash: a list of those to keep says nothing of them.
    if kept.is_none() {
        metadata.retain(|path| !select.takes(path));
        let stays = |path: &str| metadata.folders.contains_key(path) || metadata.links.contains_key(path);
        deleted.extend(others().filter(|path| !stays(path)).map(str::to_owned));
    }
    builder.metadata(metadata);
    done.set("deleted", deleted.len());
    if target.is_dry() {
        deleted.sort_unstable();
        done.lines = deleted;
    }
    let format = format(&args.edit, &archive);
    drop(archive);
    write::write(builder, &target, format, None, account, &mut done)?;
    Ok(done)
}

pub(crate) fn repack(args: &RepackArgs, stop: &Stop, account: &mut Account) -> Result<Done, Failure> {
    let mut done = Done::new(&args.archive, "repack");
    let target = Target::of_edit(&args.edit, &args.archive);
    let _lock = target.lock(args.edit.wait.wait())?;
    let archive = Arc::new(open(&args.archive, &args.edit.limits)?);
    let options =
        options(&args.edit, stop, args.coding.options(Some(chunk(&archive)), args.edit.threads.threads))?;
    args.coding.check_format(format(&args.edit, &archive)).map_err(Failure::Refused)?;
    let converts = args.edit.format.is_some() && !args.coding.says_anything();
    let builder = match converts {
        true => Builder::from_archive(options, &archive, |_| true),
        false => Builder::repack(options, &archive),
    };
    let mut builder = builder.map_err(write::failure)?;
    builder.metadata(metadata::carried(&archive, &args.archive, account).unwrap_or_default());
    let total = archive.files().fold(0u64, |sum, file| sum.saturating_add(file.size()));
    let format = format(&args.edit, &archive);
    drop(archive);
    write::write(builder, &target, format, Some(total), account, &mut done)?;
    Ok(done)
}

fn chunk(archive: &Opened) -> u64 {
    // What is read may be larger than what is written.
    archive.header().chunk.bytes().min(linerate_nx::pack::MAX_CHUNK)
}

/// The one asked for, or else that of the archive.
fn format(args: &EditArgs, archive: &Opened) -> Format {
    args.format.map_or_else(|| archive.source().format(), FormatName::format)
}

fn options(args: &EditArgs, stop: &Stop, options: Result<Options, String>) -> Result<Options, Failure> {
    let mut options = options.map_err(Failure::Refused)?;
    options.verify_existing = !args.no_verify;
    options.cancel = pack::CancelToken::from_flag(stop.flag());
    Ok(options)
}

/// Hashes of 16 hexadecimal digits, one per line; the first word of each line counts.
fn hashes(path: &Path) -> Result<HashSet<u64>, Failure> {
    let text = fs::read_to_string(path).map_err(Failure::doing_to("cannot read", path))?;
    let mut at = 0;
    let mut found = HashSet::new();
    for line in text.split_inclusive('\n') {
        if let Some(word) = line.split_whitespace().next() {
            let hash = u64::from_str_radix(word, 16).ok().filter(|_| word.len() == 16);
            let hash = hash.ok_or_else(|| {
                let what = format!("{}: `{word}` is not a hash of 16 hexadecimal digits", path.display());
                Failure::data(Kind::Corrupt, at, what)
            })?;
            found.insert(hash);
        }
        at += line.len() as u64;
    }
    Ok(found)
}
