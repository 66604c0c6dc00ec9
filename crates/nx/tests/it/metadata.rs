//! Tests metadata: it round-trips, damage to it is an error but harms no file, and no path in it
//! leads out of a folder.

use std::collections::BTreeMap;

use linerate_nx::metadata::{Attributes, EXTENSION, Link, MAGIC, Metadata, Time};
use linerate_nx::pack::{Builder, Format, PackOptions};
#[cfg(target_os = "linux")]
use linerate_nx::pack::{FileOptions, Walk};
use linerate_nx::{Archive, FileSource, HashKind, Kind, Limits, r3a};
use proptest::prelude::*;

const FILES: [&str; 4] = ["a", "b/c", "b/d", "é"];

fn time(seconds: i64, nanoseconds: u32) -> Time {
    Time { seconds, nanoseconds }
}

/// Returns metadata with something of each kind.
fn example() -> Metadata {
    let attributes = |seconds, mode| Attributes { modified: time(seconds, 5), mode: Some(mode) };
    let mut metadata = Metadata::default();
    metadata.files.insert("a".into(), attributes(1_000_000_000, 0o644));
    metadata.files.insert("b/c".into(), Attributes { modified: time(-1, 999_999_999), mode: None });
    metadata.folders.insert("b".into(), attributes(7, 0o755));
    metadata.folders.insert("empty/folder".into(), attributes(8, 0o700));
    metadata.links.insert("link".into(), Link { target: "b/c".into(), modified: time(9, 0) });
    metadata
}

fn builder(metadata: Metadata) -> Builder {
    let mut builder = Builder::new(PackOptions::default()).expect("options");
    for path in FILES {
        builder.add_bytes(path, path.as_bytes().to_vec()).expect("a path");
    }
    builder.metadata(metadata);
    builder
}

fn packed(metadata: Metadata) -> Vec<u8> {
    builder(metadata).to_bytes().expect("packable").0
}

fn read(archive: &[u8]) -> linerate_nx::Result<Option<Metadata>> {
    Metadata::from_archive(&Archive::open(archive).expect("an archive"))
}

/// Checks that every file can be read, whatever metadata the archive has.
fn assert_files(archive: &[u8]) {
    let archive = Archive::open(archive).expect("an archive");
    assert_eq!(archive.len(), FILES.len());
    for file in archive.files() {
        assert_eq!(archive.read(file).expect("readable"), file.path().as_bytes());
    }
}

/// Returns the offset of an archive's record.
fn record_at(archive: &[u8]) -> usize {
    let header = *Archive::open(archive).expect("an archive").header();
    header.pool_end().next_multiple_of(8) as usize
}

/// Returns a record with this content, made field by field.
fn record_of(content: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(zstd_safe::compress_bound(content.len()));
    zstd_safe::compress(&mut frame, content, 3).expect("room");
    framed(1, frame.len() as u32, content.len() as u32, &frame)
}

fn framed(version: u32, packed: u32, len: u32, frame: &[u8]) -> Vec<u8> {
    let numbers: Vec<u8> = [version, packed, len, 0].iter().flat_map(|number| number.to_le_bytes()).collect();
    let head = [&MAGIC[..], &numbers].concat();
    let hash = HashKind::Xxh3.hash_bytes(&[&head[..], frame].concat());
    [&head[..], &hash.to_le_bytes(), frame].concat()
}

/// Returns the example archive with another record in place of its own.
fn with_record(record: &[u8]) -> Vec<u8> {
    let mut archive = packed(example());
    let at = record_at(&archive);
    let end = Archive::open(&archive[..]).expect("an archive").header().bytes() as usize;
    archive[at..end].fill(0);
    archive[at..at + record.len()].copy_from_slice(record);
    archive
}

/// Returns the start of a record's content: the hash of the paths and the counts.
fn front(others: u32) -> Vec<u8> {
    let mut paths = FILES.to_vec();
    paths.sort_unstable();
    let text: Vec<u8> = paths.iter().flat_map(|path| [path.as_bytes(), &[0]].concat()).collect();
    let mut content = HashKind::Xxh3.hash_bytes(&text).to_le_bytes().to_vec();
    content.extend((FILES.len() as u32).to_le_bytes());
    content.extend(others.to_le_bytes());
    content
}

/// Returns the columns for files without metadata.
fn columns() -> Vec<u8> {
    let n = FILES.len();
    [vec![0; 8 * n], vec![0xFF; 4 * n], vec![0xFF; 2 * n]].concat()
}

fn other(kind: u16, mode: u16, nanoseconds: u32, path: &[u8], target: &[u8]) -> Vec<u8> {
    let mut out = [kind.to_le_bytes(), mode.to_le_bytes()].concat();
    out.extend(nanoseconds.to_le_bytes());
    out.extend(3i64.to_le_bytes());
    out.extend((path.len() as u32).to_le_bytes());
    out.extend((target.len() as u32).to_le_bytes());
    [&out[..], path, target].concat()
}

#[test]
fn metadata_round_trips() {
    let archive = packed(example());
    assert_eq!(read(&archive), Ok(Some(example())));
    assert_files(&archive);
    // The rest of the archive is the same as without metadata.
    let (with, without) = (Archive::open(&archive[..]).unwrap(), packed(Metadata::default()));
    assert_eq!(read(&without), Ok(None));
    let without = Archive::open(&without[..]).unwrap();
    assert_eq!((with.header(), with.toc(), with.pool()), (without.header(), without.toc(), without.pool()));
    assert_eq!(with.header().flags, 0);
}

#[test]
fn record_matches_the_documented_bytes() {
    let mut metadata = Metadata::default();
    metadata.files.insert("a".into(), Attributes { modified: time(1, 2), mode: Some(0o7644) });
    metadata.folders.insert("f".into(), Attributes { modified: time(-2, 3), mode: None });
    metadata.links.insert("l".into(), Link { target: "a".into(), modified: time(4, 5) });
    let archive = packed(metadata);
    let at = record_at(&archive);
    let frame = u32::from_le_bytes(archive[at + 12..at + 16].try_into().unwrap()) as usize;
    let mut content = Vec::with_capacity(1000);
    zstd_safe::decompress(&mut content, &archive[at + 32..at + 32 + frame]).unwrap();
    let mut expected = front(2);
    expected.extend([1i64, 0, 0, 0].iter().flat_map(|seconds| seconds.to_le_bytes()));
    expected
        .extend([2, u32::MAX, u32::MAX, u32::MAX].iter().flat_map(|nanoseconds| nanoseconds.to_le_bytes()));
    expected.extend([0o644, u16::MAX, u16::MAX, u16::MAX].iter().flat_map(|mode| mode.to_le_bytes()));
    expected.extend([1, 0, 0xFF, 0xFF, 3, 0, 0, 0]);
    expected.extend((-2i64).to_le_bytes());
    expected.extend([1, 0, 0, 0, 0, 0, 0, 0, b'f']);
    expected.extend([2, 0, 0xFF, 0xFF, 5, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend([1, 0, 0, 0, 1, 0, 0, 0, b'l', b'a']);
    assert_eq!(content, expected);
    assert_eq!(
        archive[at..at + 32 + frame],
        record_of_frame(&archive[at + 32..at + 32 + frame], content.len())
    );
}

fn record_of_frame(frame: &[u8], len: usize) -> Vec<u8> {
    framed(1, frame.len() as u32, len as u32, frame)
}

#[test]
fn r3a_stores_metadata_as_user_data() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.r3a");
    builder(example()).write_as(&path, Format::R3a).unwrap();
    let open = || r3a::Archive::open(FileSource::open(&path).unwrap()).unwrap();
    let ids: Vec<u32> = open().head().user_data.iter().map(|extension| extension.id).collect();
    assert_eq!(ids, [EXTENSION]);
    let shown = r3a::AsNx::new(open()).unwrap().open().unwrap();
    assert_eq!(Metadata::from_archive(&shown), Ok(Some(example())));
    assert!(shown.files().all(|file| shown.read(file).unwrap() == file.path().as_bytes()));
}

/// Runs on Linux alone: other systems do not allow every target that is not UTF-8.
#[cfg(target_os = "linux")]
#[test]
fn link_whose_target_is_not_utf_8_is_left_out_when_asked() {
    use std::ffi::OsStr;
    use std::os::unix::{ffi::OsStrExt, fs::symlink};

    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    symlink(OsStr::from_bytes(b"\xFF"), &link).unwrap();
    symlink("there", folder.path().join("other")).unwrap();
    let add = |skip| {
        let mut builder = Builder::new(PackOptions::default()).unwrap();
        let walk = Walk::new(folder.path()).metadata(true).skip_bad_names(skip);
        builder.add_folder(walk, |_| Some(FileOptions::default())).map(|skipped| (builder, skipped))
    };
    let error = add(false).err().unwrap();
    assert_eq!((error.kind(), error.reason().message), (Kind::BadArgument, "the target is not UTF-8"));
    let (builder, skipped) = add(true).unwrap();
    assert!(skipped.others.is_empty() && skipped.bad_names.len() == 1);
    assert_eq!((&skipped.bad_names[0].path, skipped.bad_names[0].message), (&link, error.reason().message));
    assert_eq!(builder.others().collect::<Vec<_>>(), ["other"]);
}

#[test]
fn other_bytes_after_the_pool_are_ignored() {
    let mut archive = packed(example());
    let at = record_at(&archive);
    archive[at] ^= 1;
    assert_eq!(read(&archive), Ok(None));
    assert_files(&archive);
    assert!(Archive::open(&archive[..]).unwrap().has_spare_bytes());
}

#[test]
fn flipped_bit_in_the_record_is_an_error_and_harms_no_file() {
    let good = packed(example());
    let at = record_at(&good);
    let frame = u32::from_le_bytes(good[at + 12..at + 16].try_into().unwrap()) as usize;
    for byte in at..at + 32 + frame {
        for bit in 0..8 {
            let mut archive = good.clone();
            archive[byte] ^= 1 << bit;
            match read(&archive) {
                Ok(None) => assert!(byte < at + 8, "byte {}", byte - at),
                Ok(Some(_)) => panic!("byte {} is not protected", byte - at),
                Err(error) => {
                    assert!(matches!(error.kind, Kind::Corrupt | Kind::Unsupported), "{error}");
                    assert_eq!(error.offset, at as u64);
                }
            }
            assert_files(&archive);
        }
    }
}

#[test]
fn truncated_or_extended_record_is_an_error() {
    let others = [other(1, 0o755, 0, b"f", b""), other(2, 0xFFFF, 0, b"l", b"a")].concat();
    let content = [front(2), columns(), others].concat();
    assert!(read(&with_record(&record_of(&content))).unwrap().is_some());
    for len in 0..content.len() {
        let error = read(&with_record(&record_of(&content[..len]))).unwrap_err();
        assert_eq!(error.kind, Kind::Corrupt, "{len} bytes");
    }
    let error = read(&with_record(&record_of(&[&content[..], &[0]].concat()))).unwrap_err();
    assert_eq!(error.message, "bytes after the metadata");
}

#[test]
fn record_with_wrong_sizes_is_an_error() {
    let frame = {
        let record = record_of(&[front(0), columns()].concat());
        record[32..].to_vec()
    };
    let len = front(0).len() + columns().len();
    let packed = frame.len() as u32;
    let cases: [(u32, u32, u32, Kind); 7] = [
        (0, packed, len as u32, Kind::Unsupported),
        (2, packed, len as u32, Kind::Unsupported),
        (1, packed - 1, len as u32, Kind::Corrupt),
        (1, u32::MAX, len as u32, Kind::Corrupt),
        (1, packed, len as u32 - 1, Kind::Corrupt),
        (1, packed, len as u32 + 1, Kind::Corrupt),
        (1, packed, u32::MAX, Kind::Limit),
    ];
    for (version, packed, len, kind) in cases {
        let part = &frame[..frame.len().min(packed as usize)];
        let archive = with_record(&framed(version, packed, len, part));
        assert_eq!(read(&archive).unwrap_err().kind, kind, "{version} {packed} {len}");
        assert_files(&archive);
    }
}

#[test]
fn record_with_invalid_fields_is_an_error() {
    let files = [front(0), columns()].concat();
    let with_others = |others: &[Vec<u8>]| [front(others.len() as u32), columns(), others.concat()].concat();
    let patched = |at: usize, byte: u8| {
        let mut content = files.clone();
        content[at] = byte;
        content
    };
    let long = vec![b'x'; 4096];
    let folder = |path: &[u8]| other(1, 0o755, 0, path, b"");
    for (content, what) in [
        (patched(0, 1), "another archive"),
        (patched(8, 5), "another number of files"),
        (patched(12, 1), "ends early"),
        // The nanoseconds of the first file: 0xFFFFFF00.
        (patched(16 + 8 * FILES.len(), 0), "nanoseconds"),
        (with_others(&[other(1, 0, 1_000_000_000, b"f", b"")]), "nanoseconds"),
        (with_others(&[folder(b"f"), folder(b"f")]), "not in order"),
        (with_others(&[folder(b"g"), folder(b"f")]), "not in order"),
        (with_others(&[folder(b"")]), "not in order"),
        (with_others(&[folder(b"b/c")]), "that is a file"),
        (with_others(&[other(2, 0, 0, b"a", b"x")]), "that is a file"),
        (with_others(&[other(0, 0, 0, b"f", b"")]), "unknown"),
        (with_others(&[other(3, 0, 0, b"f", b"")]), "unknown"),
        (with_others(&[other(0x101, 0, 0, b"f", b"")]), "unknown"),
        (with_others(&[other(1, 0, 0, b"f", b"x")]), "unknown"),
        (with_others(&[other(2, 0, 0, b"f", b"")]), "unknown"),
        (with_others(&[folder(b"\xFF")]), "UTF-8"),
        (with_others(&[other(2, 0, 0, b"l", b"\xC3")]), "UTF-8"),
        (with_others(&[folder(&long)]), "too long"),
        (with_others(&[other(2, 0, 0, b"l", &long)]), "too long"),
    ] {
        let archive = with_record(&record_of(&content));
        let error = read(&archive).unwrap_err();
        assert!(error.kind == Kind::Corrupt && error.message.contains(what), "{what}: {error}");
        assert_files(&archive);
    }
}

#[test]
fn setuid_setgid_and_sticky_bits_are_dropped() {
    let mut content = [front(1), columns(), other(1, 0o7777, 0, b"f", b"")].concat();
    let modes = 16 + 12 * FILES.len();
    content[modes..modes + 2].copy_from_slice(&0o6755u16.to_le_bytes());
    content[16 + 8 * FILES.len()..][..4].fill(0);
    let found = read(&with_record(&record_of(&content))).unwrap().unwrap();
    assert_eq!((found.files["a"].mode, found.folders["f"].mode), (Some(0o755), Some(0o777)));
}

#[test]
fn record_that_decompresses_beyond_the_limit_is_an_error() {
    let content = vec![0; 3 << 20];
    let archive = with_record(&record_of(&content));
    let limits = Limits { header: 1 << 20, ..Limits::default() };
    let opened = Archive::open_with(&archive[..], limits).unwrap();
    assert_eq!(Metadata::from_archive(&opened).unwrap_err().kind, Kind::Limit);
}

fn some_time() -> impl Strategy<Value = Time> {
    (any::<i64>(), 0..1_000_000_000u32).prop_map(|(seconds, nanoseconds)| time(seconds, nanoseconds))
}

fn some_attributes() -> impl Strategy<Value = Attributes> {
    (some_time(), proptest::option::of(0..=0o777u16))
        .prop_map(|(modified, mode)| Attributes { modified, mode })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_metadata_comes_back(
        files in proptest::collection::vec(proptest::option::of(some_attributes()), FILES.len()),
        folders in proptest::collection::btree_map("f[a-zé/]{0,20}", some_attributes(), 0..20),
        links in proptest::collection::btree_map("l[a-zé/]{0,20}", ("\\PC{1,30}", some_time()), 0..20),
    ) {
        let files: BTreeMap<String, Attributes> = FILES
            .iter()
            .zip(files)
            .filter_map(|(path, attributes)| attributes.map(|attributes| ((*path).to_owned(), attributes)))
            .collect();
        let links = links.into_iter().map(|(path, (target, modified))| (path, Link { target, modified }));
        let metadata = Metadata { files, folders, links: links.collect() };
        let archive = packed(metadata.clone());
        prop_assert_eq!(read(&archive), Ok((!metadata.is_empty()).then_some(metadata)));
        assert_files(&archive);
    }
}
