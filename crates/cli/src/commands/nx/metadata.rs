//! Times, modes, links and folders: taken from folders, carried from archive to archive, restored.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use linerate_nx::metadata::{Change, Difference, Metadata};
use linerate_nx::pack::{BadName, Clash};
use serde_json::{Value, json};

use super::open::{Opened, damage};
use super::write;
use super::write_args::Rules;
use crate::ui::error::CliError;
use crate::ui::reporter::Reporter;

/// That of an archive which is to be changed. One that is damaged is told and left out.
pub(crate) fn carried(archive: &Opened, name: &Path, reporter: &mut Reporter) -> Option<Metadata> {
    Metadata::from_archive(archive).unwrap_or_else(|error| {
        reporter.warn(
            &name.display().to_string(),
            &format!("what it says beside its files is left out: {}", error.message),
        );
        None
    })
}

/// That of a folder, as far as the rules take its paths, and what was left out for its name.
pub(crate) fn of_folder(
    folder: &Path,
    rules: &Rules,
    own: Option<&str>,
) -> Result<(Metadata, Vec<BadName>), CliError> {
    let keep = |path: &str| own != Some(path) && rules.prefer(path).is_some();
    let prune = |path: &str| rules.prunes(path);
    Metadata::capture_walk(rules.walk(folder, &prune), keep).map_err(write::engine_error)
}

/// Whether what was not packed is a link, which metadata keeps.
pub(crate) fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
}

/// That of several archives, of each file from the archive that it is taken from.
pub(crate) fn merged(
    archives: &[Arc<Opened>],
    names: &[&Path],
    clash: Clash,
    reporter: &mut Reporter,
) -> Metadata {
    let mut found: Vec<Metadata> = Vec::new();
    for (i, archive) in archives.iter().enumerate() {
        let mut metadata = carried(archive, names[i], reporter).unwrap_or_default();
        let others = match clash {
            Clash::Last => &archives[i + 1..],
            Clash::First | Clash::Refuse => &archives[..i],
        };
        metadata.files.retain(|path, _| others.iter().all(|other| other.find(path).is_none()));
        found.push(metadata);
    }
    if clash != Clash::Last {
        found.reverse();
    }
    found.into_iter().fold(Metadata::default(), |mut all, metadata| {
        all.overlay(metadata);
        all
    })
}

/// That of an archive, for what only looks at it: damage is told, and files can be looked at without.
pub(crate) fn told(archive: &Opened, name: &str, reporter: &mut Reporter) -> Option<Metadata> {
    Metadata::from_archive(archive).unwrap_or_else(|error| {
        reporter.entry_failed(name, "(metadata)", damage(error));
        None
    })
}

/// A change for programs.
pub(crate) fn record(change: &Change) -> Value {
    let (name, values) = match &change.difference {
        Difference::LinkRemoved | Difference::FolderRemoved => ("removed", None),
        Difference::LinkAdded | Difference::FolderAdded => ("added", None),
        Difference::Mode(old, new) => ("mode", Some((format!("{old:03o}"), format!("{new:03o}")))),
        Difference::Modified(old, new) => ("modified", Some((old.to_string(), new.to_string()))),
        Difference::Target(old, new) => ("target", Some((old.clone(), new.clone()))),
        _ => ("other", None),
    };
    let mut value = json!({ "path": change.path, "change": name });
    match &change.difference {
        Difference::LinkRemoved | Difference::LinkAdded => value["kind"] = json!("link"),
        Difference::FolderRemoved | Difference::FolderAdded => value["kind"] = json!("folder"),
        _ => {}
    }
    if let Some((was, is)) = values {
        value["was"] = json!(was);
        value["is"] = json!(is);
    }
    value
}

/// All paths that it knows beside files.
pub(crate) fn others(metadata: &Metadata) -> impl Iterator<Item = &str> {
    metadata.folders.keys().chain(metadata.links.keys()).map(String::as_str)
}
