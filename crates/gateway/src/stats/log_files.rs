//! Log files in a folder, rotated by size and age.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::clock::Clock;
use super::log::{LogEntry, LogWriter};
use super::record::RECORD;

/// Extension of log files.
const EXTENSION: &str = "stats";
/// Size of the write buffer, in bytes.
const BUFFER: usize = 64 << 10;

/// Options of log files: the folder, and the size and age at which a new file is begun.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogOptions {
    /// The folder, which is created if it does not exist.
    pub folder: PathBuf,
    /// First part of the file names: `NAME-000001.stats`. Default: `gateway`.
    pub name: String,
    /// Largest size of a file in bytes. Default: 256 MiB, which is 8.4 million messages.
    pub max_bytes: u64,
    /// Age from which a file takes no further records. Default: a day.
    pub max_age: Duration,
    /// Number of files to keep, including the file being written; older ones are deleted. 0 counts
    /// as 1. Default: 8.
    pub max_files: usize,
}

impl LogOptions {
    /// The defaults, for files in `folder`.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        LogOptions {
            folder: folder.into(),
            name: "gateway".into(),
            max_bytes: 256 << 20,
            max_age: Duration::from_secs(24 * 3600),
            max_files: 8,
        }
    }

    /// Sets the first part of the file names.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Self {
        LogOptions { name: name.into(), ..self }
    }

    /// Sets the largest size of a file, at least 64 bytes: a header and a record.
    #[must_use]
    pub fn max_bytes(self, bytes: u64) -> Self {
        LogOptions { max_bytes: bytes.max(2 * RECORD as u64), ..self }
    }

    /// Sets the age from which a file takes no further records.
    #[must_use]
    pub fn max_age(self, age: Duration) -> Self {
        LogOptions { max_age: age, ..self }
    }

    /// Sets how many files are kept.
    #[must_use]
    pub fn max_files(self, files: usize) -> Self {
        LogOptions { max_files: files, ..self }
    }

    fn path(&self, number: u32) -> PathBuf {
        self.folder.join(format!("{}-{number:06}.{EXTENSION}", self.name))
    }

    /// The number in the name of a file of this sequence. Other spellings of a number, as in
    /// `gateway-1.stats`, do not belong to it.
    fn number(&self, path: &Path) -> Option<u32> {
        let stem = path.file_name()?.to_str()?.strip_suffix(EXTENSION)?.strip_suffix('.')?;
        let number = stem.strip_prefix(self.name.as_str())?.strip_prefix('-')?.parse().ok()?;
        (self.path(number) == path).then_some(number)
    }

    /// Numbers of the existing files, in ascending order.
    fn numbers(&self) -> io::Result<Vec<u32>> {
        let mut numbers = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            numbers.extend(self.number(&entry?.path()));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }
}

/// A sequence of log files. Existing files are never written to; numbering continues after the
/// highest.
pub struct LogFiles {
    options: LogOptions,
    clock: Clock,
    log: LogWriter<BufWriter<File>>,
    number: u32,
    /// Size of the current file in bytes.
    bytes: u64,
    begun: Instant,
}

impl LogFiles {
    /// Begins a new file. `created` goes into its header: the time in nanoseconds since 1970.
    ///
    /// # Errors
    /// Returns the errors of creating and reading the folder, of creating the file, and of deleting
    /// old files.
    pub fn create(options: LogOptions, clock: Clock, created: i64) -> io::Result<Self> {
        fs::create_dir_all(&options.folder).map_err(|e| named(e, &options.folder))?;
        let last = options.numbers()?.last().copied().unwrap_or(0);
        let (log, number) = begin(&options, clock, created, last)?;
        let files = LogFiles { options, clock, log, number, bytes: RECORD as u64, begun: Instant::now() };
        files.delete_oldest()?;
        Ok(files)
    }

    /// Path of the current file.
    fn path(&self) -> PathBuf {
        self.options.path(self.number)
    }

    /// Adds an entry, to a new file if the current one is full or too old. `now` is the time for a
    /// new header.
    ///
    /// # Errors
    /// Returns the errors of writing, of creating a file, and of deleting old ones. The entry is
    /// then lost, but later ones may succeed.
    pub fn add(&mut self, entry: &LogEntry, now: i64) -> io::Result<()> {
        let is_full = self.bytes + RECORD as u64 > self.options.max_bytes;
        if is_full || self.begun.elapsed() > self.options.max_age {
            self.rotate(now)?;
        }
        self.log.add(entry).map_err(|e| named(e, &self.path()))?;
        self.bytes += RECORD as u64;
        Ok(())
    }

    /// Writes buffered entries to the file.
    ///
    /// # Errors
    /// Returns the errors of writing.
    pub fn flush(&mut self) -> io::Result<()> {
        self.log.flush().map_err(|e| named(e, &self.path()))
    }

    fn rotate(&mut self, now: i64) -> io::Result<()> {
        self.flush()?;
        (self.log, self.number) = begin(&self.options, self.clock, now, self.number)?;
        (self.bytes, self.begun) = (RECORD as u64, Instant::now());
        self.delete_oldest()
    }

    fn delete_oldest(&self) -> io::Result<()> {
        let numbers = self.options.numbers()?;
        let surplus = numbers.len().saturating_sub(self.options.max_files.max(1));
        numbers[..surplus].iter().try_for_each(|number| fs::remove_file(self.options.path(*number)))
    }
}

/// Creates the file with the next free number after `number`.
fn begin(
    options: &LogOptions,
    clock: Clock,
    created: i64,
    mut number: u32,
) -> io::Result<(LogWriter<BufWriter<File>>, u32)> {
    let (path, file) = loop {
        number = number.checked_add(1).ok_or(ErrorKind::FileTooLarge)?;
        let path = options.path(number);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(named(error, &path)),
            Ok(file) => break (path, file),
        }
    };
    let log = LogWriter::new(BufWriter::with_capacity(BUFFER, file), clock, created, number);
    Ok((log.map_err(|e| named(e, &path))?, number))
}

/// Puts the path of the file or folder that an error is about before the error's message.
fn named(error: io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::LogReader;

    const ENTRY: LogEntry = LogEntry::Dropped { time: 1, records: 2 };

    fn entries(options: &LogOptions) -> Vec<(u32, usize)> {
        let count = |number: &u32| {
            let log = LogReader::open(File::open(options.path(*number)).unwrap()).unwrap();
            assert_eq!(log.number(), *number);
            (*number, log.map(Result::unwrap).count())
        };
        options.numbers().unwrap().iter().map(count).collect()
    }

    #[test]
    fn full_files_are_followed_by_others_and_the_oldest_are_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let options = LogOptions::new(folder.path()).max_bytes(3 * 32).max_files(3);
        fs::write(folder.path().join("other-000009.stats"), "kept").unwrap();
        let mut files = LogFiles::create(options.clone(), Clock::Monotonic, 0).unwrap();
        (0..9).for_each(|_| files.add(&ENTRY, 0).unwrap());
        files.flush().unwrap();
        assert_eq!(entries(&options), [(3, 2), (4, 2), (5, 1)]);
        // A second sequence continues the numbering and writes to none of the existing files.
        let mut files = LogFiles::create(options.clone(), Clock::Monotonic, 0).unwrap();
        files.add(&ENTRY, 0).unwrap();
        drop(files);
        assert_eq!(entries(&options), [(4, 2), (5, 1), (6, 1)]);
        assert!(folder.path().join("other-000009.stats").exists());
    }

    #[test]
    fn files_with_other_spellings_of_a_number_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let others = ["gateway-1.stats", "gateway-+00007.stats", "gateway-0000008.stats"];
        others.iter().for_each(|name| fs::write(folder.path().join(name), "kept").unwrap());
        let options = LogOptions::new(folder.path()).max_bytes(2 * 32).max_files(1);
        let mut files = LogFiles::create(options.clone(), Clock::Monotonic, 0).unwrap();
        (0..2).for_each(|_| files.add(&ENTRY, 0).unwrap());
        drop(files);
        assert_eq!(entries(&options), [(2, 1)]);
        assert!(others.iter().all(|name| folder.path().join(name).exists()));
    }

    #[test]
    fn the_file_being_written_is_kept_without_room_for_any() {
        let folder = tempfile::tempdir().unwrap();
        let options = LogOptions { max_files: 0, ..LogOptions::new(folder.path()) };
        let mut files = LogFiles::create(options.clone(), Clock::Monotonic, 0).unwrap();
        files.add(&ENTRY, 0).unwrap();
        drop(files);
        assert_eq!(entries(&options), [(1, 1)]);
    }

    #[test]
    fn old_files_are_followed_by_others() {
        let folder = tempfile::tempdir().unwrap();
        let options = LogOptions::new(folder.path()).name("a").max_age(Duration::ZERO);
        let mut files = LogFiles::create(options.clone(), Clock::Monotonic, 0).unwrap();
        (0..2).for_each(|_| files.add(&ENTRY, 0).unwrap());
        assert!(files.path().ends_with("a-000003.stats"));
        drop(files);
        assert_eq!(entries(&options), [(1, 0), (2, 1), (3, 1)]);
    }
}
