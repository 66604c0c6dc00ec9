//! Checks whether paths of an archive are safe and portable file names.

use twox_hash::XxHash3_64;
use unicode_normalization::UnicodeNormalization;

/// Names that Windows reserves for devices, with or without an extension.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Devices with one digit after the name. Windows also accepts the superscripts 1, 2 and 3.
const NUMBERED: &[&str] = &["com", "lpt"];

/// Maximum length of a path in bytes (`PATH_MAX` - 1 on Linux). It also bounds the cost of a path
/// with millions of components.
pub(crate) const MAX_PATH: usize = 4095;

/// Maximum length of a file or folder name in bytes. Some systems count characters; no common one
/// allows more bytes than this for every name.
pub(crate) const MAX_NAME: usize = 255;

/// Checks that a path of names joined by `/` names a file below the extraction folder on every
/// system. Characters that only Windows rejects are accepted; [`not_portable`] finds them.
///
/// # Errors
///
/// Returns a message if the path is absolute or has more than 4095 bytes, or contains an empty
/// name, `.` or `..`, a backslash, a colon (drives, streams), a control character, a name that
/// Windows reserves, or a name that ends in a dot or a space or has more than 255 bytes.
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
    if path.len() > MAX_PATH {
        return Err("a path of more than 4095 bytes");
    }
    if path.starts_with('/') {
        return Err("an absolute path");
    }
    // Nearly all paths are ASCII and have none of the characters below.
    if path.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'\\' && byte != b':') {
        return path.split('/').try_for_each(check_name);
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

/// Returns the shortest prefix of a path, in whole components, that [`check_path`] rejects: its
/// length in bytes, and the message. `None` if it accepts the path.
pub(crate) fn bad_name(path: &str) -> Option<(usize, &'static str)> {
    let whole = check_path(path).err()?;
    let mut ends = path.match_indices('/').map(|(at, _)| at);
    let front = ends.find_map(|len| Some((len, check_path(&path[..len]).err()?)));
    Some(front.unwrap_or((path.len(), whole)))
}

/// Characters that Windows rejects in names.
const NOT_ON_WINDOWS: [char; 6] = ['*', '?', '<', '>', '|', '"'];

/// Returns the shortest prefix of a path, in whole components, whose last name has a character that
/// Windows rejects (`* ? < > | "`), and the first such character. `None` if there is none.
/// [`check_path`] accepts these names, since other systems do: they are packed, and extracted where
/// the system allows.
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

/// Checks whether a path can be created on this system. Does the checks of [`check_path`]; on
/// Windows, also rejects the characters of [`not_portable`].
pub(crate) fn check_name_here(path: &str) -> Result<(), &'static str> {
    check_path(path)?;
    match cfg!(windows) && not_portable(path).is_some() {
        true => Err("a name with one of * ? < > | \", which Windows rejects; it extracts on other systems"),
        false => Ok(()),
    }
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
    if !name.starts_with(['a', 'A', 'c', 'C', 'l', 'L', 'n', 'N', 'p', 'P']) {
        return false;
    }
    // Windows also ignores spaces before the extension.
    let stem = name.split('.').next().unwrap_or(name).trim_end_matches(' ').to_lowercase();
    let is_numbered = |device: &str| {
        let mut rest = stem.strip_prefix(device).unwrap_or_default().chars();
        let digit = rest.next().is_some_and(|c| matches!(c, '0'..='9' | '¹' | '²' | '³'));
        digit && rest.next().is_none()
    };
    DEVICES.contains(&&*stem) || NUMBERED.iter().any(|device| is_numbered(device))
}

/// Folds a path: paths that are the same on file systems that ignore case and Unicode normalization
/// fold to the same string.
fn folded(path: &str) -> String {
    if path.is_ascii() {
        return path.to_ascii_lowercase();
    }
    path.nfd().map(upper).flat_map(char::to_lowercase).nfc().collect()
}

/// Returns the capital of a letter if that is a single letter, else the letter itself. Two small
/// letters may share a capital, as both sigmas do, and NTFS compares capitals. Turkish names may
/// differ only in the dot of an i, and file systems distinguish these.
fn upper(letter: char) -> char {
    const DOTLESS_I: char = '\u{131}';
    if letter == DOTLESS_I {
        return letter;
    }
    let mut capitals = letter.to_uppercase();
    match (capitals.next(), capitals.next()) {
        (Some(capital), None) => capital,
        _ => letter,
    }
}

/// Groups paths that are the same on some file systems: equal paths, and paths that differ only in
/// case or Unicode normalization. Each group lists the indices of its paths in ascending order.
pub fn collisions<'a>(paths: impl IntoIterator<Item = &'a str>) -> Vec<Vec<usize>> {
    equal(&paths.into_iter().map(folded).collect::<Vec<_>>())
}

/// Groups paths that some file systems cannot hold together. Returns the [`collisions`], and pairs
/// of a file and another file below its path, compared without case and Unicode normalization.
/// Groups list indices.
pub fn portable_clashes<'a>(paths: impl IntoIterator<Item = &'a str>) -> Vec<Vec<usize>> {
    let (mut groups, below) = folded_clashes(paths);
    groups.extend(below.into_iter().map(|(file, below)| vec![file, below]));
    groups
}

/// Finds files whose path is also that of a folder, which no file system can hold. Returns the
/// index of each, and the index of the first file below it.
///
/// ```
/// use linerate_nx::folder_clashes;
/// assert_eq!(folder_clashes(["mods/a", "mods", "mods.txt"]), [(1, 0)]);
/// ```
pub fn folder_clashes<'a>(paths: impl IntoIterator<Item = &'a str>) -> Vec<(usize, usize)> {
    below_files(&paths.into_iter().collect::<Vec<_>>())
}

/// Returns the [`collisions`], and the [`folder_clashes`] on file systems that ignore case and
/// Unicode normalization.
pub(crate) fn folded_clashes<'a>(
    paths: impl IntoIterator<Item = &'a str>,
) -> (Vec<Vec<usize>>, Vec<(usize, usize)>) {
    let folded: Vec<String> = paths.into_iter().map(folded).collect();
    (equal(&folded), below_files(&folded))
}

/// Groups the indices of equal strings. Compares only strings of equal hashes, which few are.
fn equal(strings: &[String]) -> Vec<Vec<usize>> {
    let mut hashes: Vec<(u64, usize)> =
        strings.iter().map(|string| XxHash3_64::oneshot(string.as_bytes())).zip(0..).collect();
    hashes.sort_unstable();
    let mut groups = Vec::new();
    for alike in hashes.chunk_by(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
        let mut indices: Vec<usize> = alike.iter().map(|(_, index)| *index).collect();
        indices.sort_by(|&a, &b| strings[a].cmp(&strings[b]));
        let same = indices.chunk_by(|&a, &b| strings[a] == strings[b]);
        groups.extend(same.filter(|group| group.len() > 1).map(<[usize]>::to_vec));
    }
    groups.sort_unstable();
    groups
}

/// Finds files with other files below their path, and the first of these. Takes no more time for a
/// path of many components than for any other of its length.
fn below_files<S: AsRef<str>>(paths: &[S]) -> Vec<(usize, usize)> {
    let mut order: Vec<(&str, usize)> = paths.iter().map(S::as_ref).zip(0..).collect();
    order.sort_unstable();
    let mut clashes = Vec::new();
    let mut add = |(files, below): (&[(&str, usize)], usize)| {
        clashes.extend(files.iter().filter(|_| below < paths.len()).map(|&(_, file)| (file, below)));
    };
    // The groups of equal paths with which the next path begins, shortest first, and the first file
    // below each; `paths.len()` is none. Sorted paths with the same beginning follow it directly.
    let mut begun: Vec<(&[(&str, usize)], usize)> = Vec::new();
    for files in order.chunk_by(|a, b| a.0 == b.0) {
        let (path, first) = files[0];
        while let Some(group) = begun.pop_if(|(group, _)| !path.starts_with(group[0].0)) {
            add(group);
        }
        for (group, below) in &mut begun {
            if path.as_bytes()[group[0].0.len()] == b'/' {
                *below = first.min(*below);
            }
        }
        begun.push((files, paths.len()));
    }
    begun.into_iter().for_each(add);
    clashes.sort_unstable();
    clashes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_paths_are_accepted() {
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
    fn path_above_4095_bytes_is_rejected() {
        assert_eq!(check_path(&"x/".repeat(2047)[..4093]), Ok(()));
        assert_eq!(check_path(&("x/".repeat(2047) + "x")), Ok(()));
        assert!(check_path(&("x/".repeat(2047) + "xx")).is_err());
        assert!(check_path(&("x/".repeat(5_000_000) + "x")).is_err());
    }

    #[test]
    fn unsafe_paths_are_rejected() {
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
    fn names_with_characters_that_windows_rejects_are_accepted_but_not_portable() {
        for character in NOT_ON_WINDOWS {
            let path = format!("a/b{character}c/d");
            assert_eq!(check_path(&path), Ok(()));
            assert_eq!(not_portable(&path), Some((&path[..5], character)));
        }
        assert_eq!(not_portable("a/quote's [b] #1 & ~2.txt"), None);
    }

    #[test]
    fn characters_that_windows_rejects_are_refused_there_before_a_file_is_made() {
        assert_eq!(check_name_here("pages/what/index.html"), Ok(()));
        for character in NOT_ON_WINDOWS {
            assert_eq!(check_name_here(&format!("a/b{character}c/d")).is_err(), cfg!(windows));
        }
        assert!(check_name_here("a:b").is_err());
    }

    #[test]
    fn bad_name_ends_at_the_topmost_bad_component() {
        assert_eq!(bad_name("a/b"), None);
        for (path, front) in [("a/CON/x:y/z", "a/CON"), ("a:b", "a:b"), ("x./y", "x."), ("/a", "")] {
            assert_eq!(bad_name(path).map(|(len, _)| &path[..len]), Some(front), "{path}");
        }
        let long = "x/".repeat(2100);
        assert_eq!(bad_name(&long).map(|(_, what)| what), Some("a path of more than 4095 bytes"));
    }

    #[test]
    fn colliding_paths_are_grouped() {
        let paths = ["a/B", "x", "A/b", "e\u{301}", "É", "x", "y"];
        assert_eq!(collisions(paths), [vec![0, 2], vec![1, 5], vec![3, 4]]);
        assert_eq!(
            collisions(["\u{3c3}", "\u{3c2}", "\u{3a3}"]),
            [vec![0, 1, 2]],
            "letters with one capital"
        );
        assert!(collisions(["stra\u{df}e", "strasse"]).is_empty(), "a letter whose capital is two");
        assert!(collisions(["k\u{131}l", "kil"]).is_empty(), "an i without its dot is another letter");
    }

    #[test]
    fn name_above_255_bytes_is_rejected() {
        let name = |len| "n".repeat(len);
        for path in [name(255), format!("{}/{}", name(255), name(255)), "\u{e9}".repeat(127)] {
            assert_eq!(check_path(&path), Ok(()), "{path}");
        }
        for path in [name(256), format!("{}/a", name(256)), "\u{e9}".repeat(128)] {
            assert!(check_path(&path).unwrap_err().contains("255 bytes"), "{path}");
        }
    }
}
