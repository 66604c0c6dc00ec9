//! Tests R3A archives written with dictionaries: they are smaller where dictionaries pay, every
//! reader reads them, and damage is always an error.

use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use linerate_nx::pack::{Builder, Coding, FileOptions, Format, PackOptions};
use linerate_nx::r3a::{self, AsNx, Dictionaries, Head, HeadBuilder, Tables};
use linerate_nx::{Archive, ChunkSize, Extractor, Kind, Limits, ReadAt, Verifier};

type Files = Vec<(String, Vec<u8>)>;

/// Returns numbers that look random.
fn scramble(i: u64) -> u64 {
    let mixed = (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 32
}

/// Returns words of the vocabulary of a kind. The vocabulary is larger than the words of one block.
fn words(kind: u64, i: u64) -> Vec<u8> {
    let word = |at: u64| scramble(kind * 10_000 + scramble(kind + i * 1000 + at) % 2000);
    (0..120).flat_map(|at| format!("{:012x}\n", word(at) * 40_503).into_bytes()).collect()
}

fn noise(i: u64, len: usize) -> Vec<u8> {
    (0..len as u64).map(|at| scramble(i * 100_000 + at) as u8).collect()
}

/// Returns files of two kinds of words, too few texts for a dictionary, and content that no
/// dictionary helps.
fn files() -> Files {
    let mut files = Files::new();
    for i in 0..300 {
        files.push((format!("words/{i:03}.json"), words(1, i)));
        files.push((format!("words/{i:03}.ini"), words(2, i)));
    }
    for i in 0..20 {
        files.push((format!("noise/{i}.bin"), noise(i, 3000)));
    }
    files.push(("one.txt".into(), b"only one of its kind. ".repeat(50)));
    files.push(("large.json".into(), words(1, 999).repeat(40)));
    files.push(("empty".into(), Vec::new()));
    files.sort();
    files
}

fn options() -> PackOptions {
    let (solid, chunked) = (Coding::zstd(9), Coding::zstd(9));
    PackOptions { chunk: 16 << 10, solid_limit: (16 << 10) - 1, solid, chunked, ..PackOptions::default() }
}

fn pack(files: &Files, options: PackOptions, format: Format) -> Vec<u8> {
    let mut builder = Builder::new(options).expect("options");
    for (name, bytes) in files {
        builder.add_bytes(name.clone(), bytes.clone()).expect("new");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().join("archive");
    let summary = builder.write_as(&target, format).expect("writable");
    let archive = fs::read(&target).expect("written");
    assert_eq!(summary.archive_bytes, archive.len() as u64);
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1, "nothing else is left");
    archive
}

fn with_dictionaries(files: &Files) -> Vec<u8> {
    pack(files, PackOptions { dictionaries: true, ..options() }, Format::R3a)
}

/// Returns an archive of all files with dictionaries. It is made once for all tests.
fn archive() -> Vec<u8> {
    static ARCHIVE: OnceLock<Vec<u8>> = OnceLock::new();
    ARCHIVE.get_or_init(|| with_dictionaries(&files())).clone()
}

fn shown(bytes: &[u8]) -> Archive<AsNx<&[u8]>> {
    let archive = r3a::Archive::open(bytes).expect("an archive");
    AsNx::new(archive).expect("Nx can show it").open().expect("readable")
}

/// Returns the files of an archive by path, in the form of [`files`].
fn contents<S: ReadAt>(archive: &Archive<S>) -> Files {
    let files = archive.files().map(|file| (file.path().to_owned(), archive.read(file).expect("whole")));
    sorted(files.collect())
}

fn sorted(mut files: Files) -> Files {
    files.sort();
    files
}

fn head(bytes: &[u8]) -> Head {
    Head::parse(bytes, &Limits::default()).expect("a header")
}

#[test]
fn text_gets_dictionaries_and_round_trips() {
    let files = files();
    let bytes = archive();
    let plain = pack(&files, options(), Format::R3a);
    assert!(bytes.len() * 4 < plain.len() * 3, "{} of {}", bytes.len(), plain.len());
    let dictionaries = head(&bytes).dictionaries.expect("dictionaries");
    assert_eq!(dictionaries.dictionaries.len(), 2, "one for each vocabulary");
    assert!(dictionaries.hashed);
    assert!(head(&plain).dictionaries.is_none());
    assert_eq!(contents(&shown(&bytes)), files);
    let direct = r3a::Archive::open(&bytes[..]).expect("an archive");
    let read: Files = direct
        .files()
        .enumerate()
        .map(|(i, (path, _))| (path.into(), direct.read(i).expect("whole")))
        .collect();
    assert_eq!(sorted(read), files);
}

#[test]
fn ratio_of_files_is_that_to_the_r3a_file_and_not_to_the_shown_archive() {
    let bytes = archive();
    let limits = Limits { ratio: 1, ratio_from: 0, ..Limits::default() };
    let archive = r3a::Archive::open_with(&bytes[..], limits).expect("an archive");
    let archive = AsNx::new(archive).expect("Nx can show it").open().expect("readable");
    let words: Vec<_> = archive.files().filter(|file| file.path().starts_with("words/")).collect();
    let total: u64 = words.iter().map(|file| file.size()).sum();
    assert!((bytes.len() as u64..archive.source().len()).contains(&total), "{total}");
    assert_eq!(archive.check_limits(&words).map_err(|error| error.kind), Err(Kind::Limit));
    assert_eq!(archive.check_limits(&words[..1]), Ok(words[0].size()));
}

#[test]
fn every_file_is_extracted_and_verified() {
    let files = files();
    let bytes = archive();
    let archive = shown(&bytes);
    let verified = Verifier::new(&archive).threads(3).run().expect("readable");
    assert!(verified.failures.is_empty());
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    Extractor::new(&archive).threads(3).to_folder(&out).expect("extracted");
    for (name, content) in &files {
        assert!(fs::read(out.join(Path::new(name))).expect(name) == *content, "{name}");
    }
}

#[test]
fn bytes_do_not_depend_on_threads() {
    let files = files();
    let one = archive();
    let options = PackOptions { dictionaries: true, threads: 4, ..options() };
    assert!(pack(&files, options, Format::R3a) == one);
}

#[test]
fn dictionaries_that_do_not_pay_are_left_out() {
    let few: Files = files().into_iter().filter(|(name, _)| !name.starts_with("words")).collect();
    assert!(with_dictionaries(&few) == pack(&few, options(), Format::R3a));
    // All files fit one block, so a dictionary could serve no second block.
    let small: Files = (0..4).map(|i| (format!("{i}.json"), words(1, i))).collect();
    assert!(head(&with_dictionaries(&small)).dictionaries.is_none());
    assert!(head(&with_dictionaries(&Files::new())).dictionaries.is_none());
    // Large blocks contain enough repetition themselves.
    let wide = PackOptions { chunk: 1 << 20, solid_limit: (1 << 20) - 1, dictionaries: true, ..options() };
    assert!(head(&pack(&files(), wide, Format::R3a)).dictionaries.is_none());
}

/// Files that are alone and files with a coding of their own are encoded again as they were.
#[test]
fn blocks_are_encoded_again_with_their_own_coding() {
    // A file must be larger than a page, since savings count in whole pages.
    let text = |i: u64| (8 * i..8 * i + 8).flat_map(|i| words(1, i)).collect();
    let files: Files = (0..60).map(|i| (format!("{i}.json"), text(i))).collect();
    let pack = |solid, chunked, file: FileOptions| {
        let options = PackOptions { solid, chunked, dictionaries: true, ..options() };
        let mut builder = Builder::new(options).expect("options");
        for (name, bytes) in &files {
            builder.add_bytes_with(name.clone(), bytes.clone(), file).expect("new");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("archive");
        builder.write_as(&target, Format::R3a).expect("writable");
        fs::read(&target).expect("written")
    };
    let (fast, slow, alone) = (Coding::zstd(1), Coding::zstd(16), FileOptions::new().alone(true));
    let expected = pack(slow, slow, alone);
    assert!(head(&expected).dictionaries.is_some());
    assert!(pack(fast, slow, alone) == expected);
    assert!(pack(fast, fast, alone.coding(slow)) == expected);
    assert!(pack(slow, fast, alone) != expected);
}

#[test]
fn nx_has_no_dictionaries() {
    let files = files();
    let asked = PackOptions { dictionaries: true, ..options() };
    assert!(pack(&files, asked, Format::Nx) == pack(&files, options(), Format::Nx));
}

/// A block with a dictionary is shown as decoded and stored. It is encoded again instead of being
/// copied in this form.
#[test]
fn archives_made_from_blocks_with_dictionaries_are_recoded() {
    let files = files();
    let bytes = archive();
    let nx = pack(&files, options(), Format::Nx);
    let open = || {
        let archive = r3a::Archive::open(bytes.clone()).expect("an archive");
        Arc::new(AsNx::new(archive).expect("Nx can show it").open().expect("readable"))
    };
    let builders = [
        Builder::from_archive(options(), &open(), |_| true),
        Builder::repack(options(), &open()),
        Builder::merge(options(), &[open(), open()], linerate_nx::pack::Clash::First),
    ];
    for builder in builders {
        let (made, _) = builder.expect("an archive").to_bytes().expect("packable");
        assert_eq!(contents(&Archive::open(&made[..]).expect("ours")), files);
        assert!(made.len() < nx.len() * 11 / 10, "{} of {}", made.len(), nx.len());
    }
    let again = PackOptions { dictionaries: true, ..options() };
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().join("again.r3a");
    let builder = Builder::from_archive(again, &open(), |_| true).expect("an archive");
    builder.write_as(&target, Format::R3a).expect("writable");
    let made = fs::read(target).expect("written");
    assert!(head(&made).dictionaries.is_some());
    assert_eq!(contents(&shown(&made)), files);
}

/// Returns the archive with other dictionaries in its header, and with their hashes.
fn with_other(bytes: &[u8], change: impl FnOnce(&mut Dictionaries)) -> Vec<u8> {
    let old = head(bytes);
    let mut dictionaries = old.dictionaries.clone().expect("dictionaries");
    change(&mut dictionaries);
    let paths: Vec<&str> = old.pool.iter().collect();
    let draft = HeadBuilder {
        chunk: ChunkSize::from_bytes(16 << 10).expect("a chunk size"),
        tables: Tables::Presets,
        entries: &old.toc.entries,
        blocks: &old.toc.blocks,
        paths: &paths,
        dictionaries: Some(&dictionaries),
        user_data: &[],
    };
    let mut made = draft.write().expect("writable");
    made.extend_from_slice(&bytes[old.header.bytes() as usize..]);
    made
}

#[test]
fn wrong_or_missing_dictionary_is_an_error_of_each_file() {
    let files = files();
    let bytes = archive();
    assert!(with_other(&bytes, |_| {}) == bytes, "the header is written as it was");
    let swapped = |found: &mut Dictionaries| found.dictionaries.swap(0, 1);
    let gone = |found: &mut Dictionaries| found.of_block.fill(None);
    let other = |found: &mut Dictionaries| found.dictionaries[0] = noise(1, 20_000);
    let cases: [(&str, Vec<u8>); 3] = [
        ("swapped", with_other(&bytes, swapped)),
        ("gone", with_other(&bytes, gone)),
        ("other", with_other(&bytes, other)),
    ];
    for (case, damaged) in cases {
        let archive = shown(&damaged);
        let mut failed = 0;
        for (name, content) in &files {
            match archive.read(archive.find(name).expect("every path")) {
                Ok(read) => assert!(read == *content, "{case}: {name} is wrong and nobody says so"),
                Err(error) => {
                    assert_eq!(error.kind, Kind::Corrupt, "{case}: {name}: {error}");
                    failed += 1;
                }
            }
        }
        assert!(failed >= 200, "{case}: {failed}");
        let verified = Verifier::new(&archive).run().expect("readable");
        assert_eq!(verified.failures.len(), failed, "{case}");
    }
    // A dictionary that does not match its hash is an error when the archive is opened.
    let at = (0..head(&bytes).header.bytes() as usize).rev().find(|&at| bytes[at] != 0).expect("a byte");
    let mut flipped = bytes.clone();
    flipped[at] ^= 1;
    assert!(r3a::Archive::open(&flipped[..]).is_err());
}
