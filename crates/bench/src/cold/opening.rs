//! Time from an empty store to the first decoded block.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use linerate_dict::pack::{Editor, Options, Pack};
use linerate_dict::{Decoder, Encoder, Id, Source, Store, content_hash};

use super::contenders::Library;
use super::data::Data;
use super::{BenchOptions, Case};
use crate::kernel::zstd::{Context, Digested, With};
use linerate_candidates::thread_time;

/// The frame of an empty block: a header with a content size of 0, and a last raw block without bytes.
const EMPTY: [u8; 9] = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0];
/// Bytes of dictionaries above which opening is measured once, and without a file.
const LARGE: usize = 1 << 30;

/// Dictionaries in memory, as in a mapped file.
pub(crate) struct DictionaryList(pub(crate) Vec<Vec<u8>>);

impl Source for DictionaryList {
    fn read(&self, index: u32) -> linerate_dict::Result<Cow<'_, [u8]>> {
        Ok(Cow::Borrowed(&self.0[index as usize]))
    }
}

/// Ways to fill a store: from a pack's file, by hashes, as copies, as digested copies.
const WAYS: [&str; 4] = ["pack", "register", "insert", "digest"];

/// A way to open, and its times until one block is decoded.
pub(crate) struct Opening {
    pub(crate) library: Library,
    pub(crate) mode: &'static str,
    pub(crate) rounds: Vec<Duration>,
}

/// Opens all dictionaries in each way in our store, and as libzstd's objects.
pub(crate) fn measure(
    data: &Data,
    case: &Case,
    options: &BenchOptions,
    dictionary_list: &Arc<DictionaryList>,
) -> Result<Vec<Opening>, String> {
    let dictionaries = &dictionary_list.0;
    let message = |e: linerate_dict::Error| e.to_string();
    let content = data.blocks.get(..case.block).ok_or("there is no block")?;
    let store = Store::new();
    let id = store.insert(&dictionaries[0]).map_err(message)?;
    let mut frame = vec![0; Encoder::bound(case.block)];
    let mut encoder = Encoder::new(&store).level(options.level).map_err(message)?;
    let n = encoder.encode(id, content, &mut frame).map_err(message)?;
    frame.truncate(n);
    let mut out = vec![0; case.block];

    // As a file of dictionaries has them.
    let hashes: Vec<(u32, u64)> = (0..).zip(dictionaries.iter().map(|bytes| content_hash(bytes))).collect();

    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let file = folder.path().join("pack");
    let large = dictionaries.len() * case.dictionary > LARGE;
    let first = if large { 0 } else { pack(&file, dictionaries).map_err(message)? };

    let ours = |way: &str, out: &mut [u8]| {
        let store = Store::new();
        // Kept alive: dropping it releases the dictionaries.
        let mut loaded = None;
        let ids = match way {
            "pack" => {
                let all = loaded.insert(Pack::open(&file)?.register(&store)?);
                vec![all.get(first).unwrap_or(Id::NONE)]
            }
            "register" => store.register(dictionary_list.clone(), hashes.iter().copied())?,
            _ => dictionaries.iter().map(|bytes| store.insert(bytes)).collect::<Result<Vec<Id>, _>>()?,
        };
        let mut decoder = Decoder::new(&store);
        if way == "digest" {
            for &id in &ids {
                decoder.decode(id, &EMPTY, &mut [])?;
            }
        }
        let n = decoder.decode(ids[0], &frame, out)?;
        Ok((store, loaded, n))
    };
    let theirs = |out: &mut [u8]| {
        let all = dictionaries.iter().map(|bytes| Digested::new(bytes)).collect::<Option<Vec<_>>>();
        let all = all.ok_or("libzstd has no memory")?;
        let mut context = Context::new().ok_or("libzstd has no memory")?;
        let n = context.decode(With::Digested(&all[0]), &frame, out)?;
        Ok::<_, String>((all, n))
    };
    let rounds = if large { 1 } else { options.rounds };
    let ways = WAYS
        .into_iter()
        .filter(|way| !large || *way != "pack")
        .map(|way| (way, Library::Linerate))
        .chain([("digest", Library::Libzstd)]);
    let mut openings: Vec<Opening> =
        ways.map(|(mode, library)| Opening { library, mode, rounds: Vec::with_capacity(rounds) }).collect();
    for _ in 0..rounds {
        for opening in &mut openings {
            out.fill(0);
            let begun = thread_time();
            // Closing is not timed.
            let (n, time, digested) = match opening.library {
                Library::Linerate => {
                    let (store, _loaded, n) = ours(opening.mode, &mut out).map_err(message)?;
                    (n, thread_time() - begun, store.stats().digested)
                }
                Library::Libzstd => {
                    let (all, n) = theirs(&mut out)?;
                    (n, thread_time() - begun, all.len())
                }
            };
            opening.rounds.push(time);
            let expected = if opening.mode == "digest" { dictionaries.len() } else { 1 };
            if out[..n] != *content || digested != expected {
                return Err(format!(
                    "{} {}: wrong content or number of digested dictionaries",
                    opening.library.name(),
                    opening.mode
                ));
            }
        }
    }
    Ok(openings)
}

/// Writes a pack whose dictionaries are used from where they are mapped. Returns the number of the
/// first.
fn pack(file: &Path, dictionaries: &[Vec<u8>]) -> linerate_dict::Result<u64> {
    let mut editor = Editor::create(file, Options::new().uncompressed(true))?;
    let ids = dictionaries.iter().map(|bytes| editor.add(bytes, 0)).collect::<Result<Vec<u64>, _>>()?;
    editor.commit()?;
    Ok(ids[0])
}
