//! Decoding speed beside zlib-rs and libdeflate, in one process: `speed [--rounds N] [--level N] FILE...`
//!
//! Each file is compressed by libdeflate, as a whole or in pieces of its own; folders are cut into their files. Rounds of the decoders
//! alternate; the figures are CPU time of the thread, the ratios medians over the rounds. Above 1.00 ours is faster.

use std::path::Path;
use std::time::Duration;

use libdeflater::{CompressionLvl, Compressor, Decompressor};
use linerate_inflate::{BufferDecoder, Format, Options, Scratch, StreamDecoder};
use rustix::time::{ClockId, clock_gettime};
use zlib_rs::{Inflate, InflateFlush};

/// Bytes of the pieces of a stream.
const PIECE: usize = 64 << 10;

fn timed(work: impl FnOnce()) -> f64 {
    let now = || {
        let t = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
    };
    let start = now();
    work();
    (now() - start).as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The contents of files.
fn read(path: &Path, into: &mut Vec<Vec<u8>>) {
    if path.is_dir() {
        let mut entries: Vec<_> =
            std::fs::read_dir(path).expect("a folder").map(|e| e.expect("an entry").path()).collect();
        entries.sort();
        entries.iter().for_each(|entry| read(entry, into));
    } else {
        into.push(std::fs::read(path).expect("a file"));
    }
}

fn compress(data: &[u8], level: i32) -> Vec<u8> {
    let mut compressor = Compressor::new(CompressionLvl::new(level).expect("a level"));
    let mut out = vec![0; compressor.deflate_compress_bound(data.len())];
    let n = compressor.deflate_compress(data, &mut out).expect("room");
    out.truncate(n);
    out
}

struct Decoders {
    scratch: Scratch,
    out: Vec<u8>,
}

impl Decoders {
    fn ours(&mut self, src: &[u8], len: usize) {
        let decoder = BufferDecoder::new(Options::new(Format::Deflate));
        let sizes = decoder.decode(&mut self.scratch, None, src, &mut self.out[..len]).expect("valid");
        assert_eq!(sizes.written, len);
    }

    fn ours_in_pieces(&mut self, src: &[u8], len: usize) {
        let mut decoder = StreamDecoder::new(Options::new(Format::Deflate)).expect("options");
        let (mut at, mut done) = (0, 0);
        while done < len {
            let piece = &src[at..][..PIECE.min(src.len() - at)];
            let progress = decoder.decode(&mut self.scratch, piece, &mut self.out[..PIECE]).expect("valid");
            (at, done) = (at + progress.read, done + progress.written);
        }
    }

    fn zlib_rs(&mut self, src: &[u8], len: usize) {
        let mut inflate = Inflate::new(false, 15);
        inflate.decompress(src, &mut self.out[..len], InflateFlush::Finish).expect("valid");
        assert_eq!(inflate.total_out(), len as u64);
    }

    fn zlib_rs_in_pieces(&mut self, src: &[u8], len: usize) {
        let mut inflate = Inflate::new(false, 15);
        while inflate.total_out() < len as u64 {
            let at = inflate.total_in() as usize;
            let piece = &src[at..][..PIECE.min(src.len() - at)];
            inflate.decompress(piece, &mut self.out[..PIECE], InflateFlush::NoFlush).expect("valid");
        }
    }

    fn libdeflate(&mut self, src: &[u8], len: usize) {
        let n = Decompressor::new().deflate_decompress(src, &mut self.out[..len]).expect("valid");
        assert_eq!(n, len);
    }
}

type Decode = fn(&mut Decoders, &[u8], usize);

/// Name and decoders to compare: ours first.
const CASES: [(&str, &[(&str, Decode)]); 2] = [
    (
        "whole",
        &[("linerate", Decoders::ours), ("zlib-rs", Decoders::zlib_rs), ("libdeflate", Decoders::libdeflate)],
    ),
    ("64K pieces", &[("linerate", Decoders::ours_in_pieces), ("zlib-rs", Decoders::zlib_rs_in_pieces)]),
];

fn main() {
    let (mut rounds, mut level, mut paths) = (5, 6, vec![]);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|n| n.parse().ok()).expect("a number");
        match &argument[..] {
            "--rounds" => rounds = number(),
            "--level" => level = number(),
            _ => paths.push(argument),
        }
    }
    for path in paths {
        let mut files = vec![];
        read(Path::new(&path), &mut files);
        let name = Path::new(&path).file_name().expect("a name").to_string_lossy();
        let jobs: Vec<_> = files.iter().map(|file| (compress(file, level), file.len())).collect();
        let bytes: usize = files.iter().map(Vec::len).sum();
        let longest = files.iter().map(Vec::len).max().unwrap_or(0).max(PIECE);
        let mut decoders = Decoders { scratch: Scratch::new(), out: vec![0; longest] };
        let turns = (40_000_000 / bytes.max(1)).max(1);
        for (case, contenders) in CASES {
            let mut times = vec![vec![]; contenders.len()];
            for _ in 0..rounds {
                for ((_, decode), times) in contenders.iter().zip(&mut times) {
                    times.push(timed(|| {
                        for _ in 0..turns {
                            jobs.iter().for_each(|(src, len)| decode(&mut decoders, src, *len));
                        }
                    }));
                }
            }
            print!("{name:16} {case:10}");
            for ((contender, _), theirs) in contenders.iter().zip(&times) {
                let ratio =
                    median(theirs.iter().zip(&times[0]).map(|(theirs, ours)| theirs / ours).collect());
                let speed = (turns * bytes) as f64 / 1e6 / median(theirs.clone());
                print!("  {contender} {speed:6.0} MB/s {ratio:.2}");
            }
            println!();
        }
    }
}
