//! What packs cost: `packs [COUNT [BYTES [FILE...]]]`, 30000 dictionaries of 8192 bytes unless told.
//!
//! Dictionaries are trained with pieces of the files, or with generated rows, as many as that gives;
//! more of them have the same tables and other content, so that all are distinct.

use std::path::Path;
use std::time::Instant;

use linerate_dict::pack::{Editor, Options, Pack};
use linerate_dict::{Decoder, Encoder, Id, Store, Training};
use linerate_zstd::Dictionary;

/// Bytes that a dictionary is trained with, by its own.
const SAMPLES: usize = 100;
/// Dictionaries that are trained.
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

fn millis(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// How dictionaries compress alone and among each other.
fn forms(name: &str, trained: &[Vec<u8>]) -> Result<(), Box<dyn std::error::Error>> {
    let bytes: usize = trained.iter().map(Vec::len).sum();
    println!("{name}: {} dictionaries trained, {bytes} bytes", trained.len());
    for level in [3, 9, 19] {
        let mut sizes = Vec::new();
        for same_cluster in [false, true] {
            let mut editor = Editor::in_memory(Options::new().with_level(level))?;
            let start = Instant::now();
            for (i, dictionary) in trained.iter().enumerate() {
                editor.add(dictionary, if same_cluster { 0 } else { i as u32 })?;
            }
            let time = millis(start) / trained.len() as f64;
            let pack = Pack::open_input(linerate_dict::Input::memory(editor.into_bytes()?))?;
            let start = Instant::now();
            for entry in pack.entries() {
                pack.read(entry.id)?;
            }
            let read = millis(start) * 1e3 / trained.len() as f64;
            sizes.push((bytes as f64 / pack.stats().stored_bytes as f64, time, read));
        }
        let [(alone, ..), (with, time, read)] = sizes[..] else { unreachable!("two of them") };
        println!(
            "  level {level:2}: ratio {alone:.2} alone, {with:.2} with the first; {time:.2} ms to add, {read:.1} us to read"
        );
    }
    Ok(())
}

/// What tables cost that are made, and that are looked through.
fn tables(dictionaries: &[Vec<u8>]) -> Result<(), Box<dyn std::error::Error>> {
    let mut regions = Vec::new();
    for bytes in dictionaries {
        let digest = Dictionary::measure(bytes)?;
        let mut words = vec![0u64; digest.region_len().div_ceil(8)];
        let region: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        Dictionary::digest_into(bytes, region)?;
        regions.push((digest, words));
    }
    let count = dictionaries.len() as f64;
    let mut room = vec![0u64; linerate_zstd::MAX_TABLES.div_ceil(8)];
    let mut sum = 0;
    let start = Instant::now();
    for bytes in dictionaries {
        sum += Dictionary::tables_into(bytes, bytemuck::cast_slice_mut(&mut room))?.tables().len();
    }
    let made = millis(start) * 1e3 / count;
    let start = Instant::now();
    for (digest, words) in &regions {
        sum += Dictionary::view(*digest, bytemuck::cast_slice(words))?.tables().len();
    }
    let viewed = millis(start) * 1e3 / count;
    let start = Instant::now();
    for (digest, words) in &regions {
        let region: &[u8] = bytemuck::cast_slice(words);
        sum += linerate_dict::content_hash(&region[..digest.tables_len()]) as usize & 1;
    }
    let hashed = millis(start) * 1e3 / count;
    println!(
        "tables of {} dictionaries: {made:.2} us made, {viewed:.2} us checked, {hashed:.2} us hashed ({sum})",
        dictionaries.len()
    );
    Ok(())
}

fn packs(dictionaries: &[Vec<u8>], folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let content = rows(7, 4000);
    for (name, options) in
        [("plain", Options::new().with_uncompressed(true)), ("level 3", Options::new().with_level(3))]
    {
        let path = folder.join(name);
        let start = Instant::now();
        let mut editor = Editor::create(&path, options)?;
        for dictionary in dictionaries {
            editor.add(dictionary, 0)?;
        }
        editor.commit()?;
        let len = std::fs::metadata(&path)?.len();
        println!("{name}: written in {:.0} ms, {:.1} MB", millis(start), len as f64 / 1e6);
        for round in 0..3 {
            for lazily in [true, false] {
                let store = Store::new();
                let middle = dictionaries.len() as u64 / 2 + 1;
                let other = Store::new();
                let id = other.insert(&dictionaries[middle as usize - 1])?;
                let mut block = vec![0; Encoder::bound(content.len())];
                let n = Encoder::new(&other).encode(id, &content, &mut block)?;
                let mut decoder = Decoder::new(&store);
                let mut out = vec![0; content.len()];
                let start = Instant::now();
                let pack = Pack::open(&path)?;
                let opened = millis(start);
                let loaded = if lazily { pack.register(&store)? } else { pack.load_into(&store)? };
                let known = millis(start);
                decoder.decode(loaded.get(middle).unwrap_or(Id::NONE), &block[..n], &mut out)?;
                let first = millis(start);
                assert_eq!(out, content);
                println!(
                    "  round {round}, {}: open {opened:.2} ms, in the store {known:.2} ms, first block {first:.2} ms",
                    if lazily { "register" } else { "load_into" }
                );
            }
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count = arguments.first().map_or(Ok(30_000), |text| text.parse())?;
    let size: usize = arguments.get(1).map_or(Ok(8192), |text| text.parse())?;
    for file in arguments.iter().skip(2) {
        forms(file, &trained(&std::fs::read(file)?, size))?;
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
        .collect::<linerate_dict::Result<_>>()?;
    tables(&dictionaries)?;
    let folder = tempfile::tempdir()?;
    packs(&dictionaries, folder.path())
}
