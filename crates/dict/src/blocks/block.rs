//! Records in a block: sorted by key, each key without what it shares with the one before, except
//! every eighth, which is whole so that it can be found by halving.

use std::cmp::Ordering;
use std::ops::Range;

use linerate_core::{Error, Kind, Result};

use crate::fields::{put_varint, u32_at, varint};

/// Records from one whole key to the next.
const INTERVAL: usize = 8;
const DAMAGED: Error = Error::new(Kind::Corrupt, 0, "the records of a block are damaged");

/// A block that is being filled.
#[derive(Default)]
pub(super) struct BlockBuilder {
    bytes: Vec<u8>,
    restarts: Vec<u32>,
    count: usize,
    last: Vec<u8>,
}

impl BlockBuilder {
    /// Appends a record, whose key is greater than those before.
    pub(super) fn add(&mut self, key: &[u8], value: &[u8]) {
        let mut shared = 0;
        if self.count.is_multiple_of(INTERVAL) {
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

    /// Records so far.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The key of the last record.
    pub(super) fn last_key(&self) -> &[u8] {
        &self.last
    }

    /// Bytes that the block would have.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() + 4 * self.restarts.len() + 4
    }

    /// The most bytes that a record adds to a block.
    pub(super) fn most(key: usize, value: usize) -> usize {
        // Three lengths, and the place of a whole key.
        15 + 4 + key + value
    }

    /// The block. The builder is empty afterwards.
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

/// A block that is read.
#[derive(Clone, Copy)]
pub(super) struct Block<'a> {
    records: &'a [u8],
    restarts: &'a [u8],
}

/// One record: what its key shares with the one before, and where the rest and the value stand.
struct Record {
    shared: usize,
    rest: Range<usize>,
    value: Range<usize>,
}

/// A record that was found.
pub(super) struct Found {
    /// Whether its key is the one that was asked for.
    pub(super) exact: bool,
    pub(super) value: Range<usize>,
}

impl<'a> Block<'a> {
    /// # Errors
    /// [`Kind::Corrupt`] for bytes that are no block.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self> {
        let (rest, count) = bytes.split_last_chunk::<4>().ok_or(DAMAGED)?;
        let len = (u32::from_le_bytes(*count) as usize).checked_mul(4).ok_or(DAMAGED)?;
        let at = rest.len().checked_sub(len).ok_or(DAMAGED)?;
        let (records, restarts) = rest.split_at(at);
        // Records need a whole key to be found by; without any there is none.
        if records.is_empty() != restarts.is_empty() || (len > 0 && u32_at(restarts, 0) != 0) {
            return Err(DAMAGED);
        }
        Ok(Block { records, restarts })
    }

    /// The record at `at`, which is less than the bytes of all.
    fn record(&self, mut at: usize) -> Result<Record> {
        let mut next = || varint(self.records, &mut at).map(|n| n as usize).ok_or(DAMAGED);
        let (shared, rest, value) = (next()?, next()?, next()?);
        let middle = at.checked_add(rest).ok_or(DAMAGED)?;
        let end = middle.checked_add(value).filter(|&end| end <= self.records.len()).ok_or(DAMAGED)?;
        Ok(Record { shared, rest: at..middle, value: middle..end })
    }

    /// Where the `i`th whole key is.
    fn restart(&self, i: usize) -> usize {
        u32_at(self.restarts, 4 * i) as usize
    }

    /// The `i`th whole key.
    fn whole_key(&self, i: usize) -> Result<&'a [u8]> {
        let at = self.restart(i);
        let record = if at < self.records.len() { self.record(at)? } else { return Err(DAMAGED) };
        if record.shared > 0 { Err(DAMAGED) } else { Ok(&self.records[record.rest]) }
    }

    /// Where the last record with a whole key not greater than `key` is, or else the first record.
    fn before(&self, key: &[u8]) -> Result<usize> {
        let (mut low, mut high) = (0, self.restarts.len() / 4);
        while high - low > 1 {
            let middle = low.midpoint(high);
            if self.whole_key(middle)? <= key {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(if high == 0 { 0 } else { self.restart(low) })
    }

    /// The last record whose key is not greater than `key`, if there is one. The one behind it is the
    /// next of `walk`.
    pub(super) fn floor(&self, key: &[u8], walk: &mut Walk) -> Result<Option<Found>> {
        walk.start(self.before(key)?);
        let mut found = None;
        while walk.step(self)? {
            match walk.key().cmp(key) {
                Ordering::Less => found = Some(Found { exact: false, value: walk.value.clone() }),
                Ordering::Equal => return Ok(Some(Found { exact: true, value: walk.value.clone() })),
                Ordering::Greater => {
                    walk.hold();
                    break;
                }
            }
        }
        Ok(found)
    }

    /// Whether every eighth record, and no other, is where whole keys are said to be.
    ///
    /// # Errors
    /// [`Kind::Corrupt`] if not.
    pub(super) fn check(&self) -> Result<()> {
        let (mut at, mut count) = (0, 0);
        while at < self.records.len() {
            let record = self.record(at)?;
            if count % INTERVAL == 0 {
                let listed = 4 * (count / INTERVAL) < self.restarts.len();
                if !listed || self.restart(count / INTERVAL) != at || record.shared > 0 {
                    return Err(DAMAGED);
                }
            }
            at = record.value.end;
            count += 1;
        }
        if count.div_ceil(INTERVAL) * 4 == self.restarts.len() { Ok(()) } else { Err(DAMAGED) }
    }

    /// The bytes that ranges of values are of.
    pub(super) fn records(&self) -> &'a [u8] {
        self.records
    }
}

/// A way through a block, from one record to the next. It keeps nothing of the block but places.
#[derive(Default)]
pub(super) struct Walk {
    at: usize,
    key: Vec<u8>,
    pub(super) value: Range<usize>,
    /// Whether the next step stays.
    held: bool,
}

impl Walk {
    /// The record at `at` comes next, whose key must be whole.
    pub(super) fn start(&mut self, at: usize) {
        self.at = at;
        self.key.clear();
        self.value = 0..0;
        self.held = false;
    }

    /// The record it stands at comes next.
    pub(super) fn hold(&mut self) {
        self.held = true;
    }

    /// Goes to the next record. False at the end.
    ///
    /// # Errors
    /// [`Kind::Corrupt`] for a damaged one.
    pub(super) fn step(&mut self, block: &Block<'_>) -> Result<bool> {
        if std::mem::take(&mut self.held) {
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

    /// Goes to the first record whose key is not less than `key`. False if there is none.
    ///
    /// # Errors
    /// As [`Walk::step`].
    pub(super) fn seek(&mut self, block: &Block<'_>, key: &[u8]) -> Result<bool> {
        self.start(block.before(key)?);
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
    fn every_key_is_found_and_what_lies_between() {
        let mut walk = Walk::default();
        for count in [0, 1, 7, 8, 9, 64, 100] {
            let bytes = filled(count);
            let block = Block::new(&bytes).unwrap();
            block.check().unwrap();
            for i in 0..count {
                let found = block.floor(format!("key-{i:03}").as_bytes(), &mut walk).unwrap().unwrap();
                assert!(found.exact);
                assert_eq!(&block.records()[found.value], format!("value {i}").as_bytes());
                let between = block.floor(format!("key-{i:03}x").as_bytes(), &mut walk).unwrap().unwrap();
                assert!(!between.exact);
                assert_eq!(&block.records()[between.value], format!("value {i}").as_bytes());
                assert!(walk.seek(&block, format!("key-{i:03}").as_bytes()).unwrap());
                assert_eq!(walk.key(), format!("key-{i:03}").as_bytes());
                assert_eq!(walk.seek(&block, format!("key-{i:03}x").as_bytes()).unwrap(), i + 1 < count);
            }
            assert!(block.floor(b"kex", &mut walk).unwrap().is_none());
            walk.start(0);
            let mut all = 0;
            while walk.step(&block).unwrap() {
                assert_eq!(walk.key(), format!("key-{all:03}").as_bytes());
                all += 1;
            }
            assert_eq!(all, count);
        }
    }

    #[test]
    fn empty_keys_and_values_are_keys_and_values() {
        let mut builder = BlockBuilder::default();
        builder.add(b"", b"none");
        builder.add(b"\0", b"");
        let bytes = builder.finish();
        let block = Block::new(&bytes).unwrap();
        let mut walk = Walk::default();
        assert_eq!(&block.records()[block.floor(b"", &mut walk).unwrap().unwrap().value], b"none");
        assert!(block.floor(b"\0", &mut walk).unwrap().unwrap().value.is_empty());
    }

    #[test]
    fn whole_keys_are_where_they_are_said_to_be() {
        let bytes = filled(20);
        for at in bytes.len() - 16..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            assert!(Block::new(&bytes).and_then(|block| block.check()).is_err(), "{at}");
        }
    }

    /// Every change of a byte is read to the end without harm.
    #[test]
    fn damage_is_an_error_or_another_block() {
        let bytes = filled(20);
        let mut walk = Walk::default();
        let mut refused = 0;
        for at in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bytes = bytes.clone();
                bytes[at] = value;
                let mut read = || {
                    let block = Block::new(&bytes)?;
                    block.floor(b"key-013", &mut walk)?;
                    walk.seek(&block, b"key-004")?;
                    walk.start(0);
                    while walk.step(&block)? {}
                    Ok::<_, Error>(())
                };
                refused += usize::from(read().is_err());
            }
            refused += usize::from(Block::new(&bytes[..at]).is_err());
        }
        assert!(refused > 100);
    }
}
