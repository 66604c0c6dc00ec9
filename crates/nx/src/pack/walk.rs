//! The files below a folder, with the paths they have in an archive.

use std::fs;
use std::path::{Path, PathBuf};

use linerate_core::Kind;

use super::error::{PackError, PackResult};

/// A file below a folder.
pub(super) struct Found {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) size: u64,
}

/// What is below a folder: files, and what is none.
#[derive(Default)]
pub(super) struct Walk {
    /// Sorted by name.
    pub(super) files: Vec<Found>,
    /// Links, devices, sockets and pipes. Links are not followed: they may lead out of the folder,
    /// or back into it.
    pub(super) others: Vec<PathBuf>,
}

/// Everything below `root`, names that begin with a dot too.
///
/// # Errors
/// With the path that cannot be read, or whose name is not UTF-8.
pub(super) fn walk(root: &Path) -> PackResult<Walk> {
    let mut walk = Walk::default();
    let mut folders = vec![(root.to_owned(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        let at_folder = |error: std::io::Error| PackError::from(error).at(folder.display().to_string());
        for entry in fs::read_dir(&folder).map_err(at_folder)? {
            let entry = entry.map_err(at_folder)?;
            let path = entry.path();
            let at = |error: std::io::Error| PackError::from(error).at(path.display().to_string());
            let Ok(name) = entry.file_name().into_string() else {
                let error = PackError::rule(Kind::BadArgument, "the name is not UTF-8");
                return Err(error.at(path.display().to_string()));
            };
            let name = format!("{prefix}{name}");
            let kind = entry.file_type().map_err(at)?;
            if kind.is_dir() {
                folders.push((path, name + "/"));
            } else if kind.is_file() {
                let size = entry.metadata().map_err(at)?.len();
                walk.files.push(Found { name, path, size });
            } else {
                walk.others.push(path);
            }
        }
    }
    walk.files.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    walk.others.sort_unstable();
    Ok(walk)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_by_byte_and_joined_by_slashes() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["b/z", "b/a", "a", "b.txt", ".hidden/x"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("writable");
            fs::write(path, name).expect("writable");
        }
        let walk = walk(folder.path()).expect("readable");
        let names: Vec<&str> = walk.files.iter().map(|found| found.name.as_str()).collect();
        assert_eq!(names, [".hidden/x", "a", "b.txt", "b/a", "b/z"]);
        assert!(walk.files.iter().all(|found| found.size == found.name.len() as u64));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_told_apart_and_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("a"), b"1").expect("writable");
        std::os::unix::fs::symlink("a", folder.path().join("b")).expect("a link");
        std::os::unix::fs::symlink(".", folder.path().join("c")).expect("a link");
        let walk = walk(folder.path()).expect("readable");
        assert_eq!((walk.files.len(), walk.others.len()), (1, 2));
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = walk(Path::new("/nowhere/at/all")).err().expect("it is not there");
        assert_eq!(error.file(), Some("/nowhere/at/all"));
    }
}
