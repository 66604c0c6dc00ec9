//! How fast the drive that the data lies on is: content read past the system's cache, and written to a nameless file.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use linerate_plan::Direction;

use super::sample::{FileSet, Piece};

/// Bytes of a read or write.
const WINDOW: u64 = 4 << 20;
/// Reads in flight: one alone does not saturate an NVMe drive.
const READS: usize = 4;
/// Longest measurement of one direction.
const LONGEST: Duration = Duration::from_secs(1);
/// Most bytes that are written.
const WRITTEN: u64 = 512 << 20;
/// What reads past the cache must be aligned to: the largest block of a drive, and a page.
const ALIGNMENT: usize = 4096;
/// Spreads the windows that are read.
const SEED: u64 = 1;

/// Bytes per second that the drive of these files and folders delivers, or takes into `output`, or the lower one of
/// both. It takes at most a second for each direction, and a tenth of `seconds`.
///
/// # Errors
/// A sentence: the files lie in memory, or the system cannot read past its cache.
pub fn rate(paths: &[PathBuf], output: &Path, direction: Direction, seconds: f64) -> Result<f64, String> {
    let time = LONGEST.min(Duration::from_secs_f64(seconds / 10.0));
    let read = || reading(&FileSet::new(paths)?, time);
    match direction {
        Direction::Read => read(),
        Direction::Write => writing(output, time).map_err(|e| e.to_string()),
        Direction::Both => Ok(read()?.min(writing(output, time).map_err(|e| e.to_string())?)),
    }
}

/// Reads windows from all over the files, again and again, until the time is over.
fn reading(set: &FileSet, time: Duration) -> Result<f64, String> {
    let most = (set.bytes / 64).max(READS as u64 * WINDOW);
    let pieces: Vec<Piece> = set.spread(WINDOW, most, SEED).into_iter().flatten().collect();
    let (next, bytes) = (AtomicUsize::new(0), AtomicU64::new(0));
    let begun = Instant::now();
    let work = || -> io::Result<()> {
        let mut buffer = vec![0; WINDOW as usize + ALIGNMENT];
        let aligned = buffer.as_ptr().align_offset(ALIGNMENT);
        loop {
            let piece = &pieces[next.fetch_add(1, Ordering::Relaxed) % pieces.len()];
            let whole = (piece.len as usize).next_multiple_of(ALIGNMENT);
            let file = open_direct(&set.files[piece.file].path)?;
            let read = read_at(&file, &mut buffer[aligned..aligned + whole], piece.offset)?;
            bytes.fetch_add(read as u64, Ordering::Relaxed);
            if begun.elapsed() >= time {
                return Ok(());
            }
        }
    };
    let done: io::Result<()> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..READS).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    done.map_err(|e| format!("the system's cache cannot be bypassed: {e}"))?;
    Ok(bytes.into_inner() as f64 / begun.elapsed().as_secs_f64())
}

/// Writes a nameless file in `folder` until the time is over, and waits until the drive has it.
fn writing(folder: &Path, time: Duration) -> io::Result<f64> {
    let mut file = tempfile::tempfile_in(folder)?;
    // No drive makes less of it.
    let noise: Vec<u8> =
        (0..WINDOW / 8).flat_map(|i| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes()).collect();
    let (mut written, begun) = (0, Instant::now());
    while written == 0 || written < WRITTEN && begun.elapsed() < time {
        file.write_all(&noise)?;
        written += WINDOW;
    }
    file.sync_data()?;
    Ok(written as f64 / begun.elapsed().as_secs_f64())
}

/// Opens a file to be read past the system's cache.
#[cfg(target_os = "linux")]
fn open_direct(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path)
}

#[cfg(target_os = "linux")]
fn read_at(file: &File, to: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, to, offset)
}

#[cfg(not(target_os = "linux"))]
fn open_direct(_: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECONDS: f64 = 0.1;

    /// Where the tests' own program lies: a drive more often than the temporary folder is.
    fn folder() -> tempfile::TempDir {
        tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder")
    }

    #[test]
    fn rates_of_a_drive_are_finite_and_leave_nothing_behind() {
        let folder = folder();
        // Neither a multiple of a window nor of a block.
        std::fs::write(folder.path().join("large"), vec![7; (9 << 20) + 5]).expect("writable");
        std::fs::write(folder.path().join("small"), vec![7; 5]).expect("writable");
        let paths = [folder.path().to_owned()];
        for direction in [Direction::Read, Direction::Write, Direction::Both] {
            // Filesystems in memory say that they cannot.
            match rate(&paths, folder.path(), direction, SECONDS) {
                Ok(rate) => assert!(rate.is_finite() && rate > 0.0, "{direction:?}: {rate}"),
                Err(e) => assert!(e.contains("cannot be bypassed") && direction != Direction::Write, "{e}"),
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 2);
    }

    #[test]
    fn missing_data_and_folders_are_errors_that_name_them() {
        let absent = [PathBuf::from("/nowhere/data")];
        let error = rate(&absent, Path::new("."), Direction::Read, SECONDS).unwrap_err();
        assert!(error.contains("/nowhere/data"), "{error}");
        assert!(rate(&absent, Path::new("/nowhere"), Direction::Write, SECONDS).is_err());
    }
}
