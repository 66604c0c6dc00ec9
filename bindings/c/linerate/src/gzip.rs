//! gzip files: reads content from any position, with or without an index. With two `threads` or
//! more, other threads decode ahead while a file is read from its beginning.

use std::ffi::{c_char, c_void};
use std::fs::File;
use std::io::{self, Cursor, ErrorKind, Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

use linerate_core::{Error, Kind};
use linerate_inflate::GzipFile;
use linerate_inflate::index::Index;

use crate::border::{input, name, output, path_of, place, run, value_or};
use crate::error::{Call, linerate_error};
use crate::handles::Table;

/// An open gzip file, whose content can be read from any position. One thread at a time may use it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_gzip {
    /// The handle.
    pub id: u64,
}

/// Options of a gzip file. linerate_gzip_defaults fills them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_gzip_options {
    /// Number of threads that decode. 0 and 1: the reading thread decodes. 2 without an index:
    /// another thread decodes ahead of the reading one. Otherwise that many threads decode
    /// together, which takes about twice the CPU time without an index, and hardly more with one.
    /// They decode from the beginning of the file on; with an index, the first seek to another
    /// position ends them. A file of at most 64 KiB is always decoded by the reading thread.
    /// Default: 1.
    pub threads: u32,
    /// Reserved: 0.
    pub reserved: u32,
    /// The content of an index file of indexed_gzip or gztool, index_len bytes, or null for no
    /// index. The call that opens the file reads the index, which may be freed afterwards. With an
    /// index, seeking decodes only from the nearest point of the index on, but the content from the
    /// new position to the next gzip member is not verified.
    pub index: *const u8,
    /// Size of the index in bytes.
    pub index_len: usize,
}

/// A function of the caller that reads up to len bytes at an offset of a file into buffer, like
/// pread. It returns the number of bytes read, which is 0 only at the end, or a negative number for
/// an error. It is never asked for bytes beyond the size that was passed to
/// linerate_gzip_open_callback. With two threads or more another thread calls it, but only one at a
/// time. The function may call functions of this library, but not with the handle that it reads
/// for. It must neither throw nor jump out.
pub type linerate_read_at_fn =
    Option<unsafe extern "C" fn(context: *mut c_void, offset: u64, buffer: *mut c_void, len: usize) -> i64>;

static FILES: Table<Mutex<GzipFile<Source>>> = Table::new(13);

enum Source {
    File(File),
    Memory(Cursor<&'static [u8]>),
    Callback(Callback),
}

/// A file that a function of the caller reads, with the position of the next read.
struct Callback {
    read_at: unsafe extern "C" fn(*mut c_void, u64, *mut c_void, usize) -> i64,
    context: *mut c_void,
    at: u64,
    size: u64,
}

// SAFETY: `linerate.h` tells the caller that another thread calls back.
unsafe impl Send for Callback {}

impl Read for Callback {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.size.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let len = into.len().min(left);
        if len == 0 {
            return Ok(0);
        }
        // SAFETY: the caller promises a function of this type that accepts the context and writes
        // up to `len` bytes.
        let read = unsafe { (self.read_at)(self.context, self.at, into.as_mut_ptr().cast(), len) };
        match usize::try_from(read) {
            Ok(read) if read <= len => {
                self.at += read as u64;
                Ok(read)
            }
            _ => Err(Error::new(Kind::Read, self.at, "the function that reads the file has failed").into()),
        }
    }
}

impl Seek for Callback {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.size.checked_add_signed(by),
        };
        self.at = target.ok_or(ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

impl Read for Source {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Source::File(file) => file.read(into),
            Source::Memory(bytes) => bytes.read(into),
            Source::Callback(callback) => callback.read(into),
        }
    }
}

impl Seek for Source {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Source::File(file) => file.seek(to),
            Source::Memory(bytes) => bytes.seek(to),
            Source::Callback(callback) => callback.seek(to),
        }
    }
}

fn failed(error: io::Error) -> linerate_error {
    Error::from_io(Kind::Read, 0, "cannot read the file", &error).into()
}

/// # Safety
/// The index is null or points to its bytes.
unsafe fn open(mut source: Source, options: linerate_gzip_options) -> Call<linerate_gzip> {
    let (index, threads) = (options.index, options.threads as usize);
    let file = if index.is_null() {
        GzipFile::new(source, threads)
    } else {
        // SAFETY: the caller's promise.
        let bytes = unsafe { input!(index, options.index_len) }?;
        let len = source.seek(SeekFrom::End(0)).map_err(failed)?;
        GzipFile::with_index(source, Index::read(Cursor::new(bytes), len, 0..u64::MAX)?, threads)
    };
    Ok(linerate_gzip { id: FILES.insert(Mutex::new(file.map_err(failed)?))? })
}

/// Returns the default options.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_gzip_defaults() -> linerate_gzip_options {
    linerate_gzip_options { threads: 1, reserved: 0, index: std::ptr::null(), index_len: 0 }
}

/// Opens a file. On Windows the path is UTF-8. Reading allocates windows and buffers: less than 1
/// MiB plus the index, and with several threads at most 64 MiB plus 24 MiB for each thread. Fails
/// if the index is damaged or does not fit the size of the file. The file itself is checked when it
/// is read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_gzip_open(
    path: *const c_char,
    options: *const linerate_gzip_options,
    gzip: *mut linerate_gzip,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (path, options, gzip) = unsafe {
            (path_of(name!(path), path)?, value_or!(options, linerate_gzip_defaults())?, place!(gzip)?)
        };
        let file = File::open(path)
            .map_err(|error| Error::from_io(Kind::Read, 0, "cannot open the file", &error))?;
        // SAFETY: the caller's promise.
        gzip.write(unsafe { open(Source::File(file), options) }?);
        Ok(())
    })
}

/// Opens a gzip file that is in memory of the caller, which must not change until
/// linerate_gzip_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_gzip_open_memory(
    from: *const u8,
    len: usize,
    options: *const linerate_gzip_options,
    gzip: *mut linerate_gzip,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises: the memory outlives the handle.
        let (bytes, options, gzip) =
            unsafe { (input!(from, len)?, value_or!(options, linerate_gzip_defaults())?, place!(gzip)?) };
        // SAFETY: the caller's promise.
        gzip.write(unsafe { open(Source::Memory(Cursor::new(bytes)), options) }?);
        Ok(())
    })
}

/// Opens a gzip file of size bytes, which the library reads by calling read_at with context. It may
/// call read_at until linerate_gzip_free has returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_gzip_open_callback(
    read_at: linerate_read_at_fn,
    context: *mut c_void,
    size: u64,
    options: *const linerate_gzip_options,
    gzip: *mut linerate_gzip,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (options, gzip) = unsafe { (value_or!(options, linerate_gzip_defaults())?, place!(gzip)?) };
        let read_at = read_at.ok_or(linerate_error::bad_argument(c"read_at is a null pointer"))?;
        let source = Source::Callback(Callback { read_at, context, at: 0, size });
        // SAFETY: the caller's promise.
        gzip.write(unsafe { open(source, options) }?);
        Ok(())
    })
}

/// Reads up to capacity bytes of content from the current position on, and stores the number read,
/// which is smaller only at the end or before an error. Calls return all content before an error
/// first, and then the error, until linerate_gzip_seek goes back. The offset of the error counts
/// bytes of the file. If the options have several threads, the first call that decodes from the
/// beginning starts them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_gzip_read(
    gzip: linerate_gzip,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (out, written) = unsafe { (output!(out, capacity)?, place!(written)?) };
        let mut file = FILES.lock(gzip.id)?;
        let file = file.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut len = 0;
        while len < out.len() {
            match file.read(&mut out[len..]) {
                Ok(0) => break,
                Ok(read) => len += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) if len > 0 => break,
                Err(error) => return Err(failed(error)),
            }
        }
        written.write(len);
        Ok(())
    })
}

/// Moves the position in the content and stores the new one. offset counts from the beginning
/// (whence 0, as SEEK_SET), from the current position (1) or from the end (2). A position beyond
/// the end becomes the end, and one before the beginning is LINERATE_BAD_ARGUMENT. Without an
/// index, the content in between is decoded, from the beginning of the file if the position moves
/// back, and up to the end for whence 2. After an error the position may have moved.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_gzip_seek(
    gzip: linerate_gzip,
    offset: i64,
    whence: i32,
    position: *mut u64,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promise.
        let position = unsafe { place!(position) }?;
        let to = match (whence, u64::try_from(offset)) {
            (0, Ok(offset)) => SeekFrom::Start(offset),
            (1, _) => SeekFrom::Current(offset),
            (2, _) => SeekFrom::End(offset),
            (0, Err(_)) => {
                return Err(linerate_error::bad_argument(c"a position before the beginning of the content"));
            }
            _ => return Err(linerate_error::bad_argument(c"whence must be 0, 1 or 2")),
        };
        let mut file = FILES.lock(gzip.id)?;
        let file = file.get_mut().unwrap_or_else(PoisonError::into_inner);
        position.write(file.seek(to).map_err(failed)?);
        Ok(())
    })
}

/// Frees a gzip file, after its threads have ended. Ignores one whose id is 0.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_gzip_free(gzip: linerate_gzip) -> linerate_error {
    run(|| FILES.free_unless_zero(gzip.id))
}
