//! An output made beside the file it comes from: what must hold before, and the source deleted last.

use std::fs::{self, File, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::failure::Failure;
use crate::input;
use crate::output::{Attributes, Output};

/// An operand's open file.
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) meta: Metadata,
}

/// What may be done beside a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beside {
    /// Links are followed, and other hard links do not matter.
    pub(crate) force: bool,
    /// The source goes when its output is in place.
    pub(crate) deletes: bool,
}

impl Opened {
    pub(crate) fn stdin() -> Result<Opened, Failure> {
        Opened::of(input::stdin())
    }

    /// Opens the file at `path`, if it is one to work on. `about_folders` is said of a directory.
    pub(crate) fn open(path: &Path, beside: Option<Beside>, about_folders: &str) -> Result<Opened, Failure> {
        let meta = fs::metadata(path).map_err(Failure::doing("cannot open"))?;
        if meta.is_dir() {
            return Err(Failure::Skipped(format!("skipped: it is a directory{about_folders}")));
        }
        if let Some(beside) = beside {
            suited(path, &meta, beside)?;
        }
        Opened::of(File::open(path))
    }

    fn of(file: std::io::Result<File>) -> Result<Opened, Failure> {
        let cannot_open = || Failure::doing("cannot open");
        let file = file.map_err(cannot_open())?;
        let meta = file.metadata().map_err(cannot_open())?;
        Ok(Opened { file, meta })
    }

    /// Whether the path still names the file that was read, with what was read in it.
    fn is_still(&self, path: &Path) -> bool {
        let same =
            |now: &Metadata| now.len() == self.meta.len() && now.modified().ok() == self.meta.modified().ok();
        let (Ok(by_file), Ok(by_path)) = (self.file.metadata(), fs::metadata(path)) else { return false };
        same(&by_file) && same(&by_path) && is_same_file(&by_file, &by_path)
    }
}

/// Files that cannot be replaced by another without losing something are left alone.
fn suited(path: &Path, meta: &Metadata, beside: Beside) -> Result<(), Failure> {
    let skipped = |what: &str| Err(Failure::Skipped(format!("skipped: it {what}")));
    if !meta.is_file() {
        return skipped("is not a regular file");
    }
    if !beside.force && path.is_symlink() {
        return skipped("is a symbolic link; -f follows it");
    }
    if !beside.force && beside.deletes && links(meta) > 1 {
        return skipped("has other hard links; -k or -f compresses it all the same");
    }
    Ok(())
}

/// An output that is complete, and where it came from.
pub(crate) struct Finished<'a> {
    pub(crate) output: Output,
    /// The file that was read, `None` if it is standard input.
    pub(crate) source: Option<&'a Path>,
    pub(crate) input: &'a Opened,
    /// The time that the output gets, if it is not that of its source.
    pub(crate) modified: Option<SystemTime>,
    /// Whether the source goes, if nothing speaks against it.
    pub(crate) deletes: bool,
}

impl Finished<'_> {
    /// Gives the output its name, then deletes the source if that is wanted and there are no
    /// `warnings`. Returns the file made, if one was.
    pub(crate) fn put_in_place(self, warnings: &mut Vec<String>) -> Result<Option<PathBuf>, Failure> {
        let fresh = match self.output {
            Output::Fresh(fresh) => fresh,
            Output::Special(_, path) => return Ok(Some(path)),
            Output::Stdout(_) | Output::Nowhere => return Ok(None),
        };
        let target = fresh.target().to_owned();
        let source = self.source.filter(|_| self.input.meta.is_file());
        let attributes = Attributes::of(source.map(|_| &self.input.meta), self.modified);
        let deleted = source.filter(|_| self.deletes);
        fresh.commit(&attributes, deleted.is_some())?;
        if let Some(source) = deleted.filter(|_| warnings.is_empty()) {
            if self.input.is_still(source) {
                fs::remove_file(source).map_err(Failure::doing("cannot delete the source"))?;
            } else {
                warnings.push("kept: it changed while it was read".into());
            }
        }
        Ok(Some(target))
    }
}

#[cfg(unix)]
fn links(meta: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(meta)
}

#[cfg(not(unix))]
fn links(_: &Metadata) -> u64 {
    1
}

#[cfg(unix)]
fn is_same_file(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn is_same_file(_: &Metadata, _: &Metadata) -> bool {
    true
}
