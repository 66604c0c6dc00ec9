//! Range deletions, which are stored apart from the entries.

use std::cmp::Ordering;

use linerate_core::{Error, Kind, Result};

use super::block::{Cursor, Layout};
use super::entry::split;
use super::order::KeyOrder;

/// The deletion of all keys in `start..end`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RangeDeletion {
    /// The first key.
    pub start: Vec<u8>,
    /// The first key after the range.
    pub end: Vec<u8>,
    /// Sequence number. Older entries are deleted.
    pub sequence: u64,
}

/// Parses the block of range deletions, which may take `limit` bytes of memory.
pub(super) fn parse(content: &[u8], limit: usize) -> Result<Vec<RangeDeletion>> {
    let mut cursor = Cursor::new(&Layout::parse(content)?);
    let (mut key, mut all, mut taken) = (Vec::new(), Vec::new(), 0);
    while let Some(end) = cursor.next(&mut key)? {
        let (start, tail) = split(&key)?;
        taken += size_of::<RangeDeletion>() + start.len() + end.len();
        if taken > limit {
            return Err(Error::new(Kind::Limit, 0, "the range deletions of the file exceed the limit"));
        }
        all.push(RangeDeletion { start: start.to_vec(), end: end.to_vec(), sequence: tail >> 8 });
    }
    Ok(all)
}

/// Returns the highest sequence number, up to `sequence`, of a range deletion that contains `key`.
pub(super) fn covering(all: &[RangeDeletion], order: KeyOrder, key: &[u8], sequence: u64) -> Option<u64> {
    let covers = |range: &&RangeDeletion| {
        range.sequence <= sequence
            && order.compare(&range.start, key) != Ordering::Greater
            && order.compare(key, &range.end) == Ordering::Less
    };
    all.iter().filter(covers).map(|range| range.sequence).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_exclude_their_end() {
        let range = |start: &[u8], end: &[u8], sequence| RangeDeletion {
            start: start.into(),
            end: end.into(),
            sequence,
        };
        let all = [range(b"b", b"d", 5), range(b"c", b"x", 3)];
        let find = |key: &[u8], sequence| covering(&all, KeyOrder::Bytewise, key, sequence);
        assert_eq!(find(b"a", u64::MAX), None);
        assert_eq!(find(b"b", u64::MAX), Some(5));
        assert_eq!(find(b"c", 4), Some(3));
        assert_eq!(find(b"c", 2), None);
        assert_eq!(find(b"d", u64::MAX), Some(3));
        assert_eq!(find(b"x", u64::MAX), None);
        assert_eq!(covering(&[range(b"d", b"b", 5)], KeyOrder::Reverse, b"c", 9), Some(5));
    }
}
