//! The entries of a block that is decoded, and finding one among them.
//!
//! An entry has a key that shares its first bytes with the one before. Some entries share nothing: the
//! restarts, whose places stand at the end of the block, and where a search can begin.

use std::cmp::Ordering;

use linerate_core::{Error, Kind, Result};

use super::bytes::{Bytes, SHORT};
use super::entry::split;
use super::order::KeyOrder;

const NO_RESTART: Error = Error::new(Kind::Corrupt, 0, "a block's table of restarts is no such table");
const SHARED: Error = Error::new(Kind::Corrupt, 0, "a key shares more than the key before it has");

/// A block's parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout<'a> {
    pub(super) entries: &'a [u8],
    /// Offsets of entries, four bytes each.
    restarts: &'a [[u8; 4]],
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
        let word = u32::from_le_bytes(*word);
        let mut rest = rest;
        if word >> 31 == 1 {
            // A hash index, which finds nothing that a search does not find: buckets of a byte each,
            // and how many.
            let (before, count) = rest.split_last_chunk::<2>().ok_or(SHORT)?;
            let buckets = usize::from(u16::from_le_bytes(*count));
            rest = &before[..before.len().checked_sub(buckets).ok_or(NO_RESTART)?];
        }
        let count = (word & 0x7fff_ffff) as usize;
        let len = count.checked_mul(4).filter(|len| *len <= rest.len()).ok_or(NO_RESTART)?;
        let (entries, restarts) = rest.split_at(rest.len() - len);
        Ok(Layout { entries, restarts: restarts.as_chunks().0 })
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
    ) -> Result<usize> {
        if self.entries.is_empty() {
            return Ok(0);
        }
        let (mut low, mut high) = (0, self.restarts.len());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match compare(key_at(self.restart(middle)?)?)? {
                Ordering::Less => low = middle,
                _ => high = middle,
            }
        }
        if self.restarts.is_empty() { Err(NO_RESTART) } else { self.restart(low) }
    }
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
    entries: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Walk<'a> {
    /// From the first entry, or from the one at `at`, which must share nothing unless `key` is the
    /// one before it.
    pub(super) fn new(layout: &Layout<'a>, at: usize) -> Self {
        Walk { entries: layout.entries, at }
    }

    /// The next entry: its value; `key`, the one before, becomes its key.
    #[inline]
    pub(super) fn next(&mut self, key: &mut Vec<u8>) -> Result<Option<&'a [u8]>> {
        let mut rest = Bytes(self.entries.get(self.at..).unwrap_or_default());
        if rest.0.is_empty() {
            return Ok(None);
        }
        let (head, len) = sizes(&mut rest)?;
        let suffix = rest.take(head.unshared)?;
        let value = rest.take(len)?;
        extend(key, head, suffix)?;
        self.at = self.entries.len() - rest.0.len();
        Ok(Some(value))
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
    let mut walk = Walk::new(layout, start);
    key.clear();
    while let Some(value) = walk.next(key)? {
        if compare(key)? != Ordering::Less {
            return Ok((walk, Some(value)));
        }
    }
    Ok((walk, None))
}
