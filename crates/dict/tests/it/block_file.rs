//! Block files: round trips by all ways to read, and damage.

use std::collections::BTreeMap;
use std::ops::Bound;

use linerate_dict::blocks::{
    BlockFile, BlockFileOptions, Builder, DictionaryChoice, DictionaryPlace, Duplicates, Reader, Sorter,
};
use linerate_dict::{Error, Input, Kind, Store, content_hash};

use crate::common::{Noise, rows, train};

type Records = BTreeMap<Vec<u8>, Vec<u8>>;

/// Generates log rows with keys that share prefixes.
fn records(seed: u64, count: usize) -> Records {
    let mut noise = Noise::new(seed);
    let key = |noise: &mut Noise| format!("tenant-{}/row/{:08}", noise.below(3), noise.below(1 << 20));
    (0..count)
        .map(|i| {
            let len = 1 + noise.below(300);
            (key(&mut noise).into_bytes(), rows(seed * 1000 + i as u64, len))
        })
        .collect()
}

fn built(records: &Records, options: BlockFileOptions) -> Vec<u8> {
    let mut builder = Builder::in_memory(options).unwrap();
    records.iter().for_each(|(key, value)| builder.add(key, value).unwrap());
    builder.into_bytes().unwrap()
}

fn open(bytes: &[u8], store: &Store) -> Result<BlockFile, Error> {
    BlockFile::open_input(Input::memory(bytes), store)
}

/// Reads everything in all ways, and compares the results.
fn compare(file: &BlockFile, records: &Records) {
    let mut reader = file.reader();
    for (key, value) in records {
        assert_eq!(file.get(&mut reader, key).unwrap(), Some(&value[..]));
        let other = [key, &b"x"[..]].concat();
        assert_eq!(file.get(&mut reader, &other).unwrap(), records.get(&other).map(|v| &v[..]));
    }
    for key in [&b""[..], b"zzz"] {
        assert_eq!(file.get(&mut reader, key).unwrap(), records.get(key).map(|value| &value[..]));
    }
    let mut noise = Noise::new(5);
    let absent = b"tenant-1/".to_vec();
    let all: Vec<&Vec<u8>> = records.keys().chain([&absent]).collect();
    let keys: Vec<&[u8]> = (0..1000).map(|_| &all[noise.below(all.len())][..]).collect();
    for (key, value) in keys.iter().zip(file.multi_get(&mut reader, &keys)) {
        assert_eq!(value.unwrap().as_ref(), records.get(*key));
    }
    let scanned: Vec<_> = file.scan::<&[u8]>(&mut reader, ..).map(Result::unwrap).collect();
    assert!(scanned.iter().map(|(k, v)| (k, v)).eq(records));
    for _ in 0..50 {
        let mut ends = [all[noise.below(all.len())], all[noise.below(all.len())]];
        ends.sort();
        let [from, to] = ends.map(Clone::clone);
        let bounds = [Bound::Unbounded, Bound::Included(()), Bound::Excluded(())];
        let range = (bounds[noise.below(3)].map(|()| from), bounds[noise.below(3)].map(|()| to));
        if matches!(&range, (Bound::Excluded(a), Bound::Excluded(b)) if a == b) {
            continue;
        }
        let got: Vec<_> = file.scan(&mut reader, range.clone()).map(Result::unwrap).collect();
        assert!(got.iter().map(|(k, v)| (k, v)).eq(records.range(range)));
    }
    let verified = file.verify(&mut reader).unwrap();
    assert_eq!(verified.counts, file.stats().counts);
    assert_eq!(verified.counts.records as usize, records.len());
}

#[test]
fn records_round_trip_by_get_multi_get_and_scan() {
    let folder = tempfile::tempdir().unwrap();
    let dictionary = train(1, 4 << 10);
    let choices = [
        DictionaryChoice::None,
        DictionaryChoice::Embedded(dictionary.clone()),
        DictionaryChoice::Embedded(b"raw content: {\"time\":17000000,\"host\":\"node-0".to_vec()),
        DictionaryChoice::External { id: 12, bytes: dictionary.clone() },
        DictionaryChoice::Train { size: 4 << 10, small_tables: true },
    ];
    let store = Store::new();
    let mut stored = Vec::new();
    for (i, choice) in choices.into_iter().enumerate() {
        for (count, block_size) in [(0, 4096), (1, 4096), (700, 4096), (700, 256), (3000, 1024)] {
            let records = records(1, count);
            let options = BlockFileOptions::new()
                .dictionary(choice.clone())
                .block_size(block_size)
                .checksums(i != 1)
                .sample_bytes(64 << 10);
            let path = folder.path().join("file");
            let mut builder = Builder::create(&path, options.clone()).unwrap();
            records.iter().for_each(|(key, value)| builder.add(key, value).unwrap());
            let summary = builder.finish().unwrap();
            let bytes = std::fs::read(&path).unwrap();
            assert!(bytes == built(&records, options) && summary.len == bytes.len() as u64);
            let named = matches!(choice, DictionaryChoice::External { .. });
            let id = store.insert(&dictionary).unwrap();
            let inputs = [Input::map(&path).unwrap(), Input::file(&path).unwrap(), Input::memory(&bytes[..])];
            for input in inputs {
                let file = if named {
                    BlockFile::open_with(input, &store, id).unwrap()
                } else {
                    BlockFile::open_input(input, &store).unwrap()
                };
                assert_eq!(file.stats().dictionary, summary.dictionary);
                assert_eq!((file.stats().counts, file.stats().len), (summary.counts, summary.len));
                compare(&file, &records);
            }
            if named {
                // The store has the external dictionary, and the file finds it by its hash.
                compare(&BlockFile::open(&path, &store).unwrap(), &records);
                assert_eq!(summary.dictionary.place, DictionaryPlace::External(12));
            }
            assert!(store.release(id).unwrap());
            if (count, block_size) == (700, 256) {
                stored.push(summary.counts.stored_bytes);
            }
        }
    }
    assert_eq!(store.stats().dictionaries, 0);
    // Dictionaries make small blocks smaller, so they were used.
    assert!(stored[1] < stored[0] * 7 / 10 && stored[3] == stored[1] && stored[4] < stored[0] * 8 / 10);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn empty_and_extreme_records_round_trip() {
    let mut records = Records::new();
    records.insert(Vec::new(), b"the empty key".to_vec());
    records.insert(vec![0], Vec::new());
    records.insert(vec![0; 65_535], vec![7; 100]);
    records.insert(vec![1], rows(1, 300_000));
    records.insert(vec![1, 0], vec![0; 3 << 20]);
    records.insert(vec![0xff; 9], vec![0xff; 5000]);
    for choice in [DictionaryChoice::None, DictionaryChoice::Embedded(train(2, 2048))] {
        let options = BlockFileOptions::new().dictionary(choice).block_size(512).level(1);
        compare(&open(&built(&records, options), &Store::new()).unwrap(), &records);
    }
}

#[test]
fn open_files_share_dictionaries_of_a_store() {
    let store = Store::new();
    let dictionary = train(1, 4 << 10);
    let with =
        |bytes: &Vec<u8>| BlockFileOptions::new().dictionary(DictionaryChoice::Embedded(bytes.clone()));
    let all: Vec<Records> = (0..6).map(|seed| records(seed, 200)).collect();
    let other = train(2, 4 << 10);
    let files: Vec<BlockFile> = all
        .iter()
        .enumerate()
        .map(|(i, records)| {
            open(&built(records, with(if i % 3 == 0 { &other } else { &dictionary })), &store).unwrap()
        })
        .collect();
    assert_eq!(store.stats().dictionaries, 2);
    let mut reader = Reader::new(&store);
    let mut noise = Noise::new(3);
    let requests: Vec<(&BlockFile, &[u8])> = (0..2000)
        .map(|_| {
            let file = noise.below(6);
            let keys = &all[(file + noise.below(2)) % 6];
            (&files[file], &keys.keys().nth(noise.below(keys.len())).unwrap()[..])
        })
        .collect();
    let mut next = 0;
    reader.multi_get(&requests, |i, value| {
        assert_eq!(i, next);
        next += 1;
        let file = files.iter().position(|file| std::ptr::eq(file, requests[i].0)).unwrap();
        assert_eq!(value.unwrap(), all[file].get(requests[i].1).map(|value| &value[..]));
    });
    assert_eq!(next, 2000);
    let clone = files[0].clone();
    drop(files);
    assert_eq!(store.stats().dictionaries, 1);
    compare(&clone, &all[0]);
    // IDs of another store are different.
    let error = clone.get(&mut Reader::new(&Store::new()), b"").unwrap_err();
    assert_eq!(error.kind, Kind::BadArgument);
    drop(clone);
    assert_eq!(store.stats().dictionaries, 0);
}

#[test]
fn threads_share_a_file() {
    let records = records(7, 400);
    let options = BlockFileOptions::new().dictionary(DictionaryChoice::Embedded(train(1, 4 << 10)));
    let file = open(&built(&records, options), &Store::new()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let file = file.clone();
            scope.spawn(|| compare(&{ file }, &records));
        }
    });
}

#[test]
fn dropped_builder_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, b"old").unwrap();
    let mut builder = Builder::create(&path, BlockFileOptions::new()).unwrap();
    for (key, value) in &records(3, 2000) {
        builder.add(key, value).unwrap();
    }
    // The file has no name before it is finished.
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    drop(builder);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    let absent = Builder::create(folder.path().join("absent/file"), BlockFileOptions::new());
    assert_eq!(absent.err().unwrap().kind, Kind::Write);
    assert_eq!(open(b"", &Store::new()).unwrap_err().kind, Kind::Truncated);
    assert_eq!(open(&[7; 300], &Store::new()).unwrap_err().kind, Kind::Corrupt);
}

#[test]
fn wrong_dictionary_is_an_error_on_opening() {
    let (right, wrong) = (train(1, 4 << 10), train(2, 4 << 10));
    let records = records(1, 50);
    let bytes = built(
        &records,
        BlockFileOptions::new().dictionary(DictionaryChoice::External { id: 3, bytes: right.clone() }),
    );
    let store = Store::new();
    let wrong = store.insert(&wrong).unwrap();
    let kind = |result: Result<BlockFile, Error>| result.unwrap_err().kind;
    assert_eq!(kind(open(&bytes, &store)), Kind::BadArgument);
    assert_eq!(kind(BlockFile::open_with(Input::memory(&bytes[..]), &store, wrong)), Kind::BadArgument);
    let said = BlockFile::dictionary_of(&Input::memory(&bytes[..])).unwrap();
    assert_eq!((said.place, said.hash), (DictionaryPlace::External(3), content_hash(&right)));
    let id = store.insert(&right).unwrap();
    compare(&BlockFile::open_with(Input::memory(&bytes[..]), &store, id).unwrap(), &records);
    assert_eq!(store.stats().dictionaries, 2);
}

#[test]
fn invalid_records_leave_the_builder_unchanged() {
    let mut builder = Builder::in_memory(BlockFileOptions::new()).unwrap();
    builder.add(b"b", b"1").unwrap();
    let mut refused = |key: &[u8], value: &[u8]| builder.add(key, value).unwrap_err();
    assert_eq!(refused(b"b", b"2").message, "duplicate key");
    assert_eq!(refused(b"a", b"2").message, "keys are not in ascending order");
    assert_eq!(refused(&[b'c'; 65_536], b"").kind, Kind::BadArgument);
    assert_eq!(refused(b"c", &vec![0; (32 << 20) + 1]).kind, Kind::Limit);
    builder.add(b"c", b"3").unwrap();
    let file = open(&builder.into_bytes().unwrap(), &Store::new()).unwrap();
    compare(&file, &[("b", "1"), ("c", "3")].map(|(k, v)| (k.into(), v.into())).into());
    for options in [BlockFileOptions::new().level(23), BlockFileOptions::new().block_size(15)] {
        assert_eq!(Builder::in_memory(options).err().unwrap().kind, Kind::BadArgument);
    }
    let short = BlockFileOptions::new().dictionary(DictionaryChoice::Embedded(b"7 bytes".to_vec()));
    assert_eq!(Builder::in_memory(short).err().unwrap().kind, Kind::BadArgument);
}

#[test]
fn dictionary_without_savings_is_omitted() {
    let train = DictionaryChoice::Train { size: 8 << 10, small_tables: false };
    let place = |count, choice: &DictionaryChoice| {
        let bytes = built(&records(4, count), BlockFileOptions::new().dictionary(choice.clone()));
        open(&bytes, &Store::new()).unwrap().stats().dictionary.place
    };
    assert_eq!(place(30, &train), DictionaryPlace::None);
    assert_eq!(place(5000, &train), DictionaryPlace::Embedded);
}

/// The rows have fields that hardly repeat, so not every trained dictionary saves its own bytes.
#[test]
fn a_trained_dictionary_never_makes_a_file_larger() {
    let mut noise = Noise::new(5);
    let records: Records = (0..10_000).map(|i| visit(i, &mut noise)).collect();
    let len = |block: u32, dictionary| {
        built(&records, BlockFileOptions::new().block_size(block).dictionary(dictionary)).len()
    };
    let mut forms = Vec::new();
    for block in [4 << 10, 16 << 10, 64 << 10] {
        let without = len(block, DictionaryChoice::None);
        for size in [2 << 10, 16 << 10] {
            let train = DictionaryChoice::Train { size, small_tables: false };
            let bytes = built(&records, BlockFileOptions::new().block_size(block).dictionary(train));
            assert!(bytes.len() <= without, "{block}, {size}: {} against {without}", bytes.len());
            let file = open(&bytes, &Store::new()).unwrap();
            compare(&file, &records);
            let dictionary = file.stats().dictionary;
            forms.push((dictionary.len > 0, dictionary.zstd_id != 0));
        }
    }
    // Some files have a dictionary with trained tables, and some have none.
    for form in [(true, true), (false, false)] {
        assert!(forms.contains(&form), "{form:?} is not in {forms:?}");
    }
}

/// Generates a row with fields that hardly repeat, between fields that do.
fn visit(i: usize, noise: &mut Noise) -> (Vec<u8>, Vec<u8>) {
    let pages = ["shop", "item", "cart", "help", "home"];
    let path: String = (0..=noise.below(3)).map(|_| format!("/{}", pages[noise.below(5)])).collect();
    let row = format!(
        r#"{{"id": "{i:08}", "ts": {}, "user": {}, "session": "{:08x}{:08x}", "path": "{path}", "ms": {}}}"#,
        1_700_000_000 + i * 3,
        noise.below(5000),
        noise.below(u32::MAX as usize),
        noise.below(u32::MAX as usize),
        noise.below(2000),
    );
    (format!("{i:08}").into_bytes(), row.into_bytes())
}

#[test]
fn a_sorter_feeds_a_builder() {
    let records = records(6, 2000);
    let mut noise = Noise::new(1);
    let mut shuffled: Vec<_> = records.iter().collect();
    for i in (1..shuffled.len()).rev() {
        shuffled.swap(i, noise.below(i + 1));
    }
    let mut sorter = Sorter::new(20_000, Duplicates::LastWins);
    for (key, value) in shuffled {
        sorter.add(key, b"a value that is replaced").unwrap();
        sorter.add(key, value).unwrap();
    }
    let mut builder = Builder::in_memory(BlockFileOptions::new()).unwrap();
    sorter.into_builder(&mut builder).unwrap();
    compare(&open(&builder.into_bytes().unwrap(), &Store::new()).unwrap(), &records);
}

/// Reads bytes as a block file, and checks that the result is either an error or only correct
/// records. Returns whether all records were read and the file verifies.
fn harmless(bytes: Vec<u8>, records: &Records, store: &Store, reader: &mut Reader, checksums: bool) -> bool {
    let Ok(file) = BlockFile::open_input(Input::memory(bytes), store) else { return false };
    let mut whole = true;
    let right = |key: &[u8], value: Option<&[u8]>| {
        assert!(!checksums || value == records.get(key).map(|value| &value[..]));
    };
    let keys: Vec<&[u8]> = records.keys().map(|key| &key[..]).collect();
    for (key, value) in keys.iter().zip(file.multi_get(reader, &keys)) {
        match value {
            Ok(value) => right(key, value.as_deref()),
            Err(e) => {
                assert!(matches!(e.kind, Kind::Corrupt | Kind::Truncated | Kind::Unsupported), "{e}");
                whole = false;
            }
        }
    }
    for key in &keys {
        match file.get(reader, key) {
            Ok(value) => right(key, value),
            Err(_) => whole = false,
        }
    }
    for record in file.scan::<&[u8]>(reader, ..) {
        match record {
            Ok((key, value)) => right(&key, Some(&value)),
            Err(_) => whole = false,
        }
    }
    let verified = file.verify(reader);
    assert!(whole || verified.is_err());
    verified.is_ok()
}

#[test]
fn flipped_bits_and_truncation_of_a_block_file_are_errors() {
    let records = records(9, 20);
    let store = Store::new();
    let mut reader = Reader::new(&store);
    let dictionary = train(1, 600);
    for checksums in [true, false] {
        let options = BlockFileOptions::new()
            .dictionary(DictionaryChoice::Embedded(dictionary.clone()))
            .block_size(1000)
            .checksums(checksums);
        let bytes = built(&records, options);
        assert!(harmless(bytes.clone(), &records, &store, &mut reader, true));
        for len in 0..bytes.len() {
            assert!(open(&bytes[..len], &store).is_err(), "cut to {len} bytes");
        }
        let mut unnoticed = 0;
        for bit in 0..8 * bytes.len() {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            unnoticed += usize::from(harmless(other, &records, &store, &mut reader, checksums));
        }
        // A few bits of each frame do not change its content. Without hashes, many bits change it
        // undetected.
        let blocks = open(&bytes, &store).unwrap().stats().counts.blocks as usize;
        assert!(
            if checksums { unnoticed <= 4 * blocks } else { unnoticed > 10 * blocks },
            "{unnoticed} of {blocks}"
        );
    }
}

#[test]
fn a_file_that_is_read_and_cut_short_meanwhile_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let records = records(3, 500);
    std::fs::write(&path, built(&records, BlockFileOptions::new())).unwrap();
    let file = BlockFile::open_input(Input::file(&path).unwrap(), &Store::new()).unwrap();
    let mut reader = file.reader();
    let last = records.keys().next_back().unwrap();
    assert!(file.get(&mut reader, last).unwrap().is_some());
    std::fs::File::options().write(true).open(&path).unwrap().set_len(100).unwrap();
    let first = records.keys().next().unwrap();
    assert_eq!(file.get(&mut reader, first).unwrap_err().kind, Kind::Truncated);
    assert_eq!(file.verify(&mut reader).unwrap_err().kind, Kind::Truncated);
}

#[test]
fn embedded_dictionary_over_64_mib_is_refused_by_the_builder() {
    let dictionary = DictionaryChoice::Embedded(vec![b'a'; (64 << 20) + 1]);
    let options = BlockFileOptions::new().dictionary(dictionary);
    assert_eq!(Builder::in_memory(options).err().map(|e| e.kind), Some(Kind::Limit));
}

#[test]
fn verification_reads_the_last_block_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.lrb");
    let records = records(7, 10);
    std::fs::write(&path, built(&records, BlockFileOptions::new())).unwrap();
    let file = BlockFile::open_input(Input::file(&path).unwrap(), &Store::new()).unwrap();
    let mut reader = file.reader();
    let (key, value) = records.first_key_value().unwrap();
    assert_eq!(file.get(&mut reader, key).unwrap(), Some(&value[..]));
    // The block follows the header of 64 bytes.
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(file.verify(&mut reader).unwrap_err().kind, Kind::Corrupt);
}
