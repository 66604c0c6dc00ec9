//! Tests files of shared archives, as streams and many at once: against `Reader`, from many
//! threads, with small budgets, with damage, and cancelled.

use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use linerate_nx::pack::{Coding, PackOptions};
use linerate_nx::shared::{Executor, OpenFile, SharedArchive, SharedCache, SharedOptions};
use linerate_nx::{Archive, Destination, FileError, HashKind, Kind, Progress};
use proptest::prelude::*;

use crate::cases::cases;
use crate::pack_tree::{Noise, TreeFile, content, pack, tree};

const CHUNK: usize = 32 << 10;

fn options() -> PackOptions {
    let mut options = PackOptions { threads: 1, group_similar: false, ..PackOptions::default() };
    (options.chunk, options.solid_limit) = (CHUNK as u64, CHUNK as u64 - 1);
    options
}

/// Returns small files in solid blocks, and files of several chunks.
fn files() -> Vec<TreeFile> {
    let len = |i: usize| if i.is_multiple_of(10) { 3 * CHUNK + i } else { 1000 + 37 * i };
    (0..60).map(|i| (format!("{i:02}"), content(1, i as u64, len(i)))).collect()
}

fn share(files: &[TreeFile], options: SharedOptions) -> SharedArchive<Vec<u8>> {
    let bytes = pack(files, &self::options()).0;
    SharedArchive::with_options(Archive::open(bytes).unwrap(), options).unwrap()
}

/// Changes the bytes of a block's compressed data, from the fraction `from` of its length to its
/// end.
fn damage(bytes: &mut [u8], archive: &Archive<Vec<u8>>, block: usize, from: f64) {
    let (at, len) =
        (archive.layout().offset(block) as usize, archive.toc().blocks[block].compressed as usize);
    bytes[at + (len as f64 * from) as usize..at + len].iter_mut().for_each(|byte| *byte ^= 0x5a);
}

#[test]
fn handles_are_owned_and_sent_to_other_threads() {
    fn check<T: Read + Seek + BufRead + Send + 'static>(_: &T) {}
    let files = files();
    let shared = share(&files, SharedOptions::new());
    let mut file = shared.open(&files[10].0).unwrap();
    check(&file);
    assert_eq!((file.path(), file.size()), ("10", files[10].1.len() as u64));
    drop(shared);
    let read = std::thread::spawn(move || {
        let mut out = Vec::new();
        file.read_to_end(&mut out).map(|_| out)
    });
    assert!(read.join().unwrap().unwrap() == files[10].1);
}

#[test]
fn seeking_is_as_in_a_file_of_the_system() {
    let content = content(1, 1, 3 * CHUNK + 77);
    let shared = share(&[("a".into(), content.clone())], SharedOptions::new());
    let mut ours = shared.open("a").unwrap();
    let mut theirs = tempfile::tempfile().unwrap();
    io::Write::write_all(&mut theirs, &content).unwrap();
    let len = content.len() as i64;
    let seeks = [
        SeekFrom::Start(7),
        SeekFrom::Current(-8),
        SeekFrom::Current(-7),
        SeekFrom::End(-1),
        SeekFrom::End(5),
        SeekFrom::End(-len),
        SeekFrom::End(-len - 1),
        SeekFrom::Start(CHUNK as u64 - 3),
        SeekFrom::Current(CHUNK as i64),
        SeekFrom::Current(i64::MIN),
        SeekFrom::End(0),
    ];
    for to in seeks {
        let (a, b) = (ours.seek(to), theirs.seek(to));
        assert_eq!(a.as_ref().ok(), b.as_ref().ok(), "{to:?}");
        assert_eq!(a.map_err(|e| e.kind()).err(), b.map_err(|e| e.kind()).err(), "{to:?}");
        let mut read = [[9; 10]; 2];
        let (a, b) = (ours.read(&mut read[0]).unwrap(), theirs.read(&mut read[1]).unwrap());
        assert!(a <= b && (a > 0) == (b > 0) && read[0][..a] == read[1][..a], "{to:?}");
        let back = SeekFrom::Current(-(b as i64));
        ours.seek(SeekFrom::Current(-(a as i64))).unwrap();
        theirs.seek(back).unwrap();
        assert_eq!(ours.stream_position().unwrap(), theirs.stream_position().unwrap());
    }
    assert_eq!(ours.seek(SeekFrom::Start(u64::MAX)).unwrap(), u64::MAX);
    assert_eq!(ours.read(&mut [0; 10]).unwrap(), 0);
    assert_eq!(ours.seek(SeekFrom::Current(1)).unwrap_err().kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn lines_cross_blocks_and_the_last_needs_no_newline() {
    let text: String = (0..20_000).map(|i| format!("line {i} of a long file\n")).collect::<String>() + "end";
    let shared = share(&[("a".into(), text.clone().into_bytes())], SharedOptions::new());
    assert!(shared.open("a").unwrap().lines().map(Result::unwrap).eq(text.lines().map(str::to_owned)));
}

#[test]
fn many_threads_with_any_budget_read_what_was_packed_and_memory_stays_bounded() {
    let files = files();
    for budget in [0, 40_000, 200_000, 64 << 20] {
        let cache = SharedCache::new(budget);
        let shared = share(&files, SharedOptions::new().cache(&cache));
        let threads = 8;
        std::thread::scope(|scope| {
            for seed in 0..threads {
                let (shared, files) = (shared.clone(), &files);
                scope.spawn(move || {
                    let mut noise = Noise::new(seed + 1);
                    for _ in 0..60 {
                        let (path, content) = &files[noise.below(files.len())];
                        let mut file = shared.open(path).unwrap();
                        let at = noise.below(content.len());
                        let mut out = vec![0; noise.below(content.len() - at) + 1];
                        file.seek(SeekFrom::Start(at as u64)).unwrap();
                        file.read_exact(&mut out).unwrap();
                        assert!(out == content[at..at + out.len()]);
                        assert!(shared.read(path).unwrap() == *content);
                    }
                });
            }
        });
        let counters = cache.counters();
        // Each thread may exceed the budget by a block that it has open and a block that it
        // decodes.
        let most = budget + 2 * threads * (CHUNK as u64 + 1024);
        assert!(counters.peak_bytes <= most, "{budget}: {counters:?}");
        assert!(counters.bytes <= budget, "{budget}: {counters:?}");
        let whole: u64 =
            (0..shared.archive().layout().len()).map(|i| shared.archive().layout().content(i)).sum();
        let all_fits = budget > whole;
        assert_eq!(counters.decoded_bytes <= whole, all_fits, "{budget}: {counters:?} of {whole}");
        assert_eq!(counters.evictions == 0, all_fits);
        drop(shared);
        assert_eq!(cache.counters().bytes, 0, "an archive takes its blocks with it");
    }
}

#[test]
fn one_block_wanted_by_all_is_decoded_once() {
    let files = files();
    let shared = share(&files, SharedOptions::new());
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| assert!(shared.read("01").unwrap() == files[1].1));
        }
    });
    let counters = shared.cache().counters();
    assert_eq!((counters.misses, counters.hits + counters.waits), (1, 15));
}

#[test]
fn damaged_block_is_an_error_for_each_reader_and_what_lies_before_it_is_read() {
    let large = content(1, 1, 3 * CHUNK);
    let files: Vec<TreeFile> = (0..20).map(|i| (format!("{i:02}"), content(1, i, 1500))).collect();
    let all: Vec<TreeFile> = files.iter().cloned().chain([("large".into(), large.clone())]).collect();
    // LZ4 decodes up to the damage, zstd up to the start of the damaged block of 128 KiB.
    let mut bytes = pack(&all, &PackOptions { solid: Coding::lz4(1), ..options() }).0;
    let whole = Archive::open(bytes.clone()).unwrap();
    let (solid, second) =
        (whole.find("00").unwrap().blocks().start, whole.find("large").unwrap().blocks().start + 1);
    damage(&mut bytes, &whole, solid, 0.7);
    damage(&mut bytes, &whole, second, 0.0);
    let shared = SharedArchive::new(Archive::open(bytes).unwrap()).unwrap();
    let mut failed = 0;
    for _ in 0..2 {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let read = |path: &str| {
                    let mut out = Vec::new();
                    let result = shared.open(path).unwrap().read_to_end(&mut out);
                    (out, result)
                };
                scope.spawn(move || {
                    let (out, result) = read("large");
                    assert_eq!(result.unwrap_err().kind(), io::ErrorKind::InvalidData);
                    assert_eq!(out.len(), CHUNK);
                });
            }
        });
        let mut reader = shared.archive().reader().unwrap();
        for (path, content) in &files {
            let (a, b) = (shared.read(path), reader.read(shared.archive().find(path).unwrap()));
            assert_eq!(a.is_ok(), b.is_ok(), "{path}");
            let mut streamed = Vec::new();
            let result = shared.open(path).unwrap().read_to_end(&mut streamed);
            assert_eq!(result.is_ok(), b.is_ok(), "{path}");
            match a {
                Ok(a) => assert!(a == *content && streamed == *content),
                Err(error) => {
                    assert_eq!(error.kind(), Kind::Corrupt);
                    failed += 1;
                }
            }
        }
    }
    assert!(failed >= 2 && failed < 2 * files.len(), "some of the files lie before the damage: {failed}");
    // Content after the damage can be read after a seek.
    let mut file = shared.open("large").unwrap();
    file.seek(SeekFrom::Start(2 * CHUNK as u64)).unwrap();
    let mut rest = Vec::new();
    file.read_to_end(&mut rest).unwrap();
    assert!(rest == large[2 * CHUNK..]);
    assert_eq!(shared.cache().counters().blocks, 2, "the damaged blocks are not cached");
}

#[test]
fn content_that_does_not_match_its_hash_is_an_error_before_its_last_block_is_handed_over() {
    let mut options = options();
    (options.solid, options.chunked) = (Coding::Copy, Coding::Copy);
    let content = content(0, 1, 3 * CHUNK);
    let files = [("large".to_owned(), content.clone()), ("small".into(), content[..900].to_vec())];
    let mut bytes = pack(&files, &options).0;
    let whole = Archive::open(bytes.clone()).unwrap();
    for path in ["large", "small"] {
        bytes[whole.layout().offset(whole.find(path).unwrap().blocks().start) as usize] ^= 1;
    }
    let archive = Arc::new(Archive::open(bytes).unwrap());
    let shared = SharedArchive::new(Arc::clone(&archive)).unwrap();
    for path in ["large", "small"] {
        let mut out = Vec::new();
        let error = shared.open(path).unwrap().read_to_end(&mut out).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{path}");
        assert!((out.len() as u64) < archive.find(path).unwrap().size(), "{path}");
        assert_eq!(shared.read(path).unwrap_err().kind(), Kind::Corrupt);
        let unchecked = SharedOptions::new().verify(false);
        let unchecked = SharedArchive::with_options(Arc::clone(&archive), unchecked).unwrap();
        assert!(unchecked.open(path).unwrap().read_to_end(&mut out).is_ok());
        assert!(unchecked.read(path).is_ok());
    }
    // Parts are not checked, like ranges of a `Reader`.
    let mut file = shared.open("large").unwrap();
    file.seek(SeekFrom::Start(1)).unwrap();
    let mut rest = Vec::new();
    file.read_to_end(&mut rest).unwrap();
    assert!(rest == content[1..]);
}

#[test]
fn batches_load_on_any_executor_and_use_what_is_cached() {
    let files = files();
    let callers = Executor::new(3, |job| drop(std::thread::spawn(job)));
    for executor in [Executor::inline(), Executor::threads(3), callers] {
        let shared = share(&files, SharedOptions::new().executor(executor));
        let paths: Vec<&str> = files.iter().rev().map(|(path, _)| path.as_str()).collect();
        let prefetched = shared.prefetch(&paths[..30]).unwrap().wait();
        assert_eq!((prefetched.failed, prefetched.skipped, prefetched.stopped), (0, 0, false));
        let before = shared.cache().counters();
        assert_eq!((before.prefetches, before.misses), (prefetched.blocks, 0));
        let calls = Arc::new(Mutex::new(Progress::default()));
        let seen = Arc::clone(&calls);
        let batch = shared.batch(&paths).unwrap().on_progress(move |progress| {
            let mut most = seen.lock().unwrap();
            if progress.bytes > most.bytes {
                *most = *progress;
            }
            true
        });
        let loaded = batch.read_many().unwrap().wait();
        assert!(loaded.failures.is_empty() && !loaded.stopped);
        for (content, (_, expected)) in loaded.contents.iter().zip(files.iter().rev()) {
            assert!(content.as_ref() == Some(expected));
        }
        let total: usize = files.iter().map(|(_, content)| content.len()).sum();
        assert_eq!(calls.lock().unwrap().bytes, total as u64);
        let after = shared.cache().counters();
        assert_eq!((after.hits, after.decoded_bytes), (prefetched.blocks, before.decoded_bytes));
    }
}

#[test]
fn unknown_path_or_index_is_an_error() {
    let shared = share(&files(), SharedOptions::new());
    assert_eq!(
        shared.open("none").err().map(|e| (e.path.clone(), e.kind())),
        Some(("none".into(), Kind::BadArgument))
    );
    assert_eq!(shared.read("none").unwrap_err().kind(), Kind::BadArgument);
    assert_eq!(shared.batch(["00", "none"]).err().map(|e| e.path), Some("none".into()));
    assert_eq!(shared.batch_of([0, 60]).err().map(|e| e.kind), Some(Kind::BadArgument));
    assert_eq!(shared.batch_of([59]).unwrap().read_many().unwrap().wait().contents.len(), 1);
}

#[test]
fn cancelled_batches_say_how_far_they_came() {
    let files = files();
    let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    let shared = share(&files, SharedOptions::new().executor(Executor::threads(2)));
    let none = || shared.batch(&paths).unwrap().on_progress(|_| false);
    let loaded = none().read_many().unwrap().wait();
    assert!(loaded.stopped && loaded.contents.iter().any(Option::is_none));
    let prefetched = none().prefetch().wait();
    assert!(prefetched.stopped && prefetched.blocks <= 2);
    // Cancels the work before the first job runs.
    let jobs = Arc::new(Mutex::new(Vec::new()));
    let queue = Arc::clone(&jobs);
    let executor = Executor::new(2, move |job| queue.lock().unwrap().push(job));
    let shared = share(&files, SharedOptions::new().executor(executor));
    let pending = shared.batch(&paths).unwrap().prefetch();
    assert!(!pending.is_done());
    pending.cancel();
    jobs.lock().unwrap().drain(..).for_each(|job| job());
    let prefetched = pending.wait();
    assert!(prefetched.stopped && prefetched.blocks == 0);
    // Drops the jobs in the executor.
    let pending = shared.batch(&paths).unwrap().read_many().unwrap();
    jobs.lock().unwrap().clear();
    let loaded = pending.wait();
    assert!(loaded.stopped && loaded.contents.iter().all(Option::is_none));
}

#[test]
fn pinned_blocks_outlive_pressure_and_prefetched_ones_are_read_without_decoding() {
    let files = files();
    let cache = SharedCache::new(150_000);
    let shared = share(&files, SharedOptions::new().cache(&cache));
    let pinned = shared.batch(["01"]).unwrap().pin().unwrap().wait();
    assert_eq!(pinned.report.blocks, 1);
    let large = shared.batch(files.iter().map(|(path, _)| path)).unwrap();
    assert_eq!(large.pin().err().map(|e| e.kind), Some(Kind::Limit));
    let prefetched = shared.prefetch(files.iter().map(|(path, _)| path)).unwrap().wait();
    assert!(prefetched.skipped > 0 && prefetched.blocks > 1 && cache.counters().bytes <= cache.budget());
    for (path, content) in &files {
        assert!(shared.read(path).unwrap() == *content);
    }
    let before = cache.counters();
    shared.read("01").unwrap();
    let after = cache.counters();
    assert_eq!((after.hits - before.hits, after.misses - before.misses), (1, 0), "it was pinned");
    drop(pinned);
    cache.clear();
    assert_eq!(cache.counters().bytes, 0);
}

/// A destination that sums up the bytes that it gets.
#[derive(Default)]
struct Sum {
    bytes: AtomicU64,
    committed: AtomicU64,
}

impl Destination for Sum {
    fn write_file(&self, file: usize, bytes: &[u8]) -> Result<(), FileError> {
        if file == 3 {
            return Err(io::Error::other("the third is refused").into());
        }
        self.write_range(file, 0, bytes)
    }
    fn write_range(&self, _file: usize, _offset: u64, bytes: &[u8]) -> Result<(), FileError> {
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }
    fn commit(&self, _file: usize) -> Result<(), FileError> {
        self.committed.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn destinations_of_others_take_files_and_their_errors_are_those_of_the_files() {
    let files = files();
    let shared = share(&files, SharedOptions::new().executor(Executor::threads(2)));
    let sum = Arc::new(Sum::default());
    let destination: Arc<dyn Destination> = sum.clone();
    let batch = shared.batch(files.iter().map(|(path, _)| path)).unwrap();
    let delivered = batch.deliver(destination).unwrap().wait();
    assert_eq!(delivered.failures.iter().map(|e| &*e.path).collect::<Vec<_>>(), ["03"]);
    assert_eq!((delivered.files, delivered.stopped), (59, false));
    let total: usize = files.iter().map(|(_, content)| content.len()).sum();
    assert_eq!(sum.bytes.load(Ordering::Relaxed), (total - files[3].1.len()) as u64);
    assert_eq!(sum.committed.load(Ordering::Relaxed), 6);
}

#[test]
fn archives_share_one_cache_without_mixing_their_blocks() {
    let cache = SharedCache::new(1 << 20);
    let of = |seed| vec![("same name".to_owned(), content(1, seed, 5000))];
    let (a, b) = (
        share(&of(1), SharedOptions::new().cache(&cache)),
        share(&of(2), SharedOptions::new().cache(&cache)),
    );
    for _ in 0..2 {
        assert!(a.read("same name").unwrap() == of(1)[0].1 && b.read("same name").unwrap() == of(2)[0].1);
    }
    let counters = cache.counters();
    assert_eq!((counters.misses, counters.hits, counters.blocks), (2, 2, 2));
}

/// A step of a random use of one open file.
#[derive(Clone, Debug)]
enum Step {
    Read(usize),
    Fill,
    Seek(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![(1usize..5000).prop_map(Step::Read), Just(Step::Fill), any::<u64>().prop_map(Step::Seek),]
}

fn take_step(file: &mut OpenFile<Vec<u8>>, content: &[u8], step: &Step) {
    let at = (file.position() as usize).min(content.len());
    match *step {
        Step::Read(len) => {
            let mut out = vec![0; len];
            let read = file.read(&mut out).unwrap();
            assert!(out[..read] == content[at..at + read] && (read > 0 || at == content.len()));
        }
        Step::Fill => {
            let bytes = file.fill_buf().unwrap();
            assert!(bytes == &content[at..at + bytes.len()] && (at == content.len() || !bytes.is_empty()));
            let half = bytes.len().div_ceil(2);
            file.consume(half);
        }
        Step::Seek(to) => {
            file.seek(SeekFrom::Start(to % (content.len() as u64 + 10))).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(cases(60))]

    /// Random files that are read in random steps give the same bytes as `Reader::read`.
    #[test]
    fn streams_agree_with_the_reader(
        seed in any::<u64>(),
        coding in prop_oneof![Just(Coding::Copy), Just(Coding::zstd(1)), Just(Coding::lz4(1))],
        budget in prop_oneof![Just(0u64), Just(5000), Just(1 << 20)],
        steps in proptest::collection::vec(step(), 1..40),
    ) {
        let mut options = PackOptions { threads: 1, ..PackOptions::default() };
        (options.chunk, options.solid_limit) = (4096, 2047);
        (options.solid, options.chunked) = (coding, coding);
        let bytes = pack(&tree(seed, 12, &options), &options).0;
        let archive = Arc::new(Archive::open(bytes).unwrap());
        let mut reader = archive.reader().unwrap();
        let options = SharedOptions::new().cache(&SharedCache::new(budget));
        let shared = SharedArchive::with_options(Arc::clone(&archive), options).unwrap();
        for file in archive.files() {
            let content = reader.read(file).unwrap();
            prop_assert_eq!(archive.hash_kind(), HashKind::Xxh3);
            let mut open = shared.open_file(file).unwrap();
            for step in &steps {
                take_step(&mut open, &content, step);
            }
            prop_assert!(shared.read_file(file).unwrap() == content);
            let mut out = vec![9; content.len() + 1];
            prop_assert_eq!(shared.read_into(file, &mut out).unwrap(), content.len());
            prop_assert!(out[..content.len()] == content);
            open.seek(SeekFrom::Start(0)).unwrap();
            let mut whole = Vec::new();
            open.read_to_end(&mut whole).unwrap();
            prop_assert!(whole == content);
        }
    }
}
