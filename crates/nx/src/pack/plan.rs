//! Assigns files to blocks, before anything is encoded.
//!
//! The plan depends on paths, contents, options and existing archives alone, not on threads or the
//! order in which files were added.
//! Large files and reused blocks come first, in the order of paths. Then come files left over from
//! blocks that lost other files. Last come solid blocks, in the order of coding, extension, falling
//! size and path, except that similar files share a block. Empty files have no block.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use linerate_core::Kind;

use super::content::{Content, Item, mismatch};
use super::dedup::{Duplicates, Piece, find_duplicates, hash_range};
use super::error::{PackError, PackResult};
use super::existing::ExistingEntry;
use super::options::{Coding, PackOptions, extension};
use super::progress::Stage;
use super::{similarity, textures};
use crate::filter::Texture;
use crate::format::hash::HashKind;

/// Maximum number of places at which a large file is looked for among the blocks placed so far:
/// runs of consecutive blocks that begin with the file's first chunk. A copy beyond them is not
/// found, and the file is stored again.
const MAX_RUNS_TRIED: usize = 64;

/// Maximum number of chunks of all large files together, which bounds the memory of their list. It
/// is 16 times the number of blocks that the format holds, since duplicates take no block.
const MAX_CHUNKS: u64 = 1 << 22;

/// The content of a block.
pub(super) enum Block {
    /// Whole files, one after the other.
    Solid { files: Vec<usize>, len: usize, coding: Coding },
    /// One chunk of a file, which may be a texture.
    Chunk { file: usize, number: u64, len: usize, coding: Coding, texture: Option<Texture> },
    /// A block of an existing archive. `archive` is the number of the archive in the builder;
    /// `file` is one of the files in the block.
    Reused { archive: usize, block: usize, file: usize },
    /// An empty block: an archive with files has at least one block.
    Empty,
}

/// The start of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) block: usize,
    pub(super) offset: u32,
}

impl Block {
    /// Returns a file in the block, for messages.
    pub(super) fn file(&self) -> Option<usize> {
        match self {
            Block::Solid { files, .. } => files.first().copied(),
            Block::Chunk { file, .. } | Block::Reused { file, .. } => Some(*file),
            Block::Empty => None,
        }
    }
}

pub(super) struct Plan {
    pub(super) blocks: Vec<Block>,
    /// The place of each item.
    pub(super) places: Vec<Place>,
    /// The hash of each item, if known. It is known for all items without a block of their own.
    pub(super) hashes: Vec<Option<u64>>,
    /// For each item, the item whose place it shares. This is the item itself if it is encoded,
    /// reused, empty or in `runs`.
    pub(super) same: Vec<usize>,
    /// Items that equal a run of chunks of other items, in ascending order. They have no block of
    /// their own.
    pub(super) runs: Vec<usize>,
}

impl Plan {
    /// Lays out `items`, which are sorted by path.
    pub(super) fn new(items: &[Item], options: &PackOptions) -> PackResult<Plan> {
        let plan = Plan {
            blocks: Vec::new(),
            places: vec![Place::default(); items.len()],
            hashes: items.iter().map(stored_hash).collect(),
            same: (0..items.len()).collect(),
            runs: Vec::new(),
        };
        let mut planner = Planner { items, options, plan };
        planner.find_equal_files()?;
        planner.place_large_and_reused()?;
        planner.place_left_over();
        planner.place_solid()?;
        planner.share_places()?;
        if planner.plan.blocks.is_empty() && !items.is_empty() {
            planner.plan.blocks.push(Block::Empty);
        }
        Ok(planner.plan)
    }
}

struct Planner<'a> {
    items: &'a [Item],
    options: &'a PackOptions,
    plan: Plan,
}

impl Planner<'_> {
    fn is_solid(&self, item: usize) -> bool {
        is_solid(&self.items[item], self.options)
    }

    /// Whether the item gets a place of its own: it is neither empty nor a duplicate.
    fn is_placed(&self, item: usize) -> bool {
        self.items[item].size > 0 && self.plan.same[item] == item
    }

    fn find_duplicates(&self, pieces: &[Piece]) -> PackResult<Duplicates> {
        if !pieces.is_empty() {
            self.options.cancel.begin(Stage::Comparing);
        }
        find_duplicates(self.items, pieces, self.options.chunk as usize, &self.options.workers())
    }

    fn find_equal_files(&mut self) -> PackResult<()> {
        for (solid, wanted) in [(true, self.options.dedup_solid), (false, self.options.dedup_chunked)] {
            if !wanted {
                continue;
            }
            let of_kind = |&i: &usize| self.items[i].size > 0 && self.is_solid(i) == solid;
            let mut files: Vec<usize> = (0..self.items.len()).filter(of_kind).collect();
            // Reused files come first, so that no new file makes an equal reused one be encoded
            // again.
            files.sort_by_key(|&i| reused(&self.items[i]).is_none());
            let piece = |&item: &usize| {
                let (len, hash) = (self.items[item].size, self.plan.hashes[item]);
                Piece { item, offset: 0, len, hash }
            };
            let found = self.find_duplicates(&files.iter().map(piece).collect::<Vec<_>>())?;
            for (i, &file) in files.iter().enumerate() {
                self.plan.same[file] = files[found.first[i]];
                self.plan.hashes[file] = found.hash[i];
            }
        }
        self.fill_copied_blocks();
        Ok(())
    }

    /// Gives duplicates their own places again if their solid block is copied anyway for other
    /// files. Other programs rely on every byte of a block belonging to a file.
    fn fill_copied_blocks(&mut self) {
        let block_of = |i: usize| {
            let existing = reused(&self.items[i]).filter(|_| self.items[i].size <= self.options.chunk)?;
            Some((existing.number, existing.archive.place(existing.entry).0))
        };
        let own = (0..self.items.len()).filter(|&i| self.is_placed(i));
        let copied: HashSet<(usize, usize)> = own.filter_map(block_of).collect();
        for i in (0..self.items.len()).filter(|&i| self.items[i].size > 0) {
            if block_of(i).is_some_and(|block| copied.contains(&block)) {
                self.plan.same[i] = i;
            }
        }
    }

    fn place_large_and_reused(&mut self) -> PackResult<()> {
        let mut units = Units::new(self.items, self.options, |i| self.is_placed(i));
        let mut chunks = self.chunks()?;
        for i in 0..self.items.len() {
            if !self.is_placed(i) {
                continue;
            }
            if let Some(existing) = reused(&self.items[i]) {
                let offset = existing.archive.place(existing.entry).1;
                let block = units.place(existing, i, &mut self.plan.blocks);
                self.plan.places[i] = Place { block, offset };
            } else if !self.is_solid(i) {
                self.place_chunks(i, &mut chunks)?;
            }
        }
        Ok(())
    }

    /// Returns the chunks of the large files that are not reused, and which of them are equal.
    fn chunks(&self) -> PackResult<Chunks> {
        let mut chunks = Chunks::default();
        let mut pieces = Vec::new();
        for (i, item) in self.items.iter().enumerate() {
            if self.is_placed(i) && !self.is_solid(i) && reused(item).is_none() {
                let count = item.size.div_ceil(self.options.chunk).saturating_add(pieces.len() as u64);
                if count > MAX_CHUNKS {
                    let error = PackError::rule(Kind::Limit, "the files have more than 2^22 chunks");
                    return Err(error.at(item.name.as_str()));
                }
                chunks.start.insert(i, pieces.len());
                pieces.extend(pieces_of(i, item.size, self.options.chunk));
            }
        }
        chunks.first = match self.options.dedup_chunked {
            true => self.find_duplicates(&pieces)?.first,
            false => Vec::new(),
        };
        Ok(chunks)
    }

    fn place_chunks(&mut self, file: usize, chunks: &mut Chunks) -> PackResult<()> {
        let item = &self.items[file];
        let count = item.size.div_ceil(self.options.chunk) as usize;
        let wanted = chunks.contents_of(file, count).to_vec();
        if let Some(block) = chunks.find(&wanted) {
            self.plan.places[file] = Place { block, offset: 0 };
            self.plan.runs.push(file);
            return Ok(());
        }
        let coding = coding_of(item, self.options);
        let texture = textures::of_file(item, self.options)?;
        self.plan.places[file] = Place { block: self.plan.blocks.len(), offset: 0 };
        for (number, piece) in pieces_of(file, item.size, self.options.chunk).enumerate() {
            if let Some(&class) = wanted.get(number) {
                chunks.put(class, self.plan.blocks.len());
            }
            let (number, len) = (number as u64, piece.len as usize);
            self.plan.blocks.push(Block::Chunk { file, number, len, coding, texture });
        }
        Ok(())
    }

    /// Packs files left over from blocks that lost other files, in the order of coding, then of
    /// those blocks. Each old block is then decoded once, and its files stay together.
    fn place_left_over(&mut self) {
        let wanted = |&i: &usize| self.is_placed(i) && self.is_solid(i);
        let mut files: Vec<_> = (0..self.items.len())
            .filter(wanted)
            .filter_map(|i| {
                let existing = left_over(&self.items[i])?;
                let coding = coding_of(&self.items[i], self.options);
                Some((coding, existing.number, existing.archive.place(existing.entry), i))
            })
            .collect();
        files.sort_unstable();
        for same_coding in files.chunk_by(|a, b| a.0 == b.0) {
            let order: Vec<usize> = same_coding.iter().map(|file| file.3).collect();
            for block in in_order(self.items, &order, self.options.solid_limit) {
                self.place_block(same_coding[0].0, block);
            }
        }
    }

    fn place_solid(&mut self) -> PackResult<()> {
        let is_new = |item: &Item| reused(item).is_none() && left_over(item).is_none();
        let wanted = |&i: &usize| self.is_placed(i) && self.is_solid(i) && is_new(&self.items[i]);
        let mut files: Vec<(Coding, String, Reverse<u64>, usize)> = (0..self.items.len())
            .filter(wanted)
            .map(|i| {
                let item = &self.items[i];
                (coding_of(item, self.options), extension(&item.name).to_lowercase(), Reverse(item.size), i)
            })
            .collect();
        files.sort_unstable();
        for same_coding in files.chunk_by(|a, b| a.0 == b.0) {
            let (coding, order) = (same_coding[0].0, same_coding.iter().map(|file| file.3).collect());
            self.divide(coding, order)?.into_iter().for_each(|block| self.place_block(coding, block));
        }
        Ok(())
    }

    /// Divides files of one coding into blocks.
    fn divide(&self, coding: Coding, order: Vec<usize>) -> PackResult<Vec<Vec<usize>>> {
        let (items, limit) = (self.items, self.options.solid_limit);
        if order.iter().map(|&file| items[file].size).sum::<u64>() <= limit {
            return Ok(vec![order]);
        }
        match self.options.group_similar && coding != Coding::Copy {
            true => similarity::blocks(items, &order, limit, &self.options.workers()),
            false => Ok(in_order(items, &order, limit)),
        }
    }

    fn place_block(&mut self, coding: Coding, files: Vec<usize>) {
        let mut len = 0;
        for &file in &files {
            self.plan.places[file] = Place { block: self.plan.blocks.len(), offset: len as u32 };
            len += self.items[file].size as usize;
        }
        self.plan.blocks.push(Block::Solid { files, len, coding });
    }

    /// Gives each duplicate the place of the file that is packed, and hashes the items that are
    /// runs of chunks.
    fn share_places(&mut self) -> PackResult<()> {
        let (items, runs) = (self.items, &self.plan.runs);
        let hashes = self.options.workers().map(runs.len(), Vec::new, |buffer, i| {
            let item = &items[runs[i]];
            hash_range(item, 0, item.size, self.options.chunk as usize, buffer)
        })?;
        for (&file, hash) in self.plan.runs.iter().zip(hashes) {
            if self.plan.hashes[file].is_some_and(|known| known != hash) {
                return Err(mismatch(&items[file]));
            }
            self.plan.hashes[file] = Some(hash);
        }
        for i in 0..items.len() {
            self.plan.places[i] = self.plan.places[self.plan.same[i]];
        }
        Ok(())
    }
}

/// Fills blocks in order: a file that does not fit starts the next block.
fn in_order(items: &[Item], order: &[usize], limit: u64) -> Vec<Vec<usize>> {
    let (mut blocks, mut len) = (vec![Vec::new()], 0);
    for &file in order {
        if len + items[file].size > limit {
            blocks.push(Vec::new());
            len = 0;
        }
        len += items[file].size;
        blocks.last_mut().expect("at least one").push(file);
    }
    blocks
}

/// Whether the file goes into a solid block.
fn is_solid(item: &Item, options: &PackOptions) -> bool {
    item.size <= options.solid_limit && !item.file_options.alone
}

/// Returns the coding of the blocks of the file.
pub(super) fn coding_of(item: &Item, options: &PackOptions) -> Coding {
    let by_name = || options.coding_of(&item.name, is_solid(item, options));
    item.file_options.coding.unwrap_or_else(by_name)
}

/// Returns the existing entry of the item, if its blocks are reused.
pub(super) fn reused(item: &Item) -> Option<&ExistingEntry> {
    match &item.content {
        Content::Existing(existing) if existing.reused => Some(existing),
        _ => None,
    }
}

/// Returns the existing entry of the item, if it is left over from a block that lost other files.
pub(super) fn left_over(item: &Item) -> Option<&ExistingEntry> {
    match &item.content {
        Content::Existing(existing) if existing.is_left_over => Some(existing),
        _ => None,
    }
}

/// Returns the hash, if it is known before anything is read.
fn stored_hash(item: &Item) -> Option<u64> {
    match &item.content {
        _ if item.size == 0 => Some(HashKind::Xxh3.hash_bytes(&[])),
        Content::Existing(existing) => existing.hash,
        _ => None,
    }
}

fn pieces_of(item: usize, size: u64, chunk: u64) -> impl Iterator<Item = Piece> {
    (0..size.div_ceil(chunk)).map(move |number| {
        let offset = number * chunk;
        Piece { item, offset, len: chunk.min(size - offset), hash: None }
    })
}

/// The chunks of large files: which of them are equal, and their blocks.
#[derive(Default)]
struct Chunks {
    /// The start of each file's chunks in `first`.
    start: HashMap<usize, usize>,
    /// For each chunk, the first chunk with the same bytes; its number identifies the content.
    /// Empty without deduplication.
    first: Vec<usize>,
    /// The blocks of each content, in order.
    blocks: HashMap<usize, Vec<usize>>,
    /// The content of each block.
    contents: HashMap<usize, usize>,
}

impl Chunks {
    /// Returns the contents of a file's chunks; none without deduplication.
    fn contents_of(&self, file: usize, count: usize) -> &[usize] {
        let start = self.start.get(&file).copied().unwrap_or(0);
        self.first.get(start..start + count).unwrap_or(&[])
    }

    fn put(&mut self, content: usize, block: usize) {
        self.blocks.entry(content).or_default().push(block);
        self.contents.insert(block, content);
    }

    /// Finds consecutive blocks with these contents and returns the first of them.
    fn find(&self, wanted: &[usize]) -> Option<usize> {
        let begins = self.blocks.get(wanted.first()?)?;
        let matches = |&&block: &&usize| {
            wanted.iter().enumerate().all(|(i, content)| self.contents.get(&(block + i)) == Some(content))
        };
        begins.iter().take(MAX_RUNS_TRIED).find(matches).copied()
    }
}

/// Runs of blocks of existing archives that must stay contiguous, because files span them.
struct Units {
    /// The units of each archive, sorted.
    of_archive: HashMap<usize, Vec<Unit>>,
}

struct Unit {
    first: usize,
    /// The block after the last.
    end: usize,
    /// The number of the first block in the new archive, once it is placed.
    placed: Option<usize>,
}

impl Units {
    fn new(items: &[Item], options: &PackOptions, is_placed: impl Fn(usize) -> bool) -> Units {
        let mut spans: HashMap<usize, Vec<(usize, usize)>> = HashMap::new();
        for (i, item) in items.iter().enumerate() {
            if let Some(existing) = reused(item).filter(|_| is_placed(i)) {
                let first = existing.archive.place(existing.entry).0;
                let end = first + item.size.div_ceil(options.chunk) as usize;
                spans.entry(existing.number).or_default().push((first, end));
            }
        }
        Units { of_archive: spans.into_iter().map(|(archive, spans)| (archive, joined(spans))).collect() }
    }

    /// Returns the first block of an entry in the new archive; `file` is its item. Appends the
    /// entry's unit to `blocks` if it is not placed yet.
    fn place(&mut self, existing: &ExistingEntry, file: usize, blocks: &mut Vec<Block>) -> usize {
        let first = existing.archive.place(existing.entry).0;
        let units = self.of_archive.entry(existing.number).or_default();
        let at = units.partition_point(|unit| unit.end <= first);
        let unit = &mut units[at];
        let placed = *unit.placed.get_or_insert_with(|| {
            let start = blocks.len();
            let archive = existing.number;
            blocks.extend((unit.first..unit.end).map(|block| Block::Reused { archive, block, file }));
            start
        });
        placed + (first - unit.first)
    }
}

/// Joins overlapping spans.
fn joined(mut spans: Vec<(usize, usize)>) -> Vec<Unit> {
    spans.sort_unstable();
    let mut units: Vec<Unit> = Vec::new();
    for (first, end) in spans {
        match units.last_mut() {
            Some(unit) if first < unit.end => unit.end = unit.end.max(end),
            _ => units.push(Unit { first, end, placed: None }),
        }
    }
    units
}
