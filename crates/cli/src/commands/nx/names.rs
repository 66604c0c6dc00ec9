//! Warnings about names that archives cannot hold, or that are not portable.

use std::collections::BTreeSet;
use std::path::Path;

use linerate_nx::not_portable;
use linerate_nx::pack::BadName;

use crate::ui::reporter::Reporter;
use crate::ui::summary::RunSummary;

/// Warns of each file and folder below `root` that was left out for its name, once.
pub(crate) fn warn_of_bad(bad: &BTreeSet<BadName>, root: &Path, reporter: &mut Reporter) {
    let file = root.display().to_string();
    for BadName { path, message } in bad {
        let path = path.strip_prefix(root).unwrap_or(path).display();
        reporter.warn(&file, &format!("{path}: not packed: {message}"));
    }
}

/// Prints a note about names that Windows refuses. They are packed nevertheless.
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
