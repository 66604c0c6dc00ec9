//! Names of temporary files and folders, and removal of stale ones.
//!
//! A name is `.linerate-PLACE-PROCESS-START-COUNT.tmp`, with hexadecimal numbers. PLACE is a hash
//! of host name, PID namespace and boot ID. Files from another place (another machine or container,
//! or this machine before a restart) are kept for a day. PID namespace and boot ID are read from
//! `/proc` of Linux; without them, machines with the same host name are one place. START is the
//! start time of the process, 0 if unknown. Where start times can be read, a reused PID does not
//! keep a file. Where processes have no PID (WASI), PROCESS is 0 and START is a random number.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, SystemTime};

use linerate_core::lock;

/// Age from which a file is removed if it is unknown whether its process runs, for example a
/// process on another machine, in another container, or before a restart.
const UNKNOWN_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Largest number of directory entries that a sweep reads. Reading this many from a local disk
/// usually takes a few milliseconds.
pub(crate) const SWEPT_ENTRIES: usize = 1 << 14;

/// Largest number of folders remembered as swept. A full set is cleared.
const SWEPT_FOLDERS: usize = 1 << 14;

/// Makes a temporary name for a file or a folder, which this process makes only once. Another
/// process makes it only if two machines or containers count as one place, or if a PID is used
/// again where start times cannot be read.
pub fn temporary_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let (place, process, start) = (place(), own_process(), own_start());
    format!(".linerate-{place:x}-{process:x}-{start:x}-{count:x}.tmp")
}

/// Returns whether `name` has the format of [`temporary_name`], also with `é`, once or more, before
/// `.tmp`.
pub fn is_temporary_name(name: &str) -> bool {
    NameParts::parse(name).is_some()
}

/// The parts of a temporary name that identify a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NameParts {
    place: u32,
    process: u32,
    start: u64,
}

impl NameParts {
    fn parse(name: &str) -> Option<NameParts> {
        // Extraction puts an accented letter before `.tmp` to test the file system's Unicode
        // normalization.
        let inner = name.strip_prefix(".linerate-")?.strip_suffix(".tmp")?.trim_end_matches('\u{e9}');
        let mut parts = inner.split('-');
        // `from_str_radix` alone would accept a sign.
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
        Some(NameParts { place: place.try_into().ok()?, process: process.try_into().ok()?, start })
    }

    /// Returns whether the process still runs, or `None` if this is unknown. On Unix, a process
    /// that has ended counts as running until its parent waits for it, and so does any process with
    /// this PID if the name lacks the start time or that of the process cannot be read.
    fn runs(self) -> Option<bool> {
        if self.place != place() {
            return None;
        }
        if self.process == own_process() && self.start == own_start() {
            return Some(true);
        }
        match self.process {
            // The name is of a process without a PID.
            0 => None,
            // An earlier process had the PID of this one.
            process if process == own_process() => Some(false),
            process => process_runs(process, self.start),
        }
    }
}

/// Returns the hash of the place of this process. Only PIDs of one place are compared.
fn place() -> u32 {
    static PLACE: OnceLock<u32> = OnceLock::new();
    *PLACE.get_or_init(|| {
        #[cfg(unix)]
        let host = rustix::system::uname().nodename().to_bytes().to_vec();
        #[cfg(not(unix))]
        let host = std::env::var_os("COMPUTERNAME").unwrap_or_default().into_encoded_bytes();
        let numbers = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        let boot = fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        place_of(&host, numbers.as_os_str().as_encoded_bytes(), &boot)
    })
}

/// Computes the hash of a place (FNV-1a). On Linux, the first PID namespace has the same number on
/// every machine, and copies of a machine have its name, so only the boot ID tells them apart.
/// Parts that the system does not show are empty.
fn place_of(host: &[u8], numbers: &[u8], boot: &[u8]) -> u32 {
    let step = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    [host, numbers, boot].into_iter().flatten().fold(0x811c_9dc5, step)
}

/// Returns the PID of this process, or 0 where processes have none and [`std::process::id`] panics.
fn own_process() -> u32 {
    if cfg!(any(unix, windows)) { std::process::id() } else { 0 }
}

/// Returns the start time of this process in the system's units, or 0 if it is unknown. Where
/// processes have no PID, returns a random number instead.
fn own_start() -> u64 {
    static START: OnceLock<(u32, u64)> = OnceLock::new();
    start_with(&START, own_process())
}

/// Returns the start time of this process, whose PID is `process`, and keeps both in `known`. A
/// forked process has a copy of what its parent knew, and reads its own time each time.
fn start_with(known: &OnceLock<(u32, u64)>, process: u32) -> u64 {
    #[cfg(unix)]
    let start = || start_of("self");
    #[cfg(windows)]
    let start = crate::sys::windows::own_start;
    #[cfg(not(any(unix, windows)))]
    let start = || Some(random());
    let read = || start().unwrap_or(0);
    match *known.get_or_init(|| (process, read())) {
        (of, start) if of == process => start,
        _ => read(),
    }
}

/// Returns a random number: the hash of nothing by a hasher with random keys.
#[cfg(any(test, not(any(unix, windows))))]
fn random() -> u64 {
    std::hash::BuildHasher::hash_one(&std::collections::hash_map::RandomState::new(), ())
}

/// Reads field 22 of `/proc/PID/stat` (proc(5)), in clock ticks since the system started. The
/// second field, a name in parentheses, may contain any characters.
#[cfg(unix)]
fn start_of(process: &str) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// Two start times count as those of one process if they differ by at most this many clock ticks (3
/// seconds at 100 per second). Under an emulator (qemu-user) a process reads as its own start the
/// time at which the emulator was ready. Other processes read the kernel's time, which is earlier.
#[cfg(unix)]
const SAME_START: u64 = 300;

#[cfg(unix)]
fn process_runs(process: u32, start: u64) -> Option<bool> {
    let number = rustix::process::Pid::from_raw(process.try_into().ok()?)?;
    match rustix::process::test_kill_process(number) {
        Err(rustix::io::Errno::SRCH) => Some(false),
        // A process with this PID exists, whoever owns it. Compare its start time, if it is known.
        _ if start == 0 => Some(true),
        _ => Some(start_of(&process.to_string()).is_none_or(|found| found.abs_diff(start) <= SAME_START)),
    }
}

#[cfg(windows)]
use crate::sys::windows::process_runs;

#[cfg(not(any(unix, windows)))]
fn process_runs(_process: u32, _start: u64) -> Option<bool> {
    None
}

/// Returns whether a file, folder or link with this name and modification time is temporary and
/// stale.
pub(crate) fn is_abandoned(
    name: &str,
    modified: impl FnOnce() -> io::Result<SystemTime>,
) -> io::Result<bool> {
    match NameParts::parse(name).map(NameParts::runs) {
        None => Ok(false),
        Some(Some(runs)) => Ok(!runs),
        Some(None) => {
            let age = SystemTime::now().duration_since(modified()?);
            Ok(age.is_ok_and(|age| age >= UNKNOWN_AGE))
        }
    }
}

/// Returns whether a directory entry is a stale temporary file, folder or link.
fn is_leftover(entry: &fs::DirEntry) -> io::Result<bool> {
    let name = entry.file_name();
    let Some(name) = name.to_str().filter(|name| is_temporary_name(name)) else { return Ok(false) };
    is_abandoned(name, || entry.metadata()?.modified())
}

/// Result of [`remove_leftovers`].
#[derive(Debug, Default)]
pub struct Leftovers {
    /// Paths that were removed or, with `dry`, would be removed; sorted. A folder stands for all
    /// below it.
    pub removed: Vec<PathBuf>,
    /// Folders that could not be read, and files, links and folders that could not be examined or
    /// removed, with their errors. Temporary files that another process removed meanwhile are in
    /// neither list.
    pub failed: Vec<(PathBuf, io::Error)>,
}

/// Removes stale temporary files of a folder and, if `deep`, of all folders below it. These are
/// files, links and folders with [temporary names](temporary_name) whose process has ended, or
/// which are at least a day old if it is unknown whether their process runs. A stale folder is
/// removed with all below it. Links to folders are not followed, except `folder` itself. With
/// `dry`, removes nothing. Errors are collected in the result, and do not stop the search in other
/// folders.
pub fn remove_leftovers(folder: impl AsRef<Path>, deep: bool, dry: bool) -> Leftovers {
    let mut found = Leftovers::default();
    let mut folders = vec![folder.as_ref().to_owned()];
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
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let removed = match is_leftover(&entry) {
                Ok(false) => {
                    folders.extend((deep && is_folder).then_some(path));
                    continue;
                }
                Ok(true) if dry => Ok(()),
                Ok(true) if is_folder => fs::remove_dir_all(&path),
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

/// Removes stale temporary files of a folder before a file is written to it, once per process and
/// path (again if the full set of paths was cleared). Ignores errors, reads a limited number of
/// entries, and keeps temporary folders, which may take long to remove; [`remove_leftovers`] has no
/// such limits.
pub(crate) fn sweep_once(folder: &Path) {
    static SWEPT: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
    {
        let mut swept = lock(&SWEPT);
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
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder && is_leftover(&entry).unwrap_or(false) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the PID of a process that has ended.
    #[cfg(any(unix, windows))]
    fn ended() -> u32 {
        let (program, arguments) =
            if cfg!(windows) { ("cmd", &["/c", "ver"][..]) } else { ("true", &[][..]) };
        let mut child = std::process::Command::new(program)
            .args(arguments)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        child.wait().unwrap();
        child.id()
    }

    fn name_of(place: u32, process: u32, start: u64) -> String {
        format!(".linerate-{place:x}-{process:x}-{start:x}-0.tmp")
    }

    #[test]
    fn temporary_names_are_recognized() {
        let (one, other) = (temporary_name(), temporary_name());
        assert_ne!(one, other);
        assert!(is_temporary_name(&one) && is_temporary_name(&other));
        assert_eq!(NameParts::parse(&one).unwrap().runs(), Some(true));
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

    #[test]
    fn names_of_processes_without_a_pid_differ_and_are_unknown() {
        assert_ne!(random(), random());
        let other = NameParts { place: super::place(), process: 0, start: random() };
        assert_eq!(other.runs(), None);
    }

    #[cfg(any(unix, windows))]
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
        // Folders of ended processes are removed with all below them, and links are not followed.
        for name in kept.iter().chain([&gone]) {
            fs::create_dir_all(root.join("folders").join(name).join("sub")).unwrap();
            fs::write(root.join("folders").join(name).join("sub/file"), "").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(root, root.join("a/link")).unwrap();

        let listed = remove_leftovers(root, true, true).removed;
        assert_eq!(listed.len(), 5);
        assert!(listed.iter().all(|path| path.exists()));
        let mut shallow = vec![root.join(&gone), root.join(&again)];
        shallow.sort();
        assert_eq!(remove_leftovers(root, false, false).removed, shallow);
        assert_eq!(remove_leftovers(root, true, false).removed.len(), 3);
        for name in &kept {
            assert!(root.join("folders").join(name).join("sub/file").is_file(), "{name}");
        }
        assert!(!root.join("folders").join(&gone).exists());
        for folder in [root, &inner] {
            assert!(kept.iter().all(|name| folder.join(name).exists()));
            assert!(!folder.join(&gone).exists() && !folder.join(&again).exists());
        }
        let absent = remove_leftovers(root.join("absent"), true, false);
        assert_eq!(absent.failed[0].0, root.join("absent"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn slightly_different_start_times_are_one_process() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let process = child.id();
        let start = start_of(&process.to_string()).unwrap();
        let [told, other] = [SAME_START, SAME_START + 1].map(|ticks| process_runs(process, start + ticks));
        let unknown = process_runs(process, 0);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((told, other), (Some(true), Some(false)));
        assert_eq!(unknown, Some(true), "a process that could not read its start time");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn forked_process_has_its_own_start_time_not_that_of_its_parent() {
        let of_parent = OnceLock::from((std::process::id() ^ 1, own_start() ^ 1));
        assert_eq!(start_with(&of_parent, std::process::id()), own_start());
    }

    #[test]
    fn machines_of_one_name_are_two_places() {
        let boots =
            [&b"5f2b1a53-0c37-4e6b-8f0e-0d5cbb9d1c11\n"[..], b"c1f7a0de-94d2-4b7e-a3b5-6f4f0d9f2e87\n", b""];
        let [one, other, unknown] = boots.map(|boot| place_of(b"localhost", b"pid:[4026531836]", boot));
        assert!(one != other && one != unknown && other != unknown);
        #[cfg(target_os = "linux")]
        if let Ok(boot) = fs::read("/proc/sys/kernel/random/boot_id") {
            let numbers = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
            let host = rustix::system::uname().nodename().to_bytes().to_vec();
            let expected = place_of(&host, numbers.as_os_str().as_encoded_bytes(), &boot);
            assert_eq!(super::place(), expected, "the place of this machine depends on its boot ID");
        }
    }

    #[test]
    fn files_of_other_machines_are_removed_after_a_day() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(name_of(!super::place(), 1, 1));
        let file = fs::File::create(&path).unwrap();
        file.set_modified(SystemTime::now() - UNKNOWN_AGE / 2).unwrap();
        assert!(remove_leftovers(place.path(), false, false).removed.is_empty());
        file.set_modified(SystemTime::now() - UNKNOWN_AGE * 2).unwrap();
        assert_eq!(remove_leftovers(place.path(), false, false).removed, [path]);
    }
}
