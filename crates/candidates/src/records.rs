//! Measures candidates for records, one on each line: blocks of several sizes, without a dictionary
//! and with one of several sizes for all files, and blocks of several files that share a few
//! dictionaries.
//!
//! JSON lines with a key field (one whose value differs in every line) become a block file by one
//! command. For other lines, and for several dictionaries, the command only trains, and the user's
//! storage engine makes the blocks.

use std::collections::HashSet;
use std::fs::File;
use std::hint::black_box;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use linerate_dict::blocks::{BlockFileOptions, Builder, DictionaryChoice, Duplicates, Field, Sorter};
use linerate_dict::{BlockFile, Choice, Clustering, Id, Input, SampleSet, Store, content_hash};
use linerate_plan::Measurement;
use serde_json::Value;

use super::blocks::{Blocks, Eviction, train};
use super::command::{operand, output_of};
use super::pieces::{Checked, time};
use super::sample::FileSet;
use super::{Measured, Options, Progress};
use crate::sys::clock::cpu_time;

/// Bytes of lines that candidates compress, for each second of the measurement. The number is low
/// because about 20 candidates each encode and decode the lines several times.
const BYTES_PER_SECOND: f64 = 250e3;
/// Smallest and largest number of bytes of lines that candidates compress, if there are as many.
const SAMPLE: (u64, u64) = (512 << 10, 8 << 20);
/// Bytes of lines to train with, for each second of the measurement. Four dictionaries are trained,
/// each in about 120 ns per byte.
const TRAINING_PER_SECOND: f64 = 400e3;
/// Smallest and largest number of bytes to train with. `linerate dict build` trains with the first
/// 8 MiB.
const TRAINING: (u64, u64) = (512 << 10, 8 << 20);
/// Bytes of memory that `linerate dict build` may use to sort, by default.
const SORTED: usize = 256 << 20;
/// Approximate bytes of each part of the data that is sampled: a part of a large file, or some
/// small files.
const WINDOW: u64 = 128 << 10;
/// Largest number of bytes that are read to complete a line that the sample cuts.
const MAX_LINE: u64 = 64 << 20;
/// Block sizes to try, in uncompressed bytes, from about one record to a page of a database.
const BLOCKS: [usize; 4] = [1 << 10, 4 << 10, 8 << 10, 16 << 10];
/// Sizes of dictionaries to try, in bytes. 0 means no dictionary; 110 KiB is the default of
/// `zstd --train`.
const DICTIONARIES: [usize; 5] = [0, 4 << 10, 8 << 10, 32 << 10, 110 << 10];
/// The default block size of `linerate dict`, in bytes. Dictionaries are trained with such blocks.
const USUAL_BLOCK: usize = 4 << 10;
/// The default zstd level of `linerate dict`.
const LEVEL: i32 = 3;
/// Number of dictionaries for many files, and the bytes of each: the defaults of `linerate dict
/// cluster`.
const CLUSTER: (usize, usize) = (8, 8 << 10);
/// Largest data, in bytes for each second of the measurement, that is read whole to find out
/// whether a field has a different value in every line, so that it can be a key. Data of up to
/// 512 KiB always is. Reading takes about 4 ns per byte.
const KEY_SEARCH_PER_SECOND: f64 = 25e6;
/// Largest data, in bytes, that is read whole to find out whether a field is a key, however long
/// the measurement lasts.
const MAX_KEY_SEARCH: u64 = 256 << 20;
/// Names of the fields that are tried first as the key, the likeliest first. Other fields are tried
/// after them.
const KEY_NAMES: [&str; 6] = ["id", "_id", "key", "uuid", "name", "url"];

/// Measures size, speed, memory and random reads of blocks, with and without dictionaries, on a
/// sample of the lines.
///
/// # Errors
/// Returns a sentence if a file cannot be read, there is nothing to compress, no line of the sample
/// is whole, or a candidate fails.
pub(super) fn measure(
    paths: &[PathBuf],
    options: &Options,
    progress: Progress<'_>,
) -> Result<Measured, String> {
    progress("reading a sample");
    let set = FileSet::new(paths)?;
    let lines = Lines::sample(&set, options)?;
    let mut notes = Vec::new();
    let key = key_field(&set, &lines, options, &mut notes, progress);
    let records = Records { set: &set, lines: &lines, key, options, progress };
    let measurements = records.measure(&mut notes)?;
    Ok(Measured {
        measurements,
        bytes: set.bytes,
        sampled: lines.measured_bytes(),
        notes,
        ..Measured::default()
    })
}

/// Whole lines of the data, each with its line feed if it has one.
struct Lines {
    /// Lines to train dictionaries with. Empty if `measured` has all lines of the data; then
    /// dictionaries are trained with `measured`, as the command does it.
    training: Vec<Vec<u8>>,
    /// Lines that candidates compress.
    measured: Vec<Vec<u8>>,
    /// Index of the file of each line in `measured`.
    files: Vec<usize>,
}

impl Lines {
    /// Reads lines from parts of the data that are evenly spread over it. Unless all lines are to
    /// be measured, some of these parts are only for training.
    fn sample(set: &FileSet, options: &Options) -> Result<Lines, String> {
        let wanted = ((options.seconds * BYTES_PER_SECOND) as u64).clamp(SAMPLE.0, SAMPLE.1);
        let training = ((options.seconds * TRAINING_PER_SECOND) as u64).clamp(TRAINING.0, TRAINING.1);
        let measured = wanted as f64 / (wanted + training) as f64;
        let whole = wanted >= set.bytes;
        let mut lines = Lines { training: Vec::new(), measured: Vec::new(), files: Vec::new() };
        let windows =
            set.spread(WINDOW.min(set.bytes), if whole { wanted } else { wanted + training }, options.seed);
        let windows = if whole { vec![windows.concat()] } else { windows };
        for (i, window) in windows.iter().enumerate() {
            let mut joined: Vec<(usize, Vec<u8>)> = Vec::new();
            for (piece, content) in window.iter().zip(set.read(window)?) {
                match joined.last_mut() {
                    // Successive pieces of a large file are joined, so that no line is cut
                    // between them.
                    Some((file, bytes)) if *file == piece.file => bytes.extend_from_slice(&content.bytes),
                    _ => joined.push((piece.file, content.bytes)),
                }
            }
            let begins = match window.first() {
                Some(piece) => begins_a_line(&set.files[piece.file].path, piece.offset)?,
                None => true,
            };
            if let (Some(last), Some((_, bytes))) = (window.last(), joined.last_mut()) {
                rest_of_line(&set.files[last.file].path, last.offset + last.len, bytes)?;
            }
            for (file, bytes) in joined {
                let found = lines_that_begin(&bytes, begins);
                if whole || ((i + 1) as f64 * measured) as usize > (i as f64 * measured) as usize {
                    lines.files.extend(found.iter().map(|_| file));
                    lines.measured.extend(found);
                } else {
                    lines.training.extend(found);
                }
            }
        }
        if lines.measured.is_empty() {
            return Err(format!("{}: no whole line in the sample", set.files[0].path.display()));
        }
        Ok(lines)
    }

    fn training(&self) -> &[Vec<u8>] {
        if self.training.is_empty() { &self.measured } else { &self.training }
    }

    /// Builds the block file of `measured` in memory, as `linerate dict build` does after it has
    /// trained `dictionary`. `field` is the key, and `block` the size of blocks in bytes.
    fn block_file(&self, field: &str, block: usize, dictionary: Option<&[u8]>) -> Result<Vec<u8>, String> {
        let choice =
            dictionary.map_or(DictionaryChoice::None, |bytes| DictionaryChoice::Embedded(bytes.to_vec()));
        let options = BlockFileOptions::new().block_size(block as u32).level(LEVEL).dictionary(choice);
        let (field, mut sorter, mut key) =
            (Field::new(field), Sorter::new(SORTED, Duplicates::Refuse), Vec::new());
        let message = |e: linerate_dict::Error| e.to_string();
        for line in &self.measured {
            key.clear();
            field.key(line, &mut key).map_err(|e| e.to_string())?;
            sorter.add(&key, line.strip_suffix(b"\n").unwrap_or(line)).map_err(message)?;
        }
        let build = || {
            let mut builder = Builder::in_memory(options)?;
            let mut sorted = sorter.sorted()?;
            while let Some((key, value)) = sorted.next_record()? {
                builder.add(key, value)?;
            }
            builder.into_bytes()
        };
        build().map_err(message)
    }

    fn training_bytes(&self) -> f64 {
        self.training().iter().map(|line| line.len() as f64).sum::<f64>().max(1.0)
    }

    fn measured_bytes(&self) -> u64 {
        self.measured.iter().map(|line| line.len() as u64).sum()
    }
}

/// Returns whether a line begins at `offset` of a file.
fn begins_a_line(path: &Path, offset: u64) -> Result<bool, String> {
    let Some(before) = offset.checked_sub(1) else { return Ok(true) };
    let mut byte = [0];
    let read = open_at(path, before).and_then(|mut file| file.read_exact(&mut byte));
    read.map(|()| byte == *b"\n").map_err(|e| format!("{}: {e}", path.display()))
}

/// Appends the rest of the last line of `bytes`, which continues in the file at `offset`: at most
/// `MAX_LINE` bytes.
fn rest_of_line(path: &Path, offset: u64, bytes: &mut Vec<u8>) -> Result<(), String> {
    if bytes.last() == Some(&b'\n') {
        return Ok(());
    }
    let read =
        open_at(path, offset).and_then(|file| BufReader::new(file.take(MAX_LINE)).read_until(b'\n', bytes));
    read.map(|_| ()).map_err(|e| format!("{}: {e}", path.display()))
}

fn open_at(path: &Path, offset: u64) -> io::Result<File> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    Ok(file)
}

/// Returns the lines that begin in `bytes`, without blank lines. Unless `begins`, the first line is
/// taken to begin before `bytes`, and is skipped. The last line is kept, since the caller completed
/// it. Keeping both, or neither, would make long lines more, or less, frequent in the sample than
/// in the data.
fn lines_that_begin(bytes: &[u8], begins: bool) -> Vec<Vec<u8>> {
    let lines = bytes.split_inclusive(|&byte| byte == b'\n').skip(usize::from(!begins));
    lines.filter(|line| !line.trim_ascii().is_empty()).map(<[u8]>::to_vec).collect()
}

/// Gathers lines into blocks of at least `size` bytes, as a storage engine fills them. Only the
/// last block may be shorter. If `files` has the file of each line, no block has lines of two
/// files, and the last block of each file may be shorter. Returns the blocks, and the file of each.
fn gather(lines: &[Vec<u8>], files: Option<&[usize]>, size: usize) -> (Vec<Vec<u8>>, Vec<usize>) {
    let (mut blocks, mut owners, mut open, mut owner) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for (i, line) in lines.iter().enumerate() {
        let file = files.map_or(0, |files| files[i]);
        if !open.is_empty() && (open.len() >= size || file != owner) {
            blocks.push(std::mem::take(&mut open));
            owners.push(owner);
        }
        owner = file;
        open.extend_from_slice(line);
    }
    if !open.is_empty() {
        blocks.push(open);
        owners.push(owner);
    }
    (blocks, owners)
}

/// Finds a key: a field that all lines of all files have, with a different value in each. If
/// several fields are keys of the sampled lines, only the likeliest is then checked in all lines.
/// Returns `None` and adds a note if the first sampled line is not a JSON object, if no field is a
/// key of the sampled lines, if the data is too large to check all lines, or if that check fails.
fn key_field(
    set: &FileSet,
    lines: &Lines,
    options: &Options,
    notes: &mut Vec<String>,
    progress: Progress<'_>,
) -> Option<String> {
    let first = lines.measured.first().map(|line| serde_json::from_slice::<Value>(line));
    let Some(Ok(Value::Object(first))) = first else {
        notes.push(
            "The lines are not JSON objects, so the commands of `dict` train dictionaries for your own blocks.".into(),
        );
        return None;
    };
    let mut fields: Vec<&String> = first.keys().collect();
    fields.sort_by_key(|field| KEY_NAMES.iter().position(|name| name == field).unwrap_or(KEY_NAMES.len()));
    let is_key = |field: &&String| {
        let mut keys = Keys::of(field);
        lines.measured.iter().all(|line| keys.add(line))
    };
    let found = fields.into_iter().find(is_key).cloned();
    let most = ((options.seconds * KEY_SEARCH_PER_SECOND) as u64).clamp(SAMPLE.0, MAX_KEY_SEARCH);
    let Some(field) = found.filter(|_| set.bytes <= most) else {
        notes.push(
            "No field is known to be a key, so the commands of `dict` train dictionaries for your own blocks.".into(),
        );
        return None;
    };
    progress("looking for duplicate keys");
    match is_unique(set, &field) {
        true => Some(field),
        false => {
            notes.push(format!(
                "The field {field} is not unique in all lines, so the commands of `dict` train dictionaries."
            ));
            None
        }
    }
}

/// Whether all lines of all files have this field, with a different value in each. Blank lines do
/// not count. False if a file cannot be read.
fn is_unique(set: &FileSet, field: &str) -> bool {
    let mut keys = Keys::of(field);
    set.files.iter().all(|file| {
        let Ok(file) = File::open(&file.path) else { return false };
        BufReader::new(file)
            .split(b'\n')
            .all(|line| line.is_ok_and(|line| line.trim_ascii().is_empty() || keys.add(&line)))
    })
}

/// The keys that were seen so far, to find one that repeats.
struct Keys {
    field: Field,
    key: Vec<u8>,
    /// Hashes of the keys seen so far.
    seen: HashSet<u64>,
}

impl Keys {
    fn of(field: &str) -> Keys {
        Keys { field: Field::new(field), key: Vec::new(), seen: HashSet::new() }
    }

    /// Adds the key of a line. Returns false if the key is neither text nor a whole number, is
    /// longer than 65,535 bytes or missing, or has the hash of an earlier key.
    fn add(&mut self, line: &[u8]) -> bool {
        self.key.clear();
        self.field.key(line, &mut self.key).is_ok()
            && self.key.len() <= usize::from(u16::MAX)
            && self.seen.insert(content_hash(&self.key))
    }
}

struct Records<'r> {
    set: &'r FileSet,
    lines: &'r Lines,
    /// The field that has a different value in every line. `None` if no such field is known.
    key: Option<String>,
    options: &'r Options,
    progress: Progress<'r>,
}

impl Records<'_> {
    fn measure(&self, notes: &mut Vec<String>) -> Result<Vec<Measurement>, String> {
        let (training, _) = gather(self.lines.training(), None, USUAL_BLOCK);
        let dictionary = |&size: &usize| {
            (self.progress)(&format!("training a dictionary of {} KiB", size >> 10));
            let begun = cpu_time();
            let dictionary = train(&training, size, LEVEL);
            (size, dictionary, (cpu_time() - begun).as_secs_f64())
        };
        let dictionaries: Vec<(usize, Option<Vec<u8>>, f64)> = DICTIONARIES.iter().map(dictionary).collect();
        if dictionaries.iter().all(|(_, bytes, _)| bytes.is_none()) {
            notes.push("There are too few records to train a dictionary.".into());
        }
        let gathered: Vec<Vec<Vec<u8>>> =
            BLOCKS.map(|size| gather(&self.lines.measured, None, size).0).into();
        let (by_file, owners) = gather(&self.lines.measured, Some(&self.lines.files), USUAL_BLOCK);
        let mut eviction = Eviction::new();
        let (mut candidates, mut trained) = (Vec::new(), Vec::new());
        for (&block, pieces) in BLOCKS.iter().zip(&gathered) {
            for (size, dictionary, seconds) in &dictionaries {
                // If no dictionary could be trained, this candidate would be the same as the one
                // with size 0.
                if dictionary.is_some() || *size == 0 {
                    candidates.push(self.one(block, *size, dictionary.as_deref(), pieces, &mut eviction)?);
                    trained
                        .push(seconds * TRAINING.1.min(self.set.bytes) as f64 / self.lines.training_bytes());
                }
            }
        }
        if self.set.files.len() > 1 {
            candidates.extend(self.clustered(&by_file, &owners, &mut eviction)?);
        }
        drop(eviction);
        let mut measurements = time(candidates, self.options, self.progress)?;
        // `linerate dict build`, the command if there is a key, trains its dictionary first. It
        // works on one thread, so more threads do not make it faster.
        for (found, seconds) in measurements.iter_mut().zip(trained).filter(|_| self.key.is_some()) {
            let for_each = seconds / self.set.bytes.max(1) as f64;
            found.encode = found.encode.map(|speed| speed.after(for_each));
            if let Some(speed) = found.encode {
                found.encode_scaling.iter_mut().for_each(|point| point.speed = speed);
            }
        }
        Ok(measurements)
    }

    /// Time for the cold reads of one candidate. A cold read reads a block that is in no CPU cache.
    /// All candidates together get about an eighth of the measurement's time for cold reads.
    fn read_budget(&self) -> Duration {
        let candidates = (BLOCKS.len() * DICTIONARIES.len() + 1) as f64;
        Duration::from_secs_f64(self.options.seconds.max(0.0) / 8.0 / candidates)
    }

    /// Scales `bytes`, which are stored once for all of the data (such as a dictionary), to the
    /// sample: multiplies them by the bytes of the sample, divided by those of all of the data.
    fn share(&self, bytes: u64) -> u64 {
        (u128::from(bytes) * u128::from(self.lines.measured_bytes()) / u128::from(self.set.bytes.max(1)))
            as u64
    }

    /// Makes a candidate that compresses `pieces`, which are blocks of about `block` bytes, with
    /// this dictionary or none. `size` is the size for which the dictionary was trained.
    fn one<'c>(
        &'c self,
        block: usize,
        size: usize,
        dictionary: Option<&[u8]>,
        pieces: &'c [Vec<u8>],
        eviction: &mut Eviction,
    ) -> Result<Checked<'c>, String> {
        let settings = match dictionary {
            Some(_) => format!("blocks of {} KiB, dictionary of {} KiB", block >> 10, size >> 10),
            None => format!("blocks of {} KiB, no dictionary", block >> 10),
        };
        (self.progress)(&settings);
        let store = Store::new();
        let id = dictionary.map_or(Ok(Id::NONE), |bytes| store.insert(bytes)).map_err(|e| e.to_string())?;
        let blocks = Blocks { pieces, ids: vec![id; pieces.len()], store, level: LEVEL };
        let of_dictionary = dictionary.map_or(0, |bytes| bytes.len() as u64);
        let measurement = Measurement {
            engine: "dict".into(),
            settings,
            command: self.command(block, dictionary.map(|_| size)),
            compressed: self.share(of_dictionary),
            ..Measurement::default()
        };
        let mut checked = blocks.candidate(measurement).check()?;
        if let Some(field) = &self.key {
            checked = self.as_file(checked, field, block, dictionary)?;
        }
        checked.measurement.memory = blocks.memory();
        checked.measurement.read = Some(blocks.cold_read(eviction, self.read_budget())?);
        Ok(checked)
    }

    /// Replaces the compressed size of the candidate by the size of a block file with keys, and its
    /// timed work by making and verifying that file. Encoding makes it as `linerate dict build`
    /// does, but does not train the dictionary. Decoding verifies it.
    fn as_file<'c>(
        &'c self,
        mut checked: Checked<'c>,
        field: &'c str,
        block: usize,
        dictionary: Option<&[u8]>,
    ) -> Result<Checked<'c>, String> {
        let of_dictionary = dictionary.map_or(0, |bytes| bytes.len() as u64);
        let bytes = self.lines.block_file(field, block, dictionary)?;
        let stored = bytes.len() as u64 - of_dictionary;
        checked.measurement.compressed = stored + self.share(of_dictionary);
        let file = BlockFile::open_input(Input::memory(bytes), &Store::new()).map_err(|e| e.to_string())?;
        let (lines, dictionary) = (self.lines, dictionary.map(<[u8]>::to_vec));
        Ok(checked.coded_by(
            move || lines.block_file(field, block, dictionary.as_deref()).map(|bytes| _ = black_box(bytes)),
            move || file.verify(&mut file.reader()).map(|_| ()).map_err(|e| e.to_string()),
        ))
    }

    /// Makes a candidate with a few dictionaries that many files share. `owners` has the index of
    /// each piece's file. Returns `None` if no dictionary can be trained or saves more than its own
    /// size.
    fn clustered<'c>(
        &self,
        pieces: &'c [Vec<u8>],
        owners: &[usize],
        eviction: &mut Eviction,
    ) -> Result<Option<Checked<'c>>, String> {
        (self.progress)("clustering files");
        let of_file = |file: usize| -> Vec<&[u8]> {
            let own = pieces.iter().zip(owners).filter(|(_, owner)| **owner == file);
            own.map(|(piece, _)| piece.as_slice()).collect()
        };
        let samples: Vec<Vec<&[u8]>> = (0..self.set.files.len()).map(of_file).collect();
        let sets = samples.iter().zip(&self.set.files);
        let sets: Vec<SampleSet<'_>> =
            sets.map(|(samples, file)| SampleSet::new(samples).total_bytes(file.size)).collect();
        let clustering = Clustering::new(CLUSTER.0, CLUSTER.1).level(LEVEL).threads(self.options.threads);
        let found = clustering.run(&sets).map_err(|e| e.to_string())?;
        if found.dictionaries.is_empty() {
            return Ok(None);
        }
        let store = Store::new();
        let ids = found.dictionaries.iter().map(|bytes| store.insert(bytes));
        let ids: Vec<Id> = ids.collect::<Result<_, _>>().map_err(|e| e.to_string())?;
        let chosen = |&owner: &usize| match found.sets[owner].choice {
            Choice::Dictionary(at) => ids[at],
            Choice::Plain(_) => Id::NONE,
        };
        let blocks = Blocks { pieces, ids: owners.iter().map(chosen).collect(), store, level: LEVEL };
        let settings = format!(
            "blocks of {} KiB, {} dictionaries of {} KiB for {} files",
            USUAL_BLOCK >> 10,
            found.dictionaries.len(),
            CLUSTER.1 >> 10,
            self.set.files.len()
        );
        let measurement = Measurement {
            engine: "dict".into(),
            settings,
            command: Some(self.cluster_command()),
            compressed: self.share(found.shared.dictionaries),
            ..Measurement::default()
        };
        let mut checked = blocks.candidate(measurement).check()?;
        checked.measurement.memory = blocks.memory();
        checked.measurement.read = Some(blocks.cold_read(eviction, self.read_budget())?);
        Ok(Some(checked))
    }

    /// Returns the command that makes a block file, or, if there is no key field, trains the
    /// dictionary. `None` if there is neither a key field nor a dictionary.
    fn command(&self, block: usize, dictionary: Option<usize>) -> Option<Vec<String>> {
        let mut command = vec!["linerate".to_owned(), "dict".into()];
        let block = ["-b".to_owned(), format!("{}K", block >> 10)];
        let size = dictionary.map(|size| ["-s".to_owned(), format!("{}K", size >> 10)]);
        let output = match (&self.key, size) {
            (Some(field), size) => {
                command.push("build".into());
                // A field that begins with a hyphen would be taken for an option.
                match field.starts_with('-') {
                    true => command.push(format!("--key={field}")),
                    false => command.extend(["--key".into(), field.clone()]),
                }
                command.extend(block);
                command.extend(size.map_or(vec!["--no-dictionary".into()], Vec::from));
                "blocks"
            }
            (None, Some(size)) => {
                command.extend(["train".into(), "--lines".into()]);
                command.extend(block.into_iter().chain(size));
                "dict"
            }
            // There is no dictionary to train.
            (None, None) => return None,
        };
        command.extend(self.paths());
        command.extend(["-o".into(), self.output(output)]);
        Some(command)
    }

    fn cluster_command(&self) -> Vec<String> {
        let mut command = vec!["linerate".to_owned(), "dict".into(), "cluster".into(), "--lines".into()];
        command.extend(["--count".into(), CLUSTER.0.to_string()]);
        command.extend(self.paths());
        command.extend(["-o".into(), self.output("dictionaries")]);
        command
    }

    fn paths(&self) -> impl Iterator<Item = String> {
        self.set.files.iter().map(|file| operand(&file.path))
    }

    /// Returns the path of the output: the first file's path, with this extension.
    fn output(&self, extension: &str) -> String {
        output_of(&self.set.files[0].path, extension)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: usize, id: &str) -> Vec<u8> {
        let row = |i: usize| {
            let (host, ms) = (i * 7919 % 40, i * 104_729 % 90_000);
            format!(
                "{{\"host\": \"node-{host:03}\", \"{id}\": \"user-{i:06}\", \"ms\": {ms}, \"text\": \"retry\"}}\n"
            )
        };
        (0..count).map(row).collect::<String>().into_bytes()
    }

    fn measured(files: &[(&str, Vec<u8>)]) -> (tempfile::TempDir, Measured) {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |(name, bytes): &(&str, Vec<u8>)| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).expect("writable");
            path
        };
        let paths: Vec<PathBuf> = files.iter().map(write).collect();
        let options = Options { seconds: 0.05, threads: 2, seed: 1 };
        let found = measure(&paths, &options, &|_| {}).expect("measured");
        (folder, found)
    }

    #[test]
    fn lines_cut_by_a_window_are_left_out() {
        let text = |lines: Vec<Vec<u8>>| String::from_utf8(lines.concat()).expect("text");
        assert_eq!(text(lines_that_begin(b"one\ntwo\nthree", true)), "one\ntwo\nthree");
        assert_eq!(text(lines_that_begin(b"ne\ntwo\n\nthree", false)), "two\nthree");
        assert_eq!(text(lines_that_begin(b"nothing", false)), "");
    }

    #[test]
    fn lines_that_begin_at_the_start_of_a_window_are_sampled() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("rows");
        // Every window begins with a line and has 1,024 lines.
        let line = [&[b'a'; 127][..], b"\n"].concat();
        std::fs::write(&path, line.repeat(64 * 1024)).expect("writable");
        let set = FileSet::new(&[path]).expect("readable");
        let lines = Lines::sample(&set, &Options { seconds: 0.1, threads: 1, seed: 1 }).expect("sampled");
        let all = [&lines.training[..], &lines.measured].concat();
        assert!(all.len() < 64 * 1024 && all.len().is_multiple_of(1024), "{}", all.len());
        assert!(all.iter().all(|found| *found == line));
    }

    #[test]
    fn gathered_blocks_have_whole_lines_of_one_file() {
        let lines: Vec<Vec<u8>> = (0..10).map(|i| vec![b'a' + i; 3]).collect();
        let files = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1];
        let (blocks, owners) = gather(&lines, Some(&files), 6);
        assert_eq!(blocks.iter().map(Vec::len).collect::<Vec<_>>(), [6, 6, 6, 6, 6]);
        assert_eq!(owners, [0, 0, 0, 1, 1]);
        assert_eq!(gather(&lines, None, 100).0, [lines.concat()]);
    }

    #[test]
    fn rows_with_a_key_become_a_block_file() {
        let (_folder, found) = measured(&[("rows.json", rows(4000, "key"))]);
        assert!(found.measurements.len() > BLOCKS.len() * 2, "{}", found.measurements.len());
        let with =
            |words: &str| found.measurements.iter().find(|one| one.settings.contains(words)).expect(words);
        let (small, none) = (with("1 KiB, dictionary of 4 KiB"), with("1 KiB, no dictionary"));
        assert!(small.ratio() > none.ratio(), "{} {}", small.ratio(), none.ratio());
        let command = small.command.as_ref().expect("a command").join(" ");
        assert!(command.starts_with("linerate dict build --key key -b 1K -s 4K "), "{command}");
        assert!(none.command.as_ref().is_some_and(|command| command.contains(&"--no-dictionary".to_owned())));
        assert!(small.read.is_some_and(|read| read.seconds > 0.0) && small.memory.per_stream > 0);
    }

    #[test]
    fn rows_with_duplicates_or_without_json_train_a_dictionary() {
        let twice = [rows(2000, "id"), rows(2000, "id")].concat();
        let text = twice.iter().map(|&byte| if byte == b'{' { b'<' } else { byte }).collect();
        for rows in [twice, text] {
            let (_folder, found) = measured(&[("rows.txt", rows)]);
            let commands: Vec<&Vec<String>> =
                found.measurements.iter().filter_map(|one| one.command.as_ref()).collect();
            assert!(!commands.is_empty() && commands.iter().all(|command| command[2] == "train"));
            assert!(found.notes[0].contains("train"), "{:?}", found.notes);
        }
    }

    #[test]
    fn several_files_are_clustered_too() {
        // Words that repeat little within a block but are in all files, so that a dictionary pays.
        let word = |i: u64| format!("{:x} ", (i.wrapping_mul(2_654_435_761) >> 16) % 300 * 0x9e37_79b9_7f4a);
        let row = |i: u64| {
            format!(
                "{{\"id\": {i}, \"text\": \"{}\"}}\n",
                (0..6).map(|j| word(6 * i + j)).collect::<String>()
            )
        };
        let file = |from: u64| (from..from + 3000).map(row).collect::<String>().into_bytes();
        let (_folder, found) = measured(&[("a.json", file(0)), ("b.json", file(9000))]);
        let clustered = found.measurements.iter().find(|one| one.settings.contains("for 2 files"));
        let command = clustered.expect("clustered").command.as_ref().expect("a command");
        assert_eq!(command[2], "cluster");
    }
}
