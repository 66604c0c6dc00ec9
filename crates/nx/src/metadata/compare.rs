//! Compares two records of metadata, or a record with a folder.

use std::collections::HashSet;
use std::fmt;

use super::record::MAX_PATH;
use super::{Attributes, Metadata, Time, begins};

/// A difference at one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The path, in the archive or the folder.
    pub path: String,
    /// The difference.
    pub difference: Difference,
}

/// A difference between the old and the new metadata. Modes and times are compared if both sides
/// have them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// A link that only the old side has.
    LinkRemoved,
    /// A link that only the new side has.
    LinkAdded,
    /// An empty folder of the old side that is missing on the new side.
    FolderRemoved,
    /// An empty folder of the new side that is missing on the old side.
    FolderAdded,
    /// The old and new mode of a file or folder.
    Mode(u16, u16),
    /// The old and new modification time of a file, folder or link.
    Modified(Time, Time),
    /// The old and new target of a link.
    Target(String, String),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::LinkRemoved => f.write_str("link removed"),
            Difference::LinkAdded => f.write_str("link added"),
            Difference::FolderRemoved => f.write_str("empty folder removed"),
            Difference::FolderAdded => f.write_str("empty folder added"),
            Difference::Mode(old, new) => write!(f, "mode {old:03o} -> {new:03o}"),
            Difference::Modified(old, new) => write!(f, "modified {old} -> {new}"),
            // The target is untrusted: it may hold terminal escapes.
            Difference::Target(old, new) => {
                write!(f, "target {} -> {}", old.escape_debug(), new.escape_debug())
            }
        }
    }
}

impl Metadata {
    /// Lists the differences between `self` and `new`, sorted by path. `files` and `new_files` are
    /// all files of each side, with or without metadata; they imply the folders that contain them.
    /// Contents and the presence of files are not compared.
    ///
    /// Two times are equal if one is the other truncated to seconds or to 100 nanoseconds, since
    /// not all file systems store more.
    pub fn changes<'a>(
        &'a self,
        files: impl Iterator<Item = &'a str>,
        new: &'a Metadata,
        new_files: impl Iterator<Item = &'a str>,
    ) -> Vec<Change> {
        let (before, after) = (Side::of(self, files), Side::of(new, new_files));
        let mut found = Vec::new();
        let mut add = |path: &str, difference| found.push(Change { path: path.to_owned(), difference });
        for (old, new) in [(&self.files, &new.files), (&self.folders, &new.folders)] {
            let both = old.iter().filter_map(|(path, old)| Some((path, old, new.get(path)?)));
            both.for_each(|(path, old, new)| {
                attributes(old, new).for_each(|difference| add(path, difference))
            });
        }
        for (path, old) in &self.links {
            match new.links.get(path) {
                None => add(path, Difference::LinkRemoved),
                Some(new) => {
                    if old.target != new.target {
                        add(path, Difference::Target(old.target.clone(), new.target.clone()));
                    }
                    if !same_time(old.modified, new.modified) {
                        add(path, Difference::Modified(old.modified, new.modified));
                    }
                }
            }
        }
        let added = new.links.keys().filter(|path| !self.links.contains_key(*path));
        added.for_each(|path| add(path, Difference::LinkAdded));
        before.only_here(&after).for_each(|path| add(path, Difference::FolderRemoved));
        after.only_here(&before).for_each(|path| add(path, Difference::FolderAdded));
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found
    }
}

/// The metadata of one side, and the paths of its folders that contain files or links.
struct Side<'a> {
    metadata: &'a Metadata,
    parents: HashSet<&'a str>,
}

impl<'a> Side<'a> {
    fn of(metadata: &'a Metadata, files: impl Iterator<Item = &'a str>) -> Side<'a> {
        let mut parents = HashSet::new();
        for path in files.chain(metadata.links.keys().map(String::as_str)) {
            let mut path = path;
            while let Some((parent, _)) = path.rsplit_once('/') {
                // Metadata has no paths above this length.
                if parent.len() <= MAX_PATH && !parents.insert(parent) {
                    break;
                }
                path = parent;
            }
        }
        Side { metadata, parents }
    }

    /// Returns the empty folders that the other side does not have.
    fn only_here(&self, other: &Side<'a>) -> impl Iterator<Item = &'a str> {
        self.metadata.folders.keys().map(String::as_str).filter(|path| {
            let below = format!("{path}/");
            let has = |side: &Side<'_>| side.parents.contains(path) || begins(&side.metadata.folders, &below);
            !has(self) && !has(other) && !other.metadata.folders.contains_key(*path)
        })
    }
}

fn attributes(old: &Attributes, new: &Attributes) -> impl Iterator<Item = Difference> {
    let mode = old.mode.zip(new.mode).filter(|(old, new)| old != new);
    let modified = (!same_time(old.modified, new.modified)).then_some((old.modified, new.modified));
    let mode = mode.map(|(old, new)| Difference::Mode(old, new));
    mode.into_iter().chain(modified.map(|(old, new)| Difference::Modified(old, new)))
}

fn same_time(a: Time, b: Time) -> bool {
    let is = |a: Time, b: Time, unit: u32| a.nanoseconds - a.nanoseconds % unit == b.nanoseconds;
    a.seconds == b.seconds && [1, 100, 1_000_000_000].iter().any(|unit| is(a, b, *unit) || is(b, a, *unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Link;

    fn time(seconds: i64, nanoseconds: u32) -> Time {
        Time { seconds, nanoseconds }
    }

    #[test]
    fn each_kind_of_difference_is_found_once() {
        let at = |mode, seconds| Attributes { modified: time(seconds, 7), mode: Some(mode) };
        let link = |target: &str| Link { target: target.into(), modified: time(1, 0) };
        let mut old = Metadata::default();
        old.files.extend([("d/f".into(), at(0o644, 1)), ("same".into(), at(0o644, 1))]);
        old.folders.extend([("d".into(), at(0o755, 1)), ("gone".into(), at(0o755, 1))]);
        // On the new side this folder is not empty, since it contains a file.
        old.folders.insert("filled".into(), at(0o755, 1));
        old.links.extend([("l".into(), link("a")), ("gone-link".into(), link("a"))]);
        let mut new = Metadata::default();
        new.files.extend([("d/f".into(), at(0o600, 2)), ("same".into(), at(0o644, 1))]);
        new.folders.extend([("d".into(), at(0o700, 1)), ("new".into(), at(0o755, 1))]);
        new.links.extend([("l".into(), link("b")), ("new-link".into(), link("a"))]);
        let (files, new_files) = (["d/f", "same"], ["d/f", "same", "filled/x"]);
        let words: Vec<String> = old
            .changes(files.into_iter(), &new, new_files.into_iter())
            .iter()
            .map(|change| format!("{}: {}", change.path, change.difference))
            .collect();
        assert_eq!(
            words,
            [
                "d: mode 755 -> 700",
                "d/f: mode 644 -> 600",
                "d/f: modified 1970-01-01T00:00:01.000000007Z -> 1970-01-01T00:00:02.000000007Z",
                "gone: empty folder removed",
                "gone-link: link removed",
                "l: target a -> b",
                "new: empty folder added",
                "new-link: link added",
            ]
        );
        assert_eq!(old.changes(files.into_iter(), &old, files.into_iter()), []);
    }

    #[test]
    fn truncated_times_are_equal() {
        let exact = time(5, 123_456_789);
        for (other, same) in [
            (exact, true),
            (time(5, 123_456_700), true),
            (time(5, 0), true),
            (time(5, 123_456_788), false),
            (time(6, 123_456_789), false),
        ] {
            assert_eq!((same_time(exact, other), same_time(other, exact)), (same, same), "{other:?}");
        }
    }
}
