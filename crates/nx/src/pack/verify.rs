//! Verifies entries of existing archives against their hashes, in parallel.

use std::sync::Arc;

use super::content::{Content, Item};
use super::error::PackResult;
use super::existing::{ExistingEntry, SourceArchive};
use super::options::PackOptions;
use super::progress::Stage;

/// Entries of one archive, in the order of blocks.
struct Batch {
    archive: Arc<dyn SourceArchive>,
    /// The index of each item and of its entry.
    files: Vec<(usize, usize)>,
}

/// Bytes of content at which a batch ends, except that files in one block stay together. They are
/// few enough that threads end at about the same time.
const BATCH: u64 = 4 << 20;

/// Sets the hash of every item from an existing archive, and verifies the items that need it.
///
/// Only reused and empty entries, if [`PackOptions::verify_existing`] is on, and entries without an
/// XXH3-64 are verified here, unless [`ExistingEntry::is_verified`] is set. Entries that are
/// encoded again are compared with their hash at that point.
pub(super) fn existing(items: &mut [Item], options: &PackOptions) -> PackResult<()> {
    let batches = batches(items, options);
    options.cancel.begin(Stage::Comparing);
    let hashes = options.workers().map(
        batches.len(),
        || (),
        |(), i| {
            let entries: Vec<usize> = batches[i].files.iter().map(|file| file.1).collect();
            batches[i].archive.verify(&entries, &options.cancel)
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

fn batches(items: &mut [Item], options: &PackOptions) -> Vec<Batch> {
    let mut wanted = Vec::new();
    for (i, item) in items.iter_mut().enumerate() {
        let Content::Existing(existing) = &mut item.content else { continue };
        if existing.is_verified {
            continue;
        }
        existing.hash = existing.archive.stored_hash(existing.entry);
        let is_recoded = !existing.reused && item.size > 0;
        let is_trusted = is_recoded || !options.verify_existing;
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
        let ExistingEntry { archive, number, entry, .. } = existing(i);
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
