//! [`ReadAt`]: positioned reads, and sources in memory and files.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use linerate_core::{Error, Kind};

/// A source of positioned reads, usable by several threads at once.
#[allow(clippy::len_without_is_empty, reason = "a source is a file, whose length counts, not a collection")]
pub trait ReadAt: Send + Sync {
    /// Returns the length in bytes.
    fn len(&self) -> u64;

    /// Fills `out` with the bytes at `offset`.
    ///
    /// # Errors
    ///
    /// Returns [`io::ErrorKind::UnexpectedEof`] if the source ends before `out` is full, and the
    /// errors of the system or the server. An offset that the system cannot take, above 2^63 - 1,
    /// may be another error. After an error the content of `out` is unspecified.
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()>;

    /// Returns the bytes at `offset` without a copy. Returns `None` if the source lacks some of
    /// them, or offers no views, as files and servers do not. By default, returns `None`.
    fn view(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let _ = (offset, len);
        None
    }

    /// Returns the maximum length in bytes of a read that joins neighbouring blocks. A longer block
    /// is read alone. 0, the default, joins none, which is right for disks. Sources with a cost per
    /// request should return more.
    fn coalesce_limit(&self) -> u64 {
        0
    }

    /// Returns the error, at offset 0, that ended the source, for example because the file was
    /// replaced on its server. Later reads within the source fail for the same reason, except reads
    /// of cached bytes. Returns `None` if later reads may succeed; most sources always return
    /// `None`.
    fn end(&self) -> Option<Error> {
        None
    }

    /// Hints that these bytes will be read soon, so that the system can read them from a disk
    /// ahead. By default, does nothing.
    fn will_read(&self, offset: u64, len: u64) {
        let _ = (offset, len);
    }
}

macro_rules! forward {
    ($($type:ty),*) => {$(
        impl<S: ReadAt + ?Sized> ReadAt for $type {
            fn len(&self) -> u64 {
                (**self).len()
            }
            fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
                (**self).read_at(offset, out)
            }
            fn view(&self, offset: u64, len: usize) -> Option<&[u8]> {
                (**self).view(offset, len)
            }
            fn coalesce_limit(&self) -> u64 {
                (**self).coalesce_limit()
            }
            fn end(&self) -> Option<Error> {
                (**self).end()
            }
            fn will_read(&self, offset: u64, len: u64) {
                (**self).will_read(offset, len);
            }
        }
    )*};
}

forward!(Box<S>, std::sync::Arc<S>);

impl ReadAt for &[u8] {
    fn len(&self) -> u64 {
        <[u8]>::len(self) as u64
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let bytes = self.view(offset, out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(bytes);
        Ok(())
    }

    fn view(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let start = usize::try_from(offset).ok()?;
        self.get(start..start.checked_add(len)?)
    }
}

impl ReadAt for Vec<u8> {
    fn len(&self) -> u64 {
        Vec::len(self) as u64
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.as_slice().read_at(offset, out)
    }

    fn view(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let start = usize::try_from(offset).ok()?;
        self.get(start..start.checked_add(len)?)
    }
}

/// Maximum number of bytes per call of `posix_fadvise`.
#[cfg(target_os = "linux")]
const HINT: u64 = 128 << 10;

/// A file that is read at positions. Others may read, rename and delete it meanwhile. On Windows
/// the handle must share this, as the handle of [`open`](Self::open) does.
#[derive(Debug)]
pub struct FileSource {
    #[cfg(any(unix, windows))]
    file: File,
    #[cfg(not(any(unix, windows)))]
    file: std::sync::Mutex<File>,
    len: u64,
}

impl FileSource {
    /// Opens the file `path`, and reads its length once.
    ///
    /// # Errors
    ///
    /// Returns the errors of opening and examining it, and [`io::ErrorKind::InvalidInput`] if it
    /// can be opened but is not a regular file.
    pub fn open(path: impl AsRef<Path>) -> io::Result<FileSource> {
        FileSource::new(File::open(path)?)
    }

    /// Makes a source from an open file, and reads its length once.
    ///
    /// # Errors
    ///
    /// Returns the errors of examining it, and [`io::ErrorKind::InvalidInput`] if it is not a
    /// regular file.
    pub fn new(file: File) -> io::Result<FileSource> {
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        #[cfg(not(any(unix, windows)))]
        let file = std::sync::Mutex::new(file);
        Ok(FileSource { file, len: metadata.len() })
    }
}

impl ReadAt for FileSource {
    fn len(&self) -> u64 {
        self.len
    }

    #[cfg(any(unix, windows))]
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        read_exact_at(&self.file, offset, out)
    }

    #[cfg(target_os = "linux")]
    fn will_read(&self, offset: u64, len: u64) {
        use rustix::fs::{Advice, fadvise};
        let end = offset.saturating_add(len).min(self.len);
        // For one hint, Linux reads no more than the device's read-ahead, 128 KiB by default, or
        // its best request size if that is larger.
        for start in (offset..end).step_by(HINT as usize) {
            let part = std::num::NonZeroU64::new(HINT.min(end - start));
            // A failed hint changes nothing.
            let _ = fadvise(&self.file, start, part, Advice::WillNeed);
        }
    }

    #[cfg(not(any(unix, windows)))]
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = linerate_core::lock(&self.file);
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(out)
    }
}

/// Fills `out` with the bytes at `offset` of a file shared by threads.
///
/// # Errors
///
/// Returns [`io::ErrorKind::UnexpectedEof`] if the file ends before `out` is full, and the errors
/// of the system.
#[cfg(unix)]
pub fn read_exact_at(file: &File, offset: u64, out: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, offset)
}

/// Fills `out` with the bytes at `offset` of a file shared by threads. Moves the file's position.
///
/// # Errors
///
/// Returns [`io::ErrorKind::UnexpectedEof`] if the file ends before `out` is full, and the errors
/// of the system.
#[cfg(windows)]
pub fn read_exact_at(file: &File, mut offset: u64, mut out: &mut [u8]) -> io::Result<()> {
    while !out.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, out, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => {
                out = &mut out[n..];
                offset += n as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Counts the reads of another source. It has no [views](ReadAt::view), so its bytes are got only
/// by reads, which it counts.
#[derive(Debug, Default)]
pub struct CountingSource<S> {
    inner: S,
    reads: AtomicU64,
    bytes: AtomicU64,
}

impl<S: ReadAt> CountingSource<S> {
    /// Makes a source that counts the reads of `inner`.
    pub fn new(inner: S) -> Self {
        CountingSource { inner, reads: AtomicU64::new(0), bytes: AtomicU64::new(0) }
    }

    /// Returns the number of reads, including those that failed.
    pub fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes that the reads requested.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl<S: ReadAt> ReadAt for CountingSource<S> {
    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(out.len() as u64, Ordering::Relaxed);
        self.inner.read_at(offset, out)
    }

    fn coalesce_limit(&self) -> u64 {
        self.inner.coalesce_limit()
    }

    fn end(&self) -> Option<Error> {
        self.inner.end()
    }

    fn will_read(&self, offset: u64, len: u64) {
        self.inner.will_read(offset, len);
    }
}

/// Makes the error of a failed read at `offset`: [`Kind::Truncated`] for a plain
/// [`io::ErrorKind::UnexpectedEof`], else [`Kind::Read`]. An [`Error`] inside `error`, which remote
/// sources put there, is returned unchanged.
pub fn read_error(offset: u64, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof if error.get_ref().is_none() => {
            Error::new(Kind::Truncated, offset, "the file is shorter than it was")
        }
        _ => Error::from_io(Kind::Read, offset, "cannot read", error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sources_read_the_same_bytes() {
        let bytes: Vec<u8> = (0..10_000u32).map(|i| (i % 251) as u8).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bytes");
        std::fs::write(&path, &bytes).unwrap();
        let sources: [Box<dyn ReadAt + '_>; 5] = [
            Box::new(bytes.as_slice()),
            Box::new(bytes.clone()),
            Box::new(FileSource::open(&path).unwrap()),
            Box::new(crate::MapSource::open(&path).unwrap()),
            Box::new(CountingSource::new(std::sync::Arc::new(bytes.clone()))),
        ];
        for source in sources {
            assert_eq!(source.len(), 10_000);
            let mut out = [0; 100];
            source.read_at(9_900, &mut out).unwrap();
            assert_eq!(out, bytes[9_900..]);
            if let Some(view) = source.view(17, 3) {
                assert_eq!(view, &bytes[17..20]);
            }
            for offset in [9_901, 10_000, u64::MAX] {
                let error = source.read_at(offset, &mut out).unwrap_err();
                assert!(matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput));
                assert!(source.view(offset, 100).is_none());
            }
        }
    }

    /// All threads share the position of a file, and on Windows each read moves it.
    #[test]
    fn threads_read_one_file_at_their_own_offsets() {
        let words: Vec<u8> = (0..40_000u32).flat_map(u32::to_le_bytes).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("words");
        std::fs::write(&path, &words).unwrap();
        let source = FileSource::open(&path).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4u32 {
                let source = &source;
                scope.spawn(move || {
                    for word in (thread..40_000).step_by(4) {
                        let mut out = [0; 4];
                        source.read_at(u64::from(word) * 4, &mut out).unwrap();
                        assert_eq!(u32::from_le_bytes(out), word);
                    }
                });
            }
        });
    }

    #[test]
    fn hints_past_the_end_are_cut_to_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bytes");
        std::fs::write(&path, [7; 1000]).unwrap();
        let source = FileSource::open(&path).unwrap();
        for (offset, len) in [(u64::MAX - 10, 100), (1000, u64::MAX), (1, u64::MAX)] {
            source.will_read(offset, len);
        }
        source.read_at(999, &mut [0]).unwrap();
    }

    #[test]
    fn reads_and_bytes_are_counted() {
        let source = CountingSource::new(vec![0; 100]);
        source.read_at(0, &mut [0; 10]).unwrap();
        source.read_at(50, &mut [0; 7]).unwrap();
        assert_eq!((source.reads(), source.bytes()), (2, 17));
    }

    #[test]
    fn opening_a_folder_is_an_error() {
        assert!(FileSource::open(std::env::temp_dir()).is_err());
    }
}
