//! How long it takes from no dictionaries to the first block.

use std::time::Duration;

use linerate_dict::{Decoder, Encoder, Id, Store};

use super::contenders::Who;
use super::data::Data;
use super::{Case, Setup};
use crate::kernel::os::thread_time;
use crate::kernel::zstd::{Context, Digested, With};

/// The frame of an empty block: a header with a content size of 0, and a last raw block without bytes.
const EMPTY: [u8; 9] = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0];
/// Bytes of dictionaries above which opening is measured once.
const LARGE: usize = 1 << 30;

/// A way to open, and the times it took, until all are open and one block is decoded.
pub(crate) struct Opening {
    pub(crate) who: Who,
    pub(crate) mode: &'static str,
    pub(crate) rounds: Vec<Duration>,
}

/// Opens all dictionaries: in a store that digests them when they are needed, in one where all are
/// digested at once, and as libzstd's objects.
pub(crate) fn measure(
    data: &Data,
    case: &Case,
    setup: &Setup,
    dictionaries: &[Vec<u8>],
) -> Result<Vec<Opening>, String> {
    let told = |e: linerate_dict::Error| e.to_string();
    let content = data.blocks.get(..case.block).ok_or("there is no block")?;
    let store = Store::new();
    let id = store.insert(&dictionaries[0]).map_err(told)?;
    let mut frame = vec![0; Encoder::bound(case.block)];
    let mut encoder = Encoder::new(&store).with_level(setup.level).map_err(told)?;
    let n = encoder.encode(id, content, &mut frame).map_err(told)?;
    frame.truncate(n);
    let mut out = vec![0; case.block];

    let ours = |every: bool, out: &mut [u8]| {
        let store = Store::new();
        let ids = dictionaries.iter().map(|bytes| store.insert(bytes)).collect::<Result<Vec<Id>, _>>()?;
        let mut decoder = Decoder::new(&store);
        if every {
            for &id in &ids {
                decoder.decode(id, &EMPTY, &mut [])?;
            }
        }
        let n = decoder.decode(ids[0], &frame, out)?;
        Ok((store, n))
    };
    let theirs = |out: &mut [u8]| {
        let all = dictionaries.iter().map(|bytes| Digested::new(bytes)).collect::<Option<Vec<_>>>();
        let all = all.ok_or("libzstd has no memory")?;
        let mut context = Context::new().ok_or("libzstd has no memory")?;
        let n = context.decode(With::Digested(&all[0]), &frame, out)?;
        Ok::<_, String>((all, n))
    };
    let rounds = if dictionaries.len() * case.dictionary > LARGE { 1 } else { setup.rounds };
    let mut openings = [("lazy", Who::Linerate), ("all", Who::Linerate), ("all", Who::Libzstd)]
        .map(|(mode, who)| Opening { who, mode, rounds: Vec::with_capacity(rounds) });
    for _ in 0..rounds {
        for opening in &mut openings {
            out.fill(0);
            let begun = thread_time();
            // What was opened is closed off the clock.
            let (n, time, digested) = match opening.who {
                Who::Linerate => {
                    let (store, n) = ours(opening.mode == "all", &mut out).map_err(told)?;
                    (n, thread_time() - begun, store.stats().digested)
                }
                Who::Libzstd => {
                    let (all, n) = theirs(&mut out)?;
                    (n, thread_time() - begun, all.len())
                }
            };
            opening.rounds.push(time);
            let expected = if opening.mode == "all" { dictionaries.len() } else { 1 };
            if out[..n] != *content || digested != expected {
                return Err(format!("{} {}: it did not open as it should", opening.who.name(), opening.mode));
            }
        }
    }
    Ok(openings.into())
}
