//! The index of a pack: a row for each dictionary, and its users.

use linerate_core::{Error, Kind, Result};

use super::layout::corrupt;
use crate::files::fields::{put, u32_at, u64_at};

const MAGIC: &[u8; 8] = b"LRPKIDX\n";
/// Number of bytes before the rows.
const HEAD: usize = 64;
const ROW: usize = 80;
/// Flag of a removed dictionary that stays because others are compressed with it.
const REMOVED: u8 = 1;
/// Maximum length of a dictionary in a pack, in bytes.
pub(super) const MAX_LEN: u32 = 64 << 20;
/// Minimum length of a dictionary, in bytes, as in a store.
pub(super) const MIN_LEN: u32 = 8;

/// The form in which a dictionary is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Uncompressed.
    Uncompressed,
    /// One zstd frame.
    Compressed,
    /// One zstd frame with a raw-content dictionary, which is the dictionary of this ID without its
    /// first eight bytes.
    CompressedWith(u64),
}

/// A dictionary in a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// ID in this pack, never reused.
    pub id: u64,
    /// Length in bytes.
    pub len: u32,
    /// [`content_hash`](crate::content_hash) of the dictionary.
    pub hash: u64,
    /// Dictionary_ID (RFC 8878, section 5); 0 for raw content.
    pub zstd_id: u32,
    /// Accuracy logs of the tables of literal lengths, match lengths and offsets, and the Huffman
    /// table log. All are 0 for raw content.
    pub table_logs: [u8; 4],
    /// The cluster that the dictionary was added to.
    pub cluster: u32,
    /// The stored form.
    pub storage: Storage,
    /// Offset in the file.
    pub offset: u64,
    /// Number of stored bytes.
    pub stored_len: u32,
    /// Number of users.
    pub users: u32,
    /// Whether the dictionary was removed, and stays because others are compressed with it.
    pub(super) removed: bool,
}

impl Entry {
    fn write(&self, out: &mut Vec<u8>) {
        let mut row = [0; ROW];
        let (form, base) = match self.storage {
            Storage::Uncompressed => (0, 0),
            Storage::Compressed => (1, 0),
            Storage::CompressedWith(base) => (2, base),
        };
        put(&mut row, 0, &self.id.to_le_bytes());
        put(&mut row, 8, &self.offset.to_le_bytes());
        put(&mut row, 16, &self.stored_len.to_le_bytes());
        put(&mut row, 20, &self.len.to_le_bytes());
        put(&mut row, 24, &self.hash.to_le_bytes());
        put(&mut row, 32, &u64::to_le_bytes(base));
        put(&mut row, 40, &self.zstd_id.to_le_bytes());
        put(&mut row, 44, &self.cluster.to_le_bytes());
        put(&mut row, 48, &self.table_logs);
        row[52] = form;
        row[53] = if self.removed { REMOVED } else { 0 };
        put(&mut row, 56, &self.users.to_le_bytes());
        out.extend_from_slice(&row);
    }

    /// Reads a row. The caller checks that all other bytes are zero, by writing the row again.
    fn read(row: &[u8]) -> Entry {
        let form = match row[52] {
            0 => Storage::Uncompressed,
            1 => Storage::Compressed,
            _ => Storage::CompressedWith(u64_at(row, 32)),
        };
        Entry {
            id: u64_at(row, 0),
            offset: u64_at(row, 8),
            stored_len: u32_at(row, 16),
            len: u32_at(row, 20),
            hash: u64_at(row, 24),
            zstd_id: u32_at(row, 40),
            cluster: u32_at(row, 44),
            table_logs: [row[48], row[49], row[50], row[51]],
            storage: form,
            users: u32_at(row, 56),
            removed: row[53] & REMOVED != 0,
        }
    }
}

/// The index of a pack, in serialized form.
#[derive(Debug)]
pub(super) struct Index {
    bytes: Vec<u8>,
    entries: usize,
    /// For each row, the number of users of all rows before it; then the number of all users.
    user_starts: Vec<u32>,
}

impl Index {
    /// Validates an index. All dictionaries must end at or before `end`. Offsets of errors are
    /// relative to the index.
    pub(super) fn parse(bytes: Vec<u8>, end: u64) -> Result<Index> {
        if bytes.len() < HEAD || !bytes.starts_with(MAGIC) {
            return Err(inconsistent(0));
        }
        let (entries, users) = (u64_at(&bytes, 24), u64_at(&bytes, 32));
        let len = entries
            .checked_mul(ROW as u64)
            .and_then(|rows| users.checked_mul(8)?.checked_add(rows)?.checked_add(HEAD as u64));
        if len != Some(bytes.len() as u64) {
            return Err(inconsistent(24));
        }
        if bytes[40..HEAD].iter().any(|&byte| byte != 0) {
            return Err(Error::new(Kind::Unsupported, 40, "the index of a pack uses reserved fields"));
        }
        let mut index = Index { bytes, entries: entries as usize, user_starts: Vec::new() };
        index.check_rows(end)?;
        index.user_starts = index.count_users(users)?;
        let sorted = |i: &usize| index.users_of(*i).is_sorted_by(|a, b| a < b);
        match (0..index.entries).find(|i| !sorted(i)) {
            None => Ok(index),
            Some(i) => Err(inconsistent(HEAD + i * ROW + 56)),
        }
    }

    fn check_rows(&self, end: u64) -> Result<()> {
        let mut before = 0;
        let mut known_base = 0;
        let mut again = Vec::with_capacity(ROW);
        for i in 0..self.entries {
            let at = HEAD + i * ROW;
            let entry = self.entry(i);
            again.clear();
            entry.write(&mut again);
            if again != self.bytes[at..at + ROW] {
                return Err(Error::new(Kind::Unsupported, at as u64, "a row of a pack uses reserved fields"));
            }
            let inside = entry.offset.checked_add(entry.stored_len.into()).is_some_and(|after| after <= end);
            let plain = entry.storage != Storage::Uncompressed || entry.stored_len == entry.len;
            let sizes = (MIN_LEN..=MAX_LEN).contains(&entry.len) && plain;
            let idle = !entry.removed || entry.users == 0;
            if entry.id <= before || entry.id >= self.next_id() || !inside || !sizes || !idle {
                return Err(inconsistent(at));
            }
            before = entry.id;
            if let Storage::CompressedWith(base) = entry.storage
                && base != known_base
            {
                // A base is never compressed with another dictionary.
                match self.position(base).map(|base| self.entry(base).storage) {
                    Some(Storage::Uncompressed | Storage::Compressed) => known_base = base,
                    _ => return Err(inconsistent(at + 32)),
                }
            }
        }
        Ok(())
    }

    fn count_users(&self, users: u64) -> Result<Vec<u32>> {
        let mut user_starts = Vec::with_capacity(self.entries + 1);
        user_starts.push(0);
        let mut sum = 0u32;
        for i in 0..self.entries {
            sum = sum.checked_add(self.entry(i).users).ok_or(inconsistent(32))?;
            user_starts.push(sum);
        }
        if u64::from(sum) == users { Ok(user_starts) } else { Err(inconsistent(32)) }
    }

    /// Serializes an index of rows and their users.
    pub(super) fn write(generation: u64, next_id: u64, rows: &[(Entry, Vec<u64>)]) -> Vec<u8> {
        let users: usize = rows.iter().map(|(_, users)| users.len()).sum();
        let mut out = Vec::with_capacity(HEAD + rows.len() * ROW + users * 8);
        out.extend_from_slice(MAGIC);
        for field in [generation, next_id, rows.len() as u64, users as u64] {
            out.extend(field.to_le_bytes());
        }
        out.resize(HEAD, 0);
        rows.iter().for_each(|(entry, _)| entry.write(&mut out));
        out.extend(rows.iter().flat_map(|(_, users)| users.iter().flat_map(|user| user.to_le_bytes())));
        out
    }

    pub(super) fn generation(&self) -> u64 {
        u64_at(&self.bytes, 8)
    }

    /// Returns the ID of the next dictionary.
    pub(super) fn next_id(&self) -> u64 {
        u64_at(&self.bytes, 16)
    }

    /// Returns the number of rows, removed dictionaries included.
    pub(super) fn len(&self) -> usize {
        self.entries
    }

    /// Returns the `i`th row.
    pub(super) fn entry(&self, i: usize) -> Entry {
        Entry::read(&self.bytes[HEAD + i * ROW..][..ROW])
    }

    /// Returns the position of the row with this ID.
    pub(super) fn position(&self, id: u64) -> Option<usize> {
        let (mut low, mut high) = (0, self.entries);
        while low < high {
            let middle = low.midpoint(high);
            let found = u64_at(&self.bytes, HEAD + middle * ROW);
            if found == id {
                return Some(middle);
            }
            if found < id {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        None
    }

    /// Returns the user IDs of the `i`th row.
    pub(super) fn users_of(&self, i: usize) -> impl Iterator<Item = u64> + '_ {
        let all = &self.bytes[HEAD + self.entries * ROW..];
        let own = &all[8 * self.user_starts[i] as usize..8 * self.user_starts[i + 1] as usize];
        own.as_chunks().0.iter().map(|user| u64::from_le_bytes(*user))
    }
}

fn inconsistent(at: usize) -> Error {
    corrupt(at as u64, "the index of the pack is inconsistent")
}
