//! Which paths of an archive may become files.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

/// Names that Windows keeps for devices, with or without an extension.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Devices that have numbers, of which Windows also takes superscripts.
const NUMBERED: &[&str] = &["com", "lpt"];

/// Most bytes of a path: systems do not take longer ones, and one of millions of components would cost
/// more than the files of an archive.
const LONGEST: usize = 4095;

/// Bytes of the longest name of a file or folder. Systems differ in whether they count bytes or
/// characters; none takes more.
pub const MAX_NAME: usize = 255;

/// Whether a path names a file below the folder it is extracted to, on every system: UTF-8 names
/// with `/` between them.
///
/// # Errors
///
/// What is wrong, in words: an absolute path, an empty name, `.` or `..`, a back-slash, a colon
/// (drives, streams), a control character, a name that Windows reserves, one that ends in a
/// dot or a space, one of more than [`MAX_NAME`] bytes, more than 4095 bytes in all.
///
/// ```
/// use linerate_nx::check_path;
/// assert!(check_path("textures/wall 1.dds").is_ok());
/// assert!(check_path("../../.bashrc").is_err());
/// ```
pub fn check_path(path: &str) -> Result<(), &'static str> {
    if path.is_empty() {
        return Err("an empty path");
    }
    if path.len() > LONGEST {
        return Err("a path of more than 4095 bytes");
    }
    if path.starts_with('/') {
        return Err("an absolute path");
    }
    if path.contains('\\') {
        return Err("a path with a back-slash");
    }
    if path.contains(':') {
        return Err("a path with a colon, which is a drive or a stream on Windows");
    }
    if path.chars().any(char::is_control) {
        return Err("a path with a control character");
    }
    path.split('/').try_for_each(check_name)
}

/// The shortest front of a path, in whole components, that [`check_path`] refuses: how many bytes it has, and
/// what is wrong with it.
pub(crate) fn bad_name(path: &str) -> Option<(usize, &'static str)> {
    let whole = check_path(path).err()?;
    let mut ends = path.match_indices('/').map(|(at, _)| at);
    let front = ends.find_map(|len| Some((len, check_path(&path[..len]).err()?)));
    Some(front.unwrap_or((path.len(), whole)))
}

/// Characters that Windows does not take in names.
const NOT_ON_WINDOWS: [char; 6] = ['*', '?', '<', '>', '|', '"'];

/// The front of a path, in whole components, whose last name Windows refuses for one of `* ? < > | "`, and
/// that character. Other systems take such names, so that [`check_path`] lets them pass: they are packed,
/// and extracted where the system takes them.
///
/// ```
/// use linerate_nx::not_portable;
/// assert_eq!(not_portable("pages/what?/index.html"), Some(("pages/what?", '?')));
/// assert_eq!(not_portable("pages/what/index.html"), None);
/// ```
pub fn not_portable(path: &str) -> Option<(&str, char)> {
    let (at, character) = path.char_indices().find(|(_, c)| NOT_ON_WINDOWS.contains(c))?;
    let end = path[at..].find('/').map_or(path.len(), |len| at + len);
    Some((&path[..end], character))
}

fn check_name(name: &str) -> Result<(), &'static str> {
    match name {
        "" => return Err("a path with an empty name in it"),
        "." | ".." => return Err("a path with `.` or `..` in it"),
        _ => {}
    }
    if name.len() > MAX_NAME {
        return Err("a name of more than 255 bytes, which most file systems refuse");
    }
    if name.ends_with(['.', ' ']) {
        return Err("a name that ends in a dot or a space, which Windows drops");
    }
    match is_device(name) {
        true => Err("a name that Windows reserves for a device"),
        false => Ok(()),
    }
}

fn is_device(name: &str) -> bool {
    // Windows also ignores spaces before the extension.
    let stem = name.split('.').next().unwrap_or(name).trim_end_matches(' ').to_lowercase();
    let is_numbered = |device: &str| {
        let mut rest = stem.strip_prefix(device).unwrap_or_default().chars();
        let digit = rest.next().is_some_and(|c| matches!(c, '0'..='9' | '¹' | '²' | '³'));
        digit && rest.next().is_none()
    };
    DEVICES.contains(&&*stem) || NUMBERED.iter().any(|device| is_numbered(device))
}

/// The name under which file systems that ignore case and Unicode form keep a path.
fn folded(path: &str) -> String {
    if path.is_ascii() {
        return path.to_ascii_lowercase();
    }
    path.nfd().flat_map(char::to_lowercase).nfc().collect()
}

/// Groups of paths that some file systems cannot keep apart: equal ones, and ones that differ only
/// in case or in Unicode form. Each group has the numbers of its paths, in their order.
pub fn collisions<'a>(paths: impl IntoIterator<Item = &'a str>) -> Vec<Vec<usize>> {
    let mut groups: HashMap<String, Vec<usize>> = HashMap::new();
    for (i, path) in paths.into_iter().enumerate() {
        groups.entry(folded(path)).or_default().push(i);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().filter(|group| group.len() > 1).collect();
    groups.sort_unstable();
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_paths_pass() {
        for path in [
            "a",
            "a/b/c.txt",
            ".hidden",
            "a b/(c) [d].x",
            "日本語/テクスチャ.dds",
            "quote's/\"x\".txt",
            "console",
            "com",
            "com10",
            "com1x.txt",
            "nulls/a.nul",
            "...a",
            " a",
        ] {
            assert_eq!(check_path(path), Ok(()), "{path}");
        }
    }

    #[test]
    fn long_paths_are_refused() {
        assert_eq!(check_path(&"x/".repeat(2047)[..4093]), Ok(()));
        assert_eq!(check_path(&("x/".repeat(2047) + "x")), Ok(()));
        assert!(check_path(&("x/".repeat(2047) + "xx")).is_err());
        assert!(check_path(&("x/".repeat(5_000_000) + "x")).is_err());
    }

    #[test]
    fn every_way_out_is_refused() {
        for path in [
            "",
            "/",
            "/etc/passwd",
            "//server/share",
            "..",
            "../a",
            "a/..",
            "a/../../b",
            ".",
            "./a",
            "a/./b",
            "a//b",
            "a/",
            "\\a",
            "a\\..\\b",
            "\\\\server\\share\\a",
            "\\\\?\\C:\\a",
            "C:",
            "C:/a",
            "c:a",
            "a:stream",
            "a/b:$DATA",
            "a\0b",
            "a\nb",
            "a\x1b[2Jb",
            "a\x7f",
            "a\u{85}b",
            "con",
            "CON.txt",
            "a/Nul/b",
            "aux .txt",
            "COM1",
            "lpt9.log",
            "com²",
            "CONIN$",
            "a.",
            "a ",
            "a./b",
            "a /b",
            "...",
        ] {
            assert!(check_path(path).is_err(), "{path:?}");
        }
    }

    #[test]
    fn names_that_windows_refuses_for_a_character_pass_and_are_named() {
        for character in NOT_ON_WINDOWS {
            let path = format!("a/b{character}c/d");
            assert_eq!(check_path(&path), Ok(()));
            assert_eq!(not_portable(&path), Some((&path[..5], character)));
        }
        assert_eq!(not_portable("a/quote's [b] #1 & ~2.txt"), None);
    }

    #[test]
    fn bad_name_is_the_topmost_component() {
        assert_eq!(bad_name("a/b"), None);
        for (path, front) in [("a/CON/x:y/z", "a/CON"), ("a:b", "a:b"), ("x./y", "x."), ("/a", "")] {
            assert_eq!(bad_name(path).map(|(len, _)| &path[..len]), Some(front), "{path}");
        }
        let long = "x/".repeat(2100);
        assert_eq!(bad_name(&long).map(|(_, what)| what), Some("a path of more than 4095 bytes"));
    }

    #[test]
    fn names_that_fall_together_are_found() {
        let paths = ["a/B", "x", "A/b", "e\u{301}", "É", "x", "y"];
        assert_eq!(collisions(paths), [vec![0, 2], vec![1, 5], vec![3, 4]]);
        assert!(collisions(["a", "b", "a/b"]).is_empty());
    }

    #[test]
    fn names_are_as_long_as_systems_take() {
        let name = |len| "n".repeat(len);
        for path in [name(255), format!("{}/{}", name(255), name(255)), "\u{e9}".repeat(127)] {
            assert_eq!(check_path(&path), Ok(()), "{path}");
        }
        for path in [name(256), format!("{}/a", name(256)), "\u{e9}".repeat(128)] {
            assert!(check_path(&path).unwrap_err().contains("255 bytes"), "{path}");
        }
    }
}
