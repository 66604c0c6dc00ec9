//! Decoding speed beside libzstd, in one process: `speed [--case NAME] [--rounds N] [--level N] FILE...`
//!
//! Each file (or folder, its files joined) is compressed as blocks with and without a dictionary and
//! as a whole. Rounds of ours and of libzstd alternate; the figures are CPU time of the thread, the
//! ratio is the median over the rounds. Above 1.00 ours is faster.

use std::path::Path;
use std::time::Duration;

use linerate_zstd::{Dictionary, FrameDecoder, Options, Scratch, StreamDecoder};
use rustix::time::{ClockId, clock_gettime};
use zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd_safe::{CCtx, CDict, CParameter, DCtx, DDict, InBuffer, OutBuffer};

const DICTIONARY: usize = 8 << 10;

/// Name, bytes of a block, whether with a dictionary.
const CASES: &[(&str, usize, bool)] = &[
    ("1K+dict", 1 << 10, true),
    ("4K+dict", 4 << 10, true),
    ("8K+dict", 8 << 10, true),
    ("1K", 1 << 10, false),
    ("4K", 4 << 10, false),
    ("128K", 128 << 10, false),
    ("whole", usize::MAX, false),
];

fn cpu_time() -> Duration {
    let t = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
}

fn timed(work: impl FnOnce()) -> f64 {
    let start = cpu_time();
    work();
    (cpu_time() - start).as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn read(path: &Path, into: &mut Vec<u8>) {
    if path.is_dir() {
        let mut entries: Vec<_> =
            std::fs::read_dir(path).expect("a folder").map(|e| e.expect("an entry").path()).collect();
        entries.sort();
        entries.iter().for_each(|entry| read(entry, into));
    } else {
        into.extend_from_slice(&std::fs::read(path).expect("a file"));
    }
}

fn train(data: &[u8], block: usize) -> Vec<u8> {
    // Every tenth block, so that the dictionary does not hold what it is measured with.
    let samples: Vec<&[u8]> = data.chunks_exact(block).step_by(10).collect();
    let sizes: Vec<usize> = samples.iter().map(|s| s.len()).collect();
    let mut dictionary = vec![0; DICTIONARY];
    let n =
        zstd_safe::train_from_buffer(&mut dictionary[..], &samples.concat(), &sizes).expect("libzstd trains");
    dictionary.truncate(n);
    dictionary
}

fn compress(blocks: &[&[u8]], level: i32, dictionary: Option<&[u8]>) -> Vec<Vec<u8>> {
    let digest = dictionary.map(|d| CDict::create(d, level));
    let mut context = CCtx::create();
    context.set_parameter(CParameter::CompressionLevel(level)).expect("a level");
    if let Some(digest) = &digest {
        context.ref_cdict(digest).expect("a dictionary");
    }
    let one = |block: &&[u8]| {
        let mut out = vec![0; zstd_safe::compress_bound(block.len())];
        let n = context.compress2(&mut out[..], block).expect("libzstd compresses");
        out.truncate(n);
        out
    };
    blocks.iter().map(one).collect()
}

/// Microseconds to digest a dictionary, ours and libzstd's, both by reference.
fn digest(name: &str, dictionary: &[u8], rounds: usize) {
    const TURNS: usize = 200;
    let (mut ours, mut theirs) = (vec![], vec![]);
    for _ in 0..rounds {
        ours.push(timed(|| {
            for _ in 0..TURNS {
                std::hint::black_box(
                    Dictionary::by_reference(std::hint::black_box(dictionary)).expect("it is sound"),
                );
            }
        }));
        theirs.push(timed(|| {
            for _ in 0..TURNS {
                std::hint::black_box(DDict::create_by_reference(std::hint::black_box(dictionary)));
            }
        }));
    }
    let us = |times| median(times) * 1e6 / TURNS as f64;
    println!("{name:24} digest   {:9.2} us, libzstd {:.2} us", us(ours), us(theirs));
}

/// Pieces of `data`, each flushed, as one stream with a window of 64 KiB: ours and libzstd's.
fn stream(name: &str, data: &[u8], level: i32, piece: usize, rounds: usize) {
    let mut context = CCtx::create();
    context.set_parameter(CParameter::CompressionLevel(level)).expect("a level");
    context.set_parameter(CParameter::WindowLog(16)).expect("a window");
    let pieces: Vec<Vec<u8>> = data
        .chunks(piece)
        .map(|piece| {
            let mut out = vec![0; zstd_safe::compress_bound(piece.len()) + 64];
            let mut output = OutBuffer::around(&mut out[..]);
            let mut input = InBuffer::around(piece);
            while context
                .compress_stream2(&mut output, &mut input, ZSTD_EndDirective::ZSTD_e_flush)
                .expect("capacity")
                > 0
            {}
            let n = output.pos();
            out.truncate(n);
            out
        })
        .collect();
    let mut out = vec![0; piece];
    let mut scratch = Scratch::new();
    let (mut ours, mut theirs, mut ratios) = (vec![], vec![], vec![]);
    for _ in 0..rounds {
        let mut decoder = StreamDecoder::new(Options::default());
        let a = timed(|| {
            for piece in &pieces {
                let progress = decoder.decode(&mut scratch, None, piece, &mut out).expect("a sound stream");
                assert_eq!(progress.read, piece.len());
            }
        });
        let mut context = DCtx::create();
        let b = timed(|| {
            for piece in &pieces {
                let mut output = OutBuffer::around(&mut out[..]);
                let mut input = InBuffer::around(&piece[..]);
                context.decompress_stream(&mut output, &mut input).expect("a sound stream");
                assert_eq!(input.pos(), piece.len());
            }
        });
        ours.push(a);
        theirs.push(b);
        ratios.push(b / a);
    }
    let packed: usize = pieces.iter().map(Vec::len).sum();
    let speed = |t| data.len() as f64 / 1e6 / median(t);
    println!(
        "{name:24} {:8} {:6.2} {:9.1} {:9.1} {:6.3}",
        format!("{}K flush", piece >> 10),
        data.len() as f64 / packed as f64,
        speed(ours),
        speed(theirs),
        median(ratios)
    );
}

fn main() {
    let mut args = std::env::args().skip(1);
    let (mut only, mut rounds, mut level, mut files) = (None, 9, 3, Vec::new());
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--case" => only = args.next(),
            "--rounds" => rounds = args.next().and_then(|n| n.parse().ok()).expect("a number of rounds"),
            "--level" => level = args.next().and_then(|n| n.parse().ok()).expect("a level"),
            _ => files.push(arg),
        }
    }
    println!("{:24} {:8} {:>6} {:>9} {:>9} {:>6}", "file", "case", "ratio", "ours", "libzstd", "speed");
    for file in &files {
        let mut data = Vec::new();
        read(Path::new(file), &mut data);
        data.truncate(16 << 20);
        let name = Path::new(file).file_name().map_or(file.clone(), |n| n.to_string_lossy().into_owned());
        if only.as_ref().is_none_or(|only| only == "digest") {
            digest(&name, &train(&data, 4096), rounds);
        }
        if only.as_ref().is_none_or(|only| only == "stream") {
            stream(&name, &data[..data.len().min(8 << 20)], level, 1 << 10, rounds);
            stream(&name, &data[..data.len().min(8 << 20)], level, 8 << 10, rounds);
        }
        for &(case, size, with_dictionary) in CASES {
            if only.as_ref().is_some_and(|only| only != case) {
                continue;
            }
            let size = size.min(data.len());
            let bytes = with_dictionary.then(|| train(&data, size));
            let blocks: Vec<&[u8]> =
                data.chunks_exact(size).skip(1).chain(data.chunks_exact(size).take(1)).collect();
            let blocks = &blocks[..blocks.len().min((8 << 20) / size).max(1)];
            let frames = compress(blocks, level, bytes.as_deref());
            let dictionary = bytes.as_ref().map(|b| Dictionary::new(b).expect("a sound dictionary"));
            let theirs = bytes.as_ref().map(|b| DDict::create(b));
            let mut scratch = Scratch::new();
            let mut context = DCtx::create();
            let mut out = vec![0; size];
            let decoder = FrameDecoder::new(Options::default());
            for (frame, block) in frames.iter().zip(blocks) {
                let n = decoder
                    .decode(&mut scratch, dictionary.as_ref(), frame, &mut out)
                    .expect("a sound frame");
                assert!(out[..n] == **block, "{file} {case}");
            }
            let (mut ours, mut other, mut ratios) = (vec![], vec![], vec![]);
            for _ in 0..rounds {
                let a = timed(|| {
                    for frame in &frames {
                        decoder
                            .decode(&mut scratch, dictionary.as_ref(), frame, &mut out)
                            .expect("a sound frame");
                    }
                });
                let b = timed(|| {
                    for frame in &frames {
                        match &theirs {
                            Some(d) => context.decompress_using_ddict(&mut out[..], frame, d),
                            None => context.decompress(&mut out[..], frame),
                        }
                        .expect("a sound frame");
                    }
                });
                ours.push(a);
                other.push(b);
                ratios.push(b / a);
            }
            let total: usize = blocks.iter().map(|b| b.len()).sum();
            let packed: usize = frames.iter().map(Vec::len).sum();
            let speed = |t| total as f64 / 1e6 / median(t);
            println!(
                "{name:24} {case:8} {:6.2} {:9.1} {:9.1} {:6.3}",
                total as f64 / packed as f64,
                speed(ours),
                speed(other),
                median(ratios)
            );
        }
    }
}
