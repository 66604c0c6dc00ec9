//! Metadata (times, modes, links, folders) that an archive keeps: carried from archive to archive,
//! and displayed.

use std::path::Path;
use std::sync::Arc;

use linerate_nx::metadata::{Change, Difference, Metadata};
use linerate_nx::pack::Clash;
use serde_json::{Value, json};

use super::open::{Opened, damage};
use crate::ui::reporter::Reporter;

/// Reads the metadata of an archive that is to be changed or mounted, `None` if it has none.
/// Damaged metadata is left out with a warning.
pub(crate) fn carried(archive: &Opened, name: &Path, reporter: &mut Reporter) -> Option<Metadata> {
    Metadata::from_archive(archive).unwrap_or_else(|error| {
        reporter.warn(
            &name.display().to_string(),
            &format!("its metadata is damaged and is left out: {}", error.message),
        );
        None
    })
}

/// Merges the metadata of archives. Each file keeps its metadata of the archive from which it is
/// taken. `names` are the paths of the archives.
pub(crate) fn merged(
    archives: &[Arc<Opened>],
    names: &[&Path],
    clash: Clash,
    reporter: &mut Reporter,
) -> Metadata {
    let carried =
        |(archive, name): (&Arc<Opened>, &&Path)| carried(archive, name, reporter).unwrap_or_default();
    let found = archives.iter().zip(names).map(carried).collect();
    Metadata::merged(archives, found, clash)
}

/// Reads the metadata of an archive for display, `None` if it has none. Damage is reported as an
/// error, but the files can still be listed.
pub(crate) fn for_display(archive: &Opened, name: &str, reporter: &mut Reporter) -> Option<Metadata> {
    Metadata::from_archive(archive).unwrap_or_else(|error| {
        reporter.entry_failed(name, "(metadata)", damage(error));
        None
    })
}

/// The object of `--json` about a difference between two sets of metadata.
pub(crate) fn record(Change { path, difference }: &Change) -> Value {
    let other = |kind: &str, change: &str| json!({ "path": path, "kind": kind, "change": change });
    let both = |change: &str, was: String, is: String| json!({ "path": path, "change": change, "was": was, "is": is });
    match difference {
        Difference::LinkRemoved => other("link", "removed"),
        Difference::LinkAdded => other("link", "added"),
        Difference::FolderRemoved => other("folder", "removed"),
        Difference::FolderAdded => other("folder", "added"),
        Difference::Mode(old, new) => both("mode", format!("{old:03o}"), format!("{new:03o}")),
        Difference::Modified(old, new) => both("modified", old.to_string(), new.to_string()),
        Difference::Target(old, new) => both("target", old.clone(), new.clone()),
        _ => json!({ "path": path, "change": "other" }),
    }
}
