//! Walks a folder recursively.

use std::fs;
use std::path::{Path, PathBuf};

use linerate_core::{Error, Kind};
use linerate_io::LOCK_SUFFIX;

use super::cancel::CancelToken;
use super::error::{PackError, PackResult};
use super::progress::Stage;
use crate::format::paths::bad_name;

/// Describes a recursive walk of a folder: its root, folders to prune, and the treatment of names
/// that an archive cannot hold.
///
/// A reference to a path or a string converts into a walk of everything below it.
///
/// ```
/// use linerate_nx::pack::{Builder, PackOptions, FileOptions, Walk};
///
/// # let folder = tempfile::tempdir()?;
/// # std::fs::create_dir(folder.path().join(".git"))?;
/// # std::fs::write(folder.path().join("CON"), "")?;
/// let mut builder = Builder::new(PackOptions::default())?;
/// let walk = Walk::new(folder.path()).prune(&|path| path == ".git").skip_bad_names(true);
/// let skipped = builder.add_folder(walk, |_| Some(FileOptions::default()))?;
/// assert_eq!(skipped.bad_names[0].message, "a name that Windows reserves for a device");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Walk<'a> {
    root: &'a Path,
    prune: Option<&'a dyn Fn(&str) -> bool>,
    skip_bad_names: bool,
    left_out: &'a [&'a Path],
    pub(super) metadata: bool,
    cancel: Option<&'a CancelToken>,
}

/// A file, folder or link that is left out because of its name, or a link because of its target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BadName {
    /// The path. For a folder with a bad name, only the folder is listed, not its content.
    pub path: PathBuf,
    /// The problem of the name or target.
    pub message: &'static str,
}

/// Chosen paths of a folder that cannot be packed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// Devices, sockets and pipes; also links, unless [`Walk::metadata`] is set.
    pub others: Vec<PathBuf>,
    /// Files, folders and links that [`Walk::skip_bad_names`] left out, in ascending order.
    pub bad_names: Vec<BadName>,
}

impl Skipped {
    /// Whether nothing was left out.
    pub fn is_empty(&self) -> bool {
        self.others.is_empty() && self.bad_names.is_empty()
    }

    /// Returns each path that was left out, and the reason.
    pub fn iter(&self) -> impl Iterator<Item = (&Path, Error)> {
        const OTHER: Error = Error::new(Kind::Unsupported, 0, "neither a file nor a folder");
        let others = self.others.iter().map(|path| (&**path, OTHER));
        let bad_names = self.bad_names.iter();
        others.chain(bad_names.map(|bad| (&*bad.path, Error::new(Kind::BadArgument, 0, bad.message))))
    }

    /// Sorts the bad names, and lists each once: entries of one bad folder may be at several places
    /// of a walk.
    pub(super) fn sort(mut self) -> Skipped {
        self.bad_names.sort_unstable();
        self.bad_names.dedup();
        self
    }
}

impl<'a> Walk<'a> {
    /// Walks everything below `root`. A bad name is an error.
    pub fn new(root: &'a (impl AsRef<Path> + ?Sized)) -> Self {
        let root = root.as_ref();
        Walk { root, prune: None, skip_bad_names: false, left_out: &[], metadata: false, cancel: None }
    }

    /// Excludes folders for which `prune` returns true. It gets paths relative to the root.
    /// Excluded folders are not read, so they need not be readable, and their content may have bad
    /// names.
    #[must_use]
    pub fn prune(mut self, prune: &'a dyn Fn(&str) -> bool) -> Self {
        self.prune = Some(prune);
        self
    }

    /// Sets whether files and folders with bad names are left out and listed, instead of being an
    /// error. Bad names are names that are not UTF-8 or that [`check_path`](crate::check_path)
    /// rejects. A link that is packed as [`metadata`](Self::metadata), and whose target is not
    /// UTF-8, is treated as one with a bad name. Default: false.
    #[must_use]
    pub fn skip_bad_names(mut self, skip: bool) -> Self {
        self.skip_bad_names = skip;
        self
    }

    /// Leaves out these files and, on Windows, their lock files. Use it for an archive that lies in
    /// the folder that it is made of.
    #[must_use]
    pub fn leave_out(mut self, archives: &'a [&'a Path]) -> Self {
        self.left_out = archives;
        self
    }

    /// Sets whether the [metadata](crate::metadata) of chosen paths is packed too: times, modes,
    /// links and folders. `choose` gets the paths of folders with a slash at the end. A folder that
    /// contains a chosen path is always kept. Default: false.
    #[must_use]
    pub fn metadata(mut self, metadata: bool) -> Self {
        self.metadata = metadata;
        self
    }

    /// Sets the token that cancels the walk with an error. Walking a folder takes seconds if it is
    /// not in the system's cache.
    #[must_use]
    pub(super) fn cancel(mut self, cancel: &'a CancelToken) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// Walks the folder and returns its entries sorted by path. Links below the root are not
    /// followed.
    ///
    /// # Errors
    /// Fails if a folder or the type of an entry cannot be read, which the error names, or if the
    /// walk is cancelled.
    pub(crate) fn run(&self) -> PackResult<Vec<WalkEntry>> {
        if let Some(cancel) = self.cancel {
            cancel.begin(Stage::Listing);
        }
        let mut all = Vec::new();
        let left_out: Vec<String> = self.left_out.iter().filter_map(|file| self.name_of(file)).collect();
        let mut folders = vec![(self.root.to_owned(), String::new(), true)];
        while let Some((folder, prefix, is_utf8)) = folders.pop() {
            let at_folder = |error: std::io::Error| PackError::reading(error).at(&folder);
            for entry in fs::read_dir(&folder).map_err(at_folder)? {
                self.step()?;
                let entry = entry.map_err(at_folder)?;
                let path = entry.path();
                let kind = entry.file_type().map_err(|e| PackError::reading(e).at(&path))?;
                let last = entry.file_name();
                let name = format!("{prefix}{}", last.to_string_lossy());
                let is_utf8 = is_utf8 && last.to_str().is_some();
                if kind.is_dir() {
                    if self.prune.is_some_and(|prune| prune(&name)) {
                        continue;
                    }
                    folders.push((path.clone(), format!("{name}/"), is_utf8));
                }
                if left_out.iter().any(|own| is_own(own, &name)) {
                    continue;
                }
                all.push(WalkEntry { name, path, kind, is_utf8 });
            }
        }
        all.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        if let Some(cancel) = self.cancel {
            cancel.begin(Stage::Measuring);
        }
        Ok(all)
    }

    /// Counts an entry, and fails if the walk was cancelled.
    fn step(&self) -> PackResult<()> {
        self.cancel.map_or(Ok(()), CancelToken::step)
    }

    /// Returns the name of an existing file below the root, or `None` if it is elsewhere, missing
    /// or not UTF-8.
    fn name_of(&self, file: &Path) -> Option<String> {
        let (root, file) = (fs::canonicalize(self.root).ok()?, fs::canonicalize(file).ok()?);
        let parts: Option<Vec<&str>> =
            file.strip_prefix(root).ok()?.iter().map(|part| part.to_str()).collect();
        Some(parts?.join("/"))
    }

    /// Returns whether an entry has a good name. A bad name is added to `bad_names`.
    ///
    /// # Errors
    /// Returns `BadArgument` for a bad name, unless bad names are left out.
    pub(crate) fn admits(&self, found: &WalkEntry, bad_names: &mut Vec<BadName>) -> PackResult<bool> {
        let Some(bad) = found.bad_name() else { return Ok(true) };
        self.refuse(bad, bad_names).map(|()| false)
    }

    /// Adds a bad name to `bad_names`.
    ///
    /// # Errors
    /// Returns `BadArgument`, unless bad names are left out.
    pub(super) fn refuse(&self, bad: BadName, bad_names: &mut Vec<BadName>) -> PackResult<()> {
        if !self.skip_bad_names {
            return Err(PackError::rule(Kind::BadArgument, bad.message).at(bad.path));
        }
        // Entries of one bad folder are mostly adjacent. `Skipped::sort` drops the other repeats.
        if bad_names.last() != Some(&bad) {
            bad_names.push(bad);
        }
        Ok(())
    }
}

/// Whether a name is that of the archive or of its lock file, which exists only on Windows.
fn is_own(archive: &str, name: &str) -> bool {
    let rest = name.strip_prefix(archive);
    rest.is_some_and(|rest| rest.is_empty() || cfg!(windows) && rest == LOCK_SUFFIX)
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for Walk<'a> {
    fn from(root: &'a P) -> Self {
        Walk::new(root)
    }
}

/// A file, folder, link or special file below the root.
pub(crate) struct WalkEntry {
    /// The path relative to the root, with `/` between components, converted lossily to UTF-8.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) kind: fs::FileType,
    is_utf8: bool,
}

impl WalkEntry {
    /// Returns the metadata of the entry; for a link, that of the link itself.
    pub(crate) fn metadata(&self) -> PackResult<fs::Metadata> {
        fs::symlink_metadata(&self.path).map_err(|error| PackError::reading(error).at(&self.path))
    }

    /// Returns the topmost component that an archive cannot hold, if there is one.
    pub(super) fn bad_name(&self) -> Option<BadName> {
        let depth = self.name.matches('/').count();
        // Returns the path on disk of the ancestor whose name is the first `len` bytes of `name`.
        let path_of = |len: usize| {
            let below = depth - self.name[..len].matches('/').count();
            self.path.ancestors().nth(below).unwrap_or(&self.path).to_owned()
        };
        let bad = bad_name(&self.name);
        if self.is_utf8 {
            return bad.map(|(len, message)| BadName { path: path_of(len), message });
        }
        let ends = self.name.match_indices('/').map(|(at, _)| at).chain([self.name.len()]);
        let bytes = ends.filter(|&len| bad.is_none_or(|(bad, _)| len < bad));
        let not_utf8 = bytes.map(path_of).find(|path| path.file_name().is_some_and(|n| n.to_str().is_none()));
        Some(match (not_utf8, bad) {
            (None, Some((len, message))) => BadName { path: path_of(len), message },
            (path, _) => {
                BadName { path: path.unwrap_or_else(|| self.path.clone()), message: "the name is not UTF-8" }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(walk: Walk<'_>) -> Vec<String> {
        let found = walk.run().expect("readable");
        found.into_iter().filter(|found| found.kind.is_file()).map(|found| found.name).collect()
    }

    #[test]
    fn paths_are_in_byte_order_with_slashes() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["b/z", "b/a", "a", "b.txt", ".hidden/x"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("writable");
            fs::write(path, name).expect("writable");
        }
        assert_eq!(names(folder.path().into()), [".hidden/x", "a", "b.txt", "b/a", "b/z"]);
        let walk = Walk::new(folder.path()).prune(&|path| path == "b" || path == "a");
        assert_eq!(names(walk), [".hidden/x", "a", "b.txt"], "only folders are pruned");
    }

    #[test]
    fn files_that_are_left_out_are_found_by_any_path_that_leads_to_them() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("b")).expect("writable");
        for name in ["a.nx", "a.nx.bak", "b/a.nx", "b/c"] {
            fs::write(folder.path().join(name), name).expect("writable");
        }
        let own = [folder.path().join("b/../a.nx"), folder.path().join("b/a.nx"), folder.path().join("none")];
        let own: Vec<&Path> = own.iter().map(PathBuf::as_path).collect();
        assert_eq!(names(Walk::new(folder.path()).leave_out(&own)), ["a.nx.bak", "b/c"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("a"), b"1").expect("writable");
        std::os::unix::fs::symlink("a", folder.path().join("b")).expect("a link");
        std::os::unix::fs::symlink(".", folder.path().join("c")).expect("a link");
        let found = Walk::new(folder.path()).run().expect("readable");
        assert_eq!((found.len(), found.iter().filter(|found| found.kind.is_file()).count()), (3, 1));
    }

    #[test]
    fn missing_folder_is_an_error_that_names_it() {
        let error = Walk::new(Path::new("/nowhere/at/all")).run().err().expect("it is not there");
        assert_eq!(error.file(), Some(Path::new("/nowhere/at/all")));
    }

    #[cfg(unix)]
    #[test]
    fn bad_names_are_listed_once_by_topmost_component() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().expect("a folder");
        let odd = |bytes: &[u8]| folder.path().join(OsStr::from_bytes(bytes));
        for path in
            [&b"good/a"[..], b"CON/x", b"CON/y/z", b"a:b", b"\xff/CON/x", b"good/\xfe", b"good/nul/\xfe"]
        {
            fs::create_dir_all(odd(path).parent().expect("a parent")).expect("writable");
            fs::write(odd(path), b"").expect("writable");
        }
        let walk = Walk::new(folder.path()).skip_bad_names(true);
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        for found in walk.run().expect("readable") {
            if found.kind.is_file() && walk.admits(&found, &mut bad).expect("left out") {
                good.push(found.name);
            }
        }
        assert_eq!(good, ["good/a"]);
        let mut paths: Vec<PathBuf> = bad.into_iter().map(|bad| bad.path).collect();
        paths.sort();
        let mut expected = [&b"CON"[..], b"a:b", b"\xff", b"good/\xfe", b"good/nul"].map(odd);
        expected.sort();
        assert_eq!(paths, expected);
    }
}
