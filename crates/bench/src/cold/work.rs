//! The requests to decode: blocks, the dictionary of each, and their order.

use linerate_dict::{Encoder, Id, Store};

use super::data::{Data, Pieces};
use super::{Case, ColdOptions, SEED};
use linerate_gateway_sim::traffic::Random;

/// Maximum number of dictionaries in a hot pass, each for one group of consecutive requests. A
/// single dictionary for all requests might be better or worse than average.
pub(crate) const RUNS: usize = 8;

/// Which dictionaries the blocks use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// One dictionary for each of at most [`RUNS`] groups of consecutive blocks.
    Hot,
    /// Two dictionaries, alternating, for each of at most [`RUNS`] groups of consecutive blocks.
    Two,
    /// No dictionary.
    Nothing,
    /// Every dictionary once, in random order, before any is used again.
    Cold,
    /// Any dictionary, at random for each block.
    Random,
}

#[derive(Clone, Copy)]
struct Request {
    dictionary: Option<u32>,
    content: u32,
    start: usize,
    len: usize,
}

/// Compressed blocks in the order of their requests, which is unrelated to their order in memory.
pub(crate) struct Work<'d> {
    requests: Vec<Request>,
    frames: Vec<u8>,
    contents: Vec<&'d [u8]>,
    /// Decoded size of all blocks, in bytes.
    pub(crate) bytes: usize,
}

impl<'d> Work<'d> {
    /// Cuts blocks from `data` and compresses each once, with the dictionary that `choice` gives
    /// it. `ids` are the dictionaries in `store`.
    ///
    /// # Errors
    /// A sentence, if the data is too short for a block or a block cannot be compressed.
    pub(crate) fn new(
        data: &'d Data,
        case: &Case,
        choice: Choice,
        (store, ids): (&Store, &[Id]),
        options: &ColdOptions,
    ) -> Result<Work<'d>, String> {
        let pieces = Pieces::new(&data.blocks, case.block, SEED as usize)
            .ok_or_else(|| format!("{}: it is shorter than two blocks", data.name))?;
        let contents: Vec<&[u8]> = (0..case.blocks(options.least)).map(|i| pieces.get(i)).collect();
        // The order of blocks is the same for every choice.
        let order = shuffled(contents.len(), &mut Random::stream(SEED, 2));
        let chosen = choice.dictionaries(contents.len(), ids.len(), &mut Random::stream(SEED, 3));
        let mut encoder = Encoder::new(store).level(options.level).map_err(|e| e.message)?;
        // An encoder keeps only a few dictionaries prepared, so blocks are compressed dictionary by
        // dictionary.
        let mut by_dictionary: Vec<usize> = (0..order.len()).collect();
        by_dictionary.sort_by_key(|&i| chosen[i]);
        let mut buffer = vec![0; Encoder::bound(case.block)];
        let mut packed = vec![Vec::new(); contents.len()];
        for i in by_dictionary {
            let id = chosen[i].map_or(Id::NONE, |at| ids[at as usize]);
            let content = order[i] as usize;
            let n = encoder.encode(id, contents[content], &mut buffer).map_err(|e| e.message)?;
            packed[content] = buffer[..n].to_vec();
        }
        let mut frames = Vec::with_capacity(packed.iter().map(Vec::len).sum());
        let mut starts = Vec::with_capacity(packed.len());
        for frame in &packed {
            starts.push(frames.len());
            frames.extend_from_slice(frame);
        }
        let request = |(&content, dictionary): (&u32, Option<u32>)| Request {
            dictionary,
            content,
            start: starts[content as usize],
            len: packed[content as usize].len(),
        };
        let requests = order.iter().zip(chosen).map(request).collect();
        let bytes = contents.len() * case.block;
        Ok(Work { requests, frames, contents, bytes })
    }

    pub(crate) fn len(&self) -> usize {
        self.requests.len()
    }

    /// Bytes of content for each compressed byte, not counting dictionaries.
    pub(crate) fn ratio(&self) -> f64 {
        self.bytes as f64 / self.frames.len().max(1) as f64
    }

    /// The compressed block of the request at index `i`.
    pub(crate) fn frame(&self, i: usize) -> &[u8] {
        let Request { start, len, .. } = self.requests[i];
        &self.frames[start..start + len]
    }

    /// The content of the block of the request at index `i`.
    pub(crate) fn content(&self, i: usize) -> &[u8] {
        self.contents[self.requests[i].content as usize]
    }

    /// The index of each request's dictionary, or `None` for a request without one.
    pub(crate) fn dictionaries(&self) -> impl Iterator<Item = Option<usize>> {
        self.requests.iter().map(|request| request.dictionary.map(|at| at as usize))
    }
}

impl Choice {
    /// Chooses the index of one of `count` dictionaries, or none, for each of `blocks` blocks.
    fn dictionaries(self, blocks: usize, count: usize, random: &mut Random) -> Vec<Option<u32>> {
        let runs = RUNS.min(count);
        let run = |i: usize| i * runs / blocks;
        match self {
            Choice::Nothing => vec![None; blocks],
            Choice::Hot => (0..blocks).map(|i| Some(run(i) as u32)).collect(),
            Choice::Two => (0..blocks).map(|i| Some(((run(i) + i % 2) % count) as u32)).collect(),
            Choice::Random => (0..blocks).map(|_| Some(random.below(count) as u32)).collect(),
            Choice::Cold => {
                let mut chosen = Vec::with_capacity(blocks + count);
                while chosen.len() < blocks {
                    chosen.extend(shuffled(count, random).into_iter().map(Some));
                }
                chosen.truncate(blocks);
                chosen
            }
        }
    }
}

/// The numbers below `n` in random order.
fn shuffled(n: usize, random: &mut Random) -> Vec<u32> {
    let mut all: Vec<u32> = (0..n as u32).collect();
    for i in (1..n).rev() {
        all.swap(i, random.below(i + 1));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(choice: Choice, blocks: usize, count: usize) -> Vec<u32> {
        let random = &mut Random::stream(1, 1);
        choice.dictionaries(blocks, count, random).into_iter().flatten().collect()
    }

    #[test]
    fn dictionaries_come_as_the_choice_says() {
        assert_eq!(chosen(Choice::Hot, 8, 2), [0, 0, 0, 0, 1, 1, 1, 1]);
        assert_eq!(chosen(Choice::Two, 8, 2), [0, 1, 0, 1, 1, 0, 1, 0]);
        assert_eq!(chosen(Choice::Two, 3, 1), [0, 0, 0]);
        assert!(chosen(Choice::Nothing, 8, 2).is_empty());
        let cold = chosen(Choice::Cold, 250, 100);
        for turn in cold.chunks(100) {
            let mut sorted = turn.to_vec();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), turn.len());
            assert_ne!(sorted, turn);
        }
        let random = chosen(Choice::Random, 1000, 100);
        assert!((1000 - 100..1000).contains(&random.windows(2).filter(|w| w[0] != w[1]).count()));
    }
}
