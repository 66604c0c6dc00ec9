//! Checks paths that are added to an archive.

use std::collections::HashSet;

use linerate_core::Kind;

use super::error::{PackError, PackResult};
use crate::paths::check_path;

/// The paths of an archive that is being made, and the folders that they are in.
#[derive(Default)]
pub(super) struct Names {
    files: HashSet<String>,
    folders: HashSet<String>,
}

impl Names {
    pub(super) fn contains(&self, name: &str) -> bool {
        self.files.contains(name)
    }

    /// Why there cannot be a file of this path beside those that are there.
    pub(super) fn clash(&self, name: &str) -> Option<&'static str> {
        if self.files.contains(name) {
            return Some("the path is there already");
        }
        if self.folders.contains(name) {
            return Some("the path is a folder of other files");
        }
        let above = folders_of(name).take_while(|folder| !self.folders.contains(*folder));
        let mut files = above.filter(|folder| self.files.contains(*folder));
        files.next().map(|_| "a folder of the path is a file")
    }

    pub(super) fn insert(&mut self, name: &str) {
        self.files.insert(name.to_owned());
        for folder in folders_of(name) {
            if self.folders.contains(folder) {
                break;
            }
            self.folders.insert(folder.to_owned());
        }
    }
}

/// The folders that a path is in, the innermost first.
fn folders_of(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(name.rsplit_once('/'), |(folder, _)| folder.rsplit_once('/'))
        .map(|(folder, _)| folder)
}

/// Checks the path of a new file: [`check_path`] must accept it.
///
/// # Errors
/// `BadArgument`, with the reason.
pub(super) fn check(name: &str) -> PackResult<()> {
    check_path(name).map_err(|what| PackError::rule(Kind::BadArgument, what).at(name))
}

/// Checks the path of a file of an existing archive. Paths that only some systems reject are kept: the
/// reader decides.
///
/// # Errors
/// `BadArgument` for paths that are invalid on every system, or lead out of the folder.
pub(super) fn check_existing(name: &str) -> PackResult<()> {
    let leads_out = |part: &str| matches!(part, "" | "." | "..");
    match name.contains(['\0', '\\']) || name.split('/').any(leads_out) {
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
