//! How far back and how long the matches of textures are, with and without a filter: CSV, one row for each format, block
//! size and filter.
//!
//!     cargo run --release -p linerate-nx --example distances -- LEVEL FOLDER...
//!
//! The textures below FOLDERs that have a header, one behind the other in blocks of 1 and of 16 MiB, each filtered by itself;
//! matches are those of libzstd at LEVEL in long mode. `FILTER/streams` is with streams of 16 KiB and more apart from each
//! other, as the frames of an archive are.

mod common;
#[path = "sys/sequences.rs"]
mod sequences;

use std::error::Error;
use std::path::PathBuf;

use common::files_below;
use linerate_nx::filter::{Filter, TextureFormat, detect};
use sequences::Finder;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Upper ends of the classes of distances, in bytes.
const ENDS: [u32; 5] = [4 << 10, 32 << 10, 256 << 10, 1 << 20, u32::MAX];

fn main() -> Outcome<()> {
    let mut args = std::env::args().skip(1);
    let level: i32 = args.next().ok_or("usage: distances LEVEL FOLDER...")?.parse()?;
    let files = files_below(args)?;
    println!(
        "format,block_bytes,filter,bytes,matches,matches_per_kib,mean_length,to_4_kib,to_32_kib,to_256_kib,to_1_mib,further"
    );
    for &format in TextureFormat::ALL {
        let textures = load(&files, format)?;
        if textures.is_empty() {
            continue;
        }
        let filter = *format.filters().last().ok_or("a format without filters")?;
        for block in [1 << 20, 16 << 20] {
            for form in [Form::Plain, Form::Filtered(filter), Form::Streams(filter)] {
                println!("{format:?},{block},{}", measure(&textures, block, form, level)?);
            }
        }
    }
    Ok(())
}

/// Shorter streams have no frame of their own in archives.
const MIN_STREAM: usize = 16 << 10;

/// What matches are looked for in.
#[derive(Clone, Copy)]
enum Form {
    Plain,
    /// Blocks of filtered textures.
    Filtered(Filter),
    /// Their streams, each alone.
    Streams(Filter),
}

impl Form {
    fn name(self) -> String {
        match self {
            Form::Plain => "none".to_owned(),
            Form::Filtered(filter) => filter.name().to_owned(),
            Form::Streams(filter) => format!("{}/streams", filter.name()),
        }
    }
}

/// The texels of the files with this format.
fn load(files: &[PathBuf], format: TextureFormat) -> Outcome<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    for path in files {
        let mut content = std::fs::read(path)?;
        if let Some(texture) = detect(&content).filter(|texture| texture.format == format) {
            found.push(content.split_off(texture.start.min(content.len())));
        }
    }
    Ok(found)
}

/// Counts the matches of all blocks.
fn measure(textures: &[Vec<u8>], block: usize, form: Form, level: i32) -> Outcome<String> {
    let mut finder = Finder::new(level, block.trailing_zeros()).ok_or("out of memory")?;
    let mut counts = [0u64; ENDS.len()];
    let (mut bytes, mut length) = (0, 0u64);
    for content in blocks(textures, block, form) {
        bytes += content.len();
        for (distance, matched) in finder.matches(&content).ok_or("libzstd refuses a block")? {
            let class = ENDS.iter().position(|&end| distance <= end).unwrap_or(ENDS.len() - 1);
            counts[class] += 1;
            length += u64::from(matched);
        }
    }
    let matches: u64 = counts.iter().sum();
    let shares: Vec<String> =
        counts.iter().map(|&n| format!("{:.4}", n as f64 / matches.max(1) as f64)).collect();
    Ok(format!(
        "{},{bytes},{matches},{:.2},{:.1},{}",
        form.name(),
        matches as f64 * 1024.0 / bytes as f64,
        length as f64 / matches.max(1) as f64,
        shares.join(",")
    ))
}

/// The textures as an archive has them: pieces that do not cross the end of a block, each filtered by itself, and streams of
/// pieces if these are apart.
fn blocks(textures: &[Vec<u8>], block: usize, form: Form) -> Vec<Vec<u8>> {
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    for piece in textures.iter().flat_map(|texels| texels.chunks(block)) {
        let mut filtered = piece.to_vec();
        match form {
            Form::Plain => {}
            Form::Filtered(filter) => filter.apply(piece, &mut filtered),
            Form::Streams(filter) => {
                filter.apply(piece, &mut filtered);
                blocks.extend(streams(filter, filtered));
                continue;
            }
        }
        match blocks.last_mut() {
            Some(last) if last.len() + filtered.len() <= block => last.append(&mut filtered),
            _ => blocks.push(filtered),
        }
    }
    blocks
}

/// Cuts a filtered piece where a stream ends, unless a side of the cut would be short.
fn streams(filter: Filter, filtered: Vec<u8>) -> Vec<Vec<u8>> {
    let mut streams = Vec::new();
    let mut start = 0;
    for end in filter.stream_ends(&filtered) {
        if end - start >= MIN_STREAM && filtered.len() - end >= MIN_STREAM {
            streams.push(filtered[start..end].to_vec());
            start = end;
        }
    }
    streams.push(filtered[start..].to_vec());
    streams
}
