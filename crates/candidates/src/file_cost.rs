//! Measures the cost of file access: the CPU time that the system takes to copy a byte from the
//! page cache into a program's memory, and from there into a new file; to open a file; and to create
//! one. Also measures what it takes to provide a byte of new memory.
//!
//! Candidates are timed in memory. Their commands also read and write files, which matters for a
//! codec as fast as LZ4, and for many small files. Encoding is assumed to read and write files.
//! Decoding is assumed to read files only, and to pass the content to a program.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use linerate_plan::{Measurement, Speed};

use super::Options;
use super::sample::FileSet;
use crate::stats;
use crate::sys::clock::cpu_time;

/// Bytes of the largest read, and of every write.
const WINDOW: u64 = 1 << 20;
/// Largest number of bytes that a round should read, and that it writes.
const BYTES: u64 = 32 << 20;
/// Bytes that a round reads, and that it writes, for each second of the whole measurement, but at
/// least `WINDOW`. All rounds together take about a hundredth of the time of the measurement.
const BYTES_PER_SECOND: f64 = 4e6;
/// Number of rounds of each kind of access. The costs of reading, opening and memory are those of
/// the cheapest round, since the first round may read from the drive. The others are medians.
const ROUNDS: usize = 4;
/// Largest number of files that a round opens.
const OPENED: usize = 64;
/// Number of files that a round creates. It is small because ext4 without a journal creates files
/// slowly for a minute after others were deleted.
const CREATED: usize = 16;

/// Bytes of new memory that a round uses. For a block of this size glibc always asks the system, and
/// does not give memory that was used before.
const NEW_MEMORY: usize = 32 << 20;
/// Bytes of the smallest page of any system. Writing one of them makes the system provide the page.
const LEAST_PAGE: usize = 4096;

/// Cost of file access and of new memory, in the process's CPU seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct FileCost {
    /// Cost of reading a byte; 0 if the files cannot be read again.
    pub(super) read: f64,
    /// Cost of writing a byte; 0 if no file can be written.
    pub(super) write: f64,
    /// Cost of opening and closing a file; 0 if the files cannot be opened again.
    pub(super) open: f64,
    /// Cost of creating a file; 0 if none can be created.
    pub(super) create: f64,
    /// Cost of using a byte of new memory for the first time.
    pub(super) memory: f64,
}

/// The files that a command reads and writes, per byte of content.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Files {
    /// Files of content.
    pub(super) content: f64,
    /// Compressed files: as many, or a single archive.
    pub(super) compressed: f64,
}

/// How the threads of a command access files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overlap {
    /// Some threads read and write while others encode or decode, so that all threads share the
    /// cost.
    Parallel,
    /// One thread reads and writes while the others wait, or is the only one.
    Serial,
}

impl FileCost {
    /// Measures the cost of reading a sample of these files, and of writing temporary files in
    /// `folder`, or in the system's temporary folder if none can be created there. They are deleted
    /// at the end.
    pub(super) fn measure(set: &FileSet, folder: &Path, options: &Options) -> FileCost {
        let most =
            ((options.seconds * BYTES_PER_SECOND) as u64).clamp(WINDOW, BYTES).next_multiple_of(WINDOW);
        let mut buffer = vec![0; WINDOW as usize];
        FileCost {
            read: least(rounds(reading(set, most, options.seed, &mut buffer))),
            write: stats::middle(rounds(writing(folder, most, &buffer))),
            open: least(rounds(opening(set))),
            create: stats::middle(rounds(creating(folder))),
            memory: least(rounds(using_memory())),
        }
    }

    /// Lowers the speeds of a measurement by the time that the command spends on files. Encoding
    /// reads the content and writes the compressed bytes; decoding reads the compressed bytes.
    /// Several threads share this time if `overlap` is [`Overlap::Parallel`].
    pub(super) fn include(self, measurement: &mut Measurement, overlap: Overlap, files: Files) {
        let ratio = measurement.ratio().max(1e-9);
        let encoding =
            self.read + self.write / ratio + self.open * files.content + self.create * files.compressed;
        let decoding = self.read / ratio + self.open * files.compressed;
        let add = |speed: &mut Speed, seconds| *speed = speed.after(seconds);
        measurement.encode.iter_mut().for_each(|speed| add(speed, encoding));
        measurement.decode.iter_mut().for_each(|speed| add(speed, decoding));
        let each = |seconds: f64, threads: usize| match overlap {
            Overlap::Parallel => seconds / threads.max(1) as f64,
            Overlap::Serial => seconds,
        };
        for point in &mut measurement.encode_scaling {
            add(&mut point.speed, each(encoding, point.threads));
        }
        for point in &mut measurement.decode_scaling {
            add(&mut point.speed, each(decoding, point.threads));
        }
    }
}

/// A round of using new memory for the first time, as engines do with their largest buffers. Returns
/// the CPU seconds per byte.
fn using_memory() -> impl FnMut() -> io::Result<f64> {
    || {
        let seconds = cpu_seconds(|| {
            let mut buffer = vec![0_u8; NEW_MEMORY];
            linerate_io::prefer_huge_pages(&mut buffer);
            buffer.iter_mut().step_by(LEAST_PAGE).for_each(|byte| *byte = 1);
            std::hint::black_box(&mut buffer);
            Ok(())
        })?;
        Ok(seconds / NEW_MEMORY as f64)
    }
}

/// Measures in rounds, up to the first that fails.
fn rounds(mut round: impl FnMut() -> io::Result<f64>) -> Vec<f64> {
    (0..ROUNDS).map_while(|_| round().ok()).collect()
}

fn least(costs: Vec<f64>) -> f64 {
    costs.into_iter().reduce(f64::min).unwrap_or(0.0)
}

/// A round of reading about `most` bytes from all over the files. Returns the CPU seconds per byte.
fn reading<'a>(
    set: &'a FileSet,
    most: u64,
    seed: u64,
    buffer: &'a mut [u8],
) -> impl FnMut() -> io::Result<f64> + 'a {
    let pieces: Vec<_> = set.spread(WINDOW, most, seed).into_iter().flatten().collect();
    let bytes = pieces.iter().map(|piece| piece.len).sum::<u64>().max(1);
    move || {
        let mut seconds = 0.0;
        for piece in &pieces {
            let mut file = File::open(&set.files[piece.file].path)?;
            file.seek(SeekFrom::Start(piece.offset))?;
            let part = &mut buffer[..piece.len as usize];
            seconds += cpu_seconds(|| file.read_exact(part))?;
        }
        Ok(seconds / bytes as f64)
    }
}

/// A round of writing `bytes` bytes. Returns the CPU seconds per byte.
fn writing(folder: &Path, bytes: u64, buffer: &[u8]) -> impl FnMut() -> io::Result<f64> {
    move || {
        let mut file = tempfile::tempfile_in(folder).or_else(|_| tempfile::tempfile())?;
        let seconds = cpu_seconds(|| (0..bytes / WINDOW).try_for_each(|_| file.write_all(buffer)))?;
        Ok(seconds / bytes as f64)
    }
}

/// A round of opening and closing files from all over the set. Returns the CPU seconds per file.
fn opening(set: &FileSet) -> impl FnMut() -> io::Result<f64> {
    let step = set.files.len().div_ceil(OPENED).max(1);
    let files: Vec<&Path> = set.files.iter().step_by(step).map(|file| file.path.as_path()).collect();
    move || {
        let open = |path: &&Path| File::open(path)?.metadata().map(drop);
        Ok(cpu_seconds(|| files.iter().try_for_each(open))? / files.len().max(1) as f64)
    }
}

/// A round of creating files, which have no names where the system allows that, so that a program
/// that is killed leaves none behind. Returns the CPU seconds per file.
fn creating(folder: &Path) -> impl FnMut() -> io::Result<f64> {
    move || {
        // The files are deleted after they were timed.
        let mut files = Vec::new();
        let mut create = || -> io::Result<()> {
            let mut file = tempfile::tempfile_in(folder).or_else(|_| tempfile::tempfile())?;
            file.write_all(&[0])?;
            files.push(file);
            Ok(())
        };
        Ok(cpu_seconds(|| (0..CREATED).try_for_each(|_| create()))? / CREATED as f64)
    }
}

fn cpu_seconds(work: impl FnOnce() -> io::Result<()>) -> io::Result<f64> {
    let begun = cpu_time();
    work()?;
    Ok((cpu_time() - begun).as_secs_f64())
}

#[cfg(test)]
mod tests {
    use linerate_plan::Scaling;

    use super::*;

    #[test]
    fn files_cost_little_but_not_nothing_and_leave_nothing_behind() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("file"), vec![7; 8 << 20]).expect("writable");
        let set = FileSet::new(&[folder.path().to_owned()]).expect("readable");
        let FileCost { read, write, open, create, memory } =
            FileCost::measure(&set, folder.path(), &Options::default());
        // A byte costs between 1e-14 s (100 TB/s) and 1e-7 s (10 MB/s).
        assert!([read, write].iter().all(|cost| (1e-14..1e-7).contains(cost)), "{read} {write}");
        assert!((1e-14..1e-7).contains(&memory) || cfg!(windows), "{memory}");
        // Windows' CPU clock moves in steps of 15.6 ms, so a round of a few files may cost nothing.
        let least = if cfg!(windows) { 0.0 } else { 1e-7 };
        assert!([open, create].iter().all(|cost| (least..1e-1).contains(cost)), "{open} {create}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
        std::fs::remove_file(folder.path().join("file")).expect("there");
        assert_eq!(FileCost::measure(&set, folder.path(), &Options::default()).read, 0.0);
    }

    #[test]
    fn folder_that_cannot_be_written_is_replaced_by_the_temporary_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        std::fs::write(&file, vec![7; 1 << 20]).expect("writable");
        let set = FileSet::new(std::slice::from_ref(&file)).expect("readable");
        assert!(FileCost::measure(&set, &folder.path().join("missing"), &Options::default()).write > 0.0);
    }

    fn with_cost(overlap: Overlap, files: Files) -> [f64; 4] {
        let speed = Speed { low: 1e9, median: 2e9, high: 4e9 };
        let scaling = vec![Scaling { threads: 2, speed }];
        let mut found = Measurement {
            content: 1000,
            compressed: 250,
            encode: Some(speed),
            decode: Some(speed),
            encode_scaling: scaling.clone(),
            decode_scaling: scaling,
            ..Measurement::default()
        };
        let cost = FileCost { read: 0.5e-9, write: 1e-9, open: 1e-5, create: 5e-5, memory: 0.0 };
        cost.include(&mut found, overlap, files);
        let (encode, decode) = (found.encode.expect("there"), found.decode.expect("there"));
        let several = [found.encode_scaling[0].speed, found.decode_scaling[0].speed];
        [encode, decode, several[0], several[1]].map(|speed| (speed.median / 1e6).round())
    }

    #[test]
    fn encoding_reads_content_and_writes_compressed_bytes_which_decoding_reads() {
        let none = Files::default();
        assert_eq!(with_cost(Overlap::Parallel, none), [800.0, 1600.0, 1143.0, 1778.0]);
        assert_eq!(with_cost(Overlap::Serial, none), [800.0, 1600.0, 800.0, 1600.0]);
    }

    #[test]
    fn encoding_opens_files_and_creates_others_which_decoding_opens() {
        // Files of 100 kB, each of which becomes a file, or all of which become an archive.
        let each = Files { content: 1e-5, compressed: 1e-5 };
        let archive = Files { content: 1e-5, compressed: 0.0 };
        assert_eq!(with_cost(Overlap::Serial, each), [541.0, 1379.0, 541.0, 1379.0]);
        assert_eq!(with_cost(Overlap::Serial, archive), [741.0, 1600.0, 741.0, 1600.0]);
    }
}
