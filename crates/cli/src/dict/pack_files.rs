//! `linerate dict pack`: packs made, changed, listed and extracted.

use std::fs;
use std::path::{Path, PathBuf};

use linerate_dict::pack::{Editor, Form, Options, user};
use serde_json::{Value, json};

use super::blockfile::{open_pack, openable};
use super::pack::{AddArgs, AppendArgs, CompactArgs, ExtractArgs, ListArgs, MakeArgs, UseArgs};
use super::samples::files_of;
use super::watch::Watch;
use crate::account::Account;
use crate::done::Done;
use crate::failure::Failure;
use crate::figures::failure;
use crate::lines::Lines;
use crate::signals::Stop;
use crate::target;

pub(super) fn make(args: &MakeArgs, account: &mut Account) -> Result<Done, Failure> {
    let done = Done::new(&args.target, "make");
    if args.target.exists() {
        return Err(Failure::Refused("the pack exists already; `append` adds to it".into()));
    }
    let options = Options::new().with_uncompressed(args.uncompressed).with_level(args.level);
    stoppable(|stop| {
        let editor = Editor::create(&args.target, options).map_err(failure)?;
        add(&args.add, editor, &args.target, stop, account, done)
    })
}

pub(super) fn append(args: &AppendArgs, account: &mut Account) -> Result<Done, Failure> {
    let done = Done::new(&args.pack, "append");
    openable(&args.pack)?;
    stoppable(|stop| {
        let lock = args.wait.lock(&args.pack)?;
        let editor = Editor::open_locked(&args.pack, lock).map_err(failure)?;
        add(&args.add, editor, &args.pack, stop, account, done)
    })
}

/// Ends by a signal once what was begun has been removed.
fn stoppable(work: impl FnOnce(&Stop) -> Result<Done, Failure>) -> Result<Done, Failure> {
    let stop = Stop::on_signal();
    let outcome = work(&stop);
    stop.die_if_asked();
    outcome
}

fn add(
    args: &AddArgs,
    mut editor: Editor,
    pack: &Path,
    stop: &Stop,
    account: &Account,
    mut done: Done,
) -> Result<Done, Failure> {
    let files = dictionaries_of(args)?;
    let total = files.iter().map(|file| fs::metadata(file).ok().map(|meta| meta.len())).sum();
    let watch = Watch::new(account, "packing", total);
    let mut added = Vec::new();
    for file in &files {
        if stop.is_asked() {
            return Err(Failure::Refused("interrupted".into()));
        }
        let number = add_one(args, file, &mut editor, &watch);
        added.push((file, number.map_err(|e| e.within(&file.display().to_string()))?));
    }
    editor.commit().map_err(failure)?;
    drop(watch);
    let stats = open_pack(pack)?.stats();
    for (file, number) in &added {
        done.lines.push(format!("{number:>10} {}", file.display()));
    }
    let listed: Vec<Value> = added
        .iter()
        .map(|(file, number)| json!({ "file": file.display().to_string(), "number": number }))
        .collect();
    done.words = Some(format!(
        "{} dictionaries in the pack, {} bytes -> {} bytes",
        stats.dictionaries, stats.bytes, stats.len
    ));
    done.set("added", listed);
    done.set("dictionaries", stats.dictionaries);
    done.set("dictionary_bytes", stats.bytes);
    done.set("bytes", stats.len);
    Ok(done)
}

/// The operands, and the files of folders whose names say that they are dictionaries.
fn dictionaries_of(args: &AddArgs) -> Result<Vec<PathBuf>, Failure> {
    let files = files_of(&args.files)?;
    let is_dictionary = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "dict");
    Ok(files.into_iter().filter(|file| args.files.contains(file) || is_dictionary(file)).collect())
}

fn add_one(args: &AddArgs, file: &Path, editor: &mut Editor, watch: &Watch) -> Result<u64, Failure> {
    let bytes = fs::read(file).map_err(Failure::doing("cannot open"))?;
    let number = editor.add(&bytes, args.cluster).map_err(failure)?;
    for name in &args.used_by {
        editor.retain(number, user(name)).map_err(failure)?;
    }
    watch.add(bytes.len());
    Ok(number)
}

pub(super) fn list(args: &ListArgs) -> Result<Done, Failure> {
    let mut done = Done::new(&args.pack, "list");
    let pack = open_pack(&args.pack)?;
    let mut lines = Lines::new()?;
    if !args.json {
        lines.put(format_args!(
            "{:>10} {:>10} {:>10} {:>10} {:>10} {:>8} {:>6} {:<16}",
            "number", "bytes", "stored", "with", "id", "cluster", "users", "hash"
        ))?;
    }
    for entry in pack.entries() {
        let base = if let Form::With(base) = entry.form { Some(base) } else { None };
        if args.json {
            lines.put(json!({
                "number": entry.id,
                "bytes": entry.len,
                "stored": entry.stored,
                "with": base,
                "id": entry.number,
                "cluster": entry.cluster,
                "users": entry.users,
                "hash": format!("{:016x}", entry.hash),
            }))?;
            continue;
        }
        let base = match (entry.form, base) {
            (_, Some(base)) => base.to_string(),
            (Form::Plain, _) => "plain".into(),
            _ => "-".into(),
        };
        lines.put(format_args!(
            "{:>10} {:>10} {:>10} {base:>10} {:>10} {:>8} {:>6} {:016x}",
            entry.id, entry.len, entry.stored, entry.number, entry.cluster, entry.users, entry.hash
        ))?;
    }
    lines.end()?;
    done.silent = true;
    Ok(done)
}

pub(super) fn compact(args: &CompactArgs) -> Result<Done, Failure> {
    let mut done = Done::new(&args.pack, "compact");
    openable(&args.pack)?;
    let lock = args.wait.lock(&args.pack)?;
    let pack = open_pack(&args.pack)?;
    if let Some(number) = args.drop.iter().find(|&&number| pack.entry(number).is_none()) {
        return Err(Failure::Refused(format!("the pack has no dictionary of the number {number}")));
    }
    // As it is, unless something else is wanted.
    let uncompressed = args.uncompressed || pack.stats().uncompressed;
    let options = Options::new().with_uncompressed(uncompressed).with_level(args.level);
    drop(pack);
    // A signal ends the program when it is done, so that nothing half-made is left.
    let stop = Stop::on_signal();
    let compacted = linerate_dict::pack::compact_locked(&args.pack, lock, options, |entry| {
        !args.drop.contains(&entry.id) && (entry.users > 0 || !args.drop_unused)
    });
    stop.die_if_asked();
    let compacted = compacted.map_err(failure)?;
    done.words = Some(format!(
        "{} dictionaries kept, {} dropped, {} -> {} bytes",
        compacted.kept, compacted.dropped, compacted.before, compacted.after
    ));
    done.set("kept", compacted.kept);
    done.set("dropped", compacted.dropped);
    done.set("before", compacted.before);
    done.set("after", compacted.after);
    Ok(done)
}

pub(super) fn extract(args: &ExtractArgs) -> Result<Done, Failure> {
    let mut done = Done::new(&args.pack, "extract");
    let pack = open_pack(&args.pack)?;
    let numbers = match args.numbers.as_slice() {
        [] => pack.entries().map(|entry| entry.id).collect(),
        numbers => numbers.to_vec(),
    };
    fs::create_dir_all(&args.target).map_err(Failure::doing_to("cannot create", &args.target))?;
    for &number in &numbers {
        if pack.entry(number).is_none() {
            return Err(Failure::Refused(format!("the pack has no dictionary of the number {number}")));
        }
        let bytes = pack.read(number).map_err(failure)?;
        target::write(&args.target.join(format!("{number}.dict")), args.force, &bytes)?;
        done.bytes += bytes.len() as u64;
    }
    done.words = Some(format!("{} dictionaries, {} bytes", numbers.len(), done.bytes));
    done.output = Some(args.target.clone());
    done.set("dictionaries", numbers.len());
    Ok(done)
}

/// Notes who uses a dictionary, or no more.
pub(super) fn note(args: &UseArgs, uses: bool) -> Result<Done, Failure> {
    let mut done = Done::new(&args.pack, if uses { "retain" } else { "release" });
    openable(&args.pack)?;
    let lock = args.wait.lock(&args.pack)?;
    let mut editor = Editor::open_locked(&args.pack, lock).map_err(failure)?;
    let mut changed = 0;
    for name in &args.names {
        let noted = match uses {
            true => editor.retain(args.number, user(name)),
            false => editor.release(args.number, user(name)),
        };
        changed += usize::from(noted.map_err(failure)?);
    }
    editor.commit().map_err(failure)?;
    done.words = Some(format!("{changed} of {} names are new or gone", args.names.len()));
    done.set("changed", changed);
    Ok(done)
}
