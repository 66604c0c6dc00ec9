//! The shape "packs": packs, which are files of dictionaries, written, read, and opened until the
//! first block is decoded, by the wall clock with the files in the page cache.
//!
//! Dictionaries are trained with pieces of files or of generated rows. Those that fill a large pack
//! have the tables of a trained one and other content, so that all are different.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use linerate_dict::pack::{Editor, Pack, PackOptions};
use linerate_dict::{Decoder, Encoder, Id, Input, Store, Training, content_hash};
use linerate_zstd::Dictionary;

use crate::harness::corpus::{Corpus, resolve};
use crate::harness::{
    Clock, Common, Contender, Rounds, Spent, measure as harness, message, progress, row, same,
};
use crate::records::Measurement;

/// Maximum bytes of a dictionary.
const SIZE: usize = 8192;
/// Bytes of samples for each trained dictionary, as a multiple of [`SIZE`].
const SAMPLES: usize = 100;
/// Maximum number of dictionaries trained with one file.
const TRAINED: usize = 64;

/// Options of `linerate-bench packs`.
#[derive(Args, Clone, Debug)]
pub struct PacksArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Files of at least 819,200 bytes to train dictionaries with, which are then packed, beside
    /// generated rows; also names below $LINERATE_CORPORA
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Measures how well dictionaries compress, how fast their tables are built, and packs of
/// dictionaries.
///
/// # Errors
/// A sentence for the user.
pub fn run(args: &PacksArgs) -> Result<(), String> {
    let mut output = args.common.open(&[])?;
    let rounds = args.common.rounds(9);
    let count = if args.common.quick { 300 } else { 30_000 };
    for path in &args.files {
        let bytes = std::fs::read(resolve(path)).map_err(|e| format!("{}: {e}", path.display()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let trained = trained(&bytes).map_err(|e| format!("{}: {e}", path.display()))?;
        output.add("Dictionaries compressed", forms(&name, &trained, rounds)?)?;
    }
    progress("training");
    let rows = Corpus::rows(SIZE * SAMPLES * 4 + count * 64 + SIZE).files.concat();
    let bases = trained(&rows[..SIZE * SAMPLES * 4])?;
    output.add("Dictionaries compressed", forms("rows", &bases, rounds)?)?;
    let made = |i: usize| {
        let base = &bases[i % bases.len()];
        let content = Dictionary::measure(base).map_err(message)?.content_len();
        Ok([&base[..base.len() - content], &rows[i * 64..][..content]].concat())
    };
    let dictionaries: Vec<Vec<u8>> = (0..count).map(made).collect::<Result<_, String>>()?;
    output.add("Tables of dictionaries", tables(&dictionaries, rounds)?)?;
    let folder = tempfile::tempdir().map_err(message)?;
    for (name, options) in
        [("uncompressed", PackOptions::new().uncompressed(true)), ("at level 3", PackOptions::new().level(3))]
    {
        output.add("Packs", pack(&dictionaries, &folder.path().join(name), (name, options), rounds)?)?;
    }
    output.finish()
}

/// Trains at most [`TRAINED`] dictionaries, each with its own 819,200 bytes of the data. A shorter
/// rest is left out, and so is a piece with which training fails.
///
/// # Errors
/// A sentence, if there is no dictionary.
fn trained(data: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let train = |piece: &[u8]| Training::new(SIZE).train(&piece.chunks(1024).collect::<Vec<_>>()).ok();
    let found: Vec<_> = data.chunks_exact(SIZE * SAMPLES).take(TRAINED).filter_map(train).collect();
    match found.is_empty() {
        true => Err(format!("no dictionary can be trained; at least {} bytes are needed", SIZE * SAMPLES)),
        false => Ok(found),
    }
}

fn blank(data: &str, count: usize, case: &str, step: &str) -> Measurement {
    row("packs", data, "linerate")
        .param("case", case)
        .param("count", count)
        .param("clock", "wall")
        .param("step", step)
}

/// Measures packs in memory whose dictionaries are compressed, each alone and with the first one as
/// reference: their ratio, and the time to add and to read a dictionary.
fn forms(data: &str, trained: &[Vec<u8>], rounds: usize) -> Result<Vec<Measurement>, String> {
    let (bytes, count) = (trained.iter().map(Vec::len).sum::<usize>(), trained.len());
    let mut found = Vec::new();
    for level in [3, 9, 19] {
        for (case, same_cluster) in [("alone", false), ("with the first", true)] {
            let case = format!("{case} at level {level}");
            let mut editor = Editor::in_memory(PackOptions::new().level(level)).map_err(message)?;
            let begun = Instant::now();
            for (i, dictionary) in trained.iter().enumerate() {
                editor.add(dictionary, if same_cluster { 0 } else { i as u32 }).map_err(message)?;
            }
            let added = begun.elapsed().as_secs_f64() * 1e6 / count.max(1) as f64;
            let pack =
                Pack::open_input(Input::memory(editor.into_bytes().map_err(message)?)).map_err(message)?;
            for (entry, dictionary) in pack.entries().zip(trained) {
                same(&pack.read(entry.id).map_err(message)?, dictionary)?;
            }
            let ratio = bytes as f64 / pack.stats().stored_bytes as f64;
            found.push(blank(data, count, &case, "ratio").exact("ratio", ratio));
            found.push(blank(data, count, &case, "add").exact("time", added));
            let read =
                |_| pack.entries().try_for_each(|entry| pack.read(entry.id).map(drop)).map_err(message);
            let read = Contender::timed(blank(data, count, &case, "read"), Clock::Elapsed, read);
            found.extend(harness(vec![read.units(count)], Rounds::warm(rounds))?);
        }
    }
    Ok(found)
}

/// Times building the decoding tables of dictionaries, and validating and hashing stored tables.
fn tables(dictionaries: &[Vec<u8>], rounds: usize) -> Result<Vec<Measurement>, String> {
    let mut regions = Vec::new();
    for bytes in dictionaries {
        let digest = Dictionary::measure(bytes).map_err(message)?;
        let mut words = vec![0u64; digest.region_len().div_ceil(8)];
        Dictionary::digest_into(bytes, bytemuck::cast_slice_mut(&mut words)).map_err(message)?;
        regions.push((digest, words));
    }
    let (regions, count) = (&regions, dictionaries.len());
    let mut buffer = vec![0u64; linerate_zstd::MAX_TABLES.div_ceil(8)];
    let made = move |_| {
        let mut one = |bytes: &Vec<u8>| {
            let made = Dictionary::tables_into(bytes, bytemuck::cast_slice_mut(&mut buffer));
            made.map(|made| _ = std::hint::black_box(made.tables().len()))
        };
        dictionaries.iter().try_for_each(&mut one).map_err(message)
    };
    let viewed = move |_| {
        let one = |(digest, words): &(_, Vec<u64>)| {
            Dictionary::view(*digest, bytemuck::cast_slice(words))
                .map(|view| _ = std::hint::black_box(view.tables().len()))
        };
        regions.iter().try_for_each(one).map_err(message)
    };
    let hashed = move |_| {
        for (digest, words) in regions {
            let region: &[u8] = bytemuck::cast_slice(words);
            std::hint::black_box(content_hash(&region[..digest.tables_len()]));
        }
        Ok(())
    };
    let contenders = vec![
        Contender::timed(blank("rows", count, "made", "tables"), Clock::Elapsed, made).units(count),
        Contender::timed(blank("rows", count, "looked through", "tables"), Clock::Elapsed, viewed)
            .units(count),
        Contender::timed(blank("rows", count, "hashed", "tables"), Clock::Elapsed, hashed).units(count),
    ];
    harness(contenders, Rounds::warm(rounds))
}

/// Writes a pack, and measures that, the pack's size, and the time from opening it until the first
/// block is decoded.
fn pack(
    dictionaries: &[Vec<u8>],
    path: &Path,
    (name, options): (&str, PackOptions),
    rounds: usize,
) -> Result<Vec<Measurement>, String> {
    let (count, middle) = (dictionaries.len(), dictionaries.len() / 2);
    let begun = Instant::now();
    let mut editor = Editor::create(path, options).map_err(message)?;
    for dictionary in dictionaries {
        editor.add(dictionary, 0).map_err(message)?;
    }
    editor.commit().map_err(message)?;
    let wrote = begun.elapsed().as_secs_f64() * 1e6;
    let len = Pack::open(path).map_err(message)?.stats().len;
    let mut found = vec![
        blank("rows", count, name, "write").exact("time", wrote),
        blank("rows", count, name, "size").exact("output", len as f64),
    ];
    let content = Corpus::rows(4000).files.concat();
    let other = Store::new();
    let id = other.insert(&dictionaries[middle]).map_err(message)?;
    let mut block = vec![0; Encoder::bound(content.len())];
    let n = Encoder::new(&other).encode(id, &content, &mut block).map_err(message)?;
    let block = &block[..n];
    let (content, mut contenders) = (&content, Vec::new());
    for (how, lazily) in [("lazily", true), ("all read", false)] {
        for (place, step) in ["open", "open and load", "open to first block"].into_iter().enumerate() {
            let turn = move |_| {
                let (store, mut out) = (Store::new(), vec![0; content.len()]);
                let mut decoder = Decoder::new(&store);
                let begun = Instant::now();
                let pack = Pack::open(path).map_err(message)?;
                let opened = begun.elapsed();
                let loaded =
                    if lazily { pack.register(&store) } else { pack.load_into(&store) }.map_err(message)?;
                let known = begun.elapsed();
                let id = loaded.get(middle as u64 + 1).unwrap_or(Id::NONE);
                decoder.decode(id, block, &mut out).map_err(message)?;
                let first = begun.elapsed();
                same(&out, content)?;
                Ok(Spent::from([opened, known, first][place]))
            };
            contenders
                .push(Contender::new(blank("rows", count, &format!("{name} {how}"), step), turn).units(1));
        }
    }
    found.extend(harness(contenders, Rounds::warm(rounds))?);
    Ok(found)
}
