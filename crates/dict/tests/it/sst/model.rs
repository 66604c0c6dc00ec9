//! Records that were written, and checks of a file against them.

use linerate_dict::sst::{EntryKind, Reader, Sst};

use crate::common::{Noise, rows};

/// An operation for RocksDB: a letter of `writer.c`, a key and a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) letter: u8,
    pub(crate) key: Vec<u8>,
    pub(crate) value: Vec<u8>,
}

impl Record {
    pub(crate) fn new(letter: u8, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> Record {
        Record { letter, key: key.into(), value: value.into() }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let field = |bytes: &[u8]| [&(bytes.len() as u32).to_le_bytes(), bytes].concat();
        [&[self.letter][..], &field(&self.key), &field(&self.value)].concat()
    }

    pub(crate) fn kind(&self) -> EntryKind {
        match self.letter {
            b'p' => EntryKind::Value,
            b'd' => EntryKind::Deletion,
            b's' => EntryKind::SingleDeletion,
            b'm' => EntryKind::Merge,
            letter => panic!("{letter} is no entry"),
        }
    }
}

/// An owned entry.
pub(crate) type Row = (Vec<u8>, u64, EntryKind, Vec<u8>);

/// Generates `count` keys in order, most of them with log rows. Some have no value, some are
/// deleted, some are merge operands, and one is longer than a block.
pub(crate) fn records(seed: u64, count: usize) -> Vec<Record> {
    let mut noise = Noise::new(seed);
    let text = rows(seed, 300 * count + 20_000);
    let mut at = 0;
    (0..count)
        .map(|i| {
            // Keys have different lengths and share prefixes.
            let key = format!("{:04}/{}", i / 3, "tail".repeat(i % 3));
            let len = if i == count / 2 { 9000 } else { noise.below(300) };
            at += len;
            match noise.below(20) {
                0 => Record::new(b'd', key, ""),
                1 => Record::new(b'm', key, &text[at - len..at]),
                2 => Record::new(b'p', key, ""),
                _ => Record::new(b'p', key, &text[at - len..at]),
            }
        })
        .collect()
}

/// Returns all entries of a file, by a scan.
pub(crate) fn scan(reader: &mut Reader, sst: &Sst) -> Vec<Row> {
    let mut all = Vec::new();
    let mut scan = reader.scan(sst);
    while let Some(entry) = scan.next_entry().expect("a sound file") {
        all.push((entry.key.to_vec(), entry.sequence, entry.kind, entry.value.to_vec()));
    }
    all
}

/// Checks a file, by all ways to read, against the records that were written to it in order.
#[track_caller]
pub(crate) fn check(reader: &mut Reader, sst: &Sst, records: &[Record]) {
    let expected: Vec<Row> = records.iter().map(|r| (r.key.clone(), 0, r.kind(), r.value.clone())).collect();
    assert!(scan(reader, sst) == expected);
    for record in records {
        let entry = reader.get(sst, &record.key).expect("a sound file").expect("it was written");
        assert_eq!((entry.key, entry.kind), (&record.key[..], record.kind()));
        assert!(entry.value == record.value);
        let past = [&record.key[..], b"!"].concat();
        assert_eq!(reader.get(sst, &past).expect("a sound file"), None);
    }
    let absent: Vec<Vec<u8>> = vec![b"".into(), b"0".into(), b"zzz".into(), vec![0xff; 40]];
    for key in &absent {
        assert_eq!(reader.get(sst, key).expect("a sound file"), None);
    }
    // Look up all keys in random order as one batch, together with keys that the file lacks.
    let mut keys: Vec<&[u8]> =
        records.iter().map(|r| &r.key[..]).chain(absent.iter().map(|k| &k[..])).collect();
    let mut noise = Noise::new(records.len() as u64);
    for i in (1..keys.len()).rev() {
        keys.swap(i, noise.below(i + 1));
    }
    let wanted: Vec<_> = keys.iter().map(|key| (sst, *key)).collect();
    let found = reader.multi_get(&wanted);
    for (key, found) in keys.iter().zip(found) {
        let record = records.binary_search_by(|r| r.key[..].cmp(key)).ok().map(|at| &records[at]);
        let found = found.expect("a sound file").map(|e| (e.kind, e.value.to_vec()));
        assert!(found == record.map(|r| (r.kind(), r.value.clone())));
    }
    let report = reader.verify(sst).expect("its own store");
    assert!(report.is_sound(), "{report:?}");
    assert_eq!(report.entries, records.len() as u64);
    let stats = reader.stats(sst).expect("a sound file");
    assert_eq!(stats.properties.entries(), records.len() as u64);
    assert_eq!(stats.all_blocks().blocks, report.data_blocks);
    seeks(reader, sst, records);
}

/// Scans from existing keys, and from between them.
#[track_caller]
fn seeks(reader: &mut Reader, sst: &Sst, records: &[Record]) {
    for i in (0..records.len()).step_by(7) {
        for (from, first) in [(records[i].key.clone(), i), ([&records[i].key[..], b"!"].concat(), i + 1)] {
            let mut scan = reader.scan_from(sst, &from).expect("a sound file");
            for record in records.iter().skip(first).take(5) {
                let entry = scan.next_entry().expect("a sound file").expect("there is more");
                assert!(entry.key == record.key && entry.value == record.value);
            }
            if first == records.len() {
                assert_eq!(scan.next_entry().expect("a sound file"), None);
            }
        }
    }
}
