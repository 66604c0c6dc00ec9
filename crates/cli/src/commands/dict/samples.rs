//! Collects samples from files: blocks of bytes, of whole lines or of the values of records, or the
//! data blocks of SST files. If the files hold more than the limit, samples are distributed evenly
//! over them. If the size of a file is unknown, the first samples are taken.

use std::fs;
use std::path::{Path, PathBuf};

use linerate_core::Kind;
use linerate_dict::Store;
use linerate_dict::sst::{Reader, Sst, SstOptions};

use super::blockfile::input;
use super::input::{InputReader, is_stdin, open};
use crate::ui::error::{CliError, engine_error};
use crate::ui::size;

/// Maximum of `--block`, in bytes. One block at a time is in memory beside the samples.
const MAX_BLOCK: u64 = 64 << 20;

/// How files are cut into samples.
#[derive(clap::Args, Debug)]
pub(crate) struct SampleArgs {
    /// Bytes of a sample, the same as of the blocks to compress later; 0 makes each file, line or
    /// value a sample
    #[arg(short = 'b', long, value_name = "SIZE", default_value = "4K", value_parser = block_size)]
    pub(crate) block: u64,

    /// Read lines, such as JSON; samples are whole lines
    #[arg(long, conflicts_with = "records")]
    pub(crate) lines: bool,

    /// Read length-prefixed records; samples are whole values
    #[arg(long)]
    pub(crate) records: bool,

    /// Read RocksDB's SST files; samples are their data blocks
    #[arg(long, conflicts_with_all = ["block", "lines", "records"])]
    pub(crate) sst: bool,
}

fn block_size(text: &str) -> Result<u64, String> {
    match size::parse(text)? {
        size if size > MAX_BLOCK => Err("a block has at most 64M".into()),
        size => Ok(size),
    }
}

/// The collected samples.
#[derive(Default)]
pub(crate) struct Samples {
    /// All samples, concatenated.
    bytes: Vec<u8>,
    /// Offset in `bytes` of the end of each sample.
    ends: Vec<usize>,
    /// Bytes of all blocks of the input, also of those that are no sample because of the limit.
    pub(crate) seen: u64,
}

impl Samples {
    pub(crate) fn list(&self) -> Vec<&[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end]).collect()
    }

    /// Total bytes of the samples.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }
}

/// Collects samples from files.
pub(crate) struct Sampler<'a> {
    args: &'a SampleArgs,
    /// Maximum bytes of samples, evenly distributed over the `total` bytes of the files.
    limit: u64,
    /// Bytes of all files, or of the content of SST files; `None` if the size of one is unknown.
    total: Option<u64>,
    samples: Samples,
    /// Lines or values that are not yet as long as a block.
    gathered: Vec<u8>,
}

impl<'a> Sampler<'a> {
    /// Prepares to collect at most `limit` bytes of samples from `files`: evenly distributed if all
    /// sizes are known, else the first ones.
    pub(crate) fn new(args: &'a SampleArgs, limit: u64, files: &[PathBuf]) -> Result<Sampler<'a>, CliError> {
        let size = |file: &PathBuf| {
            // The name of the first file is printed before every message anyway.
            content_size(file, args)
                .map_err(|e| if *file == files[0] { e } else { e.in_file(&file.display().to_string()) })
        };
        let sizes: Result<Vec<Option<u64>>, CliError> = files.iter().map(size).collect();
        let total = sizes?.into_iter().try_fold(0u64, |sum, size| sum.checked_add(size?));
        Ok(Sampler { args, limit, total, samples: Samples::default(), gathered: Vec::new() })
    }

    /// Bytes of all files, or of the content of SST files; `None` if the size of one is unknown.
    pub(crate) fn total(&self) -> Option<u64> {
        self.total
    }

    /// Collects samples from a file. Calls `progress` with the number of bytes read since its last
    /// call; for an SST file, uncompressed bytes.
    pub(crate) fn add(&mut self, path: &Path, progress: &dyn Fn(usize)) -> Result<(), CliError> {
        if self.args.sst {
            return self.add_sst(path, progress);
        }
        let file = open(path)?;
        if file.metadata().is_ok_and(|meta| meta.is_dir()) {
            return Err(CliError::Refused("it is a directory".into()));
        }
        let mut input = InputReader::new(file);
        let mut reported = 0;
        let mut advance = |offset: u64| {
            progress((offset - reported) as usize);
            reported = offset;
        };
        match (self.args.lines, self.args.records) {
            (true, _) => self.add_lines(&mut input, &mut advance),
            (_, true) => self.add_records(&mut input, &mut advance),
            _ => self.add_blocks(&mut input, &mut advance),
        }?;
        // A sample does not span two files.
        self.flush();
        Ok(())
    }

    pub(crate) fn finish(self) -> Samples {
        self.samples
    }

    fn add_blocks(&mut self, input: &mut InputReader, advance: &mut dyn FnMut(u64)) -> Result<(), CliError> {
        let len = match self.args.block {
            0 => self.limit.saturating_add(1),
            len => len,
        };
        let mut block = Vec::new();
        while input.take(len as usize, &mut block)? > 0 {
            if block.len() as u64 > self.limit && self.args.block == 0 {
                let message = "the file is too large for one sample; --block SIZE cuts it";
                return Err(CliError::data(Kind::Limit, self.limit, message));
            }
            self.put(&block);
            block.clear();
            advance(input.offset);
        }
        Ok(())
    }

    fn add_lines(&mut self, input: &mut InputReader, advance: &mut dyn FnMut(u64)) -> Result<(), CliError> {
        let mut line = Vec::new();
        while input.line(&mut line)? {
            // A line that is a sample by itself has no line end.
            if self.args.block > 0 {
                line.push(b'\n');
            }
            self.gather(&line);
            advance(input.offset);
        }
        Ok(())
    }

    fn add_records(&mut self, input: &mut InputReader, advance: &mut dyn FnMut(u64)) -> Result<(), CliError> {
        let (mut key, mut value) = (Vec::new(), Vec::new());
        while input.record(&mut key, &mut value)? {
            self.gather(&value);
            advance(input.offset);
        }
        Ok(())
    }

    fn add_sst(&mut self, path: &Path, progress: &dyn Fn(usize)) -> Result<(), CliError> {
        let (sst, mut reader) = open_sst(path)?;
        for handle in reader.blocks(&sst).map_err(engine_error)? {
            let block = reader.decode_block(&sst, handle).map_err(engine_error)?;
            self.put(block.content());
            progress(block.content().len());
        }
        Ok(())
    }

    fn gather(&mut self, row: &[u8]) {
        self.gathered.extend_from_slice(row);
        if self.gathered.len() as u64 >= self.args.block {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let gathered = std::mem::take(&mut self.gathered);
        self.put(&gathered);
        self.gathered = gathered;
        self.gathered.clear();
    }

    fn put(&mut self, sample: &[u8]) {
        if sample.is_empty() {
            return;
        }
        let kept = self.samples.bytes.len() as u128;
        let (seen, limit) = (u128::from(self.samples.seen), u128::from(self.limit));
        // Of every part of the input, the share `limit` / `total` becomes samples.
        let is_due = self.total.is_none_or(|total| kept * u128::from(total) <= seen * limit);
        self.samples.seen += sample.len() as u64;
        if is_due && kept + sample.len() as u128 <= limit {
            self.samples.bytes.extend_from_slice(sample);
            self.samples.ends.push(self.samples.bytes.len());
        }
    }
}

/// Bytes of a file that samples are taken from: the uncompressed data blocks of an SST file, else
/// the size of a regular file. `None` for standard input, pipes and devices.
fn content_size(path: &Path, args: &SampleArgs) -> Result<Option<u64>, CliError> {
    if !args.sst {
        return file_size(path);
    }
    let (sst, mut reader) = open_sst(path)?;
    let stats = reader.stats(&sst).map_err(engine_error)?;
    Ok(Some(stats.all_blocks().content))
}

fn open_sst(path: &Path) -> Result<(Sst, Reader), CliError> {
    let mut reader = Reader::new(&Store::new());
    let sst = reader.open_input(input(path)?, SstOptions::new()).map_err(engine_error)?;
    Ok((sst, reader))
}

/// The size of a regular file; `None` for standard input, pipes and devices.
fn file_size(path: &Path) -> Result<Option<u64>, CliError> {
    if is_stdin(path) {
        return Ok(None);
    }
    let meta = fs::metadata(path).map_err(CliError::io("cannot open"))?;
    Ok(meta.is_file().then_some(meta.len()))
}

/// Expands each operand that is a folder to all files below it, sorted by path. Links and special
/// files below it are left out.
pub(crate) fn files_of(operands: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    let mut files = Vec::new();
    for operand in operands {
        if operand.is_dir() {
            let before = files.len();
            walk(operand, &mut files)?;
            files[before..].sort();
        } else {
            files.push(operand.clone());
        }
    }
    Ok(files)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), CliError> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(CliError::io_at("cannot read", &folder))?;
        for entry in entries {
            let entry = entry.map_err(CliError::io_at("cannot read", &folder))?;
            let kind = entry.file_type().map_err(CliError::io_at("cannot read", &entry.path()))?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    Ok(())
}
