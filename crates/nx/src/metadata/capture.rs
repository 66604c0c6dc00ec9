//! What a folder says of its files.

use std::fs;
use std::io;
use std::path::Path;

use linerate_core::Kind;

use super::{Attributes, Link, Metadata, Time};
use crate::pack::{PackError, PackResult};
use crate::paths::check_path;

impl Metadata {
    /// What is below a folder, as far as `keep` says so; folders with any of that in them too. It is
    /// asked with paths relative to `root`. Links are not followed. Devices, sockets and pipes are
    /// passed over.
    ///
    /// # Errors
    /// `Io` if something cannot be looked at; `BadArgument` if a path is not UTF-8 or one that
    /// [`check_path`] refuses, or the target of a link is not UTF-8. Each names the path.
    pub fn capture(root: &Path, mut keep: impl FnMut(&str) -> bool) -> PackResult<Metadata> {
        let mut found = Metadata::default();
        let mut folders = vec![(root.to_owned(), String::new())];
        while let Some((folder, prefix)) = folders.pop() {
            let at = |path: &Path| {
                let path = path.display().to_string();
                move |error: io::Error| PackError::from(error).at(path)
            };
            for entry in fs::read_dir(&folder).map_err(at(&folder))? {
                let path = entry.map_err(at(&folder))?.path();
                // Of a link, these are the link's own.
                let of = fs::symlink_metadata(&path).map_err(at(&path))?;
                let name =
                    path.file_name().and_then(|name| name.to_str()).map(|name| format!("{prefix}{name}"));
                let name = name.ok_or_else(|| refused("the name is not UTF-8", &path))?;
                if of.is_dir() {
                    folders.push((path.clone(), format!("{name}/")));
                    found.folders.insert(name, Attributes::of(&of).map_err(at(&path))?);
                } else if of.is_file() && keep(&name) {
                    found.files.insert(name, Attributes::of(&of).map_err(at(&path))?);
                } else if of.is_symlink() && keep(&name) {
                    let target = fs::read_link(&path).map_err(at(&path))?;
                    let target = target.to_str().ok_or_else(|| refused("the target is not UTF-8", &path))?;
                    let modified = of.modified().map_err(at(&path))?.into();
                    found.links.insert(name, Link { target: portable(target), modified });
                }
            }
        }
        found.retain(keep);
        for path in found.folders.keys().chain(found.links.keys()) {
            check_path(path).map_err(|what| refused(what, &root.join(path)))?;
        }
        Ok(found)
    }
}

fn refused(what: &'static str, path: &Path) -> PackError {
    PackError::rule(Kind::BadArgument, what).at(path.display().to_string())
}

impl Attributes {
    /// Those that the system tells of a file or folder.
    ///
    /// # Errors
    /// Where the system has no times of files.
    pub fn of(found: &fs::Metadata) -> io::Result<Attributes> {
        #[cfg(unix)]
        let mode = Some(std::os::unix::fs::MetadataExt::mode(found) as u16 & super::MODE);
        #[cfg(not(unix))]
        let mode = None;
        Ok(Attributes { modified: Time::from(found.modified()?), mode })
    }
}

/// With `/` between components.
fn portable(target: &str) -> String {
    match cfg!(windows) {
        true => target.replace('\\', "/"),
        false => target.to_owned(),
    }
}
