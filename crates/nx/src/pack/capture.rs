//! Captures the chosen files of a walk with their metadata, and merges the metadata of archives.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::sync::Arc;

use linerate_io::ReadAt;

use super::names::folders_of;
use super::{BadName, CancelToken, Clash, PackError, PackResult, Skipped, Walk, WalkEntry};
use crate::metadata::{Attributes, Link, Metadata};
use crate::read::archive::Archive;

impl Walk<'_> {
    /// Returns the files for which `choose` returns a value, each with this value, in ascending
    /// order. With [`Walk::metadata`], `choose` is also called for folders, and chosen folders and
    /// links, and the folders that contain chosen paths, are added to `metadata`. Other chosen
    /// paths, such as devices, are added to `skipped`.
    pub(super) fn files<T>(
        &self,
        cancel: &CancelToken,
        mut choose: impl FnMut(&str) -> Option<T>,
        skipped: &mut Skipped,
        metadata: &mut Metadata,
    ) -> PackResult<Vec<(WalkEntry, T)>> {
        let (mut files, mut links, mut folders) = (Vec::new(), Vec::new(), Vec::new());
        for found in self.cancel(cancel).run()? {
            cancel.check()?;
            if found.kind.is_dir() {
                if self.metadata {
                    let is_chosen = choose(&format!("{}/", found.name)).is_some();
                    folders.push((found, is_chosen));
                }
                continue;
            }
            let Some(chosen) = choose(&found.name) else { continue };
            match found.kind.is_file() {
                true => files.push((found, chosen)),
                false if self.metadata && found.kind.is_symlink() => links.push(found),
                false => skipped.others.push(found.path),
            }
        }
        let chosen = folders.iter().filter(|(_, is_chosen)| *is_chosen).map(|(found, _)| found);
        let chosen = chosen.chain(&links).chain(files.iter().map(|(found, _)| found));
        let held: HashSet<&str> = match self.metadata {
            true => chosen.flat_map(|found| folders_of(&found.name)).collect(),
            false => HashSet::new(),
        };
        let kept = folders.iter().filter(|(found, is_chosen)| *is_chosen || held.contains(&*found.name));
        for found in kept.map(|(found, _)| found).chain(&links) {
            cancel.step()?;
            if self.admits(found, &mut skipped.bad_names)?
                && let Some(bad) = metadata.insert(found, &found.metadata()?)?
            {
                self.refuse(bad, &mut skipped.bad_names)?;
            }
        }
        Ok(files)
    }

    /// Returns the size of a file, and adds its metadata to `metadata` if it is captured.
    pub(super) fn size(&self, file: &WalkEntry, metadata: &mut Metadata) -> PackResult<u64> {
        let of = file.metadata()?;
        if self.metadata {
            metadata.insert(file, &of)?;
        }
        Ok(of.len())
    }
}

impl Metadata {
    /// Merges the metadata of several archives for [`Builder::merge`](super::Builder::merge).
    /// `found` has that of each archive, in the same order. Each file gets the metadata from the
    /// archive it is taken from; folders and links get that of the first archive that has them, or
    /// of the last with [`Clash::Last`].
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

    /// Adds the metadata of a file, folder or link. Returns a link whose target is not UTF-8, which
    /// is not added.
    fn insert(&mut self, found: &WalkEntry, of: &fs::Metadata) -> PackResult<Option<BadName>> {
        let at = |error: io::Error| PackError::reading(error).at(&found.path);
        let name = found.name.clone();
        if found.kind.is_symlink() {
            let target = fs::read_link(&found.path).map_err(at)?;
            let Some(target) = target.to_str() else {
                let message = "the target is not UTF-8";
                return Ok(Some(BadName { path: found.path.clone(), message }));
            };
            let modified = of.modified().map_err(at)?.into();
            self.links.insert(name, Link { target: portable(target), modified });
            return Ok(None);
        }
        let attributes = Attributes::from_fs(of).map_err(at)?;
        match found.kind.is_dir() {
            true => self.folders.insert(name, attributes),
            false => self.files.insert(name, attributes),
        };
        Ok(None)
    }
}

/// Returns a link target with `/` between components.
fn portable(target: &str) -> String {
    match cfg!(windows) {
        true => target.replace('\\', "/"),
        false => target.to_owned(),
    }
}
