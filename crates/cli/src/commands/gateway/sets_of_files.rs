//! Counts sets of statistics from files: statistics logs, records of 18 bytes, recordings and files
//! of messages.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use globset::Glob;
use linerate_gateway::stats::{LogEntry, LogReader, MessageRecord, ORIGIN_RECORD, OriginReader, Verdict};
use linerate_gateway::{Envelope, FileKind, Transport};

use super::decode::{Decoded, Decoding, Ended};
use super::session_args::SessionArgs;
use super::sets::SetStats;
use super::stats::encoding;
use super::wire::{LOG, Wire, counted, reading};
use crate::ui::error::CliError;
use crate::ui::operands::is_stdin;
use crate::ui::progress::Progress;
use crate::ui::reporter::Reporter;

/// A set on the command line: its name and its files.
#[derive(Clone, Debug)]
pub(crate) struct NamedFiles {
    pub(crate) name: String,
    pub(crate) files: Vec<PathBuf>,
}

/// Parses `NAME=GLOB`, and finds the files. Only the last part of GLOB, after the folders, may have
/// wildcards.
pub(crate) fn parse_set(text: &str) -> Result<NamedFiles, String> {
    let (name, glob) = text.split_once('=').ok_or("give a name and its files, NAME=GLOB")?;
    let files = matching(Path::new(glob)).map_err(|error| format!("{glob}: {error}"))?;
    if name.is_empty() || files.is_empty() {
        return Err(format!("{glob}: no file matches"));
    }
    Ok(NamedFiles { name: name.into(), files })
}

/// The files in the folder of a path whose names match its last part, sorted.
fn matching(path: &Path) -> Result<Vec<PathBuf>, String> {
    let (Some(name), folder) = (path.file_name().and_then(|name| name.to_str()), path.parent()) else {
        return Err("the glob has no file name".into());
    };
    let glob = Glob::new(name).map_err(|error| error.to_string())?.compile_matcher();
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).map_err(|error| error.to_string())?;
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| glob.is_match(entry.file_name()) && entry.path().is_file())
        .map(|entry| folder.map_or_else(|| entry.file_name().into(), |folder| folder.join(entry.file_name())))
        .collect();
    files.sort();
    Ok(files)
}

/// Whether a file is a statistics log or has records of 18 bytes. Only regular files can be: the
/// first bytes of a pipe are gone once they were read, and records of 18 bytes are recognised by
/// the size of their file.
pub(crate) fn has_records(path: &Path) -> bool {
    let meta = if is_stdin(path) { None } else { std::fs::metadata(path).ok() };
    let Some(len) = meta.filter(Metadata::is_file).map(|meta| meta.len()) else { return false };
    File::open(path).is_ok_and(|file| {
        let mut head = Vec::new();
        let read = file.take(FileKind::HEAD as u64).read_to_end(&mut head);
        read.is_ok() && (head.starts_with(LOG) || is_origin(&head, len))
    })
}

/// Whether a file has records of 18 bytes. These have no magic number, so a file counts as having
/// them if its length is a multiple of 18, the first records end in the same two bytes, and it does
/// not begin as a file of messages.
fn is_origin(head: &[u8], len: u64) -> bool {
    let separators = || head.chunks_exact(ORIGIN_RECORD).map(|record| &record[16..]);
    let is_whole = len > 0 && len.is_multiple_of(ORIGIN_RECORD as u64);
    let same = separators().next().is_some_and(|first| separators().all(|other| other == first));
    is_whole && same && FileKind::of(head).is_none()
}

/// Counts all messages of a file.
///
/// # Errors
/// Errors of reading and of decoding. Messages before the error are counted.
pub(crate) fn count(
    path: &Path,
    session: &SessionArgs,
    set: &mut SetStats,
    reporter: &Reporter,
) -> Result<(), CliError> {
    let name = path.display().to_string();
    if !has_records(path) {
        let wire = Wire::open(path, session.transport)?;
        return count_messages(wire.with_progress(|len| reporter.progress(&name, len)), session, set);
    }
    let mut file = File::open(path).map_err(CliError::io("cannot open"))?;
    let mut magic = [0; LOG.len()];
    let is_log = file.read_exact(&mut magic).is_ok() && magic == LOG;
    file.rewind().map_err(CliError::io("cannot read"))?;
    let progress = reporter.progress(&name, file.metadata().ok().map(|meta| meta.len()));
    let file = ProgressReader { inner: file, read: 0, progress };
    match is_log {
        true => count_log(file, set),
        false => count_origin(file, session.transport.unwrap_or(Transport::Zstd), set),
    }
}

fn count_log(log: impl Read, set: &mut SetStats) -> Result<(), CliError> {
    let (log, read) = counted(log);
    let failed = |error| reading(error, &read);
    for entry in LogReader::open(log).map_err(failed)? {
        match entry.map_err(failed)? {
            LogEntry::Message(record) => set.add(&record, None),
            LogEntry::Dropped { records, .. } => set.total.add_dropped(records),
        }
    }
    Ok(())
}

fn count_origin(records: impl Read, transport: Transport, set: &mut SetStats) -> Result<(), CliError> {
    let (records, read) = counted(records);
    for record in OriginReader::new(records, transport) {
        set.add(&record.map_err(|error| reading(error, &read))?, None);
    }
    Ok(())
}

/// A reader that updates the progress display with the number of bytes read.
struct ProgressReader {
    inner: File,
    read: u64,
    progress: Progress,
}

impl Read for ProgressReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.progress.update(self.read);
        let n = self.inner.read(into)?;
        self.read += n as u64;
        Ok(n)
    }
}

/// Decodes a recording or a file of messages, and counts its messages.
fn count_messages(wire: Wire, session: &SessionArgs, set: &mut SetStats) -> Result<(), CliError> {
    let transport = wire.transport.unwrap_or(Transport::Zstd);
    let mut decoding = Decoding::new(session, &wire)?;
    let outcome = decoding.run(wire, |message| {
        let envelope = Envelope::read(message.payload, encoding(message.payload)).unwrap_or_default();
        set.add(&record(message, transport), envelope.event);
        Ok(())
    });
    outcome.map_err(|ended| match ended {
        Ended::Message { error, .. } | Ended::Otherwise(error) => error,
    })
}

fn record(message: &Decoded<'_>, transport: Transport) -> MessageRecord {
    let saturated = |value: u128| u32::try_from(value).unwrap_or(u32::MAX);
    MessageRecord {
        time: message.time.unwrap_or(0),
        connection: saturated(message.connection.into()),
        transport,
        verdict: Verdict::Decoded,
        compressed: saturated(message.compressed as u128),
        payload: saturated(message.payload.len() as u128),
        decode_ns: message.spent.map(|spent| saturated(spent.as_nanos())),
    }
}

#[cfg(test)]
mod tests {
    use linerate_gateway::stats::{Clock, LogWriter, OriginWriter};

    use super::*;

    /// Fails as the second part of a chain of readers.
    struct Failing;

    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk failed"))
        }
    }

    #[test]
    fn error_of_reading_has_the_offset_of_the_first_byte_not_read() {
        let record = MessageRecord {
            time: 1,
            connection: 0,
            transport: Transport::Zstd,
            verdict: Verdict::Decoded,
            compressed: 10,
            payload: 60,
            decode_ns: Some(1000),
        };
        let mut log = LogWriter::new(Vec::new(), Clock::Monotonic, 0, 1).expect("a log");
        let mut records = OriginWriter::new(Vec::new());
        for _ in 0..4 {
            log.add(&LogEntry::Message(record)).expect("an entry");
            records.add(&record).expect("a record");
        }
        let (log, records) = (log.finish().expect("a log"), records.finish().expect("records"));
        let mut set = SetStats::new("");
        for len in [10, 70, log.len()] {
            let failed = count_log(log[..len].chain(Failing), &mut set).expect_err("an error");
            assert_eq!(failed.offset(), Some(len as u64), "{failed}");
        }
        let failed = count_origin(records[..50].chain(Failing), Transport::Zstd, &mut set);
        assert_eq!(failed.expect_err("an error").offset(), Some(50));
        assert_eq!(set.total.messages(), 1 + 4 + 2);
    }
}
