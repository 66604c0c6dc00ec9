//! Entries of a decoded block, and binary search among them.
//!
//! Keys are prefix-compressed: an entry omits the bytes that it shares with the previous key.
//! Restart points are entries that share nothing, where a search can start. Their offsets are
//! stored at the end of the block.
//!
//! A value follows its key or, since RocksDB 11, the values follow all entries, in the same order.
//! In the second layout, each restart point has the offset of its value, and the end of the block
//! has the offset of the values.

use std::cmp::Ordering;
use std::ops::Range;

use linerate_core::{Error, Kind, Result};

use super::bytes::{Bytes, TOO_SHORT};
use super::entry::split;
use super::order::KeyOrder;

const NO_RESTART: Error = Error::new(Kind::Corrupt, 0, "the restart array of a block is invalid");
const NO_VALUES: Error = Error::new(Kind::Corrupt, 0, "the values section of a block is out of bounds");
const UNKNOWN_LAYOUT: Error = Error::new(Kind::Unsupported, 0, "the layout of a block is not known");
const SEPARATE_VALUES: Error =
    Error::new(Kind::Unsupported, 0, "index blocks with separate values are not supported");
const SHARED: Error = Error::new(Kind::Corrupt, 0, "a key shares more bytes than the previous key has");

/// The sections of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout<'a> {
    pub(super) entries: &'a [u8],
    /// Offsets of the restart points, four bytes each.
    restarts: &'a [[u8; 4]],
    /// The values section after the entries, if values are separate.
    values: Option<&'a [u8]>,
}

/// The last word of a block: the number of restart points, and flags.
#[derive(Clone, Copy)]
struct BlockTrailer(u32);

impl BlockTrailer {
    const SEPARATE_VALUES: u32 = 1 << 28;
    /// In an index: the keys are about evenly distributed. This does not affect the layout.
    const UNIFORM: u32 = 1 << 29;
    const HASHES: u32 = 1 << 31;

    fn has(self, flag: u32) -> bool {
        self.0 & flag != 0
    }

    /// Returns the number of restart points, or an error for unknown flags.
    fn restarts(self) -> Result<usize> {
        let count = self.0 & !(BlockTrailer::SEPARATE_VALUES | Self::UNIFORM | Self::HASHES);
        if count < BlockTrailer::SEPARATE_VALUES { Ok(count as usize) } else { Err(UNKNOWN_LAYOUT) }
    }
}

/// Lengths of a key's parts, at the start of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) shared: usize,
    pub(super) unshared: usize,
}

impl<'a> Layout<'a> {
    pub(super) fn parse(content: &'a [u8]) -> Result<Layout<'a>> {
        let (rest, word) = content.split_last_chunk::<4>().ok_or(TOO_SHORT)?;
        let word = BlockTrailer(u32::from_le_bytes(*word));
        let restarts = word.restarts()?;
        let mut rest = rest;
        let mut values_at = None;
        if word.has(BlockTrailer::SEPARATE_VALUES) {
            let (before, at) = rest.split_last_chunk::<4>().ok_or(TOO_SHORT)?;
            (rest, values_at) = (before, Some(u32::from_le_bytes(*at)));
        }
        if word.has(BlockTrailer::HASHES) {
            // A hash index over the restart points has one byte for each bucket, then the number of
            // buckets. A binary search does not need it.
            let (before, count) = rest.split_last_chunk::<2>().ok_or(TOO_SHORT)?;
            let buckets = usize::from(u16::from_le_bytes(*count));
            rest = &before[..before.len().checked_sub(buckets).ok_or(NO_RESTART)?];
        }
        let len = restarts.checked_mul(4).filter(|len| *len <= rest.len()).ok_or(NO_RESTART)?;
        let (rest, restarts) = rest.split_at(rest.len() - len);
        let (entries, values) = match values_at {
            Some(at) => rest.split_at_checked(at as usize).map(|(a, b)| (a, Some(b))).ok_or(NO_VALUES)?,
            None => (rest, None),
        };
        Ok(Layout { entries, restarts: restarts.as_chunks().0, values })
    }

    /// Parses an index block, whose values are never separate.
    pub(super) fn parse_index(content: &'a [u8]) -> Result<Layout<'a>> {
        let layout = Layout::parse(content)?;
        if layout.values.is_some() { Err(SEPARATE_VALUES) } else { Ok(layout) }
    }

    /// Returns the range of the values section, if values are separate.
    pub(super) fn values(&self) -> Option<Range<usize>> {
        self.values.map(|values| self.entries.len()..self.entries.len() + values.len())
    }

    /// Returns the offset of a restart point.
    fn restart(&self, i: usize) -> Result<usize> {
        let at = u32::from_le_bytes(self.restarts[i]) as usize;
        if at < self.entries.len() { Ok(at) } else { Err(NO_RESTART) }
    }

    /// Searches for the last restart point whose key is less according to `compare`, or the first
    /// restart point if there is none (binary search). `key_at` reads the key of a restart point.
    pub(super) fn search(
        &self,
        key_at: impl Fn(usize) -> Result<&'a [u8]>,
        compare: impl Fn(&[u8]) -> Result<Ordering>,
    ) -> Result<Position> {
        if self.entries.is_empty() {
            return Ok(Position::default());
        }
        let (mut low, mut high) = (0, self.restarts.len());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match compare(key_at(self.restart(middle)?)?)? {
                Ordering::Less => low = middle,
                _ => high = middle,
            }
        }
        if self.restarts.is_empty() {
            return Err(NO_RESTART);
        }
        Ok(Position { at: self.restart(low)?, value: 0, restarts: low })
    }

    /// Returns whether the entry at `at` is the next restart point, after `passed` others.
    fn is_restart(&self, at: usize, passed: usize) -> bool {
        self.restarts.get(passed).is_some_and(|restart| u32::from_le_bytes(*restart) as usize == at)
    }
}

/// Position of a walk over the entries of a block. Offsets are in the block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Position {
    /// Offset of the next entry.
    pub(super) at: usize,
    /// Offset of the end of the previous value; 0 where a walk starts, which is a restart point.
    value: usize,
    /// Number of restart points before the next entry.
    restarts: usize,
}

/// Turns `key`, the previous key, into the next key.
#[inline]
pub(super) fn extend(key: &mut Vec<u8>, head: Head, suffix: &[u8]) -> Result<()> {
    if head.shared > key.len() {
        return Err(SHARED);
    }
    key.truncate(head.shared);
    key.extend_from_slice(suffix);
    Ok(())
}

/// Iterates over the entries of a data or meta block, whose values have a length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    layout: Layout<'a>,
    pub(super) position: Position,
}

impl<'a> Cursor<'a> {
    /// Starts at the first entry.
    pub(super) fn new(layout: &Layout<'a>) -> Self {
        Cursor::from(layout, Position::default())
    }

    /// Continues at a position, with the key before it in `key`, or starts at a restart point.
    pub(super) fn from(layout: &Layout<'a>, position: Position) -> Self {
        Cursor { layout: *layout, position }
    }

    /// Returns the value of the next entry. Turns `key`, the previous key, into its key.
    #[inline]
    pub(super) fn next(&mut self, key: &mut Vec<u8>) -> Result<Option<&'a [u8]>> {
        let (layout, position) = (&self.layout, &mut self.position);
        let mut rest = Bytes(layout.entries.get(position.at..).unwrap_or_default());
        if rest.0.is_empty() {
            return Ok(None);
        }
        let (head, len) = sizes(&mut rest)?;
        let value = match layout.values {
            None => {
                let suffix = rest.take(head.unshared)?;
                extend(key, head, suffix)?;
                let value = rest.take(len)?;
                position.at = layout.entries.len() - rest.0.len();
                position.value = position.at;
                value
            }
            Some(values) => {
                let mut from = position.value.saturating_sub(layout.entries.len());
                if layout.is_restart(position.at, position.restarts) {
                    from = rest.varint32()? as usize;
                    position.restarts += 1;
                }
                let value = Bytes(values.get(from..).ok_or(NO_VALUES)?).take(len).map_err(|_| NO_VALUES)?;
                let suffix = rest.take(head.unshared)?;
                extend(key, head, suffix)?;
                position.at = layout.entries.len() - rest.0.len();
                position.value = layout.entries.len() + from + len;
                value
            }
        };
        Ok(Some(value))
    }

    /// Returns the range, in the block, of the value that `next` returned last.
    #[inline]
    pub(super) fn value_range(&self, value: &[u8]) -> Range<usize> {
        self.position.value - value.len()..self.position.value
    }
}

#[inline]
fn sizes(rest: &mut Bytes<'_>) -> Result<(Head, usize)> {
    // Most lengths are below 128, and take one byte each.
    if let [shared @ ..128, unshared @ ..128, len @ ..128, ref after @ ..] = *rest.0 {
        rest.0 = after;
        return Ok((Head { shared: shared.into(), unshared: unshared.into() }, len.into()));
    }
    let (shared, unshared, len) = (rest.varint32()?, rest.varint32()?, rest.varint32()?);
    Ok((Head { shared: shared as usize, unshared: unshared as usize }, len as usize))
}

/// Checks, during a walk over a block, that each restart point is an entry whose key shares
/// nothing with the key before.
pub(super) struct RestartCheck<'a> {
    layout: Layout<'a>,
    passed: usize,
}

/// Checks, during a walk over a block, that separate values are contiguous.
pub(super) struct ContiguityCheck {
    left: Option<Range<usize>>,
}

impl ContiguityCheck {
    pub(super) fn new(layout: &Layout<'_>) -> Self {
        ContiguityCheck { left: layout.values() }
    }

    /// Checks the next value.
    pub(super) fn pass(&mut self, position: Range<usize>) -> Result<()> {
        match &mut self.left {
            Some(left) if left.start != position.start => Err(NO_VALUES),
            Some(left) => {
                left.start = position.end;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Checks that all values were visited.
    pub(super) fn end(&self) -> Result<()> {
        if self.left.as_ref().is_none_or(Range::is_empty) { Ok(()) } else { Err(NO_VALUES) }
    }
}

impl<'a> RestartCheck<'a> {
    pub(super) fn new(layout: Layout<'a>) -> Self {
        RestartCheck { layout, passed: 0 }
    }

    /// Checks the entry at `at`. `key_at` reads the key of a restart point.
    pub(super) fn pass(&mut self, at: usize, key_at: impl Fn(usize) -> Result<&'a [u8]>) -> Result<()> {
        let left = at < self.layout.entries.len() && self.passed < self.layout.restarts.len();
        if left && self.layout.restart(self.passed)? == at {
            key_at(at)?;
            self.passed += 1;
        }
        Ok(())
    }

    /// Checks that all restart points were visited.
    pub(super) fn end(&self) -> Result<()> {
        let all = self.passed == self.layout.restarts.len();
        if all || self.layout.entries.is_empty() { Ok(()) } else { Err(NO_RESTART) }
    }
}

/// Returns the key of a restart point of a data block.
pub(super) fn restart_key<'a>(layout: &Layout<'a>, at: usize) -> Result<&'a [u8]> {
    let mut rest = Bytes(&layout.entries[at..]);
    let (head, _) = sizes(&mut rest)?;
    if layout.values.is_some() {
        rest.varint32()?;
    }
    if head.shared != 0 { Err(NO_RESTART) } else { rest.take(head.unshared) }
}

/// Finds the first entry of a data block that is not before `(target, sequence)`; higher sequence
/// numbers come first. Sets `key` to its key. Returns `None` if all entries are before it.
#[inline]
pub(super) fn seek<'a>(
    layout: &Layout<'a>,
    order: KeyOrder,
    target: &[u8],
    sequence: u64,
    key: &mut Vec<u8>,
) -> Result<(Cursor<'a>, Option<&'a [u8]>)> {
    let compare = |internal: &[u8]| {
        let (user, tail) = split(internal)?;
        Ok(order.compare(user, target).then_with(|| sequence.cmp(&(tail >> 8))))
    };
    let start = layout.search(|at| restart_key(layout, at), compare)?;
    let mut cursor = Cursor::from(layout, start);
    key.clear();
    while let Some(value) = cursor.next(key)? {
        if compare(key)? != Ordering::Less {
            return Ok((cursor, Some(value)));
        }
    }
    Ok((cursor, None))
}
