//! Data and index blocks: sorted records with prefix-compressed keys. Every eighth record, from the
//! first, is a restart point, which has a full key, for binary search. The layout is similar to
//! that of LevelDB's blocks.

use std::cmp::Ordering;
use std::ops::Range;

use linerate_core::{Error, Kind, Result};

use crate::files::fields::{put_varint, u32_at, varint};

/// Number of records from one restart point to the next.
const RESTART_INTERVAL: usize = 8;
const DAMAGED: Error = Error::new(Kind::Corrupt, 0, "the records of a block are damaged");

/// Builds a block.
#[derive(Default)]
pub(super) struct BlockBuilder {
    bytes: Vec<u8>,
    restarts: Vec<u32>,
    count: usize,
    last: Vec<u8>,
}

impl BlockBuilder {
    /// Appends a record. Its key must be greater than all keys before.
    pub(super) fn add(&mut self, key: &[u8], value: &[u8]) {
        let mut shared = 0;
        if self.count.is_multiple_of(RESTART_INTERVAL) {
            self.restarts.push(self.bytes.len() as u32);
        } else {
            shared = shared_len(&self.last, key);
        }
        put_varint(&mut self.bytes, shared as u32);
        put_varint(&mut self.bytes, (key.len() - shared) as u32);
        put_varint(&mut self.bytes, value.len() as u32);
        self.bytes.extend_from_slice(&key[shared..]);
        self.bytes.extend_from_slice(value);
        self.last.truncate(shared);
        self.last.extend_from_slice(&key[shared..]);
        self.count += 1;
    }

    /// Returns the number of records.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the key of the last record.
    pub(super) fn last_key(&self) -> &[u8] {
        &self.last
    }

    /// Returns the length of the finished block.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() + 4 * self.restarts.len() + 4
    }

    /// Returns the maximum number of bytes that a record adds to a block.
    pub(super) fn max_record_len(key: usize, value: usize) -> usize {
        // A record has three lengths, and may have the offset of a restart point.
        15 + 4 + key + value
    }

    /// Returns the block. The builder is empty afterwards.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.extend(self.restarts.iter().flat_map(|at| at.to_le_bytes()));
        bytes.extend((self.restarts.len() as u32).to_le_bytes());
        self.restarts.clear();
        self.last.clear();
        self.count = 0;
        bytes
    }
}

fn shared_len(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// A parsed block.
#[derive(Clone, Copy)]
pub(super) struct Block<'a> {
    records: &'a [u8],
    restarts: &'a [u8],
}

/// A record: number of bytes shared with the previous key, and ranges of the rest of the key and of
/// the value.
struct Record {
    shared: usize,
    rest: Range<usize>,
    value: Range<usize>,
}

/// The last record of a block whose key is not greater than a key that is looked up.
pub(super) struct Floor {
    /// Whether the two keys are equal.
    pub(super) exact: bool,
    /// Range of the value in [`Block::records`].
    pub(super) value: Range<usize>,
}

impl<'a> Block<'a> {
    /// Parses the restart points of a block. Records are checked when they are read.
    ///
    /// # Errors
    /// Returns [`Kind::Corrupt`] for invalid restart points.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self> {
        let (rest, count) = bytes.split_last_chunk::<4>().ok_or(DAMAGED)?;
        let len = (u32::from_le_bytes(*count) as usize).checked_mul(4).ok_or(DAMAGED)?;
        let at = rest.len().checked_sub(len).ok_or(DAMAGED)?;
        let (records, restarts) = rest.split_at(at);
        // Records without restart points could not be found, and restart points need records.
        if records.is_empty() != restarts.is_empty() || (len > 0 && u32_at(restarts, 0) != 0) {
            return Err(DAMAGED);
        }
        Ok(Block { records, restarts })
    }

    /// Parses the record at `at`, which is less than `records.len()`.
    fn record(&self, mut at: usize) -> Result<Record> {
        let mut next = || varint(self.records, &mut at).map(|n| n as usize).ok_or(DAMAGED);
        let (shared, rest, value) = (next()?, next()?, next()?);
        let middle = at.checked_add(rest).ok_or(DAMAGED)?;
        let end = middle.checked_add(value).filter(|&end| end <= self.records.len()).ok_or(DAMAGED)?;
        Ok(Record { shared, rest: at..middle, value: middle..end })
    }

    /// Returns the offset of the `i`th restart point.
    fn restart(&self, i: usize) -> usize {
        u32_at(self.restarts, 4 * i) as usize
    }

    /// Returns the key of the `i`th restart point.
    fn restart_key(&self, i: usize) -> Result<&'a [u8]> {
        let at = self.restart(i);
        let record = if at < self.records.len() { self.record(at)? } else { return Err(DAMAGED) };
        if record.shared > 0 { Err(DAMAGED) } else { Ok(&self.records[record.rest]) }
    }

    /// Returns the offset of the last restart point with a key not greater than `key`, or of the
    /// first record if there is none.
    fn restart_before(&self, key: &[u8]) -> Result<usize> {
        let (mut low, mut high) = (0, self.restarts.len() / 4);
        while high - low > 1 {
            let middle = low.midpoint(high);
            if self.restart_key(middle)? <= key {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(if high == 0 { 0 } else { self.restart(low) })
    }

    /// Finds the last record whose key is not greater than `key`. The cursor's next step returns
    /// the record after it.
    pub(super) fn floor(&self, key: &[u8], cursor: &mut Cursor) -> Result<Option<Floor>> {
        cursor.start(self.restart_before(key)?);
        let mut found = None;
        while cursor.step(self)? {
            match cursor.key().cmp(key) {
                Ordering::Less => found = Some(Floor { exact: false, value: cursor.value.clone() }),
                Ordering::Equal => return Ok(Some(Floor { exact: true, value: cursor.value.clone() })),
                Ordering::Greater => {
                    cursor.repeat();
                    break;
                }
            }
        }
        Ok(found)
    }

    /// Checks that the restart points are every eighth record.
    ///
    /// # Errors
    /// Returns [`Kind::Corrupt`] if they are not, or if a record is damaged.
    pub(super) fn check(&self) -> Result<()> {
        let (mut at, mut count) = (0, 0);
        while at < self.records.len() {
            let record = self.record(at)?;
            if count % RESTART_INTERVAL == 0 {
                let listed = 4 * (count / RESTART_INTERVAL) < self.restarts.len();
                if !listed || self.restart(count / RESTART_INTERVAL) != at || record.shared > 0 {
                    return Err(DAMAGED);
                }
            }
            at = record.value.end;
            count += 1;
        }
        if count.div_ceil(RESTART_INTERVAL) * 4 == self.restarts.len() { Ok(()) } else { Err(DAMAGED) }
    }

    /// Returns the bytes that value ranges refer to.
    pub(super) fn records(&self) -> &'a [u8] {
        self.records
    }
}

/// Cursor over the records of a block. It holds only offsets, and no reference to the block.
#[derive(Default)]
pub(super) struct Cursor {
    at: usize,
    key: Vec<u8>,
    pub(super) value: Range<usize>,
    /// Whether the next step stays at the current record.
    repeat: bool,
}

impl Cursor {
    /// Moves to the restart point at `at`; the next step returns its record.
    pub(super) fn start(&mut self, at: usize) {
        self.at = at;
        self.key.clear();
        self.value = 0..0;
        self.repeat = false;
    }

    /// Makes the next step return the current record again.
    pub(super) fn repeat(&mut self) {
        self.repeat = true;
    }

    /// Advances to the next record. Returns false at the end.
    ///
    /// # Errors
    /// Returns [`Kind::Corrupt`] for a damaged record.
    pub(super) fn step(&mut self, block: &Block<'_>) -> Result<bool> {
        if std::mem::take(&mut self.repeat) {
            return Ok(true);
        }
        if self.at >= block.records.len() {
            return Ok(false);
        }
        let record = block.record(self.at)?;
        if record.shared > self.key.len() {
            return Err(DAMAGED);
        }
        self.key.truncate(record.shared);
        self.key.extend_from_slice(&block.records[record.rest]);
        self.at = record.value.end;
        self.value = record.value;
        Ok(true)
    }

    /// Advances to the first record whose key is not less than `key`. Returns false if there is
    /// none.
    ///
    /// # Errors
    /// Returns the errors of [`Cursor::step`].
    pub(super) fn seek(&mut self, block: &Block<'_>, key: &[u8]) -> Result<bool> {
        self.start(block.restart_before(key)?);
        while self.step(block)? {
            if self.key() >= key {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn key(&self) -> &[u8] {
        &self.key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(count: usize) -> Vec<u8> {
        let mut builder = BlockBuilder::default();
        for i in 0..count {
            builder.add(format!("key-{i:03}").as_bytes(), format!("value {i}").as_bytes());
        }
        assert_eq!(builder.count(), count);
        let len = builder.len();
        let bytes = builder.finish();
        assert_eq!((bytes.len(), builder.len(), builder.count()), (len, 4, 0));
        bytes
    }

    #[test]
    fn floor_and_seek_find_keys_and_gaps() {
        let mut cursor = Cursor::default();
        for count in [0, 1, 7, 8, 9, 64, 100] {
            let bytes = filled(count);
            let block = Block::new(&bytes).unwrap();
            block.check().unwrap();
            for i in 0..count {
                let found = block.floor(format!("key-{i:03}").as_bytes(), &mut cursor).unwrap().unwrap();
                assert!(found.exact);
                assert_eq!(&block.records()[found.value], format!("value {i}").as_bytes());
                let between = block.floor(format!("key-{i:03}x").as_bytes(), &mut cursor).unwrap().unwrap();
                assert!(!between.exact);
                assert_eq!(&block.records()[between.value], format!("value {i}").as_bytes());
                assert!(cursor.seek(&block, format!("key-{i:03}").as_bytes()).unwrap());
                assert_eq!(cursor.key(), format!("key-{i:03}").as_bytes());
                assert_eq!(cursor.seek(&block, format!("key-{i:03}x").as_bytes()).unwrap(), i + 1 < count);
            }
            assert!(block.floor(b"kex", &mut cursor).unwrap().is_none());
            cursor.start(0);
            let mut all = 0;
            while cursor.step(&block).unwrap() {
                assert_eq!(cursor.key(), format!("key-{all:03}").as_bytes());
                all += 1;
            }
            assert_eq!(all, count);
        }
    }

    #[test]
    fn empty_keys_and_values_round_trip() {
        let mut builder = BlockBuilder::default();
        builder.add(b"", b"none");
        builder.add(b"\0", b"");
        let bytes = builder.finish();
        let block = Block::new(&bytes).unwrap();
        let mut cursor = Cursor::default();
        assert_eq!(&block.records()[block.floor(b"", &mut cursor).unwrap().unwrap().value], b"none");
        assert!(block.floor(b"\0", &mut cursor).unwrap().unwrap().value.is_empty());
    }

    #[test]
    fn damaged_restarts_are_an_error() {
        let bytes = filled(20);
        for at in bytes.len() - 16..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            assert!(Block::new(&bytes).and_then(|block| block.check()).is_err(), "{at}");
        }
    }

    /// After a change of any byte, reading ends without a panic.
    #[test]
    fn damaged_bytes_are_an_error_or_another_block() {
        let bytes = filled(20);
        let mut cursor = Cursor::default();
        let mut refused = 0;
        for at in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bytes = bytes.clone();
                bytes[at] = value;
                let mut read = || {
                    let block = Block::new(&bytes)?;
                    block.floor(b"key-013", &mut cursor)?;
                    cursor.seek(&block, b"key-004")?;
                    cursor.start(0);
                    while cursor.step(&block)? {}
                    Ok::<_, Error>(())
                };
                refused += usize::from(read().is_err());
            }
            refused += usize::from(Block::new(&bytes[..at]).is_err());
        }
        assert!(refused > 100);
    }
}
