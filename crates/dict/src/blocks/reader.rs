//! Lookup of values, single and in batches.

use std::collections::HashMap;
use std::ops::Range;

use linerate_core::{Error, Kind, Result};

use super::block::{Block, Walk};
use super::file::BlockFile;
use super::layout::Place;
use crate::input::frame_error;
use crate::{Decoder, Job, Order, Store};

/// Maximum content of a batch, unless a single block is larger.
const BATCH: usize = 4 << 20;

/// Reads block files. Needs one per thread, of about 400 KiB, and the content of one block, or of a batch of
/// at most 4 MiB.
pub struct Reader {
    decoder: Decoder,
    pub(super) walk: Walk,
    pub(super) leaf: Vec<u8>,
    stored: Vec<u8>,
    content: Vec<u8>,
    /// The file and offset of the block in `content`.
    holds: Option<(u64, u64)>,
}

/// A block of a batch.
struct Wanted {
    /// The first request for it.
    request: usize,
    place: Place,
    /// Its range in `stored`, if it is not in memory.
    stored: Range<usize>,
    /// Its range in `content`.
    content: Range<usize>,
}

const OTHER_STORE: Error = Error::new(Kind::BadArgument, 0, "the reader and the file have different stores");

impl Reader {
    /// Creates a reader for files with this store.
    pub fn new(store: &Store) -> Self {
        Reader {
            decoder: Decoder::new(store),
            walk: Walk::default(),
            leaf: Vec::new(),
            stored: Vec::new(),
            content: Vec::new(),
            holds: None,
        }
    }

    /// Counters of its decoder.
    pub fn counters(&self) -> crate::Counters {
        self.decoder.counters()
    }

    pub(super) fn is_for(&self, file: &BlockFile) -> Result<()> {
        let same = std::ptr::eq(self.decoder.store().shared(), file.parts().store.shared());
        if same { Ok(()) } else { Err(OTHER_STORE) }
    }

    /// See [`BlockFile::get`].
    pub(super) fn get(&mut self, file: &BlockFile, key: &[u8]) -> Result<Option<&[u8]>> {
        self.is_for(file)?;
        let Some(place) = file.parts().find(key, &mut self.walk, &mut self.leaf)? else { return Ok(None) };
        self.load(file, &place)?;
        let block = Block::new(&self.content)?;
        let found = block.floor(key, &mut self.walk)?.filter(|found| found.exact);
        Ok(found.map(|found| &block.records()[found.value]))
    }

    /// Decodes a block, unless it is the one decoded last.
    pub(super) fn load(&mut self, file: &BlockFile, place: &Place) -> Result<&[u8]> {
        let open = file.parts();
        let wanted = Some((open.number, place.piece.at));
        if self.holds == wanted && self.content.len() == place.content as usize {
            return Ok(&self.content);
        }
        self.holds = None;
        let stored = open.input.bytes(place.piece.at, place.piece.len as usize, &mut self.stored)?;
        self.content.resize(place.content as usize, 0);
        let len = self.decoder.decode(open.id, stored, &mut self.content);
        let len = len.map_err(|e| frame_error(e, place.piece.at))?;
        open.check(place, &self.content[..len])?;
        self.holds = wanted;
        Ok(&self.content)
    }

    /// The block returned last by [`load`](Self::load).
    pub(super) fn content(&self) -> &[u8] {
        &self.content
    }

    /// Looks up many keys, each in its file, and calls `answer` with the index and value of each request, in
    /// their order. Blocks are decoded in batches, each once per batch. Errors are those of
    /// [`BlockFile::get`], and affect only the requests for that block.
    ///
    /// ```
    /// # use linerate_dict::blocks::{BlockFile, Builder, Options};
    /// # use linerate_dict::{Input, Store};
    /// # let store = Store::new();
    /// # let open = |value: &[u8]| {
    /// #     let mut builder = Builder::in_memory(Options::new())?;
    /// #     builder.add(b"key", value)?;
    /// #     BlockFile::open_input(Input::memory(builder.into_bytes()?), &store)
    /// # };
    /// let (a, b) = (open(b"in a")?, open(b"in b")?);
    /// let mut found = Vec::new();
    /// a.reader().multi_get(&[(&a, b"key"), (&b, b"key"), (&b, b"no key")], |_, value| {
    ///     found.push(value.unwrap().map(<[u8]>::to_vec));
    /// });
    /// assert_eq!(found, [Some(b"in a".to_vec()), Some(b"in b".to_vec()), None]);
    /// # Ok::<(), linerate_dict::Error>(())
    /// ```
    pub fn multi_get(
        &mut self,
        requests: &[(&BlockFile, &[u8])],
        mut answer: impl FnMut(usize, Result<Option<&[u8]>>),
    ) {
        self.holds = None;
        let mut first = 0;
        while first < requests.len() {
            first += self.one_batch(&requests[first..], first, &mut answer);
        }
    }

    /// Answers as many requests as fit into a batch, at least one, and returns how many.
    fn one_batch(
        &mut self,
        requests: &[(&BlockFile, &[u8])],
        first: usize,
        answer: &mut impl FnMut(usize, Result<Option<&[u8]>>),
    ) -> usize {
        let mut wanted: Vec<Wanted> = Vec::new();
        let mut known: HashMap<(u64, u64), usize> = HashMap::new();
        // The block of each request, if any.
        let mut needs: Vec<Result<Option<usize>>> = Vec::new();
        let mut end = 0;
        self.stored.clear();
        for (i, &(file, key)) in requests.iter().enumerate() {
            let place =
                self.is_for(file).and_then(|()| file.parts().find(key, &mut self.walk, &mut self.leaf));
            let place = match place {
                Ok(Some(place)) => place,
                Ok(None) => {
                    needs.push(Ok(None));
                    continue;
                }
                Err(error) => {
                    needs.push(Err(error));
                    continue;
                }
            };
            let name = (file.parts().number, place.piece.at);
            if let Some(&index) = known.get(&name) {
                needs.push(Ok(Some(index)));
                continue;
            }
            if i > 0 && end + place.content as usize > BATCH {
                break;
            }
            let begin = self.stored.len();
            let fetched = self.fetch(file, &place);
            if fetched.is_ok() {
                known.insert(name, wanted.len());
                let content = end..end + place.content as usize;
                end = content.end;
                wanted.push(Wanted { request: i, place, stored: begin..self.stored.len(), content });
            }
            needs.push(fetched.map(|()| Some(wanted.len() - 1)));
        }
        let results = self.decode(requests, &wanted, end);
        for (i, need) in needs.iter().enumerate() {
            let value = need.and_then(|need| {
                let Some(index) = need else { return Ok(None) };
                results[index]?;
                let block = Block::new(&self.content[wanted[index].content.clone()])?;
                let found = block.floor(requests[i].1, &mut self.walk)?.filter(|found| found.exact);
                Ok(found.map(|found| &block.records()[found.value]))
            });
            answer(first + i, value);
        }
        needs.len()
    }

    /// Appends a block that is not in memory to the stored blocks of the batch.
    fn fetch(&mut self, file: &BlockFile, place: &Place) -> Result<()> {
        let input = &file.parts().input;
        if input.is_in_memory() {
            return Ok(());
        }
        input.append(place.piece.at, place.piece.len as usize, &mut self.stored)
    }

    /// Decodes the blocks of a batch into `content`, `len` bytes in total.
    fn decode(&mut self, requests: &[(&BlockFile, &[u8])], wanted: &[Wanted], len: usize) -> Vec<Result<()>> {
        self.content.resize(len, 0);
        let mut rest = &mut self.content[..];
        let mut jobs = Vec::with_capacity(wanted.len());
        for block in wanted {
            let (dst, after) = rest.split_at_mut(block.content.len());
            rest = after;
            let open = requests[block.request].0.parts();
            let piece = block.place.piece;
            let stored = match open.input.view(piece.at, piece.len as usize) {
                Some(stored) => stored,
                None => &self.stored[block.stored.clone()],
            };
            jobs.push(Job::new(open.id, stored, dst));
        }
        self.decoder.decode_batch(&mut jobs, Order::Any);
        let check = |(job, block): (&Job<'_>, &Wanted)| {
            let len = job.result.map_err(|e| frame_error(e, block.place.piece.at))?;
            requests[block.request].0.parts().check(&block.place, &job.dst[..len])
        };
        jobs.iter().zip(wanted).map(check).collect()
    }
}
