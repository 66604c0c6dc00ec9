//! Exclusive locks for files that are changed in place or replaced by a changed copy.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fmt, io};

/// Time to wait for a lock that another process, or another [`Lock`] of this process, holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wait {
    /// Do not wait.
    #[default]
    No,
    /// Wait without limit.
    Forever,
    /// Wait at most this long.
    For(Duration),
}

/// The suffix of the name of a lock's file on Windows.
pub const LOCK_SUFFIX: &str = ".linerate-lock";

/// First and longest delay between two attempts.
const RETRY_DELAYS: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(100));

/// An exclusive advisory lock on a file. Hold it from before the file is read until the changed
/// file has its name. Readers do not take it. The system releases it when the process ends, even if
/// it is killed.
///
/// On Unix the lock is `flock(2)` on the file itself; a forked child shares it until it runs
/// another program. On Windows, where others cannot read locked bytes, it is a file
/// `NAME.linerate-lock` beside the locked file, which is deleted with its last handle. Elsewhere
/// (WASI) there are no locks, and it locks nothing.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    /// Unlocks the file. Closing alone would leave `flock` held if another thread is starting a
    /// child process: between `fork` and `exec` the child has a copy of the descriptor.
    fn drop(&mut self) {
        // The system releases the lock with the last descriptor at the latest.
        let _ = self.file.unlock();
    }
}

impl Lock {
    /// Locks the file `path`, and waits as `wait` says.
    ///
    /// # Errors
    ///
    /// Returns [`LockError::Held`] if another process, or another [`Lock`] of this process, still
    /// holds the lock after `wait`, and [`LockError::Io`] if opening or locking the file fails. On
    /// Windows this creates a file in the folder, which may fail too. If that file exists and is in
    /// use, or access to it is denied, the lock counts as held.
    pub fn exclusive(path: impl AsRef<Path>, wait: Wait) -> Result<Lock, LockError> {
        let path = path.as_ref();
        let begin = Instant::now();
        let mut delay = RETRY_DELAYS.0;
        loop {
            match try_lock(path)? {
                Try::Locked(file) => return Ok(Lock { file }),
                // Another file got the name before this lock was taken: retry at once.
                Try::Replaced => continue,
                Try::Held => {}
            }
            let left = match wait {
                Wait::No => Duration::ZERO,
                Wait::Forever => delay,
                Wait::For(most) => most.saturating_sub(begin.elapsed()),
            };
            if left.is_zero() {
                return Err(LockError::Held { path: path.to_owned(), holder: holder(path) });
            }
            std::thread::sleep(delay.min(left));
            delay = (delay * 2).min(RETRY_DELAYS.1);
        }
    }
}

impl Lock {
    /// Locks the file at `path` before it is replaced. Returns `None` if it is no regular file, or
    /// cannot be found or examined.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`exclusive`](Self::exclusive).
    pub fn of_target(path: impl AsRef<Path>, wait: Wait) -> Result<Option<Lock>, LockError> {
        match std::fs::metadata(&path) {
            Ok(found) if found.is_file() => Lock::exclusive(path, wait).map(Some),
            _ => Ok(None),
        }
    }
}

enum Try {
    Locked(File),
    #[cfg_attr(not(any(unix, windows)), expect(dead_code, reason = "there are no locks there"))]
    Held,
    #[cfg_attr(not(unix), expect(dead_code, reason = "there the lock is another file than the one replaced"))]
    Replaced,
}

#[cfg(unix)]
fn try_lock(path: &Path) -> io::Result<Try> {
    // Some network file systems lock only files that are open for writing.
    let file = match File::options().read(true).write(true).open(path) {
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => File::open(path)?,
        file => file?,
    };
    try_lock_open(file, path)
}

/// Locks a file that was opened as `path`.
#[cfg(unix)]
fn try_lock_open(file: File, path: &Path) -> io::Result<Try> {
    use std::fs::TryLockError;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(Try::Held),
        Err(TryLockError::Error(e)) => return Err(e),
    }
    // The previous holder may have replaced the file at `path`. This lock is on the old one then.
    Ok(if is_at(&file, path)? { Try::Locked(file) } else { Try::Replaced })
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    Ok(crate::FileId::of(file)? == crate::FileId::at(path)?)
}

#[cfg(windows)]
fn try_lock(path: &Path) -> io::Result<Try> {
    use std::os::windows::fs::OpenOptionsExt;
    const GENERIC_WRITE: u32 = 0x4000_0000;
    const DELETE: u32 = 0x0001_0000;
    const FILE_FLAG_DELETE_ON_CLOSE: u32 = 0x0400_0000;
    const ERROR_SHARING_VIOLATION: i32 = 32;
    const ATTEMPTS: u32 = 4;
    std::fs::metadata(path)?;
    let mut name = crate::sys::windows::full_path(path)?.into_os_string();
    name.push(LOCK_SUFFIX);
    let mut options = File::options();
    options.write(true).create(true).access_mode(GENERIC_WRITE | DELETE).share_mode(0);
    options.custom_flags(FILE_FLAG_DELETE_ON_CLOSE);
    let mut attempt = 0;
    loop {
        match options.open(&name) {
            Ok(file) => return Ok(Try::Locked(file)),
            Err(e) if e.raw_os_error() == Some(ERROR_SHARING_VIOLATION) => return Ok(Try::Held),
            // Perhaps the last handle of the lock file is being closed. If the file is absent,
            // either this folder takes no new files, or the file was closed just now and the next
            // attempt may succeed.
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
                let is_absent =
                    std::fs::symlink_metadata(&name).is_err_and(|e| e.kind() == io::ErrorKind::NotFound);
                match (is_absent, attempt) {
                    (false, _) => return Ok(Try::Held),
                    (true, ATTEMPTS..) => return Err(e),
                    (true, _) => attempt += 1,
                }
            }
            Err(e) => return Err(e),
        }
    }
}

#[cfg(not(any(unix, windows)))]
fn try_lock(path: &Path) -> io::Result<Try> {
    // These systems have no locks.
    File::open(path).map(Try::Locked)
}

/// The process that holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Process ID.
    pub process: u32,
    /// The first 80 characters of the command line, without control characters, if it is readable
    /// and not empty.
    pub command: Option<String>,
}

/// Maximum length of [`Holder::command`], in characters.
#[cfg(target_os = "linux")]
const MAX_COMMAND_LEN: usize = 80;

/// Finds the holder of the lock of the file `path` in `/proc/locks`.
#[cfg(target_os = "linux")]
fn holder(path: &Path) -> Option<Holder> {
    let process = holder_in(&std::fs::read_to_string("/proc/locks").ok()?, &name_in_locks(path)?)?;
    let command = std::fs::read(format!("/proc/{process}/cmdline")).ok();
    let command = command.map(|arguments| {
        let spaced: Vec<u8> = arguments.iter().map(|&byte| if byte == 0 { b' ' } else { byte }).collect();
        let text = String::from_utf8_lossy(&spaced);
        text.trim().chars().filter(|c| !c.is_control()).take(MAX_COMMAND_LEN).collect()
    });
    Some(Holder { process, command: command.filter(|text: &String| !text.is_empty()) })
}

/// Finds the holder of `file` in the lines of `/proc/locks` (proc(5)): `1: FLOCK ADVISORY WRITE PID
/// MAJOR:MINOR:INODE 0 EOF`.
#[cfg(target_os = "linux")]
fn holder_in(locks: &str, file: &str) -> Option<u32> {
    let fields = |line| str::split_ascii_whitespace(line).collect::<Vec<_>>();
    let mut held = locks.lines().map(fields).filter(|held| held.get(1) == Some(&"FLOCK"));
    let process = held.find(|held| held.get(5) == Some(&file))?.get(4)?.parse().ok();
    process.filter(|process| *process != 0)
}

/// Returns the file as `/proc/locks` names it, with a hexadecimal device.
#[cfg(target_os = "linux")]
fn name_in_locks(path: &Path) -> Option<String> {
    use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
    let found = statx(CWD, path, AtFlags::empty(), StatxFlags::INO | StatxFlags::MNT_ID).ok()?;
    // On Btrfs the device of a file is that of its subvolume. Locks and mounts have the device of
    // the file system: `36 35 MAJOR:MINOR ROOT ...`, with the mount's number first.
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let number = format!("{} ", found.stx_mnt_id);
    let mount = mounts.lines().find_map(|line| line.strip_prefix(&number));
    let device = mount.and_then(|mount| {
        let (major, minor) = mount.split_ascii_whitespace().nth(1)?.split_once(':')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    });
    let (major, minor): (u32, u32) = device.unwrap_or((found.stx_dev_major, found.stx_dev_minor));
    Some(format!("{major:02x}:{minor:02x}:{}", found.stx_ino))
}

#[cfg(not(target_os = "linux"))]
fn holder(_path: &Path) -> Option<Holder> {
    None
}

/// Error of [`Lock::exclusive`] and [`Lock::of_target`].
#[derive(Debug)]
#[non_exhaustive]
pub enum LockError {
    /// Another process, or another [`Lock`] of this process, holds the lock.
    Held {
        /// The file that is locked.
        path: PathBuf,
        /// The process that holds the lock, if known. Only Linux tells it.
        holder: Option<Holder>,
    },
    /// The file, or on Windows its lock file, cannot be opened or locked.
    Io(io::Error),
}

impl From<io::Error> for LockError {
    fn from(error: io::Error) -> LockError {
        LockError::Io(error)
    }
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockError::Held { holder, .. } => {
                f.write_str("is being changed by ")?;
                match holder {
                    Some(Holder { process, command: Some(command) }) => {
                        write!(f, "process {process} ({command})")?;
                    }
                    Some(Holder { process, command: None }) => write!(f, "process {process}")?,
                    None => f.write_str("another process")?,
                }
                f.write_str("; wait for it to end, or use --wait")
            }
            LockError::Io(error) => write!(f, "cannot lock: {error}"),
        }
    }
}

impl std::error::Error for LockError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LockError::Held { .. } => None,
            LockError::Io(error) => Some(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_held(result: Result<Lock, LockError>) -> bool {
        matches!(result, Err(LockError::Held { .. }))
    }

    #[test]
    fn second_lock_is_an_error_until_the_first_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert!(matches!(Lock::exclusive(&path, Wait::No), Err(LockError::Io(_))), "no such file");
        std::fs::write(&path, b"x").unwrap();
        let first = Lock::exclusive(&path, Wait::No).unwrap();
        assert!(is_held(Lock::exclusive(&path, Wait::No)));
        assert!(is_held(Lock::exclusive(&path, Wait::For(Duration::from_millis(20)))));
        assert_eq!(std::fs::read(&path).unwrap(), b"x", "readers are not kept out");
        let second = std::thread::spawn({
            let path = path.clone();
            move || Lock::exclusive(path, Wait::Forever).is_ok()
        });
        std::thread::sleep(Duration::from_millis(10));
        drop(first);
        assert!(second.join().unwrap());
        drop(Lock::exclusive(&path, Wait::No).unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no lock file is left");
    }

    /// A child process has copies of all descriptors between its `fork` and its `exec`.
    #[cfg(unix)]
    #[test]
    fn dropped_lock_is_free_while_a_copy_of_its_descriptor_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, b"x").unwrap();
        let lock = Lock::exclusive(&path, Wait::No).unwrap();
        let _copy = lock.file.try_clone().unwrap();
        drop(lock);
        Lock::exclusive(&path, Wait::No).unwrap();
    }

    #[test]
    fn lock_that_waited_is_on_the_replacement() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, b"old").unwrap();
        let first = Lock::exclusive(&path, Wait::No).unwrap();
        let waiting = std::thread::spawn({
            let path = path.clone();
            move || Lock::exclusive(path, Wait::Forever).unwrap()
        });
        // Wait long enough for the other thread to open the old file.
        std::thread::sleep(Duration::from_millis(30));
        let next = folder.path().join("b");
        std::fs::write(&next, b"new").unwrap();
        // Wine does not rename over an open file, and the other thread opens this file for moments.
        while let Err(error) = std::fs::rename(&next, &path) {
            assert!(cfg!(windows) && error.kind() == io::ErrorKind::PermissionDenied, "{error}");
            std::thread::yield_now();
        }
        drop(first);
        let second = waiting.join().unwrap();
        assert!(is_held(Lock::exclusive(&path, Wait::No)), "the new file is locked, not the old one");
        drop(second);
    }

    /// A lock on a file that was replaced between open and lock would protect nothing.
    #[cfg(unix)]
    #[test]
    fn file_replaced_between_open_and_lock_is_not_locked() {
        let folder = tempfile::tempdir().unwrap();
        let (path, next) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::write(&path, b"old").unwrap();
        let opened = File::open(&path).unwrap();
        assert!(matches!(try_lock_open(opened.try_clone().unwrap(), &path), Ok(Try::Locked(_))));
        std::fs::write(&next, b"new").unwrap();
        std::fs::rename(&next, &path).unwrap();
        assert!(matches!(try_lock_open(opened, &path), Ok(Try::Replaced)));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn holder_is_of_the_same_device_inode_and_kind_of_lock() {
        let locks = "\
1: FLOCK  ADVISORY  WRITE 10 00:2a:77 0 EOF
2: POSIX  ADVISORY  WRITE 20 fd:00:77 0 EOF
3: FLOCK  ADVISORY  WRITE 30 fd:00:177 0 EOF
4: FLOCK  ADVISORY  WRITE 40 fd:00:77 0 EOF
4: -> FLOCK  ADVISORY  WRITE 50 fd:00:77 0 EOF
5: FLOCK  ADVISORY  WRITE 0 fd:00:78 0 EOF
";
        for (file, holder) in
            [("fd:00:77", Some(40)), ("00:2a:77", Some(10)), ("fd:01:77", None), ("fd:00:78", None)]
        {
            assert_eq!(holder_in(locks, file), holder, "{file}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn held_error_names_the_holder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, b"x").unwrap();
        let _first = Lock::exclusive(&path, Wait::No).unwrap();
        let text = Lock::exclusive(&path, Wait::No).unwrap_err().to_string();
        // Some sandboxes show no locks.
        if std::fs::read_to_string("/proc/locks").is_ok_and(|locks| locks.contains("FLOCK")) {
            assert!(text.contains(&format!("process {}", std::process::id())), "{text}");
        }
        assert!(text.contains("--wait"), "{text}");
    }
}
