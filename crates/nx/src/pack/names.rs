//! Paths that an archive may hold.

use linerate_core::Kind;

use super::error::{PackError, PackResult};

/// Whether that path can be packed: relative, its components separated by `/`.
///
/// # Errors
/// `BadArgument` that says what is wrong with the path.
pub(super) fn check(name: &str) -> PackResult<()> {
    let what = match name {
        "" => "the path is empty",
        _ if name.contains('\0') => "the path has a NUL in it",
        _ if name.contains('\\') => "the path has a backslash in it: components are separated by /",
        _ if name.starts_with('/') => "the path is absolute",
        _ if name.split('/').any(str::is_empty) => "the path has an empty component",
        _ if name.split('/').any(|part| part == "." || part == "..") => "the path has . or .. as a component",
        _ => return Ok(()),
    };
    Err(PackError::rule(Kind::BadArgument, what).at(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_relative_paths_pass() {
        for name in ["a", "a/b.c", ".hidden", "...", "ä/日本", "a b"] {
            check(name).expect(name);
        }
        for name in ["", "/a", "a/", "a//b", ".", "a/../b", "..", "a\\b", "a\0"] {
            assert_eq!(check(name).expect_err("refused").kind(), Kind::BadArgument, "{name:?}");
        }
    }
}
