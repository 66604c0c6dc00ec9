//! Hand-made files with invalid parts are errors.

use linerate_dict::sst::{Compression, EntryKind, Handle, IndexKind, KeyOrder, Reader, Sst, SstOptions};
use linerate_dict::{Error, Kind, Store};
use twox_hash::XxHash3_64;

/// Corrects the checksum of a changed block, in a file of version 5 with the default kind.
pub(crate) fn seal(bytes: &mut [u8], block: Handle) {
    let end = (block.offset + block.size) as usize;
    let typed = u32::from(bytes[end]).wrapping_mul(0x6b90_83d9);
    let sum = XxHash3_64::oneshot(&bytes[block.offset as usize..end]) as u32 ^ typed;
    bytes[end + 1..end + 5].copy_from_slice(&sum.to_le_bytes());
}

pub(crate) fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 127 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// Makes an entry that shares `shared` bytes.
fn entry(shared: u64, key: &[u8], value: &[u8]) -> Vec<u8> {
    [varint(shared), varint(key.len() as u64), varint(value.len() as u64), key.to_vec(), value.to_vec()]
        .concat()
}

/// Makes an internal key: user key, sequence number and type.
fn internal(key: &[u8], sequence: u64, kind: u8) -> Vec<u8> {
    [key, &(sequence << 8 | u64::from(kind)).to_le_bytes()].concat()
}

/// Makes a block with one restart point.
fn block(entries: &[Vec<u8>]) -> Vec<u8> {
    [&entries.concat()[..], &[0, 0, 0, 0, 1, 0, 0, 0]].concat()
}

fn handle(offset: u64, size: u64) -> Vec<u8> {
    [varint(offset), varint(size)].concat()
}

/// A file under construction, without checksums.
struct Forge {
    bytes: Vec<u8>,
    properties: Vec<(&'static str, Vec<u8>)>,
    /// Names and handles of the metaindex.
    others: Vec<(&'static str, Vec<u8>)>,
    version: u32,
}

impl Forge {
    fn new() -> Forge {
        let comparator = ("rocksdb.comparator", b"leveldb.BytewiseComparator".to_vec());
        Forge { bytes: Vec::new(), properties: vec![comparator], others: Vec::new(), version: 5 }
    }

    /// Adds a block, and returns its handle.
    fn add(&mut self, content: &[u8], compression: u8) -> Vec<u8> {
        let at = self.bytes.len() as u64;
        self.bytes.extend_from_slice(content);
        self.bytes.extend([compression, 0, 0, 0, 0]);
        handle(at, content.len() as u64)
    }

    fn property(mut self, name: &'static str, value: impl Into<Vec<u8>>) -> Forge {
        self.properties.push((name, value.into()));
        self
    }

    fn finish(mut self, index: &[u8]) -> Vec<u8> {
        let list = |rows: &[(&str, Vec<u8>)]| {
            block(&rows.iter().map(|(name, value)| entry(0, name.as_bytes(), value)).collect::<Vec<_>>())
        };
        let index = self.add(index, 0);
        let properties = self.add(&list(&self.properties), 0);
        self.others.push(("rocksdb.properties", properties));
        let metaindex = self.add(&list(&self.others), 0);
        let mut handles = [metaindex, index].concat();
        handles.resize(40, 0);
        self.bytes.push(0);
        self.bytes.extend(handles);
        self.bytes.extend(self.version.to_le_bytes());
        self.bytes.extend(0x88e2_41b7_85f4_cff7_u64.to_le_bytes());
        self.bytes
    }

    /// Makes a file of these data blocks, each with its separator in the index.
    fn of(blocks: &[(&[u8], Vec<u8>, u8)]) -> Vec<u8> {
        let mut forge = Forge::new();
        let index: Vec<Vec<u8>> = blocks
            .iter()
            .map(|(key, content, compression)| {
                let at = forge.add(content, *compression);
                entry(0, &internal(key, 0, 1), &at)
            })
            .collect();
        forge.finish(&block(&index))
    }
}

fn open(bytes: Vec<u8>) -> Result<Sst, Error> {
    Sst::from_bytes(bytes, &Store::new())
}

/// Scans a whole file.
fn scanned(bytes: Vec<u8>) -> Result<usize, Error> {
    let store = Store::new();
    let mut reader = Reader::new(&store);
    let sst = reader.open_bytes(bytes, SstOptions::new().block_limit(1 << 20))?;
    let verified = reader.verify(&sst)?;
    let mut scan = reader.scan(&sst);
    let mut entries = 0;
    loop {
        match scan.next_entry() {
            Ok(Some(_)) => entries += 1,
            Ok(None) => break,
            Err(e) => {
                assert!(!verified.is_sound() && scan.next_entry() == Ok(None));
                return Err(e);
            }
        }
    }
    match verified.failures.first() {
        Some(e) => Err(*e),
        None => Ok(entries),
    }
}

#[track_caller]
fn refused(bytes: Vec<u8>, kind: Kind, what: &str) {
    let e = scanned(bytes).unwrap_err();
    assert!(e.kind == kind && e.message.contains(what), "{e:?}");
}

fn one(key: &[u8], value: &[u8]) -> Vec<u8> {
    block(&[entry(0, &internal(key, 0, 1), value)])
}

#[test]
fn hand_made_file_is_read() {
    let two = block(&[entry(0, &internal(b"ab", 5, 1), b"new"), entry(2, &internal(b"", 3, 1), b"old")]);
    let bytes = Forge::of(&[(b"b", two, 0), (b"c", one(b"c", b"last"), 0)]);
    let store = Store::new();
    let mut reader = Reader::new(&store);
    let sst = reader.open_bytes(bytes, SstOptions::new()).unwrap();
    assert_eq!((sst.key_order(), sst.index_kind()), (KeyOrder::Bytewise, IndexKind::BinarySearch));
    assert_eq!(reader.get(&sst, b"ab").unwrap().unwrap().value, b"new");
    let old = reader.get_at(&sst, b"ab", 4).unwrap().unwrap();
    assert_eq!((old.sequence, old.kind, old.value), (3, EntryKind::Value, &b"old"[..]));
    assert_eq!(reader.get_at(&sst, b"ab", 2).unwrap(), None);
    // The separator of the first block is b, so that block is searched, without a result.
    assert_eq!(reader.get(&sst, b"b").unwrap(), None);
    assert_eq!(reader.get(&sst, b"c").unwrap().unwrap().value, b"last");
    let wanted = [&b"c"[..], b"b", b"ab", b"d"].map(|key| (&sst, key));
    let found: Vec<_> = reader.multi_get(&wanted).into_iter().map(|e| e.unwrap().map(|e| e.value)).collect();
    assert_eq!(found, [Some(&b"last"[..]), None, Some(b"new"), None]);
    assert!(reader.verify(&sst).unwrap().is_sound());
    let blocks = reader.blocks(&sst).unwrap();
    let block = reader.decode_block(&sst, blocks[0]).unwrap();
    assert_eq!((block.handle(), block.compression()), (blocks[0], Compression::None));
    let mut entries = block.entries().unwrap();
    assert_eq!(entries.next_entry().unwrap().unwrap().sequence, 5);
    assert_eq!(entries.next_entry().unwrap().unwrap().sequence, 3);
    assert_eq!(entries.next_entry(), Ok(None));
}

/// A key may be after all keys of its block and before the separator. The next block has it.
#[test]
fn keys_after_their_block_are_found_in_the_next() {
    let first = block(&[entry(0, &internal(b"k", 9, 1), b"nine")]);
    let second = block(&[entry(0, &internal(b"k", 4, 1), b"four")]);
    let mut forge = Forge::new();
    let (a, b) = (forge.add(&first, 0), forge.add(&second, 0));
    let index = block(&[entry(0, &internal(b"k", 5, 1), &a), entry(0, &internal(b"k", 4, 1), &b)]);
    let bytes = forge.finish(&index);
    let store = Store::new();
    let mut reader = Reader::new(&store);
    for map in [false, true] {
        let sst = reader.open_bytes(bytes.clone(), SstOptions::new().map(map)).unwrap();
        for (sequence, value) in [(9, &b"nine"[..]), (8, b"four"), (5, b"four"), (4, b"four")] {
            assert_eq!(reader.get_at(&sst, b"k", sequence).unwrap().unwrap().value, value);
        }
        assert_eq!(reader.get_at(&sst, b"k", 3).unwrap(), None);
    }
    // A batch gives the same result: the first block does not have the key.
    let first = one(b"a", b"1");
    let second = one(b"k", b"2");
    let bytes = Forge::of(&[(b"k", first, 0), (b"l", second, 0)]);
    let sst = reader.open_bytes(bytes, SstOptions::new()).unwrap();
    let found = reader.multi_get(&[(&sst, &b"k"[..]), (&sst, b"a"), (&sst, b"k")]);
    let values: Vec<_> = found.into_iter().map(|e| e.unwrap().unwrap().value).collect();
    assert_eq!(values, [b"2", b"1", b"2"]);
}

#[test]
fn other_files_are_errors() {
    let sound = Forge::of(&[(b"b", one(b"b", b"1"), 0)]);
    assert_eq!(scanned(sound.clone()), Ok(1));
    assert_eq!(open(Vec::new()).unwrap_err().kind, Kind::Truncated);
    assert_eq!(open(vec![0; 52]).unwrap_err().kind, Kind::Truncated);
    assert_eq!(open(vec![0; 53]).unwrap_err().kind, Kind::Corrupt);
    let at = sound.len() - 53;
    let other = |place: usize, byte: u8| {
        let mut bytes = sound.clone();
        bytes[at + place] = byte;
        open(bytes).unwrap_err().kind
    };
    assert_eq!(other(0, 5), Kind::Unsupported);
    assert_eq!(
        (other(41, 1), other(41, 8), other(44, 1)),
        (Kind::Unsupported, Kind::Unsupported, Kind::Unsupported)
    );
    assert_eq!(other(41, 6), Kind::Corrupt);
    assert_eq!(other(45, 0), Kind::Corrupt);
    assert!(open(sound[1..].to_vec()).is_err());
    let index_type = |number: u32| {
        Forge::new()
            .property("rocksdb.block.based.table.index.type", number.to_le_bytes())
            .finish(&block(&[]))
    };
    assert_eq!(open(index_type(4)).unwrap_err().kind, Kind::Unsupported);
    assert_eq!(scanned(index_type(0)), Ok(0));
    assert_eq!(scanned(index_type(2)), Ok(0));
}

#[test]
fn invalid_blocks_are_errors() {
    let with = |content: &[u8]| Forge::of(&[(b"z", content.to_vec(), 0)]);
    refused(with(&[]), Kind::Corrupt, "within a field");
    refused(with(&[0; 3]), Kind::Corrupt, "within a field");
    // The blocks have more restart points than bytes, a restart point after the entries, and no
    // restart point.
    refused(with(&[1, 2, 3, 4, 2, 0, 0, 0]), Kind::Corrupt, "restart array");
    refused(with(&[0xff, 0xff, 0xff, 0x0f]), Kind::Corrupt, "restart array");
    refused(with(&[0, 0, 0, 0, 1, 0, 0, 0x80]), Kind::Corrupt, "restart array");
    let entries = entry(0, &internal(b"a", 0, 1), b"v");
    refused(with(&[&entries[..], &[99, 0, 0, 0, 1, 0, 0, 0]].concat()), Kind::Corrupt, "restart array");
    // The first key shares bytes; a key is too short; entries are truncated.
    refused(with(&block(&[entry(3, &internal(b"a", 0, 1), b"v")])), Kind::Corrupt, "shares more");
    refused(with(&block(&[entry(0, b"short", b"v")])), Kind::Corrupt, "shorter than eight");
    let entry_after_short = block(&[entry(0, b"short", b"v"), entry(0, &internal(b"a", 0, 1), b"v")]);
    refused(with(&entry_after_short), Kind::Corrupt, "shorter than eight");
    refused(with(&block(&[vec![0, 200, 1, 1]])), Kind::Corrupt, "within a field");
    refused(with(&block(&[vec![0xff; 12]])), Kind::Corrupt, "too large for its field");
    // Keys are out of order, and greater than the separator.
    let (a, b) = (entry(0, &internal(b"a", 0, 1), b""), entry(0, &internal(b"b", 0, 1), b""));
    refused(with(&block(&[b.clone(), a.clone()])), Kind::Corrupt, "the keys are not in order");
    refused(with(&block(&[a.clone(), a.clone()])), Kind::Corrupt, "the keys are not in order");
    assert_eq!(scanned(with(&block(&[a, b]))), Ok(2));
    refused(with(&one(b"zz", b"")), Kind::Corrupt, "greater than the separator");
}

/// Makes a block with these entries, separate values, and one restart point.
fn apart(entries: &[u8], values: &[u8], values_at: u32) -> Vec<u8> {
    let word = 1u32 | 1 << 28;
    [entries, values, &[0; 4], &values_at.to_le_bytes(), &word.to_le_bytes()].concat()
}

/// Makes an entry at a restart point, with the length and offset of its value.
fn placed(key: &[u8], len: u64, at: u64) -> Vec<u8> {
    let key = internal(key, 0, 1);
    [varint(0), varint(key.len() as u64), varint(len), varint(at), key].concat()
}

#[test]
fn separate_values_out_of_bounds_are_errors() {
    let with = |content: Vec<u8>| Forge::of(&[(b"z", content, 0)]);
    let entry = placed(b"a", 5, 0);
    let at = entry.len() as u32;
    assert_eq!(scanned(with(apart(&entry, b"value", at))), Ok(1));
    // The cases are: out of bounds, truncated, a value longer than the section, an offset after all
    // values, and gaps before and after values.
    refused(with(apart(&entry, b"value", at + 10)), Kind::Corrupt, "values");
    refused(with(apart(&entry, b"value", u32::MAX)), Kind::Corrupt, "values");
    refused(with(apart(&entry, b"valu", at)), Kind::Corrupt, "values");
    refused(with(apart(&placed(b"a", 5, 6), b"value", at)), Kind::Corrupt, "values");
    refused(with(apart(&placed(b"a", 5, u64::from(u32::MAX)), b"value", at + 4)), Kind::Corrupt, "values");
    let gap = |entry: Vec<u8>| {
        let bytes = with(apart(&entry, b"value", at));
        let store = Store::new();
        let mut reader = Reader::new(&store);
        let sst = reader.open_bytes(bytes, SstOptions::new()).unwrap();
        assert!(reader.get(&sst, b"a").unwrap().is_some());
        reader.verify(&sst).unwrap().failures[0].message
    };
    for entry in [placed(b"a", 3, 0), placed(b"a", 4, 1)] {
        assert!(gap(entry).contains("values"));
    }
    // The block is too short for its flags.
    refused(with(vec![1, 0, 0, 0x10]), Kind::Corrupt, "within a field");
}

/// No version sets this flag yet, so its meaning is unknown.
#[test]
fn unknown_block_layout_is_unsupported_not_corrupt() {
    let mut content = one(b"a", b"1");
    *content.last_mut().unwrap() |= 1 << 6;
    refused(Forge::of(&[(b"z", content, 0)]), Kind::Unsupported, "not known");
    // The flag for uniform keys changes nothing.
    let mut content = one(b"a", b"1");
    *content.last_mut().unwrap() |= 1 << 5;
    assert_eq!(scanned(Forge::of(&[(b"z", content, 0)])), Ok(1));
    // An index never has separate values.
    let mut forge = Forge::new();
    let at = forge.add(&one(b"a", b"1"), 0);
    let mut index = entry(0, &internal(b"a", 0, 1), &at);
    let len = index.len() as u32;
    index = apart(&index, b"", len);
    assert_eq!(open(forge.finish(&index)).unwrap_err().kind, Kind::Unsupported);
}

#[test]
fn oversized_block_lengths_are_errors() {
    let with = |content: &[u8], compression| Forge::of(&[(b"z", content.to_vec(), compression)]);
    for (compression, most) in [(2, 1100), (4, 256), (5, 256), (7, 1 << 16)] {
        let claim = |len: u64| [varint(len), vec![0; 10]].concat();
        refused(with(&claim(most * 11 + 1), compression), Kind::Corrupt, "impossibly large");
        refused(with(&claim(u64::from(u32::MAX)), compression), Kind::Corrupt, "impossibly large");
        refused(with(&claim(u64::from(u32::MAX) + 1), compression), Kind::Corrupt, "too large for its field");
        refused(with(&claim(10), compression), Kind::Corrupt, "");
        let long = [varint(2 << 20), vec![0; 10_000]].concat();
        refused(with(&long, compression), Kind::Limit, "limit");
    }
    refused(with(&[&varint(1 << 30)[..], &[0; 9]].concat(), 1), Kind::Corrupt, "impossibly large");
    refused(with(&one(b"a", b""), 3), Kind::Unsupported, "bzip2");
    refused(with(&one(b"a", b""), 6), Kind::Unsupported, "not known");
    refused(with(&one(b"a", b""), 0x80), Kind::Unsupported, "custom compression type");
    // The zstd frame has another length than the one stated before it.
    let frame = zstd_safe_frame(&one(b"a", b"value"));
    let len = one(b"a", b"value").len() as u64;
    assert_eq!(scanned(with(&[varint(len), frame.clone()].concat(), 7)), Ok(1));
    refused(with(&[varint(len + 1), frame.clone()].concat(), 7), Kind::Corrupt, "differs from its header");
    assert!(scanned(with(&[varint(len - 1), frame].concat(), 7)).is_err());
}

#[test]
fn unsupported_format_versions_are_called_older_or_newer() {
    for (version, message) in [(1, "older than 2"), (8, "newer than 7"), (u32::MAX, "newer than 7")] {
        let error = open(Forge { version, ..Forge::new() }.finish(&block(&[]))).unwrap_err();
        assert_eq!(error.kind, Kind::Unsupported);
        assert!(error.message.contains(message), "{version}: {error}");
    }
}

#[test]
fn properties_name_compression_manager_and_level() {
    let properties = |name: &str, options: &str| {
        let forge = Forge::new().property("rocksdb.compression", name);
        let bytes = forge.property("rocksdb.compression_options", options).finish(&block(&[]));
        let mut reader = Reader::new(&Store::new());
        let sst = reader.open_bytes(bytes, SstOptions::new()).unwrap();
        let properties = reader.properties(&sst).unwrap();
        (properties.compression_manager(), properties.compression_level())
    };
    assert_eq!(properties("ZSTD", ""), (None, None));
    assert_eq!(properties("BuiltinV2;07;", "level=3; "), (Some("BuiltinV2".into()), Some(3)));
    assert_eq!(properties("Acme;0780;", "window_bits=-14; level=-5; "), (Some("Acme".into()), Some(-5)));
    assert_eq!(properties(";;", "level=32767; strategy=0; "), (Some(String::new()), None));
    assert_eq!(properties("", "level=x; "), (None, None));
}

/// `max_dict_bytes` has 32 bits without a sign.
#[test]
fn blocks_that_were_not_counted_for_a_dictionary_of_2_gib_are_sound() {
    for (bytes, is_sound) in [("0", false), ("16384", true), ("2147483648", true), ("4294967295", true)] {
        let mut forge = Forge::new();
        let at = forge.add(&one(b"a", b"value"), 0);
        let forge = forge.property("rocksdb.num.data.blocks", varint(0));
        let options = format!("level=3; max_dict_bytes={bytes}; zstd_max_train_bytes=0; ");
        let forge = forge.property("rocksdb.compression_options", options);
        let found = scanned(forge.finish(&block(&[entry(0, &internal(b"a", 0, 1), &at)])));
        assert_eq!(found.is_ok(), is_sound, "{bytes}: {found:?}");
    }
}

fn zstd_safe_frame(content: &[u8]) -> Vec<u8> {
    crate::common::compress(&[], 3, false, content)
}

#[test]
fn index_entries_out_of_bounds_are_errors() {
    let index_of = |handles: &[Vec<u8>]| {
        let mut forge = Forge::new();
        forge.add(&one(b"a", b"1"), 0);
        let entries: Vec<_> = handles
            .iter()
            .enumerate()
            .map(|(i, handle)| entry(0, &internal(&[b'a' + i as u8], 0, 1), handle))
            .collect();
        forge.finish(&block(&entries))
    };
    let len = one(b"a", b"1").len() as u64;
    assert_eq!(scanned(index_of(&[handle(0, len)])), Ok(1));
    for bad in [handle(u64::MAX, 1), handle(1, u64::MAX), handle(1 << 40, 10), handle(0, 1 << 40)] {
        refused(index_of(&[bad]), Kind::Corrupt, "out of the bounds");
    }
    // An iteration over the same block twice would not terminate.
    refused(index_of(&[handle(0, len), handle(0, len)]), Kind::Corrupt, "out of the bounds");
    refused(index_of(&[vec![0x80; 11]]), Kind::Corrupt, "too large for its field");
    refused(index_of(&[vec![]]), Kind::Corrupt, "within a field");
}

#[test]
fn errors_have_the_offset_of_their_block() {
    let store = Store::new();
    let mut reader = Reader::new(&store);
    // A Snappy block without its length.
    let bytes = Forge::of(&[(b"a", one(b"a", b"1"), 0), (b"b", vec![0x80], 1)]);
    let sst = reader.open_bytes(bytes, SstOptions::new()).unwrap();
    let second = reader.blocks(&sst).unwrap()[1].offset;
    assert_eq!(reader.stats(&sst).unwrap_err().offset, second);

    // An index entry is out of bounds.
    let mut forge = Forge::new();
    forge.add(&one(b"a", b"1"), 0);
    let at = forge.bytes.len() as u64;
    let bytes = forge.finish(&block(&[entry(0, &internal(b"a", 0, 1), &handle(1 << 40, 10))]));
    let sst = reader.open_bytes(bytes, SstOptions::new()).unwrap();
    assert_eq!(reader.blocks(&sst).unwrap_err().offset, at);

    // The partition has no restart array, or its only key is greater than its separator.
    let partitioned = |content: fn(&[u8]) -> Vec<u8>| {
        let kind = 2u32.to_le_bytes();
        let mut forge = Forge::new().property("rocksdb.block.based.table.index.type", kind);
        let data = forge.add(&one(b"a", b"1"), 0);
        let at = forge.bytes.len() as u64;
        let part = forge.add(&content(&data), 0);
        (at, forge.finish(&block(&[entry(0, &internal(b"a", 0, 1), &part)])))
    };
    let (at, bytes) = partitioned(|_| vec![0]);
    let sst = reader.open_bytes(bytes, SstOptions::new()).unwrap();
    assert_eq!(reader.get(&sst, b"a").unwrap_err().offset, at);
    assert_eq!(reader.scan(&sst).next_entry().unwrap_err().offset, at);
    assert!(reader.verify(&sst).unwrap().failures.iter().all(|e| e.offset == at));
    let (at, bytes) = partitioned(|data| block(&[entry(0, &internal(b"b", 0, 1), data)]));
    let sst = reader.open_bytes(bytes, SstOptions::new()).unwrap();
    let failures = reader.verify(&sst).unwrap().failures;
    assert!(failures.len() == 1 && failures[0].offset == at, "{failures:?}");
}

/// The index has delta-encoded handles and restart points four entries apart.
#[test]
fn delta_encoded_handles_are_read() {
    let mut forge = Forge::new()
        .property("rocksdb.index.value.is.delta.encoded", [1])
        .property("rocksdb.index.key.is.user.key", [1]);
    let blocks: Vec<Vec<u8>> =
        (0..9u8).map(|i| one(&[b'k', b'a' + i], &vec![i; 7 * usize::from(i % 4)])).collect();
    let (mut index, mut restarts, mut before) = (Vec::new(), Vec::new(), 0i64);
    for (i, content) in blocks.iter().enumerate() {
        let at = forge.add(content, 0);
        let size = content.len() as i64;
        let key = [b'k', b'a' + i as u8];
        if i % 4 == 0 {
            restarts.extend((index.len() as u32).to_le_bytes());
            index.extend([&[0, 2][..], &key, &at].concat());
        } else {
            let by = size - before;
            index.extend([1, 1, key[1]]);
            index.extend(varint(((by << 1) ^ (by >> 63)) as u64));
        }
        before = size;
    }
    restarts.extend(3u32.to_le_bytes());
    let bytes = forge.finish(&[index, restarts].concat());
    assert_eq!(scanned(bytes.clone()), Ok(9));
    let store = Store::new();
    let mut reader = Reader::new(&store);
    let sst = reader.open_bytes(bytes, SstOptions::new()).unwrap();
    for i in 0..9u8 {
        let key = [b'k', b'a' + i];
        assert_eq!(reader.get(&sst, &key).unwrap().unwrap().value, vec![i; 7 * usize::from(i % 4)]);
    }
}

/// The properties have wrong numbers.
#[test]
fn wrong_properties_fail_verification() {
    for name in [
        "rocksdb.num.entries",
        "rocksdb.deleted.keys",
        "rocksdb.merge.operands",
        "rocksdb.num.data.blocks",
        "rocksdb.raw.key.size",
        "rocksdb.raw.value.size",
        "rocksdb.num.range-deletions",
    ] {
        let mut forge = Forge::new().property(name, [77]);
        let at = forge.add(&one(b"a", b"1"), 0);
        let index = block(&[entry(0, &internal(b"a", 0, 1), &at)]);
        refused(forge.finish(&index), Kind::Corrupt, "differs from the property");
    }
}

/// Keys that share prefixes take no more memory than the longest of them.
#[test]
fn long_shared_keys_use_little_memory() {
    let mut entries = vec![entry(0, &internal(&vec![b'a'; 100_000], 0, 1), b"")];
    // Each key is one byte longer than the previous one, and 100 KiB when it is assembled.
    for i in 0..2000u64 {
        entries.push(entry(100_000 + i, &internal(b"a", 0, 1), b""));
    }
    assert_eq!(scanned(Forge::of(&[(b"b", block(&entries), 0)])), Ok(2001));
    let properties = [&entries[..], &[]].concat();
    let mut forge = Forge::new();
    let many = forge.add(&block(&properties), 0);
    forge.others.push(("rocksdb.range_del", many));
    let e = Sst::from_bytes(forge.finish(&block(&[])), &Store::new()).err();
    assert!(e.is_none(), "200 MiB are within the default limit");
    let mut forge = Forge::new();
    let many = forge.add(&block(&properties), 0);
    forge.others.push(("rocksdb.range_del", many));
    let mut reader = Reader::new(&Store::new());
    let bytes = forge.finish(&block(&[]));
    let e = reader.open_bytes(bytes, SstOptions::new().block_limit(1 << 20)).unwrap_err();
    assert_eq!(e.kind, Kind::Limit);
}

#[test]
fn reader_of_another_store_is_an_error() {
    let bytes = Forge::of(&[(b"b", one(b"b", b"1"), 0)]);
    let sst = open(bytes).unwrap();
    let mut reader = Reader::new(&Store::new());
    assert_eq!(reader.get(&sst, b"b").unwrap_err().kind, Kind::BadArgument);
    assert_eq!(reader.verify(&sst).unwrap_err().kind, Kind::BadArgument);
    assert_eq!(reader.multi_get(&[(&sst, &b"b"[..])])[0].unwrap_err().kind, Kind::BadArgument);
}
