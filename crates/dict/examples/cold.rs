//! Decode speed with very many dictionaries, beside libzstd, in one process:
//! `cold [--block N] [--dict N] [--count N] [--level N] [--rounds N] [--small] [FILE]`
//!
//! Each of `count` blocks has a dictionary of its own, in random order. Hot is one dictionary for all of
//! them, none is no dictionary. Without a file, blocks are generated log rows. The dictionaries share the
//! tables of eight trained ones (with `--small` small ones), and each has different content. Figures are
//! MB/s of content in thread CPU time, best round, and in brackets the percentage of the same decoder hot.

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "kernel/libzstd.rs"]
mod libzstd;

use std::time::Duration;

use common::Noise;
use libzstd::{Context, Digested};
use linerate_dict::{Decoder, Encoder, Id, Job, Order, Store, Training};
use linerate_zstd::Dictionary;
use rustix::time::{ClockId, clock_gettime};

/// Number of trained dictionaries.
const TRAINED: usize = 8;
/// Jobs of a batch.
const BATCH: usize = 64;

struct Choice {
    block: usize,
    dictionary: usize,
    count: usize,
    level: i32,
    rounds: usize,
    small: bool,
    data: Vec<u8>,
}

fn choice() -> Choice {
    let mut choice = Choice {
        block: 4096,
        dictionary: 8192,
        count: 2500,
        level: 3,
        rounds: 7,
        small: false,
        data: Vec::new(),
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|n| n.parse::<usize>().ok()).expect("a number");
        match arg.as_str() {
            "--block" => choice.block = number(),
            "--dict" => choice.dictionary = number(),
            "--count" => choice.count = number(),
            "--level" => choice.level = number() as i32,
            "--small" => choice.small = true,
            "--rounds" => choice.rounds = number(),
            file => choice.data = std::fs::read(file).expect("a file"),
        }
    }
    if choice.data.is_empty() {
        choice.data = common::rows(1, 10 << 20);
    }
    choice
}

fn cpu_time() -> Duration {
    let t = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
}

/// A slice of `data` at a random offset.
fn piece<'a>(data: &'a [u8], len: usize, noise: &mut Noise) -> &'a [u8] {
    let at = noise.below(data.len() - len + 1);
    &data[at..at + len]
}

/// `count` dictionaries: trained ones with replaced content.
fn dictionaries(choice: &Choice, noise: &mut Noise) -> Vec<Vec<u8>> {
    let trained: Vec<Vec<u8>> = (0..TRAINED)
        .map(|_| {
            let sizes = vec![choice.block; (100 * choice.dictionary / choice.block).clamp(20, 1000)];
            let samples: Vec<&[u8]> = sizes.iter().map(|&len| piece(&choice.data, len, noise)).collect();
            let training = Training::new(choice.dictionary).small_tables(choice.small);
            training.train(&samples).expect("libzstd trains")
        })
        .collect();
    (0..choice.count)
        .map(|i| {
            let base = &trained[i % TRAINED];
            let content = Dictionary::measure(base).expect("it was trained").content_len();
            let head = &base[..base.len() - content];
            [head, piece(&choice.data, choice.dictionary - head.len(), noise)].concat()
        })
        .collect()
}

/// Blocks in decoding order, each with the index of its dictionary.
struct Work {
    frames: Vec<Vec<u8>>,
    ids: Vec<Id>,
}

impl Work {
    fn new(store: &Store, choice: &Choice, ids: Vec<Id>, contents: &[&[u8]]) -> Work {
        let mut encoder = Encoder::new(store).level(choice.level).expect("a level");
        let one = |(content, id): (&&[u8], &Id)| {
            let mut frame = vec![0; Encoder::bound(content.len())];
            let n = encoder.encode(*id, content, &mut frame).expect("libzstd encodes");
            frame.truncate(n);
            frame.shrink_to_fit();
            frame
        };
        Work { frames: contents.iter().zip(&ids).map(one).collect(), ids }
    }

    fn single(&self, decoder: &mut Decoder, out: &mut [u8]) {
        for (frame, &id) in self.frames.iter().zip(&self.ids) {
            decoder.decode(id, frame, out).expect("a sound block");
        }
    }

    fn batches(&self, decoder: &mut Decoder, buffers: &mut [Vec<u8>]) {
        for (frames, ids) in self.frames.chunks(BATCH).zip(self.ids.chunks(BATCH)) {
            let mut jobs: Vec<Job<'_>> = frames
                .iter()
                .zip(ids)
                .zip(buffers.iter_mut())
                .map(|((frame, &id), buffer)| Job::new(id, frame, buffer))
                .collect();
            decoder.decode_batch(&mut jobs, Order::AsGiven);
            assert!(jobs.iter().all(|job| job.result.is_ok()));
        }
    }

    /// With libzstd; dictionaries are prefetched `ahead` blocks early.
    fn theirs(
        &self,
        context: &mut Context,
        of: impl Fn(usize) -> Option<usize>,
        all: &[Digested],
        ahead: usize,
        out: &mut [u8],
    ) {
        for (i, frame) in self.frames.iter().enumerate() {
            if ahead > 0
                && let Some(next) = of(i + ahead)
            {
                all[next].burst();
            }
            context.decode(of(i).map(|at| &all[at]), frame, out).expect("a sound block");
        }
    }
}

fn main() {
    let choice = choice();
    let mut noise = Noise::new(7);
    let dictionaries = dictionaries(&choice, &mut noise);
    let store = Store::new();
    let ids: Vec<Id> = dictionaries.iter().map(|d| store.insert(d).expect("a dictionary")).collect();
    let theirs: Vec<Digested> =
        dictionaries.iter().map(|d| Digested::new(d).expect("a dictionary")).collect();
    let contents: Vec<&[u8]> =
        (0..choice.count).map(|_| piece(&choice.data, choice.block, &mut noise)).collect();
    let mut order: Vec<usize> = (0..choice.count).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, noise.below(i + 1));
    }

    let all = choice.count;
    let hot = Work::new(&store, &choice, vec![ids[0]; all], &contents);
    let none = Work::new(&store, &choice, vec![Id::NONE; all], &contents);
    let cold = Work::new(&store, &choice, order.iter().map(|&i| ids[i]).collect(), &contents);
    let mut decoder = Decoder::new(&store);
    let mut context = Context::new().expect("a context");
    let mut out = vec![0; choice.block];
    let mut buffers = vec![vec![0; choice.block]; BATCH];
    let of = |i: usize| order.get(i).copied();

    let mut best = [f64::INFINITY; 9];
    for _ in 0..=choice.rounds {
        let mut time = |slot: usize, work: &mut dyn FnMut()| {
            let start = cpu_time();
            work();
            best[slot] = best[slot].min((cpu_time() - start).as_secs_f64());
        };
        time(0, &mut || hot.single(&mut decoder, &mut out));
        time(1, &mut || none.single(&mut decoder, &mut out));
        time(2, &mut || cold.single(&mut decoder, &mut out));
        time(3, &mut || hot.batches(&mut decoder, &mut buffers));
        time(4, &mut || cold.batches(&mut decoder, &mut buffers));
        time(5, &mut || hot.theirs(&mut context, |_| Some(0), &theirs, 0, &mut out));
        time(6, &mut || none.theirs(&mut context, |_| None, &theirs, 0, &mut out));
        time(7, &mut || cold.theirs(&mut context, of, &theirs, 0, &mut out));
        time(8, &mut || cold.theirs(&mut context, of, &theirs, 2, &mut out));
    }

    let bytes = (choice.block * all) as f64;
    let packed = |work: &Work| bytes / work.frames.iter().map(Vec::len).sum::<usize>() as f64;
    println!(
        "{} blocks of {} bytes, level {}, {} dictionaries of {} bytes; ratio {:.2}, without dictionary {:.2}",
        all,
        choice.block,
        choice.level,
        all,
        choice.dictionary,
        packed(&cold),
        packed(&none)
    );
    let row = |name: &str, slot: usize, hot: usize| {
        println!(
            "{name:28} {:8.0} MB/s  ({:3.0} %)",
            bytes / 1e6 / best[slot],
            100.0 * best[hot] / best[slot]
        );
    };
    row("linerate hot", 0, 0);
    row("linerate none", 1, 0);
    row("linerate cold, one by one", 2, 0);
    row("linerate hot, batches", 3, 3);
    row("linerate cold, batches", 4, 3);
    row("libzstd hot", 5, 5);
    row("libzstd none", 6, 5);
    row("libzstd cold", 7, 5);
    row("libzstd cold, burst", 8, 5);
    let stats = store.stats();
    let raw: usize = dictionaries.iter().map(Vec::len).sum();
    let ours = (stats.raw_bytes + stats.table_bytes + stats.slot_bytes - raw) / all;
    let other = (theirs.iter().map(Digested::memory).sum::<usize>() - raw) / all;
    println!("bytes beside each dictionary: {ours}, libzstd {other}; huge pages: {:?}", stats.huge_pages);
}
