//! zstd dictionaries for blocks of small files: one for each extension that gains by it.
//!
//! Only R3A has them, and that is made from an Nx archive, so this begins with its blocks: it trains
//! a dictionary from the files of an extension, tries it on some of their blocks, and codes all of
//! them with it if what they save is more than the dictionary takes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};

use linerate_core::Kind;
use zstd_safe::{CCtx, CParameter, ParamSwitch};

use super::error::{PackError, PackResult};
use super::options::{Coding, Options, Zstd, extension};
use super::thread_pool::ThreadPool;
use crate::archive::Archive;
use crate::block::BlockReader;
use crate::header::PAGE;
use crate::r3a::{Dictionaries, MAX_DICTIONARIES, Recoded};
use crate::toc::Codec;
use crate::{FileSource, ReadAt};

/// Larger blocks gain less than a dictionary takes.
const MAX_BLOCK: u64 = 256 << 10;
/// Sizes of dictionaries that are tried, in bytes, until one gains less than the last.
const SIZES: [usize; 4] = [220 << 10, 110 << 10, 32 << 10, 8 << 10];
/// Bytes of files that a dictionary is trained from, about.
const TRAINED_FROM: u64 = 16 << 20;
/// Blocks that a dictionary is tried on.
const TRIED: usize = 24;
/// Blocks that are in memory at once.
const BATCH: usize = 64;
/// The level that dictionaries are coded at in the header.
const HEADER_LEVEL: i32 = 16;
/// In front of a frame, and left out.
const MAGIC: usize = 4;

/// Blocks whose bytes are mostly of files of one extension, and how they are coded.
struct Group {
    zstd: Zstd,
    blocks: Vec<usize>,
}

/// The blocks of the archive that are smaller with dictionaries, in `room`. `None` if no dictionary pays.
pub(super) fn recode<S: ReadAt>(
    archive: &Archive<S>,
    options: &Options,
    room: File,
) -> PackResult<Option<Recoded>> {
    let files = files_of_blocks(archive);
    let mut out = Out { file: BufWriter::new(room.try_clone().map_err(PackError::writing)?), at: 0 };
    let mut dictionaries = Dictionaries { of_block: vec![None; files.len()], ..Dictionaries::default() };
    let mut blocks = vec![None; files.len()];
    for group in groups(archive, options, &files) {
        let number = dictionaries.dictionaries.len();
        let work = Work { archive, group: &group, files: &files, pool: options.thread_pool() };
        if number == MAX_DICTIONARIES {
            break;
        }
        let Some(dictionary) = work.best_dictionary()? else { continue };
        let Some(coded) = work.code_all(&dictionary, &mut out)? else { continue };
        for (block, place) in coded {
            // Below 255.
            dictionaries.of_block[block] = Some(number as u8);
            blocks[block] = Some(place);
        }
        dictionaries.dictionaries.push(dictionary);
    }
    out.file.flush().map_err(PackError::writing)?;
    if dictionaries.dictionaries.is_empty() {
        return Ok(None);
    }
    Ok(Some(Recoded { dictionaries, blocks, data: FileSource::new(room).map_err(PackError::reading)? }))
}

/// Of each block, the numbers of the files in it that are no longer than a chunk, in their order there.
fn files_of_blocks<S: ReadAt>(archive: &Archive<S>) -> Vec<Vec<usize>> {
    let entries = &archive.toc().entries;
    let chunk = archive.header().chunk.bytes();
    let mut files = vec![Vec::new(); archive.layout().len()];
    for (i, entry) in entries.iter().enumerate().filter(|(_, entry)| (1..=chunk).contains(&entry.size)) {
        files[entry.first_block as usize].push(i);
    }
    for files in &mut files {
        files.sort_by_key(|&i| (entries[i].block_offset, i));
        // Of files that share a place, one.
        files.dedup_by_key(|i| entries[*i].block_offset);
    }
    files
}

/// Blocks by the extension of most of their bytes, as far as a dictionary may help them.
fn groups<S: ReadAt>(archive: &Archive<S>, options: &Options, files: &[Vec<usize>]) -> Vec<Group> {
    let (toc, layout) = (archive.toc(), archive.layout());
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for (block, files) in files.iter().enumerate() {
        if toc.blocks[block].codec != Codec::Zstd || layout.content(block) > MAX_BLOCK {
            continue;
        }
        let mut sizes: BTreeMap<String, (u64, &str)> = BTreeMap::new();
        for &file in files {
            let path = archive.get(file).map_or("", |file| file.path());
            sizes.entry(extension(path).to_lowercase()).or_insert((0, path)).0 += toc.entries[file].size;
        }
        let Some((name, (_, path))) = sizes.into_iter().max_by_key(|(_, (size, _))| *size) else { continue };
        if let Coding::Zstd(zstd) = options.coding_of(path, true) {
            groups.entry(name).or_insert(Group { zstd, blocks: Vec::new() }).blocks.push(block);
        }
    }
    groups.into_values().collect()
}

/// One group, and what is needed to read and code it.
struct Work<'a, S> {
    archive: &'a Archive<S>,
    group: &'a Group,
    files: &'a [Vec<usize>],
    pool: ThreadPool,
}

impl<S: ReadAt> Work<'_, S> {
    /// The dictionary that saves most on a part of the blocks, if any saves more than it takes.
    fn best_dictionary(&self) -> PackResult<Option<Vec<u8>>> {
        let blocks = &self.group.blocks;
        let tried: Vec<usize> = spread(blocks, TRIED).collect();
        let (samples, sizes) = self.samples()?;
        let plain = self.lengths(&tried, &[])?;
        let mut best = (0, None);
        for size in SIZES {
            let mut dictionary = Vec::with_capacity(size);
            // What is too little to train from needs none.
            if zstd_safe::train_from_buffer(&mut dictionary, &samples, &sizes).is_err() {
                continue;
            }
            let saved = plain.saturating_sub(self.lengths(&tried, &dictionary)?);
            let saved = saved * blocks.len() as u64 / tried.len() as u64;
            let gain = saved.saturating_sub(in_header(&dictionary)?);
            if gain < best.0 {
                break;
            }
            if gain > 0 {
                best = (gain, Some(dictionary));
            }
        }
        Ok(best.1)
    }

    /// Files of blocks from all over the group, one after the other, and their lengths.
    fn samples(&self) -> PackResult<(Vec<u8>, Vec<usize>)> {
        let blocks = &self.group.blocks;
        let content = |block: usize| self.archive.layout().content(block);
        let total: u64 = blocks.iter().map(|&block| content(block)).sum();
        let wanted = (blocks.len() as u64 * TRAINED_FROM / total.max(1)).max(1);
        let (mut samples, mut sizes) = (Vec::new(), Vec::new());
        let mut coder = Coder::new(self, &[])?;
        for block in spread(blocks, wanted as usize) {
            let content = coder.content(block)?;
            for &file in &self.files[block] {
                let entry = &self.archive.toc().entries[file];
                let start = entry.block_offset as usize;
                // The layout has shown that the block holds it.
                samples.extend_from_slice(&content[start..start + entry.size as usize]);
                sizes.push(entry.size as usize);
            }
        }
        Ok((samples, sizes))
    }

    /// The bytes of these blocks, coded with that dictionary.
    fn lengths(&self, blocks: &[usize], dictionary: &[u8]) -> PackResult<u64> {
        let coded = self.coded(blocks, dictionary, |coded| coded.len() as u64)?;
        Ok(coded.into_iter().sum())
    }

    fn coded<T: Send>(
        &self,
        blocks: &[usize],
        dictionary: &[u8],
        keep: impl Fn(&[u8]) -> T + Sync,
    ) -> PackResult<Vec<T>> {
        self.pool.map(
            blocks.len(),
            || None,
            |coder: &mut Option<Coder<'_, S>>, i| {
                let coder = match coder {
                    Some(coder) => coder,
                    None => coder.insert(Coder::new(self, dictionary)?),
                };
                coder.code(blocks[i]).map(&keep)
            },
        )
    }

    /// Codes all blocks, and gives those that become smaller with their places in `out`. `None`, and
    /// nothing written, if in whole pages they do not save what the dictionary takes.
    fn code_all(&self, dictionary: &[u8], out: &mut Out) -> PackResult<Option<Vec<(usize, Range)>>> {
        let (start, mut saved, mut places) = (out.at, 0, Vec::new());
        for batch in self.group.blocks.chunks(BATCH) {
            let coded = self.coded(batch, dictionary, <[u8]>::to_vec)?;
            for (&block, coded) in batch.iter().zip(coded) {
                let plain = u64::from(self.archive.toc().blocks[block].compressed) - MAGIC as u64;
                let len = coded.len() as u64;
                if len < plain {
                    saved += plain.next_multiple_of(PAGE) - len.next_multiple_of(PAGE);
                    places.push((block, (out.at, coded.len() as u32)));
                    out.file.write_all(&coded).map_err(PackError::writing)?;
                    out.at += len;
                }
            }
        }
        if saved > in_header(dictionary)? {
            return Ok(Some(places));
        }
        out.rewind(start)?;
        Ok(None)
    }
}

/// About so many of them, evenly spread.
fn spread(blocks: &[usize], wanted: usize) -> impl Iterator<Item = usize> {
    blocks.iter().copied().step_by(blocks.len().div_ceil(wanted).max(1))
}

/// What a dictionary takes in the header.
fn in_header(dictionary: &[u8]) -> PackResult<u64> {
    let mut coded = Vec::with_capacity(zstd_safe::compress_bound(dictionary.len()));
    zstd_safe::compress(&mut coded, dictionary, HEADER_LEVEL).map_err(refused)?;
    Ok(coded.len() as u64)
}

/// Where a block is, and its length.
type Range = (u64, u32);

struct Out {
    file: BufWriter<File>,
    at: u64,
}

impl Out {
    fn rewind(&mut self, to: u64) -> PackResult<()> {
        self.file.seek(SeekFrom::Start(to)).map_err(PackError::writing)?;
        self.at = to;
        Ok(())
    }
}

/// Decodes blocks and codes them anew. Memory of one thread.
struct Coder<'a, S> {
    archive: &'a Archive<S>,
    reader: BlockReader<'a, S>,
    zstd: CCtx<'static>,
    content: Vec<u8>,
    coded: Vec<u8>,
}

impl<'a, S: ReadAt> Coder<'a, S> {
    fn new(work: &Work<'a, S>, dictionary: &[u8]) -> PackResult<Coder<'a, S>> {
        let no_memory = PackError::rule(Kind::Limit, "no memory for zstd");
        let mut zstd = CCtx::try_create().ok_or(no_memory)?;
        let Zstd { level, min_match, literals, .. } = work.group.zstd;
        let literals = if literals { ParamSwitch::Auto } else { ParamSwitch::Disable };
        for parameter in [
            CParameter::CompressionLevel(level),
            CParameter::MinMatch(min_match),
            CParameter::LiteralCompressionMode(literals),
            CParameter::ContentSizeFlag(false),
            CParameter::ChecksumFlag(false),
            CParameter::DictIdFlag(false),
        ] {
            zstd.set_parameter(parameter).map_err(refused)?;
        }
        if !dictionary.is_empty() {
            zstd.load_dictionary(dictionary).map_err(refused)?;
        }
        let reader = BlockReader::new(work.archive)?;
        Ok(Coder { archive: work.archive, reader, zstd, content: Vec::new(), coded: Vec::new() })
    }

    fn content(&mut self, block: usize) -> PackResult<&[u8]> {
        self.content.resize(self.archive.layout().content(block) as usize, 0);
        self.reader.whole(block, &mut self.content, block)?;
        Ok(&self.content)
    }

    /// The block's frame without its magic number.
    fn code(&mut self, block: usize) -> PackResult<&[u8]> {
        self.content(block)?;
        self.coded.clear();
        self.coded.reserve(zstd_safe::compress_bound(self.content.len()));
        self.zstd.compress2(&mut self.coded, &self.content).map_err(refused)?;
        Ok(&self.coded[MAGIC..])
    }
}

fn refused(code: usize) -> PackError {
    PackError::rule(Kind::Limit, zstd_safe::get_error_name(code))
}
