//! [`Sorter`]: external merge sort of records by key, in bounded memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};

use linerate_core::{Error, Kind, Result};
use linerate_io::read_error;

use super::builder::{Builder, MAX_KEY_LEN, MAX_VALUE_LEN};
use crate::files::output::write_error;

/// Memory of a record beside its key and value, in bytes.
const OVERHEAD: usize = size_of::<Entry>();
/// Buffer for reading or writing a run, in bytes.
const READ_BUFFER: usize = 32 << 10;
/// Number of runs at which they are merged into one, to bound the open files.
const MAX_RUNS: usize = 64;

/// Handling of records with equal keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// Equal keys are an error.
    #[default]
    Refuse,
    /// The record added last is kept.
    LastWins,
}

/// Sorts records by key. Records that exceed the memory go to temporary files, which are deleted
/// with the sorter, or with the [`Sorted`] that it becomes. A merge holds one record of each of at
/// most 64 files.
pub struct Sorter {
    memory: usize,
    duplicates: Duplicates,
    /// Keys and values of `entries`.
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    runs: Vec<Run>,
}

/// A record in memory.
struct Entry {
    at: usize,
    key: u32,
    value: u32,
}

impl Entry {
    fn key<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.at..][..self.key as usize]
    }

    fn value<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.at + self.key as usize..][..self.value as usize]
    }
}

impl Sorter {
    /// Creates a sorter that keeps about `memory` bytes of records in memory.
    pub fn new(memory: usize, duplicates: Duplicates) -> Self {
        Sorter { memory, duplicates, bytes: Vec::new(), entries: Vec::new(), runs: Vec::new() }
    }

    /// Adds a record.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] for a key longer than 65,535 bytes, [`Kind::Limit`] for a
    /// value longer than 32 MiB, and [`Kind::Write`] or [`Kind::Read`] if temporary files cannot be
    /// written or read.
    pub fn add(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if key.len() > MAX_KEY_LEN {
            return Err(Error::new(Kind::BadArgument, 0, "the key is longer than 65535 bytes"));
        }
        if value.len() > MAX_VALUE_LEN {
            return Err(Error::new(Kind::Limit, 0, "the value is larger than 32 MiB"));
        }
        let held = self.bytes.len() + self.entries.len() * OVERHEAD;
        if !self.entries.is_empty() && held + key.len() + value.len() + OVERHEAD > self.memory {
            self.spill()?;
        }
        self.entries.push(Entry { at: self.bytes.len(), key: key.len() as u32, value: value.len() as u32 });
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        Ok(())
    }

    /// Sorts the records in memory. Equal keys stay in insertion order.
    fn sort(&mut self) {
        let bytes = &self.bytes;
        // An empty record begins where the next one does, which may have a value.
        let order = |entry: &Entry| (entry.at, entry.value);
        self.entries
            .sort_unstable_by(|a, b| a.key(bytes).cmp(b.key(bytes)).then_with(|| order(a).cmp(&order(b))));
    }

    fn spill(&mut self) -> Result<()> {
        self.sort();
        let mut run = RunWriter::new()?;
        for entry in &self.entries {
            run.add(entry.key(&self.bytes), entry.value(&self.bytes))?;
        }
        self.runs.push(run.finish()?);
        self.bytes.clear();
        self.entries.clear();
        if self.runs.len() < MAX_RUNS {
            return Ok(());
        }
        // All runs are merged, so that the insertion order of equal keys is preserved.
        let mut merge = Merge::new(std::mem::take(&mut self.runs))?;
        let mut run = RunWriter::new()?;
        while merge.step()? {
            run.add(&merge.key, &merge.value)?;
        }
        self.runs.push(run.finish()?);
        Ok(())
    }

    /// Returns the sorted records.
    ///
    /// # Errors
    /// Returns [`Kind::Write`] or [`Kind::Read`] if temporary files cannot be written or read.
    pub fn sorted(mut self) -> Result<Sorted> {
        let source = if self.runs.is_empty() {
            self.sort();
            RecordSource::Memory { bytes: self.bytes, entries: self.entries, next: 0 }
        } else {
            if !self.entries.is_empty() {
                self.spill()?;
            }
            RecordSource::Runs(Merge::new(self.runs)?)
        };
        let mut sorted =
            Sorted { source, duplicates: self.duplicates, next: None, key: Vec::new(), value: Vec::new() };
        sorted.advance()?;
        Ok(sorted)
    }

    /// Passes all sorted records to a builder.
    ///
    /// # Errors
    /// Returns the errors of [`sorted`](Self::sorted), [`Sorted::next_record`] and
    /// [`Builder::add`].
    pub fn into_builder(self, builder: &mut Builder) -> Result<()> {
        let mut sorted = self.sorted()?;
        while let Some((key, value)) = sorted.next_record()? {
            builder.add(key, value)?;
        }
        Ok(())
    }
}

/// Records in ascending key order, each key once.
pub struct Sorted {
    source: RecordSource,
    duplicates: Duplicates,
    /// The record after the one in `key` and `value`.
    next: Option<(Vec<u8>, Vec<u8>)>,
    key: Vec<u8>,
    value: Vec<u8>,
}

enum RecordSource {
    Memory { bytes: Vec<u8>, entries: Vec<Entry>, next: usize },
    Runs(Merge),
}

impl Sorted {
    /// Returns the next record as key and value, or `None` at the end.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] for a duplicate key with [`Duplicates::Refuse`], and
    /// [`Kind::Read`] if temporary files cannot be read.
    pub fn next_record(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        let Some((key, value)) = self.next.take() else { return Ok(None) };
        (self.key, self.value) = (key, value);
        loop {
            self.advance()?;
            if self.next.as_ref().is_none_or(|(key, _)| *key != self.key) {
                return Ok(Some((&self.key, &self.value)));
            }
            if self.duplicates == Duplicates::Refuse {
                return Err(Error::new(Kind::BadArgument, 0, "duplicate key"));
            }
            if let Some((_, value)) = self.next.take() {
                self.value = value;
            }
        }
    }

    fn advance(&mut self) -> Result<()> {
        self.next = match &mut self.source {
            RecordSource::Memory { bytes, entries, next } => entries.get(*next).map(|entry| {
                *next += 1;
                (entry.key(bytes).to_vec(), entry.value(bytes).to_vec())
            }),
            RecordSource::Runs(merge) => {
                if merge.step()? {
                    Some((merge.key.clone(), merge.value.clone()))
                } else {
                    None
                }
            }
        };
        Ok(())
    }
}

/// A sorted run in a file. A record is the length of its value and the length of its key, four
/// bytes each, then key and value.
struct Run {
    file: BufReader<File>,
    /// Number of records not read yet.
    remaining: u64,
}

struct RunWriter {
    file: BufWriter<File>,
    records: u64,
}

impl RunWriter {
    fn new() -> Result<RunWriter> {
        let file = tempfile::tempfile().map_err(|e| write_error(&e))?;
        Ok(RunWriter { file: BufWriter::with_capacity(READ_BUFFER, file), records: 0 })
    }

    fn add(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let lens = (key.len() as u64) << 32 | value.len() as u64;
        let parts = [&lens.to_le_bytes()[..], key, value];
        self.records += 1;
        parts.iter().try_for_each(|part| self.file.write_all(part)).map_err(|e| write_error(&e))
    }

    fn finish(self) -> Result<Run> {
        let mut file = self.file.into_inner().map_err(|e| write_error(e.error()))?;
        file.rewind().map_err(|e| read_error(0, &e))?;
        Ok(Run { file: BufReader::with_capacity(READ_BUFFER, file), remaining: self.records })
    }
}

/// The next record of a run: key, run, value.
type RunHead = (Vec<u8>, usize, Vec<u8>);

/// Merges runs. If keys are equal, the record of the earlier run comes first.
struct Merge {
    runs: Vec<Run>,
    /// The next record of each run.
    heads: BinaryHeap<Reverse<RunHead>>,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Merge {
    fn new(runs: Vec<Run>) -> Result<Merge> {
        let mut merge = Merge { runs, heads: BinaryHeap::new(), key: Vec::new(), value: Vec::new() };
        (0..merge.runs.len()).try_for_each(|run| merge.refill(run))?;
        Ok(merge)
    }

    fn refill(&mut self, run: usize) -> Result<()> {
        let Run { file, remaining } = &mut self.runs[run];
        if *remaining == 0 {
            return Ok(());
        }
        *remaining -= 1;
        let mut lens = [0; 8];
        let mut exactly = |buffer: &mut [u8]| file.read_exact(buffer).map_err(|e| read_error(0, &e));
        exactly(&mut lens)?;
        let lens = u64::from_le_bytes(lens);
        let mut key = vec![0; (lens >> 32) as usize];
        let mut value = vec![0; lens as u32 as usize];
        exactly(&mut key)?;
        exactly(&mut value)?;
        self.heads.push(Reverse((key, run, value)));
        Ok(())
    }

    fn step(&mut self) -> Result<bool> {
        let Some(Reverse((key, run, value))) = self.heads.pop() else { return Ok(false) };
        (self.key, self.value) = (key, value);
        self.refill(run)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Record = (Vec<u8>, Vec<u8>);

    /// Generates pseudorandom records, some with equal keys.
    fn records(count: u32) -> Vec<Record> {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 8
        };
        (0..count)
            .map(|i| {
                let key = format!("{}", next() % (count / 2));
                (key.into_bytes(), vec![i as u8; next() as usize % 30])
            })
            .collect()
    }

    fn sorted(memory: usize, records: &[Record]) -> (usize, Vec<Record>) {
        let mut sorter = Sorter::new(memory, Duplicates::LastWins);
        let mut most = 0;
        for (key, value) in records {
            sorter.add(key, value).unwrap();
            most = most.max(sorter.runs.len());
        }
        let mut sorted = sorter.sorted().unwrap();
        let mut out = Vec::new();
        while let Some((key, value)) = sorted.next_record().unwrap() {
            out.push((key.to_vec(), value.to_vec()));
        }
        assert!(sorted.next_record().unwrap().is_none());
        (most, out)
    }

    #[test]
    fn order_is_independent_of_memory_and_the_last_duplicate_wins() {
        let records = records(3000);
        let expected: std::collections::BTreeMap<_, _> = records.iter().cloned().collect();
        assert!(expected.len() < 1500);
        for memory in [usize::MAX, 50_000, 1000, 0] {
            let (runs, got) = sorted(memory, &records);
            assert!(got.iter().map(|(k, v)| (k, v)).eq(&expected), "{memory}");
            assert!(runs < MAX_RUNS && (runs > 0) == (memory < 1 << 20), "{memory}: {runs}");
        }
        assert_eq!(sorted(0, &[]), (0, Vec::new()));
    }

    /// An empty record begins where the next one does.
    #[test]
    fn last_of_two_records_with_the_empty_key_wins() {
        for count in 1..400 {
            let mut all = records(count + 1);
            let middle = all.len() / 2;
            all.splice(middle..middle, [(vec![], vec![]), (vec![], b"x".to_vec())]);
            assert_eq!(sorted(usize::MAX, &all).1[0], (vec![], b"x".to_vec()), "{count} others");
        }
    }

    #[test]
    fn a_duplicate_key_is_an_error_in_memory_and_in_runs() {
        for memory in [usize::MAX, 0] {
            let mut sorter = Sorter::new(memory, Duplicates::Refuse);
            for key in ["b", "c", "a", "c", "d"] {
                sorter.add(key.as_bytes(), b"").unwrap();
            }
            let mut sorted = sorter.sorted().unwrap();
            assert_eq!(sorted.next_record().unwrap().unwrap().0, b"a");
            assert_eq!(sorted.next_record().unwrap().unwrap().0, b"b");
            assert_eq!(sorted.next_record().unwrap_err().kind, Kind::BadArgument);
        }
        let mut sorter = Sorter::new(0, Duplicates::Refuse);
        assert_eq!(sorter.add(&[0; MAX_KEY_LEN + 1], b"").unwrap_err().kind, Kind::BadArgument);
        assert_eq!(sorter.add(b"", &vec![0; MAX_VALUE_LEN + 1]).unwrap_err().kind, Kind::Limit);
    }
}
