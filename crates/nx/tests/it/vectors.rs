//! Tests archives made by hand: every valid shape of the format, and the invalid ones.
//!
//! The archives are in `testdata/nx/vectors`; `LINERATE_UPDATE=1` writes them again.

use std::fs;
use std::path::PathBuf;

use linerate_nx::filter::Filter;
use linerate_nx::{Archive, Extractor, FileError, Kind, Limits, Verifier};

use crate::common::make::{
    COPY, FILTERED, FILTERS, Frame, LZ4, MadeEntry, Make, ZSTD, filtered, frame, lz4, noise, regions,
};
use crate::common::ranges;

/// The expected result of opening and reading a vector.
enum Expect {
    /// It has these files.
    Files(Vec<(String, Vec<u8>)>),
    /// It cannot be opened.
    Refused(Kind),
    /// It can be opened; reading these fails, and the other files are right.
    Fails(Vec<(&'static str, Kind)>),
}

struct Vector {
    name: &'static str,
    bytes: Vec<u8>,
    expect: Expect,
}

/// Returns a vector that must have the files of `make`, with these contents.
fn good(name: &'static str, make: Make, contents: &[&[u8]]) -> Vector {
    let names = make.names.iter().map(|name| String::from_utf8(name.clone()).unwrap());
    let files = names.zip(contents.iter().map(|content| content.to_vec())).collect();
    Vector { name, bytes: make.bytes(), expect: Expect::Files(files) }
}

fn refused(name: &'static str, make: Make, kind: Kind) -> Vector {
    Vector { name, bytes: make.bytes(), expect: Expect::Refused(kind) }
}

fn fails(name: &'static str, make: Make, which: &[(&'static str, Kind)]) -> Vector {
    Vector { name, bytes: make.bytes(), expect: Expect::Fails(which.to_vec()) }
}

/// The exponent of chunks of 4 KiB.
const K4: u32 = 3;

/// The exponent of chunks of 1 MiB.
const M1: u32 = 11;

fn one_byte(version: u32) -> Make {
    Make::new(M1).with(|make| make.version = version).file("a", b"A", 0, 0).block(COPY, b"A".to_vec())
}

/// Adds `content` in chunks of 4 KiB.
fn chunked(mut make: Make, codec: u32, content: &[u8]) -> Make {
    for chunk in content.chunks(4096) {
        make = make.block(codec, packed(codec, chunk));
    }
    make
}

fn packed(codec: u32, content: &[u8]) -> Vec<u8> {
    match codec {
        COPY => content.to_vec(),
        ZSTD => frame(content, Frame::Sized),
        _ => lz4(content, 0),
    }
}

/// Starts an archive with three files in one block.
fn solid(codec: u32) -> Make {
    let block = packed(codec, b"onetwothree");
    Make::new(K4)
        .file("1", b"one", 0, 0)
        .file("2", b"two", 0, 3)
        .file("3", b"three", 0, 6)
        .block(codec, block)
}

fn shapes() -> Vec<Vector> {
    let (large, chunk, more) = (noise(10_240, 1), noise(4096, 2), noise(4097, 3));
    let less = noise(4095, 4);
    let mega = [vec![7; 1 << 20], vec![9; 100]].concat();
    let three: &[&[u8]] = &[b"one", b"two", b"three"];
    let long_name = "n".repeat(4096 - 16 - 20 - 4 - 12 - 1);
    let longer_name = format!("{long_name}n");
    let file =
        |name: &str, content: &[u8], codec| chunked(Make::new(K4).file(name, content, 0, 0), codec, content);
    let named = |name: &str| Make::new(K4).file(name, b"A", 0, 0).block(COPY, b"A".to_vec());
    let pair = |codec| {
        let make = Make::new(K4).file("a", &large, 0, 0).file("b", &large, 0, 0);
        chunked(make, codec, &large)
    };
    vec![
        good("empty", Make::new(M1), &[]),
        good("empty-without-pool", Make::new(M1).with(|make| make.pool = Some(vec![])), &[]),
        good("one-empty-file", Make::new(M1).file("a", b"", 0, 0).block(COPY, vec![]), &[b""]),
        good("empty-file-of-no-block", Make::new(M1).file("a", b"", 77, 5), &[b""]),
        good("one-byte", one_byte(1), &[b"A"]),
        good("one-byte-version-0", one_byte(0), &[b"A"]),
        good("solid-copy", solid(COPY), three),
        good("solid-zstd", solid(ZSTD), three),
        good("solid-lz4", solid(LZ4), three),
        good("chunk", file("a", &chunk, ZSTD), &[&chunk]),
        good("chunk-less-1", file("a", &less, ZSTD), &[&less]),
        good("chunk-and-1", file("a", &more, ZSTD), &[&more]),
        good("two-and-a-half-chunks-copy", file("a", &large, COPY), &[&large]),
        good("two-and-a-half-chunks-zstd", file("a", &large, ZSTD), &[&large]),
        good("two-and-a-half-chunks-lz4", file("a", &large, LZ4), &[&large]),
        good("solid-twice", solid(ZSTD).file("4", b"two", 0, 3), &[b"one", b"two", b"three", b"two"]),
        good("chunked-twice", pair(ZSTD), &[&large, &large]),
        good(
            "chunk-of-another-file",
            chunked(Make::new(K4).file("a", &large, 0, 0), ZSTD, &large).file("b", &large[4096..8192], 1, 0),
            &[&large, &large[4096..8192]],
        ),
        good(
            "a-block-of-no-bytes",
            {
                let make = Make::new(K4).file("a", b"A", 0, 0).block(COPY, b"A".to_vec());
                make.block(COPY, vec![]).file("b", b"B", 2, 0).block(COPY, b"B".to_vec())
            },
            &[b"A", b"B"],
        ),
        good("long-entries-of-small-files", solid(ZSTD).with(|make| make.toc = 1), three),
        good(
            "streamed-frame",
            {
                let block = frame(&large[..4096], Frame::Streamed);
                Make::new(K4).file("a", &large[..4096], 0, 0).block(ZSTD, block)
            },
            &[&large[..4096]],
        ),
        good(
            "unterminated-frame",
            {
                let make = Make::new(M1).file("a", &mega, 0, 0);
                make.block(ZSTD, frame(&mega[..1 << 20], Frame::Open))
                    .block(ZSTD, frame(&mega[1 << 20..], Frame::Sized))
            },
            &[&mega],
        ),
        good(
            "unreferenced-tail-zstd",
            Make::new(K4).file("a", &chunk[..9], 0, 0).block(ZSTD, frame(&chunk, Frame::Sized)),
            &[&chunk[..9]],
        ),
        good(
            "unreferenced-tail-lz4",
            Make::new(K4).file("a", &chunk[..9], 0, 0).block(LZ4, lz4(&chunk, 0)),
            &[&chunk[..9]],
        ),
        good(
            "lz4-match",
            {
                let content = [vec![b'x'; 300], b"end of it".to_vec()].concat();
                Make::new(K4).file("a", &content, 0, 0).block(LZ4, lz4(b"xend of it", 299))
            },
            &[&[vec![b'x'; 300], b"end of it".to_vec()].concat()],
        ),
        good(
            "bytes-after-a-frame",
            {
                let block = [frame(b"A", Frame::Sized), b"more".to_vec()].concat();
                Make::new(K4).file("a", b"A", 0, 0).block(ZSTD, block)
            },
            &[b"A"],
        ),
        good(
            "names",
            {
                let names = ["日本語/テ.dds", "é", "", "a b"];
                let make = Make::new(K4).block(COPY, b"A".to_vec());
                names.iter().fold(make, |make, name| make.file(name, b"A", 0, 0))
            },
            &[b"A", b"A", b"A", b"A"],
        ),
        good("header-of-4096-bytes", named(&long_name), &[b"A"]),
        good("header-of-4097-bytes", named(&longer_name), &[b"A"]),
        good("spare-pages", one_byte(1).with(|make| make.spare = noise(5000, 9)), &[b"A"]),
        good("flags", one_byte(1).with(|make| make.flags = 15), &[b"A"]),
        good("last-block-unpadded", one_byte(1).with(|make| make.padded = false), &[b"A"]),
        good("unsorted-names", solid(ZSTD).with(|make| make.names.reverse()), &[b"three", b"two", b"one"])
            .with_names(&["3", "2", "1"], &[b"one", b"two", b"three"]),
    ]
}

/// Returns a vector with a file for each filter in one filtered block. Each file has a header and a
/// tail.
fn every_filter(name: &'static str, codec: u32) -> Vector {
    let file = |i: usize| [vec![i as u8; 13], noise(600, i as u32), vec![0xEE; 7]].concat();
    let files: Vec<Vec<u8>> = (0..Filter::ALL.len()).map(file).collect();
    let content = files.concat();
    let table: Vec<(u8, u32, u32)> =
        Filter::ALL.iter().zip(0..).map(|(filter, i)| (filter.id(), 620 * i + 13, 603)).collect();
    let block = [regions(&table), packed(codec, &filtered(&content, &table))].concat();
    let make = of_version(FILTERS).block(codec | FILTERED, block);
    let add =
        |make: Make, (i, file): (usize, &Vec<u8>)| make.file(format!("{i:02}"), file, 0, 620 * i as u64);
    let make = files.iter().enumerate().fold(make, add);
    let contents: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
    good(name, make, &contents)
}

fn of_version(version: u32) -> Make {
    Make::new(K4).with(|make| make.version = version)
}

/// Returns a block of 4,096 bytes of noise with these regions filtered, and the noise.
fn filtered_block(codec: u32, table: &[(u8, u32, u32)]) -> (Vec<u8>, Vec<u8>) {
    let content = noise(4096, 7);
    ([regions(table), packed(codec, &filtered(&content, table))].concat(), content)
}

/// Valid filtered blocks, as docs/nx/filters-reference.md specifies them.
fn filters() -> Vec<Vector> {
    let id = Filter::ALL[0].id();
    let large = noise(10_240, 1);
    let three = {
        let first = [(id, 148, 3948)];
        let last = [(id, 0, 2047)];
        let block = |codec, content: &[u8], table: &[_]| {
            [regions(table), packed(codec, &filtered(content, table))].concat()
        };
        of_version(FILTERS)
            .file("a", &large, 0, 0)
            .block(ZSTD | FILTERED, block(ZSTD, &large[..4096], &first))
            .block(ZSTD, packed(ZSTD, &large[4096..8192]))
            .block(LZ4 | FILTERED, block(LZ4, &large[8192..], &last))
    };
    let smallest = {
        let (content, table) = (b"16 bytes of text", [(id, 0, 16)]);
        let block = [regions(&table), packed(ZSTD, &filtered(content, &table))].concat();
        of_version(FILTERS).file("a", content, 0, 0).block(ZSTD | FILTERED, block)
    };
    let (deleted, content) = filtered_block(ZSTD, &[(id, 0, 1000), (id, 1000, 3096)]);
    let (far, _) = filtered_block(ZSTD, &[(id, 0, 1000)]);
    let beyond = [regions(&[(id, 0, 1000), (id, u32::MAX, u32::MAX)]), far[10..].to_vec()].concat();
    vec![
        every_filter("filters-zstd", ZSTD),
        every_filter("filters-lz4", LZ4),
        good("filters-chunks", three, &[&large]),
        good("filters-smallest", smallest, &[b"16 bytes of text"]),
        good("filters-none", one_byte(1).with(|make| make.version = FILTERS), &[b"A"]),
        good(
            "filters-of-a-deleted-file",
            of_version(FILTERS).file("a", &content[..1000], 0, 0).block(ZSTD | FILTERED, deleted),
            &[&content[..1000]],
        ),
        good(
            "filters-beyond-the-content",
            of_version(FILTERS).file("a", &content, 0, 0).block(ZSTD | FILTERED, beyond),
            &[&content],
        ),
    ]
}

/// Invalid filtered blocks: letter (l) of the hazards, see [`hazards`].
fn filter_hazards() -> Vec<Vector> {
    use Kind::{Corrupt, Limit, Unsupported};
    let id = Filter::ALL[0].id();
    let (block, content) = filtered_block(ZSTD, &[(id, 8, 4000)]);
    let data = &block[10..];
    let make = |codec: u32, block: Vec<u8>| of_version(FILTERS).file("a", &content, 0, 0).block(codec, block);
    let with =
        |name, table: &[u8], kind| fails(name, make(ZSTD | FILTERED, [table, data].concat()), &[("a", kind)]);
    let mut window = frame(&content, Frame::Streamed);
    window[5] = 21 << 3;
    let header = u32::from_le_bytes([window[6], window[7], window[8], 0]) & !1;
    window[6..9].copy_from_slice(&header.to_le_bytes()[..3]);
    let mut vectors = vec![
        refused("l-in-version-1", make(ZSTD | FILTERED, block.clone()).with(|m| m.version = 1), Unsupported),
        refused("l-in-version-0", make(LZ4 | FILTERED, block.clone()).with(|m| m.version = 0), Unsupported),
        refused("l-codec-3", make(3, block.clone()), Unsupported),
        refused("l-codec-4", make(COPY | FILTERED, block.clone()), Unsupported),
        refused("l-codec-7", make(7, block.clone()), Unsupported),
        with("l-no-regions", &[0], Corrupt),
        with("l-region-is-empty", &regions(&[(id, 8, 0)]), Corrupt),
        with("l-regions-overlap", &regions(&[(id, 8, 100), (id, 107, 100)]), Corrupt),
        with("l-regions-descend", &regions(&[(id, 100, 100), (id, 8, 50)]), Corrupt),
        with("l-region-past-its-files", &regions(&[(id, 8, 4089)]), Corrupt),
        with("l-region-of-4-gib", &regions(&[(id, 8, u32::MAX)]), Corrupt),
        with("l-filter-0", &regions(&[(0, 8, 4000)]), Unsupported),
        with("l-filter-255", &regions(&[(255, 8, 4000)]), Unsupported),
        with("l-other-filter", &regions(&[(id, 8, 3992)]), Corrupt),
        fails("l-table-cut", make(ZSTD | FILTERED, block[..9].to_vec()), &[("a", Corrupt)]),
        fails("l-no-data", make(ZSTD | FILTERED, block[..10].to_vec()), &[("a", Corrupt)]),
        fails("l-data-cut", make(ZSTD | FILTERED, block[..block.len() - 1].to_vec()), &[("a", Corrupt)]),
        fails("l-zstd-as-lz4", make(LZ4 | FILTERED, block.clone()), &[("a", Corrupt)]),
        fails(
            "l-window-of-2-gib",
            make(ZSTD | FILTERED, [regions(&[(id, 8, 4000)]), window].concat()),
            &[("a", Limit)],
        ),
    ];
    for (version, name) in
        [(64, "l-version-64"), (66, "l-version-66"), (67, "l-version-67"), (127, "l-version-127")]
    {
        vectors.push(refused(name, one_byte(1).with(|make| make.version = version), Unsupported));
    }
    vectors
}

impl Vector {
    /// Sets the expected files, in an order that differs from the calls to the generator.
    fn with_names(mut self, names: &[&str], contents: &[&[u8]]) -> Vector {
        let files = names.iter().zip(contents).map(|(name, content)| (name.to_string(), content.to_vec()));
        self.expect = Expect::Files(files.collect());
        self
    }
}

fn entry(size: u64, first: u64, offset: u64) -> MadeEntry {
    MadeEntry { hash: 0, size, offset, path: 0, first }
}

/// Starts an archive with one entry of these fields and two blocks of a page each, in chunks of 4
/// KiB.
fn placed(entry: MadeEntry) -> Make {
    Make::new(K4).block(COPY, noise(4096, 5)).block(COPY, noise(4096, 6)).with(|make| {
        make.toc = 1;
        make.names = vec![b"a".to_vec()];
        make.entries = vec![entry];
    })
}

fn pool_of(bytes: Vec<u8>) -> Make {
    solid(ZSTD).with(|make| make.pool = Some(bytes))
}

/// Archives that a reader must refuse, or whose damaged files it must refuse. The first letter of a
/// name is the kind of fault:
/// c arithmetic, d undefined codecs, e bombs, h and i the pool of names, j damaged frames, k
/// dictionaries.
fn hazards() -> Vec<Vector> {
    use Kind::{Corrupt, Limit, Truncated, Unsupported};
    let names = |bytes: &[u8]| pool_of(frame(bytes, Frame::Sized));
    let damaged = |block: Vec<u8>| Make::new(K4).file("a", &noise(4096, 7), 0, 0).block(ZSTD, block);
    let whole = frame(&noise(4096, 7), Frame::Sized);
    let mut vectors = vec![
        // (c) Arithmetic.
        refused("c-file-past-the-blocks", placed(entry(1, 2, 0)), Corrupt),
        refused("c-chunks-past-the-blocks", placed(entry(8193, 0, 0)), Corrupt),
        refused("c-largest-size", placed(entry(u64::MAX, 0, 0)), Corrupt),
        refused("c-largest-first-block", placed(entry(u64::MAX, (1 << 18) - 1, 0)), Corrupt),
        refused("c-largest-offset", placed(entry(4096, 0, (1 << 26) - 1)), Corrupt),
        refused("c-past-its-block", placed(entry(4096, 0, 1)), Corrupt),
        refused("c-chunked-with-offset", placed(entry(4097, 0, 1)), Corrupt),
        refused("c-no-such-path", placed(MadeEntry { path: 1, ..entry(1, 0, 0) }), Corrupt),
        refused("c-block-past-the-end", solid(COPY).with(|make| make.blocks[0].1 = (1 << 29) - 1), Truncated),
        refused("c-tables-past-the-header", solid(COPY).with(|make| make.pages = Some(0)), Corrupt),
        refused("c-header-past-the-end", solid(COPY).with(|make| make.pages = Some(3)), Truncated),
        refused("c-unknown-version", one_byte(1).with(|make| make.version = 2), Unsupported),
        refused("c-entries-of-form-2", one_byte(1).with(|make| make.toc = 2), Unsupported),
        refused("c-entries-of-form-3", one_byte(1).with(|make| make.toc = 3), Unsupported),
        // (e) Bombs.
        refused("e-header-of-256-mib", solid(COPY).with(|make| make.pages = Some(65_535)), Limit),
        // (h), (i) The pool.
        refused("h-not-utf-8", names(b"1\x002\0\xff\0"), Corrupt),
        refused("i-one-path-less", names(b"1\x002\0"), Corrupt),
        refused("i-one-path-more", names(b"1\x002\x003\x004\0"), Corrupt),
        refused("i-no-last-nul", names(b"1\x002\x003"), Corrupt),
        refused("i-bytes-after-the-last-nul", names(b"1\x002\x003\x004"), Corrupt),
        refused("i-not-a-frame", pool_of(b"1\x002\x003\0".to_vec()), Corrupt),
        refused(
            "j-pool-with-a-tail",
            pool_of([frame(b"1\x002\x003\0", Frame::Sized), vec![0]].concat()),
            Corrupt,
        ),
        refused("j-pool-unterminated", pool_of(frame(b"1\x002\x003\0", Frame::Open)), Truncated),
        // (j) Blocks.
        fails("j-block-cut", damaged(whole[..whole.len() - 1].to_vec()), &[("a", Corrupt)]),
        fails("j-block-too-short", damaged(frame(&noise(4095, 7), Frame::Sized)), &[("a", Corrupt)]),
        fails("j-block-is-no-frame", damaged(noise(100, 8)), &[("a", Corrupt)]),
        fails("j-hash", solid(ZSTD).with(|make| make.entries[1].hash ^= 1), &[("2", Corrupt)]),
        fails(
            "j-lz4-cut",
            Make::new(K4).file("a", b"onetwo", 0, 0).block(LZ4, lz4(b"onetwo", 0)[..5].to_vec()),
            &[("a", Corrupt)],
        ),
        fails(
            "j-solid-damaged-at-its-end",
            {
                let content = noise(3 << 17, 10);
                let mut block = frame(&content, Frame::Sized);
                // Gives the last zstd block the reserved type.
                let last = block.len() - (1 << 17) - 3;
                block[last] |= 6;
                Make::new(11)
                    .file("whole", &content[..1000], 0, 0)
                    .file("hit", &content[1000..], 0, 1000)
                    .block(ZSTD, block)
            },
            &[("hit", Corrupt)],
        ),
        // (k) A frame that names a dictionary.
        fails(
            "k-dictionary",
            {
                let mut block = whole.clone();
                block[4] |= 1;
                block.insert(5, 9);
                damaged(block)
            },
            &[("a", Corrupt)],
        ),
        fails(
            "e-window-of-2-gib",
            {
                let mut block = frame(&noise(4096, 7), Frame::Streamed);
                block[5] = 21 << 3;
                // A frame without a last block is decoded through the window.
                let header = u32::from_le_bytes([block[6], block[7], block[8], 0]) & !1;
                block[6..9].copy_from_slice(&header.to_le_bytes()[..3]);
                damaged(block)
            },
            &[("a", Limit)],
        ),
    ];
    // (d) Undefined codecs.
    for (codec, name) in (3..).zip(["d-codec-3", "d-codec-4", "d-codec-5", "d-codec-6", "d-codec-7"]) {
        vectors.push(refused(name, one_byte(1).with(|make| make.blocks[0].0 = codec), Unsupported));
    }
    // (c) Exponents of chunk sizes that are too large. From 23 they would overflow 32 bits.
    const CHUNKS: [&str; 10] = [
        "c-chunk-22",
        "c-chunk-23",
        "c-chunk-24",
        "c-chunk-25",
        "c-chunk-26",
        "c-chunk-27",
        "c-chunk-28",
        "c-chunk-29",
        "c-chunk-30",
        "c-chunk-31",
    ];
    for (exponent, name) in (22..).zip(CHUNKS) {
        vectors.push(refused(name, one_byte(1).with(|make| make.exponent = exponent), Unsupported));
    }
    vectors
}

fn all() -> Vec<Vector> {
    shapes().into_iter().chain(hazards()).chain(filters()).chain(filter_hazards()).collect()
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/nx/vectors"))
}

#[test]
fn committed_vectors_match_the_generator() {
    let update = std::env::var_os("LINERATE_UPDATE").is_some();
    if update {
        fs::create_dir_all(folder()).unwrap();
    }
    let mut names: Vec<String> = Vec::new();
    for vector in all() {
        let path = folder().join(format!("{}.nx", vector.name));
        if update {
            fs::write(&path, &vector.bytes).unwrap();
        }
        assert!(fs::read(&path).unwrap() == vector.bytes, "{}", vector.name);
        names.push(format!("{}.nx", vector.name));
    }
    names.sort();
    let mut found: Vec<String> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    assert_eq!(found, names, "no vector without its generator, and no two of one name");
}

#[test]
fn the_worked_example_of_the_reference_is_among_them() {
    let hex = "4E585553 1000B002 01001000C0020000 8534555CE096D4D0 01000000 0000000000000000 08000000 \
               28B52FFD 2002110000 6100";
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    let bytes: Vec<u8> = digits.chunks(2).map(byte).collect();
    let vector = all().into_iter().find(|vector| vector.name == "one-byte").unwrap();
    assert_eq!(vector.bytes[..bytes.len()], bytes);
    assert!(vector.bytes[bytes.len()..4096].iter().all(|b| *b == 0));
    assert_eq!((vector.bytes.len(), vector.bytes[4096]), (8192, b'A'));
}

#[test]
fn each_vector_gives_its_expected_result() {
    for Vector { name, bytes, expect } in all() {
        let opened = Archive::open(bytes);
        let archive = match (&expect, opened) {
            (Expect::Refused(kind), opened) => {
                let error = opened.err().unwrap_or_else(|| panic!("{name} was opened"));
                assert_eq!(error.kind, *kind, "{name}: {error}");
                continue;
            }
            (_, opened) => opened.unwrap_or_else(|e| panic!("{name}: {e}")),
        };
        let mut reader = archive.reader().unwrap();
        match expect {
            Expect::Files(files) => {
                assert_eq!(archive.len(), files.len(), "{name}");
                for (path, content) in files {
                    let file = archive.find(&path).unwrap_or_else(|| panic!("{name}: no {path:?}"));
                    assert!(reader.read(file).unwrap_or_else(|e| panic!("{name}: {path}: {e}")) == content);
                    let mut written = Vec::new();
                    assert_eq!(reader.write_to(file, &mut written).unwrap(), content.len() as u64);
                    assert!(written == content, "{name}: {path}");
                    for range in ranges(content.len()) {
                        let mut part = vec![0; range.len()];
                        archive.reader().unwrap().read_range(file, range.start as u64, &mut part).unwrap();
                        assert!(part == content[range], "{name}: {path}");
                    }
                }
                let verified = Verifier::new(&archive).threads(2).run().unwrap();
                assert!(verified.failures.is_empty(), "{name}: {:?}", verified.failures);
            }
            Expect::Fails(expected) => {
                for file in archive.files() {
                    let kind = reader.read(file).err().map(|e| e.kind);
                    let wanted =
                        expected.iter().find(|(path, _)| *path == file.path()).map(|(_, kind)| *kind);
                    assert_eq!(kind, wanted, "{name}: {}", file.path());
                }
                let verified = Verifier::new(&archive).threads(2).run().unwrap();
                let found: Vec<(&str, Kind)> =
                    verified.failures.iter().map(|f| (f.path.as_str(), f.kind())).collect();
                assert_eq!(found, expected, "{name}");
            }
            Expect::Refused(_) => unreachable!("told apart above"),
        }
    }
}

/// (a) Paths that lead out of the folder, next to a path that does not.
#[test]
fn no_path_leads_out_of_the_folder() {
    let bad = [
        "../up",
        "a/../../up",
        "/absolute",
        "//server/share/x",
        "C:/x",
        "C:x",
        "x:stream",
        "..\\up",
        "a\\b",
        "\\\\?\\C:\\x",
        "a//b",
        "./x",
        "..",
        ".",
        "",
        "a/",
        "nul",
        "COM1.txt",
        "trailing.",
        "trailing ",
        "a\nb",
        "bell\x07",
        "dir./x",
        "x/CON/y",
    ];
    let make = Make::new(K4).block(COPY, b"A".to_vec()).file("good/name", b"A", 0, 0);
    let make = bad.iter().fold(make, |make, path| make.file(path, b"A", 0, 0));
    let archive = Archive::open(make.bytes()).unwrap();
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().join("inner");
    let done = Extractor::new(&archive).threads(2).to_folder(&inner).unwrap();
    assert_eq!((done.files, done.failures.len()), (1, bad.len()));
    assert!(done.failures.iter().all(|f| matches!(f.source, FileError::Path(_))), "{:?}", done.failures);
    assert!(inner.join("good/name").is_file());
    let beside: Vec<_> = fs::read_dir(outer.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(beside, ["inner"]);
    let inside: Vec<_> = fs::read_dir(&inner).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(inside, ["good"]);
    assert_eq!(Verifier::new(&archive).run().unwrap().failures.len(), 0, "their content is right");
}

/// (b) Of several equal names, one file is written. The others are errors that name the file.
#[test]
fn equal_names_do_not_overwrite_each_other() {
    let make = Make::new(K4).block(COPY, b"AB".to_vec());
    let make = make.file("same", b"A", 0, 0).file("same", b"B", 0, 1).file("other", b"B", 0, 1);
    for shared_index in [false, true] {
        // Two equal strings in the pool, or two entries with the same string.
        let archive = Archive::open(
            make.clone()
                .with(|make| {
                    make.entries[1].path = if shared_index { 0 } else { 1 };
                })
                .bytes(),
        )
        .unwrap();
        let place = tempfile::tempdir().unwrap();
        let done = Extractor::new(&archive).to_folder(place.path()).unwrap();
        assert_eq!((done.files, done.failures.len()), (2, 1));
        assert!(matches!(done.failures[0].source, FileError::Collision));
        assert_eq!(fs::read(place.path().join("same")).unwrap(), b"A");
    }
}

/// If a name is a file and a folder of other files, one of the two is an error that names it.
#[test]
fn file_at_the_path_of_a_folder_is_an_error_of_that_file_only() {
    let make = Make::new(K4).block(COPY, b"AB".to_vec());
    let make = make.file("x", b"A", 0, 0).file("x/y", b"B", 0, 1).file("z", b"B", 0, 1);
    let archive = Archive::open(make.bytes()).unwrap();
    let place = tempfile::tempdir().unwrap();
    let done = Extractor::new(&archive).to_folder(place.path()).unwrap();
    assert_eq!((done.files, done.failures.len()), (2, 1), "{:?}", done.failures);
    assert!(place.path().join("z").is_file());
}

/// (e) Small archives that claim large contents are refused by the limits, and only by them.
#[test]
fn decompression_bomb_is_an_error() {
    // A thousand files have the same 1 MiB of zeros, which is a block of 41 bytes.
    let zeros = vec![0; 1 << 20];
    let block = frame(&zeros, Frame::Sized);
    assert!(block.len() < 50);
    let make =
        (0..1000).fold(Make::new(M1).block(ZSTD, block), |make, i| make.file(format!("{i}"), &zeros, 0, 0));
    let open = |limits| Archive::open_with(make.bytes(), limits).unwrap();
    let strict = Limits { ratio_from: 1 << 20, ..Limits::default() };
    let place = tempfile::tempdir().unwrap();
    let failure = Extractor::new(&open(strict)).to_folder(place.path().join("x")).unwrap_err();
    assert_eq!(failure.kind(), Kind::Limit, "{failure}");
    assert_eq!(Verifier::new(&open(strict)).run().unwrap_err().kind, Kind::Limit);
    assert_eq!(Verifier::new(&open(Limits::none())).threads(2).run().unwrap().files, 1000);
    // Each single file is within the limits.
    let archive = open(strict);
    assert_eq!(archive.read(archive.get(999).unwrap()).unwrap().len(), 1 << 20);
}

/// Many large files share one run of blocks. Memory and the number of open files stay bounded.
#[test]
fn large_files_with_shared_blocks_are_extracted() {
    let content = noise(10_240, 1);
    let make = (0..300).fold(Make::new(K4), |make, i| make.file(format!("{i:03}"), &content, 0, 0));
    let archive = Archive::open(chunked(make, LZ4, &content).bytes()).unwrap();
    for threads in [1, 4] {
        let place = tempfile::tempdir().unwrap();
        let done = Extractor::new(&archive).threads(threads).to_folder(place.path()).unwrap();
        assert_eq!((done.files, done.failures.len()), (300, 0), "{:?}", done.failures);
        for i in 0..300 {
            assert!(fs::read(place.path().join(format!("{i:03}"))).unwrap() == content);
        }
    }
}
