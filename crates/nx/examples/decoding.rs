//! Decoding of whole archives in memory with every hash checked, beside libzstd on the same blocks without hashes: CSV,
//! with the median of each and the median of the ratios of turns.
//!
//!     cargo run --release -p linerate-nx --example decoding -- TURNS ARCHIVE...

mod common;

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use common::{median, thread_time};
use linerate_nx::{Archive, Codec, Verifier};
use zstd_safe::DCtx;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let mut args = std::env::args().skip(1);
    let turns: usize = args.next().ok_or("usage: decoding TURNS ARCHIVE...")?.parse()?;
    println!(
        "archive,bytes,linerate MB/s with hashes,libzstd MB/s,CPU speed ratio,two threads wall speed ratio"
    );
    for path in args {
        measure(&path, &Archive::open(std::fs::read(&path)?)?, turns.max(1))?;
    }
    Ok(())
}

fn measure(path: &str, archive: &Archive<Vec<u8>>, turns: usize) -> Outcome<()> {
    let mut reference = Reference::new(archive);
    let bytes = reference.decode()?;
    let (mut ours, mut theirs, mut ratios, mut parallel) = (vec![], vec![], vec![], vec![]);
    for _ in 0..turns {
        let begun = thread_time();
        reference.decode()?;
        let their_time = thread_time() - begun;
        let (begun, begun_wall) = (thread_time(), Instant::now());
        verify(archive, 1)?;
        let (our_time, our_wall) = (thread_time() - begun, begun_wall.elapsed());
        let begun_wall = Instant::now();
        verify(archive, 2)?;
        parallel.push(our_wall.as_secs_f64() / begun_wall.elapsed().as_secs_f64());
        ratios.push(their_time.as_secs_f64() / our_time.as_secs_f64());
        ours.push(bytes as f64 / our_time.as_secs_f64() / 1e6);
        theirs.push(bytes as f64 / their_time.as_secs_f64() / 1e6);
    }
    let name = std::path::Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let [ours, theirs, ratio, parallel] = [ours, theirs, ratios, parallel].map(median);
    println!("{name},{bytes},{ours:.0},{theirs:.0},{ratio:.3},{parallel:.2}");
    Ok(())
}

fn verify(archive: &Archive<Vec<u8>>, threads: usize) -> Outcome<()> {
    let verified = Verifier::new(archive).threads(threads).run()?;
    match verified.failures.is_empty() {
        true => Ok(()),
        false => Err("a file of the archive is damaged".into()),
    }
}

/// Decodes all blocks by libzstd into one buffer.
struct Reference<'a> {
    archive: &'a Archive<Vec<u8>>,
    context: DCtx<'static>,
    out: Vec<u8>,
}

impl<'a> Reference<'a> {
    fn new(archive: &'a Archive<Vec<u8>>) -> Self {
        let out = vec![1; archive.layout().largest_content() as usize];
        Reference { archive, context: DCtx::create(), out }
    }

    /// Returns the bytes decoded.
    fn decode(&mut self) -> Outcome<u64> {
        let (layout, mut total) = (self.archive.layout(), 0);
        for (i, block) in self.archive.toc().blocks.iter().enumerate() {
            let at = layout.offset(i) as usize;
            let bytes = &self.archive.source()[at..at + block.compressed as usize];
            let out = &mut self.out[..layout.content(i) as usize];
            match block.codec {
                _ if block.filtered => return Err("an archive with filtered blocks".into()),
                Codec::Copy => out.copy_from_slice(&bytes[..out.len()]),
                Codec::Zstd => {
                    self.context.decompress(out, bytes).map_err(zstd_safe::get_error_name)?;
                }
                Codec::Lz4 => return Err("an archive with LZ4 blocks".into()),
            }
            total += black_box(out).len() as u64;
        }
        Ok(total)
    }
}
