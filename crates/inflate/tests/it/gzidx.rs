//! Reads index files that indexed_gzip wrote.

use std::fs;
use std::io::{Cursor, Read, Seek, SeekFrom};

use linerate_inflate::index::{self, Index, Reader};
use linerate_inflate::{Format, Kind, decode_to_vec};
use linerate_testkit::testdata::testdata;

fn golden() -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let read = |name: &str| fs::read(testdata().join("gzip").join(name)).unwrap();
    let file = read("two-members.gz");
    let content = decode_to_vec(Format::Gzip, &file, 1 << 20).unwrap();
    (file, read("two-members.gz.gzidx"), content)
}

#[track_caller]
fn assert_is_read(file: &[u8], index: Index, content: &[u8]) {
    let mut decoded = Vec::new();
    index::decode(file, &index, &mut decoded, 2).unwrap();
    assert!(decoded == content, "on two threads");
    let mut reader = Reader::with_index(Cursor::new(file), index).unwrap();
    for at in [0, 1, 116_874, 116_875, 120_000, 149_999, 150_000, 189_999, 190_000, 200_000] {
        let mut found = vec![0; 40_000];
        let len = reader.read_at(at, &mut found).unwrap();
        let wanted = content.get(at as usize..).unwrap_or_default();
        assert!(found[..len] == wanted[..wanted.len().min(40_000)], "at {at}");
    }
    let mut end = Vec::new();
    reader.seek(SeekFrom::End(-70_000)).unwrap();
    reader.read_to_end(&mut end).unwrap();
    assert!(end == content[120_000..], "the end");
}

#[test]
fn version_1_is_read() {
    let (file, written, content) = golden();
    let index = Index::read_gzidx(&written[..]).unwrap();
    assert_eq!((index.len(), index.compressed_len()), (content.len() as u64, file.len() as u64));
    let points: Vec<_> = index.points().iter().map(|p| (p.bit(), p.offset(), p.is_member())).collect();
    assert_eq!(points, [(80, 0, true), (8 * 33_801 - 6, 116_875, false), (8 * 43_120, 150_000, true)]);
    assert_is_read(&file, index, &content);
}

/// In version 0 all points but the first have windows, and no byte says so.
#[test]
fn version_0_is_read() {
    let (file, written, content) = golden();
    let (header, rest) = written.split_at(35);
    let (rows, windows) = rest.split_at(4 * 18);
    let mut old = header.to_vec();
    (old[5], old[31]) = (0, 3);
    for row in [0, 1, 3] {
        old.extend(&rows[18 * row..][..17]);
    }
    old.extend(windows);
    assert_is_read(&file, Index::read_gzidx(&old[..]).unwrap(), &content);
}

#[test]
fn other_files_are_refused() {
    let (file, written, _) = golden();
    let kind = |bytes: &[u8]| Index::read_gzidx(bytes).unwrap_err().kind;
    assert_eq!((kind(&file), kind(b"")), (Kind::Corrupt, Kind::Truncated));
    let with = |at: usize, byte: u8| {
        let mut other = written.clone();
        other[at] = byte;
        kind(&other)
    };
    assert_eq!((with(5, 2), with(29, 1)), (Kind::Unsupported, Kind::Unsupported), "version, size of windows");
    assert_eq!((with(35 + 16, 8), with(35 + 18 + 2, 0xff)), (Kind::Corrupt, Kind::Corrupt), "bits, order");
    let mut part = written.clone();
    part[15..23].fill(0);
    part[31] = 1;
    assert_eq!(kind(&part), Kind::Unsupported, "the first point of a file");
    // The maximum number of points, and no more bytes.
    let mut many = written[..35].to_vec();
    many[31..35].fill(0xff);
    assert_eq!(kind(&many), Kind::Truncated);
}
