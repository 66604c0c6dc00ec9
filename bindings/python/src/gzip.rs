//! The classes and the function behind `pylinerate.gzip`.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::{mem, process};

use linerate_core::{Error, Kind, lock};
use linerate_deflate::{Format, Level, Stream, bound, finish_bound, flush_bound, with_thread_scratch};
use linerate_inflate::GzipFile;
use linerate_inflate::index::{Index, Options};
use linerate_io::{AtomicFile, Existing};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::raise;
use crate::sys::buffers::{Input, Output};
use crate::sys::bytes::copied;

/// Number of bytes between two checks for signals such as Ctrl-C. A seek counts bytes of content,
/// and [`gzip_build_index`] counts bytes of the compressed file.
const UNINTERRUPTED: u64 = 64 << 20;

/// Where compressed bytes come from: a file of the system, or a Python file object.
enum Source {
    File(File),
    Object(Object),
}

/// A Python file object, with its methods `read`, `seek` and `tell`.
struct Object {
    file: Py<PyAny>,
    /// The exception that a method of `file` raised last. The decoder gets an [`io::Error`] in its
    /// place; [`raised_by`] then returns this exception to Python.
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Object {
    fn call<T>(&self, work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> io::Result<T> {
        let result = Python::attach(|py| work(self.file.bind(py)));
        result.map_err(|error| {
            *lock(&self.raised) = Some(error);
            io::Error::other("the file object has raised an exception")
        })
    }
}

impl Read for Source {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Source::File(file) => file.read(into),
            Source::Object(object) => object.call(|file| {
                let read = file.call_method1("read", (into.len(),))?.extract::<Input>()?;
                let bytes = read.bytes();
                let room = into.get_mut(..bytes.len());
                let room = room.ok_or_else(|| PyValueError::new_err("read() has returned too many bytes"))?;
                room.copy_from_slice(bytes);
                Ok(bytes.len())
            }),
        }
    }
}

impl Seek for Source {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Source::File(file) => file.seek(to),
            Source::Object(object) => object.call(|file| {
                let sought = match to {
                    SeekFrom::Start(offset) => file.call_method1("seek", (offset,)),
                    SeekFrom::Current(by) => file.call_method1("seek", (by, 1)),
                    SeekFrom::End(by) => file.call_method1("seek", (by, 2)),
                };
                sought?;
                file.call_method0("tell")?.extract()
            }),
        }
    }
}

/// The content of a gzip file.
#[pyclass(frozen, module = "pylinerate._pylinerate")]
pub(crate) struct GzipReader {
    /// `None` after `close`.
    file: Mutex<Option<GzipFile<Source>>>,
    raised: Arc<Mutex<Option<PyErr>>>,
    /// ID of the process that opened the file. A forked process does not have the threads that
    /// decode the file.
    process: u32,
}

#[pymethods]
impl GzipReader {
    /// Opens the file at `path`. Without a path, reads the file object `file` instead, and decodes
    /// in the calling thread whatever `threads` is. `index` is the path of an index, if there is
    /// one.
    #[new]
    fn new(
        py: Python<'_>,
        file: Bound<'_, PyAny>,
        path: Option<PathBuf>,
        threads: usize,
        index: Option<PathBuf>,
    ) -> PyResult<Self> {
        let raised = Arc::default();
        let index = index.map(|path| open(py, &path)).transpose()?;
        let (mut source, threads) = match path {
            Some(path) => (Source::File(open(py, &path)?), threads),
            None => (Source::Object(Object { file: file.unbind(), raised: Arc::clone(&raised) }), 1),
        };
        let file = py.detach(|| match index {
            Some(index) => {
                let len = source.seek(SeekFrom::End(0))?;
                let index = Index::read(index, len, 0..u64::MAX)?;
                GzipFile::with_index(source, index, threads)
            }
            None => GzipFile::new(source, threads),
        });
        let file = file.map_err(|error| raised_by(py, error, &raised))?;
        Ok(GzipReader { file: Mutex::new(Some(file)), raised, process: process::id() })
    }

    /// Writes content to the start of `out`, and returns the number of bytes. It is 0 only at the
    /// end of the content, or if `out` is empty.
    fn readinto(&self, py: Python<'_>, mut out: Output) -> PyResult<usize> {
        let out = out.bytes_mut([])?;
        self.with(py, |file| file.read(out))
    }

    /// Sets the position in the content as `io.RawIOBase.seek` does, and returns it. A position
    /// after the end becomes the end; one before the beginning is an error.
    fn seek(&self, py: Python<'_>, offset: i64, whence: u8) -> PyResult<u64> {
        let to = match (whence, u64::try_from(offset)) {
            (0, Ok(offset)) => SeekFrom::Start(offset),
            (0, Err(_)) => return Err(PyValueError::new_err(format!("negative seek value {offset}"))),
            (1, _) => SeekFrom::Current(offset),
            (2, _) => SeekFrom::End(offset),
            _ => return Err(PyValueError::new_err(format!("whence is {whence}, but must be 0, 1 or 2"))),
        };
        // Without an index a seek forward decodes everything up to the target, which may take
        // minutes. So seeks to the end, or forward to an absolute position, go in steps, and
        // signals are checked between them. Seeks back and relative seeks are a single step.
        loop {
            let step = self.with(py, |file| {
                let at = file.stream_position()?;
                let next = at.saturating_add(UNINTERRUPTED);
                let is_far = match to {
                    SeekFrom::Start(target) => !file.has_index() && target > next,
                    SeekFrom::End(_) => file.content_len().is_none(),
                    SeekFrom::Current(_) => false,
                };
                if is_far && file.seek(SeekFrom::Start(next))? == next {
                    return Ok(None);
                }
                file.seek(to).map(Some)
            })?;
            match step {
                Some(position) => return Ok(position),
                None => py.check_signals()?,
            }
        }
    }

    /// The position in the content, in bytes from its beginning.
    fn tell(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |file| file.stream_position())
    }

    /// Ends the decoding threads, and closes the file if it was opened from a path.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.forget_if_forked(lock(&self.file).take()));
    }
}

impl GzipReader {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut GzipFile<Source>) -> io::Result<T> + Send,
    ) -> PyResult<T> {
        if process::id() != self.process {
            return Err(PyValueError::new_err("the file was opened by another process: open it again"));
        }
        // The interpreter's lock is released before `self.file` is locked. A thread that reads a
        // file object takes the interpreter's lock while it has `self.file` locked, so waiting in
        // the other order could deadlock.
        let result = py.detach(|| lock(&self.file).as_mut().map(work));
        let result = result.ok_or_else(|| PyValueError::new_err("I/O operation on closed file."))?;
        result.map_err(|error| raised_by(py, error, &self.raised))
    }

    /// Drops the file, which waits for its decoding threads. A forked process leaks the file
    /// instead, because these threads do not exist there and it would wait for ever.
    fn forget_if_forked(&self, file: Option<GzipFile<Source>>) {
        if process::id() != self.process {
            mem::forget(file);
        }
    }
}

impl Drop for GzipReader {
    fn drop(&mut self) {
        let file = lock(&self.file).take();
        self.forget_if_forked(file);
    }
}

fn open(py: Python<'_>, path: &Path) -> PyResult<File> {
    py.detach(|| File::open(path)).map_err(|error| with_name(py, error, path))
}

/// Converts an error of the system to the exception that Python's `open` raises, with the error
/// number and the name of the file.
fn with_name(py: Python<'_>, error: io::Error, path: &Path) -> PyErr {
    let Some(number) = error.raw_os_error() else { return error.into() };
    let text = py.import("os").and_then(|os| os.call_method1("strerror", (number,)));
    text.map_or_else(|e| e, |text| PyOSError::new_err((number, text.unbind(), path.as_os_str().to_owned())))
}

/// Converts an error to a Python exception. If the error occurred because the file object or a
/// signal handler raised an exception, which is then in `raised`, returns that one instead.
fn raised_by(py: Python<'_>, error: io::Error, raised: &Mutex<Option<PyErr>>) -> PyErr {
    if let Some(raised) = lock(raised).take() {
        return raised;
    }
    match error.downcast::<Error>() {
        Ok(error) => raise(py, error),
        Err(error) => error.into(),
    }
}

/// Number of bytes of input that are collected and then encoded in one call, unless the member is
/// flushed or ended before. This file calls these bytes a block, which may become several blocks of
/// deflate.
const BLOCK: usize = 256 << 10;
/// Number of bytes before such a block in which `Level::Lazy` and higher levels also look for
/// matches. Lower levels do not look there.
const WINDOW: usize = 32 << 10;

/// Encodes a gzip member from the end of its header, which the caller writes, to its trailer.
#[pyclass(frozen, module = "pylinerate._pylinerate")]
pub(crate) struct GzipEncoder(Mutex<Encoder>);

struct Encoder {
    stream: Stream,
    /// First `window` bytes that were encoded already, then the bytes that wait to be encoded.
    input: Vec<u8>,
    window: usize,
}

impl Encoder {
    fn write(&mut self, mut data: &[u8], out: &mut Vec<u8>) -> linerate_core::Result<()> {
        while !data.is_empty() {
            let (some, rest) = data.split_at(data.len().min(BLOCK + self.window - self.input.len()));
            self.input.extend_from_slice(some);
            data = rest;
            if self.input.len() == BLOCK + self.window {
                self.encode(out)?;
            }
        }
        Ok(())
    }

    /// Encodes the bytes that wait and appends the result to `out`. Then keeps the last [`WINDOW`]
    /// bytes for the next block, or none below `Level::Lazy`.
    fn encode(&mut self, out: &mut Vec<u8>) -> linerate_core::Result<()> {
        let Encoder { stream, input, window } = self;
        with_thread_scratch(bound(input.len() - *window), |scratch, room| {
            let len = stream.encode_with_history(scratch, input, *window, room, true)?;
            out.extend_from_slice(&room[..len]);
            Ok(())
        })?;
        *window = if stream.level() < Level::Lazy { 0 } else { input.len().min(WINDOW) };
        input.drain(..input.len() - *window);
        Ok(())
    }
}

#[pymethods]
impl GzipEncoder {
    #[new]
    fn new(py: Python<'_>, level: u8) -> PyResult<Self> {
        let level = Level::from_number(level).map_err(|e| raise(py, e))?;
        let stream = Stream::new_after_header(Format::Gzip, level);
        Ok(GzipEncoder(Mutex::new(Encoder { stream, input: Vec::new(), window: 0 })))
    }

    /// Adds data to the member. Returns the compressed bytes that became complete, which may be
    /// none.
    fn write<'py>(&self, py: Python<'py>, data: Input) -> PyResult<Bound<'py, PyBytes>> {
        self.encoded(py, |encoder, out| encoder.write(data.bytes(), out))
    }

    /// Returns the compressed bytes that a decoder still needs for all data written so far.
    fn flush<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.encoded(py, |encoder, out| {
            encoder.encode(out)?;
            let mut end = [0; flush_bound()];
            let len = encoder.stream.flush(&mut end)?;
            out.extend_from_slice(&end[..len]);
            Ok(())
        })
    }

    /// Ends the member. Returns its last compressed bytes and its trailer.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.encoded(py, |encoder, out| {
            encoder.encode(out)?;
            let mut end = [0; finish_bound()];
            let len = encoder.stream.finish(&mut end)?;
            out.extend_from_slice(&end[..len]);
            Ok(())
        })
    }
}

impl GzipEncoder {
    fn encoded<'py>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(&mut Encoder, &mut Vec<u8>) -> linerate_core::Result<()> + Send,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut out = Vec::new();
        py.detach(|| work(&mut lock(&self.0), &mut out)).map_err(|e| raise(py, e))?;
        copied(py, &out)
    }
}

/// Decodes the gzip file at `path`, writes its index to the path `index`, and returns the length of
/// the content in bytes. An existing index is replaced only when the new one is complete.
/// `spacing` is the minimum number of bytes of content between two points within a member.
#[pyfunction]
pub(crate) fn gzip_build_index(py: Python<'_>, path: PathBuf, index: PathBuf, spacing: u64) -> PyResult<u64> {
    let raised = Mutex::default();
    let file = Interruptible { file: open(py, &path)?, left: UNINTERRUPTED, raised: &raised };
    let target = py.detach(|| AtomicFile::create(&index, Existing::Replace));
    let mut target = target.map_err(|error| with_name(py, error, &index))?;
    let built = py.detach(|| {
        let built = Index::build(file, &Options::new().spacing(spacing))?;
        let mut writer = BufWriter::new(&mut target);
        built.write_gzidx(&mut writer)?;
        writer.flush()?;
        drop(writer);
        target.commit()?;
        Ok(built.len())
    });
    built.map_err(|error| raised_by(py, error, &raised))
}

/// A file that checks for signals every [`UNINTERRUPTED`] bytes. If a signal handler raises an
/// exception, reading fails.
struct Interruptible<'a> {
    file: File,
    /// Bytes to read before the next check for signals.
    left: u64,
    /// The exception of the signal handler.
    raised: &'a Mutex<Option<PyErr>>,
}

impl Read for Interruptible<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            self.left = UNINTERRUPTED;
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                *lock(self.raised) = Some(error);
                return Err(Error::new(Kind::Read, 0, "a signal has ended reading").into());
            }
        }
        let len = self.file.read(into)?;
        self.left = self.left.saturating_sub(len as u64);
        Ok(len)
    }
}
