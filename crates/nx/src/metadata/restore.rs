//! Metadata onto a folder that files have been extracted to.
//!
//! In this order: times and modes of files, folders, links, and at last times and modes of folders,
//! the deepest first. No file is written once the first link is made, so none is written through one.

use std::io;
use std::path::Path;
use std::time::SystemTime;

use super::{Attributes, MODE, Metadata, check_target};
use crate::error::{FileError, PathError};
use crate::extract::Existing;
use crate::paths::check_path;
use crate::tree::{Place, Tree};
use linerate_io::{FileAttributes, Folder, temporary_name};

/// Which links are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Links {
    /// Those that stay in the folder, see [`check_target`]; the others fail.
    #[default]
    Inside,
    /// All, wherever they lead: for archives from a trusted hand.
    Any,
    /// None.
    None,
}

/// What was restored.
#[derive(Debug, Default)]
pub struct Restored {
    /// Files whose time and mode were set.
    pub files: u64,
    /// Folders that are there with their time and mode.
    pub folders: u64,
    /// Links made.
    pub links: u64,
    /// Paths of links that were passed over because something was there.
    pub skipped: Vec<String>,
    /// What could not be restored, by path.
    pub failures: Vec<PathError>,
}

/// Restores what [`Metadata`] says to a folder.
///
/// What holds for paths in [`Extractor`](crate::Extractor) holds here: those that
/// [`check_path`] refuses are not made, and no link below the folder is followed.
pub struct Restorer<'a> {
    metadata: &'a Metadata,
    links: Links,
    existing: Existing,
    names: Option<Names<'a>>,
    written: Option<Written<'a>>,
}

/// A path of the archive, where it goes, and what is known of it.
type Placed<'a, T> = (&'a str, Place, T);

type Written<'a> = Box<dyn Fn(&str) -> bool + 'a>;

type Names<'a> = Box<dyn Fn(&str) -> Option<String> + 'a>;

impl<'a> Restorer<'a> {
    /// Restores everything that is known, makes no link that leads out, and replaces nothing.
    pub fn new(metadata: &'a Metadata) -> Self {
        Restorer {
            metadata,
            links: Links::default(),
            existing: Existing::default(),
            names: None,
            written: None,
        }
    }

    /// Which links are made.
    pub fn links(mut self, links: Links) -> Self {
        self.links = links;
        self
    }

    /// What to do where something is in the place of a link.
    pub fn existing(mut self, existing: Existing) -> Self {
        self.existing = existing;
        self
    }

    /// The path of each below the folder, or none to leave it out. [`Metadata::retain`] chooses.
    pub fn names(mut self, names: impl Fn(&str) -> Option<String> + 'a) -> Self {
        self.names = Some(Box::new(names));
        self
    }

    /// Which files have been written, by their paths in the archive. The others are left as they are.
    pub fn written(mut self, written: impl Fn(&str) -> bool + 'a) -> Self {
        self.written = Some(Box::new(written));
        self
    }

    /// Restores to that folder, which is made if it is not there.
    ///
    /// # Errors
    ///
    /// What concerns no path by itself: the folder cannot be made. What concerns paths is in
    /// [`Restored::failures`], and the others are restored.
    pub fn to_folder(&self, folder: impl AsRef<Path>) -> Result<Restored, PathError> {
        let folder = folder.as_ref();
        let root = Folder::create_all(folder).map_err(|e| PathError::new(&folder.to_string_lossy(), e))?;
        let mut done = Restored::default();
        self.files(&root, &mut done);
        let (tree, folders) = self.make_folders(&root, &mut done);
        self.make_links(&root, &mut done);
        stamp_folders(&tree, folders, &mut done);
        done.failures.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(done)
    }

    /// Where a path goes, if it is wanted.
    fn name(&self, path: &str) -> Option<String> {
        match &self.names {
            None => Some(path.to_owned()),
            Some(names) => names(path).filter(|name| !name.is_empty()),
        }
    }

    /// The wanted ones of some paths with their places; those that may not be made fail.
    fn placed<T>(
        &self,
        root: &Folder,
        all: impl Iterator<Item = (&'a String, T)>,
        done: &mut Restored,
    ) -> (Tree, Vec<Placed<'a, T>>) {
        let mut wanted = Vec::new();
        for (path, of) in all {
            let Some(name) = self.name(path) else { continue };
            match check_path(&name) {
                Ok(()) => wanted.push((path.as_str(), name, of)),
                Err(what) => done.failures.push(PathError::new(path, FileError::Path(what))),
            }
        }
        let (tree, places) = Tree::of(root.clone(), wanted.iter().map(|(_, name, _)| name.as_str()));
        let placed = wanted.into_iter().zip(places).map(|((path, _, of), place)| (path, place, of));
        (tree, placed.collect())
    }

    fn files(&self, root: &Folder, done: &mut Restored) {
        let written = |path: &str| self.written.as_ref().is_none_or(|written| written(path));
        let files = self.metadata.files.iter().filter(|(path, _)| written(path));
        let (tree, files) = self.placed(root, files, done);
        for (path, place, attributes) in files {
            let stamped = tree.folder(place.folder);
            match stamped.and_then(|folder| folder.set_file_attributes(&place.name, &stamp(attributes)?)) {
                Ok(()) => done.files += 1,
                Err(error) => done.failures.push(PathError::new(path, error)),
            }
        }
    }

    /// Makes the folders, and returns them to be stamped.
    fn make_folders(&self, root: &Folder, done: &mut Restored) -> (Tree, Vec<Placed<'a, &'a Attributes>>) {
        let (tree, mut folders) = self.placed(root, self.metadata.folders.iter(), done);
        folders.retain(|(path, place, _)| {
            let made = tree.folder(place.folder).and_then(|folder| folder.create_subfolder(&place.name));
            made.map_err(|error| done.failures.push(PathError::new(path, error))).is_ok()
        });
        (tree, folders)
    }

    fn make_links(&self, root: &Folder, done: &mut Restored) {
        if self.links == Links::None {
            return;
        }
        let (tree, links) = self.placed(root, self.metadata.links.iter(), done);
        for (path, place, link) in links {
            let below = self.name(path).unwrap_or_default();
            let checked = match self.links {
                Links::Inside => check_target(&below, &link.target).map_err(FileError::Link),
                _ => Ok(()),
            };
            let made = checked.and_then(|()| {
                let folder = tree.folder(place.folder)?;
                if self.existing == Existing::Skip && folder.exists(&place.name)? {
                    return Ok(false);
                }
                self.make_link(&folder, &place.name, &link.target, link.modified).map(|()| true)
            });
            match made {
                Ok(true) => done.links += 1,
                Ok(false) => done.skipped.push(path.to_owned()),
                Err(error) => done.failures.push(PathError::new(path, error)),
            }
        }
    }

    /// Under a temporary name first, so that it appears in one step.
    fn make_link(
        &self,
        folder: &Folder,
        name: &str,
        target: &str,
        modified: super::Time,
    ) -> Result<(), FileError> {
        let temp = temporary_name();
        folder.symlink(target, &temp)?;
        let replace = self.existing == Existing::Replace;
        let published = system_time(modified)
            .and_then(|time| folder.set_link_modified(&temp, time))
            .and_then(|()| folder.commit(&temp, name, replace));
        published.map_err(|error| {
            // The error at hand says more than one of cleaning up.
            let _ = folder.remove(&temp);
            match error.kind() {
                io::ErrorKind::AlreadyExists if !replace => FileError::Exists,
                _ => error.into(),
            }
        })
    }
}

/// As the system sets it.
fn stamp(attributes: &Attributes) -> io::Result<FileAttributes> {
    let mode = attributes.mode.map(|mode| u32::from(mode & MODE));
    Ok(FileAttributes { modified: system_time(attributes.modified)?, mode })
}

fn system_time(time: super::Time) -> io::Result<SystemTime> {
    let unknown = || io::Error::new(io::ErrorKind::InvalidInput, "a time that the system does not know");
    time.system().ok_or_else(unknown)
}

/// The deepest first: who may not enter a folder any more cannot reach what is in it.
fn stamp_folders(tree: &Tree, mut folders: Vec<Placed<'_, &Attributes>>, done: &mut Restored) {
    folders.sort_by_key(|(path, ..)| core::cmp::Reverse(path.matches('/').count()));
    for (path, place, attributes) in folders {
        let folder = tree.folder(place.folder).and_then(|folder| folder.subfolder(&place.name));
        match folder.and_then(|folder| folder.set_attributes(&stamp(attributes)?)) {
            Ok(()) => done.folders += 1,
            Err(error) => done.failures.push(PathError::new(path, error)),
        }
    }
}
