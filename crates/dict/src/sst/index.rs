//! Index blocks. For each data block they have a handle and a separator key, which is not less than
//! the block's last key.
//!
//! The keys are internal keys or user keys. In version 4 and newer, entries that share no bytes
//! with the previous key have full handles, as restart points do. Other entries have only the
//! difference of their block's size from the previous block's size; their block follows that block
//! directly. An index may be partitioned: its top level then has the handles of index blocks.

use std::cmp::Ordering;
use std::sync::OnceLock;

use linerate_core::{Error, Kind, Result};

use super::block::{Head, Layout, RestartCheck, extend};
use super::bytes::{Bytes, TOO_SHORT};
use super::entry::split;
use super::handle::Handle;
use super::order::KeyOrder;

const OUT_OF_BOUNDS: Error = Error::new(Kind::Corrupt, 0, "an index entry is out of the bounds of the file");
const UNORDERED: Error = Error::new(Kind::Corrupt, 0, "the keys of an index are not in order");
const SHARED_RESTART: Error =
    Error::new(Kind::Corrupt, 0, "a restart point of an index shares bytes with another key");

/// Kind of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexKind {
    /// One block, searched by binary search.
    BinarySearch,
    /// Like `BinarySearch`, with hashes of prefixes, which are ignored.
    Hash,
    /// Two levels; partitions are read when they are needed.
    Partitioned,
    /// One block, which also has the first key of each data block.
    WithFirstKey,
}

impl IndexKind {
    pub(super) fn from_number(number: u32) -> Option<IndexKind> {
        use IndexKind::*;
        [BinarySearch, Hash, Partitioned, WithFirstKey].get(number as usize).copied()
    }

    /// Returns a name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            IndexKind::BinarySearch => "binary search",
            IndexKind::Hash => "hash",
            IndexKind::Partitioned => "partitioned",
            IndexKind::WithFirstKey => "with first keys",
        }
    }
}

/// Encoding of index entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexEncoding {
    pub(super) kind: IndexKind,
    /// Whether keys are user keys, without sequence number and type.
    pub(super) user_keys: bool,
    /// Whether handles are delta-encoded, and values have no length.
    pub(super) delta: bool,
}

/// A partition of a partitioned index.
pub(super) struct Partition {
    pub(super) handle: Handle,
    pub(super) content: OnceLock<Box<[u8]>>,
}

/// Iterates over the entries of one index block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IndexCursor {
    at: usize,
    previous: Handle,
}

/// An index entry, before its key is assembled.
struct IndexEntry<'a> {
    head: Head,
    suffix: &'a [u8],
    handle: Handle,
}

impl IndexCursor {
    fn step<'a>(&mut self, layout: &Layout<'a>, encoding: IndexEncoding) -> Result<Option<IndexEntry<'a>>> {
        let mut rest = Bytes(layout.entries.get(self.at..).unwrap_or_default());
        if rest.0.is_empty() {
            return Ok(None);
        }
        let head = Head { shared: rest.varint32()? as usize, unshared: rest.varint32()? as usize };
        let len = if encoding.delta { None } else { Some(rest.varint32()? as usize) };
        let suffix = rest.take(head.unshared)?;
        let mut value = match len {
            Some(len) => Bytes(rest.take(len)?),
            None => rest,
        };
        let handle = self.handle(&mut value, head, encoding)?;
        if encoding.kind == IndexKind::WithFirstKey {
            value.prefixed()?;
        }
        if len.is_none() {
            rest = value;
        }
        self.at = layout.entries.len() - rest.0.len();
        self.previous = handle;
        Ok(Some(IndexEntry { head, suffix, handle }))
    }

    fn handle(&self, value: &mut Bytes<'_>, head: Head, encoding: IndexEncoding) -> Result<Handle> {
        if !encoding.delta || head.shared == 0 {
            return Handle::read(value);
        }
        let size = self.previous.size.checked_add_signed(value.zigzag64()?).ok_or(OUT_OF_BOUNDS)?;
        Ok(Handle::new(self.previous.end().ok_or(OUT_OF_BOUNDS)?, size))
    }

    /// Returns the handle of the next entry.
    pub(super) fn next(&mut self, layout: &Layout<'_>, encoding: IndexEncoding) -> Result<Option<Handle>> {
        Ok(self.step(layout, encoding)?.map(|step| step.handle))
    }

    /// Returns the handle of the next entry. Turns `key`, the previous key, into its key.
    pub(super) fn next_with_key(
        &mut self,
        layout: &Layout<'_>,
        encoding: IndexEncoding,
        key: &mut Vec<u8>,
    ) -> Result<Option<Handle>> {
        let Some(step) = self.step(layout, encoding)? else { return Ok(None) };
        extend(key, step.head, step.suffix)?;
        Ok(Some(step.handle))
    }
}

/// Returns the key of a restart point.
fn restart_key<'a>(layout: &Layout<'a>, at: usize, encoding: IndexEncoding) -> Result<&'a [u8]> {
    let mut rest = Bytes(layout.entries.get(at..).ok_or(TOO_SHORT)?);
    let (shared, unshared) = (rest.varint32()?, rest.varint32()?);
    if !encoding.delta {
        rest.varint32()?;
    }
    if shared != 0 { Err(SHARED_RESTART) } else { rest.take(unshared as usize) }
}

/// Compares a key of an index with a lookup key.
pub(super) fn compare(
    key: &[u8],
    encoding: IndexEncoding,
    order: KeyOrder,
    target: &[u8],
    sequence: u64,
) -> Result<Ordering> {
    if encoding.user_keys {
        return Ok(order.compare(key, target));
    }
    let (user, tail) = split(key)?;
    Ok(order.compare(user, target).then_with(|| sequence.cmp(&(tail >> 8))))
}

/// Finds the first entry that is not before `(target, sequence)`. Returns its handle, and the
/// cursor after it. `key` is a buffer.
pub(super) fn seek(
    layout: &Layout<'_>,
    encoding: IndexEncoding,
    order: KeyOrder,
    target: &[u8],
    sequence: u64,
    key: &mut Vec<u8>,
) -> Result<Option<(Handle, IndexCursor)>> {
    let start = layout.search(
        |at| restart_key(layout, at, encoding),
        |found| compare(found, encoding, order, target, sequence),
    )?;
    let mut steps = IndexCursor { at: start.at, previous: Handle::default() };
    key.clear();
    while let Some(handle) = steps.next_with_key(layout, encoding, key)? {
        if compare(key, encoding, order, target, sequence)? != Ordering::Less {
            return Ok(Some((handle, steps)));
        }
    }
    Ok(None)
}

/// Checks the restart points of a block, and that its keys are in order.
pub(super) fn verify(layout: Layout<'_>, encoding: IndexEncoding, order: KeyOrder) -> Result<()> {
    let (mut steps, mut key, mut before) = (IndexCursor::default(), Vec::new(), None::<Vec<u8>>);
    let mut restarts = RestartCheck::new(layout);
    loop {
        restarts.pass(steps.at, |at| restart_key(&layout, at, encoding))?;
        if steps.next_with_key(&layout, encoding, &mut key)?.is_none() {
            return restarts.end();
        }
        if let Some(before) = &before {
            let (user, sequence) = if encoding.user_keys { (&before[..], 0) } else { split(before)? };
            if compare(&key, encoding, order, user, sequence >> 8)? == Ordering::Less {
                return Err(UNORDERED);
            }
        }
        before.get_or_insert_default().clone_from(&key);
    }
}

/// Returns the partitions of an index in a file of `len` bytes. They do not overlap, which bounds
/// their number.
pub(super) fn partitions(layout: &Layout<'_>, encoding: IndexEncoding, len: u64) -> Result<Vec<Partition>> {
    let mut found = Vec::new();
    let (mut steps, mut end) = (IndexCursor::default(), 0);
    while let Some(handle) = steps.next(layout, encoding)? {
        end = follow(handle, end, len)?;
        found.push(Partition { handle, content: OnceLock::new() });
    }
    Ok(found)
}

/// Checks that a block is after `end` and within `len` bytes. Returns its end, which is greater
/// than `end`, so that iteration over a damaged index terminates.
pub(super) fn follow(handle: Handle, end: u64, len: u64) -> Result<u64> {
    match handle.end() {
        Some(next) if handle.offset >= end && next <= len => Ok(next),
        _ => Err(OUT_OF_BOUNDS),
    }
}
