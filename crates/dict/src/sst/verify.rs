//! Verifies a file: all checksums, the order of all keys, and the counts in its properties.

use std::cell::Cell;
use std::cmp::Ordering;

use linerate_core::{Error, Kind, Result};

use super::block::{ContiguityCheck, Cursor, Layout, RestartCheck, restart_key};
use super::entry::{Entry, EntryKind, TAIL, split};
use super::handle::Handle;
use super::index::{self, IndexCursor};
use super::open::Sst;
use super::reader::{BlockPosition, Reader};

/// Maximum number of errors that are kept.
const MAX_FAILURES: usize = 100;

/// Result of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// Number of data blocks, including damaged ones.
    pub data_blocks: u64,
    /// Number of other blocks, such as metaindex, properties, index and filters.
    pub other_blocks: u64,
    /// Number of entries in the data blocks, up to the first error in each.
    pub entries: u64,
    /// Number of deletions among the entries.
    pub deletions: u64,
    /// Number of merge operands among the entries.
    pub merge_operands: u64,
    /// Number of bytes of the internal keys, without those of range deletions.
    pub key_bytes: u64,
    /// Number of bytes of the values.
    pub value_bytes: u64,
    /// The first hundred errors.
    pub failures: Vec<Error>,
    /// Total number of errors.
    pub failed: u64,
}

impl Verified {
    /// Returns whether there were no errors.
    pub fn is_sound(&self) -> bool {
        self.failed == 0
    }

    fn fail(&mut self, e: Error) {
        self.failed += 1;
        if self.failures.len() < MAX_FAILURES {
            self.failures.push(e);
        }
    }
}

/// The previous entry.
#[derive(Default)]
struct PreviousEntry {
    key: Vec<u8>,
    sequence: u64,
    /// False before the first entry, and after a damaged block.
    any: bool,
}

impl Reader {
    /// Reads and decodes every block, and collects errors in the result. Verifies the order of the
    /// entries and the separators in the index, unless the comparator is unknown, and, if there was
    /// no error, the counts in the properties. Also verifies all checksums, even if the options
    /// turn that off.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] if the file was opened with another store than the reader's.
    pub fn verify(&mut self, sst: &Sst) -> Result<Verified> {
        self.verify_with_progress(sst, &|_| {})
    }

    /// Verifies like [`verify`](Self::verify). `progress` receives the stored bytes of each data
    /// block after it was checked, and at the end those of the rest of the file. Together they are
    /// [`Sst::file_bytes`].
    ///
    /// # Errors
    /// Returns the errors of [`verify`](Self::verify).
    pub fn verify_with_progress(&mut self, sst: &Sst, progress: &dyn Fn(usize)) -> Result<Verified> {
        self.check_store(sst)?;
        let mut report = Verified::default();
        self.verify_others(sst, &mut report);
        let mut before = PreviousEntry::default();
        let rest = Cell::new(sst.file_bytes());
        let of_data = |bytes: usize| {
            rest.set(rest.get().saturating_sub(bytes as u64));
            progress(bytes);
        };
        if let Err(e) = self.verify_data(sst, &mut before, &of_data, &mut report) {
            report.fail(e);
        }
        if report.is_sound() {
            self.verify_counts(sst, &mut report);
        }
        progress(usize::try_from(rest.get()).unwrap_or(usize::MAX));
        Ok(report)
    }

    fn verify_others(&mut self, sst: &Sst, report: &mut Verified) {
        report.other_blocks += 1;
        match self.meta_blocks(sst) {
            Ok(blocks) => {
                for (name, handle) in blocks {
                    // Other blocks may have an application's own format.
                    let known = name.starts_with(b"rocksdb.");
                    report.other_blocks += 1;
                    if let Err(e) = self.verify_block(sst, handle, known) {
                        report.fail(e);
                    }
                }
            }
            Err(e) => report.fail(e),
        }
        if let Some(handle) = sst.footer.index {
            report.other_blocks += 1;
            if let Err(e) = self.verify_block(sst, handle, true) {
                report.fail(e);
            }
        }
        let top =
            Layout::parse_index(&sst.index).and_then(|layout| index::verify(layout, sst.encoding, sst.order));
        if let Err(e) = top {
            report.fail(e.shifted(sst.index_at));
        }
        for part in &sst.partitions {
            report.other_blocks += 1;
            if let Err(e) = self.verify_part(sst, part.handle) {
                report.fail(e);
            }
        }
    }

    fn verify_part(&mut self, sst: &Sst, handle: Handle) -> Result<()> {
        let content = self.load_checked(sst, handle, None)?.content(&self.content);
        let layout = Layout::parse_index(content).map_err(|e| e.shifted(handle.offset))?;
        index::verify(layout, sst.encoding, sst.order).map_err(|e| e.shifted(handle.offset))
    }

    fn verify_block(&mut self, sst: &Sst, handle: Handle, known: bool) -> Result<()> {
        match self.load_checked(sst, handle, None) {
            Err(e) if e.kind == Kind::Unsupported && !known => Ok(()),
            result => result.map(drop),
        }
    }

    fn verify_data(
        &mut self,
        sst: &Sst,
        before: &mut PreviousEntry,
        progress: &dyn Fn(usize),
        report: &mut Verified,
    ) -> Result<()> {
        let mut position = BlockPosition::default();
        let mut keys = Separators::default();
        while let Some(handle) = self.next_block(sst, &mut position)? {
            let separator = keys.next(self, sst)?;
            report.data_blocks += 1;
            if let Err(e) = self.verify_entries(sst, handle, separator, before, report) {
                report.fail(e);
                before.any = false;
            }
            progress(handle.size as usize);
        }
        Ok(())
    }

    fn verify_entries(
        &mut self,
        sst: &Sst,
        handle: Handle,
        separator: &[u8],
        before: &mut PreviousEntry,
        report: &mut Verified,
    ) -> Result<()> {
        let loaded = self.load_checked(sst, handle, sst.dictionary.as_ref())?;
        let shifted = |e: Error| e.shifted(handle.offset);
        let layout = Layout::parse(loaded.content(&self.content)).map_err(shifted)?;
        let mut restarts = RestartCheck::new(layout);
        let mut values = ContiguityCheck::new(&layout);
        let mut cursor = Cursor::new(&layout);
        self.key.clear();
        loop {
            restarts.pass(cursor.position.at, |at| restart_key(&layout, at)).map_err(shifted)?;
            let Some(value) = cursor.next(&mut self.key).map_err(shifted)? else {
                return restarts.end().and_then(|()| values.end()).map_err(shifted);
            };
            values.pass(cursor.value_range(value)).map_err(shifted)?;
            let entry = Entry::new(&self.key, value).map_err(shifted)?;
            before.check(sst, &entry).map_err(shifted)?;
            check_separator(sst, &entry, separator).map_err(shifted)?;
            before.take(&entry);
            report.entries += 1;
            report.deletions += u64::from(entry.kind.is_deletion());
            report.merge_operands += u64::from(entry.kind == EntryKind::Merge);
            report.key_bytes += self.key.len() as u64;
            report.value_bytes += value.len() as u64;
        }
    }

    fn verify_counts(&mut self, sst: &Sst, report: &mut Verified) {
        let properties = match self.properties(sst) {
            Ok(properties) => properties,
            Err(e) => return report.fail(e),
        };
        let at = sst.properties.offset;
        let ranges = sst.range_deletions();
        let range_keys: usize = ranges.iter().map(|range| range.start.len() + TAIL).sum();
        let range_values: usize = ranges.iter().map(|range| range.end.len()).sum();
        // RocksDB 10 and 11 do not count the blocks that they held back to train a dictionary,
        // whether one resulted or not.
        let trained = sst.dictionary.is_some() || properties.was_to_have_a_dictionary();
        let fewer = trained && properties.data_blocks() < report.data_blocks;
        let blocks = if fewer { report.data_blocks } else { properties.data_blocks() };
        let rows = [
            (
                "rocksdb.num.data.blocks",
                blocks,
                report.data_blocks,
                "the number of data blocks differs from the property",
            ),
            (
                "rocksdb.num.entries",
                properties.entries(),
                report.entries,
                "the number of entries differs from the property",
            ),
            (
                "rocksdb.deleted.keys",
                properties.deletions(),
                report.deletions,
                "the number of deletions differs from the property",
            ),
            (
                "rocksdb.merge.operands",
                properties.merge_operands(),
                report.merge_operands,
                "the number of merge operands differs from the property",
            ),
            (
                "rocksdb.num.range-deletions",
                properties.range_deletions(),
                ranges.len() as u64,
                "the number of range deletions differs from the property",
            ),
            (
                "rocksdb.raw.key.size",
                properties.raw_key_bytes(),
                report.key_bytes + range_keys as u64,
                "the number of key bytes differs from the property",
            ),
            (
                "rocksdb.raw.value.size",
                properties.raw_value_bytes(),
                report.value_bytes + range_values as u64,
                "the number of value bytes differs from the property",
            ),
        ];
        for (name, stated, counted, what) in rows {
            // Not every version writes every property.
            if properties.get(name).is_some() && stated != counted {
                report.fail(Error::new(Kind::Corrupt, at, what));
            }
        }
    }
}

impl PreviousEntry {
    /// Checks that an entry is after the previous one: by key, then by descending sequence number.
    fn check(&self, sst: &Sst, entry: &Entry<'_>) -> Result<()> {
        if !self.any || sst.order.check().is_err() {
            return Ok(());
        }
        let order = sst.order.compare(&self.key, entry.key).then_with(|| entry.sequence.cmp(&self.sequence));
        if order == Ordering::Less {
            return Ok(());
        }
        Err(Error::new(Kind::Corrupt, 0, "the keys are not in order"))
    }

    fn take(&mut self, entry: &Entry<'_>) {
        self.key.clear();
        self.key.extend_from_slice(entry.key);
        (self.sequence, self.any) = (entry.sequence, true);
    }
}

/// Checks that an entry is not after the separator of its block.
fn check_separator(sst: &Sst, entry: &Entry<'_>, separator: &[u8]) -> Result<()> {
    if sst.order.check().is_err() {
        return Ok(());
    }
    match index::compare(separator, sst.encoding, sst.order, entry.key, entry.sequence)? {
        Ordering::Less => {
            Err(Error::new(Kind::Corrupt, 0, "a key is greater than the separator in the index"))
        }
        _ => Ok(()),
    }
}

/// Iterates over the separators of the data blocks.
#[derive(Default)]
struct Separators {
    steps: IndexCursor,
    key: Vec<u8>,
    /// Number of partitions visited.
    begun: usize,
    top: IndexCursor,
    /// The separator of the current partition.
    top_key: Vec<u8>,
}

impl Separators {
    /// Returns the separator of the next data block, which must exist.
    fn next(&mut self, reader: &mut Reader, sst: &Sst) -> Result<&[u8]> {
        loop {
            let (content, at) = match self.begun.checked_sub(1).and_then(|at| sst.partitions.get(at)) {
                Some(part) => (reader.partition(sst, part.handle)?.1, part.handle.offset),
                None => (&sst.index[..], sst.index_at),
            };
            let shifted = |e: Error| e.shifted(at);
            let partitioned = !sst.partitions.is_empty();
            let here = !partitioned || self.begun > 0;
            let layout = Layout::parse_index(content).map_err(shifted)?;
            let key = &mut self.key;
            if here && self.steps.next_with_key(&layout, sst.encoding, key).map_err(shifted)?.is_some() {
                if partitioned {
                    self.check_part(sst).map_err(shifted)?;
                }
                return Ok(&self.key);
            }
            if !partitioned || self.begun == sst.partitions.len() {
                return Err(Error::new(Kind::Corrupt, at, "the index has fewer keys than blocks"));
            }
            self.begun += 1;
            self.steps = IndexCursor::default();
            self.key.clear();
            Layout::parse_index(&sst.index)
                .and_then(|top| self.top.next_with_key(&top, sst.encoding, &mut self.top_key))
                .map_err(|e| e.shifted(sst.index_at))?;
        }
    }

    fn check_part(&self, sst: &Sst) -> Result<()> {
        let (user, tail) = if sst.encoding.user_keys { (&self.key[..], 0) } else { split(&self.key)? };
        match index::compare(&self.top_key, sst.encoding, sst.order, user, tail >> 8)? {
            Ordering::Less => {
                Err(Error::new(Kind::Corrupt, 0, "a key of an index partition is greater than its separator"))
            }
            _ => Ok(()),
        }
    }
}
