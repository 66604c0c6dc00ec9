//! Reads index files that gztool wrote.

use std::fs;
use std::io::{Cursor, ErrorKind, Read, Seek, SeekFrom};

use linerate_inflate::index::{self, Index, Reader};
use linerate_inflate::{Format, Kind, decode_to_vec};
use linerate_testkit::testdata::testdata;

use crate::common::Noise;

fn golden(name: &str) -> Vec<u8> {
    fs::read(testdata().join("gzip").join(name)).unwrap()
}

fn file() -> (Vec<u8>, Vec<u8>) {
    let file = golden("three-megabytes.gz");
    let content = decode_to_vec(Format::Gzip, &file, 1 << 23).unwrap();
    (file, content)
}

fn read(written: &[u8]) -> Result<Index, Kind> {
    Index::read_gztool(written, golden("three-megabytes.gz").len() as u64).map_err(|error| error.kind)
}

#[test]
fn both_versions_are_read() {
    let (file, content) = file();
    for name in ["three-megabytes.gzi", "three-megabytes-v0.gzi"] {
        let index = read(&golden(name)).unwrap();
        assert_eq!((index.len(), index.compressed_len()), (content.len() as u64, file.len() as u64));
        let offsets: Vec<_> = index.points().iter().map(|point| point.offset()).collect();
        assert_eq!(offsets.len(), 4, "{offsets:?}");
        assert_eq!((offsets[0], offsets[2]), (0, 2_500_000), "the members begin there");
        for threads in [1, 4] {
            let mut decoded = Vec::new();
            index::decode(&file[..], &index, &mut decoded, threads).unwrap();
            assert!(decoded == content, "{name}");
        }
        let mut reader = Reader::with_index(Cursor::new(&file), index).unwrap();
        let mut noise = Noise(3);
        for _ in 0..30 {
            let at = noise.below(content.len());
            let mut found = vec![0; noise.below(60_000)];
            let len = reader.read_at(at as u64, &mut found).unwrap();
            assert!(found[..len] == content[at..(at + found.len()).min(content.len())], "{name} at {at}");
        }
        let mut end = Vec::new();
        reader.seek(SeekFrom::End(-70_000)).unwrap();
        reader.read_to_end(&mut end).unwrap();
        assert!(end == content[content.len() - 70_000..], "{name}");
    }
}

/// The kind of file is detected, and only the points that the range needs are kept.
#[test]
fn index_files_of_both_programs_are_told_apart() {
    let (file, content) = file();
    let len = file.len() as u64;
    let written = golden("three-megabytes.gzi");
    let all = Index::read(Cursor::new(&written), len, 0..u64::MAX).unwrap();
    assert_eq!(all, read(&written).unwrap());
    let mut gzidx = Vec::new();
    all.write_gzidx(&mut gzidx).unwrap();
    let again = Index::read(Cursor::new(&gzidx), len, 0..u64::MAX).unwrap();
    assert_eq!(again.points().len(), all.points().len());
    let some = Index::read(Cursor::new(&written), len, 2_600_000..2_700_000).unwrap();
    assert_eq!(some.points(), &all.points()[2..3]);
    let mut found = vec![0; 1000];
    let mut reader = Reader::with_index(Cursor::new(&file), some).unwrap();
    assert_eq!(reader.read_at(2_600_000, &mut found).unwrap(), 1000);
    assert!(found == content[2_600_000..2_601_000]);
    let kind = |bytes: &[u8]| Index::read(Cursor::new(bytes), len, 0..u64::MAX).unwrap_err().kind;
    assert_eq!((kind(&file), kind(b"")), (Kind::Corrupt, Kind::Truncated));
}

#[test]
fn other_files_are_refused() {
    let written = golden("three-megabytes.gzi");
    let with = |at: usize, bytes: &[u8]| {
        let mut other = written.clone();
        other[at..at + bytes.len()].copy_from_slice(bytes);
        read(&other).unwrap_err()
    };
    assert_eq!(read(b"GZIDX"), Err(Kind::Truncated));
    assert_eq!(read(b"GZIDX and more than that"), Err(Kind::Corrupt));
    assert_eq!((with(8, b"gzipindY"), with(8, b"gzipInDx")), (Kind::Corrupt, Kind::Unsupported));
    assert_eq!(with(20, &[0xff; 8]), Kind::Unsupported, "other counts");
    // The maximum number of points, so that the rest of the file cannot be points.
    assert_ne!(with(20, &[0xff; 16]), Kind::Limit);
    // The second point: offset in the content, offset in the file, bits, size of the window,
    // window.
    let second = 68;
    assert_eq!(written[second..second + 8], read(&written).unwrap().points()[1].offset().to_be_bytes());
    assert_eq!(with(second, &[0xff; 8]), Kind::Corrupt, "content");
    assert_eq!(with(second + 8, &[0; 8]), Kind::Corrupt, "order");
    assert_eq!(with(second + 8, &[0xff; 8]), Kind::Corrupt, "beyond the file");
    assert_eq!(with(second + 19, &[8]), Kind::Corrupt, "bits");
    assert_eq!(with(second + 20, &[0, 1, 0, 1]), Kind::Corrupt, "size of a window");
    assert_eq!(with(second + 30, &[0xff; 8]), Kind::Corrupt, "a window");
    assert_eq!(with(written.len() - 16, &[0; 8]), Kind::Corrupt, "less content than before the last point");
    for len in 0..written.len() - 8 {
        assert_eq!(read(&written[..len]), Err(Kind::Truncated), "{len} bytes");
    }
}

/// A source that interrupts every other call.
struct Interrupted(Cursor<Vec<u8>>, bool);

impl Read for Interrupted {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.1 = !self.1;
        if self.1 { Err(ErrorKind::Interrupted.into()) } else { self.0.read(into) }
    }
}

impl Seek for Interrupted {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.0.seek(to)
    }
}

#[test]
fn interrupted_reads_are_retried() {
    let (written, len) = (golden("three-megabytes.gzi"), golden("three-megabytes.gz").len() as u64);
    let index = Index::read(Interrupted(Cursor::new(written.clone()), false), len, 0..u64::MAX);
    assert_eq!(index.unwrap(), read(&written).unwrap());
}

/// Windows compressed to a few bytes take 32 KiB each.
#[test]
fn memory_limit_stops_a_small_file_with_large_windows() {
    let written = golden("three-megabytes-v0.gzi");
    let window = crate::common::compressed(Format::Zlib, 9, 15, &[b'a'; 32 << 10]);
    let mut many = written[..16].to_vec();
    many.extend(u64::MAX.to_be_bytes().repeat(2));
    for point in 0..20_000u64 {
        many.extend([point << 20, 1 + point].iter().flat_map(|number| number.to_be_bytes()));
        many.extend([0, window.len() as u32].iter().flat_map(|number| number.to_be_bytes()));
        many.extend(&window);
    }
    let error = Index::read_gztool(&many[..], 1 << 30).unwrap_err();
    assert_eq!(error.kind, Kind::Limit);
    assert!(error.offset < many.len() as u64 / 2);
    let some = Index::read(Cursor::new(&many), 1 << 30, 0..1 << 30).unwrap_err();
    assert_eq!(some.kind, Kind::Truncated, "up to a range there is only one");
}

/// Decoding on threads uses an index as a hint, and a reader does not trust it.
#[test]
fn damaged_indexes_change_no_content_that_threads_decode() {
    let (file, content) = file();
    let (written, mut noise) = (golden("three-megabytes.gzi"), Noise(11));
    let (mut read_well, mut refused) = (0, 0);
    // Offsets of the points in the index file. Windows are left alone, because they have checksums.
    let points = [36, 68, 1045, 1077];
    for _ in 0..200 {
        let mut damaged = written.clone();
        for _ in 0..1 + noise.below(3) {
            damaged[points[noise.below(4)] + noise.below(24)] ^= 1 << noise.below(8);
        }
        let Ok(index) = read(&damaged) else {
            refused += 1;
            continue;
        };
        read_well += 1;
        let mut decoded = Vec::new();
        index::decode(&file[..], &index, &mut decoded, 2).unwrap();
        assert!(decoded == content);
        let mut reader = Reader::with_index(Cursor::new(&file), index).unwrap();
        let _ = reader.read_at(noise.below(content.len()) as u64, &mut [0; 1000]);
    }
    assert!(read_well > 5 && refused > 20, "{read_well} were read, {refused} refused");
}
