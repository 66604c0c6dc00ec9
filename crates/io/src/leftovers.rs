//! The names of files that are not complete yet, and their removal once no process completes them.
//!
//! A name is `.linerate-PLACE-PROCESS-START-COUNT.tmp`, all numbers hexadecimal: PLACE stands for the
//! machine and its process numbers (containers have their own), START for when the process began. So
//! a number that the system gives out again is no reason to keep, and a process elsewhere none to
//! remove.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

/// Where it cannot be told whether a process lives, its files are left alone for so long after they
/// were last written.
const UNKNOWN_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Entries of a folder that a sweep on the way to a new file looks at: some milliseconds.
pub(crate) const SWEPT_ENTRIES: usize = 1 << 14;

/// Folders that are remembered as swept; then it begins anew.
const SWEPT_FOLDERS: usize = 1 << 14;

/// A name for something that is not complete yet. No other, of this process or another, is the same.
pub fn temporary_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let (place, start) = (place(), own_start());
    format!(".linerate-{place:x}-{:x}-{start:x}-{count:x}.tmp", std::process::id())
}

/// Whether [`temporary_name`] makes such names.
pub fn is_temporary_name(name: &str) -> bool {
    Maker::of(name).is_some()
}

/// Who made a temporary name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Maker {
    place: u32,
    process: u32,
    start: u64,
}

impl Maker {
    fn of(name: &str) -> Option<Maker> {
        // Extraction tries with an accent whether a file system keeps forms of Unicode apart.
        let inner = name.strip_prefix(".linerate-")?.strip_suffix(".tmp")?.trim_end_matches('\u{e9}');
        let mut parts = inner.split('-');
        // `from_str_radix` alone would take a sign.
        let mut number = || {
            let digits = parts.next()?;
            let is_hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
            is_hex.then(|| u64::from_str_radix(digits, 16).ok())?
        };
        let (place, process, start) = (number()?, number()?, number()?);
        number()?;
        if parts.next().is_some() {
            return None;
        }
        Some(Maker { place: place.try_into().ok()?, process: process.try_into().ok()?, start })
    }

    /// Whether it still runs; `None` if that cannot be told.
    fn runs(self) -> Option<bool> {
        if self.place != place() {
            return None;
        }
        if self.process == std::process::id() {
            return Some(self.start == own_start());
        }
        process_runs(self.process, self.start)
    }
}

/// Which processes a number can mean: those of a machine, or of a container.
fn place() -> u32 {
    static PLACE: OnceLock<u32> = OnceLock::new();
    *PLACE.get_or_init(|| {
        #[cfg(unix)]
        let host = rustix::system::uname().nodename().to_bytes().to_vec();
        #[cfg(not(unix))]
        let host = std::env::var_os("COMPUTERNAME").unwrap_or_default().into_encoded_bytes();
        let numbers = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        let numbers = numbers.as_os_str().as_encoded_bytes();
        // FNV-1a.
        let step = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        host.iter().chain(numbers).fold(0x811c_9dc5, step)
    })
}

/// When this process began, in the system's ticks; 0 where that is not told.
fn own_start() -> u64 {
    static START: OnceLock<u64> = OnceLock::new();
    *START.get_or_init(|| start_of("self").unwrap_or(0))
}

/// Field 22 of `/proc/PID/stat` (proc(5)). The second field, a name in parentheses, may hold anything.
fn start_of(process: &str) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(19)?.parse().ok()
}

#[cfg(unix)]
fn process_runs(process: u32, start: u64) -> Option<bool> {
    let number = rustix::process::Pid::from_raw(process.try_into().ok()?)?;
    match rustix::process::test_kill_process(number) {
        Err(rustix::io::Errno::SRCH) => Some(false),
        // Ours or somebody else's: there is one of that number. Is it the same?
        _ => Some(start_of(&process.to_string()).is_none_or(|found| found == start)),
    }
}

#[cfg(not(unix))]
fn process_runs(_process: u32, _start: u64) -> Option<bool> {
    None
}

/// Whether a file or link of that name, and of that time of its last change, is to be removed.
pub(crate) fn is_abandoned(
    name: &str,
    modified: impl FnOnce() -> io::Result<SystemTime>,
) -> io::Result<bool> {
    match Maker::of(name).map(Maker::runs) {
        None => Ok(false),
        Some(Some(runs)) => Ok(!runs),
        Some(None) => {
            let age = SystemTime::now().duration_since(modified()?);
            Ok(age.is_ok_and(|age| age >= UNKNOWN_AGE))
        }
    }
}

/// Whether something of that name is to be removed.
fn is_leftover(entry: &fs::DirEntry) -> io::Result<bool> {
    let name = entry.file_name();
    let Some(name) = name.to_str().filter(|name| is_temporary_name(name)) else { return Ok(false) };
    // Files and links have such names; a folder is somebody's.
    Ok(!entry.file_type()?.is_dir() && is_abandoned(name, || entry.metadata()?.modified())?)
}

/// What [`remove_leftovers`] did.
#[derive(Debug, Default)]
pub struct Leftovers {
    /// What was removed, sorted.
    pub removed: Vec<PathBuf>,
    /// Folders that could not be read, and files that could not be removed.
    pub failed: Vec<(PathBuf, io::Error)>,
}

/// Removes what killed runs left in a folder and, if `deep`, in all folders below: the files and links
/// whose [temporary names](temporary_name) were made by processes that do not run any more, or of which
/// that cannot be told, and which are a day old. Links to folders are not followed. With `dry`, nothing
/// is removed. What cannot be read or removed is passed over; what goes meanwhile is no matter.
pub fn remove_leftovers(folder: &Path, deep: bool, dry: bool) -> Leftovers {
    let mut found = Leftovers::default();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                found.failed.push((folder, error));
                continue;
            }
        };
        for entry in entries {
            let Ok(entry) = entry.map_err(|error| found.failed.push((folder.clone(), error))) else { break };
            let path = entry.path();
            if deep && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
                continue;
            }
            let removed = match is_leftover(&entry) {
                Ok(false) => continue,
                Ok(true) if dry => Ok(()),
                Ok(true) => fs::remove_file(&path),
                Err(error) => Err(error),
            };
            match removed {
                Ok(()) => found.removed.push(path),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => found.failed.push((path, error)),
            }
        }
    }
    found.removed.sort();
    found
}

/// Removes what killed runs left in a folder that is about to be written to, once per process and
/// folder. Errors are no reason not to write, and in a folder of very many files only some are looked
/// at: [`remove_leftovers`] is thorough.
pub fn sweep_once(folder: &Path) {
    static SWEPT: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
    {
        let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let swept = swept.get_or_insert_default();
        if swept.contains(folder) {
            return;
        }
        if swept.len() >= SWEPT_FOLDERS {
            swept.clear();
        }
        swept.insert(folder.to_owned());
    }
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.take(SWEPT_ENTRIES).flatten() {
        if is_leftover(&entry).unwrap_or(false) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process that has ended.
    #[cfg(unix)]
    fn ended() -> u32 {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }

    fn name_of(place: u32, process: u32, start: u64) -> String {
        format!(".linerate-{place:x}-{process:x}-{start:x}-0.tmp")
    }

    #[test]
    fn names_are_told_from_others() {
        let (one, other) = (temporary_name(), temporary_name());
        assert_ne!(one, other);
        assert!(is_temporary_name(&one) && is_temporary_name(&other));
        assert_eq!(Maker::of(&one).unwrap().runs(), Some(true));
        for name in [
            "",
            ".linerate-",
            ".linerate-.tmp",
            ".linerate-1-2-3.tmp",
            ".linerate-1-2-3-x.tmp",
            ".linerate-1-2-3-4-5.tmp",
            ".linerate-1-2-3-4",
            "linerate-1-2-3-4.tmp",
            ".linerate-+1-2-3-4.tmp",
            ".linerate-1--3-4.tmp",
            ".linerate-100000000-2-3-4.tmp",
        ] {
            assert!(!is_temporary_name(name), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_files_of_ended_processes_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let (root, here) = (place.path(), super::place());
        let inner = root.join("a/b");
        fs::create_dir_all(&inner).unwrap();
        let ended = ended();
        let gone = name_of(here, ended, 1);
        let again = name_of(here, std::process::id(), own_start() ^ 1);
        let kept = [temporary_name(), name_of(!here, ended, 1), ".other.tmp".into(), "file".into()];
        for name in kept.iter().chain([&gone, &again]) {
            fs::write(root.join(name), "").unwrap();
            fs::write(inner.join(name), "").unwrap();
        }
        // A folder of that name is somebody's, and what a link leads to is left alone.
        fs::create_dir(root.join("a").join(&gone)).unwrap();
        std::os::unix::fs::symlink(root, root.join("a/link")).unwrap();

        let listed = remove_leftovers(root, true, true).removed;
        assert_eq!(listed.len(), 4);
        assert!(listed.iter().all(|path| path.exists()));
        let mut shallow = vec![root.join(&gone), root.join(&again)];
        shallow.sort();
        assert_eq!(remove_leftovers(root, false, false).removed, shallow);
        assert_eq!(remove_leftovers(root, true, false).removed.len(), 2);
        for folder in [root, &inner] {
            assert!(kept.iter().all(|name| folder.join(name).exists()));
            assert!(!folder.join(&gone).exists() && !folder.join(&again).exists());
        }
        assert!(root.join("a").join(&gone).is_dir());
        let absent = remove_leftovers(&root.join("absent"), true, false);
        assert_eq!(absent.failed[0].0, root.join("absent"));
    }

    #[test]
    fn files_of_other_machines_go_when_they_are_a_day_old() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(name_of(!super::place(), 1, 1));
        let file = fs::File::create(&path).unwrap();
        file.set_modified(SystemTime::now() - UNKNOWN_AGE / 2).unwrap();
        assert!(remove_leftovers(place.path(), false, false).removed.is_empty());
        file.set_modified(SystemTime::now() - UNKNOWN_AGE * 2).unwrap();
        assert_eq!(remove_leftovers(place.path(), false, false).removed, [path]);
    }
}
