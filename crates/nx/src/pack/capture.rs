//! Metadata for archives: captured from a folder, or merged from those of archives.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use linerate_core::Kind;
use linerate_io::ReadAt;

use super::{BadName, Clash, PackError, PackResult, Walk, WalkEntry};
use crate::metadata::{Attributes, Link, Metadata, begins};
use crate::read::archive::Archive;

impl Metadata {
    /// Captures the metadata of everything below `root` for which `keep` returns true, and of the folders
    /// that contain any of it. `keep` gets paths relative to `root`. Links are not followed. Devices,
    /// sockets and pipes are skipped.
    ///
    /// # Errors
    /// `Read` if something cannot be read; `BadArgument` if a path is not UTF-8 or one that
    /// [`check_path`](crate::check_path) rejects, or the target of a link is not UTF-8. Each names the path.
    pub fn capture(root: impl AsRef<Path>, keep: impl FnMut(&str) -> bool) -> PackResult<Metadata> {
        Metadata::capture_walk(Walk::new(&root), keep).map(|(found, _)| found)
    }

    /// As [`capture`](Self::capture), with the options of a walk. Also returns the names that
    /// [`Walk::skip_bad_names`] left out.
    ///
    /// # Errors
    /// As [`capture`](Self::capture), except for the names that are left out; or cancelled.
    pub fn capture_walk(
        walk: Walk<'_>,
        mut keep: impl FnMut(&str) -> bool,
    ) -> PackResult<(Metadata, Vec<BadName>)> {
        let mut all = walk.run()?;
        all.retain(|found| found.kind.is_dir() || found.kind.is_file() || found.kind.is_symlink());
        let wanted: BTreeMap<String, ()> =
            all.iter().filter(|found| keep(&found.name)).map(|found| (found.name.clone(), ())).collect();
        let holds = |found: &WalkEntry| found.kind.is_dir() && begins(&wanted, &format!("{}/", found.name));
        let (mut captured, mut bad_names) = (Metadata::default(), Vec::new());
        for found in all.iter().filter(|found| wanted.contains_key(&found.name) || holds(found)) {
            if walk.admits(found, &mut bad_names)? {
                captured.insert(found)?;
            }
        }
        Ok((captured, bad_names))
    }

    /// Merges the metadata of each of the archives for [`Builder::merge`](super::Builder::merge): a file has that of the archive
    /// it is taken from.
    pub fn merged<S: ReadAt>(
        archives: &[Arc<Archive<S>>],
        mut found: Vec<Metadata>,
        clash: Clash,
    ) -> Metadata {
        for (i, metadata) in found.iter_mut().enumerate() {
            let others = match clash {
                Clash::Last => archives.get(i + 1..),
                Clash::First | Clash::Refuse => archives.get(..i),
            };
            let others = others.unwrap_or_default();
            metadata.files.retain(|path, _| others.iter().all(|other| other.find(path).is_none()));
        }
        if clash != Clash::Last {
            found.reverse();
        }
        found.into_iter().fold(Metadata::default(), |mut all, metadata| {
            all.overlay(metadata);
            all
        })
    }

    fn insert(&mut self, found: &WalkEntry) -> PackResult<()> {
        let at = |error: io::Error| PackError::reading(error).at(found.path.display().to_string());
        let (name, of) = (found.name.clone(), found.metadata()?);
        if found.kind.is_symlink() {
            let target = fs::read_link(&found.path).map_err(at)?;
            let target = target.to_str().ok_or_else(|| {
                let error = PackError::rule(Kind::BadArgument, "the target is not UTF-8");
                error.at(found.path.display().to_string())
            })?;
            let modified = of.modified().map_err(at)?.into();
            self.links.insert(name, Link { target: portable(target), modified });
            return Ok(());
        }
        let attributes = Attributes::from_fs(&of).map_err(at)?;
        match found.kind.is_dir() {
            true => self.folders.insert(name, attributes),
            false => self.files.insert(name, attributes),
        };
        Ok(())
    }
}

/// A link target with `/` between components.
fn portable(target: &str) -> String {
    match cfg!(windows) {
        true => target.replace('\\', "/"),
        false => target.to_owned(),
    }
}
