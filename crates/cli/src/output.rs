//! Where bytes go: standard output, nowhere, or a file that appears complete or not at all.

use std::fs::{self, File, FileTimes, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use crate::failure::Failure;
use crate::signals;

/// Standard output without the line buffer that the standard library puts before it.
pub(crate) fn stdout() -> io::Result<File> {
    #[cfg(unix)]
    return std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned().map(File::from);
    #[cfg(windows)]
    return std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned().map(File::from);
}

/// A sink of one file's output.
pub(crate) enum Output {
    Stdout(File),
    /// Output is counted by others and dropped: for testing and listing.
    Nowhere,
    /// A device or pipe that was named as output: written to as it is.
    Special(File, PathBuf),
    Fresh(FreshFile),
}

impl Output {
    /// A new file at `target`, replacing whatever has that name if `overwrite`.
    pub(crate) fn beside(target: &Path, overwrite: bool, private: bool) -> Result<Output, Failure> {
        FreshFile::create(target.to_owned(), overwrite, private).map(Output::Fresh)
    }

    /// The file at `path`, which must not exist unless `overwrite`. What exists and is not a
    /// regular file (a device, a pipe) is written to as it is; a link is followed.
    pub(crate) fn at(path: &Path, overwrite: bool, private: bool) -> Result<Output, Failure> {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                Err(Failure::Refused(format!("the output {} is a directory", path.display())))
            }
            Ok(found) if !found.is_file() => {
                let file = OpenOptions::new().write(true).open(path);
                let file = file.map_err(Failure::doing_to("cannot open", path))?;
                Ok(Output::Special(file, path.to_owned()))
            }
            Ok(_) if overwrite => {
                let target = fs::canonicalize(path).map_err(Failure::doing_to("cannot open", path))?;
                FreshFile::create(target, overwrite, private).map(Output::Fresh)
            }
            _ => FreshFile::create(path.to_owned(), overwrite, private).map(Output::Fresh),
        }
    }

    /// Turns an error of [`Write`] into a failure that says where.
    pub(crate) fn failure(&self, error: io::Error) -> Failure {
        match self {
            Output::Stdout(_) => Failure::writing_stdout(error),
            Output::Nowhere => Failure::doing("cannot write")(error),
            Output::Special(_, path) => Failure::doing_to("cannot write", path)(error),
            Output::Fresh(fresh) => Failure::doing_to("cannot write", &fresh.target)(error),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Stdout(file) | Output::Special(file, _) => file.write(bytes),
            Output::Nowhere => Ok(bytes.len()),
            Output::Fresh(fresh) => fresh.file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file under a temporary name beside its final one. Dropping it removes it.
pub(crate) struct FreshFile {
    file: File,
    temporary: PathBuf,
    target: PathBuf,
    overwrite: bool,
}

impl FreshFile {
    /// With `private`, only the owner may read it until [`commit`](Self::commit) says otherwise.
    fn create(target: PathBuf, overwrite: bool, private: bool) -> Result<Self, Failure> {
        if !overwrite && fs::symlink_metadata(&target).is_ok() {
            return Err(exists(&target));
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, if private { 0o600 } else { 0o666 });
        loop {
            let temporary = target.with_file_name(temporary_name());
            // Set before the file exists: a signal in between must find it.
            signals::remove_on_signal(Some(temporary.clone()));
            match options.open(&temporary) {
                Ok(file) => return Ok(FreshFile { file, temporary, target, overwrite }),
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => {
                    signals::remove_on_signal(None);
                    return Err(Failure::doing_to("cannot create", &target)(e));
                }
            }
        }
    }

    /// The final name.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Gives the file its final name. With `durable` its bytes and its name have reached the disk
    /// when this returns, so that the source may be deleted.
    pub(crate) fn commit(self, like: &Attributes, durable: bool) -> Result<(), Failure> {
        let target = self.target.clone();
        self.publish(like, durable).map_err(|e| match e.kind() {
            ErrorKind::AlreadyExists => exists(&target),
            _ => Failure::doing_to("cannot write", &target)(e),
        })
    }

    fn publish(self, like: &Attributes, durable: bool) -> io::Result<()> {
        like.apply(&self.file)?;
        if durable {
            self.file.sync_all()?;
        }
        if self.overwrite {
            fs::rename(&self.temporary, &self.target)?;
        } else {
            rename_new(&self.temporary, &self.target)?;
        }
        if durable {
            sync_folder(&self.target);
        }
        Ok(())
    }
}

impl Drop for FreshFile {
    fn drop(&mut self) {
        // After a commit the name is gone already.
        let _ = fs::remove_file(&self.temporary);
        signals::remove_on_signal(None);
    }
}

fn exists(target: &Path) -> Failure {
    Failure::Refused(format!("{} exists already; -f overwrites it", target.display()))
}

fn temporary_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!(".linerate-{}-{}.tmp", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Renames without replacing what may have appeared meanwhile: by a second link, which fails if
/// the name is taken, where the file system has links.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Err(e),
        Err(_) if fs::symlink_metadata(to).is_ok() => Err(ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}

/// Not every file system can do this; where it cannot, the bytes are on the disk at least.
fn sync_folder(file: &Path) {
    let folder = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// What an output takes over from its input.
#[derive(Default)]
pub(crate) struct Attributes {
    source: Option<Metadata>,
    /// Instead of the source's.
    modified: Option<SystemTime>,
}

impl Attributes {
    pub(crate) fn of(source: Option<&Metadata>, modified: Option<SystemTime>) -> Self {
        Attributes { source: source.cloned(), modified }
    }

    fn apply(&self, file: &File) -> io::Result<()> {
        if let Some(source) = &self.source {
            apply_mode(file, source)?;
        }
        let modified = self.modified.or_else(|| self.source.as_ref()?.modified().ok());
        let accessed = self.source.as_ref().and_then(|s| s.accessed().ok());
        let Some(modified) = modified else { return Ok(()) };
        file.set_times(FileTimes::new().set_modified(modified).set_accessed(accessed.unwrap_or(modified)))
    }
}

/// Owner and group as far as allowed, then the permission bits.
#[cfg(unix)]
fn apply_mode(file: &File, source: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let mut mode = source.mode() & 0o777;
    // Only the superuser can give files away; others keep what they make.
    let _ = fchown(file, Some(source.uid()), None);
    if fchown(file, None, Some(source.gid())).is_err() {
        // Our group is another one: it gets no more than everybody.
        mode &= !0o070 | (mode & 0o007) << 3;
    }
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn apply_mode(file: &File, source: &Metadata) -> io::Result<()> {
    file.set_permissions(source.permissions())
}
