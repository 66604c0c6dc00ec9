//! Checks that a link target stays inside the extraction folder, whatever other links exist there.

use crate::format::paths::check_path;

/// Checks that a link at `path` with this `target` stays inside the folder that `path` is relative
/// to.
///
/// `..` is allowed only at the front, where it leads out of folders that are known not to be links.
/// After a name, it could lead out of the target of another link with that name.
///
/// # Errors
///
/// Returns a message if the target is empty or absolute, has too many `..` or `..` after a name, or
/// has names that [`check_path`] rejects.
///
/// ```
/// use linerate_nx::metadata::check_target;
/// assert!(check_target("lib/libx.so", "libx.so.1").is_ok());
/// assert!(check_target("lib/x/readme", "../../readme.txt").is_ok());
/// assert!(check_target("lib/readme", "../../readme.txt").is_err());
/// assert!(check_target("passwd", "/etc/passwd").is_err());
/// ```
pub fn check_target(path: &str, target: &str) -> Result<(), &'static str> {
    if target.is_empty() {
        return Err("a link that leads nowhere");
    }
    if target.starts_with('/') {
        return Err("a link to an absolute path");
    }
    let parts: Vec<&str> = target.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let climbed = parts.iter().take_while(|part| **part == "..").count();
    if climbed > path.matches('/').count() {
        return Err("a link that leads out of the folder");
    }
    if parts[climbed..].contains(&"..") {
        return Err("a link with `..` after a name, which may lead out of the folder");
    }
    match parts[climbed..].is_empty() {
        true => Ok(()),
        false => check_path(&parts[climbed..].join("/"))
            .map_err(|_| "a link to a name that is not valid on every system"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_inside_the_folder_are_accepted() {
        for (path, target) in [
            ("l", "a"),
            ("l", "a/b"),
            ("l", "."),
            ("l", "./a"),
            ("l", "a/"),
            ("l", "a//b"),
            ("d/l", ".."),
            ("d/l", "../a"),
            ("d/e/l", "../../a/b"),
            ("d/e/l", "./.././a"),
            ("d/l", "../d/l"),
        ] {
            assert_eq!(check_target(path, target), Ok(()), "{path} -> {target}");
        }
    }

    #[test]
    fn links_that_may_lead_out_are_rejected() {
        for (path, target) in [
            ("l", ""),
            ("l", "/"),
            ("l", "/etc/passwd"),
            ("l", "//server/share"),
            ("l", ".."),
            ("l", "../a"),
            ("l", "./../a"),
            ("d/l", "../.."),
            ("d/l", "../../a"),
            // `up` may be a link to the top folder.
            ("l", "d/e/up/../.."),
            ("l", "a/.."),
            ("d/l", "../a/../b"),
            ("l", "C:\\x"),
            ("l", "c:"),
            ("l", "a\\..\\..\\b"),
            ("l", "a\0b"),
            ("l", "a\x1b[2J"),
        ] {
            assert!(check_target(path, target).is_err(), "{path} -> {target:?}");
        }
    }
}
