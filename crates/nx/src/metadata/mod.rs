//! Stores metadata that the Nx and R3A formats lack: modification times, modes, symbolic links,
//! empty folders.
//!
//! Metadata is optional. It is a [record](Metadata::from_archive) in the header, a private
//! extension that other readers ignore; `docs/nx/metadata.md` specifies it. Files can be read
//! without it. Metadata is untrusted: [`Restorer`] checks link targets and existing files as
//! extraction does.
//!
//! | module | content |
//! |---|---|
//! | `record` | the bytes of the record, read and written |
//! | `restore` | restores metadata to a folder; [`pack`](crate::pack) captures it from a folder |
//! | `compare` | compares two records, or a record and a folder |
//! | `target` | checks that link targets stay inside a folder |

mod compare;
mod record;
mod restore;
mod target;

pub use self::compare::{Change, Difference};
pub(crate) use self::record::append;
#[cfg(feature = "pack")]
pub(crate) use self::record::trimmed;
pub(crate) use self::record::{ALIGN, HEAD, Paths};
pub use self::record::{EXTENSION, MAGIC, VERSION};
pub use self::restore::{Links, Restored, Restorer};
pub use self::target::check_target;

use core::ops::Bound;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};
use std::{fmt, fs, io};

/// The mode bits that are stored: read, write, execute. The setuid, setgid and sticky bits are not
/// stored.
pub(crate) const MODE: u16 = 0o777;

/// A point in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    /// Seconds since 1970-01-01 UTC; negative for earlier times.
    pub seconds: i64,
    /// Nanoseconds after that second, below 1,000,000,000.
    pub nanoseconds: u32,
}

impl Time {
    /// Converts to a [`SystemTime`]. `None` if that cannot represent the time.
    pub(crate) fn system(self) -> Option<SystemTime> {
        let whole = Duration::from_secs(self.seconds.unsigned_abs());
        let second = match self.seconds < 0 {
            true => SystemTime::UNIX_EPOCH.checked_sub(whole),
            false => SystemTime::UNIX_EPOCH.checked_add(whole),
        };
        second?.checked_add(Duration::from_nanos(self.nanoseconds.into()))
    }
}

/// Formats the time by RFC 3339 in UTC, with nanoseconds if they are not 0.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, second) = (self.seconds.div_euclid(86_400), self.seconds.rem_euclid(86_400));
        // Counts from 0000-03-01 in the proleptic Gregorian calendar, in eras of 400 years. Years
        // that begin in March end with their leap day.
        let day = days + 719_468;
        let (era, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let (year, month) = (era * 400 + year + month / 10, if month < 10 { month + 3 } else { month - 9 });
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        match self.nanoseconds {
            0 => f.write_str("Z"),
            n => write!(f, ".{n:09}Z"),
        }
    }
}

impl From<SystemTime> for Time {
    fn from(time: SystemTime) -> Time {
        let seconds = |duration: Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
        match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => Time { seconds: seconds(after), nanoseconds: after.subsec_nanos() },
            Err(error) => {
                let before = error.duration();
                // Nanoseconds count forward from the previous second.
                match before.subsec_nanos() {
                    0 => Time { seconds: -seconds(before), nanoseconds: 0 },
                    n => Time { seconds: -seconds(before) - 1, nanoseconds: 1_000_000_000 - n },
                }
            }
        }
    }
}

/// The metadata of a file or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// The modification time.
    pub modified: Time,
    /// The permission bits within 0o777, if the system has them.
    pub mode: Option<u16>,
}

impl Attributes {
    /// Converts the system's metadata of a file or folder.
    ///
    /// # Errors
    /// Returns an error if the system does not support modification times.
    pub fn from_fs(found: &fs::Metadata) -> io::Result<Attributes> {
        #[cfg(unix)]
        let mode = Some(std::os::unix::fs::MetadataExt::mode(found) as u16 & MODE);
        #[cfg(not(unix))]
        let mode = None;
        Ok(Attributes { modified: Time::from(found.modified()?), mode })
    }
}

/// A symbolic link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The target as stored. It is not checked: see [`check_target`].
    pub target: String,
    /// The modification time of the link itself.
    pub modified: Time,
}

/// Metadata by path, with `/` between components.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Files of the archive. Files without metadata are missing.
    pub files: BTreeMap<String, Attributes>,
    /// Folders, empty or not.
    pub folders: BTreeMap<String, Attributes>,
    /// Symbolic links.
    pub links: BTreeMap<String, Link>,
}

impl Metadata {
    /// Whether there is no metadata.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.folders.is_empty() && self.links.is_empty()
    }

    /// Returns the paths of folders and links.
    pub fn others(&self) -> impl Iterator<Item = &str> {
        self.folders.keys().chain(self.links.keys()).map(String::as_str)
    }

    /// Keeps the paths for which `keep` returns true, and the folders that contain any of them.
    pub fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.files.retain(|path, _| keep(path));
        self.links.retain(|path, _| keep(path));
        let mut wanted = self.folders.clone();
        wanted.retain(|path, _| keep(path));
        let holds = |folder: &str| {
            let below = format!("{folder}/");
            begins(&self.files, &below) || begins(&self.links, &below) || begins(&wanted, &below)
        };
        let held: Vec<String> = self.folders.keys().filter(|path| holds(path)).cloned().collect();
        self.folders.retain(|path, _| wanted.contains_key(path) || held.binary_search(path).is_ok());
    }

    /// Adds the metadata of `other`. If both have a path, `other` takes precedence, even if the
    /// path is of another kind there.
    pub fn overlay(&mut self, other: Metadata) {
        for path in other.files.keys().chain(other.folders.keys()).chain(other.links.keys()) {
            self.files.remove(path);
            self.folders.remove(path);
            self.links.remove(path);
        }
        self.files.extend(other.files);
        self.folders.extend(other.folders);
        self.links.extend(other.links);
    }
}

/// Whether any path of the map starts with `prefix`.
pub(crate) fn begins<T>(map: &BTreeMap<String, T>, prefix: &str) -> bool {
    map.range::<str, _>((Bound::Included(prefix), Bound::Unbounded))
        .next()
        .is_some_and(|(path, _)| path.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(files: &[&str], folders: &[&str], links: &[&str]) -> Metadata {
        let attributes = Attributes { modified: Time::default(), mode: None };
        let link = || Link { target: "x".into(), modified: Time::default() };
        Metadata {
            files: files.iter().map(|path| ((*path).to_owned(), attributes)).collect(),
            folders: folders.iter().map(|path| ((*path).to_owned(), attributes)).collect(),
            links: links.iter().map(|path| ((*path).to_owned(), link())).collect(),
        }
    }

    #[test]
    fn times_before_and_after_1970_round_trip() {
        // Windows counts 100 ns from 1601, in 63 bits.
        let (step, far) = if cfg!(windows) { (100, 1 << 39) } else { (1, 1 << 40) };
        for (seconds, nanoseconds) in [(0, 0), (1, 1), (-1, 0), (-1, 999_999_999), (-2, 5), (far, 7)] {
            let time = Time { seconds, nanoseconds: nanoseconds / step * step };
            assert_eq!(Time::from(time.system().expect("within the clock")), time);
        }
        // Some systems cannot represent these times: the result is `None`, or the same time.
        for time in [
            Time { seconds: i64::MAX, nanoseconds: 999_999_999 },
            Time { seconds: i64::MIN + 1, nanoseconds: 0 },
        ] {
            assert!(time.system().is_none_or(|found| Time::from(found) == time));
        }
    }

    #[test]
    fn times_are_formatted_as_rfc_3339_in_utc() {
        for (seconds, nanoseconds, expected) in [
            (0, 0, "1970-01-01T00:00:00Z"),
            (-1, 999_999_999, "1969-12-31T23:59:59.999999999Z"),
            (951_782_400, 0, "2000-02-29T00:00:00Z"),
            (1_234_567_890, 5, "2009-02-13T23:31:30.000000005Z"),
            (4_107_542_399, 0, "2100-02-28T23:59:59Z"),
            (-62_135_596_800, 0, "0001-01-01T00:00:00Z"),
        ] {
            assert_eq!(Time { seconds, nanoseconds }.to_string(), expected);
        }
    }

    #[test]
    fn retain_keeps_folders_that_contain_kept_paths() {
        let mut found = metadata(&["a/b/1", "a.txt"], &["a", "a/b", "a/c", "d", "e"], &["e/l"]);
        found.retain(|path| path.ends_with('1') || path == "d" || path == "e/l");
        assert_eq!(found, metadata(&["a/b/1"], &["a", "a/b", "d", "e"], &["e/l"]));
    }

    #[test]
    fn overlay_takes_precedence_across_kinds() {
        let mut found = metadata(&["a", "b"], &["c"], &["d"]);
        found.overlay(metadata(&["d"], &["a"], &["c"]));
        assert_eq!(found, metadata(&["b", "d"], &["a"], &["c"]));
    }
}
