//! Functions of Windows that the standard library does not offer: paths of any length, renaming
//! without replacing and over read-only files, file indexes, processes, free space, and the end of
//! a console.

#![allow(unsafe_code)]

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsRawHandle;
use std::path::{Component, Path, PathBuf, Prefix};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::thread;

use windows_sys::Win32::Foundation::{
    CloseHandle, ERROR_INVALID_PARAMETER, ERROR_SHARING_VIOLATION, FILETIME, GetLastError, HANDLE,
    WAIT_OBJECT_0,
};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, DELETE, FILE_FLAG_BACKUP_SEMANTICS, GetDiskFreeSpaceExW,
    GetFileInformationByHandle, MoveFileExW, SYNCHRONIZE,
};
use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT, SetConsoleCtrlHandler};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetProcessTimes, OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION, WaitForSingleObject,
};

/// Returns a path that does not depend on the current folder, and may have more than 260
/// characters.
///
/// # Errors
///
/// Returns the errors of the system, for example if there is no such file or folder.
pub(crate) fn full_path(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        // Drivers of some memory disks cannot return the full path of a file, and neither can wine
        // if the path is long.
        Err(_) if path.exists() => Ok(verbatim(std::path::absolute(path)?)),
        done => done,
    }
}

/// Adds to an absolute path of a disk or a share the prefix that lifts the limit of 260 characters.
/// Returns other paths unchanged.
fn verbatim(path: PathBuf) -> PathBuf {
    let prefix = match path.components().next() {
        Some(Component::Prefix(prefix)) => prefix,
        _ => return path,
    };
    let (start, skipped) = match prefix.kind() {
        Prefix::Disk(_) => (r"\\?\", 0),
        // A share's path begins with two backslashes, which the prefix replaces.
        Prefix::UNC(..) => (r"\\?\UNC\", 2),
        _ => return path,
    };
    let text: Vec<u16> = start.encode_utf16().chain(path.as_os_str().encode_wide().skip(skipped)).collect();
    OsString::from_wide(&text).into()
}

/// Renames `from` to `to`, which must not exist, in one step. A check before a rename that replaces
/// would take two.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (wide(from)?, wide(to)?);
    // SAFETY: both strings end in a zero and live until the call returns.
    match unsafe { MoveFileExW(from.as_ptr(), to.as_ptr(), 0) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Renames `from` to `to`, which may exist and be read-only.
///
/// # Errors
///
/// Returns the errors of the system. If a program holds `to` and does not share its deletion,
/// Windows says that access is denied. This function then returns the error of opening `to`, which
/// says that the file is in use.
pub(crate) fn rename_over(from: &Path, to: &Path) -> io::Result<()> {
    let Err(error) = fs::rename(from, to) else { return Ok(()) };
    if error.kind() != io::ErrorKind::PermissionDenied {
        return Err(error);
    }
    let opened = OpenOptions::new().access_mode(DELETE).open(to);
    if let Err(held) = opened
        && held.raw_os_error() == Some(ERROR_SHARING_VIOLATION as i32)
    {
        return Err(held);
    }
    // NTFS replaces read-only files on request, which the standard library makes. FAT does not.
    let kept = match fs::metadata(to) {
        Ok(found) if found.permissions().readonly() => found.permissions(),
        _ => return Err(error),
    };
    let mut writable = kept.clone();
    #[expect(clippy::permissions_set_readonly_false, reason = "on Windows it is an attribute of one file")]
    writable.set_readonly(false);
    fs::set_permissions(to, writable)?;
    let renamed = fs::rename(from, to);
    if renamed.is_err() {
        let _ = fs::set_permissions(to, kept);
    }
    renamed
}

/// Returns the number of bytes that this user may still write to the folder, if the system tells.
pub(crate) fn free_space(folder: &Path) -> Option<u64> {
    let folder = wide(folder).ok()?;
    let mut free = 0;
    // SAFETY: the string ends in a zero, `free` is written to, and null pointers are allowed.
    let done = unsafe { GetDiskFreeSpaceExW(folder.as_ptr(), &mut free, null_mut(), null_mut()) };
    (done != 0).then_some(free)
}

/// Opens a file or folder to read only its attributes, which needs no permission to read it.
pub(crate) fn open_attributes(path: &Path) -> io::Result<File> {
    OpenOptions::new().access_mode(0).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path)
}

/// Returns the serial number of a file's volume, and the file's index on it.
pub(crate) fn file_index(file: &File) -> io::Result<(u64, u64)> {
    let mut found = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open as long as `file`, and `found` is written to.
    match unsafe { GetFileInformationByHandle(file.as_raw_handle(), &mut found) } {
        0 => Err(io::Error::last_os_error()),
        _ => {
            let index = u64::from(found.nFileIndexHigh) << 32 | u64::from(found.nFileIndexLow);
            Ok((found.dwVolumeSerialNumber.into(), index))
        }
    }
}

/// Returns the start time of this process, in units of 100 ns since 1601, if the system tells.
pub(crate) fn own_start() -> Option<u64> {
    // SAFETY: the pseudo-handle of this process is always valid.
    started(unsafe { GetCurrentProcess() })
}

/// Returns whether the process with this number and start time still runs, or `None` if the system
/// does not tell or the start time is unknown (0).
pub(crate) fn process_runs(process: u32, start: u64) -> Option<bool> {
    // SAFETY: no pointers are passed.
    let handle = unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, 0, process) };
    if handle.is_null() {
        // SAFETY: the function reads a number of this thread.
        let error = unsafe { GetLastError() };
        // An invalid parameter means that no process has this number. A denied access says nothing:
        // the process may belong to another user.
        return (error == ERROR_INVALID_PARAMETER).then_some(false);
    }
    // SAFETY: the handle was opened above, with the right to wait.
    let ended = unsafe { WaitForSingleObject(handle, 0) } == WAIT_OBJECT_0;
    let begun = started(handle);
    // SAFETY: the handle was opened above, and is not used afterwards.
    unsafe { CloseHandle(handle) };
    if ended { Some(false) } else { begun.filter(|_| start != 0).map(|begun| begun == start) }
}

fn started(process: HANDLE) -> Option<u64> {
    let zero = FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 };
    let [mut created, mut ended, mut kernel, mut user] = [zero; 4];
    // SAFETY: the caller's handle may be queried, and the four times are written to.
    let done = unsafe { GetProcessTimes(process, &mut created, &mut ended, &mut kernel, &mut user) };
    (done != 0).then(|| u64::from(created.dwHighDateTime) << 32 | u64::from(created.dwLowDateTime))
}

/// The function that [`on_console_end`] was given.
static ON_CONSOLE_END: OnceLock<fn() -> bool> = OnceLock::new();

/// Sets a `handler` that the system calls, in a thread of its own, when the console is to end this
/// program: at Ctrl+C and Ctrl+Break, when its window is closed, when the user logs off, and when
/// the system shuts down. If `handler` returns true, the program goes on and has to end by itself;
/// after other events than Ctrl+C and Ctrl+Break, the system ends it within some seconds. If
/// `handler` returns false, the system ends the program at once, unless the program has set another
/// handler. Only the first call in a process has an effect.
pub fn on_console_end(handler: fn() -> bool) {
    if ON_CONSOLE_END.set(handler).is_ok() {
        // If the handler cannot be set, the system ends the program without it.
        // SAFETY: the function may be called from any thread, and exists until the process ends.
        unsafe { SetConsoleCtrlHandler(Some(console_ends), 1) };
    }
}

/// Answers an event of the console. 0 passes it to the next handler, usually the system's, which
/// ends the process.
extern "system" fn console_ends(event: u32) -> i32 {
    let goes_on = ON_CONSOLE_END.get().is_some_and(|handler| handler());
    if goes_on && !matches!(event, CTRL_C_EVENT | CTRL_BREAK_EVENT) {
        // After any other event, the system ends the process as soon as this returns.
        loop {
            thread::park();
        }
    }
    goes_on.into()
}

/// Converts a path for the system: UTF-16 with a zero at the end.
fn wide(path: &Path) -> io::Result<Vec<u16>> {
    let mut text: Vec<u16> = path.as_os_str().encode_wide().collect();
    if text.contains(&0) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a path with a zero in it"));
    }
    text.push(0);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_and_shares_get_the_prefix_for_long_paths() {
        for (path, expected) in [
            (r"C:\a\b", r"\\?\C:\a\b"),
            (r"\\server\share\a", r"\\?\UNC\server\share\a"),
            (r"\\?\C:\a", r"\\?\C:\a"),
            (r"\\.\pipe\a", r"\\.\pipe\a"),
        ] {
            assert_eq!(verbatim(path.into()), Path::new(expected), "{path}");
        }
    }

    #[test]
    fn full_path_of_a_missing_file_is_an_error() {
        assert_eq!(full_path(Path::new("not there")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
