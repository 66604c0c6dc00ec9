//! Tests archives made from archives: files that stay keep their content, and copied blocks their
//! bytes.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use linerate_nx::pack::{Builder, Clash, Coding, FileOptions, MAX_CHUNK, PackOptions, Reuse, Walk};
use linerate_nx::{Archive, File, HashKind, Kind, Limits};
use proptest::prelude::*;

use crate::cases::cases;
use crate::common::make::{COPY, Make};
use crate::pack_tree::{Bytes, TreeFile, assert_holds, content, contents, open, pack, tree, write_tree};

fn golden(name: &str) -> Bytes {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/nx").join(name);
    open(fs::read(path).expect("a golden"))
}

/// Returns the compressed bytes of every block that is not empty.
fn blocks(archive: &Bytes) -> HashSet<Vec<u8>> {
    let (layout, source) = (archive.layout(), archive.source());
    let bytes = |(i, block): (usize, &linerate_nx::Block)| {
        let at = layout.offset(i) as usize;
        source[at..at + block.compressed as usize].to_vec()
    };
    archive.toc().blocks.iter().enumerate().map(bytes).filter(|bytes| !bytes.is_empty()).collect()
}

fn small() -> PackOptions {
    let mut options = PackOptions::default();
    (options.chunk, options.solid_limit) = (4096, 2047);
    (options.solid, options.chunked) = (Coding::zstd(3), Coding::lz4(3));
    options
}

#[test]
fn blocks_of_goldens_are_reused_unchanged() {
    for name in [
        "defaults",
        "dups-chunked",
        "edges-32k-dedup",
        "merged",
        "many",
        "incompressible",
        "hash-names",
        "names",
    ] {
        let old = golden(&format!("{name}.nx"));
        let builder = Builder::from_archive(PackOptions::default(), &old, |_| true).expect("options");
        let (bytes, _) = builder.to_bytes().expect("packable");
        let new = open(bytes.clone());
        assert!(blocks(&new).is_subset(&blocks(&old)), "{name}");
        assert_holds(bytes, &contents(&old));
    }
}

#[test]
fn damaged_entry_is_an_error_that_names_it() {
    let old = golden("damaged-by-its-writer.nx");
    let damaged: HashSet<String> =
        old.files().filter(|file| old.read(*file).is_err()).map(|file| file.path().to_owned()).collect();
    assert_eq!(damaged.len(), 3);
    for reuse in [Reuse::Blocks, Reuse::Contents] {
        let mut options = PackOptions { threads: 2, ..PackOptions::default() };
        options.chunk = old.header().chunk.bytes();
        options.solid_limit = options.chunk - 1;
        let mut builder = Builder::new(options.clone()).expect("options");
        builder.add_archive(&old, reuse, |_| true).expect("new paths");
        let error = builder.to_bytes().expect_err("it is damaged");
        assert_eq!(error.kind(), Kind::Corrupt);
        assert!(damaged.contains(error.file().and_then(Path::to_str).expect("a name")), "{error}");

        let mut builder = Builder::new(options).expect("options");
        builder.add_archive(&old, reuse, |file| !damaged.contains(file.path())).expect("new paths");
        let kept = old.files().filter(|file| !damaged.contains(file.path()));
        let kept: Vec<_> =
            kept.map(|file| (file.path().to_owned(), old.read(file).expect("sound"))).collect();
        assert_holds(builder.to_bytes().expect("packable").0, &kept);
    }
}

#[test]
fn damage_is_copied_only_without_verify_existing() {
    let mut options = small();
    options.chunked = Coding::Copy;
    let files = [("damaged".to_string(), content(0, 1, 3000)), ("sound".to_string(), content(0, 2, 3000))];
    let mut bytes = pack(&files, &options).0;
    bytes[4096 + 1000] ^= 4;
    let old = open(bytes);
    let carry = |verify_existing| {
        let options = PackOptions { verify_existing, ..options.clone() };
        Builder::from_archive(options, &old, |_| true).expect("options").to_bytes()
    };
    let error = carry(true).expect_err("damage");
    assert_eq!((error.kind(), error.file()), (Kind::Corrupt, Some(Path::new("damaged"))));
    let new = open(carry(false).expect("nobody looks").0);
    assert!(blocks(&new) == blocks(&old));
    assert!(new.read(new.find("damaged").expect("there")).is_err());
}

#[test]
fn delete_keeps_the_blocks_of_other_files() {
    let files = tree(3, 60, &small());
    let old = open(pack(&files, &small()).0);
    let kept: Vec<TreeFile> = files.into_iter().filter(|file| file.0.ends_with(".dds")).collect();
    let builder = Builder::from_archive(PackOptions::default(), &old, |file| file.path().ends_with(".dds"))
        .expect("options");
    let (bytes, summary) = builder.to_bytes().expect("packable");
    assert!(summary.blocks < old.toc().blocks.len() as u64);
    let new = open(bytes.clone());
    let mut whole = 0;
    for (i, block) in old.toc().blocks.iter().enumerate().filter(|(_, block)| block.compressed > 0) {
        let mut users = old.files().filter(|file| file.blocks().contains(&i));
        if users.all(|file| file.path().ends_with(".dds")) {
            let at = old.layout().offset(i) as usize;
            assert!(blocks(&new).contains(&old.source()[at..at + block.compressed as usize]), "block {i}");
            whole += 1;
        }
    }
    assert!(whole > 1);
    assert_holds(bytes, &kept);
}

#[test]
fn from_archive_selects_by_hash() {
    let files = tree(4, 60, &small());
    let old = open(pack(&files, &small()).0);
    let wanted: HashSet<u64> = files.iter().take(20).map(|file| HashKind::Xxh3.hash_bytes(&file.1)).collect();
    let kept: Vec<TreeFile> =
        files.into_iter().filter(|file| wanted.contains(&HashKind::Xxh3.hash_bytes(&file.1))).collect();
    let keep = |file: linerate_nx::File<'_>| file.hash().is_some_and(|hash| wanted.contains(&hash));
    let builder = Builder::from_archive(PackOptions::default(), &old, keep).expect("options");
    assert_holds(builder.to_bytes().expect("packable").0, &kept);
}

#[test]
fn merging_an_archive_with_itself_under_other_names_adds_no_block() {
    let files = tree(5, 40, &small());
    let other: Vec<TreeFile> =
        files.iter().map(|(name, bytes)| (format!("other/{name}"), bytes.clone())).collect();
    let (one, two) = (open(pack(&files, &small()).0), open(pack(&other, &small()).0));
    let alone = Builder::merge(small(), std::slice::from_ref(&one), Clash::Refuse).expect("options");
    let both = Builder::merge(small(), &[one.clone(), two.clone()], Clash::Refuse).expect("options");
    let swapped = Builder::merge(small(), &[two, one], Clash::Refuse).expect("options");
    let alone = alone.to_bytes().expect("packable").1;
    let (bytes, summary) = both.to_bytes().expect("packable");
    assert_eq!(summary.blocks, alone.blocks);
    assert!(bytes == swapped.to_bytes().expect("packable").0, "the order of archives does not show");
    assert_holds(bytes, &[files, other].concat());
}

#[test]
fn merge_refuses_or_resolves_clashes() {
    let make = |names: &[&str], kind| {
        let files: Vec<TreeFile> =
            names.iter().map(|name| (name.to_string(), content(1, kind, 3000))).collect();
        (open(pack(&files, &small()).0), files)
    };
    let (one, ones) = make(&["a", "both"], 1);
    let (two, twos) = make(&["both", "c"], 2);
    let merged = |clash| Builder::merge(small(), &[one.clone(), two.clone()], clash);
    let error = merged(Clash::Refuse).err().expect("a clash");
    assert_eq!((error.kind(), error.file()), (Kind::BadArgument, Some(Path::new("both"))));
    let first = merged(Clash::First).expect("settled").to_bytes().expect("packable").0;
    assert_holds(first, &[ones[0].clone(), ones[1].clone(), twos[1].clone()]);
    let last = merged(Clash::Last).expect("settled").to_bytes().expect("packable").0;
    assert_holds(last, &[ones[0].clone(), twos[0].clone(), twos[1].clone()]);
    // Equal files do not clash.
    Builder::merge(small(), &[one.clone(), one], Clash::Refuse).expect("the same files");
}

/// Returns an archive of small files with these paths, each with its own content.
fn of_paths(paths: &[&str]) -> (Bytes, Vec<TreeFile>) {
    let file = |path: &&str| (path.to_string(), format!("content of {path} in {paths:?}").into_bytes());
    let files: Vec<TreeFile> = paths.iter().map(file).collect();
    (open(pack(&files, &small()).0), files)
}

#[test]
fn path_that_is_file_and_folder_is_refused() {
    for (first, second) in [("a", "a/b"), ("a/b", "a"), ("x/y", "x/y/z/w"), ("x/y/z/w", "x/y")] {
        let mut builder = Builder::new(small()).expect("options");
        builder.add_bytes(first, *b"one").expect("new");
        let error = builder.add_bytes(second, *b"two").expect_err("a clash");
        assert_eq!((error.kind(), error.file()), (Kind::BadArgument, Some(Path::new(second))));
        let mut builder = Builder::new(small()).expect("options");
        builder.add_bytes(first, *b"one").expect("new");
        builder.add_archive(&of_paths(&[second]).0, Reuse::Blocks, |_| true).expect_err("a clash");
    }
    let (_, files) = of_paths(&["a", "a.b", "ab/a", "b/a/a"]);
    assert_eq!(pack(&files, &small()).1.files, 4);
}

#[test]
fn merge_of_a_file_and_a_folder_of_one_path_clashes() {
    let ((one, ones), (two, twos)) = (of_paths(&["a", "b/c", "own"]), of_paths(&["a/b", "a/c", "b"]));
    let both = [one, two];
    let merged = |clash| Builder::merge(small(), &both, clash);
    let error = merged(Clash::Refuse).err().expect("a clash");
    assert_eq!((error.kind(), error.file()), (Kind::BadArgument, Some(Path::new("a"))));
    let clashes = Builder::merge_clashes(&both).expect("no file is decoded");
    let found: Vec<_> =
        clashes.iter().map(|of| (&*of.path, of.archive, &*of.other_path, of.other_archive)).collect();
    assert_eq!(found, [("a", 0, "a/b", 1), ("b", 1, "b/c", 0)]);
    assert_holds(merged(Clash::First).expect("settled").to_bytes().expect("packable").0, &ones);
    let expected = [twos, vec![ones[2].clone()]].concat();
    assert_holds(merged(Clash::Last).expect("settled").to_bytes().expect("packable").0, &expected);
}

#[test]
fn update_lets_a_folder_replace_a_file_and_a_file_a_folder() {
    let (old, olds) = of_paths(&["became a folder", "became a file/a", "became a file/b", "stays"]);
    let (_, news) = of_paths(&["became a folder/a", "became a file"]);
    let folder = tempfile::tempdir().expect("a folder");
    write_tree(folder.path(), &news);
    let choose = |_: &str| Some(FileOptions::default());
    let (builder, changes, _) =
        Builder::update(small(), &old, folder.path(), choose, false).expect("readable");
    assert_eq!(changes.added.len(), 2);
    let mut removed = changes.removed;
    removed.sort();
    assert_eq!(removed, ["became a file/a", "became a file/b", "became a folder"]);
    assert_holds(builder.to_bytes().expect("packable").0, &[news, vec![olds[3].clone()]].concat());
}

#[test]
fn update_from_several_folders_deletes_what_none_of_them_has() {
    let (old, olds) = of_paths(&["a", "b", "goes/1", "goes/2", "stays"]);
    let folders = [tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder")];
    let news: Vec<_> = ["a", "goes/2", "new"].map(|path| (path.to_owned(), content(0, 9, 500))).into();
    write_tree(folders[0].path(), &news[..1]);
    write_tree(folders[1].path(), &news[1..]);
    let walks = [folders[0].path().into(), folders[1].path().into()];
    let update = || {
        let keep = |file: File<'_>| !file.path().starts_with("goes/");
        Builder::update_all(small(), &old, &walks, |_| Some(FileOptions::default()), keep)
    };
    let (builder, changes, _) = update().expect("readable");
    assert_eq!(
        (changes.added.len(), changes.replaced.len(), changes.removed),
        (1, 2, vec!["goes/1".to_owned()])
    );
    let expected = [news, vec![olds[1].clone(), olds[4].clone()]].concat();
    assert_holds(builder.to_bytes().expect("packable").0, &expected);
    fs::write(folders[1].path().join("a"), b"another").expect("writable");
    let error = update().err().expect("both have it");
    let path = folders[1].path().join("a");
    assert_eq!((error.kind(), error.file()), (Kind::BadArgument, Some(&*path)));
}

#[test]
fn update_counts_the_files_that_still_share_their_bytes() {
    let (small_file, large_file) = (content(0, 1, 500), content(0, 2, 3_000_000));
    let named = |name: &str, bytes: &Vec<u8>| (name.to_owned(), bytes.clone());
    let files =
        [named("a", &small_file), named("b", &small_file), named("c", &large_file), named("d", &large_file)];
    let (bytes, before) = pack(&files, &small());
    assert_eq!((before.shared_files, before.shared_bytes), (2, 3_000_500));
    let folder = tempfile::tempdir().expect("a folder");
    write_tree(folder.path(), &[named("e", &small_file), named("f", &content(0, 3, 700))]);
    let old = open(bytes);
    let updated = Builder::update(small(), &old, folder.path(), |_| Some(FileOptions::default()), false);
    let (_, after) = updated.expect("readable").0.to_bytes().expect("packable");
    assert_eq!((after.shared_files, after.shared_bytes), (3, 3_001_000));
}

#[test]
fn update_of_an_archive_with_chunks_larger_than_are_written_makes_them_smaller() {
    let (_, files) = of_paths(&["a", "b/c"]);
    let (mut bytes, _) = pack(&files, &PackOptions { chunk: MAX_CHUNK, ..small() });
    // The exponent of the chunk size is in bits 20 to 24 of the second word. 512 << 19 becomes 512
    // << 20.
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[7] = bytes[7] & 0xfe | 0x01;
    let old = open(bytes);
    assert_eq!(old.header().chunk.bytes(), 2 * MAX_CHUNK);
    let folder = tempfile::tempdir().expect("a folder");
    let updated = Builder::update(small(), &old, folder.path(), |_| Some(FileOptions::default()), false);
    let (bytes, _) = updated.expect("readable").0.to_bytes().expect("packable");
    assert_eq!(open(bytes.clone()).header().chunk.bytes(), MAX_CHUNK);
    assert_holds(bytes, &files);
}

#[cfg(unix)]
#[test]
fn update_leaves_out_names_that_only_their_bad_bytes_tell_apart() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let (old, olds) = of_paths(&["a"]);
    let folders = [tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder")];
    for (folder, name) in [(0, &b"\xe8"[..]), (0, b"\xe9"), (0, b"CON"), (1, b"CON")] {
        fs::write(folders[folder].path().join(OsStr::from_bytes(name)), b"some text").expect("writable");
    }
    let walks = [0, 1].map(|folder| Walk::new(folders[folder].path()).skip_bad_names(true));
    let updated = Builder::update_all(small(), &old, &walks, |_| Some(FileOptions::default()), |_| true);
    let (builder, _, skipped) = updated.expect("they are left out");
    assert_eq!(skipped.bad_names.len(), 4);
    assert_holds(builder.to_bytes().expect("packable").0, &olds);
}

#[test]
fn update_takes_changed_files_and_reuses_the_rest() {
    let mut files = tree(6, 50, &small());
    let old = open(pack(&files, &small()).0);
    let folder = tempfile::tempdir().expect("a folder");
    let gone = files.remove(10);
    files.push(("new/file".into(), content(1, 77, 5000)));
    files[3].1 = content(0, 78, 3333);
    // The new content has the same size as the old one, but other bytes.
    files[4].1 = content(1, 79, files[4].1.len().max(100));
    write_tree(folder.path(), &files);
    for mirror in [true, false] {
        let choose = |_: &str| Some(FileOptions::default());
        let options = PackOptions { threads: 3, ..PackOptions::default() };
        let (builder, changes, others) =
            Builder::update(options, &old, folder.path(), choose, mirror).expect("readable");
        assert_eq!((changes.added.len(), changes.replaced.len(), changes.unchanged), (1, 2, 47));
        assert_eq!((changes.removed.len(), others.is_empty()), (usize::from(mirror), true));
        let expected = if mirror { files.clone() } else { [files.clone(), vec![gone.clone()]].concat() };
        assert_holds(builder.to_bytes().expect("packable").0, &expected);
    }
}

/// A source that reads, when it is dropped, the file that has its name then.
struct Closing {
    bytes: Vec<u8>,
    name: std::path::PathBuf,
    seen: Arc<std::sync::Mutex<Vec<u8>>>,
}

impl linerate_nx::ReadAt for Closing {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        self.bytes.read_at(offset, out)
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        *self.seen.lock().expect("whole") = fs::read(&self.name).expect("there");
    }
}

#[test]
fn replaced_archive_is_closed_before_the_rename() {
    for format in [linerate_nx::pack::Format::Nx, linerate_nx::pack::Format::R3a] {
        let folder = tempfile::tempdir().expect("a folder");
        let name = folder.path().join("a.nx");
        let bytes = pack(&tree(4, 10, &small()), &small()).0;
        fs::write(&name, &bytes).expect("writable");
        let seen = Arc::default();
        let source = Closing { bytes: bytes.clone(), name: name.clone(), seen: Arc::clone(&seen) };
        let archive = Arc::new(Archive::open(source).expect("an archive"));
        let mut builder = Builder::from_archive(small(), &archive, |_| true).expect("readable");
        builder.add_bytes("another file", *b"x").expect("new");
        drop(archive);
        builder.write_as(&name, format).expect("writable");
        assert!(*seen.lock().expect("whole") == bytes, "Windows replaces no open file");
        assert!(fs::read(&name).expect("there") != bytes);
    }
}

#[test]
fn update_replaces_damaged_entries() {
    let mut options = small();
    (options.solid, options.chunked) = (Coding::Copy, Coding::Copy);
    let files = tree(12, 20, &options);
    let mut bytes = pack(&files, &options).0;
    // The first block is the first chunk of the first large file.
    bytes[4096] ^= 1;
    let old = open(bytes);
    let folder = tempfile::tempdir().expect("a folder");
    write_tree(folder.path(), &files);
    let choose = |_: &str| Some(FileOptions::default());
    let (builder, changes, _) =
        Builder::update(options, &old, folder.path(), choose, false).expect("readable");
    assert!(!changes.replaced.is_empty() && changes.added.is_empty(), "{changes:?}");
    assert_holds(builder.to_bytes().expect("packable").0, &files);
}

#[test]
fn damage_of_an_entry_whose_path_is_a_folder_now_does_not_stop_an_update() {
    let options = PackOptions { solid: Coding::Copy, ..small() };
    let (before, after) = (content(0, 1, 3000), content(0, 2, 3000));
    let mut bytes = pack(&[("a".into(), before)], &options).0;
    bytes[4096 + 1000] ^= 4;
    let old = open(bytes);
    let folder = tempfile::tempdir().expect("a folder");
    let files = [("a/b".to_owned(), after)];
    write_tree(folder.path(), &files);
    let choose = |_: &str| Some(FileOptions::default());
    let (builder, changes, _) =
        Builder::update(options, &old, folder.path(), choose, false).expect("nobody wants it");
    assert_eq!((changes.removed, changes.added), (vec!["a".to_owned()], vec!["a/b".to_owned()]));
    assert_holds(builder.to_bytes().expect("packable").0, &files);
}

#[test]
fn entry_beyond_the_limits_is_replaced_by_its_file_but_not_kept() {
    let files = [("a".to_owned(), content(1, 1, 3000)), ("b".to_owned(), content(1, 2, 9000))];
    let bytes = pack(&files, &small()).0;
    let limits = Limits { block: 3500, ..Limits::default() };
    let old = Arc::new(Archive::open_with(bytes, limits).expect("an archive"));
    assert_eq!(old.read(old.find("b").expect("there")).unwrap_err().kind, Kind::Limit);
    let folder = tempfile::tempdir().expect("a folder");
    write_tree(folder.path(), &files);
    let update = || Builder::update(small(), &old, folder.path(), |_| Some(FileOptions::default()), false);
    let (builder, changes, _) = update().expect("the folder has both");
    assert_eq!((changes.unchanged, changes.replaced), (1, vec!["b".to_owned()]));
    assert_holds(builder.to_bytes().expect("packable").0, &files);
    fs::remove_file(folder.path().join("b")).expect("there");
    let error = update().err().expect("it stays");
    assert_eq!((error.kind(), error.file()), (Kind::Limit, Some(Path::new("b"))));
}

/// A source that records which threads read it.
struct ByThreads(Vec<u8>, std::sync::Mutex<HashSet<std::thread::ThreadId>>);

impl linerate_nx::ReadAt for ByThreads {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        self.1.lock().expect("whole").insert(std::thread::current().id());
        self.0.read_at(offset, out)
    }
}

#[test]
fn edits_use_no_more_threads_than_fit_the_memory_of_the_limits() {
    let mut options = small();
    (options.chunk, options.solid_limit) = (1 << 20, (1 << 19) - 1);
    // Enough files for several batches.
    let files: Vec<TreeFile> =
        (0..6).map(|i| (format!("{i}"), content(1, i, (5 << 20) + i as usize))).collect();
    let bytes = pack(&files, &options).0;
    options.threads = 4;
    let folder = tempfile::tempdir().expect("a folder");
    write_tree(folder.path(), &files);
    // A block of 1 MiB and its compressed bytes do not fit twice.
    let open = || {
        let limits = Limits { memory: 2 << 20, ..Limits::default() };
        let source = ByThreads(bytes.clone(), Default::default());
        Arc::new(Archive::open_with(source, limits).expect("an archive"))
    };
    let threads = |archive: &Archive<ByThreads>| archive.source().1.lock().expect("whole").len();
    let archive = open();
    let choose = |_: &str| Some(FileOptions::default());
    Builder::update(options.clone(), &archive, folder.path(), choose, true).expect("readable");
    assert_eq!(threads(&archive), 1, "update");
    let archive = open();
    let copied = Builder::from_archive(options.clone(), &archive, |_| true).expect("new paths");
    copied.to_bytes().expect("packable");
    assert_eq!(threads(&archive), 1, "blocks");
    let archive = open();
    Builder::repack(options, &archive).expect("new paths").to_bytes().expect("packable");
    assert_eq!(threads(&archive), 1, "contents");
}

#[test]
fn names_that_some_systems_reject_are_kept_and_unsafe_ones_are_errors() {
    let named = |name: &str| {
        let mut bytes = pack(&[("0123456".into(), b"content".to_vec())], &small()).0;
        let at = bytes.windows(7).position(|window| window == b"0123456").expect("short pools are not coded");
        bytes[at..at + 7].copy_from_slice(name.as_bytes());
        open(bytes)
    };
    for name in ["aux.txt", "c:/file", "it end "] {
        let builder = Builder::from_archive(small(), &named(name), |_| true).expect(name);
        assert_holds(builder.to_bytes().expect("packable").0, &[(name.into(), b"content".to_vec())]);
    }
    for name in ["../../a", "/abs/ol", "a/./b/c", "a//b//c", "a\\b\\c.d"] {
        let error = Builder::from_archive(small(), &named(name), |_| true).err().expect("refused");
        assert_eq!((error.kind(), error.file()), (Kind::BadArgument, Some(Path::new(name))));
    }
}

#[test]
fn an_archive_can_replace_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().join("a.nx");
    let files = tree(8, 30, &small());
    fs::write(&target, pack(&files, &small()).0).expect("writable");
    let source = linerate_nx::FileSource::open(&target).expect("there");
    let old = Arc::new(Archive::open(source).expect("an archive"));
    let keep = |file: linerate_nx::File<'_>| file.path().starts_with("d1/");
    Builder::from_archive(PackOptions::default(), &old, keep)
        .expect("options")
        .write(&target)
        .expect("packable");
    let kept: Vec<TreeFile> = files.into_iter().filter(|file| file.0.starts_with("d1/")).collect();
    assert_holds(fs::read(&target).expect("there"), &kept);
}

#[test]
fn xxh64_archive_is_rewritten_with_xxh3() {
    // Header version 0 of the format's worked example: one stored byte, XXH64.
    let mut bytes = vec![0; 4097];
    let head = [
        0x4E, 0x58, 0x55, 0x53, 0x10, 0, 0xB0, 0, 1, 0, 0x10, 0, 0xC0, 2, 0, 0, 0x84, 0xB6, 0x95, 0xD0, 0x40,
        0x9D, 0x09, 0x13, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0x28, 0xB5, 0x2F, 0xFD, 0x20, 2,
        0x11, 0, 0, 0x61, 0,
    ];
    bytes[..head.len()].copy_from_slice(&head);
    bytes[4096] = b'A';
    let old = open(bytes);
    assert_eq!(old.hash_kind(), HashKind::Xxh64);
    for verify_existing in [true, false] {
        let options = PackOptions { verify_existing, ..PackOptions::default() };
        let builder = Builder::from_archive(options, &old, |_| true).expect("options");
        let new = open(builder.to_bytes().expect("packable").0);
        assert_eq!(
            (new.hash_kind(), new.toc().entries[0].hash),
            (HashKind::Xxh3, HashKind::Xxh3.hash_bytes(b"A"))
        );
    }
}

/// The archive has three equal files, one of them with a damaged hash.
#[test]
fn wrong_hash_of_a_duplicate_is_an_error() {
    let options = PackOptions { threads: 2, ..small() };
    let mut bytes = pack(&tree(8, 12, &options), &options).0;
    let whole = Archive::open(&bytes[..]).unwrap();
    // One of three files with the same 4096 bytes.
    let twin = whole.files().filter(|file| file.size() == 4096).nth(1).unwrap().index();
    bytes[16 + 20 * twin] ^= 1; // its hash
    let archive = Arc::new(Archive::open(bytes).unwrap());
    assert_eq!(archive.files().filter(|file| archive.read(*file).is_err()).count(), 1);
    for reuse in [Reuse::Contents, Reuse::Blocks] {
        let mut builder = Builder::new(options.clone()).unwrap();
        let added = builder.add_archive(&archive, reuse, |_| true);
        let error = added.and_then(|_| builder.to_bytes().map(drop)).unwrap_err();
        assert_eq!(error.kind(), Kind::Corrupt, "{error}");
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn repacked_files_are_the_same(seed in any::<u64>(), from in 9..14u32, to in 9..14u32, threads in 1..4usize) {
        let with = |chunk: u32| {
            let mut options = small();
            (options.chunk, options.solid_limit) = (1 << chunk, (1 << chunk) - 1);
            options
        };
        let files = tree(seed, 30, &with(12));
        let old = open(pack(&files, &with(from)).0);
        let mut options = with(to);
        let expected = pack(&files, &options).0;
        options.threads = threads;
        let repacked = Builder::repack(options.clone(), &old).expect("options").to_bytes().expect("packable").0;
        prop_assert!(repacked == expected, "as if packed from the files");
        let merged = Builder::merge(options, &[old], Clash::Refuse).expect("options");
        assert_holds(merged.to_bytes().expect("packable").0, &files);
    }

    #[test]
    fn edits_in_a_row_keep_what_they_should(seed in any::<u64>(), threads in 1..4usize) {
        let options = PackOptions { threads, ..small() };
        let (mut files, more) = (tree(seed, 30, &options), tree(seed + 1000, 30, &options));
        let more: Vec<TreeFile> = more.into_iter().map(|(name, bytes)| (format!("more/{name}"), bytes)).collect();
        let mut archive = open(pack(&files, &options).0);
        for round in 0..3 {
            let keep = |name: &str| name.len() % 3 != round;
            let mut builder =
                Builder::from_archive(options.clone(), &archive, |file| keep(file.path())).expect("options");
            files.retain(|file| keep(&file.0));
            for (name, bytes) in more.iter().skip(round * 10).take(10) {
                builder.add_bytes(name.as_str(), bytes.as_slice()).expect("new");
                files.push((name.clone(), bytes.clone()));
            }
            let bytes = builder.to_bytes().expect("packable").0;
            assert_holds(bytes.clone(), &files);
            archive = open(bytes);
        }
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn damaged_archives_are_errors_or_what_a_reader_finds(
        seed in any::<u64>(),
        damage in prop::collection::vec((0..2000usize, 0..8u32), 1..4),
        from in 0..2usize,
        contents in any::<bool>(),
    ) {
        let mut options = PackOptions { threads: 2, ..small() };
        let mut bytes = pack(&tree(seed, 12, &options), &options).0;
        // Starts in the page of the header, or in the blocks after it.
        let start = from * 4096;
        for (at, bit) in damage {
            let at = (start + at).min(bytes.len() - 1);
            bytes[at] ^= 1 << bit;
        }
        let limits = Limits { block: 1 << 20, file: 1 << 22, total: 1 << 24, ..Limits::default() };
        let Ok(archive) = Archive::open_with(bytes, limits) else { return Ok(()) };
        let archive = Arc::new(archive);
        options.chunk = archive.header().chunk.bytes().min(1 << 20);
        options.solid_limit = options.chunk - 1;
        let reuse = if contents { Reuse::Contents } else { Reuse::Blocks };
        let mut builder = Builder::new(options).expect("options");
        if builder.add_archive(&archive, reuse, |_| true).is_err() {
            return Ok(());
        }
        match builder.to_bytes() {
            Err(error) => prop_assert!(error.file().is_some() || error.kind() == Kind::Limit, "{}", error),
            Ok((packed, _)) => {
                let expected: Vec<TreeFile> = archive
                    .files()
                    .map(|file| (file.path().to_owned(), archive.read(file).expect("it was packed")))
                    .collect();
                assert_holds(packed, &expected);
            }
        }
    }
}

#[test]
fn files_with_hashes_of_different_kinds_are_compared_by_content() {
    let of = |version, content: &[u8]| {
        let make = Make::new(11).with(|make| make.version = version);
        open(make.file("a", content, 0, 0).block(COPY, content.to_vec()).bytes())
    };
    let merged = |both: [Bytes; 2]| Builder::merge(PackOptions::default(), &both, Clash::Refuse);
    for (one, other) in [(0, 1), (1, 0)] {
        let builder = merged([of(one, b"same"), of(other, b"same")]).expect("no clash");
        assert_holds(builder.to_bytes().expect("packable").0, &[("a".into(), b"same".to_vec())]);
        let error = merged([of(one, b"same"), of(other, b"else")]).err().expect("a clash");
        assert_eq!((error.kind(), error.file()), (Kind::BadArgument, Some(Path::new("a"))));
    }
    // A damaged file is neither equal nor different.
    let damaged = Make::new(11).file("a", b"same", 0, 0).block(COPY, b"sane".to_vec()).bytes();
    let error = merged([of(0, b"same"), open(damaged)]).err().expect("damage");
    assert_eq!((error.kind(), error.file()), (Kind::Corrupt, Some(Path::new("a"))));
}
