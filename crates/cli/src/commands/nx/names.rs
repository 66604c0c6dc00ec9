//! Messages about files that were not packed, and about names that clash or are not portable.

use std::collections::BTreeSet;
use std::path::Path;

use linerate_nx::pack::Skipped;
use linerate_nx::{Kind, folder_clashes, not_portable, portable_clashes};

use super::open::{Opened, entry_at};
use crate::ui::error::CliError;
use crate::ui::reporter::Reporter;
use crate::ui::summary::RunSummary;

/// Warns about files and folders below `root` that were not packed, with the reason for each.
pub(crate) fn warn_of_skipped(skipped: &Skipped, root: &Path, reporter: &mut Reporter) {
    let file = root.display().to_string();
    for (path, why) in skipped.iter() {
        let path = path.strip_prefix(root).unwrap_or(path).display();
        reporter.warn(&file, &format!("{path}: not packed: {}", why.message));
    }
}

/// Prints a note about each group of names that are the same on file systems that ignore case or
/// Unicode normalization, and adds the groups to the summary. Such files are packed nevertheless.
pub(crate) fn note_clashes<'n>(
    names: impl Iterator<Item = &'n str>,
    reporter: &Reporter,
    summary: &mut RunSummary,
) {
    let names: Vec<&str> = names.collect();
    let groups: Vec<Vec<&str>> = portable_clashes(names.iter().copied())
        .into_iter()
        .map(|group| group.iter().map(|&i| names[i]).collect())
        .collect();
    for group in &groups {
        let what = "packed, but not portable: some file systems treat these names as the same";
        let why = if differ_in_case(group) { "" } else { ", which differ in Unicode normalization" };
        let shown: Vec<String> = group.iter().map(|name| printable(name)).collect();
        reporter.note(summary.file(), &format!("{}: {what}{why}", shown.join(", ")));
    }
    summary.set("clashes", groups);
}

/// Whether names that clash differ in case alone: as names of files, or as a file and a folder
/// above another file.
fn differ_in_case(clash: &[&str]) -> bool {
    let capitals: Vec<String> = clash.iter().map(|name| name.to_uppercase()).collect();
    capitals.windows(2).all(|pair| {
        pair[1].strip_prefix(&*pair[0]).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// Escapes the control characters of a name, so that it can be printed.
fn printable(name: &str) -> String {
    let escape = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    name.chars().map(escape).collect()
}

/// Reports as damage each file of an archive whose path is also the folder of other files. Returns
/// the number of such files.
pub(crate) fn report_folders(archive: &Opened, name: &str, reporter: &mut Reporter) -> usize {
    let paths: Vec<&str> = archive.files().map(|file| file.path()).collect();
    let clashes = folder_clashes(paths.iter().copied());
    for &(file, below) in &clashes {
        let what = format!("this path is also the folder of {}", paths[below].escape_debug());
        reporter.entry_failed(
            name,
            paths[file],
            CliError::data(Kind::Corrupt, entry_at(archive, paths[file]), what),
        );
    }
    clashes.len()
}

/// Prints a note about each file or folder whose name has a character that Windows refuses, and
/// adds these names to the summary. Such files are packed nevertheless.
pub(crate) fn note_not_portable<'n>(
    names: impl Iterator<Item = &'n str>,
    reporter: &Reporter,
    summary: &mut RunSummary,
) {
    let prefixes: BTreeSet<(&str, char)> = names.filter_map(not_portable).collect();
    for (prefix, character) in &prefixes {
        let what = format!("{prefix}: packed, but not portable: Windows refuses names with {character}");
        reporter.note(summary.file(), &what);
    }
    summary.set("not_portable", prefixes.iter().map(|(prefix, _)| *prefix).collect::<Vec<_>>());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clashes_by_case_and_by_normalization_are_told_apart() {
        assert!(differ_in_case(&["É.txt", "é.txt"]) && differ_in_case(&["mods", "Mods/a"]));
        assert!(!differ_in_case(&["\u{e9}.txt", "e\u{301}.txt"]));
        assert!(!differ_in_case(&["a\u{301}", "\u{e1}/b"]));
    }

    #[test]
    fn control_characters_alone_are_escaped() {
        assert_eq!(printable("日本/é\u{1b}\n"), "日本/é\\u{1b}\\n");
    }
}
