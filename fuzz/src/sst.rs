//! SST files of RocksDB: arbitrary bytes as a file.

use std::cell::RefCell;

use linerate_dict::Store;
use linerate_dict::sst::{KeyOrder, Reader, Sst, SstOptions};

/// Limit on the content of a block, in bytes.
const MOST: usize = 1 << 20;
/// Bytes of a footer, which starts with the checksum kind.
const FOOTER: usize = 53;

thread_local! {
    static READER: RefCell<Reader> = RefCell::new(Reader::new(&Store::new()));
}

/// Reads the bytes as a file, and as one without checksums.
///
/// # Panics
/// If a file that verifies as sound cannot be read, or its lookups and scans disagree.
pub fn sst(data: &[u8]) {
    READER.with_borrow_mut(|reader| {
        file(reader, data.to_vec());
        if let Some(at) = data.len().checked_sub(FOOTER) {
            let mut bytes = data.to_vec();
            bytes[at] = 0;
            file(reader, bytes);
        }
        assert_eq!(reader.store().stats().dictionaries, 0);
    });
}

fn file(reader: &mut Reader, bytes: Vec<u8>) {
    let len = bytes.len() as u64;
    let Ok(sst) = reader.open_bytes(bytes, SstOptions::new().block_limit(MOST)) else { return };
    let report = reader.verify(&sst).expect("its own store");
    assert!(report.failures.iter().all(|e| e.offset <= len));
    let _ = reader.stats(&sst);
    let mut rows: Vec<(Vec<u8>, u64, Vec<u8>)> = Vec::new();
    let mut scan = reader.scan(&sst);
    let whole = loop {
        match scan.next_entry() {
            Ok(Some(entry)) => rows.push((entry.key.to_vec(), entry.sequence, entry.value.to_vec())),
            Ok(None) => break true,
            Err(e) => {
                assert!(e.offset <= len);
                break false;
            }
        }
        if rows.len() > 2000 {
            return;
        }
    };
    if !report.is_sound() {
        return;
    }
    assert!(whole && rows.len() as u64 == report.entries);
    if sst.key_order() != KeyOrder::Unknown && sst.range_deletions().is_empty() {
        same(reader, &sst, &rows);
    }
}

/// Asserts that each scanned record of a valid file is found by a lookup at its sequence number,
/// and the newest of each key by a lookup of many keys.
fn same(reader: &mut Reader, sst: &Sst, rows: &[(Vec<u8>, u64, Vec<u8>)]) {
    let first = |i: usize| i == 0 || rows[i - 1].0 != rows[i].0;
    for (key, sequence, value) in rows {
        let found = reader.get_at(sst, key, *sequence).expect("a sound file").expect("it was scanned");
        assert_eq!((found.sequence, found.value), (*sequence, &value[..]));
    }
    let newest: Vec<_> = (0..rows.len()).filter(|&i| first(i)).map(|i| &rows[i]).collect();
    let wanted: Vec<_> = newest.iter().map(|row| (sst, &row.0[..])).collect();
    for (row, found) in newest.iter().zip(reader.multi_get(&wanted)) {
        let found = found.expect("a sound file").expect("it was scanned");
        assert_eq!((found.sequence, found.value), (row.1, &row.2[..]));
    }
}
