//! Packs rewritten without what is no longer there.

use std::path::Path;

use linerate_core::Result;
use linerate_io::Lock;

use super::editor::{Editor, IN_USE, Options, lock};
use super::index::Entry;
use super::open::Pack;
use crate::input::Input;
use crate::output::write_error;

/// What compacting did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compacted {
    /// Dictionaries that stayed.
    pub kept: usize,
    /// Dictionaries that went.
    pub dropped: usize,
    /// Bytes of the file before.
    pub before: u64,
    /// Bytes of the file now.
    pub after: u64,
}

/// Writes a pack anew, with the dictionaries that `keep` says and their numbers, each compressed with
/// the first of its cluster that is left, and puts it in place of the old one. Whatever happens
/// meanwhile, one of both is there. Who reads the old one reads on.
///
/// # Errors
/// [`Kind::BadArgument`](crate::Kind::BadArgument) if a dictionary that has users is not to be kept;
/// those of [`Editor::open`] and [`Pack::read`]: damaged dictionaries are not left out. Then the pack
/// is as it was.
pub fn compact(
    path: impl AsRef<Path>,
    options: Options,
    keep: impl FnMut(&Entry) -> bool,
) -> Result<Compacted> {
    let lock = lock(path.as_ref())?;
    compact_locked(path, lock, options, keep)
}

/// As [`compact`], by who holds the lock of the pack already.
///
/// # Errors
/// As [`compact`].
pub fn compact_locked(
    path: impl AsRef<Path>,
    lock: Lock,
    options: Options,
    keep: impl FnMut(&Entry) -> bool,
) -> Result<Compacted> {
    let (editor, compacted) = prepare(path.as_ref(), options, keep)?;
    editor.replace()?;
    // Held until the new file has the name.
    drop(lock);
    let after = std::fs::metadata(path).map_err(|e| write_error(&e))?.len();
    Ok(Compacted { after, ..compacted })
}

/// Everything up to the commit, by who holds the lock.
pub(super) fn prepare(
    path: &Path,
    options: Options,
    mut keep: impl FnMut(&Entry) -> bool,
) -> Result<(Editor, Compacted)> {
    let pack = Pack::open_input(Input::map(path)?)?;
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
        editor.place(entry.id, &pack.open.read(*i)?, entry.cluster, users)?;
    }
    Ok((editor, Compacted { kept: kept.len(), dropped, before: pack.stats().len, after: 0 }))
}
