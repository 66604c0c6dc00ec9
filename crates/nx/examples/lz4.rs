//! The LZ4 blocks of archives, decoded by `lz4_flex` and by liblz4 in turn into one buffer: CSV, with the median of each by
//! CPU time and the median of the ratios of turns.
//!
//!     cargo run --release -p linerate-nx --example lz4 -- TURNS ARCHIVE...

mod common;
#[path = "sys/liblz4.rs"]
mod liblz4;

use std::error::Error;
use std::hint::black_box;

use common::{median, thread_time};
use linerate_nx::{Archive, Codec};

type Outcome<T> = Result<T, Box<dyn Error>>;
type Decompress = fn(&[u8], &mut [u8]) -> Option<usize>;

fn main() -> Outcome<()> {
    let mut args = std::env::args().skip(1);
    let turns: usize = args.next().ok_or("usage: lz4 TURNS ARCHIVE...")?.parse()?;
    println!("archive,blocks,bytes,lz4_flex MB/s,liblz4 MB/s,lz4_flex by liblz4 CPU time");
    for path in args {
        measure(&path, &Archive::open(std::fs::read(&path)?)?, turns.max(1))?;
    }
    Ok(())
}

fn measure(path: &str, archive: &Archive<Vec<u8>>, turns: usize) -> Outcome<()> {
    let blocks = lz4_blocks(archive);
    let mut out = vec![1; archive.layout().largest_content() as usize];
    let bytes: u64 = blocks.iter().map(|block| block.len as u64).sum();
    let (mut ours, mut theirs, mut ratios) = (vec![], vec![], vec![]);
    for turn in 0..=turns {
        let our_time =
            decode(&blocks, &mut out, |block, out| lz4_flex::block::decompress_into(block, out).ok())?;
        let their_time = decode(&blocks, &mut out, liblz4::decompress)?;
        // The first turn warms caches and the buffer.
        if turn > 0 {
            ours.push(bytes as f64 / our_time / 1e6);
            theirs.push(bytes as f64 / their_time / 1e6);
            ratios.push(our_time / their_time);
        }
    }
    let name = std::path::Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let [ours, theirs, ratio] = [ours, theirs, ratios].map(median);
    println!("{name},{},{bytes},{ours:.0},{theirs:.0},{ratio:.3}", blocks.len());
    Ok(())
}

/// A block and the length of its content.
struct Lz4Block<'a> {
    bytes: &'a [u8],
    len: usize,
}

fn lz4_blocks(archive: &Archive<Vec<u8>>) -> Vec<Lz4Block<'_>> {
    let layout = archive.layout();
    let is_lz4 = |(i, block): (usize, &linerate_nx::Block)| {
        let at = layout.offset(i) as usize;
        let bytes = &archive.source()[at..at + block.compressed as usize];
        (block.codec == Codec::Lz4).then_some(Lz4Block { bytes, len: layout.content(i) as usize })
    };
    archive.toc().blocks.iter().enumerate().filter_map(is_lz4).collect()
}

/// Decodes all blocks and returns the seconds of CPU time that it took.
fn decode(blocks: &[Lz4Block<'_>], out: &mut [u8], decompress: Decompress) -> Outcome<f64> {
    let begun = thread_time();
    for block in blocks {
        let len = decompress(black_box(block.bytes), &mut out[..block.len]);
        if len != Some(block.len) {
            return Err("a damaged block".into());
        }
    }
    Ok((thread_time() - begun).as_secs_f64())
}
