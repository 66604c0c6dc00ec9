//! Block files: arbitrary bytes as a file, as a file with correct hashes, and as parts of one.

use std::cell::RefCell;

use linerate_dict::blocks::{BlockFile, Reader};
use linerate_dict::{Input, Kind, Store, content_hash};

use crate::files::{field, put, seal};

/// Bytes of a file's header.
const HEADER: usize = 64;
/// Bytes of a file's footer.
const FOOTER: usize = 128;
/// Bytes of records after which the scan of a file is given up.
const MOST: usize = 1 << 22;

thread_local! {
    static READER: RefCell<(Store, Reader)> = {
        let store = Store::new();
        let reader = Reader::new(&store);
        RefCell::new((store, reader))
    };
}

/// Reads the bytes as a block file, as one with corrected hashes, and as the records of a data
/// block, an index block or the root of a file that is valid otherwise; the first byte then
/// chooses.
///
/// # Panics
/// If a verified file does not have its records in order, or lookups disagree about a key.
pub fn dict_blocks(data: &[u8]) {
    file(data);
    file(&resealed(data));
    let Some((&kind, part)) = data.split_first() else { return };
    file(&assembled(kind, part));
}

fn file(bytes: &[u8]) {
    READER.with_borrow_mut(|(store, reader)| {
        if let Ok(file) = BlockFile::open_input(Input::memory(bytes), store) {
            read(&file, reader);
        }
        assert_eq!(store.stats().dictionaries, 0);
    });
}

fn read(file: &BlockFile, reader: &mut Reader) {
    let sound = file.verify(reader).is_ok();
    let mut records = Vec::new();
    let mut bytes = 0;
    for record in file.scan::<&[u8]>(reader, ..) {
        let (key, value) = match record {
            Ok(record) => record,
            Err(e) => {
                assert!(!sound);
                assert!(matches!(e.kind, Kind::Corrupt | Kind::Truncated | Kind::Unsupported), "{e}");
                break;
            }
        };
        bytes += 1 + key.len() + value.len();
        if bytes > MOST {
            return;
        }
        records.push((key, value));
    }
    assert!(!sound || records.is_sorted_by(|a, b| a.0 < b.0));
    assert!(!sound || records.len() as u64 == file.stats().counts.records);
    let keys: Vec<&[u8]> = records.iter().take(100).map(|(key, _)| &key[..]).collect();
    let many = file.multi_get(reader, &keys);
    for (i, value) in many.iter().enumerate() {
        let single = file.get(reader, keys[i]).map(|value| value.map(<[u8]>::to_vec));
        assert_eq!(value, &single);
        assert!(!sound || single == Ok(Some(records[i].1.clone())));
    }
    let from = records.get(records.len() / 2).map(|record| record.0.clone()).unwrap_or_default();
    let rest = file.scan(reader, from..).map_while(Result::ok).take(100).count();
    assert!(!sound || rest == (records.len() - records.len() / 2).min(100));
}

/// The file `data` with correct hashes of the header, the first index block, the root and the
/// footer, and with its length in the footer.
fn resealed(data: &[u8]) -> Vec<u8> {
    let mut bytes = data.to_vec();
    let len = bytes.len();
    if len < HEADER + FOOTER {
        return bytes;
    }
    seal(&mut bytes[..HEADER]);
    let sealed = field(&bytes, HEADER - 8);
    let (body, footer) = bytes.split_at_mut(len - FOOTER);
    let (at, root_len) =
        (field(footer, 8).min(len as u64) as usize, field(footer, 16).min(len as u64) as usize);
    if let Some((before, root)) = body.split_at_mut_checked(at)
        && let Some(root) = root.get_mut(..root_len)
    {
        // The first record of the root has 3 bytes with lengths, an empty key, and the place of an
        // index block.
        if let Some(branch) = root.get_mut(3..27) {
            let (at, len) = (field(branch, 0) as usize, field(branch, 8) as u32 as usize);
            if let Some(leaf) = at.checked_add(len).and_then(|end| before.get(at..end)) {
                put(branch, 16, content_hash(leaf));
            }
        }
        put(footer, 24, content_hash(root));
    }
    put(footer, 96, len as u64);
    put(footer, 104, sealed);
    seal(footer);
    bytes
}

/// A block of one record with the empty key.
fn single(value: &[u8]) -> Vec<u8> {
    let mut block = vec![0, 0, value.len() as u8];
    block.extend_from_slice(value);
    block.extend([0, 0, 0, 0, 1, 0, 0, 0]);
    block
}

/// A file of one data block. The lowest two bits of `kind` say what `part` replaces: 0 the content
/// of the block, 1 the index block, 2 the root, 3 nothing.
fn assembled(kind: u8, part: &[u8]) -> Vec<u8> {
    let content = if kind & 3 == 0 { part.to_vec() } else { single(b"value") };
    let mut frame = Vec::with_capacity(zstd_safe::compress_bound(content.len()));
    zstd_safe::compress(&mut frame, &content, 1).expect("room");
    let mut bytes = b"\x89LRBLKS\n\x01\0\x01\0\0\x10\0\0".to_vec();
    bytes.resize(HEADER, 0);
    seal(&mut bytes);
    let sealed = field(&bytes, HEADER - 8);
    let mut place = [0; 28];
    put(&mut place, 0, bytes.len() as u64);
    put(&mut place, 8, frame.len() as u64 | (content.len() as u64) << 32);
    place[16] = (kind >> 2).max(1);
    put(&mut place, 20, content_hash(&content));
    bytes.extend_from_slice(&frame);
    let leaf = if kind & 3 == 1 { part.to_vec() } else { single(&place) };
    let mut branch = [0; 24];
    put(&mut branch, 0, bytes.len() as u64);
    put(&mut branch, 8, leaf.len() as u64 | 1 << 32);
    put(&mut branch, 16, content_hash(&leaf));
    bytes.extend_from_slice(&leaf);
    let root = if kind & 3 == 2 { part.to_vec() } else { single(&branch) };
    let mut footer = [0; FOOTER];
    footer[..8].copy_from_slice(b"LRBKEND\n");
    let counts = [u64::from(place[16]), 0, 5, 1, content.len() as u64, frame.len() as u64, 1];
    let start = [bytes.len() as u64, root.len() as u64, content_hash(&root)];
    let index = (leaf.len() + root.len()) as u64;
    bytes.extend_from_slice(&root);
    let end = [index, (bytes.len() + FOOTER) as u64, sealed];
    for (i, value) in start.iter().chain(&counts).chain(&end).enumerate() {
        put(&mut footer, 8 + 8 * i, *value);
    }
    seal(&mut footer);
    bytes.extend(footer);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_assembled_is_a_file() {
        let (store, part) = (Store::new(), single(b"value"));
        for kind in [0, 3] {
            let file =
                BlockFile::open_input(Input::memory(assembled(kind, &part)), &store).expect("a valid file");
            file.verify(&mut file.reader()).expect("a valid file");
        }
    }
}
