//! Batches of lookups and blocks. The memory of each block is prefetched while the previous one is
//! decoded.

use std::ops::Range;

use linerate_core::{Error, Kind, Result};

use super::blocks::Block;
use super::codec::CompressedBlock;
use super::compression::Compression;
use super::entry::Entry;
use super::handle::Handle;
use super::open::Sst;
use super::reader::{BlockPosition, Hit, Lookup, Reader, check, ensure_len, entry, look_up, stored_len};
use crate::coding::job::{Job, Order};
use crate::id::Id;
use crate::prefetch::prefetch;

const WRONG_LENGTH: Error =
    Error::new(Kind::Corrupt, 0, "the length of a block's content differs from its header");

/// The place of a block's content.
enum Piece<'s> {
    InFile(&'s [u8]),
    /// In `Reader::stored`.
    Stored(Range<usize>),
    /// In `Reader::content`.
    Decompressed(Range<usize>),
}

impl<'s> Piece<'s> {
    fn bytes<'a>(&self, stored: &'a [u8], content: &'a [u8]) -> &'a [u8]
    where
        's: 'a,
    {
        match self {
            Piece::InFile(bytes) => bytes,
            Piece::Stored(range) => &stored[range.clone()],
            Piece::Decompressed(range) => &content[range.clone()],
        }
    }
}

/// A block whose trailer was checked: ready, or still compressed.
enum Fetched<'a, 's> {
    Ready(Piece<'s>, Compression),
    CompressedBlock(CompressedBlock<'a>),
}

/// Result of the lookup of one key.
enum Found {
    /// In the block with this index.
    In(usize, Hit),
    /// In `Reader::extra`.
    Copied(Hit),
    Absent,
}

impl Reader {
    /// Decodes data blocks of any files. The results are in the order of `wanted`; damage to a
    /// block affects only its own result. The contents of all blocks are in memory at the same
    /// time.
    pub fn decode_blocks<'a>(
        &'a mut self,
        wanted: &[(&'a Sst, Handle)],
        order: Order,
    ) -> Vec<Result<Block<'a>>> {
        let pieces = self.decompress_all(wanted, order);
        let (stored, content) = (&self.stored, &self.content);
        let block = |(piece, &(_, handle)): (Result<(Piece<'a>, Compression)>, &(&Sst, Handle))| {
            let (piece, compression) = piece?;
            Ok(Block { handle, compression, content: piece.bytes(stored, content) })
        };
        pieces.into_iter().zip(wanted).map(block).collect()
    }

    /// Looks up keys in any files, like [`get`](Self::get), and decodes a block once for all its
    /// keys. The results are in the order of `wanted`; damage affects only the keys that need the
    /// damaged part.
    pub fn multi_get<'a>(&'a mut self, wanted: &[(&'a Sst, &'a [u8])]) -> Vec<Result<Option<Entry<'a>>>> {
        let located = self.locate_all(wanted);
        let (blocks, block_indexes) = distinct(wanted, &located);
        let pieces = self.decompress_all(&blocks, Order::AsGiven);
        let mut found: Vec<Result<Found>> = Vec::with_capacity(wanted.len());
        let mut in_next_block = Vec::new();
        for (i, ((sst, key), located)) in wanted.iter().zip(&located).enumerate() {
            found.push(match (located, &pieces.get(block_indexes[i])) {
                (Err(e), _) | (_, Some(Err(e))) => Err(*e),
                (Ok(Some((handle, _))), Some(Ok((piece, _)))) => {
                    let content = piece.bytes(&self.stored, &self.content);
                    match look_up(sst, content, key, u64::MAX, &mut self.key) {
                        Ok(Lookup::Hit(hit)) => Ok(Found::In(block_indexes[i], hit)),
                        Ok(Lookup::Absent) => Ok(Found::Absent),
                        Ok(Lookup::NextBlock) => {
                            in_next_block.push(i);
                            Ok(Found::Absent)
                        }
                        Err(e) => Err(e.shifted(handle.offset)),
                    }
                }
                _ => Ok(Found::Absent),
            });
        }
        self.extra.clear();
        self.search_next_blocks(wanted, located, &in_next_block, &mut found);
        let (stored, content, extra) = (&self.stored, &self.content, &self.extra);
        let answer = |(found, &(sst, key)): (Result<Found>, &(&'a Sst, &'a [u8]))| {
            let found = found?;
            let there = match &found {
                Found::In(block_index, hit) => match &pieces[*block_index] {
                    Ok((piece, _)) => Some((piece.bytes(stored, content), hit)),
                    Err(e) => return Err(*e),
                },
                Found::Copied(hit) => Some((&extra[..], hit)),
                Found::Absent => None,
            };
            Ok(entry(sst, key, u64::MAX, there))
        };
        found.into_iter().zip(wanted).map(answer).collect()
    }

    /// Searches the indexes for the blocks of all keys. Prefetches the index of the next file, and
    /// each block once it is known.
    fn locate_all(&mut self, wanted: &[(&Sst, &[u8])]) -> Vec<Result<Option<(Handle, BlockPosition)>>> {
        let mut all = Vec::with_capacity(wanted.len());
        for (i, &(sst, key)) in wanted.iter().enumerate() {
            if let Some(&(second, _)) = wanted.get(i + 2) {
                prefetch(second);
            }
            if let Some(&(next, _)) = wanted.get(i + 1)
                && !std::ptr::eq(next, sst)
            {
                next.prefetch_index();
            }
            let found = self.locate(sst, key, u64::MAX);
            if let Ok(Some((handle, _))) = found {
                sst.prefetch_block(handle);
            }
            all.push(found);
        }
        all
    }

    /// Looks up the keys that come after all keys of their block in the next blocks.
    fn search_next_blocks(
        &mut self,
        wanted: &[(&Sst, &[u8])],
        located: Vec<Result<Option<(Handle, BlockPosition)>>>,
        in_next_block: &[usize],
        found: &mut [Result<Found>],
    ) {
        if in_next_block.is_empty() {
            return;
        }
        let kept = (std::mem::take(&mut self.stored), std::mem::take(&mut self.content));
        for &i in in_next_block {
            let ((sst, key), Ok(Some((_, position)))) = (wanted[i], located[i]) else { continue };
            let after = self.find_after(sst, key, u64::MAX, position);
            found[i] = after.map(|after| {
                let Some((loaded, hit)) = after else { return Found::Absent };
                let start = self.extra.len();
                self.extra.extend_from_slice(&loaded.content(&self.content)[hit.value]);
                Found::Copied(Hit { value: start..self.extra.len(), ..hit })
            });
        }
        (self.stored, self.content) = kept;
    }

    /// Reads and decodes blocks. All zstd blocks are one batch.
    fn decompress_all<'s>(
        &mut self,
        wanted: &[(&'s Sst, Handle)],
        order: Order,
    ) -> Vec<Result<(Piece<'s>, Compression)>> {
        let ranges = self.read_all(wanted);
        let Reader { codec, stored, content, .. } = self;
        let mut total = 0;
        let fetched: Vec<_> = wanted
            .iter()
            .zip(ranges)
            .enumerate()
            .map(|(i, (&(sst, handle), range))| {
                if let Some(&(next, handle)) = wanted.get(i + 1) {
                    next.prefetch_block(handle);
                }
                let fetched = take(sst, handle, range?, stored)?;
                if let Fetched::CompressedBlock(compressed) = &fetched {
                    total += compressed.len;
                }
                Ok(fetched)
            })
            .collect();
        ensure_len(content, total);
        let mut results = Vec::with_capacity(wanted.len());
        let mut jobs = Vec::with_capacity(wanted.len());
        let (mut rest, mut start) = (&mut content[..], 0);
        for (&(sst, handle), fetched) in wanted.iter().zip(fetched) {
            results.push(fetched.and_then(|fetched| {
                let compressed = match fetched {
                    Fetched::Ready(piece, compression) => return Ok((piece, compression)),
                    Fetched::CompressedBlock(compressed) => compressed,
                };
                let (out, after) = std::mem::take(&mut rest).split_at_mut(compressed.len);
                rest = after;
                let range = start..start + compressed.len;
                start = range.end;
                if compressed.compression == Compression::Zstd {
                    let id = sst.dictionary().unwrap_or(Id::NONE);
                    jobs.push(Job::new(id, compressed.payload, out));
                } else {
                    let decompressed = codec.decompress(compressed, sst.dictionary.as_ref(), out);
                    decompressed.map_err(|e| e.shifted(handle.offset))?;
                }
                Ok((Piece::Decompressed(range), compressed.compression))
            }));
        }
        codec.decoder.decode_batch(&mut jobs, order);
        let mut jobs = jobs.iter();
        for (result, (_, handle)) in results.iter_mut().zip(wanted) {
            let Ok((_, Compression::Zstd)) = result else { continue };
            let Some(job) = jobs.next() else { break };
            match job.result {
                Ok(n) if n == job.dst.len() => {}
                Ok(_) => *result = Err(WRONG_LENGTH.shifted(handle.offset)),
                Err(e) => *result = Err(e.with_offset(handle.offset)),
            }
        }
        results
    }

    /// Reads the blocks of files that are not in memory into `stored`. Returns the range of each
    /// there.
    fn read_all(&mut self, wanted: &[(&Sst, Handle)]) -> Vec<Result<Range<usize>>> {
        self.stored.clear();
        let read = |&(sst, handle): &(&Sst, Handle)| {
            self.check_store(sst)?;
            let len = stored_len(sst, handle)?;
            let start = self.stored.len();
            if sst.input.view(handle.offset, len).is_none() {
                sst.input.append(handle.offset, len, &mut self.stored)?;
            }
            Ok(start..self.stored.len())
        };
        wanted.iter().map(read).collect()
    }
}

/// Checks the trailer of a block that is in memory, or was read to `range`.
fn take<'a, 's>(
    sst: &'s Sst,
    handle: Handle,
    range: Range<usize>,
    stored: &'a [u8],
) -> Result<Fetched<'a, 's>>
where
    's: 'a,
{
    let view = sst.input.view(handle.offset, stored_len(sst, handle)?);
    let bytes = view.unwrap_or(&stored[range.clone()]);
    let (body, compression) = check(sst, handle, bytes, sst.options.checksums)?;
    if compression == Compression::None {
        let piece = match view {
            Some(bytes) => Piece::InFile(&bytes[..body.len()]),
            None => Piece::Stored(range.start..range.start + body.len()),
        };
        return Ok(Fetched::Ready(piece, compression));
    }
    let compressed = CompressedBlock::parse(compression, body, sst.options.block_limit);
    compressed.map(Fetched::CompressedBlock).map_err(|e| e.shifted(handle.offset))
}

/// Returns the distinct blocks of all keys, grouped by file. Also returns the index of each key's
/// block (`usize::MAX` without one).
fn distinct<'a>(
    wanted: &[(&'a Sst, &[u8])],
    located: &[Result<Option<(Handle, BlockPosition)>>],
) -> (Vec<(&'a Sst, Handle)>, Vec<usize>) {
    let handle =
        |i: usize| located[i].as_ref().ok().and_then(|found| found.as_ref()).map(|(handle, _)| *handle);
    let mut order: Vec<usize> = (0..wanted.len()).filter(|&i| handle(i).is_some()).collect();
    order.sort_unstable_by_key(|&i| (std::ptr::from_ref(wanted[i].0), handle(i)));
    let mut blocks: Vec<(&Sst, Handle)> = Vec::with_capacity(order.len());
    let mut block_indexes = vec![usize::MAX; wanted.len()];
    for i in order {
        let Some(handle) = handle(i) else { continue };
        let sst = wanted[i].0;
        if blocks.last().is_none_or(|&(last, before)| !std::ptr::eq(last, sst) || before != handle) {
            blocks.push((sst, handle));
        }
        block_indexes[i] = blocks.len() - 1;
    }
    (blocks, block_indexes)
}
