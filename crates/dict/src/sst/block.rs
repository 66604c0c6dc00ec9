//! The entries of a block that is decoded, and finding one among them.
//!
//! An entry has a key that shares its first bytes with the one before. Some entries share nothing: the
//! restarts, whose places stand at the end of the block, and where a search can begin.
//!
//! A value stands behind its key, or, since RocksDB 11, behind all entries, in their order: then a restart
//! says where its value is, and the word at the end where the values begin.

use std::cmp::Ordering;
use std::ops::Range;

use linerate_core::{Error, Kind, Result};

use super::bytes::{Bytes, SHORT};
use super::entry::split;
use super::order::KeyOrder;

const NO_RESTART: Error = Error::new(Kind::Corrupt, 0, "a block's table of restarts is no such table");
const NO_VALUES: Error = Error::new(Kind::Corrupt, 0, "a block says that its values are where none can be");
const NEW: Error = Error::new(Kind::Unsupported, 0, "a block has a layout that is not known");
const APART: Error = Error::new(Kind::Unsupported, 0, "an index with its values apart is not read");
const SHARED: Error = Error::new(Kind::Corrupt, 0, "a key shares more than the key before it has");

/// A block's parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout<'a> {
    pub(super) entries: &'a [u8],
    /// Offsets of entries, four bytes each.
    restarts: &'a [[u8; 4]],
    /// What follows the entries, if their values stand apart from them.
    values: Option<&'a [u8]>,
}

/// The word that ends a block: how many restarts there are, and what else the block has.
#[derive(Clone, Copy)]
struct Word(u32);

impl Word {
    const SEPARATE: u32 = 1 << 28;
    /// Of an index: that its keys are about evenly spread. It changes nothing in the block.
    const UNIFORM: u32 = 1 << 29;
    const HASHES: u32 = 1 << 31;

    fn has(self, flag: u32) -> bool {
        self.0 & flag != 0
    }

    /// The number of restarts, if no flag is set that is not known.
    fn restarts(self) -> Result<usize> {
        let count = self.0 & !(Self::SEPARATE | Self::UNIFORM | Self::HASHES);
        if count < Self::SEPARATE { Ok(count as usize) } else { Err(NEW) }
    }
}

/// Bytes of the sizes before an entry, decoded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) shared: usize,
    pub(super) unshared: usize,
}

impl<'a> Layout<'a> {
    pub(super) fn parse(content: &'a [u8]) -> Result<Layout<'a>> {
        let (rest, word) = content.split_last_chunk::<4>().ok_or(SHORT)?;
        let word = Word(u32::from_le_bytes(*word));
        let restarts = word.restarts()?;
        let mut rest = rest;
        let mut values_at = None;
        if word.has(Word::SEPARATE) {
            let (before, at) = rest.split_last_chunk::<4>().ok_or(SHORT)?;
            (rest, values_at) = (before, Some(u32::from_le_bytes(*at)));
        }
        if word.has(Word::HASHES) {
            // A hash index, which finds nothing that a search does not find: buckets of a byte each,
            // and how many.
            let (before, count) = rest.split_last_chunk::<2>().ok_or(SHORT)?;
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

    /// As `parse`, of a block of an index, whose values never stand apart.
    pub(super) fn parse_index(content: &'a [u8]) -> Result<Layout<'a>> {
        let layout = Layout::parse(content)?;
        if layout.values.is_some() { Err(APART) } else { Ok(layout) }
    }

    /// Where the values begin and end, if they stand apart.
    pub(super) fn values(&self) -> Option<Range<usize>> {
        self.values.map(|values| self.entries.len()..self.entries.len() + values.len())
    }

    /// Where the entry of a restart stands.
    fn restart(&self, i: usize) -> Result<usize> {
        let at = u32::from_le_bytes(self.restarts[i]) as usize;
        if at < self.entries.len() { Ok(at) } else { Err(NO_RESTART) }
    }

    /// The last restart whose key is before what `compare` looks for, or the first one: where to walk
    /// on from. `key_at` reads the key of a restart.
    pub(super) fn search(
        &self,
        key_at: impl Fn(usize) -> Result<&'a [u8]>,
        compare: impl Fn(&[u8]) -> Result<Ordering>,
    ) -> Result<Mark> {
        if self.entries.is_empty() {
            return Ok(Mark::default());
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
        Ok(Mark { at: self.restart(low)?, value: 0, restarts: low })
    }

    /// Whether an entry is the next restart, of which so many were passed.
    fn is_restart(&self, at: usize, passed: usize) -> bool {
        self.restarts.get(passed).is_some_and(|restart| u32::from_le_bytes(*restart) as usize == at)
    }
}

/// How far a walk is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    /// Where the next entry stands.
    pub(super) at: usize,
    /// Where the value of the last one ends; 0 before the first, which is a restart.
    value: usize,
    /// Restarts before the next entry.
    restarts: usize,
}

/// Makes the key from the one before it.
#[inline]
pub(super) fn extend(key: &mut Vec<u8>, head: Head, suffix: &[u8]) -> Result<()> {
    if head.shared > key.len() {
        return Err(SHARED);
    }
    key.truncate(head.shared);
    key.extend_from_slice(suffix);
    Ok(())
}

/// Goes through the entries of a block of data or of meta data, whose values have a length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk<'a> {
    layout: Layout<'a>,
    pub(super) mark: Mark,
}

impl<'a> Walk<'a> {
    /// From the first entry.
    pub(super) fn new(layout: &Layout<'a>) -> Self {
        Walk::from(layout, Mark::default())
    }

    /// From where another was, with the key before, or from a restart.
    pub(super) fn from(layout: &Layout<'a>, mark: Mark) -> Self {
        Walk { layout: *layout, mark }
    }

    /// The next entry: its value; `key`, the one before, becomes its key.
    #[inline]
    pub(super) fn next(&mut self, key: &mut Vec<u8>) -> Result<Option<&'a [u8]>> {
        let (layout, mark) = (&self.layout, &mut self.mark);
        let mut rest = Bytes(layout.entries.get(mark.at..).unwrap_or_default());
        if rest.0.is_empty() {
            return Ok(None);
        }
        let (head, len) = sizes(&mut rest)?;
        let value = match layout.values {
            None => {
                let suffix = rest.take(head.unshared)?;
                extend(key, head, suffix)?;
                let value = rest.take(len)?;
                mark.at = layout.entries.len() - rest.0.len();
                mark.value = mark.at;
                value
            }
            Some(values) => {
                let mut from = mark.value.saturating_sub(layout.entries.len());
                if layout.is_restart(mark.at, mark.restarts) {
                    from = rest.varint32()? as usize;
                    mark.restarts += 1;
                }
                let value = Bytes(values.get(from..).ok_or(NO_VALUES)?).take(len).map_err(|_| NO_VALUES)?;
                let suffix = rest.take(head.unshared)?;
                extend(key, head, suffix)?;
                mark.at = layout.entries.len() - rest.0.len();
                mark.value = layout.entries.len() + from + len;
                value
            }
        };
        Ok(Some(value))
    }

    /// Where in the block the value stands that `next` has just returned.
    #[inline]
    pub(super) fn place(&self, value: &[u8]) -> Range<usize> {
        self.mark.value - value.len()..self.mark.value
    }
}

#[inline]
fn sizes(rest: &mut Bytes<'_>) -> Result<(Head, usize)> {
    // Most sizes are below 128.
    if let [shared @ ..128, unshared @ ..128, len @ ..128, ref after @ ..] = *rest.0 {
        rest.0 = after;
        return Ok((Head { shared: shared.into(), unshared: unshared.into() }, len.into()));
    }
    let (shared, unshared, len) = (rest.varint32()?, rest.varint32()?, rest.varint32()?);
    Ok((Head { shared: shared as usize, unshared: unshared as usize }, len as usize))
}

/// Whether the restarts are entries that share nothing, told while a block is walked through.
pub(super) struct Restarts<'a> {
    layout: Layout<'a>,
    passed: usize,
}

/// Whether values that stand apart follow each other without gaps, told while a block is walked through.
pub(super) struct Gapless {
    left: Option<Range<usize>>,
}

impl Gapless {
    pub(super) fn new(layout: &Layout<'_>) -> Self {
        Gapless { left: layout.values() }
    }

    /// The next value stands at `place`.
    pub(super) fn pass(&mut self, place: Range<usize>) -> Result<()> {
        match &mut self.left {
            Some(left) if left.start != place.start => Err(NO_VALUES),
            Some(left) => {
                left.start = place.end;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The entries are at their end.
    pub(super) fn end(&self) -> Result<()> {
        if self.left.as_ref().is_none_or(Range::is_empty) { Ok(()) } else { Err(NO_VALUES) }
    }
}

impl<'a> Restarts<'a> {
    pub(super) fn new(layout: Layout<'a>) -> Self {
        Restarts { layout, passed: 0 }
    }

    /// An entry begins at `at`; `key_at` reads the key of a restart.
    pub(super) fn pass(&mut self, at: usize, key_at: impl Fn(usize) -> Result<&'a [u8]>) -> Result<()> {
        let left = at < self.layout.entries.len() && self.passed < self.layout.restarts.len();
        if left && self.layout.restart(self.passed)? == at {
            key_at(at)?;
            self.passed += 1;
        }
        Ok(())
    }

    /// The entries are at their end.
    pub(super) fn end(&self) -> Result<()> {
        let all = self.passed == self.layout.restarts.len();
        if all || self.layout.entries.is_empty() { Ok(()) } else { Err(NO_RESTART) }
    }
}

/// The key of a restart of a block of data.
pub(super) fn restart_key<'a>(layout: &Layout<'a>, at: usize) -> Result<&'a [u8]> {
    let mut rest = Bytes(&layout.entries[at..]);
    let (head, _) = sizes(&mut rest)?;
    if layout.values.is_some() {
        rest.varint32()?;
    }
    if head.shared != 0 { Err(NO_RESTART) } else { rest.take(head.unshared) }
}

/// Finds the first entry of a block of data that is not before `(target, sequence)`: later numbers
/// come first. `key` becomes its key; `None` if all are before it.
#[inline]
pub(super) fn seek<'a>(
    layout: &Layout<'a>,
    order: KeyOrder,
    target: &[u8],
    sequence: u64,
    key: &mut Vec<u8>,
) -> Result<(Walk<'a>, Option<&'a [u8]>)> {
    let compare = |internal: &[u8]| {
        let (user, tail) = split(internal)?;
        Ok(order.compare(user, target).then_with(|| sequence.cmp(&(tail >> 8))))
    };
    let start = layout.search(|at| restart_key(layout, at), compare)?;
    let mut walk = Walk::from(layout, start);
    key.clear();
    while let Some(value) = walk.next(key)? {
        if compare(key)? != Ordering::Less {
            return Ok((walk, Some(value)));
        }
    }
    Ok((walk, None))
}
