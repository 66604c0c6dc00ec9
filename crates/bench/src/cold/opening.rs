//! Measures the CPU time from an empty store until the first block is decoded.

use std::borrow::Cow;
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use linerate_candidates::thread_time;
use linerate_dict::pack::{Editor, Pack, PackOptions};
use linerate_dict::{Decoder, Encoder, Id, Source, Store, content_hash};

use super::contenders::Library;
use super::data::Data;
use super::{Case, ColdOptions};
use crate::harness::{Contender, Rounds, measure as harness, message};
use crate::kernel::zstd::{Context, Digested, With};
use crate::records::Measurement;

/// The frame of an empty block: a header with content size 0, and a last raw block without bytes.
const EMPTY: [u8; 9] = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0];
/// If the dictionaries have more bytes than this, opening is measured once, and not from a pack.
const LARGE: usize = 1 << 30;

/// Dictionaries in memory, which stand for dictionaries in a mapped file.
pub(crate) struct DictionaryList(pub(crate) Vec<Vec<u8>>);

impl Source for DictionaryList {
    fn read(&self, index: u32) -> linerate_dict::Result<Cow<'_, [u8]>> {
        Ok(Cow::Borrowed(&self.0[index as usize]))
    }
}

/// Ways to fill a store: mapping a pack, registering hashes of dictionaries, copying them, and
/// copying and digesting them.
const WAYS: [&str; 4] = ["pack", "register", "insert", "digest"];

/// Measures opening all dictionaries, in our store in each of the ways in `WAYS`, and as libzstd's
/// digested dictionaries, until the first block is decoded.
pub(crate) fn measure(
    data: &Data,
    case: &Case,
    options: &ColdOptions,
    dictionary_list: &Arc<DictionaryList>,
    rounds: usize,
    blank: &dyn Fn(Library, &str) -> Measurement,
) -> Result<Vec<Measurement>, String> {
    let dictionaries = &dictionary_list.0;
    let content = data.blocks.get(..case.block).ok_or("there is no block")?;
    let store = Store::new();
    let id = store.insert(&dictionaries[0]).map_err(message)?;
    let mut frame = vec![0; Encoder::bound(case.block)];
    let mut encoder = Encoder::new(&store).level(options.level).map_err(message)?;
    let n = encoder.encode(id, content, &mut frame).map_err(message)?;
    frame.truncate(n);

    // These hashes are computed before the clock starts, because files of dictionaries store them.
    let hashes: Vec<(u32, u64)> = (0..).zip(dictionaries.iter().map(|bytes| content_hash(bytes))).collect();

    let folder = tempfile::tempdir().map_err(message)?;
    let file = folder.path().join("pack");
    let large = dictionaries.len() * case.dictionary > LARGE;
    let first = if large { 0 } else { pack(&file, dictionaries).map_err(message)? };

    let ours = |way: &str, out: &mut [u8]| {
        let store = Store::new();
        // Dropping what a pack has registered would release the dictionaries.
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
        Ok::<_, linerate_dict::Error>((store, loaded, n))
    };
    let theirs = |out: &mut [u8]| {
        let all = dictionaries.iter().map(|bytes| Digested::new(bytes)).collect::<Option<Vec<_>>>();
        let all = all.ok_or("libzstd has no memory")?;
        let mut context = Context::new().ok_or("libzstd has no memory")?;
        let n = context.decode(With::Digested(&all[0]), &frame, out)?;
        Ok::<_, String>((all, n))
    };
    let rounds = if large { 1 } else { rounds };
    let ways = WAYS
        .into_iter()
        .filter(|way| !large || *way != "pack")
        .map(|way| (way, Library::Linerate))
        .chain([("digest", Library::Libzstd)]);
    let out = RefCell::new(vec![0; case.block]);
    let contenders = ways.map(|(mode, library)| {
        let (out, ours, theirs) = (&out, &ours, &theirs);
        let turn = move |_| {
            let out = &mut out.borrow_mut()[..];
            out.fill(0);
            let begun = thread_time();
            // The clock is read before the dictionaries are dropped, so closing is not timed.
            let (n, time, digested) = match library {
                Library::Linerate => {
                    let (store, _loaded, n) = ours(mode, out).map_err(message)?;
                    (n, thread_time() - begun, store.stats().digested)
                }
                Library::Libzstd => {
                    let (all, n) = theirs(out)?;
                    (n, thread_time() - begun, all.len())
                }
            };
            let expected = if mode == "digest" { dictionaries.len() } else { 1 };
            match out[..n] == *content && digested == expected {
                true => Ok(time),
                false => Err(format!("{mode}: wrong content or number of digested dictionaries")),
            }
        };
        Contender::new(blank(library, mode), turn).units(1)
    });
    harness(contenders.collect(), Rounds::parts(rounds, 1))
}

/// Writes a pack whose dictionaries are uncompressed, so that they are used where they are mapped.
/// Returns the ID of the first dictionary in the pack.
fn pack(file: &Path, dictionaries: &[Vec<u8>]) -> linerate_dict::Result<u64> {
    let mut editor = Editor::create(file, PackOptions::new().uncompressed(true))?;
    let ids = dictionaries.iter().map(|bytes| editor.add(bytes, 0)).collect::<Result<Vec<u64>, _>>()?;
    editor.commit()?;
    Ok(ids[0])
}
