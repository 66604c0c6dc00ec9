//! What is taken from existing archives is decoded and compared with its hashes, by many threads.

use std::sync::Arc;

use super::content::{Content, Item};
use super::error::PackResult;
use super::existing::{Existing, Old};
use super::options::Options;

/// Entries of one archive whose blocks follow each other.
struct Batch {
    archive: Arc<dyn Old>,
    /// Items and their entries.
    files: Vec<(usize, usize)>,
}

/// Bytes of a batch, so that threads end at about the same time.
const BATCH: u64 = 4 << 20;

/// Sets the hash of every item of an existing archive that must be known before the plan.
///
/// Entries that are coded anew are compared with their hash then, so only what is carried is
/// verified here, and what has another kind of hash.
pub(super) fn existing(items: &mut [Item], options: &Options) -> PackResult<()> {
    let batches = batches(items, options);
    let hashes = options.thread_pool().map(
        batches.len(),
        || (),
        |(), i| {
            let entries: Vec<usize> = batches[i].files.iter().map(|file| file.1).collect();
            batches[i].archive.verify(&entries)
        },
    )?;
    for (batch, hashes) in batches.iter().zip(hashes) {
        for (&(item, _), hash) in batch.files.iter().zip(hashes) {
            if let Content::Existing(existing) = &mut items[item].content {
                existing.hash = Some(hash);
            }
        }
    }
    Ok(())
}

fn batches(items: &mut [Item], options: &Options) -> Vec<Batch> {
    let mut wanted = Vec::new();
    for (i, item) in items.iter_mut().enumerate() {
        let Content::Existing(existing) = &mut item.content else { continue };
        existing.hash = existing.archive.stored_hash(existing.entry);
        let is_coded = !existing.carried && item.size > 0;
        let is_trusted = is_coded || !options.verify_existing;
        if existing.hash.is_none() || !is_trusted {
            wanted.push(i);
        }
    }
    let existing = |i: usize| match &items[i].content {
        Content::Existing(existing) => existing,
        _ => unreachable!("only such items are wanted"),
    };
    wanted
        .sort_by_key(|&i| (existing(i).number, existing(i).archive.place(existing(i).entry), items[i].size));
    let mut batches: Vec<Batch> = Vec::new();
    let (mut bytes, mut last) = (0, None);
    for i in wanted {
        let Existing { archive, number, entry, .. } = existing(i);
        let block = archive.place(*entry).0;
        let fits = match last {
            Some((number_before, block_before)) if number_before == number => {
                block == block_before || bytes < BATCH
            }
            _ => false,
        };
        match batches.last_mut().filter(|_| fits) {
            Some(batch) => batch.files.push((i, *entry)),
            None => {
                batches.push(Batch { archive: Arc::clone(archive), files: vec![(i, *entry)] });
                bytes = 0;
            }
        }
        bytes = items[i].size.saturating_add(bytes);
        last = Some((number, block));
    }
    batches
}
