//! Trains zstd dictionaries for blocks of small files, one for each extension where that pays.
//!
//! Only R3A has dictionaries, and an R3A archive is converted from an Nx archive, so the input is
//! Nx blocks. For each extension, a dictionary is trained from the blocks in which files with this
//! extension have the most bytes, and tried on some of them. If the dictionary saves more than it
//! takes, those of the blocks that shrink with it are encoded with it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};

use linerate_core::Kind;
use linerate_io::{FileSource, ReadAt};
use zstd_safe::{CCtx, CParameter, ParamSwitch};

use super::error::{PackError, PackResult};
use super::options::{Coding, PackOptions, Zstd, extension};
use super::workers::Workers;
use crate::format::header::PAGE;
use crate::format::toc::Codec;
use crate::r3a::{Dictionaries, MAX_DICTIONARIES, Recoded};
use crate::read::archive::Archive;
use crate::read::block_reader::BlockReader;

/// Largest block that gets a dictionary, in bytes. Larger blocks save less than a dictionary takes.
const MAX_BLOCK: u64 = 256 << 10;
/// Dictionary sizes in bytes, tried in order until one saves less than the best before.
const SIZES: [usize; 4] = [220 << 10, 110 << 10, 32 << 10, 8 << 10];
/// Approximate bytes of training samples.
const TRAINING_BYTES: u64 = 16 << 20;
/// Maximum number of blocks of a group on which a dictionary is tried.
const TRIAL_BLOCKS: usize = 24;
/// Number of encoded blocks held in memory at once.
const BATCH: usize = 64;
/// zstd level at which the dictionaries in the header are compressed.
const HEADER_LEVEL: i32 = 16;
/// Length of a zstd frame's magic number in bytes. Blocks of the archive format R3A are frames
/// without it.
const MAGIC: usize = 4;

/// Blocks that may share a dictionary, because files of the same extension and coding have the most
/// bytes in each. Also has their zstd parameters.
struct Group {
    zstd: Zstd,
    blocks: Vec<usize>,
}

/// Returns the coding of the blocks of the file at a path.
pub(super) type CodingOf<'a> = dyn Fn(&str) -> Coding + 'a;

/// Encodes blocks that shrink with dictionaries to the temporary file `data`. `None` if no
/// dictionary pays.
pub(super) fn recode<S: ReadAt>(
    archive: &Archive<S>,
    options: &PackOptions,
    coding_of: &CodingOf<'_>,
    data: File,
) -> PackResult<Option<Recoded>> {
    let files = files_of_blocks(archive);
    let mut out = Out { file: BufWriter::new(data.try_clone().map_err(PackError::writing)?), offset: 0 };
    let mut dictionaries = Dictionaries { of_block: vec![None; files.len()], ..Dictionaries::default() };
    let mut blocks = vec![None; files.len()];
    for group in groups(archive, coding_of, &files) {
        let number = dictionaries.dictionaries.len();
        let work = Work { archive, group: &group, files: &files, workers: options.workers() };
        if number == MAX_DICTIONARIES {
            break;
        }
        let Some(dictionary) = work.best_dictionary()? else { continue };
        let Some(coded) = work.encode_all(&dictionary, &mut out)? else { continue };
        for (block, place) in coded {
            // There are at most 254 dictionaries.
            dictionaries.of_block[block] = Some(number as u8);
            blocks[block] = Some(place);
        }
        dictionaries.dictionaries.push(dictionary);
    }
    out.file.flush().map_err(PackError::writing)?;
    if dictionaries.dictionaries.is_empty() {
        return Ok(None);
    }
    Ok(Some(Recoded { dictionaries, blocks, data: FileSource::new(data).map_err(PackError::reading)? }))
}

/// For each block, returns its files that are no larger than a chunk, by offset, one at each
/// offset.
fn files_of_blocks<S: ReadAt>(archive: &Archive<S>) -> Vec<Vec<usize>> {
    let entries = &archive.toc().entries;
    let chunk = archive.header().chunk.bytes();
    let mut files = vec![Vec::new(); archive.layout().len()];
    for (i, entry) in entries.iter().enumerate().filter(|(_, entry)| (1..=chunk).contains(&entry.size)) {
        files[entry.first_block as usize].push(i);
    }
    for files in &mut files {
        files.sort_by_key(|&i| (entries[i].block_offset, i));
        // Keeps one of several files at the same offset.
        files.dedup_by_key(|i| entries[*i].block_offset);
    }
    files
}

/// Groups the blocks that a dictionary may help, which are zstd frames of at most [`MAX_BLOCK`]
/// bytes of content, by extension and coding: those of the files with most of a block's bytes.
fn groups<S: ReadAt>(archive: &Archive<S>, coding_of: &CodingOf<'_>, files: &[Vec<usize>]) -> Vec<Group> {
    let (toc, layout) = (archive.toc(), archive.layout());
    let mut groups: BTreeMap<(String, Zstd), Group> = BTreeMap::new();
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
        if let Coding::Zstd(zstd) = coding_of(path) {
            groups.entry((name, zstd)).or_insert(Group { zstd, blocks: Vec::new() }).blocks.push(block);
        }
    }
    groups.into_values().collect()
}

/// A [`Group`] of blocks, together with everything needed to read its blocks and to encode them.
struct Work<'a, S> {
    archive: &'a Archive<S>,
    group: &'a Group,
    files: &'a [Vec<usize>],
    workers: Workers,
}

impl<S: ReadAt> Work<'_, S> {
    /// Returns the dictionary that saves most on trial blocks, if one saves more than it takes.
    fn best_dictionary(&self) -> PackResult<Option<Vec<u8>>> {
        let blocks = &self.group.blocks;
        let tried: Vec<usize> = spread(blocks, TRIAL_BLOCKS).collect();
        let (samples, sizes) = self.samples()?;
        let plain = self.compressed_size(&tried, &[])?;
        let mut best = (0, None);
        for size in SIZES {
            let mut dictionary = Vec::with_capacity(size);
            // Training fails if there are too few samples.
            if zstd_safe::train_from_buffer(&mut dictionary, &samples, &sizes).is_err() {
                continue;
            }
            let saved = plain.saturating_sub(self.compressed_size(&tried, &dictionary)?);
            let saved = saved * blocks.len() as u64 / tried.len() as u64;
            let savings = saved.saturating_sub(size_in_header(&dictionary)?);
            if savings < best.0 {
                break;
            }
            if savings > 0 {
                best = (savings, Some(dictionary));
            }
        }
        Ok(best.1)
    }

    /// Returns the concatenated files of blocks spread over the group, and their lengths.
    fn samples(&self) -> PackResult<(Vec<u8>, Vec<usize>)> {
        let blocks = &self.group.blocks;
        let content = |block: usize| self.archive.layout().content(block);
        let total: u64 = blocks.iter().map(|&block| content(block)).sum();
        let wanted = (blocks.len() as u64 * TRAINING_BYTES / total.max(1)).max(1);
        let (mut samples, mut sizes) = (Vec::new(), Vec::new());
        let mut coder = Recoder::new(self, &[])?;
        for block in spread(blocks, wanted as usize) {
            let content = coder.content(block)?;
            for &file in &self.files[block] {
                let entry = &self.archive.toc().entries[file];
                let start = entry.block_offset as usize;
                // `Layout::new` has checked that the file is within the block.
                samples.extend_from_slice(&content[start..start + entry.size as usize]);
                sizes.push(entry.size as usize);
            }
        }
        Ok((samples, sizes))
    }

    /// Returns the total compressed size of blocks with a dictionary.
    fn compressed_size(&self, blocks: &[usize], dictionary: &[u8]) -> PackResult<u64> {
        let coded = self.encode_each(blocks, dictionary, |coded| coded.len() as u64)?;
        Ok(coded.into_iter().sum())
    }

    /// Encodes blocks in parallel and returns `keep` of each result.
    fn encode_each<T: Send>(
        &self,
        blocks: &[usize],
        dictionary: &[u8],
        keep: impl Fn(&[u8]) -> T + Sync,
    ) -> PackResult<Vec<T>> {
        self.workers.map(
            blocks.len(),
            || None,
            |coder: &mut Option<Recoder<'_, S>>, i| {
                let coder = match coder {
                    Some(coder) => coder,
                    None => coder.insert(Recoder::new(self, dictionary)?),
                };
                coder.encode(blocks[i]).map(&keep)
            },
        )
    }

    /// Encodes the blocks that shrink with the dictionary to `out`, and returns their ranges there.
    /// Returns `None` and rewinds `out` if they save no more than the dictionary takes. Savings
    /// count in whole pages, since blocks begin at pages.
    fn encode_all(&self, dictionary: &[u8], out: &mut Out) -> PackResult<Option<Vec<(usize, Range)>>> {
        let (start, mut saved, mut ranges) = (out.offset, 0, Vec::new());
        for batch in self.group.blocks.chunks(BATCH) {
            let coded = self.encode_each(batch, dictionary, <[u8]>::to_vec)?;
            for (&block, coded) in batch.iter().zip(coded) {
                let plain = u64::from(self.archive.toc().blocks[block].compressed) - MAGIC as u64;
                let len = coded.len() as u64;
                if len < plain {
                    saved += plain.next_multiple_of(PAGE) - len.next_multiple_of(PAGE);
                    ranges.push((block, (out.offset, coded.len() as u32)));
                    out.file.write_all(&coded).map_err(PackError::writing)?;
                    out.offset += len;
                }
            }
        }
        if saved > size_in_header(dictionary)? {
            return Ok(Some(ranges));
        }
        out.rewind(start)?;
        Ok(None)
    }
}

/// Returns at most `wanted` of the blocks, evenly spread.
fn spread(blocks: &[usize], wanted: usize) -> impl Iterator<Item = usize> {
    blocks.iter().copied().step_by(blocks.len().div_ceil(wanted).max(1))
}

/// Returns the compressed size of a dictionary in the header.
fn size_in_header(dictionary: &[u8]) -> PackResult<u64> {
    let mut coded = Vec::with_capacity(zstd_safe::compress_bound(dictionary.len()));
    zstd_safe::compress(&mut coded, dictionary, HEADER_LEVEL).map_err(zstd_error)?;
    Ok(coded.len() as u64)
}

/// Offset and length of a block in the temporary file, in bytes.
type Range = (u64, u32);

struct Out {
    file: BufWriter<File>,
    offset: u64,
}

impl Out {
    fn rewind(&mut self, to: u64) -> PackResult<()> {
        self.file.seek(SeekFrom::Start(to)).map_err(PackError::writing)?;
        self.offset = to;
        Ok(())
    }
}

/// Decodes blocks and encodes them again. Each thread has one.
struct Recoder<'a, S> {
    archive: &'a Archive<S>,
    reader: BlockReader<'a, S>,
    zstd: CCtx<'static>,
    content: Vec<u8>,
    coded: Vec<u8>,
}

impl<'a, S: ReadAt> Recoder<'a, S> {
    fn new(work: &Work<'a, S>, dictionary: &[u8]) -> PackResult<Recoder<'a, S>> {
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
            zstd.set_parameter(parameter).map_err(zstd_error)?;
        }
        if !dictionary.is_empty() {
            zstd.load_dictionary(dictionary).map_err(zstd_error)?;
        }
        let reader = BlockReader::new(work.archive)?;
        Ok(Recoder { archive: work.archive, reader, zstd, content: Vec::new(), coded: Vec::new() })
    }

    fn content(&mut self, block: usize) -> PackResult<&[u8]> {
        self.content.resize(self.archive.layout().content(block) as usize, 0);
        self.reader.decode(block, &mut self.content, block)?;
        Ok(&self.content)
    }

    /// Encodes a block as a frame without its magic number.
    fn encode(&mut self, block: usize) -> PackResult<&[u8]> {
        self.content(block)?;
        self.coded.clear();
        self.coded.reserve(zstd_safe::compress_bound(self.content.len()));
        self.zstd.compress2(&mut self.coded, &self.content).map_err(zstd_error)?;
        Ok(&self.coded[MAGIC..])
    }
}

fn zstd_error(code: usize) -> PackError {
    PackError::rule(Kind::Limit, zstd_safe::get_error_name(code))
}
