//! [`Reader`]: looks up values, singly and in batches.

use std::collections::HashMap;
use std::ops::Range;

use linerate_core::{Error, Kind, Result};

use super::block::{Block, Cursor};
use super::file::BlockFile;
use super::layout::BlockEntry;
use crate::coding::decoder::Decoder;
use crate::coding::job::{Job, Order};
use crate::files::input::frame_error;
use crate::store::Store;

/// Maximum number of bytes of content of a batch, unless a single block is larger.
const BATCH: usize = 4 << 20;

/// Reads block files. Each thread needs one, of about 290 KiB beside buffers for the largest block
/// or batch so far. A batch has at most 4 MiB of content, or one block.
pub struct Reader {
    decoder: Decoder,
    pub(super) cursor: Cursor,
    pub(super) leaf: Vec<u8>,
    stored: Vec<u8>,
    content: Vec<u8>,
    /// The block whose content is in `content`: the number of its file, and its offset there.
    pub(super) cached: Option<(u64, u64)>,
}

/// A block of a batch.
struct BatchBlock {
    /// Index of the first request for the block.
    request: usize,
    entry: BlockEntry,
    /// Range of the compressed block in the reader's `stored`; empty if the file is in memory,
    /// where the block is decoded from its place in the file.
    stored: Range<usize>,
    /// Range of the block's content in the reader's `content`.
    content: Range<usize>,
}

const OTHER_STORE: Error = Error::new(Kind::BadArgument, 0, "the reader and the file have different stores");

impl Reader {
    /// Creates a reader for files with this store.
    pub fn new(store: &Store) -> Self {
        Reader {
            decoder: Decoder::new(store),
            cursor: Cursor::default(),
            leaf: Vec::new(),
            stored: Vec::new(),
            content: Vec::new(),
            cached: None,
        }
    }

    pub(super) fn check_store(&self, file: &BlockFile) -> Result<()> {
        let same = std::ptr::eq(self.decoder.store().shared(), file.inner().store.shared());
        if same { Ok(()) } else { Err(OTHER_STORE) }
    }

    /// Implements [`BlockFile::get`].
    pub(super) fn get(&mut self, file: &BlockFile, key: &[u8]) -> Result<Option<&[u8]>> {
        self.check_store(file)?;
        let Some(entry) = file.inner().find(key, &mut self.cursor, &mut self.leaf)? else { return Ok(None) };
        self.load(file, &entry)?;
        let block = Block::new(&self.content)?;
        let found = block.floor(key, &mut self.cursor)?.filter(|found| found.exact);
        Ok(found.map(|found| &block.records()[found.value]))
    }

    /// Decodes and checks a block, unless it is the last decoded one.
    pub(super) fn load(&mut self, file: &BlockFile, entry: &BlockEntry) -> Result<&[u8]> {
        let open = file.inner();
        let wanted = Some((open.number, entry.extent.at));
        if self.cached == wanted && self.content.len() == entry.content as usize {
            return Ok(&self.content);
        }
        self.cached = None;
        let stored = open.input.bytes(entry.extent.at, entry.extent.len as usize, &mut self.stored)?;
        self.content.resize(entry.content as usize, 0);
        let len = self.decoder.decode(open.id, stored, &mut self.content);
        let len = len.map_err(|e| frame_error(e, entry.extent.at))?;
        open.check(entry, &self.content[..len])?;
        self.cached = wanted;
        Ok(&self.content)
    }

    /// Returns the content that [`load`](Self::load) returned last.
    pub(super) fn content(&self) -> &[u8] {
        &self.content
    }

    /// Looks up many keys, each in its file, and calls `answer` with the index and value of each
    /// request, in their order. Blocks are decoded in batches, each once per batch. Errors are
    /// those of [`BlockFile::get`], and affect only the requests that need the damaged part.
    ///
    #[cfg_attr(feature = "train", doc = "```")]
    #[cfg_attr(not(feature = "train"), doc = "```ignore")]
    /// # use linerate_dict::blocks::{BlockFile, Builder, BlockFileOptions};
    /// # use linerate_dict::{Input, Store};
    /// # let store = Store::new();
    /// # let open = |value: &[u8]| {
    /// #     let mut builder = Builder::in_memory(BlockFileOptions::new())?;
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
        self.cached = None;
        let mut first = 0;
        while first < requests.len() {
            first += self.one_batch(&requests[first..], first, &mut answer);
        }
    }

    /// Answers as many requests as fit into a batch, at least one, and returns their number.
    fn one_batch(
        &mut self,
        requests: &[(&BlockFile, &[u8])],
        first: usize,
        answer: &mut impl FnMut(usize, Result<Option<&[u8]>>),
    ) -> usize {
        let mut wanted: Vec<BatchBlock> = Vec::new();
        let mut known: HashMap<(u64, u64), usize> = HashMap::new();
        // The block of each request, if any.
        let mut block_indexes: Vec<Result<Option<usize>>> = Vec::new();
        let mut end = 0;
        self.stored.clear();
        for (i, &(file, key)) in requests.iter().enumerate() {
            let entry = self
                .check_store(file)
                .and_then(|()| file.inner().find(key, &mut self.cursor, &mut self.leaf));
            let entry = match entry {
                Ok(Some(entry)) => entry,
                Ok(None) => {
                    block_indexes.push(Ok(None));
                    continue;
                }
                Err(error) => {
                    block_indexes.push(Err(error));
                    continue;
                }
            };
            let name = (file.inner().number, entry.extent.at);
            if let Some(&index) = known.get(&name) {
                block_indexes.push(Ok(Some(index)));
                continue;
            }
            if i > 0 && end + entry.content as usize > BATCH {
                break;
            }
            let begin = self.stored.len();
            let fetched = self.fetch(file, &entry);
            if fetched.is_ok() {
                known.insert(name, wanted.len());
                let content = end..end + entry.content as usize;
                end = content.end;
                wanted.push(BatchBlock { request: i, entry, stored: begin..self.stored.len(), content });
            }
            block_indexes.push(fetched.map(|()| Some(wanted.len() - 1)));
        }
        let results = self.decode(requests, &wanted, end);
        for (i, need) in block_indexes.iter().enumerate() {
            let value = need.and_then(|need| {
                let Some(index) = need else { return Ok(None) };
                results[index]?;
                let block = Block::new(&self.content[wanted[index].content.clone()])?;
                let found = block.floor(requests[i].1, &mut self.cursor)?.filter(|found| found.exact);
                Ok(found.map(|found| &block.records()[found.value]))
            });
            answer(first + i, value);
        }
        block_indexes.len()
    }

    /// Appends a block that is not in memory to the stored blocks of the batch.
    fn fetch(&mut self, file: &BlockFile, entry: &BlockEntry) -> Result<()> {
        let input = &file.inner().input;
        if input.is_in_memory() {
            return Ok(());
        }
        input.append(entry.extent.at, entry.extent.len as usize, &mut self.stored)
    }

    /// Decodes the blocks of a batch into `content`, `len` bytes in total.
    fn decode(
        &mut self,
        requests: &[(&BlockFile, &[u8])],
        wanted: &[BatchBlock],
        len: usize,
    ) -> Vec<Result<()>> {
        self.content.resize(len, 0);
        let mut rest = &mut self.content[..];
        let mut jobs = Vec::with_capacity(wanted.len());
        for block in wanted {
            let (dst, after) = rest.split_at_mut(block.content.len());
            rest = after;
            let open = requests[block.request].0.inner();
            let extent = block.entry.extent;
            let stored = match open.input.view(extent.at, extent.len as usize) {
                Some(stored) => stored,
                None => &self.stored[block.stored.clone()],
            };
            jobs.push(Job::new(open.id, stored, dst));
        }
        self.decoder.decode_batch(&mut jobs, Order::Any);
        let check = |(job, block): (&Job<'_>, &BatchBlock)| {
            let len = job.result.map_err(|e| frame_error(e, block.entry.extent.at))?;
            requests[block.request].0.inner().check(&block.entry, &job.dst[..len])
        };
        jobs.iter().zip(wanted).map(check).collect()
    }
}
