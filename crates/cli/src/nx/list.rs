//! `linerate nx list`: the entries of an archive, from its header alone.

use std::path::Path;

use linerate_nx::{Codec, File};
use serde_json::{Value, json};

use super::args::ListArgs;
use super::open::{Opened, blocks, open};
use super::select::Select;
use super::tree;
use crate::account::Account;
use crate::done::Done;
use crate::failure::Failure;
use crate::lines::Lines;

pub(crate) fn process(
    args: &ListArgs,
    path: &Path,
    select: &Select,
    account: &Account,
) -> Result<Done, Failure> {
    let mut done = Done::new(path, "list");
    let archive = open(path, &args.limits)?;
    let mut files: Vec<File<'_>> = archive.files().filter(|file| select.takes(file.path())).collect();
    if let Some(glob) = select.unmatched(archive.files().map(|file| file.path())) {
        return Err(Failure::Refused(format!("no file matches `{glob}`")));
    }
    files.sort_by(|a, b| tree::order(a.path(), b.path()));
    let codecs = Codecs::of_archive(&archive);
    let mut lines = Lines::new()?;
    if account.is_json() {
        let name = path.display().to_string();
        files.iter().try_for_each(|file| lines.put(record(&name, &codecs, file)))?;
    } else if args.tree {
        let entries: Vec<(&str, u64)> = files.iter().map(|file| (file.path(), file.size())).collect();
        tree::draw(&entries, &mut lines)?;
    } else if args.long {
        long(&codecs, &files, &mut lines)?;
    } else {
        files.iter().try_for_each(|file| lines.put(file.path()))?;
    }
    lines.end()?;
    done.silent = true;
    Ok(done)
}

fn long(codecs: &Codecs, files: &[File<'_>], lines: &mut Lines) -> Result<(), Failure> {
    lines.put(format_args!(
        "{:>15} {:>10} {:>6} {:>9} {:<9} {:<16} path",
        "size", "block", "blocks", "offset", "codec", "hash"
    ))?;
    files.iter().try_for_each(|file| {
        let blocks = file.blocks();
        lines.put(format_args!(
            "{:>15} {:>10} {:>6} {:>9} {:<9} {:016x} {}",
            file.size(),
            blocks.start,
            blocks.len(),
            file.entry().block_offset,
            codecs.of(file).join("+"),
            file.hash(),
            file.path()
        ))
    })
}

fn record(name: &str, codecs: &Codecs, file: &File<'_>) -> Value {
    let blocks = file.blocks();
    json!({
        "file": name,
        "path": file.path(),
        "size": file.size(),
        "hash": format!("{:016x}", file.hash()),
        "block": blocks.start,
        "blocks": blocks.len(),
        "offset": file.entry().block_offset,
        "codecs": codecs.of(file),
    })
}

/// How many blocks of each codec come before each block, so that a file of any number of blocks is
/// looked up at once.
struct Codecs([Vec<u32>; 3]);

impl Codecs {
    fn of_archive(archive: &Opened) -> Codecs {
        let blocks = blocks(archive);
        Codecs(Codec::ALL.map(|codec| {
            let mut before = vec![0];
            before.extend(blocks.iter().scan(0, |count, (of, len)| {
                *count += u32::from(*of == Some(codec) && *len > 0);
                Some(*count)
            }));
            before
        }))
    }

    /// The names of the codecs of a file's blocks, each once. A block of size 0 has none.
    fn of(&self, file: &File<'_>) -> Vec<&'static str> {
        let blocks = file.blocks();
        let has = |before: &[u32]| before[blocks.start] < before[blocks.end];
        let found = Codec::ALL.iter().zip(&self.0).filter(|(_, before)| has(before));
        found.map(|(codec, _)| codec.name()).collect()
    }
}
