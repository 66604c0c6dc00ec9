//! Measures how fast the user's drives are: it reads the data past the system's cache, and writes a
//! temporary file in the output folder.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use linerate_plan::Direction;

use super::sample::{FileSet, Piece};

/// Bytes of the largest read, and of every write.
const WINDOW: u64 = 4 << 20;
/// Number of reads in flight. One alone does not saturate an NVMe drive.
const READS: usize = 4;
/// Longest time that reading, or writing, is measured. It is exceeded until the last read or write
/// ends.
const LONGEST: Duration = Duration::from_secs(1);
/// Parts of the time for reading. The fastest one counts, since other programs that read, or use the
/// CPU, only make parts slower.
const PARTS: u32 = 5;
/// Smallest read, in bytes, that counts. Smaller reads show how soon the drive answers, not its
/// rate.
const LARGE: u64 = 1 << 20;
/// Largest number of bytes that are written to the temporary file.
const WRITTEN: u64 = 64 << 20;
/// Largest number of bytes that are written before they are synced to the drive.
const SYNCED: u64 = 16 << 20;
/// Alignment of reads past the system's cache, in bytes: the largest usual block size of drives.
const ALIGNMENT: usize = 4096;

/// Measures the rate, in bytes per second, of reading these files and folders from their drive, of
/// writing into the folder `output`, or the lower of the two rates for `Direction::Both`. Each is
/// measured for about one second, or for a tenth of `seconds` if that is shorter.
///
/// # Errors
/// Returns a sentence if files cannot be read or written, or if the system cannot read them past
/// its cache. Reading is supported on Linux only.
pub fn rate(paths: &[PathBuf], output: &Path, direction: Direction, seconds: f64) -> Result<f64, String> {
    let time = LONGEST.min(Duration::from_secs_f64(seconds / 10.0));
    let read = || reading(&FileSet::new(paths)?, time);
    let write =
        || writing(output, time).map_err(|e| format!("no file can be written in {}: {e}", output.display()));
    match direction {
        Direction::Read => read(),
        Direction::Write => write(),
        Direction::Both => Ok(read()?.min(write()?)),
    }
}

/// Reads pieces of at most `WINDOW` bytes from all over the files for this time, and returns bytes
/// per second. Pieces smaller than `LARGE` are left out. If the others have less than `WINDOW`
/// bytes together, half of the time is for writing a scratch file beside the first file, and the
/// other half for reading it: reading small files would show how soon the drive answers, not how
/// fast it delivers an archive of them.
fn reading(set: &FileSet, time: Duration) -> Result<f64, String> {
    let mut pieces: Vec<Piece> = set.windows(WINDOW).flatten().collect();
    let large = |piece: &&Piece| piece.len >= LARGE;
    if pieces.iter().filter(large).map(|piece| piece.len).sum::<u64>() >= WINDOW {
        pieces.retain(|piece| large(&piece));
    } else if !cfg!(target_os = "linux") {
        // This module can read past the cache only on Linux, so elsewhere it writes no scratch
        // file.
        return Err(bypass(io::ErrorKind::Unsupported.into()));
    } else {
        let folder = set.files.first().and_then(|file| file.path.parent()).unwrap_or(Path::new("."));
        let scratch = scratch(folder, time / 2).map_err(|_| UNWRITABLE)?;
        let file = scratch.open_direct();
        let windows = (0..scratch.bytes / WINDOW).map(|i| i * WINDOW).collect::<Vec<_>>();
        return file
            .and_then(|file| rounds(&windows, time / 2, |offset, to| read_at(&file, to, *offset)))
            .map_err(bypass);
    }
    let read = |piece: &Piece, to: &mut [u8]| {
        let whole = (piece.len as usize).next_multiple_of(ALIGNMENT);
        read_at(&open_direct(&set.files[piece.file].path)?, &mut to[..whole], piece.offset)
    };
    rounds(&pieces, time, read).map_err(bypass)
}

/// Message if the files are too small and no scratch file can be written beside them.
const UNWRITABLE: &str = "the files are too small, and no file can be written beside them";

/// Returns the message for a read past the system's cache that failed. Linux refuses `O_DIRECT`
/// with `EINVAL` on file systems that do not support such reads.
fn bypass(e: io::Error) -> String {
    match e.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported => {
            format!("the system's cache cannot be bypassed: {e}")
        }
        _ => format!("the data cannot be read: {e}"),
    }
}

/// Reads these windows of the data with `READS` threads for this time, and returns the bytes per
/// second of its fastest part. The order jumps from window to window, and each window is read once
/// before any is read again.
fn rounds<T: Sync>(
    windows: &[T],
    time: Duration,
    read: impl Fn(&T, &mut [u8]) -> io::Result<usize> + Sync,
) -> io::Result<f64> {
    let (next, begun) = (AtomicU64::new(0), Instant::now());
    let mut best = part(windows, &next, time / PARTS, &read)?;
    // On a slow drive, the reads of one part take all of the time.
    while begun.elapsed() < time {
        best = best.max(part(windows, &next, time / PARTS, &read)?);
    }
    Ok(best)
}

/// Reads from window number `next` on for this time, and returns bytes per second. Each thread reads
/// at least one window.
fn part<T: Sync>(
    windows: &[T],
    next: &AtomicU64,
    time: Duration,
    read: &(impl Fn(&T, &mut [u8]) -> io::Result<usize> + Sync),
) -> io::Result<f64> {
    let (bytes, stride) = (AtomicU64::new(0), stride(windows.len() as u64));
    let begun = Instant::now();
    let work = || -> io::Result<()> {
        let mut buffer = vec![0; WINDOW as usize + ALIGNMENT];
        let aligned = buffer.as_ptr().align_offset(ALIGNMENT);
        loop {
            let count = windows.len() as u64;
            let at = next.fetch_add(1, Ordering::Relaxed) % count * stride % count;
            let read = read(&windows[at as usize], &mut buffer[aligned..aligned + WINDOW as usize])?;
            bytes.fetch_add(read as u64, Ordering::Relaxed);
            if begun.elapsed() >= time {
                return Ok(());
            }
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..READS).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    match bytes.into_inner() {
        // All files have become empty.
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        bytes => Ok(bytes as f64 / begun.elapsed().as_secs_f64()),
    }
}

/// Returns the step that visits each of `count` windows once, in an order that jumps: near 0.618
/// (golden ratio) times `count`, and coprime to `count`.
fn stride(count: u64) -> u64 {
    let divisor = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let golden = (count as f64 * 0.618_033_988_749_895) as u64;
    (golden.max(1)..).find(|&step| divisor(step, count) == 1).unwrap_or(1)
}

/// An open temporary file of incompressible bytes, all synced to the drive. It is deleted when it
/// is closed.
struct Scratch {
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux reads it past its cache"))]
    file: File,
    bytes: u64,
    /// Time to write and sync the file.
    time: Duration,
}

impl Scratch {
    /// Opens the scratch file again, to be read past the system's cache.
    #[cfg(target_os = "linux")]
    fn open_direct(&self) -> io::Result<File> {
        use std::os::fd::AsRawFd;
        open_direct(Path::new(&format!("/proc/self/fd/{}", self.file.as_raw_fd())))
    }

    #[cfg(not(target_os = "linux"))]
    fn open_direct(&self) -> io::Result<File> {
        open_direct(Path::new(""))
    }
}

/// Writes incompressible bytes to a temporary file in `folder`, and syncs them to the drive, until
/// `time` has passed or the file has `WRITTEN` bytes. Writes at least `WINDOW` bytes.
fn scratch(folder: &Path, time: Duration) -> io::Result<Scratch> {
    // The name of a file in the current folder has an empty parent.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut file = tempfile::tempfile_in(folder)?;
    // Some drives compress what they store, so the bytes look random.
    let noise: Vec<u8> =
        (0..WINDOW / 8).flat_map(|i| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes()).collect();
    let (mut bytes, begun) = (0, Instant::now());
    while bytes == 0 || bytes < WRITTEN && begun.elapsed() < time {
        // Each step is synced within the timed loop, so that bytes that only reached the system's
        // cache do not count as written. The first steps are smaller, for slow drives.
        let step = u64::clamp(bytes, WINDOW, SYNCED);
        for _ in 0..step / WINDOW {
            file.write_all(&noise)?;
        }
        file.sync_data()?;
        bytes += step;
    }
    Ok(Scratch { file, bytes, time: begun.elapsed() })
}

/// Writes a temporary file in `folder`, for this time or until it has `WRITTEN` bytes, and returns
/// bytes per second.
fn writing(folder: &Path, time: Duration) -> io::Result<f64> {
    let Scratch { bytes, time, .. } = scratch(folder, time)?;
    Ok(bytes as f64 / time.as_secs_f64())
}

/// Opens a file for reads that bypass the system's cache.
#[cfg(target_os = "linux")]
fn open_direct(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    std::fs::OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path)
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
    use crate::sample::Entry;

    const SECONDS: f64 = 0.1;

    /// Makes a folder in that of this crate, which is on a drive more often than the system's
    /// temporary folder is.
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
            // Some file systems, such as those in memory, cannot be read past the system's cache.
            match rate(&paths, folder.path(), direction, SECONDS) {
                Ok(rate) => assert!(rate.is_finite() && rate > 0.0, "{direction:?}: {rate}"),
                Err(e) => assert!(e.contains("cannot be bypassed") && direction != Direction::Write, "{e}"),
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 2);
    }

    #[test]
    fn stride_visits_every_window_once() {
        for count in [1u64, 2, 3, 10, 144, 1000] {
            let mut seen = vec![0; count as usize];
            (0..count).for_each(|i| seen[(i * stride(count) % count) as usize] += 1);
            assert!(seen.iter().all(|&n| n == 1), "{count}: {seen:?}");
        }
    }

    #[test]
    fn small_files_are_measured_with_a_scratch_file_that_leaves_nothing_behind() {
        let folder = folder();
        (0..20).for_each(|i| std::fs::write(folder.path().join(format!("{i}")), [7; 500]).expect("writable"));
        match rate(&[folder.path().to_owned()], folder.path(), Direction::Read, SECONDS) {
            Ok(rate) => assert!(rate.is_finite() && rate > 0.0, "{rate}"),
            Err(e) => assert!(e.contains("cannot be bypassed"), "{e}"),
        }
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 20);
    }

    #[test]
    fn missing_data_and_folders_are_errors_that_name_them() {
        let absent = [PathBuf::from("/nowhere/data")];
        let error = rate(&absent, Path::new("."), Direction::Read, SECONDS).unwrap_err();
        assert!(error.contains("/nowhere/data"), "{error}");
        let error = rate(&absent, Path::new("/nowhere"), Direction::Write, SECONDS).unwrap_err();
        assert!(error.starts_with("no file can be written in /nowhere: "), "{error}");
    }

    #[test]
    fn small_files_in_a_folder_that_cannot_be_written_are_an_error() {
        // No folder, so that not even root can write a file beside these.
        let entry =
            |name: &str| Entry { name: name.into(), path: Path::new("/nowhere").join(name), size: 500 };
        let set = FileSet { files: ["a", "b"].map(entry).into(), bytes: 1000 };
        let error = reading(&set, Duration::from_millis(1)).unwrap_err();
        let message = if cfg!(target_os = "linux") { UNWRITABLE } else { "the system's cache" };
        assert!(error.starts_with(message), "{error}");
    }

    #[test]
    fn files_that_have_become_empty_are_an_error() {
        let read = |_: &(), _: &mut [u8]| Ok(0);
        let error = rounds(&[()], Duration::ZERO, read).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
