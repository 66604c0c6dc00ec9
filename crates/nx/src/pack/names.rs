//! Checks paths that are added to an archive.

use linerate_core::Kind;

use super::error::{PackError, PackResult};
use crate::paths::check_path;

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
