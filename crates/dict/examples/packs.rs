//! Costs of packs, as CSV: `packs [COUNT [BYTES [FILE...]]]`, by default 30000 dictionaries of 8192 bytes.
//!
//! Dictionaries are trained with pieces of the files, or with generated rows; further ones have the same
//! tables and different content, so that all are distinct. Times are wall-clock times, with the files in the
//! page cache, after a first round.

use std::path::Path;
use std::time::Instant;

use linerate_dict::pack::{Editor, Options, Pack};
use linerate_dict::{Decoder, Encoder, Id, Input, Result, Store, Training, content_hash};
use linerate_zstd::Dictionary;

/// Training bytes of a dictionary, as a multiple of its own.
const SAMPLES: usize = 100;
/// Number of trained dictionaries.
const TRAINED: usize = 64;

fn rows(seed: usize, len: usize) -> Vec<u8> {
    let mut state = seed as u64 * 0x9e37_79b9 + 1;
    let mut below = |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 8) % n
    };
    let mut out = Vec::new();
    while out.len() < len {
        let row = format!(
            "{{\"time\":{},\"host\":\"node-{:03}\",\"user\":\"u{:05}\",\"path\":\"/api/v{}/items/{}\",\"ms\":{}}}\n",
            1_700_000_000 + below(9_999_999),
            below(400),
            below(90_000),
            below(4),
            below(1 << 20),
            below(900)
        );
        out.extend_from_slice(row.as_bytes());
    }
    out.truncate(len);
    out
}

/// Dictionaries trained with pieces of the data.
fn trained(data: &[u8], size: usize) -> Vec<Vec<u8>> {
    let pieces = data.chunks_exact(size * SAMPLES).take(TRAINED);
    pieces
        .filter_map(|piece| {
            let samples: Vec<&[u8]> = piece.chunks(1024).collect();
            Training::new(size).train(&samples).ok()
        })
        .collect()
}

/// Rounds, of which the best and the median are reported.
const ROUNDS: usize = 9;

fn millis(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// Prints a row: best and median.
fn row(data: &str, count: usize, measure: &str, case: &str, mut values: Vec<f64>, unit: &str) {
    values.sort_by(f64::total_cmp);
    let (best, median) = (values[0], values[values.len() / 2]);
    println!("{data},{count},{measure},{case},{best:.3},{median:.3},{unit},{}", values.len());
}

/// Compression of dictionaries, alone and with each other.
fn forms(data: &str, trained: &[Vec<u8>]) -> Result<()> {
    let bytes: usize = trained.iter().map(Vec::len).sum();
    let count = trained.len();
    for level in [3, 9, 19] {
        for (case, same_cluster) in [("alone", false), ("with the first", true)] {
            let case = format!("{case} at level {level}");
            let mut editor = Editor::in_memory(Options::new().level(level))?;
            let start = Instant::now();
            for (i, dictionary) in trained.iter().enumerate() {
                editor.add(dictionary, if same_cluster { 0 } else { i as u32 })?;
            }
            let added = millis(start) / count as f64;
            let pack = Pack::open_input(Input::memory(editor.into_bytes()?))?;
            let mut times = Vec::new();
            for _ in 0..ROUNDS {
                let start = Instant::now();
                for entry in pack.entries() {
                    pack.read(entry.id)?;
                }
                times.push(millis(start) * 1e3 / count as f64);
            }
            row(data, count, "ratio", &case, vec![bytes as f64 / pack.stats().stored_bytes as f64], "");
            row(data, count, "add", &case, vec![added], "ms");
            row(data, count, "read", &case, times, "us");
        }
    }
    Ok(())
}

/// Time to build tables, and to validate stored ones.
fn tables(data: &str, dictionaries: &[Vec<u8>]) -> Result<()> {
    let mut regions = Vec::new();
    for bytes in dictionaries {
        let digest = Dictionary::measure(bytes)?;
        let mut words = vec![0u64; digest.region_len().div_ceil(8)];
        Dictionary::digest_into(bytes, bytemuck::cast_slice_mut(&mut words))?;
        regions.push((digest, words));
    }
    let mut buffer = vec![0u64; linerate_zstd::MAX_TABLES.div_ceil(8)];
    let mut times = [const { Vec::new() }; 3];
    let mut sum = 0;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for bytes in dictionaries {
            sum += Dictionary::tables_into(bytes, bytemuck::cast_slice_mut(&mut buffer))?.tables().len();
        }
        times[0].push(millis(start) * 1e3 / dictionaries.len() as f64);
        let start = Instant::now();
        for (digest, words) in &regions {
            sum += Dictionary::view(*digest, bytemuck::cast_slice(words))?.tables().len();
        }
        times[1].push(millis(start) * 1e3 / dictionaries.len() as f64);
        let start = Instant::now();
        for (digest, words) in &regions {
            let region: &[u8] = bytemuck::cast_slice(words);
            sum += content_hash(&region[..digest.tables_len()]) as usize & 1;
        }
        times[2].push(millis(start) * 1e3 / dictionaries.len() as f64);
    }
    assert!(sum > 0);
    for (case, times) in ["made", "looked through", "hashed"].into_iter().zip(times) {
        row(data, dictionaries.len(), "tables", case, times, "us");
    }
    Ok(())
}

/// From opening a pack to the first decoded block.
fn open(data: &str, dictionaries: &[Vec<u8>], path: &Path, name: &str) -> Result<()> {
    let content = rows(7, 4000);
    let middle = dictionaries.len() / 2;
    let other = Store::new();
    let id = other.insert(&dictionaries[middle])?;
    let mut block = vec![0; Encoder::bound(content.len())];
    let len = Encoder::new(&other).encode(id, &content, &mut block)?;
    let mut out = vec![0; content.len()];
    for (how, lazily) in [("lazily", true), ("all read", false)] {
        let mut times = [const { Vec::new() }; 3];
        for round in 0..=ROUNDS {
            let store = Store::new();
            let mut decoder = Decoder::new(&store);
            let start = Instant::now();
            let pack = Pack::open(path)?;
            let opened = millis(start);
            let loaded = if lazily { pack.register(&store)? } else { pack.load_into(&store)? };
            let known = millis(start);
            let id = loaded.get(middle as u64 + 1).unwrap_or(Id::NONE);
            decoder.decode(id, &block[..len], &mut out)?;
            let first = millis(start);
            assert!(out == content);
            if round > 0 {
                times.iter_mut().zip([opened, known, first]).for_each(|(times, time)| times.push(time));
            }
        }
        for (measure, times) in ["open", "open and load", "open to first block"].into_iter().zip(times) {
            row(data, dictionaries.len(), measure, &format!("{name} {how}"), times, "ms");
        }
    }
    Ok(())
}

fn packs(data: &str, dictionaries: &[Vec<u8>], folder: &Path) -> Result<()> {
    for (name, options) in
        [("uncompressed", Options::new().uncompressed(true)), ("at level 3", Options::new().level(3))]
    {
        let path = folder.join(name);
        let start = Instant::now();
        let mut editor = Editor::create(&path, options)?;
        for dictionary in dictionaries {
            editor.add(dictionary, 0)?;
        }
        editor.commit()?;
        row(data, dictionaries.len(), "write", name, vec![millis(start)], "ms");
        let len = Pack::open(&path)?.stats().len;
        row(data, dictionaries.len(), "size", name, vec![len as f64 / 1e6], "MB");
        open(data, dictionaries, &path, name)?;
    }
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count = arguments.first().map_or(Ok(30_000), |text| text.parse())?;
    let size: usize = arguments.get(1).map_or(Ok(8192), |text| text.parse())?;
    println!("data,dictionaries,measure,case,best,median,unit,rounds");
    for file in arguments.iter().skip(2) {
        let name =
            Path::new(file).file_name().map_or_else(|| file.clone(), |name| name.to_string_lossy().into());
        forms(&name, &trained(&std::fs::read(file)?, size))?;
    }
    let bases = trained(&rows(1, size * SAMPLES * 4), size);
    forms("rows", &bases)?;
    let dictionaries: Vec<Vec<u8>> = (0..count)
        .map(|i| {
            let base = &bases[i % bases.len()];
            let content = Dictionary::measure(base)?.content_len();
            let mut bytes = base[..base.len() - content].to_vec();
            bytes.extend(rows(1000 + i, content));
            Ok(bytes)
        })
        .collect::<Result<_>>()?;
    tables("rows", &dictionaries)?;
    packs("rows", &dictionaries, tempfile::tempdir()?.path())?;
    Ok(())
}
