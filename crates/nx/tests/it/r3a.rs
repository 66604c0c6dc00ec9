//! Tests R3A archives made by hand: every form, dictionaries, user data, and invalid archives.

use linerate_nx::r3a::{Archive, AsNx, Extension, Form, Head, Preset, is_r3a, open_either, to_nx};
use linerate_nx::{Error, Extractor, HashKind, Kind, Limits, Note, Verifier};
use linerate_testkit::r3a::{
    FileSpec, MAGIC, MAGIC_SWAPPED, Shape, Vector, dictionary_payload, example, example_files, is_hashed,
    pool_of, raw_frame, segment, shapes, stored_segment, user_payload,
};

fn head(bytes: &[u8]) -> Result<Head, Error> {
    Head::parse(bytes, &Limits::default())
}

fn flexible(zero: u32) -> Shape {
    Shape::Flexible { hashed: true, pool: 20, files: 11, blocks: 11, offset: 12, zero }
}

/// Reads every file directly, and returns the files by path.
fn contents(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let archive = Archive::open(bytes).unwrap();
    let paths: Vec<String> = archive.files().map(|(path, _)| path.to_owned()).collect();
    let mut all: Vec<_> =
        paths.into_iter().enumerate().map(|(i, path)| (path, archive.read(i).unwrap())).collect();
    all.sort();
    all
}

/// Returns the same as [`contents`], but reads the archive through [`AsNx`].
fn contents_as_nx(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let archive = AsNx::new(Archive::open(bytes).unwrap()).unwrap().open().unwrap();
    let files = archive.files().map(|file| (file.path().to_owned(), archive.read(file).unwrap()));
    let mut all: Vec<_> = files.collect();
    all.sort();
    all
}

fn expected() -> Vec<(String, Vec<u8>)> {
    example_files().into_iter().map(|(name, content)| (name.to_owned(), content)).collect()
}

/// The worked example of the specification: one file `a` of one byte, preset 3 with hash.
#[test]
fn the_worked_example() {
    let mut bytes = vec![
        0x52, 0x33, 0x41, 0x00, 0x10, 0x00, 0xB0, 0x02, 0x00, 0x01, 0x00, 0x01, 0x00, 0x0B, 0x00,
        0x70, //
        0x85, 0x34, 0x55, 0x5C, 0xE0, 0x96, 0xD4, 0xD0, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, //
        0x08, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x20, 0x02, 0x11, 0x00, 0x00, 0x61, 0x00,
    ];
    bytes.resize(4096, 0);
    bytes.push(b'A');
    let head = head(&bytes).unwrap();
    assert_eq!(head.header.form, Form::Preset(Preset::Small { hashed: true }));
    assert_eq!((head.header.chunk.bytes(), head.header.pages, head.header.version), (1 << 20, 1, 1));
    assert_eq!(contents(&bytes), [("a".to_owned(), b"A".to_vec())]);
    assert_eq!(contents_as_nx(&bytes), [("a".to_owned(), b"A".to_vec())]);
}

#[test]
fn every_form_is_read_with_either_magic_and_version() {
    for magic in [MAGIC, MAGIC_SWAPPED] {
        // Version 0 stores widths unchanged; version 1 in either of two ways.
        for (version, zero) in [(0, 0), (1, 0), (1, 1)] {
            for shape in shapes(zero) {
                let bytes = Vector { magic, version, ..example(shape) }.bytes();
                assert!(is_r3a(&bytes));
                assert_eq!(contents(&bytes), expected(), "version {version}, {shape:?}");
                let head = head(&bytes).unwrap();
                assert_eq!(head.header.version, version as u8);
                assert_eq!(head.header.form.hashed(), is_hashed(shape), "{shape:?}");
                assert!(head.dictionaries.is_none() && head.user_data.is_empty());
                assert_eq!(contents_as_nx(&bytes), expected(), "{shape:?}");
            }
        }
    }
}

#[test]
fn archive_without_hashes_is_read_and_reported_as_unverifiable() {
    let bytes = example(Shape::Small(false)).bytes();
    let open = |bytes| AsNx::new(Archive::open(bytes).unwrap()).unwrap().open().unwrap();
    let archive = open(bytes.clone());
    assert!(!archive.has_hashes() && archive.files().all(|file| file.hash().is_none()));
    let count = expected().len() as u64;
    let verified = Verifier::new(&archive).threads(2).run().unwrap();
    assert_eq!((verified.files, verified.failures.len()), (count, 0));
    assert_eq!(verified.notes, [Note::Unhashed(count)]);
    let folder = tempfile::tempdir().unwrap();
    let extracted = Extractor::new(&archive).to_folder(folder.path()).unwrap();
    assert_eq!((extracted.files, extracted.failures.len()), (count, 0));
    for (path, content) in expected() {
        assert!(std::fs::read(folder.path().join(&path)).unwrap() == content, "{path}");
    }
    // Without hashes, contents are compared.
    assert!(Verifier::new(&archive).compare(folder.path()).unwrap().is_same());
    let (path, mut content) = expected().into_iter().find(|(_, content)| !content.is_empty()).unwrap();
    content[0] ^= 1;
    std::fs::write(folder.path().join(&path), content).unwrap();
    assert_eq!(Verifier::new(&archive).compare(folder.path()).unwrap().different, [path]);

    // Converted to Nx, the archive has hashes.
    let mut nx = Vec::new();
    to_nx(Archive::open(bytes.clone()).unwrap(), &mut nx).unwrap();
    let nx = linerate_nx::Archive::open(nx).unwrap();
    let verified = Verifier::new(&nx).run().unwrap();
    assert!(nx.has_hashes() && verified.failures.is_empty() && verified.notes.is_empty());

    // A damaged block is an error, even if its start can be decoded.
    let mut vector = example(Shape::Small(false));
    for (_, block) in &mut vector.blocks {
        block.iter_mut().for_each(|byte| *byte = 0xFF);
    }
    let verified = Verifier::new(&open(vector.bytes())).run().unwrap();
    assert!(!verified.failures.is_empty());
}

#[test]
fn counts_of_43_bits_have_a_word_of_their_own() {
    let header_bytes = |shape| head(&example(shape).bytes()).unwrap().header.form.header_bytes();
    let shape = |pool| Shape::Flexible { hashed: true, pool, files: 11, blocks: 11, offset: 12, zero: 1 };
    assert_eq!((header_bytes(shape(20)), header_bytes(shape(21))), (16, 24));
}

#[test]
fn version_0_states_widths_as_they_are() {
    let bytes = Vector { version: 0, ..example(flexible(1)) }.bytes();
    assert!(matches!(head(&bytes).unwrap_err().kind, Kind::Corrupt | Kind::Limit));
}

/// If a stored width of 0 means 0, there are 6 blocks and a pool of 48 bytes; if it means 1, there
/// are 3 blocks and a pool of 12 bytes. Both pools are valid.
#[test]
fn ambiguous_tables_are_an_error() {
    let sized = |text: &[u8]| {
        let frame = [&[0x20, text.len() as u8], &((text.len() as u32) << 3 | 1).to_le_bytes()[..3], text];
        [&(text.len() as u32).to_le_bytes()[..], &frame.concat()].concat()
    };
    let long = [&[b'n'; 38][..], &[0]].concat();
    let counts = 48u64 << 7 | 6 << 2 | 1;
    let word = 1u64 << 63 | 10 << 57 | 2 << 52 | 5 << 47 | 4 << 42 | counts;
    let mut bytes =
        [&MAGIC[..], &(1u32 << 25 | 1 << 20 | 1 << 4).to_le_bytes(), &word.to_le_bytes()].concat();
    // The entry of an empty file and three blocks. Next come three more blocks or the short pool,
    // depending on the meaning of 0, and then the long pool.
    bytes.extend([0; 8 + 12]);
    bytes.extend(sized(b"ab\0"));
    bytes.extend(sized(&long));
    bytes.resize(4096, 0);
    assert!(head(&bytes).unwrap_err().message.contains("two ways"));
    // If either pool is broken, one interpretation is left.
    let broken = |at: usize| {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0xFF;
        head(&bytes).unwrap().header
    };
    assert_eq!((broken(36).blocks, broken(36).pool), (6, 48));
    assert_eq!((broken(48).blocks, broken(48).pool), (3, 12));
    bytes[36] ^= 0xFF;
    bytes[48] ^= 0xFF;
    assert_eq!(head(&bytes).unwrap_err().kind, Kind::Corrupt);
}

#[test]
fn archive_without_files_is_not_ambiguous() {
    let vector = Vector { files: vec![], blocks: vec![], pool: vec![], ..example(flexible(1)) };
    assert!(Archive::open(&vector.bytes()[..]).unwrap().is_empty());
}

/// Returns a frame of `content` that needs the dictionary, without magic number.
fn with_dictionary(content: &[u8], dictionary: &[u8]) -> Vec<u8> {
    let mut context = zstd_safe::CCtx::create();
    context.set_parameter(zstd_safe::CParameter::ContentSizeFlag(false)).unwrap();
    context.set_parameter(zstd_safe::CParameter::DictIdFlag(false)).unwrap();
    context.load_dictionary(dictionary).unwrap();
    let mut out = Vec::with_capacity(zstd_safe::compress_bound(content.len()));
    context.compress2(&mut out, content).unwrap();
    out.split_off(4)
}

/// Returns an archive with one file per block. `of_block` has the dictionary of each block.
fn dictionary_vector(
    of_block: &[Option<u8>],
    dictionaries: &[&[u8]],
    runs: &[(u8, u8)],
    last: u64,
    hashed: bool,
) -> Vector {
    let content = |i: usize| -> Vec<u8> {
        let dictionary = of_block[i].map_or(&b"none at all"[..], |d| dictionaries[usize::from(d)]);
        [&dictionary[i % 7..], format!(" {i}").as_bytes()].concat()
    };
    let names: Vec<String> = (0..of_block.len()).map(|i| format!("{i:04}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let block = |i: usize| match of_block[i] {
        Some(d) => with_dictionary(&content(i), dictionaries[usize::from(d)]),
        None => raw_frame(&content(i)),
    };
    let file = |i: usize| FileSpec {
        hash: HashKind::Xxh3.hash_bytes(&content(i)),
        size: content(i).len() as u64,
        offset: 0,
        path: i as u64,
        block: i as u64,
    };
    Vector {
        files: (0..of_block.len()).map(file).collect(),
        blocks: (0..of_block.len()).map(|i| (1, block(i))).collect(),
        pool: pool_of(&names),
        dictionaries: Some(stored_segment(&dictionary_payload(dictionaries, runs, last, hashed))),
        ..example(Shape::Small(true))
    }
}

const FIRST: &[u8] = b"the first dictionary, which has words such as texture, mesh, sound and level";
const SECOND: &[u8] = b"another one: {\"name\": \"value\", \"position\": [0.0, 0.0, 0.0], \"scale\": 1}";

#[test]
fn dictionaries_of_runs_of_255_and_300_blocks() {
    let block = |dictionary, count| vec![dictionary; count];
    let short = [block(Some(0), 255), block(None, 2)].concat();
    let long = [block(Some(1), 300), block(None, 3), block(Some(0), 4)].concat();
    let long_runs = [(1, 255), (1, 45), (255, 3), (0, 4)];
    for hashed in [true, false] {
        // The field is the number of the last block, or one more: the number of blocks.
        for more in [0, 1] {
            let short = dictionary_vector(&short, &[FIRST], &[(0, 255)], 254 + more, hashed);
            let long = dictionary_vector(&long, &[FIRST, SECOND], &long_runs, 306 + more, hashed);
            for vector in [short, long] {
                let bytes = vector.bytes();
                let archive = Archive::open(&bytes[..]).unwrap();
                for i in 0..archive.len() {
                    archive.read(i).unwrap_or_else(|e| panic!("block {i}: {e}"));
                }
                assert_eq!(contents(&bytes), contents_as_nx(&bytes));
                let found = archive.head().dictionaries.clone().unwrap();
                assert_eq!(
                    (found.hashed, found.of_block.len() as u64),
                    (hashed, if archive.len() == 257 { 255 } else { 307 })
                );
            }
        }
    }
}

#[test]
fn compressed_dictionary_segment_is_read() {
    let payload = dictionary_payload(&[FIRST], &[(0, 2)], 1, true);
    let mut vector = dictionary_vector(&[Some(0), Some(0), None], &[FIRST], &[(0, 2)], 1, true);
    let plain = contents(&vector.bytes());
    vector.dictionaries = Some(segment(0, 28, &payload));
    assert_eq!(contents(&vector.bytes()), plain);
    // A frame with its magic number is also accepted.
    let frame = [&[0x28, 0xB5, 0x2F, 0xFD][..], &raw_frame(&payload)].concat();
    let word = (frame.len() as u64) << 28 | payload.len() as u64;
    vector.dictionaries = Some([&word.to_le_bytes()[..], &frame].concat());
    assert_eq!(contents(&vector.bytes()), plain);
}

#[test]
fn bad_dictionary_segment_is_an_error() {
    let of_block = [Some(0), Some(0), None];
    let make = |dictionaries: Vec<u8>| {
        let mut vector = dictionary_vector(&of_block, &[FIRST], &[(0, 2)], 1, true);
        vector.dictionaries = Some(dictionaries);
        head(&vector.bytes()).map(|head| head.header.has_dictionaries()).map_err(|e| e.kind)
    };
    let payload = |runs: &[(u8, u8)], last| dictionary_payload(&[FIRST], runs, last, true);
    let good = payload(&[(0, 2)], 1);
    assert_eq!(make(stored_segment(&good)), Ok(true));
    let corrupt = Err(Kind::Corrupt);
    assert_eq!(make(stored_segment(&payload(&[(0, 2), (0, 0)], 1))), corrupt, "a run of 0");
    assert_eq!(make(stored_segment(&payload(&[(1, 2)], 1))), corrupt, "no such dictionary");
    assert_eq!(make(stored_segment(&payload(&[(0, 4)], 3))), corrupt, "more blocks than there are");
    assert_eq!(make(stored_segment(&payload(&[(0, 2)], 0))), corrupt, "a last block too low");
    assert_eq!(make(stored_segment(&payload(&[(0, 2)], 3))), corrupt, "a last block too high");
    assert_eq!(make(stored_segment(&[&good[..], &[0]].concat())), corrupt, "a byte after the end");
    for len in 0..good.len() {
        assert_eq!(make(stored_segment(&good[..len])), corrupt, "{len} bytes");
    }
    let with = |at: usize, value: u8| {
        let mut payload = good.clone();
        payload[at] = value;
        make(stored_segment(&payload))
    };
    let last = good.len() - 1;
    assert_eq!(with(last, good[last] ^ 1), corrupt, "a dictionary that is not as hashed");
    // 255 dictionaries.
    let mut many = good.clone();
    (many[5], many[6]) = (0xF0, 0x1F);
    assert_eq!(make(stored_segment(&many)), corrupt, "255 dictionaries");
    let word = |top: u64, compressed: u64, content: u64| (top | compressed << 28 | content).to_le_bytes();
    assert_eq!(make([&word(1 << 55, 0, 8)[..], &[0; 8]].concat()), Err(Kind::Unsupported), "a version");
    assert_eq!(make(word(0, 0, (1 << 28) - 1).to_vec()), corrupt, "past the header");
    assert_eq!(make(word(0, (1 << 27) - 1, 9).to_vec()), corrupt, "past the header");
    let frame = raw_frame(&good);
    let folded = |content: usize| [&word(0, frame.len() as u64, content as u64)[..], &frame].concat();
    assert_eq!(make(folded(good.len())), Ok(true));
    assert_eq!(make(folded(good.len() + 1)), corrupt, "less than stated");
    assert_eq!(make(folded(good.len() - 1)), corrupt, "more than stated");
    assert_eq!(make(folded((1 << 28) - 1)), Err(Kind::Limit));
}

#[test]
fn user_data_of_1_and_16_extensions_comes_to_the_caller() {
    for count in [1usize, 16] {
        let data: Vec<Vec<u8>> = (0..count).map(|i| vec![i as u8; i * 5]).collect();
        let extensions: Vec<(u32, &[u8])> =
            data.iter().enumerate().map(|(i, data)| (u32::MAX - i as u32, &data[..])).collect();
        let payload = user_payload(&extensions);
        let expected: Vec<Extension> =
            extensions.iter().map(|(id, data)| Extension { id: *id, data: data.to_vec() }).collect();
        let top = (count as u64 - 1) << 58;
        // The last padding may be missing.
        let unpadded = match count {
            1 => &payload[..],
            _ => &payload[..payload.len() - 5],
        };
        for payload in [&payload, unpadded] {
            for dictionaries in
                [None, Some(stored_segment(&dictionary_payload(&[FIRST], &[(255, 1)], 0, true)))]
            {
                let user_data = Some(segment(top, 30, payload));
                let bytes = Vector { user_data, dictionaries, ..example(Shape::Preset(0)) }.bytes();
                assert_eq!(head(&bytes).unwrap().user_data, expected);
                assert_eq!(contents(&bytes), self::expected());
            }
        }
    }
}

#[test]
fn bad_user_data_is_an_error() {
    let make = |user_data: Vec<u8>| {
        let bytes = Vector { user_data: Some(user_data), ..example(Shape::Preset(0)) }.bytes();
        head(&bytes).map(|head| head.user_data.len()).map_err(|e| e.kind)
    };
    let payload = user_payload(&[(1, b"first"), (2, b"second")]);
    let two = 1 << 58;
    assert_eq!(make(segment(two, 30, &payload)), Ok(2));
    assert_eq!(make(segment(two | 1 << 62, 30, &payload)), Err(Kind::Unsupported), "a version");
    assert_eq!(make(segment(0, 30, &payload)), Err(Kind::Corrupt), "an extension too many");
    assert_eq!(make(segment(2 << 58, 30, &payload)), Err(Kind::Corrupt), "one too few");
    for len in 0..payload.len() - 2 {
        assert_eq!(make(segment(two, 30, &payload[..len])), Err(Kind::Corrupt), "{len} bytes");
    }
    let mut wide = payload.clone();
    wide[4..8].fill(0xFF);
    assert_eq!(make(segment(two, 30, &wide)), Err(Kind::Corrupt), "a size of 4 GiB");
    assert_eq!(make((two | 9).to_le_bytes().to_vec()), Err(Kind::Corrupt), "no payload");
}

#[test]
fn errors_of_a_shown_archive_have_offsets_in_the_r3a_file() {
    for (shape, entry_bytes) in [(Shape::Preset(2), 24), (Shape::Small(true), 16)] {
        // The user data makes the header longer than that of the Nx archive.
        let user_data = Some(segment(0, 30, &user_payload(&[(1, &[7; 5000])])));
        let good = Vector { user_data, ..example(shape) };
        let open = |vector: &Vector, limits: Limits| {
            AsNx::new(Archive::open_with(vector.bytes(), limits).unwrap()).unwrap().open().unwrap()
        };
        for i in 0..good.files.len() {
            let mut wrong = good.clone();
            wrong.files[i].hash ^= 1;
            let archive = open(&wrong, Limits::default());
            let error = archive.read(archive.get(i).unwrap()).unwrap_err();
            assert_eq!((error.kind, error.offset), (Kind::Corrupt, 16 + i as u64 * entry_bytes), "{shape:?}");
        }
        let big = |archive: &linerate_nx::Archive<AsNx<Vec<u8>>>| {
            archive.read(archive.find("big.bin").unwrap()).map_err(|error| (error.kind, error.offset))
        };
        // Block 1 follows two pages of the header and block 0.
        let at = 3 * 4096;
        let small = Limits { block: 1000, ..Limits::default() };
        assert_eq!(big(&open(&good, small)), Err((Kind::Limit, at)), "{shape:?}");
        let mut wrong = good.clone();
        let frame = &mut wrong.blocks[1].1;
        // A block of the reserved type, after the frame's header of two bytes.
        frame[2] |= 6;
        let len = frame.len() as u64;
        let (kind, offset) = big(&open(&wrong, Limits::default())).unwrap_err();
        assert_eq!(kind, Kind::Corrupt, "{shape:?}");
        assert!((at..at + len).contains(&offset), "{shape:?}: {offset}");
    }
}

#[test]
fn bad_header_is_an_error_at_its_offset() {
    let good = example(Shape::Preset(0)).bytes();
    let with = |at: usize, bytes: &[u8]| {
        let mut all = good.clone();
        all[at..at + bytes.len()].copy_from_slice(bytes);
        head(&all).map_err(|e| (e.kind, e.offset))
    };
    assert!(with(0, &MAGIC_SWAPPED).is_ok());
    assert_eq!(with(0, b"R3A1"), Err((Kind::Corrupt, 0)));
    let word = |version: u32, n: u32, pages: u32| (version << 25 | n << 20 | pages << 4).to_le_bytes();
    assert!(with(4, &word(1, 20, 1)).is_ok());
    assert_eq!(with(4, &word(2, 1, 1)), Err((Kind::Unsupported, 7)));
    for n in 21..32 {
        assert_eq!(with(4, &word(1, n, 1)), Err((Kind::Unsupported, 6)), "chunk exponent {n}");
    }
    assert_eq!(with(4, &word(1, 1, 0)), Err((Kind::Corrupt, 4)));
    assert_eq!(with(4, &word(1, 1, 0xFFFF)).unwrap_err().0, Kind::Truncated);
    let counts = |pool: u64, blocks: u64, files: u64| (pool << 40 | blocks << 18 | files).to_le_bytes();
    assert_eq!(with(8, &counts(1 << 20, 5, 5)), Err((Kind::Corrupt, 8)));
    assert_eq!(with(8, &counts(9, (1 << 22) - 1, 5)), Err((Kind::Corrupt, 8)));
    assert_eq!(with(8, &counts(9, 5, (1 << 18) - 1)), Err((Kind::Corrupt, 8)));
    // The path index is 5, but there are only 5 paths.
    assert_eq!(with(16 + 20 + 12, &(5u64 << 22).to_le_bytes()), Err((Kind::Corrupt, 36)));
    for len in 0..4096 {
        let kind = head(&good[..len]).unwrap_err().kind;
        assert_eq!(kind, Kind::Truncated, "{len} bytes");
    }
}

#[test]
fn widths_and_counts_beyond_64_bits_are_refused() {
    let good = example(flexible(0)).bytes();
    for version in [0u32, 1] {
        let with = |table: u64, counts: u64| {
            let mut bytes = good.clone();
            bytes[4..8].copy_from_slice(&(version << 25 | 1 << 20 | 1 << 4).to_le_bytes());
            bytes[8..16].copy_from_slice(&table.to_le_bytes());
            bytes[16..24].copy_from_slice(&counts.to_le_bytes());
            head(&bytes).map_err(|e| (e.kind, e.offset))
        };
        let widths = |p: u64, f: u64, b: u64, o: u64| 1 << 63 | p << 57 | f << 52 | b << 47 | o << 42;
        assert_eq!(with(widths(1, 31, 31, 31), 0), Err((Kind::Corrupt, 8)), "an entry of 93 bits");
        assert_eq!(with(widths(31, 31, 31, 0), 0), Err((Kind::Corrupt, 8)), "counts of 93 bits");
        // Tables of 2^37 bytes, which wrap in 32 bits.
        assert_eq!(with(widths(1, 31, 31, 1), u64::MAX), Err((Kind::Corrupt, 8)));
        assert_eq!(with(widths(1, 31, 31, 1), 1 << 29), Err((Kind::Corrupt, 8)));
        assert_eq!(with(widths(1, 28, 28, 1), 1 << 27), Err((Kind::Corrupt, 8)));
    }
}

#[test]
fn offsets_of_more_than_24_bits_are_refused() {
    let shape = Shape::Flexible { hashed: true, pool: 12, files: 4, blocks: 4, offset: 26, zero: 1 };
    let mut vector = example(shape);
    assert_eq!(contents(&vector.bytes()), expected());
    vector.files[0].offset = 1 << 24;
    let error = head(&vector.bytes()).unwrap_err();
    assert_eq!((error.kind, error.offset), (Kind::Corrupt, 16));
}

#[test]
fn bad_pool_is_an_error() {
    let make = |pool: Vec<u8>| {
        let bytes = Vector { pool, ..example(Shape::Preset(0)) }.bytes();
        head(&bytes).map(|_| ()).map_err(|e| e.kind)
    };
    let good = pool_of(&["a", "b", "c", "d", ""]);
    assert_eq!(make(good.clone()), Ok(()));
    let stated = |n: u32| [&n.to_le_bytes()[..], &good[4..]].concat();
    for pool in [
        vec![],
        vec![9, 0, 0],
        vec![9, 0, 0, 0],
        stated(8),
        stated(10),
        // Too short for a NUL for each file.
        stated(4),
        pool_of(&["a", "b", "c", "d"]),
        pool_of(&["a", "b", "c", "d", "e", "f"]),
        [&good[..], &[0]].concat(),
    ] {
        assert!(matches!(make(pool.clone()), Err(Kind::Corrupt | Kind::Truncated)), "{pool:?}");
    }
    assert_eq!(make(stated(u32::MAX)), Err(Kind::Limit));
}

#[test]
fn block_of_unsupported_codec_is_an_error_of_its_files_only() {
    for codec in 3..8 {
        let mut vector = example(Shape::Preset(0));
        vector.blocks[4].0 = codec;
        let bytes = vector.bytes();
        let archive = Archive::open(&bytes[..]).unwrap();
        assert_eq!(archive.read(0).unwrap_err().kind, Kind::Unsupported);
        assert!((1..5).all(|i| archive.read(i).is_ok()));
        let nx = AsNx::new(archive).unwrap().open().unwrap();
        assert_eq!(nx.read(nx.find("z.lz4").unwrap()).unwrap_err().kind, Kind::Unsupported);
        assert_eq!(nx.read(nx.find("big.bin").unwrap()).unwrap(), example_files()[2].1);
    }
}

#[test]
fn entry_past_its_block_is_an_error_at_its_offset() {
    for (shape, at) in [(Shape::Preset(0), 36), (Shape::Preset(2), 40), (flexible(1), 32)] {
        let mut vector = example(shape);
        // `big.bin` has three blocks. The last of them would be missing.
        vector.files[1].block = 3;
        let error = Archive::open(&vector.bytes()[..]).unwrap_err();
        assert_eq!((error.kind, error.offset), (Kind::Corrupt, at), "{shape:?}");
        let mut vector = example(shape);
        vector.blocks[2].1.truncate(1023);
        let error = Archive::open(&vector.bytes()[..]).unwrap_err();
        let blocks_at = head(&vector.bytes()).unwrap().header.blocks_offset();
        assert_eq!((error.kind, error.offset), (Kind::Corrupt, blocks_at + 8), "{shape:?}");
    }
    let bytes = example(Shape::Preset(0)).bytes();
    assert_eq!(Archive::open(&bytes[..bytes.len() - 1]).unwrap_err().kind, Kind::Truncated);
}

#[test]
fn archives_of_either_format_are_opened() {
    let bytes = example(Shape::Preset(2)).bytes();
    let mut nx = Vec::new();
    to_nx(Archive::open(&bytes[..]).unwrap(), &mut nx).unwrap();
    for bytes in [bytes, nx] {
        assert_eq!(open_either(Box::new(bytes), Limits::default()).unwrap().len(), 5);
    }
    for (bad, kind) in [(&b"NXUS etc"[..], Kind::Truncated), (b"", Kind::Corrupt)] {
        let error = open_either(Box::new(bad), Limits::default()).err();
        assert_eq!(error.map(|error| error.kind), Some(kind));
    }
}
