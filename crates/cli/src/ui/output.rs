//! `Output`: standard output, nowhere, or a file that appears complete or not at all.

use std::fs::{File, FileTimes, Metadata};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use linerate_core::Kind;
use linerate_io::{AtomicFile, Existing, Ownership};

use crate::sys::closed;
use crate::ui::error::CliError;
use crate::ui::input::Source;
use crate::ui::{inputs, signals};

/// Returns standard output without the standard library's line buffer.
///
/// # Errors
/// [`CliError::Io`] if standard output was closed when the program started, or cannot be
/// duplicated; [`CliError::Refused`] if it leads to a file that is being read.
pub(crate) fn stdout() -> Result<File, CliError> {
    closed::check_stdout().map_err(CliError::stdout_write)?;
    #[cfg(unix)]
    let file = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned();
    #[cfg(windows)]
    let file = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned();
    let file = file.map(File::from).map_err(CliError::stdout_write)?;
    inputs::refuse_stdout(&file)?;
    Ok(file)
}

/// Function that takes the next part of an output, with the number of input bytes read so far.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(&[u8], u64) -> Result<(), CliError>;

/// Counts the bytes of an output, which may have a limit.
pub(crate) struct OutputCount {
    /// Bytes counted so far.
    pub(crate) bytes: u64,
    max: u64,
}

impl OutputCount {
    pub(crate) fn new(max: Option<u64>) -> OutputCount {
        OutputCount { bytes: 0, max: max.unwrap_or(u64::MAX) }
    }

    /// Bytes that may still be written.
    pub(crate) fn left(&self) -> u64 {
        self.max.saturating_sub(self.bytes)
    }

    /// Counts `len` more bytes. `at` is the offset up to which the input was read for them.
    ///
    /// # Errors
    /// [`CliError::Data`] of kind `Limit` if the limit is exceeded. The bytes are counted even
    /// then.
    pub(crate) fn add(&mut self, len: usize, at: u64) -> Result<(), CliError> {
        self.bytes += len as u64;
        if self.bytes > self.max { Err(self.exceeded(at)) } else { Ok(()) }
    }

    /// The error of exceeding the limit when the input was read up to the offset `at`.
    pub(crate) fn exceeded(&self, at: u64) -> CliError {
        let what = format!("the output exceeds the limit of {} bytes; --max-output raises it", self.max);
        CliError::data(Kind::Limit, at, what)
    }

    /// Copies the rest of the source unchanged to `sink`, and counts it.
    pub(crate) fn pass<R: Read>(&mut self, source: &mut Source<R>, sink: Sink<'_>) -> Result<(), CliError> {
        loop {
            let start = source.at();
            let bytes = source.peek(1)?;
            let len = bytes.len();
            if len == 0 {
                return Ok(());
            }
            let end = start + len as u64;
            self.add(len, end)?;
            sink(bytes, end)?;
            source.consume(len);
        }
    }
}

/// Destination of one file's output.
pub(crate) enum Output {
    Stdout(File),
    /// Discards the output, for testing and listing.
    Nowhere,
    /// A file, which is synced to the disk when it is committed if it replaces another, or if
    /// [`Output::take_over`] asks for that. It may also be a device or pipe at the target's path.
    File(AtomicFile),
}

impl Output {
    /// Creates a file that gets the name `path` when it is committed. No regular file or dangling
    /// link may exist there unless `overwrite`. An existing device or pipe is written to directly,
    /// and a link is followed. A file that is being read is refused.
    pub(crate) fn at(path: &Path, overwrite: bool) -> Result<Output, CliError> {
        inputs::refuse(path)?;
        signals::remove_temporaries_on_signal();
        let existing = if overwrite { Existing::Replace } else { Existing::Refuse };
        let file = AtomicFile::create(path, existing).map_err(|e| match e.kind() {
            ErrorKind::AlreadyExists => exists(path),
            ErrorKind::IsADirectory => {
                CliError::Refused(format!("the output {} is a directory", path.display()))
            }
            _ => CliError::io_at("cannot create", path)(e),
        })?;
        Ok(Output::File(file))
    }

    /// Makes a file get mode 0600 when it is committed, so that only its owner may read it.
    pub(crate) fn keep_private(&mut self) {
        if let Output::File(file) = self {
            file.set_ownership(Ownership::private());
        }
    }

    /// Gives a file the times of its source, or `modified` instead of the modification time, and on
    /// commit the source's owner and mode. With `durable` the commit also syncs its bytes and name
    /// to the disk, so that the source may be deleted. Does nothing for other outputs, for devices
    /// and for pipes.
    pub(crate) fn take_over(
        &mut self,
        source: Option<&Metadata>,
        modified: Option<SystemTime>,
        durable: bool,
    ) -> Result<(), CliError> {
        let Output::File(file) = self else { return Ok(()) };
        if file.is_special() {
            return Ok(());
        }
        file.set_durable(durable);
        if let Some(source) = source {
            file.set_ownership(Ownership::of(source));
        }
        let modified = modified.or_else(|| source?.modified().ok());
        let accessed = source.and_then(|s| s.accessed().ok());
        let Some(modified) = modified else { return Ok(()) };
        let times = FileTimes::new().set_modified(modified).set_accessed(accessed.unwrap_or(modified));
        file.get_ref().set_times(times).map_err(|e| self.error(e))
    }

    /// Whether this is a file that will appear under its name, and no device or pipe.
    pub(crate) fn is_new_file(&self) -> bool {
        matches!(self, Output::File(file) if !file.is_special())
    }

    /// The path of the file, device or pipe that is written. `None` for standard output and for a
    /// discarded output.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Output::Stdout(_) | Output::Nowhere => None,
            Output::File(file) => Some(file.target()),
        }
    }

    /// Commits a file, which then appears under its name. Returns the name, or `None` for standard
    /// output and for a discarded output.
    pub(crate) fn commit(self) -> Result<Option<PathBuf>, CliError> {
        commit_all(vec![self]).pop().unwrap_or(Ok(None))
    }

    /// Converts an error of writing to this output, and names a file or standard output.
    pub(crate) fn error(&self, error: io::Error) -> CliError {
        match self {
            Output::Stdout(_) => CliError::stdout_write(error),
            Output::Nowhere => CliError::io("cannot write")(error),
            Output::File(file) => CliError::io_at("cannot write", file.target())(error),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Stdout(file) => file.write(bytes),
            Output::Nowhere => Ok(bytes.len()),
            Output::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Commits outputs together, since syncing many files takes little longer than syncing one. Returns
/// a result for each output, in order: the name of a file, or `None` for another output.
pub(crate) fn commit_all(outputs: Vec<Output>) -> Vec<Result<Option<PathBuf>, CliError>> {
    let mut files = Vec::new();
    let names: Vec<Option<PathBuf>> = outputs
        .into_iter()
        .map(|output| match output {
            Output::Stdout(_) | Output::Nowhere => None,
            Output::File(file) => {
                let name = file.target().to_owned();
                files.push(file);
                Some(name)
            }
        })
        .collect();
    let mut results = AtomicFile::commit_all(files).into_iter();
    let result = |name: Option<PathBuf>| {
        let Some(name) = name else { return Ok(None) };
        match results.next().unwrap_or(Ok(())) {
            Ok(()) => Ok(Some(name)),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => Err(exists(&name)),
            Err(e) => Err(CliError::io_at("cannot write", &name)(e)),
        }
    };
    names.into_iter().map(result).collect()
}

/// The error of an output that must not replace the existing file at `target`.
fn exists(target: &Path) -> CliError {
    CliError::Refused(format!("{} exists already; -f overwrites it", target.display()))
}
