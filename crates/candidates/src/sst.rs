//! Measures candidates for RocksDB's SST files: the files as they are, and their blocks compressed
//! again with other levels and dictionaries.
//!
//! No command of Linerate writes SST files. The settings of a candidate that compresses again name
//! options of RocksDB, with which RocksDB trains its own dictionaries. The command of a candidate
//! with dictionaries trains one from the blocks of the first file, for storage engines that accept
//! a dictionary.

use std::path::PathBuf;
use std::time::Duration;

use linerate_dict::sst::{self, Handle, Reader, Sst, SstOptions};
use linerate_dict::{Id, Order, Store};
use linerate_plan::{Measurement, Memory, Read};

use super::blocks::{Blocks, Eviction, train};
use super::command::{operand, output_of};
use super::pieces::{Checked, time};
use super::sample::FileSet;
use super::{Measured, Options, Progress};

/// Bytes of content (uncompressed data blocks) in the sample for each second of the measurement.
const BYTES_PER_SECOND: f64 = 500e3;
/// Smallest and largest sample, in bytes of content. Data with less content is sampled whole.
const SAMPLE: (u64, u64) = (512 << 10, 16 << 20);
/// Largest number of files in the sample. Each file has its own dictionary.
const MAX_FILES: usize = 16;
/// Largest number of blocks that one call decodes.
const BATCH: usize = 64;
/// Settings to try: the zstd level, and RocksDB's option `max_dict_bytes`, the size of a file's
/// dictionary (0 means none). RocksDB's default level of zstd is 3.
const SETTINGS: [(i32, usize); 7] =
    [(3, 0), (3, 4 << 10), (3, 16 << 10), (3, 64 << 10), (1, 16 << 10), (6, 16 << 10), (9, 16 << 10)];
/// Value that RocksDB advises for its option `zstd_max_train_bytes`, as a multiple of
/// `max_dict_bytes`.
const TRAIN: usize = 100;

/// Whether a file that ends with `tail` is an SST file of RocksDB (a block-based table).
pub fn recognise(tail: &[u8]) -> bool {
    tail.ends_with(&sst::MAGIC)
}

/// Measures SST files as they are, and their blocks compressed again with other settings.
///
/// # Errors
/// Returns a sentence if there is nothing to compress, a file cannot be read, no file of the sample
/// has data blocks, or a candidate fails.
pub(super) fn measure(
    paths: &[PathBuf],
    options: &Options,
    progress: Progress<'_>,
) -> Result<Measured, String> {
    progress("reading a sample");
    let set = FileSet::new(paths)?;
    let store = Store::new();
    let wanted = ((options.seconds * BYTES_PER_SECOND) as u64).clamp(SAMPLE.0, SAMPLE.1);
    let sample = Sample::read(&set, &store, wanted)?;
    let (mut eviction, mut candidates) = (Eviction::new(), Vec::new());
    let budget = Duration::from_secs_f64(options.seconds.max(0.0) / 8.0 / (SETTINGS.len() + 1) as f64);
    progress("the files as they are");
    candidates.push(sample.as_is(&store, keep_command(&set), &mut eviction, budget)?);
    for (level, size) in SETTINGS {
        progress(&words(level, size));
        let command = train_command(&set, level, size);
        candidates.extend(sample.again(level, size, command, &mut eviction, budget)?);
    }
    drop(eviction);
    let measurements = time(candidates, options, progress)?;
    Ok(Measured {
        measurements,
        bytes: set.bytes,
        sampled: sample.content(),
        notes: sample.notes.clone(),
        ..Measured::default()
    })
}

/// Returns the command for files that stay as they are, `linerate dict sst verify`. It checks the
/// files and prints how many entries and blocks they have.
fn keep_command(set: &FileSet) -> Vec<String> {
    let command = ["linerate", "dict", "sst", "verify"].map(str::to_owned).into_iter();
    command.chain(set.files.iter().map(|file| operand(&file.path))).collect()
}

/// Returns the command that trains a dictionary from the blocks of the first file. `None` if `size`
/// is 0: without a dictionary, the user only needs to set RocksDB's options.
fn train_command(set: &FileSet, level: i32, size: usize) -> Option<Vec<String>> {
    let file = &set.files.first().filter(|_| size > 0)?.path;
    let command = ["linerate", "dict", "train", "--sst", "--level"].map(str::to_owned).into_iter();
    let options = [level.to_string(), "-s".into(), format!("{}K", size >> 10)];
    Some(command.chain(options).chain([operand(file), "-o".into(), output_of(file, "dict")]).collect())
}

fn words(level: i32, size: usize) -> String {
    match size {
        0 => format!("zstd {level}, no dictionary"),
        _ => format!("zstd {level}, max_dict_bytes={size}, zstd_max_train_bytes={}", TRAIN * size),
    }
}

/// Blocks from all files, or from at most `MAX_FILES` of them, which candidates compress.
struct Sample {
    files: Vec<Part>,
    /// The sampled blocks of all `files`, decoded.
    blocks: Vec<Vec<u8>>,
    /// Index in `files` of the file of each block.
    owners: Vec<usize>,
    notes: Vec<String>,
}

/// The part of an SST file that is in the sample.
struct Part {
    sst: Sst,
    /// Where the sampled blocks are in the file.
    handles: Vec<Handle>,
    /// Bytes of content of all data blocks of the file, divided by those of its sampled blocks. To
    /// count in the sample, the size of the file's dictionary is divided by this.
    times: f64,
    /// Compression and dictionary of the file, in words.
    words: String,
}

impl Sample {
    /// Reads blocks with about `wanted` bytes of content together: every n-th block of each file,
    /// or of at most `MAX_FILES` files, with about the same number of bytes for each. Puts the
    /// dictionaries of these files into `store`.
    fn read(set: &FileSet, store: &Store, wanted: u64) -> Result<Sample, String> {
        let mut sample =
            Sample { files: Vec::new(), blocks: Vec::new(), owners: Vec::new(), notes: Vec::new() };
        let step = set.files.len().div_ceil(MAX_FILES);
        let chosen: Vec<_> = set.files.iter().step_by(step).collect();
        let mut reader = Reader::new(store);
        for file in &chosen {
            let at = |e: linerate_dict::Error| format!("{}: {e}", file.path.display());
            let sst = reader.open(&file.path, SstOptions::new()).map_err(at)?;
            let stats = reader.stats(&sst).map_err(at)?;
            let (all, handles) = (stats.all_blocks(), reader.blocks(&sst).map_err(at)?);
            let share = wanted / chosen.len() as u64;
            let step = (all.content / share.max(1)).max(1) as usize;
            let handles: Vec<Handle> = handles.into_iter().step_by(step).collect();
            let before = sample.blocks.len();
            for &handle in &handles {
                let block = reader.decode_block(&sst, handle).map_err(at)?;
                sample.blocks.push(block.content().to_vec());
                sample.owners.push(sample.files.len());
            }
            let content: usize = sample.blocks[before..].iter().map(Vec::len).sum();
            let dictionary = stats
                .dictionary
                .map_or_else(String::new, |found| format!(", dictionary of {} bytes", found.bytes));
            let names: Vec<&str> = stats.blocks.keys().map(|compression| compression.name()).collect();
            let words = format!("{}{dictionary}", names.join(" and "));
            let times = all.content.max(1) as f64 / content.max(1) as f64;
            sample.files.push(Part { sst, handles, times, words });
        }
        if sample.content() == 0 {
            return Err(format!("{}: the file has no data blocks", set.files[0].path.display()));
        }
        if set.files.len() > 1 {
            let first = set.files[0].path.display();
            sample.notes.push(format!("Each file has its own dictionary; the command is only for {first}."));
        }
        if chosen.len() < set.files.len() {
            sample.notes.push(format!("{} of {} files were measured.", chosen.len(), set.files.len()));
        }
        Ok(sample)
    }

    fn content(&self) -> u64 {
        self.blocks.iter().map(|block| block.len() as u64).sum()
    }

    /// Returns `blocks`, the bytes of the sampled blocks, plus their share of the dictionaries.
    /// `of_file` returns the bytes of a file's dictionary.
    fn with_dictionaries(&self, blocks: u64, of_file: impl Fn(usize) -> u64) -> u64 {
        let shares = self.files.iter().enumerate().map(|(i, file)| of_file(i) as f64 / file.times);
        blocks + shares.sum::<f64>() as u64
    }

    /// Makes a candidate of the files as they are, which only decodes. Their dictionaries are in
    /// `store`.
    fn as_is<'c>(
        &'c self,
        store: &'c Store,
        command: Vec<String>,
        eviction: &mut Eviction,
        budget: Duration,
    ) -> Result<Checked<'c>, String> {
        let wanted: Vec<(&Sst, Handle)> = self
            .files
            .iter()
            .flat_map(|file| file.handles.iter().map(|&handle| (&file.sst, handle)))
            .collect();
        let stored: u64 = wanted.iter().map(|(_, handle)| handle.size).sum();
        let dictionary = |i: usize| -> u64 {
            let id = self.files[i].sst.dictionary();
            id.and_then(|id| store.bytes(id).ok()).map_or(0, |bytes| bytes.len() as u64)
        };
        let mut kinds: Vec<&str> = self.files.iter().map(|file| file.words.as_str()).collect();
        kinds.dedup();
        let kind = if kinds.len() == 1 { kinds[0] } else { "various" };
        let read = {
            let mut reader = Reader::new(store);
            let reads = wanted.len().min(31).min((budget.as_secs_f64() / 0.015) as usize + 3);
            let mut read = |i: usize| {
                let (sst, handle) = wanted[i * wanted.len() / reads.max(1)];
                reader.decode_block(sst, handle).map(|_| ()).map_err(|e| e.to_string())
            };
            Read {
                seconds: eviction.median(reads, &mut read)?,
                fetched: stored as f64 / wanted.len().max(1) as f64,
            }
        };
        let stats = store.stats();
        let longest = self.blocks.iter().map(Vec::len).max().unwrap_or(0);
        let measurement = Measurement {
            engine: "dict".into(),
            settings: format!("as they are: {kind}"),
            command: Some(command),
            content: self.content(),
            compressed: self.with_dictionaries(stored, dictionary),
            memory: Memory {
                per_stream: (stats.raw_bytes + stats.table_bytes) as u64 / stats.dictionaries.max(1) as u64,
                per_thread: longest as u64,
            },
            read: Some(read),
            ..Measurement::default()
        };
        let decode = move || {
            let mut reader = Reader::new(store);
            for batch in wanted.chunks(BATCH) {
                for block in reader.decode_blocks(batch, Order::AsGiven) {
                    std::hint::black_box(block.map_err(|e| e.to_string())?);
                }
            }
            Ok(())
        };
        Ok(Checked::decoder(measurement, decode))
    }

    /// Makes a candidate that compresses the blocks again, with a separate dictionary for each file
    /// if `size` is above 0. Returns `None` if dictionaries are wanted but none can be trained.
    fn again(
        &self,
        level: i32,
        size: usize,
        command: Option<Vec<String>>,
        eviction: &mut Eviction,
        budget: Duration,
    ) -> Result<Option<Checked<'_>>, String> {
        let of_file = |file: usize| -> Vec<Vec<u8>> {
            let own = self.blocks.iter().zip(&self.owners).filter(|(_, owner)| **owner == file);
            own.map(|(block, _)| block.clone()).collect()
        };
        let dictionaries: Vec<Option<Vec<u8>>> =
            (0..self.files.len()).map(|file| train(&of_file(file), size, level)).collect();
        if size > 0 && dictionaries.iter().all(Option::is_none) {
            return Ok(None);
        }
        let store = Store::new();
        let insert =
            |bytes: &Option<Vec<u8>>| bytes.as_ref().map_or(Ok(Id::NONE), |bytes| store.insert(bytes));
        let ids: Vec<Id> =
            dictionaries.iter().map(insert).collect::<Result<_, _>>().map_err(|e| e.to_string())?;
        let ids = self.owners.iter().map(|&owner| ids[owner]).collect();
        let blocks = Blocks { pieces: &self.blocks, ids, store: store.clone(), level };
        let length = |i: usize| dictionaries[i].as_ref().map_or(0, |bytes| bytes.len() as u64);
        let measurement = Measurement {
            engine: "dict".into(),
            settings: words(level, size),
            command,
            compressed: self.with_dictionaries(0, length),
            ..Measurement::default()
        };
        let mut checked = blocks.candidate(measurement).check()?;
        checked.measurement.memory = blocks.memory();
        checked.measurement.read = Some(blocks.cold_read(eviction, budget)?);
        Ok(Some(checked))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn testdata() -> Vec<PathBuf> {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sst");
        let files = std::fs::read_dir(folder).expect("testdata").map(|entry| entry.expect("an entry").path());
        let mut files: Vec<PathBuf> =
            files.filter(|path| path.extension().is_some_and(|end| end == "sst")).collect();
        files.sort();
        files
    }

    #[test]
    fn tables_are_recognised_by_their_last_bytes() {
        for path in testdata() {
            assert!(recognise(&std::fs::read(&path).expect("readable")), "{}", path.display());
        }
        assert!(!recognise(b"") && !recognise(&[0; 53]));
    }

    #[test]
    fn file_is_measured_as_it_is_and_with_other_settings() {
        let largest =
            testdata().into_iter().max_by_key(|path| std::fs::metadata(path).map_or(0, |meta| meta.len()));
        let options = Options { seconds: 0.02, threads: 2, seed: 1 };
        let found = measure(&[largest.expect("a file")], &options, &|_| {}).expect("measured");
        let [first, rest @ ..] = &found.measurements[..] else { panic!("nothing was measured") };
        assert!(first.settings.starts_with("as they are: ") && first.encode.is_none(), "{first:?}");
        assert!(rest.iter().any(|one| one.settings == "zstd 3, no dictionary"));
        for one in &found.measurements {
            assert_eq!(one.content, found.sampled, "{}", one.settings);
            assert!(one.compressed > 0 && one.decode.is_some() && one.read.is_some(), "{one:?}");
        }
    }
}
