//! Restores metadata to a folder with extracted files.
//!
//! The order is: times and modes of files; new folders; links; last the times and modes of folders,
//! deepest first. No file is written after the first link is made, so none is written through a
//! link.

use std::io;
use std::path::Path;
use std::time::SystemTime;

use super::{Attributes, MODE, Metadata, check_target};
use crate::error::{FileError, PathError};
use crate::format::paths::check_name_here;
use crate::format::tree::{Existing, Location, Tree};
use linerate_io::{FileAttributes, Folder, temporary_name};

/// Policy for symbolic links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Links {
    /// Create links that stay in the folder, see [`check_target`]; report other links as errors.
    #[default]
    Inside,
    /// Create all links, whatever their target. For trusted archives.
    Any,
    /// Create no links.
    None,
}

/// Result of restoring.
#[derive(Debug, Default)]
pub struct Restored {
    /// Number of files whose time and mode were set.
    pub files: u64,
    /// Number of folders whose time and mode were set.
    pub folders: u64,
    /// Number of links created.
    pub links: u64,
    /// Paths of links that were skipped because something exists at the path, with
    /// [`Existing::Skip`].
    pub skipped: Vec<String>,
    /// Errors, sorted by path.
    pub failures: Vec<PathError>,
}

/// Restores [`Metadata`] to a folder.
///
/// Paths are treated as in [`Extractor`](crate::Extractor): paths that it refuses as unsafe are
/// errors, and no link below the folder is followed.
pub struct Restorer<'a> {
    metadata: &'a Metadata,
    links: Links,
    existing: Existing,
    names: Option<Names<'a>>,
    written: Option<Written<'a>>,
}

/// A path of the archive, its output location, and its metadata.
type Placed<'a, T> = (&'a str, Location, T);

type Written<'a> = Box<dyn Fn(&str) -> bool + 'a>;

type Names<'a> = Box<dyn Fn(&str) -> Option<String> + 'a>;

impl<'a> Restorer<'a> {
    /// Creates a restorer of all metadata, which creates no link that leads out of the folder and
    /// replaces nothing.
    pub fn new(metadata: &'a Metadata) -> Self {
        Restorer {
            metadata,
            links: Links::default(),
            existing: Existing::default(),
            names: None,
            written: None,
        }
    }

    /// Sets the policy for links. Default: [`Links::Inside`].
    pub fn links(mut self, links: Links) -> Self {
        self.links = links;
        self
    }

    /// Sets what to do if something exists at the path of a link. Default: [`Existing::Fail`].
    pub fn existing(mut self, existing: Existing) -> Self {
        self.existing = existing;
        self
    }

    /// Selects and renames paths: `names` returns the path below the folder, or `None` or an empty
    /// path to leave it out.
    pub fn names(mut self, names: impl Fn(&str) -> Option<String> + 'a) -> Self {
        self.names = Some(Box::new(names));
        self
    }

    /// Restores the metadata of a file only if `written` returns true for its path in the archive.
    /// Folders and links are always restored. Default: all files.
    pub fn written(mut self, written: impl Fn(&str) -> bool + 'a) -> Self {
        self.written = Some(Box::new(written));
        self
    }

    /// Restores to `folder`, which is created if missing.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be created. Errors of single paths are in
    /// [`Restored::failures`], and do not stop the work.
    pub fn to_folder(&self, folder: impl AsRef<Path>) -> Result<Restored, PathError> {
        let folder = folder.as_ref();
        let root = Folder::create_all(folder).map_err(|e| PathError::new(&folder.to_string_lossy(), e))?;
        let mut done = Restored::default();
        self.files(&root, &mut done);
        let (tree, folders) = self.make_folders(&root, &mut done);
        self.make_links(&root, &mut done);
        set_folder_attributes(&tree, folders, &mut done);
        done.failures.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(done)
    }

    /// Returns the output path of a path, or `None` if it is left out.
    fn name(&self, path: &str) -> Option<String> {
        match &self.names {
            None => Some(path.to_owned()),
            Some(names) => names(path).filter(|name| !name.is_empty()),
        }
    }

    /// Returns the locations of the given paths. Adds an error for each path that is not allowed.
    fn placed<T>(
        &self,
        root: &Folder,
        all: impl Iterator<Item = (&'a String, T)>,
        done: &mut Restored,
    ) -> (Tree, Vec<Placed<'a, T>>) {
        let mut wanted = Vec::new();
        for (path, of) in all {
            let Some(name) = self.name(path) else { continue };
            match check_name_here(&name) {
                Ok(()) => wanted.push((path.as_str(), name, of)),
                Err(what) => done.failures.push(PathError::new(path, FileError::Path(what))),
            }
        }
        let (tree, locations) = Tree::new(root.clone(), wanted.iter().map(|(_, name, _)| name.as_str()));
        let placed = wanted.into_iter().zip(locations).map(|((path, _, of), place)| (path, place, of));
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

    /// Creates the folders, and returns them for [`set_folder_attributes`].
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

    /// Creates a link under a temporary name and renames it, so that it appears complete.
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
            // The first error matters more than an error of the cleanup.
            let _ = folder.remove(&temp);
            match error.kind() {
                io::ErrorKind::AlreadyExists if !replace => FileError::Exists,
                _ => error.into(),
            }
        })
    }
}

/// Converts attributes to the system's types.
fn stamp(attributes: &Attributes) -> io::Result<FileAttributes> {
    let mode = attributes.mode.map(|mode| u32::from(mode & MODE));
    Ok(FileAttributes { modified: system_time(attributes.modified)?, mode })
}

fn system_time(time: super::Time) -> io::Result<SystemTime> {
    let unknown = || io::Error::new(io::ErrorKind::InvalidInput, "a time that the system does not know");
    time.system().ok_or_else(unknown)
}

/// Sets times and modes of folders, deepest first: a folder whose mode denies access hides the
/// folders inside.
fn set_folder_attributes(tree: &Tree, mut folders: Vec<Placed<'_, &Attributes>>, done: &mut Restored) {
    folders.sort_by_key(|(path, ..)| core::cmp::Reverse(path.matches('/').count()));
    for (path, place, attributes) in folders {
        let folder = tree.folder(place.folder).and_then(|folder| folder.subfolder(&place.name));
        match folder.and_then(|folder| folder.set_attributes(&stamp(attributes)?)) {
            Ok(()) => done.folders += 1,
            Err(error) => done.failures.push(PathError::new(path, error)),
        }
    }
}
