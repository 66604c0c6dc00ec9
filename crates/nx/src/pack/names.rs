//! Paths that an archive may hold.

use linerate_core::Kind;

use super::error::{PackError, PackResult};
use crate::paths::check_path;

/// Whether a new file may have that path: what no reader would extract is refused.
///
/// # Errors
/// `BadArgument` that says what is wrong with the path.
pub(super) fn check(name: &str) -> PackResult<()> {
    check_path(name).map_err(|what| PackError::rule(Kind::BadArgument, what).at(name))
}

/// Whether a file of an existing archive may keep its path. Ones that only some systems refuse are
/// left as they are: the archive exists, and readers decide.
///
/// # Errors
/// `BadArgument` for paths that are no file's anywhere, or lead out of a folder.
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
    fn only_relative_paths_pass() {
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
    fn names_that_some_systems_refuse_may_stay_but_not_begin() {
        for name in ["aux.txt", "a:b", "dot.", "space ", "a\u{1}b"] {
            check(name).expect_err("refused");
            check_existing(name).expect(name);
        }
    }
}
