//! Names and times of files in gzip headers.

use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use linerate_deflate::gzip::Header;

/// The gzip header for the file at `path`, with its name and its modification time.
pub(super) fn for_file(path: &Path, meta: &Metadata) -> Header {
    let modified = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Header {
        name: path.file_name().map(to_bytes),
        // Zero means that no time is stored. It replaces times that do not fit into 32 bits, too:
        // those before 1970 and after 2106.
        mtime: modified.and_then(|since| u32::try_from(since.as_secs()).ok()).unwrap_or(0),
        ..Header::default()
    }
}

/// Characters that end the name of a folder, drive or file before the rest of a path on Windows.
const ON_WINDOWS: &[u8] = b"/\\:";

/// The file's name that a header states, without the folders before it: a gzip file must not choose
/// the folder of its output. `None` if there is no name, or if it names no file, such as `..`, or,
/// on Windows, a device or a file of another name.
pub(super) fn file_name(header: &Header) -> Option<OsString> {
    let base = base_name(header.name.as_deref()?, if cfg!(windows) { ON_WINDOWS } else { b"/" });
    let names_no_file =
        if cfg!(windows) { !names_file_on_windows(base) } else { matches!(base, b"" | b"." | b"..") };
    if names_no_file { None } else { from_bytes(base) }
}

/// Whether Windows creates a file of exactly this name. For example, it reads `NUL.txt` as a device
/// and drops dots at the end.
fn names_file_on_windows(name: &[u8]) -> bool {
    std::str::from_utf8(name).is_ok_and(|name| linerate_nx::check_path(name).is_ok())
}

/// The part of a name after the last of these separators.
fn base_name<'a>(name: &'a [u8], separators: &[u8]) -> &'a [u8] {
    let after = name.iter().rposition(|b| separators.contains(b)).map_or(0, |at| at + 1);
    &name[after..]
}

/// The modification time that a header states, if there is one.
pub(super) fn modified(header: &Header) -> Option<SystemTime> {
    (header.mtime != 0).then(|| UNIX_EPOCH + Duration::from_secs(header.mtime.into()))
}

#[cfg(unix)]
fn to_bytes(name: &OsStr) -> Vec<u8> {
    std::os::unix::ffi::OsStrExt::as_bytes(name).to_vec()
}

#[cfg(not(unix))]
fn to_bytes(name: &OsStr) -> Vec<u8> {
    name.to_string_lossy().into_owned().into_bytes()
}

#[cfg(unix)]
fn from_bytes(name: &[u8]) -> Option<OsString> {
    let name: &OsStr = std::os::unix::ffi::OsStrExt::from_bytes(name);
    Some(name.to_owned())
}

#[cfg(not(unix))]
fn from_bytes(name: &[u8]) -> Option<OsString> {
    String::from_utf8(name.to_vec()).ok().map(OsString::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_in_names_are_dropped() {
        let name = |n: &str| file_name(&Header { name: Some(n.into()), ..Header::default() });
        assert_eq!(name("/etc/passwd").as_deref(), Some(OsStr::new("passwd")));
        assert_eq!(name("../../x").as_deref(), Some(OsStr::new("x")));
        for nothing in ["", ".", "..", "a/..", "a/"] {
            assert_eq!(name(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn drives_and_streams_in_names_are_dropped_on_windows() {
        for (name, base) in [
            ("D:evil.exe", "evil.exe"),
            ("a.txt:s", "s"),
            ("C:\\x\\y", "y"),
            ("D:/a:b\\c", "c"),
            ("D:", ""),
            ("D:..", ".."),
        ] {
            assert_eq!(base_name(name.as_bytes(), ON_WINDOWS), base.as_bytes());
        }
        assert_eq!(base_name(b"x/a:b\\c", b"/"), b"a:b\\c");
    }

    #[test]
    fn names_that_windows_changes_name_no_file_there() {
        for name in ["", "..", "NUL", "com1.txt", "a.", "a "] {
            assert!(!names_file_on_windows(name.as_bytes()), "{name}");
        }
        assert!(names_file_on_windows("a.txt".as_bytes()));
    }

    #[test]
    fn time_of_zero_is_none() {
        assert_eq!(modified(&Header::default()), None);
        let header = Header { mtime: 1_234_567_890, ..Header::default() };
        assert_eq!(modified(&header), Some(UNIX_EPOCH + Duration::from_secs(1_234_567_890)));
    }
}
