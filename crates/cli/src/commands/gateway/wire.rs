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
        let read = Arc::<AtomicU64>::default();
        let counted = Tally { inner: file, read: Arc::clone(&read) };
        Ok(Wire { read, len, ..Self::of(BufReader::with_capacity(256 << 10, counted), told)? })
    }

    /// Shows progress while messages are read. `make` gets the bytes of the file, if known.
    pub(crate) fn with_progress(self, make: impl FnOnce(Option<u64>) -> Progress) -> Wire {
        Wire { progress: Some(make(self.len)), ..self }
    }

    fn new(
        form: Form,
        transport: Option<Transport>,
        entries: Box<dyn Iterator<Item = io::Result<Entry>>>,
    ) -> Wire {
        Wire { form, transport, entries, read: Arc::default(), len: None, progress: None }
    }

    /// As [`open`](Self::open), for any reader.
    fn of(mut source: impl Read + 'static, told: Option<Transport>) -> Result<Wire, CliError> {
        let mut head = Vec::new();
        source.by_ref().take(FileKind::HEAD as u64).read_to_end(&mut head).map_err(reading)?;
        if head.is_empty() {
            return Err(CliError::data(Kind::Truncated, 0, "it is empty"));
        }
        let kind = FileKind::of(&head);
        let source = Cursor::new(head).chain(source);
        let transport = match (kind, told) {
            (Some(FileKind::ZstdFrame), _) => {
                let what = "it is a plain zstd stream, which does not say where messages begin";
                return Err(CliError::data(Kind::Corrupt, 0, what));
            }
            (Some(FileKind::Recording), _) => {
                return Self::recording(Recording::open(source).map_err(reading)?, told);
            }
            (_, Some(told)) => Some(told),
            (Some(FileKind::Payloads), None) => None,
            (Some(FileKind::Compressed(transport)), None) => Some(transport),
            (None, None) => {
                let what = "it begins like no payload and no transport; --transport names the transport";
                return Err(CliError::data(Kind::Corrupt, 0, what));
            }
        };
        let frame = |wire| Entry::Frame { time: 0, payload: None, wire };
        let entries = Messages::new(source).map(move |message| message.map(frame));
        Ok(Wire::new(Form::Messages, transport, Box::new(entries)))
    }

    fn recording<R: Read + 'static>(
        recording: Recording<R>,
        told: Option<Transport>,
    ) -> Result<Wire, CliError> {
        let transport = recording.transport();
        if told.is_some_and(|told| told != transport) {
            return Err(CliError::Refused(format!(
                "it is a recording of {transport}; leave out --transport"
            )));
        }
        Ok(Wire::new(Form::Recording, Some(transport), Box::new(recording)))
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
        self.entries.next().map(|entry| entry.map_err(reading))
    }
}

/// Converts an error of reading, which may be an error of the format.
pub(crate) fn reading(error: io::Error) -> CliError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(Error { kind, offset: at, message: what, .. }) => CliError::data(*kind, *at, *what),
        None => CliError::Read { error, offset: 0 },
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
        let frame = [0x28, 0xb5, 0x2f, 0xfd, 0, 0x30];
        assert!(opened(frame.to_vec(), Some(Transport::Zstd)).unwrap_err().contains("a plain zstd stream"));
    }
}
