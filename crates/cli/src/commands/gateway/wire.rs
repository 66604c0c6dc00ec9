//! Reads files with the messages of connections: detects the format, and iterates over the
//! messages.

use std::fs::{File, Metadata};
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use linerate_core::{Error, Kind};
use linerate_gateway::{Entry, FileKind, Messages, Recording, SessionError, Transport};

use crate::ui::error::CliError;
use crate::ui::progress::Progress;
use crate::ui::{input, inputs};

/// The first bytes of a statistics log.
pub(super) const LOG: &[u8] = b"LGST";
/// Bytes of a reader's buffer.
const BUFFER: usize = 256 << 10;

/// The framing of messages in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Each message follows its length.
    Messages,
    /// Entries with times.
    Recording,
}

impl Form {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Form::Messages => "messages",
            Form::Recording => "recording",
        }
    }

    pub(crate) fn words(self) -> &'static str {
        match self {
            Form::Messages => "length-prefixed messages",
            Form::Recording => "recording",
        }
    }
}

/// An open file of messages or recording, which iterates over its entries.
pub(crate) struct Wire {
    pub(crate) form: Form,
    /// The compression of messages; `None` if they are payloads.
    pub(crate) transport: Option<Transport>,
    entries: Box<dyn Iterator<Item = io::Result<Entry>>>,
    /// Bytes read so far.
    read: Arc<AtomicU64>,
    /// Bytes of the file, if known.
    len: Option<u64>,
    progress: Option<Progress>,
}

/// A reader that counts its bytes.
struct Tally<R> {
    inner: R,
    read: Arc<AtomicU64>,
}

/// Buffers `source`. Also returns the number of bytes that were read of it so far. After an error
/// of reading, that is the offset of the first byte that could not be read.
pub(super) fn counted<R: Read>(source: R) -> (impl Read, Arc<AtomicU64>) {
    let read = Arc::<AtomicU64>::default();
    let counted = Tally { inner: source, read: Arc::clone(&read) };
    (BufReader::with_capacity(BUFFER, counted), read)
}

impl<R: Read> Read for Tally<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(into)?;
        self.read.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

impl Wire {
    /// Opens a file, or standard input for `-`. The compression is `told`, or is detected by the
    /// first bytes. A recording states its own, and it is an error to tell another one.
    pub(crate) fn open(path: &Path, told: Option<Transport>) -> Result<Wire, CliError> {
        let file = if path == Path::new("-") { input::stdin() } else { File::open(path) };
        let file = file.map_err(CliError::io("cannot open"))?;
        if file.metadata().is_ok_and(|meta| meta.is_dir()) {
            return Err(CliError::Refused("it is a directory".into()));
        }
        inputs::keep_open(&file);
        let len = file.metadata().ok().filter(Metadata::is_file).map(|meta| meta.len());
        Ok(Wire { len, ..Self::of(file, told)? })
    }

    /// Shows progress while messages are read. `make` gets the bytes of the file, if known.
    pub(crate) fn with_progress(self, make: impl FnOnce(Option<u64>) -> Progress) -> Wire {
        Wire { progress: Some(make(self.len)), ..self }
    }

    fn new(
        form: Form,
        transport: Option<Transport>,
        entries: Box<dyn Iterator<Item = io::Result<Entry>>>,
        read: Arc<AtomicU64>,
    ) -> Wire {
        Wire { form, transport, entries, read, len: None, progress: None }
    }

    /// As [`open`](Self::open), for any reader.
    fn of(source: impl Read + 'static, told: Option<Transport>) -> Result<Wire, CliError> {
        let (mut source, read) = counted(source);
        let mut head = Vec::new();
        let filled = source.by_ref().take(FileKind::HEAD as u64).read_to_end(&mut head);
        filled.map_err(|error| reading(error, &read))?;
        if head.is_empty() {
            return Err(CliError::data(Kind::Truncated, 0, "it is empty"));
        }
        let (kind, is_log) = (FileKind::of(&head), head.starts_with(LOG));
        let source = Cursor::new(head).chain(source);
        let transport = match (kind, told) {
            (Some(FileKind::ZstdFrame), _) => {
                let what = "it is a plain zstd stream, which does not say where messages begin";
                return Err(CliError::data(Kind::Corrupt, 0, what));
            }
            (Some(FileKind::Recording), _) => {
                let recording = Recording::open(source).map_err(|error| reading(error, &read))?;
                return Self::recording(recording, told, read);
            }
            (_, Some(told)) => Some(told),
            (Some(FileKind::Payloads), None) => None,
            (Some(FileKind::Compressed(transport)), None) => Some(transport),
            (None, None) if is_log => {
                let what =
                    "it is a statistics log, without messages; `linerate gateway stats FILE` counts it";
                return Err(CliError::data(Kind::Corrupt, 0, what));
            }
            (None, None) => {
                let what = "it begins like no payload and no transport; --transport names the transport";
                return Err(CliError::data(Kind::Corrupt, 0, what));
            }
        };
        let frame = |wire| Entry::Frame { time: 0, payload: None, wire };
        let entries = Messages::new(source).map(move |message| message.map(frame));
        Ok(Wire::new(Form::Messages, transport, Box::new(entries), read))
    }

    fn recording<R: Read + 'static>(
        recording: Recording<R>,
        told: Option<Transport>,
        read: Arc<AtomicU64>,
    ) -> Result<Wire, CliError> {
        let transport = recording.transport();
        if told.is_some_and(|told| told != transport) {
            return Err(CliError::Refused(format!(
                "it is a recording of {transport}; leave out --transport"
            )));
        }
        Ok(Wire::new(Form::Recording, Some(transport), Box::new(recording), read))
    }

    /// The kind of the file, in words: its framing and its compression.
    pub(crate) fn words(&self) -> String {
        match self.transport {
            Some(transport) => format!("{}, {transport}", self.form.words()),
            None => format!("payloads, {}", self.form.words()),
        }
    }
}

impl Iterator for Wire {
    type Item = Result<Entry, CliError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(progress) = &mut self.progress {
            progress.update(self.read.load(Ordering::Relaxed));
        }
        self.entries.next().map(|entry| entry.map_err(|error| reading(error, &self.read)))
    }
}

/// Converts an error of reading, which may be an error of the format. `read` counts the bytes that
/// were read before.
pub(super) fn reading(error: io::Error, read: &AtomicU64) -> CliError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(Error { kind, offset: at, message: what, .. }) => CliError::data(*kind, *at, *what),
        None => CliError::Read { error, offset: read.load(Ordering::Relaxed) },
    }
}

/// Converts an error of a session or an encoder.
pub(crate) fn fault(fault: SessionError) -> CliError {
    let Error { kind, offset: at, message: what, .. } = fault.error;
    CliError::data(kind, at, format!("message {}: {what}", fault.message_index))
}

#[cfg(test)]
mod tests {
    use linerate_gateway::{Recorder, write_message};

    use super::*;

    fn messages(all: &[&[u8]]) -> Vec<u8> {
        let mut file = Vec::new();
        all.iter().for_each(|message| write_message(&mut file, message).unwrap());
        file
    }

    /// A reader of bytes that fails after them.
    struct Failing(Cursor<Vec<u8>>);

    impl Read for Failing {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            match self.0.read(into)? {
                0 => Err(io::Error::other("the disk failed")),
                n => Ok(n),
            }
        }
    }

    #[test]
    fn error_of_reading_has_the_offset_of_the_first_byte_not_read() {
        let offset = |file: &[u8]| match Wire::of(Failing(Cursor::new(file.to_vec())), None) {
            Err(error) => error.offset(),
            Ok(mut wire) => wire.find_map(Result::err).expect("an error").offset(),
        };
        let payloads = messages(&[&b"{}"[..]; 30]);
        let mut recorder = Recorder::new(Vec::new(), Transport::Zstd).unwrap();
        let frame = Entry::Frame { time: 1, payload: None, wire: vec![7; 100] };
        (0..3).for_each(|_| recorder.add(&frame).unwrap());
        let recording = recorder.finish().unwrap();
        for file in [&payloads[..], &payloads[..70], &payloads[..5], &recording, &recording[..200]] {
            assert_eq!(offset(file), Some(file.len() as u64));
        }
    }

    fn opened(file: Vec<u8>, told: Option<Transport>) -> Result<(Form, Option<Transport>), String> {
        let wire = Wire::of(Cursor::new(file), told).map_err(|e| e.to_string())?;
        Ok((wire.form, wire.transport))
    }

    #[test]
    fn the_first_bytes_tell() {
        let (zlib, zstd) = (Some(Transport::Zlib), Some(Transport::Zstd));
        assert_eq!(opened(messages(&[b"{}"]), None), Ok((Form::Messages, None)));
        assert_eq!(opened(messages(&[&[131, 116]]), None), Ok((Form::Messages, None)));
        assert_eq!(opened(messages(&[&[0x78, 0x9c, 1]]), None), Ok((Form::Messages, zlib)));
        assert_eq!(opened(messages(&[&[0x78], b"", &[0xda]]), None), Ok((Form::Messages, zlib)));
        assert_eq!(opened(messages(&[&[0x28, 0xb5, 0x2f, 0xfd, 0, 0x30]]), None), Ok((Form::Messages, zstd)));
        assert_eq!(opened(messages(&[b"{}"]), zlib), Ok((Form::Messages, zlib)));
        let recording = Recorder::new(Vec::new(), Transport::Zstd).unwrap().finish().unwrap();
        assert_eq!(opened(recording.clone(), None), Ok((Form::Recording, zstd)));
        assert!(opened(recording, zlib).unwrap_err().contains("zstd-stream"));
        assert!(opened(messages(&[b"xyz"]), None).unwrap_err().contains("--transport"));
        assert!(opened(messages(&[&[0x78, 0x9d]]), None).is_err());
        assert!(opened(Vec::new(), None).is_err());
        assert!(opened([LOG, &[2; 28]].concat(), None).unwrap_err().contains("a statistics log"));
        let frame = [0x28, 0xb5, 0x2f, 0xfd, 0, 0x30];
        assert!(opened(frame.to_vec(), Some(Transport::Zstd)).unwrap_err().contains("a plain zstd stream"));
    }
}
