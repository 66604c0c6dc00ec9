//! Tests written R3A archives: they are read again, converted to and from Nx, and damaged.

use linerate_nx::pack::{Builder, Preset};
use linerate_nx::r3a::{
    self, AsNx, Block, BlockCodec, BlockEncoder, Dictionaries, Extension, Form, Head, HeadBuilder, Tables,
    from_nx, to_nx,
};
use linerate_nx::{Archive, ChunkSize, Codec, Entry, HashKind, Kind, Limits};
use linerate_testkit::r3a::{
    Shape, Vector, dictionary_payload, example, segment, stored_segment, user_payload,
};
use proptest::prelude::*;

use crate::cases::cases;
use crate::common::{Golden, goldens};

fn entry(size: u64, path: u32, first_block: u32, block_offset: u32) -> Entry {
    Entry { hash: u64::from(path) + 7, size, path, first_block, block_offset }
}

fn draft<'a>(entries: &'a [Entry], blocks: &'a [Block], paths: &'a [&'a str]) -> HeadBuilder<'a> {
    HeadBuilder {
        chunk: ChunkSize::from_bytes(1 << 20).unwrap(),
        tables: Tables::Presets,
        entries,
        blocks,
        paths,
        dictionaries: None,
        user_data: &[],
    }
}

fn stored(compressed: u32) -> Block {
    Block { compressed, codec: BlockCodec::Known(Codec::Copy) }
}

/// The worked example is written with the bytes of the specification.
#[test]
fn the_worked_example_is_written() {
    let one = Entry { hash: 0xd0d4_96e0_5c55_3485, size: 1, path: 0, first_block: 0, block_offset: 0 };
    let bytes = draft(&[one], &[stored(1)], &["a"]).write().unwrap();
    assert_eq!(bytes.len(), 4096);
    let expected = [
        0x52, 0x33, 0x41, 0x00, 0x10, 0x00, 0xB0, 0x02, 0x00, 0x01, 0x00, 0x01, 0x00, 0x0B, 0x00,
        0x70, //
        0x85, 0x34, 0x55, 0x5C, 0xE0, 0x96, 0xD4, 0xD0, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, //
        0x08, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00,
    ];
    assert_eq!(bytes[..40], expected);
}

#[test]
fn first_preset_that_fits_is_written() {
    let name = |entries: &[Entry]| {
        let bytes = draft(entries, &[stored(9); 5000], &["a"]).write().unwrap();
        Head::parse(&bytes, &Limits::default()).unwrap().header.form.name()
    };
    assert_eq!(name(&[entry(u32::MAX.into(), 0, 0, 0)]), "preset 3");
    assert_eq!(name(&[entry(1, 0, 0, 1)]), "preset 0");
    assert_eq!(name(&[entry(1, 0, 0, (1 << 24) - 1)]), "preset 0");
    assert_eq!(name(&[entry(1 << 32, 0, 0, 0)]), "preset 2");
    // The position of an empty file has no meaning.
    assert_eq!(name(&[entry(0, 0, 9_000_000, 5)]), "preset 3");
    let many = draft(&[entry(1, 0, 65_535, 0)], &[stored(9); 65_536], &["a"]).write().unwrap();
    assert_eq!(Head::parse(&many, &Limits::default()).unwrap().header.form.name(), "preset 0");
}

#[test]
fn exceeding_a_limit_of_the_format_is_an_error() {
    let kind = |entry: Entry, block: Block| draft(&[entry], &[block], &["a"]).write().unwrap_err().kind;
    assert_eq!(kind(entry(1, 0, 0, 1 << 24), stored(1)), Kind::Limit, "an offset");
    assert_eq!(kind(entry(1, 0, 0, 0), stored(1 << 29)), Kind::Limit, "a block");
    assert_eq!(kind(entry(1, 0, 1, 0), stored(1)), Kind::BadArgument, "no such block");
    assert_eq!(kind(entry(1, 1, 0, 0), stored(1)), Kind::BadArgument, "no such path");
    let foreign = Block { compressed: 1, codec: BlockCodec::Foreign(3) };
    assert_eq!(kind(entry(1, 0, 0, 0), foreign), Kind::BadArgument);
    let flexible = HeadBuilder { tables: Tables::Flexible, ..draft(&[], &[], &[]) };
    let wide = [entry(u64::MAX, 0, 0, 0)];
    let error = HeadBuilder { entries: &wide, blocks: &[stored(1)], paths: &["a"], ..flexible }.write();
    assert_eq!(error.unwrap_err().kind, Kind::Limit, "a size");
    let seventeen = vec![Extension { id: 1, data: vec![] }; 17];
    let error = HeadBuilder { user_data: &seventeen, ..flexible }.write();
    assert_eq!(error.unwrap_err().kind, Kind::Limit);
    let dictionaries = Dictionaries { of_block: vec![Some(0)], ..Dictionaries::default() };
    let error = HeadBuilder { dictionaries: Some(&dictionaries), ..flexible }.write();
    assert_eq!(error.unwrap_err().kind, Kind::BadArgument);
}

/// The blocks are written by the crate's own encoder. Dictionaries have runs of more than 255
/// blocks.
#[test]
fn dictionaries_are_written_with_hashes_and_read() {
    let dictionaries = vec![b"words that come again, again and again".to_vec(), vec![b'z'; 5000]];
    let of_block: Vec<Option<u8>> =
        (0..700).map(|i| [Some(1), None, Some(0), None][i / 300 + usize::from(i == 699)]).collect();
    let set = Dictionaries { dictionaries, of_block, hashed: true };
    let content =
        |i: usize| [set.for_block(i).map_or(&b"plain"[..], |d| set.get(d).unwrap()), &[i as u8]].concat();
    let (mut entries, mut blocks, mut data) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..700 {
        let dictionary = set.for_block(i).map_or(&[][..], |d| set.get(d).unwrap());
        let (codec, bytes) = BlockEncoder { level: 9, dictionary }.encode(&content(i)).unwrap();
        assert_eq!(codec == Codec::Zstd, set.for_block(i).is_some(), "{i}");
        let hash = HashKind::Xxh3.hash_bytes(&content(i));
        entries.push(Entry { hash, ..entry(content(i).len() as u64, i as u32, i as u32, 0) });
        blocks.push(Block { compressed: bytes.len() as u32, codec: BlockCodec::Known(codec) });
        data.push(bytes);
    }
    let names: Vec<String> = (0..700).map(|i| format!("{i:03}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let user_data = [Extension { id: 9, data: b"nine".to_vec() }];
    for tables in [Tables::Presets, Tables::Flexible] {
        let draft = HeadBuilder {
            dictionaries: Some(&set),
            user_data: &user_data,
            tables,
            ..draft(&entries, &blocks, &names)
        };
        let mut bytes = draft.write().unwrap();
        for block in &data {
            bytes.resize(bytes.len().next_multiple_of(4096), 0);
            bytes.extend(block);
        }
        let archive = r3a::Archive::open(&bytes[..]).unwrap();
        let found = archive.head().dictionaries.as_ref().unwrap();
        assert!(found.hashed && found.dictionaries == set.dictionaries);
        assert!((0..700).all(|i| found.for_block(i) == set.for_block(i)));
        assert_eq!(archive.head().user_data, user_data);
        assert!((0..700).all(|i| archive.read(i).unwrap() == content(i)));
        let mut nx = Vec::new();
        let conversion = to_nx(archive, &mut nx).unwrap();
        assert_eq!(conversion.decoded_blocks, 399);
        let nx = Archive::open(nx).unwrap();
        assert!(nx.files().all(|file| nx.read(file).unwrap() == content(file.index())));
    }
}

/// Checks that two archives have the same files and identical blocks.
fn assert_same(a: &Archive<Vec<u8>>, b: &Archive<Vec<u8>>, name: &str) {
    assert_eq!(a.toc().blocks, b.toc().blocks, "{name}");
    assert_eq!(a.pool(), b.pool(), "{name}");
    for (i, block) in a.toc().blocks.iter().enumerate() {
        let bytes = |archive: &Archive<Vec<u8>>| {
            let at = archive.layout().offset(i) as usize;
            archive.source()[at..at + block.compressed as usize].to_vec()
        };
        assert!(bytes(a) == bytes(b), "{name}: block {i}");
    }
    for a in a.files() {
        let b = b.find(a.path()).expect("every path");
        assert_eq!((a.path(), a.size(), a.hash()), (b.path(), b.size(), b.hash()), "{name}");
    }
    assert_eq!(a.len(), b.len(), "{name}");
}

#[test]
fn goldens_become_r3a_and_nx_again() {
    for golden in goldens().into_iter().filter(Golden::is_small) {
        let nx = Archive::open(std::fs::read(&golden.path).unwrap()).unwrap();
        for tables in [Tables::Presets, Tables::Flexible] {
            let mut bytes = Vec::new();
            let converted = from_nx(&nx, tables, &[], &mut bytes);
            if !golden.damaged.is_empty() {
                // A damaged file is an error, and is not converted.
                assert_eq!(converted.unwrap_err().kind(), std::io::ErrorKind::InvalidData);
                continue;
            }
            assert_eq!(converted.unwrap().bytes, bytes.len() as u64);
            let flexible =
                matches!(Head::parse(&bytes, &Limits::default()).unwrap().header.form, Form::Flexible { .. });
            assert_eq!(flexible, tables == Tables::Flexible);
            let archive = r3a::Archive::open(&bytes[..]).unwrap();
            for i in 0..archive.len() {
                archive.read(i).unwrap_or_else(|e| panic!("{}: file {i}: {e}", golden.name));
            }
            let mut back = Vec::new();
            let conversion = to_nx(archive, &mut back).unwrap();
            assert_eq!((conversion.bytes, conversion.decoded_blocks), (back.len() as u64, 0));
            assert_same(&nx, &Archive::open(back).unwrap(), &golden.name);
        }
    }
}

#[test]
fn generated_nx_bytes_do_not_depend_on_the_read_sizes() {
    let mut builder = Builder::new(Preset::from_name("fast-load").unwrap().options()).unwrap();
    for i in 0..50 {
        builder.add_bytes(format!("{i}"), vec![i as u8; i * 1000]).unwrap();
    }
    let (nx, _) = builder.to_bytes().unwrap();
    let mut bytes = Vec::new();
    from_nx(&Archive::open(nx).unwrap(), Tables::Presets, &[], &mut bytes).unwrap();
    let shown = AsNx::new(r3a::Archive::open(&bytes[..]).unwrap()).unwrap();
    use linerate_nx::ReadAt;
    let mut whole = vec![0; shown.len() as usize];
    shown.read_at(0, &mut whole).unwrap();
    for len in [1, 3, 4095, 4097] {
        for at in (0..whole.len() - len).step_by(991) {
            let mut part = vec![0xAA; len];
            shown.read_at(at as u64, &mut part).unwrap();
            assert!(part == whole[at..at + len], "{len} bytes at {at}");
        }
    }
    assert!(shown.read_at(shown.len(), &mut [0]).is_err());
    assert!(shown.read_at(u64::MAX, &mut [0]).is_err());
}

/// Reads all files. Each must have its content or be an error.
fn read_all(bytes: &[u8]) {
    let limits = Limits { file: 1 << 20, block: 1 << 20, ..Limits::default() };
    if let Ok(archive) = r3a::Archive::open_with(bytes, limits) {
        for i in 0..archive.len() {
            if let (Ok(content), true) = (archive.read(i), archive.head().header.form.hashed()) {
                assert_eq!(HashKind::Xxh3.hash_bytes(&content), archive.head().toc.entries[i].hash);
            }
        }
        if let Ok(Ok(nx)) = AsNx::new(archive).map(AsNx::open) {
            nx.files().for_each(|file| drop(nx.read(file)));
        }
    }
}

#[test]
fn flipped_bit_or_truncation_is_an_error_or_harmless() {
    let flexible = |zero| Shape::Flexible { hashed: true, pool: 20, files: 11, blocks: 11, offset: 12, zero };
    let dictionaries =
        Some(stored_segment(&dictionary_payload(&[b"some words"], &[(255, 2), (0, 1)], 2, true)));
    let user_data = Some(segment(1 << 58, 30, &user_payload(&[(1, b"one"), (2, b"")])));
    for shape in [Shape::Preset(0), Shape::Small(false), flexible(0), flexible(1)] {
        let vector =
            Vector { dictionaries: dictionaries.clone(), user_data: user_data.clone(), ..example(shape) };
        let bytes = vector.bytes();
        assert!(r3a::Archive::open(&bytes[..]).is_ok(), "{shape:?}");
        for bit in 0..8 * 600 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            read_all(&bytes);
        }
        for len in (0..bytes.len()).step_by(37) {
            assert!(r3a::Archive::open(&bytes[..len]).is_err(), "{len} bytes");
        }
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn random_tables_come_back(
        files in proptest::collection::vec((any::<u64>(), 0u64..1 << 34, 0u32..1 << 24, any::<prop::sample::Index>()), 1..60),
        sizes in proptest::collection::vec((0u32..1 << 29, 0usize..3), 1..90),
        flexible in any::<bool>(),
        data in proptest::collection::vec((any::<u32>(), proptest::collection::vec(any::<u8>(), 0..40)), 0..17),
    ) {
        let blocks: Vec<Block> = sizes
            .iter()
            .map(|&(compressed, codec)| Block { compressed, codec: BlockCodec::Known(Codec::ALL[codec]) })
            .collect();
        let entries: Vec<Entry> = files.iter().enumerate().map(|(i, &(hash, size, offset, block))| {
            let (first_block, block_offset) = match size {
                0 => (0, 0),
                _ => (block.index(blocks.len()) as u32, offset),
            };
            Entry { hash, size, path: (files.len() - 1 - i) as u32, first_block, block_offset }
        }).collect();
        let names: Vec<String> = (0..files.len()).map(|i| format!("name/{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let user_data: Vec<Extension> =
            data.into_iter().map(|(id, data)| Extension { id, data }).collect();
        let tables = if flexible { Tables::Flexible } else { Tables::Presets };
        let bytes = HeadBuilder { tables, user_data: &user_data, ..draft(&entries, &blocks, &names) }.write();
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error) => {
                // The presets hold all of this, but 24 + 34 + 6 + 7 bits may be too wide for the
                // flexible form.
                prop_assert!(flexible && error.kind == Kind::Limit);
                return Ok(());
            }
        };
        let head = Head::parse(&bytes, &Limits::default()).unwrap();
        prop_assert_eq!(&head.toc.entries, &entries);
        prop_assert_eq!(&head.toc.blocks, &blocks);
        prop_assert_eq!(head.pool.iter().collect::<Vec<_>>(), names);
        prop_assert_eq!(head.user_data, user_data);
    }
}
