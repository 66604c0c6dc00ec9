//! Tests archives that the Nx library wrote, with the folders that they were made of.

use linerate_nx::{Archive, CountingSource, FileSource, HashKind, Kind, Limits};

use crate::common::{Golden, Sink, goldens, ranges};

#[test]
fn all_goldens_exist() {
    let found = goldens();
    assert!(found.len() >= 17, "{}", found.len());
    assert!(found.iter().any(|g| !g.damaged.is_empty()));
}

#[test]
fn every_golden_file_has_its_hash() {
    for golden in goldens() {
        let archive = golden.open();
        assert_eq!(archive.len(), golden.files.len(), "{}", golden.name);
        assert_eq!(archive.hash_kind(), HashKind::Xxh3);
        let mut reader = archive.reader().unwrap();
        for expected in &golden.files {
            let file = archive.find(&expected.path).unwrap();
            assert_eq!(
                (file.path(), file.size(), file.hash()),
                (&*expected.path, expected.size, Some(expected.xxh3))
            );
            let mut size = 0;
            let mut hasher = HashKind::Xxh3.hasher();
            let result = reader.write_to(
                file,
                &mut Sink(|bytes: &[u8]| {
                    size += bytes.len() as u64;
                    hasher.update(bytes);
                }),
            );
            let name = format!("{}: {}", golden.name, expected.path);
            if golden.damaged.contains(&expected.path) {
                let error = result.unwrap_err();
                assert_eq!(error.kind(), std::io::ErrorKind::InvalidData, "{name}: {error}");
                continue;
            }
            assert_eq!(result.unwrap_or_else(|e| panic!("{name}: {e}")), expected.size, "{name}");
            assert_eq!((size, hasher.finish()), (expected.size, expected.xxh3), "{name}");
        }
    }
}

#[test]
fn all_ways_of_reading_give_the_same_bytes() {
    for golden in goldens().into_iter().filter(Golden::is_small) {
        let archive = golden.open();
        let mapped = golden.open_mapped();
        let (mut reader, mut mapped_reader) = (archive.reader().unwrap(), mapped.reader().unwrap());
        for file in archive.files().filter(|file| !golden.damaged.contains(file.path())) {
            let bytes = reader.read(file).unwrap();
            assert!(mapped_reader.read(mapped.get(file.index()).unwrap()).unwrap() == bytes);
            let mut buffer = vec![0xAA; bytes.len() + 3];
            assert_eq!(reader.read_into(file, &mut buffer), Ok(bytes.len()));
            assert!(buffer[..bytes.len()] == bytes && buffer[bytes.len()..] == [0xAA; 3]);
            if let Some(less) = bytes.len().checked_sub(1) {
                let error = reader.read_into(file, &mut buffer[..less]).unwrap_err();
                assert_eq!(error.kind, Kind::OutputTooSmall);
            }
            for range in ranges(bytes.len()) {
                let mut part = vec![0; range.len()];
                // A new reader decodes only as much as the range needs; the other reader has cached
                // blocks.
                archive.reader().unwrap().read_range(file, range.start as u64, &mut part).unwrap();
                assert!(part == bytes[range.clone()], "{}: {} {range:?}", golden.name, file.path());
                part.fill(0);
                reader.read_range(file, range.start as u64, &mut part).unwrap();
                assert!(part == bytes[range]);
            }
            let past = reader.read_range(file, file.size(), &mut [0]).unwrap_err();
            assert_eq!(past.kind, Kind::BadArgument);
            assert!(reader.read_range(file, file.size(), &mut []).is_ok());
        }
    }
}

#[test]
fn damaged_entry_is_an_error_at_its_offset() {
    let golden = goldens().into_iter().find(|g| g.name == "damaged-by-its-writer").unwrap();
    let archive = golden.open();
    let failed: Vec<String> = archive
        .files()
        .filter(|file| archive.read(*file).is_err_and(|e| e.kind == Kind::Corrupt))
        .map(|file| file.path().to_owned())
        .collect();
    assert_eq!(failed.iter().cloned().collect::<std::collections::BTreeSet<_>>(), golden.damaged);
}

#[test]
fn opening_and_reading_one_file_reads_only_header_and_block() {
    let golden = goldens().into_iter().find(|g| g.name == "many").unwrap();
    let archive = Archive::open(CountingSource::new(FileSource::open(&golden.path).unwrap())).unwrap();
    let header = archive.header().bytes();
    assert_eq!((archive.source().reads(), archive.source().bytes()), (2, header));
    let file = archive.files().nth(700).unwrap();
    archive.read(file).unwrap();
    let block = archive.toc().blocks[file.blocks().start];
    let most = header + u64::from(block.compressed);
    assert_eq!((archive.source().reads(), archive.source().bytes()), (3, most));
}

#[test]
fn find_ignoring_case_finds_all_spellings() {
    let golden = goldens().into_iter().find(|g| g.name == "names").unwrap();
    let archive = golden.open();
    let found = |path| -> Vec<String> {
        archive.find_ignoring_case(path).map(|file| file.path().to_owned()).collect()
    };
    assert_eq!(found("upper/FILE.txt").len(), 2);
    assert_eq!(found("кириллица/ФАЙЛ.INI"), ["Кириллица/файл.ini"]);
    assert_eq!(found("nothing").len(), 0);
    assert!(archive.find("UPPER/file.txt").is_none());
    for file in archive.files() {
        assert_eq!(archive.find(file.path()).unwrap().index(), file.index());
    }
}

#[test]
fn limits_are_kept() {
    let golden = goldens().into_iter().find(|g| g.name == "single-chunked").unwrap();
    let kind = |limits| {
        let archive = Archive::open_with(FileSource::open(&golden.path).unwrap(), limits)?;
        archive.read(archive.get(0).unwrap()).map(|bytes| bytes.len() as u64)
    };
    let size = golden.files[0].size;
    assert_eq!(kind(Limits::default()), Ok(size));
    assert_eq!(kind(Limits::none()), Ok(size));
    for limits in [
        Limits { header: 4095, ..Limits::default() },
        Limits { pool: 1, ..Limits::default() },
        Limits { file: size - 1, ..Limits::default() },
        Limits { block: 4096, ..Limits::default() },
    ] {
        assert_eq!(kind(limits).unwrap_err().kind, Kind::Limit, "{limits:?}");
    }
}
