//! Stored files, truncated and with bits flipped, give an error, or the data that was written.

use linerate_dict::sst::{Reader, SstOptions};
use linerate_dict::{Error, Kind, Store};

use super::fixtures::{TABLES, read, records};
use super::model::Record;
use crate::common::Noise;

/// Reads a damaged file in all ways. With checksums, everything that is read must be what was
/// written. Without them it may have any content.
fn attempt(reader: &mut Reader, bytes: Vec<u8>, records: &[Record], guarded: bool) -> Result<(), Error> {
    let sst = reader.open_bytes(bytes, SstOptions::new().block_limit(1 << 20))?;
    let report = reader.verify(&sst)?;
    let mut scan = reader.scan(&sst);
    let mut rows = 0;
    let end = loop {
        match scan.next_entry() {
            Ok(Some(entry)) => {
                if guarded {
                    assert!(entry.key == records[rows].key && entry.value == records[rows].value);
                }
                rows += 1;
            }
            Ok(None) => break Ok(()),
            Err(e) => break Err(e),
        }
    };
    assert!(!guarded || !report.is_sound() || (rows, end) == (records.len(), Ok(())));
    assert!(end.is_ok() || !report.is_sound());
    let keys: Vec<_> = records.iter().step_by(9).map(|record| (&sst, &record.key[..])).collect();
    for (record, found) in records.iter().step_by(9).zip(reader.multi_get(&keys)) {
        if guarded && let Ok(found) = found {
            assert!(found.is_some_and(|entry| entry.value == record.value));
        }
    }
    match report.failures.first() {
        Some(e) => Err(*e),
        None => end,
    }
}

#[test]
fn every_truncation_is_an_error() {
    let store = Store::new();
    let mut reader = Reader::new(&store);
    let records = records();
    for (name, _) in TABLES {
        let bytes = read(name);
        attempt(&mut reader, bytes.clone(), &records, true).unwrap();
        for len in 0..bytes.len() {
            let e = attempt(&mut reader, bytes[..len].to_vec(), &records, false).unwrap_err();
            assert_eq!(e.kind, if len < 53 { Kind::Truncated } else { Kind::Corrupt });
            // A file whose start is removed has a footer, but at another offset.
            assert!(attempt(&mut reader, bytes[1 + len..].to_vec(), &records, false).is_err());
        }
    }
    assert_eq!(store.stats().dictionaries, 0);
}

#[test]
fn every_flipped_bit_is_detected() {
    let store = Store::new();
    let mut reader = Reader::new(&store);
    let records = records();
    for (name, _) in TABLES {
        let bytes = read(name);
        let guarded = !name.contains("none");
        // Flip all bits of some files, and one bit of each byte of others.
        let all = ["3-xxhash-lz4-samples", "5-crc32c-zstd-trained", "7-xxh3-zstd-trained"].contains(name);
        let (mut found, mut tried) = (0, 0);
        for at in 0..bytes.len() {
            for bit in if all { 0..8 } else { at % 8..at % 8 + 1 } {
                let mut bad = bytes.clone();
                bad[at] ^= 1 << bit;
                found += usize::from(attempt(&mut reader, bad, &records, guarded).is_err());
                tried += 1;
            }
        }
        // In files below version 6, the padding of the footer is not read, and the checksum kind
        // "none" detects nothing.
        assert!(!guarded || found + 8 * 40 >= tried, "{name}: {found} of {tried}");
    }
    assert_eq!(store.stats().dictionaries, 0);
}

/// Many bytes are changed, without checksums.
#[test]
fn random_bytes_do_not_panic() {
    let store = Store::new();
    let mut reader = Reader::new(&store);
    let records = records();
    let mut noise = Noise::new(17);
    for name in ["5-none-lz4hc-first-keys", "7-none-zlib-samples"] {
        let bytes = read(name);
        for _ in 0..20_000 {
            let mut bad = bytes.clone();
            for _ in 0..1 + noise.below(6) {
                let at = noise.below(bad.len());
                bad[at] = [0, 1, 0x7f, 0x80, 0xff, noise.below(256) as u8][noise.below(6)];
            }
            let _ = attempt(&mut reader, bad, &records, false);
        }
    }
    assert_eq!(store.stats().dictionaries, 0);
}

#[test]
fn a_file_that_is_read_and_cut_short_meanwhile_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("000012.sst");
    std::fs::write(&path, read("5-xxh3-zstd")).unwrap();
    let mut reader = Reader::new(&Store::new());
    let sst = reader.open(&path, SstOptions::new().map(false)).unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_len(10).unwrap();
    assert_eq!(reader.get(&sst, b"user/001").unwrap_err().kind, Kind::Truncated);
    assert_eq!(reader.scan(&sst).next_entry().unwrap_err().kind, Kind::Truncated);
    assert!(!reader.verify(&sst).unwrap().is_sound());
}
