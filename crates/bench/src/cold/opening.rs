//! How long it takes from no dictionaries to the first block.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use linerate_dict::pack::{Editor, Options, Pack};
use linerate_dict::{Decoder, Encoder, Id, Source, Store, content_hash};

use super::contenders::Who;
use super::data::Data;
use super::{Case, Setup};
use crate::kernel::os::thread_time;
use crate::kernel::zstd::{Context, Digested, With};

/// The frame of an empty block: a header with a content size of 0, and a last raw block without bytes.
const EMPTY: [u8; 9] = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0];
/// Bytes of dictionaries above which opening is measured once, and without a file.
const LARGE: usize = 1 << 30;

/// Dictionaries in memory, as a mapped file has them.
pub(crate) struct Shelf(pub(crate) Vec<Vec<u8>>);

impl Source for Shelf {
    fn read(&self, index: u32) -> linerate_dict::Result<Cow<'_, [u8]>> {
        Ok(Cow::Borrowed(&self.0[index as usize]))
    }
}

/// How dictionaries get into a store: known from the file of a pack, or by their hashes, as copies, or as
/// copies with tables.
const WAYS: [&str; 4] = ["pack", "register", "insert", "digest"];

/// A way to open, and the times it took, until all are open and one block is decoded.
pub(crate) struct Opening {
    pub(crate) who: Who,
    pub(crate) mode: &'static str,
    pub(crate) rounds: Vec<Duration>,
}

/// Opens all dictionaries, in each way in a store of ours, and as libzstd's objects.
pub(crate) fn measure(
    data: &Data,
    case: &Case,
    setup: &Setup,
    shelf: &Arc<Shelf>,
) -> Result<Vec<Opening>, String> {
    let dictionaries = &shelf.0;
    let told = |e: linerate_dict::Error| e.to_string();
    let content = data.blocks.get(..case.block).ok_or("there is no block")?;
    let store = Store::new();
    let id = store.insert(&dictionaries[0]).map_err(told)?;
    let mut frame = vec![0; Encoder::bound(case.block)];
    let mut encoder = Encoder::new(&store).level(setup.level).map_err(told)?;
    let n = encoder.encode(id, content, &mut frame).map_err(told)?;
    frame.truncate(n);
    let mut out = vec![0; case.block];

    // As a file of dictionaries has them.
    let hashes: Vec<(u32, u64)> = (0..).zip(dictionaries.iter().map(|bytes| content_hash(bytes))).collect();

    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let file = folder.path().join("pack");
    let large = dictionaries.len() * case.dictionary > LARGE;
    let first = if large { 0 } else { pack(&file, dictionaries).map_err(told)? };

    let ours = |way: &str, out: &mut [u8]| {
        let store = Store::new();
        // Who drops it gives up the dictionaries.
        let mut loaded = None;
        let ids = match way {
            "pack" => {
                let all = loaded.insert(Pack::open(&file)?.register(&store)?);
                vec![all.get(first).unwrap_or(Id::NONE)]
            }
            "register" => store.register(shelf.clone(), hashes.iter().copied())?,
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
    let rounds = if large { 1 } else { setup.rounds };
    let ways = WAYS
        .into_iter()
        .filter(|way| !large || *way != "pack")
        .map(|way| (way, Who::Linerate))
        .chain([("digest", Who::Libzstd)]);
    let mut openings: Vec<Opening> =
        ways.map(|(mode, who)| Opening { who, mode, rounds: Vec::with_capacity(rounds) }).collect();
    for _ in 0..rounds {
        for opening in &mut openings {
            out.fill(0);
            let begun = thread_time();
            // What was opened is closed off the clock.
            let (n, time, digested) = match opening.who {
                Who::Linerate => {
                    let (store, _loaded, n) = ours(opening.mode, &mut out).map_err(told)?;
                    (n, thread_time() - begun, store.stats().digested)
                }
                Who::Libzstd => {
                    let (all, n) = theirs(&mut out)?;
                    (n, thread_time() - begun, all.len())
                }
            };
            opening.rounds.push(time);
            let expected = if opening.mode == "digest" { dictionaries.len() } else { 1 };
            if out[..n] != *content || digested != expected {
                return Err(format!("{} {}: it did not open as it should", opening.who.name(), opening.mode));
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
