//! What extractions that were killed leave behind, and how it goes.

use std::fs;
use std::io;
use std::path::Path;

/// Whether a name is one that extraction gives to what is not complete.
fn is_leftover(name: &str) -> bool {
    let inner = name.strip_prefix(".linerate-nx-").and_then(|rest| rest.strip_suffix(".part"));
    let Some(parts) = inner.map(|inner| inner.split('-').collect::<Vec<_>>()) else { return false };
    let is_hex = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match parts[..] {
        // Process, time, call, and the number of a file or of a link.
        [a, b, c, number] => {
            [a, b, c, number.strip_prefix('l').unwrap_or(number)].iter().all(|part| is_hex(part))
        }
        [a, b, c, "case", _] => [a, b, c].iter().all(|part| is_hex(part)),
        _ => false,
    }
}

/// Removes the files and links below a folder whose names are those that extraction uses before a file
/// is complete, `.linerate-nx-*.part`, and says how many. Links are not followed. No extraction to that
/// folder may be running.
///
/// # Errors
///
/// The first that reading a folder or removing a file has. A folder that is not there has nothing in it.
pub fn remove_leftovers(folder: impl AsRef<Path>) -> io::Result<u64> {
    let mut removed = 0;
    let mut folders = vec![folder.as_ref().to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if entry.file_name().to_str().is_some_and(is_leftover) {
                fs::remove_file(entry.path())?;
                removed += 1;
            }
        }
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::prefix;

    #[test]
    fn only_names_of_extraction_are_leftovers() {
        for end in ["0", "1f", "l0", "case-\u{e9}"] {
            assert!(is_leftover(&format!("{}-{end}.part", prefix())), "{end}");
        }
        for name in [
            "",
            ".linerate-nx-",
            ".linerate-nx-.part",
            ".linerate-nx-1-2-3.part",
            ".linerate-nx-1-2-3-x.part",
            ".linerate-nx-1-2-3-l.part",
            ".linerate-nx-1-2-3-4-5.part",
            ".linerate-nx-1-2-3-4",
            "linerate-nx-1-2-3-4.part",
            ".mods.nx.Ab3.part",
        ] {
            assert!(!is_leftover(name), "{name}");
        }
    }

    #[test]
    fn leftovers_go_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("a");
        assert_eq!(remove_leftovers(&root).unwrap(), 0, "there is no folder");
        fs::create_dir_all(root.join("b/c")).unwrap();
        let leftover = format!("{}-0.part", prefix());
        for name in ["x", "b/c/y.part", &leftover, &format!("b/c/{leftover}")] {
            fs::write(root.join(name), b"").unwrap();
        }
        // A folder of that name is somebody's.
        fs::create_dir(root.join("b").join(&leftover)).unwrap();
        fs::write(place.path().join(&leftover), b"").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(place.path(), root.join("link")).unwrap();
        assert_eq!(remove_leftovers(&root).unwrap(), 2);
        assert!(root.join("x").exists() && root.join("b/c/y.part").exists());
        assert!(root.join("b").join(&leftover).is_dir() && place.path().join(&leftover).exists());
    }
}
