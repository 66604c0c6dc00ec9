//! Checks paths that are added to an archive.

use std::collections::{BTreeSet, HashSet};

use linerate_core::Kind;

use super::error::{PackError, PackResult};
use crate::format::paths::{MAX_PATH, check_path};

/// The paths of an archive that is being made, and the folders that contain them.
#[derive(Default)]
pub(super) struct Names {
    files: BTreeSet<String>,
    folders: HashSet<String>,
}

impl Names {
    pub(super) fn contains(&self, name: &str) -> bool {
        self.files.contains(name)
    }

    /// Returns why a file of this path cannot be added, and the path of the file that it clashes
    /// with; `None` if it can be added. Stops at the first folder that does not exist yet: a path
    /// from an archive may have millions of components.
    pub(super) fn clash<'n>(&'n self, name: &'n str) -> Option<(&'static str, &'n str)> {
        if self.files.contains(name) {
            return Some(("the path is there already", name));
        }
        if self.folders.contains(name) {
            let first = self.files.range(format!("{name}/")..).next();
            return Some(("the path is a folder of other files", first.map_or(name, String::as_str)));
        }
        let missing = folders_of(name).find(|folder| !self.folders.contains(*folder))?;
        self.files.contains(missing).then_some(("a folder of the path is a file", missing))
    }

    /// Adds the path of a file, and its folders.
    pub(super) fn insert(&mut self, name: &str) {
        self.files.insert(name.to_owned());
        for folder in folders_of(name).rev() {
            if self.folders.contains(folder) {
                break;
            }
            self.folders.insert(folder.to_owned());
        }
    }
}

/// Returns the folders that contain a path, the outermost first.
pub(super) fn folders_of(name: &str) -> impl DoubleEndedIterator<Item = &str> {
    name.match_indices('/').map(|(at, _)| &name[..at])
}

/// Checks the path of a new file: [`check_path`] must accept it.
///
/// # Errors
/// Returns `BadArgument` if the path is not accepted. The message has the reason.
pub(super) fn check(name: &str) -> PackResult<()> {
    check_path(name).map_err(|what| PackError::rule(Kind::BadArgument, what).at(name))
}

/// Checks the path of a file of an existing archive. Paths that only some systems reject are kept;
/// readers decide whether to extract them.
///
/// # Errors
/// Returns `BadArgument` for paths that are invalid on every system, lead out of the folder, have a
/// backslash, or have more than 4095 bytes.
pub(super) fn check_existing(name: &str) -> PackResult<()> {
    let leads_out = |part: &str| matches!(part, "" | "." | "..");
    match name.len() > MAX_PATH || name.contains(['\0', '\\']) || name.split('/').any(leads_out) {
        true => check(name),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_are_accepted_and_others_rejected() {
        for name in ["a", "a/b.c", ".hidden", "ä/日本", "a b"] {
            check(name).expect(name);
            check_existing(name).expect(name);
        }
        for name in ["", "/a", "a/", "a//b", ".", "a/../b", "..", "a\\b", "a\0"] {
            assert_eq!(check(name).expect_err("refused").kind(), Kind::BadArgument, "{name:?}");
            assert_eq!(check_existing(name).expect_err("refused").kind(), Kind::BadArgument, "{name:?}");
        }
    }

    #[test]
    fn names_that_some_systems_reject_are_accepted_from_archives_only() {
        for name in ["aux.txt", "a:b", "dot.", "space ", "a\u{1}b"] {
            check(name).expect_err("refused");
            check_existing(name).expect(name);
        }
    }
}
