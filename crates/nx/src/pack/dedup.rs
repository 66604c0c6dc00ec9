//! Deduplication: finds pieces with the same bytes. Compares their lengths, then hashes of their
//! first page (only of pieces above a page, if no piece of that length has a known hash), then
//! hashes of all bytes, and finally the bytes themselves.
//!
//! Each step looks only at pieces that the step before could not tell apart: a piece of unique
//! length is never read, and two pieces count as equal only if every byte is.

use crate::block::memory::grow;
use crate::format::hash::HashKind;

use super::content::{Content, Item};
use super::error::PackResult;
use super::workers::Workers;

/// Bytes at the start of a piece that are hashed before all of it.
const PAGE: u64 = 4096;

/// A byte range of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) item: usize,
    pub(super) offset: u64,
    /// At least 1.
    pub(super) len: u64,
    /// XXH3-64 of the piece, if an existing archive stores it.
    pub(super) hash: Option<u64>,
}

/// The result for each piece.
pub(super) struct Duplicates {
    /// The index of the first piece with the same bytes; the piece's own index if it is the first.
    pub(super) first: Vec<usize>,
    /// XXH3-64 of the piece, if it was known before or needed for the comparison.
    pub(super) hash: Vec<Option<u64>>,
}

/// Finds equal pieces. Each thread reads at most `unit` bytes of two pieces at a time.
pub(super) fn find_duplicates(
    items: &[Item],
    pieces: &[Piece],
    unit: usize,
    workers: &Workers,
) -> PackResult<Duplicates> {
    Search { items, pieces, unit, workers, weaken: |hash| hash }.run()
}

struct Search<'a> {
    items: &'a [Item],
    pieces: &'a [Piece],
    unit: usize,
    workers: &'a Workers,
    /// Maps each hash of a whole piece. Tests drop all bits to force collisions.
    weaken: fn(u64) -> u64,
}

impl Search<'_> {
    fn run(&self) -> PackResult<Duplicates> {
        let mut found = Duplicates {
            first: (0..self.pieces.len()).collect(),
            hash: self.pieces.iter().map(|piece| piece.hash).collect(),
        };
        let mut candidates = Vec::new();
        let (mut whole, mut paged) = (Vec::new(), Vec::new());
        for group in groups((0..self.pieces.len()).map(|i| (self.pieces[i].len, i)).collect()) {
            // A known hash saves decoding its piece, but it can be compared only with hashes of
            // whole pieces.
            let known = group.iter().any(|&i| self.pieces[i].hash.is_some());
            let long = self.pieces[group[0]].len > PAGE;
            if long && !known { &mut paged } else { &mut whole }.extend(group);
        }
        for group in groups(self.keyed(&paged, |buffer, piece| self.hash(buffer, piece, PAGE))?) {
            whole.extend(group);
        }
        let hashed = self.keyed(&whole, |buffer, piece| match piece.hash {
            Some(hash) => Ok(hash),
            None => self.hash(buffer, piece, piece.len),
        })?;
        for &((_, hash), i) in &hashed {
            found.hash[i] = Some(hash);
        }
        let weak = hashed.into_iter().map(|((len, hash), i)| ((len, (self.weaken)(hash)), i)).collect();
        candidates.extend(groups(weak));
        let compared = self.workers.map(
            candidates.len(),
            || (Vec::new(), Vec::new()),
            |buffers, i| self.compare(buffers, &candidates[i]),
        )?;
        for (group, firsts) in candidates.iter().zip(compared) {
            for (&piece, first) in group.iter().zip(firsts) {
                found.first[piece] = first;
            }
        }
        Ok(found)
    }

    /// Returns the length and hash of each of the given pieces.
    fn keyed(
        &self,
        which: &[usize],
        hash: impl Fn(&mut Vec<u8>, &Piece) -> PackResult<u64> + Sync,
    ) -> PackResult<Vec<((u64, u64), usize)>> {
        let hashes =
            self.workers.map(which.len(), Vec::new, |buffer, i| hash(buffer, &self.pieces[which[i]]))?;
        Ok(which.iter().zip(hashes).map(|(&i, hash)| ((self.pieces[i].len, hash), i)).collect())
    }

    /// Returns the hash of the first `len` bytes of a piece.
    fn hash(&self, buffer: &mut Vec<u8>, piece: &Piece, len: u64) -> PackResult<u64> {
        self.workers.cancel.step()?;
        hash_range(&self.items[piece.item], piece.offset, len, self.unit, buffer)
    }

    /// For each piece of a group with equal hashes, returns the first piece with the same bytes.
    fn compare(&self, buffers: &mut (Vec<u8>, Vec<u8>), group: &[usize]) -> PackResult<Vec<usize>> {
        let mut different: Vec<usize> = Vec::new();
        let mut firsts = Vec::with_capacity(group.len());
        for &piece in group {
            self.workers.cancel.step()?;
            let mut first = None;
            for &other in &different {
                if self.equal(buffers, other, piece)? {
                    first = Some(other);
                    break;
                }
            }
            if first.is_none() {
                different.push(piece);
            }
            firsts.push(first.unwrap_or(piece));
        }
        Ok(firsts)
    }

    fn equal(&self, (a, b): &mut (Vec<u8>, Vec<u8>), one: usize, other: usize) -> PackResult<bool> {
        let (one, other) = (&self.pieces[one], &self.pieces[other]);
        if let (Content::Existing(a), Content::Existing(b)) =
            (&self.items[one.item].content, &self.items[other.item].content)
            && one.offset == other.offset
            && a.shares_place(b)
        {
            return Ok(true);
        }
        let mut at = 0;
        while at < one.len {
            let len = (one.len - at).min(self.unit as u64) as usize;
            grow(a, len, 0)?;
            grow(b, len, 0)?;
            self.items[one.item].read_at(one.offset + at, a)?;
            self.items[other.item].read_at(other.offset + at, b)?;
            if a != b {
                return Ok(false);
            }
            at += len as u64;
        }
        Ok(true)
    }
}

/// Returns the XXH3-64 of a byte range of a file. Reads at most `unit` bytes at a time.
pub(super) fn hash_range(
    item: &Item,
    offset: u64,
    len: u64,
    unit: usize,
    buffer: &mut Vec<u8>,
) -> PackResult<u64> {
    let mut hasher = HashKind::Xxh3.hasher();
    let mut at = 0;
    while at < len {
        grow(buffer, (len - at).min(unit as u64) as usize, 0)?;
        item.read_at(offset + at, buffer)?;
        hasher.update(buffer);
        at += buffer.len() as u64;
    }
    Ok(hasher.finish())
}

/// Groups the pieces by key, and drops groups of one.
fn groups<K: Ord>(mut keyed: Vec<(K, usize)>) -> Vec<Vec<usize>> {
    keyed.sort_unstable();
    let shared = keyed.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1);
    shared.map(|group| group.iter().map(|(_, i)| *i).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::options::FileOptions;

    fn items(contents: &[&[u8]]) -> Vec<Item> {
        let item = |bytes: &&[u8]| Item {
            name: "x".into(),
            size: bytes.len() as u64,
            content: Content::Bytes(bytes.to_vec()),
            file_options: FileOptions::default(),
        };
        contents.iter().map(item).collect()
    }

    fn whole(items: &[Item]) -> Vec<Piece> {
        let piece = |(item, it): (usize, &Item)| Piece { item, offset: 0, len: it.size, hash: None };
        items.iter().enumerate().map(piece).collect()
    }

    #[test]
    fn equal_pieces_map_to_the_first_of_them() {
        let mut long = vec![7; 10_000];
        let copy = long.clone();
        long[9_999] = 8;
        let items = items(&[b"ab", &copy, b"cd", b"ab", &long, &copy, b"abc", b"cd"]);
        for threads in [1, 3] {
            for unit in [1, 512, 1 << 20] {
                let found = find_duplicates(&items, &whole(&items), unit, &threads.into()).expect("readable");
                assert_eq!(found.first, [0, 1, 2, 0, 4, 1, 6, 2], "{threads} {unit}");
                assert_eq!(found.hash[6], None, "a unique length is not read");
                assert_eq!(found.hash[1], found.hash[5]);
            }
        }
    }

    #[test]
    fn pieces_with_equal_hashes_but_different_bytes_are_not_duplicates() {
        let items = items(&[b"ab", b"cd", b"ab", b"ef", b"cd"]);
        let pieces = whole(&items);
        let search = Search { items: &items, pieces: &pieces, unit: 64, workers: &2.into(), weaken: |_| 0 };
        assert_eq!(search.run().expect("readable").first, [0, 1, 0, 3, 1]);
    }

    #[test]
    fn ranges_of_one_file_can_be_duplicates() {
        let items = items(&[b"abcabcab"]);
        let piece = |offset, len| Piece { item: 0, offset, len, hash: None };
        let pieces = [piece(0, 3), piece(3, 3), piece(6, 2)];
        assert_eq!(find_duplicates(&items, &pieces, 64, &1.into()).expect("readable").first, [0, 0, 2]);
    }
}
