//! `linerate nx diff`: which files of one archive differ from those of another, by their hashes.

use std::collections::HashMap;

use linerate_nx::{File, HashKind};
use serde_json::json;

use super::args::DiffArgs;
use super::open::{Opened, damage, open};
use crate::account::Account;
use crate::done::Done;
use crate::failure::Failure;

/// What is different about one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Removed,
    Added,
    Changed,
}

impl Change {
    fn sign(self) -> char {
        match self {
            Change::Removed => '-',
            Change::Added => '+',
            Change::Changed => 'M',
        }
    }

    fn name(self) -> &'static str {
        match self {
            Change::Removed => "removed",
            Change::Added => "added",
            Change::Changed => "changed",
        }
    }
}

/// The number of differences, and what was done.
pub(crate) fn process(args: &DiffArgs, account: &Account) -> Result<(Done, usize), Failure> {
    let mut done = Done::new(&args.old, "diff");
    let old = open(&args.old, &args.limits)?;
    let in_new = |failure: Failure| failure.within(&args.new.display().to_string());
    let new = open(&args.new, &args.limits).map_err(in_new)?;
    let changes = changes(&old, &new)?;
    let mut counts = [0u64; 3];
    for (change, path) in &changes {
        counts[*change as usize] += 1;
        done.lines.push(format!("{} {path}", change.sign()));
        account.record(&json!({
            "old": args.old.display().to_string(),
            "new": args.new.display().to_string(),
            "path": path,
            "change": change.name(),
        }));
    }
    let fetched = bytes_to_fetch(&old, &new);
    let [removed, added, changed] = counts;
    done.words = Some(format!(
        "{removed} removed, {added} added, {changed} changed; {fetched} bytes of blocks are new"
    ));
    done.set("new", args.new.display().to_string());
    done.set("removed", removed);
    done.set("added", added);
    done.set("changed", changed);
    done.set("bytes_to_fetch", fetched);
    Ok((done, changes.len()))
}

fn changes<'a>(old: &'a Opened, new: &'a Opened) -> Result<Vec<(Change, &'a str)>, Failure> {
    let mut found = Vec::new();
    for file in old.files() {
        match new.find(file.path()) {
            None => found.push((Change::Removed, file.path())),
            Some(other) if is_same(old, file, new, other)? => {}
            Some(_) => found.push((Change::Changed, file.path())),
        }
    }
    let added = new.files().filter(|file| old.find(file.path()).is_none());
    found.extend(added.map(|file| (Change::Added, file.path())));
    found.sort_by(|a, b| a.1.cmp(b.1));
    Ok(found)
}

/// By size and hash. Where the archives hash differently, the old content is hashed as the new.
fn is_same(old: &Opened, a: File<'_>, new: &Opened, b: File<'_>) -> Result<bool, Failure> {
    if a.size() != b.size() {
        return Ok(false);
    }
    let kind = new.hash_kind();
    if old.hash_kind() == kind {
        return Ok(a.hash() == b.hash());
    }
    let hash = hash_as(old, a, kind).map_err(|failure| failure.within(a.path()))?;
    Ok(hash == b.hash())
}

fn hash_as(archive: &Opened, file: File<'_>, kind: HashKind) -> Result<u64, Failure> {
    struct Hashing(linerate_nx::ContentHasher);
    impl std::io::Write for Hashing {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.update(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut hashing = Hashing(kind.hasher());
    let mut reader = archive.reader().map_err(damage)?;
    let written = reader.write_to(file, &mut hashing);
    written.map_err(|e| super::open::damage_or_output(e, Failure::doing("cannot hash")))?;
    Ok(hashing.0.finish())
}

/// Bytes of the blocks of `new` that hold content of which `old` has no file: what somebody who has
/// `old` would have to fetch.
fn bytes_to_fetch(old: &Opened, new: &Opened) -> u64 {
    let same_hash = old.hash_kind() == new.hash_kind();
    let known: HashMap<u64, u64> =
        old.toc().entries.iter().filter(|_| same_hash).map(|entry| (entry.hash, entry.size)).collect();
    // Where runs of wanted blocks begin and end, so that overlapping runs cost no more than others.
    let mut runs = vec![0i64; new.layout().len() + 1];
    for file in new.files().filter(|file| known.get(&file.hash()) != Some(&file.size())) {
        runs[file.blocks().start] += 1;
        runs[file.blocks().end] -= 1;
    }
    let wanted = runs.iter().scan(0, |open, change| {
        *open += change;
        Some(*open > 0)
    });
    let blocks = new.toc().blocks.iter().zip(wanted).filter(|(_, wanted)| *wanted);
    blocks.map(|(block, _)| u64::from(block.compressed)).sum()
}
