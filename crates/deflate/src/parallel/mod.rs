//! Parallel compression from a reader to a writer, with the same output for any number of threads.
//!
//! The input is divided into blocks of [`Options::block_size`] bytes, each compressed by one call.
//! Blocks are grouped into jobs of at most 512 KiB, or of one block if that is larger. A job is the
//! unit of work of a thread; it ends at a byte boundary, which costs up to 5 bytes. Checksums are
//! computed for each job and combined. With [`Options::rsyncable`] the content decides where blocks
//! end, and each block ends at a byte boundary.
//!
//! ```
//! use linerate_deflate::parallel::{compress, Options};
//! use linerate_deflate::{Format, Level};
//!
//! let options = Options::new(Format::Gzip, Level::Default).threads(2);
//! let input = vec![b'a'; 3 << 20];
//! let mut out = Vec::new();
//! let totals = compress(&input[..], &mut out, &options)?;
//! assert_eq!(totals.bytes_in, input.len() as u64);
//! assert_eq!(totals.bytes_out, out.len() as u64);
//! # Ok::<(), std::io::Error>(())
//! ```

mod bgzf;
mod content;
mod pipeline;

use std::io::{self, Read, Write};

use self::pipeline::{Job, JobSizes};
use crate::checksum::{ADLER32_START, CRC32_START, adler32, adler32_combine, crc32, crc32_combine};
use crate::{Format, Level, Result, Scratch, Stream, bound, finish_bound, flush_bound};

/// Maximum size of a job in bytes, unless one block is larger. It is large enough that waking a
/// thread costs little compared with the work.
const JOB: usize = 512 << 10;
/// Largest match distance (RFC 1951, section 3.2.5).
const HISTORY: usize = 32 << 10;

/// Container of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Container {
    /// One stream of this format, as a [`Stream`] writes it.
    Single(Format),
    /// Blocked gzip (SAM specification, section 4.1): gzip members of at most 64 KiB that carry
    /// their own length, so that a reader can find, decode and seek to them independently. Any gzip
    /// reader decodes it. An empty member marks the end of the file.
    Bgzf,
}

impl From<Format> for Container {
    fn from(format: Format) -> Self {
        Container::Single(format)
    }
}

/// Options of [`compress`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The container.
    pub container: Container,
    /// The level of every block.
    pub level: Level,
    /// Number of compressing threads, besides the calling one, which reads and writes. With 0 or 1,
    /// or if the input is a single job, the calling thread does everything. Default: 1.
    pub threads: usize,
    /// Input of a block, in bytes, at least 1. [`Container::Bgzf`] uses at most 65,280.
    /// Default: 512 KiB.
    ///
    /// Memory is about 2 x `threads` x the greater of `block_size` and 512 KiB, plus 4 MiB or four
    /// blocks for waiting jobs, plus a [`Scratch`] for each thread.
    pub block_size: usize,
    /// Whether blocks are compressed independently. If not, each may refer to the 32 KiB before it,
    /// which improves the ratio, most for small blocks. [`Container::Bgzf`] is always isolated.
    /// Default: yes.
    pub isolated: bool,
    /// Whether a rolling hash of the content decides where blocks end, about 36 KiB apart. A change
    /// of the input then changes only the output near it, which helps rsync and deduplicating
    /// stores. [`block_size`](#structfield.block_size) is then the maximum size of a block; less
    /// than 64 KiB counts as 64 KiB. Default: no.
    pub rsyncable: bool,
    /// Whether the caller has written the container's header, for example a gzip header with a
    /// name. Ignored for [`Container::Bgzf`]. Default: no.
    pub after_header: bool,
}

impl Options {
    /// Creates options for one thread and isolated blocks of 512 KiB.
    pub fn new(container: impl Into<Container>, level: Level) -> Self {
        Options {
            container: container.into(),
            level,
            threads: 1,
            block_size: 512 << 10,
            isolated: true,
            rsyncable: false,
            after_header: false,
        }
    }

    /// Sets the number of [`threads`](#structfield.threads).
    #[must_use]
    pub const fn threads(self, threads: usize) -> Self {
        Options { threads, ..self }
    }

    /// Sets [`block_size`](#structfield.block_size), in bytes.
    #[must_use]
    pub const fn block_size(self, block_size: usize) -> Self {
        Options { block_size, ..self }
    }

    /// Sets whether blocks are [`isolated`](#structfield.isolated).
    #[must_use]
    pub const fn isolated(self, isolated: bool) -> Self {
        Options { isolated, ..self }
    }

    /// Sets whether the content decides where blocks end: [`rsyncable`](#structfield.rsyncable).
    #[must_use]
    pub const fn rsyncable(self, rsyncable: bool) -> Self {
        Options { rsyncable, ..self }
    }

    /// Sets whether the caller has written the header: [`after_header`](#structfield.after_header).
    #[must_use]
    pub const fn after_header(self, after_header: bool) -> Self {
        Options { after_header, ..self }
    }
}

/// Totals of a call, or of its progress so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Number of bytes read and compressed.
    pub bytes_in: u64,
    /// Number of bytes written.
    pub bytes_out: u64,
    /// CRC-32 of the input, or Adler-32 for zlib; 0 for raw deflate and BGZF.
    pub checksum: u32,
}

/// Compresses `reader` to its end into `writer`, without flushing it.
///
/// # Errors
/// Returns the errors of `reader` and `writer`, except `ErrorKind::Interrupted`, which is retried.
/// The output written until then is a prefix of the stream.
///
/// # Panics
/// Panics if `reader` or `writer` does, after all other threads have ended.
pub fn compress<R: Read, W: Write>(reader: R, writer: W, options: &Options) -> io::Result<Totals> {
    compress_with_progress(reader, writer, options, |_| {})
}

/// Like [`compress`], and calls `progress` on the calling thread after each job that was written
/// (up to 512 KiB of input, or a larger block) and at the end.
///
/// # Errors
/// Returns the errors of [`compress`].
pub fn compress_with_progress<R: Read, W: Write>(
    reader: R,
    writer: W,
    options: &Options,
    mut progress: impl FnMut(&Totals),
) -> io::Result<Totals> {
    let least = if options.rsyncable { content::LEAST_LIMIT } else { 1 };
    let options = Options { block_size: options.block_size.max(least), ..*options };
    match options.container {
        Container::Single(format) => single(reader, writer, format, &options, &mut progress),
        Container::Bgzf => bgzf::compress(reader, writer, &options, &mut progress),
    }
}

/// Returns the input of a job in bytes: as many whole blocks as fit [`JOB`], at least one.
fn job_size(block: usize) -> usize {
    (JOB / block).max(1) * block
}

/// Returns the maximum number of blocks of a job with `input` bytes of input.
fn most_blocks(input: usize, options: &Options) -> usize {
    input.div_ceil(if options.rsyncable { content::MIN } else { options.block_size }) + 1
}

fn single<R: Read, W: Write>(
    reader: R,
    mut writer: W,
    format: Format,
    options: &Options,
    progress: &mut dyn FnMut(&Totals),
) -> io::Result<Totals> {
    let input = job_size(options.block_size);
    let sizes = JobSizes {
        threads: options.threads,
        ahead: JobSizes::ahead_of(input),
        input,
        history: if options.isolated { 0 } else { HISTORY },
        output: bound(input) + most_blocks(input, options) * (bound(1) + flush_bound()) + finish_bound(),
        block_size: options.block_size,
        rsyncable: options.rsyncable,
    };
    let check = Check::of(format);
    let mut totals = Totals { checksum: check.start, ..Totals::default() };
    if !options.after_header {
        put(&mut writer, &mut totals, format.header())?;
    }
    pipeline::run(
        &sizes,
        reader,
        |scratch, job| {
            job.check = (check.of)(check.start, job.input());
            encode(scratch, job, options)
        },
        |job| {
            put(&mut writer, &mut totals, job.output())?;
            let len = job.input().len() as u64;
            totals.bytes_in += len;
            totals.checksum = (check.combine)(totals.checksum, job.check, len);
            progress(&totals);
            Ok(())
        },
    )?;
    // ISIZE is modulo 2^32 (RFC 1952, section 2.3.1).
    let (sum, len) = (totals.checksum, totals.bytes_in as u32);
    match format {
        Format::Deflate => {}
        Format::Zlib => put(&mut writer, &mut totals, &sum.to_be_bytes())?,
        Format::Gzip => put(&mut writer, &mut totals, &[sum.to_le_bytes(), len.to_le_bytes()].concat())?,
    }
    progress(&totals);
    Ok(totals)
}

/// Compresses the blocks of a job as raw deflate that begins and ends at a byte boundary.
fn encode(scratch: &mut Scratch, job: &mut Job, options: &Options) -> Result<()> {
    let mut output = std::mem::take(&mut job.output);
    let (buffer, start) = job.with_history();
    let mut stream = Stream::new(Format::Deflate, options.level);
    let (mut at, mut used) = (start, 0);
    for &end in job.block_ends() {
        let history = if options.isolated { 0 } else { at.min(HISTORY) };
        let more = !(job.last && end == buffer.len());
        let seen = &buffer[at - history..end];
        used += stream.encode_with_history(&mut *scratch, seen, history, &mut output[used..], more)?;
        if more && (options.rsyncable || end == buffer.len()) {
            used += stream.flush(&mut output[used..])?;
        }
        at = end;
    }
    if job.last {
        used += stream.finish(&mut output[used..])?;
    }
    (job.output, job.used) = (output, used);
    Ok(())
}

fn put(writer: &mut impl Write, totals: &mut Totals, bytes: &[u8]) -> io::Result<()> {
    writer.write_all(bytes)?;
    totals.bytes_out += bytes.len() as u64;
    Ok(())
}

/// The start value of a container's checksum, and the functions that compute and combine it.
struct Check {
    start: u32,
    of: fn(u32, &[u8]) -> u32,
    combine: fn(u32, u32, u64) -> u32,
}

impl Check {
    fn of(format: Format) -> Check {
        match format {
            Format::Deflate => Check { start: 0, of: |_, _| 0, combine: |_, _, _| 0 },
            Format::Zlib => Check { start: ADLER32_START, of: adler32, combine: adler32_combine },
            Format::Gzip => Check { start: CRC32_START, of: crc32, combine: crc32_combine },
        }
    }
}

#[cfg(test)]
mod tests;
