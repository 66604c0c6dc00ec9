//! Rewrites packs without removed dictionaries.

use std::path::Path;

use linerate_core::Result;
use linerate_io::Lock;

use super::editor::{Editor, IN_USE, PackOptions, lock};
use super::index::Entry;
use super::open::Pack;

/// Result of compacting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compacted {
    /// Number of dictionaries kept.
    pub kept: usize,
    /// Number of dictionaries dropped.
    pub dropped: usize,
    /// Bytes of the file before.
    pub before: u64,
    /// Bytes of the file after.
    pub after: u64,
}

/// Rewrites a pack with the dictionaries for which `keep` returns true, under their IDs. Each is
/// compressed with the first remaining dictionary of its cluster, as [`Editor::add`] does. The file
/// is replaced atomically, and readers of the old file are not affected.
///
/// # Errors
/// Returns [`Kind::BadArgument`](crate::Kind::BadArgument) if `keep` rejects a dictionary that has
/// users or the level is invalid, and the errors of [`Editor::open`], [`Editor::commit`] and
/// [`Pack::read`], because damaged dictionaries are not dropped. After an error the pack is
/// unchanged.
pub fn compact(
    path: impl AsRef<Path>,
    options: PackOptions,
    keep: impl FnMut(&Entry) -> bool,
) -> Result<Compacted> {
    let lock = lock(path.as_ref())?;
    compact_locked(path, lock, options, keep)
}

/// Compacts a pack like [`compact`], with a lock of the pack that the caller already holds.
///
/// # Errors
/// Returns the errors of [`compact`].
pub fn compact_locked(
    path: impl AsRef<Path>,
    lock: Lock,
    options: PackOptions,
    keep: impl FnMut(&Entry) -> bool,
) -> Result<Compacted> {
    let (editor, compacted) = prepare(path.as_ref(), options, keep)?;
    let after = editor.replace()?;
    // The lock is held until the new file has its name.
    drop(lock);
    Ok(Compacted { after, ..compacted })
}

/// Does everything before the commit. The caller holds the lock.
pub(super) fn prepare(
    path: &Path,
    options: PackOptions,
    mut keep: impl FnMut(&Entry) -> bool,
) -> Result<(Editor, Compacted)> {
    let pack = Pack::open(path)?;
    let mut kept = Vec::new();
    let mut dropped = 0;
    for (i, entry) in pack.open.rows() {
        if keep(&entry) {
            kept.push((i, entry));
        } else if entry.users > 0 {
            return Err(IN_USE);
        } else {
            dropped += 1;
        }
    }
    let mut editor = Editor::replacing(path, options, &pack)?;
    for (i, entry) in &kept {
        let users = pack.open.index.users_of(*i).collect();
        editor.append(entry.id, &pack.open.read(*i)?, entry.cluster, users)?;
    }
    Ok((editor, Compacted { kept: kept.len(), dropped, before: pack.stats().len, after: 0 }))
}
