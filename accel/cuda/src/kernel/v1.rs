//! Decodes and encodes version 1: chunks of HDF5 filter 32025.

use std::sync::Arc;

use linerate_rice::{Filter, Params};

use super::{Place, aligned, count};
use crate::layout::{Chunk1, Params1, SEGMENT1, SUBSEQUENCES, TILE1, decode_tiles, encode_tiles};
use crate::sys::{Kernel, Module, Stream, argument};
use crate::workspace::{Plan, Workspace};
use crate::{Codec, DecodeJob, EncodeJob, Error, Result};

/// A batch is decoded in tiles only if a segment of it has at least this many samples. Many threads
/// then share a segment, and find by speculation where codes begin. On an H200, with segments of
/// 7000 samples, tiles are 7 times as fast as one thread per segment for 500 segments, and 2.7
/// times as fast for 2000.
const LONG_SEGMENT: usize = 2048;
/// A batch of at least this many segments is decoded without tiles, one thread for each segment.
/// The number is a power of two near the 20,000 segments from which this is as fast as tiles on an
/// H200.
const MANY_SEGMENTS: usize = 16_384;

/// The kernels of version 1.
#[derive(Debug)]
pub(crate) struct Kernels {
    index: Kernel,
    decode: Kernel,
    sync: Kernel,
    chain: Kernel,
    decode_tiles: Kernel,
    measure: Kernel,
    offsets: Kernel,
    pack: Kernel,
    /// Keeps the kernels loaded.
    _module: Arc<Module>,
}

impl Kernels {
    /// Finds the kernels in `module`.
    pub(crate) fn find(module: &Arc<Module>) -> Result<Kernels> {
        Ok(Kernels {
            index: module.kernel("rice1_index")?,
            decode: module.kernel("rice1_decode")?,
            sync: module.kernel("rice1_sync")?,
            chain: module.kernel("rice1_chain")?,
            decode_tiles: module.kernel("rice1_decode_tiles")?,
            measure: module.kernel("rice1_measure")?,
            offsets: module.kernel("rice1_offsets")?,
            pack: module.kernel("rice1_pack")?,
            _module: Arc::clone(module),
        })
    }
}

impl Codec {
    /// Queues the decoding of version 1 chunks (HDF5 filter 32025) to 16-bit samples.
    ///
    /// * `params`: the parameters of all chunks.
    /// * `jobs`: one chunk each, of any length, with the capacity of its output in samples.
    /// * `stream`: the stream on which the work is queued, after earlier work.
    /// * `workspace`: holds the scratch of this call, and then its outcomes, the number of samples
    ///   of each chunk. The call first waits until the last call on the workspace is done.
    ///
    /// # Safety
    /// The device addresses of `jobs` are valid in the codec's context for as many bytes as the
    /// jobs state. Outputs overlap nothing else, and nobody else touches this memory until `stream`
    /// has done the work.
    ///
    /// # Errors
    /// * [`Error::BadArgument`] for unaligned addresses, for a capacity of 2^32 samples or more,
    ///   for a batch of 2^32 segments or more, and for a stream and a workspace of different
    ///   devices. Nothing was queued.
    /// * [`Error::OutOfMemory`] if the workspace cannot grow. Nothing was queued.
    /// * Other errors of the driver. A part of the work may have been queued: wait for the stream
    ///   before you use the memory of the jobs.
    ///
    /// Damage is no error of the call but an [outcome](Workspace::outcomes) of its chunk. The outcome
    /// of a chunk of about 16 GiB or more is an error of kind [`Limit`](linerate_core::Kind::Limit).
    pub unsafe fn decode(
        &self,
        params: &Params,
        jobs: &[DecodeJob<'_>],
        stream: &Stream,
        workspace: &mut Workspace,
    ) -> Result<()> {
        workspace.drop_outcomes();
        let kernels = self.v1()?;
        let mut plan = Plan::default();
        let chunks_at = plan.stage(jobs.len() * size_of::<Chunk1>())?;
        let mut chunks = Vec::with_capacity(jobs.len());
        let mut places = Vec::with_capacity(jobs.len());
        let (mut segments, mut tiles) = (0, 0);
        for job in jobs {
            let slots = job.capacity.div_ceil(segment_of(params, job.capacity));
            let tiles_here = decode_tiles(job.chunk.len(), slots);
            places.push(Place::of(&job.chunk, 4, &mut plan)?);
            chunks.push(Chunk1 {
                bytes: job.chunk.len() as u64,
                samples: aligned(job.samples, 2)?,
                sample_count: samples(job.capacity)?,
                first_segment: count(segments)?,
                segments: count(slots)?,
                first_tile: count(tiles)?,
                tiles: count(tiles_here)?,
                ..Chunk1::default()
            });
            segments += slots;
            tiles += tiles_here;
        }
        let tiled = is_tiled(params, jobs, segments);
        if !tiled {
            tiles = 0;
            chunks.iter_mut().for_each(|chunk| (chunk.first_tile, chunk.tiles) = (0, 0));
        }
        let (segment_count, tile_count) = (count(segments)?, count(tiles)?);
        let results_at = plan.results(jobs.len())?;
        let segments_at = plan.reserve(segments * SEGMENT1)?;
        let owners_at = plan.reserve(4 * tiles)?;
        let tiles_at = plan.reserve(TILE1 * tiles)?;
        let subsequences_at = plan.reserve(4 * SUBSEQUENCES * tiles)?;

        let mut call = workspace.begin(&plan, stream)?;
        for ((chunk, place), job) in chunks.iter_mut().zip(&places).zip(jobs) {
            chunk.data = place.fill(&job.chunk, &mut call);
        }
        call.put(chunks_at, &chunks);
        let (chunk_count, params) = (count(jobs.len())?, kernel_params(params));
        let (chunks, segments, results) =
            (call.address(chunks_at), call.address(segments_at), call.address(results_at));
        let owners = if tiled { call.address(owners_at) } else { 0 };
        let (tiles, subsequences) = (call.address(tiles_at), call.address(subsequences_at));
        let (chunks, segments, results) = (argument(&chunks), argument(&segments), argument(&results));
        let (owners, params) = (argument(&owners), argument(&params));
        let (tiles, subsequences) = (argument(&tiles), argument(&subsequences));
        call.run(|stream| {
            // SAFETY: grids and arguments are those of kernels.h. The workspace keeps descriptors
            // and scratch until the stream is done. The caller guarantees the rest.
            unsafe {
                let index = [chunks, argument(&chunk_count), params, segments, owners, results];
                kernels.index.launch(stream, chunk_count, 512, &index)?;
                if tiled {
                    let sync = [chunks, segments, owners, params, tiles, subsequences];
                    kernels.sync.launch(stream, tile_count, 256, &sync)?;
                    let chain = [chunks, segments, params, tiles, subsequences];
                    kernels.chain.launch(stream, segment_count, 32, &chain)?;
                    let decode = [chunks, segments, owners, params, tiles, subsequences, results];
                    kernels.decode_tiles.launch(stream, tile_count, 256, &decode)
                } else {
                    let decode = [chunks, segments, argument(&segment_count), params, results];
                    kernels.decode.launch(stream, segment_count.div_ceil(32), 32, &decode)
                }
            }
        })
    }

    /// Queues the encoding of 16-bit samples as version 1 chunks. The output has the bytes that
    /// [`linerate_rice::encode`] returns, and the outcomes are sizes in bytes.
    ///
    /// # Safety
    /// As for [`Codec::decode`].
    ///
    /// # Errors
    /// As for [`Codec::decode`], where the number of samples takes the place of the capacity.
    /// [`Error::BadArgument`] also for parameters that lose data (m = 1, or a filter whose first
    /// coefficient is not 1 or -1) and for an odd number of bytes.
    pub unsafe fn encode(
        &self,
        params: &Params,
        jobs: &[EncodeJob<'_>],
        stream: &Stream,
        workspace: &mut Workspace,
    ) -> Result<()> {
        workspace.drop_outcomes();
        let kernels = self.v1()?;
        if params.m() == 1 || !params.filter().is_lossless() {
            return Err(Error::BadArgument(
                "with these parameters data would be lost: m = 1, or a filter whose first coefficient is not 1 or -1",
            ));
        }
        let mut plan = Plan::default();
        let chunks_at = plan.stage(jobs.len() * size_of::<Chunk1>())?;
        let mut chunks = Vec::with_capacity(jobs.len());
        let mut places = Vec::with_capacity(jobs.len());
        let (mut segments, mut tiles) = (0, 0);
        for job in jobs {
            if job.samples.len() % 2 != 0 {
                return Err(Error::BadArgument("samples of 16 bits with an odd number of bytes"));
            }
            let n = job.samples.len() / 2;
            let segment = segment_of(params, n);
            let (slots, tiles_here) = (n.div_ceil(segment), encode_tiles(n, segment));
            places.push(Place::of(&job.samples, 2, &mut plan)?);
            chunks.push(Chunk1 {
                data: aligned(job.chunk, 4)?,
                bytes: job.capacity as u64,
                sample_count: samples(n)?,
                first_segment: count(segments)?,
                segments: count(slots)?,
                first_tile: count(tiles)?,
                tiles: count(tiles_here)?,
                ..Chunk1::default()
            });
            segments += slots;
            tiles += tiles_here;
        }
        let results_at = plan.results(jobs.len())?;
        let bits_at = plan.reserve(8 * tiles)?;
        let starts_at = plan.reserve(8 * tiles)?;
        let (chunk_count, tile_count) = (count(jobs.len())?, count(tiles)?);

        let mut call = workspace.begin(&plan, stream)?;
        for ((chunk, place), job) in chunks.iter_mut().zip(&places).zip(jobs) {
            chunk.samples = place.fill(&job.samples, &mut call);
        }
        call.put(chunks_at, &chunks);
        let params = kernel_params(params);
        let (chunks, results) = (call.address(chunks_at), call.address(results_at));
        let (bits, starts) = (call.address(bits_at), call.address(starts_at));
        let (chunks, results, params) = (argument(&chunks), argument(&results), argument(&params));
        let (bits, starts) = (argument(&bits), argument(&starts));
        call.run(|stream| {
            let (chunk_arg, tile_arg) = (argument(&chunk_count), argument(&tile_count));
            let blocks = tile_count.div_ceil(4);
            // SAFETY: as for decoding.
            unsafe {
                kernels.measure.launch(stream, blocks, 128, &[chunks, chunk_arg, tile_arg, params, bits])?;
                let offsets = [chunks, chunk_arg, params, bits, starts, results];
                kernels.offsets.launch(stream, chunk_count, 256, &offsets)?;
                let pack = [chunks, chunk_arg, tile_arg, params, bits, starts, results];
                kernels.pack.launch(stream, blocks, 128, &pack)
            }
        })
    }
}

fn samples(n: usize) -> Result<u32> {
    u32::try_from(n).map_err(|_| Error::BadArgument("a chunk of version 1 has less than 2^32 samples"))
}

/// Returns the samples per segment in a chunk of `samples` samples, at least 1.
fn segment_of(params: &Params, samples: usize) -> usize {
    params.segment().map_or(samples, |n| samples.min(n.get() as usize)).max(1)
}

/// Whether a batch is decoded in tiles: its segments are few and some are long, so that one thread
/// per segment would use too few threads, and tiles can undo the filter.
fn is_tiled(params: &Params, jobs: &[DecodeJob<'_>], segments: usize) -> bool {
    let longest = jobs.iter().map(|job| segment_of(params, job.capacity)).max().unwrap_or(0);
    let filter = *params.filter();
    let is_simple = filter == Filter::DELTA || filter == Filter::IDENTITY;
    is_simple && longest >= LONG_SEGMENT && segments < MANY_SEGMENTS
}

fn kernel_params(params: &Params) -> Params1 {
    let taps = params.filter().taps();
    let mut all = [0; 32];
    all[..taps.len()].copy_from_slice(taps);
    Params1 {
        k: params.m().trailing_zeros(),
        segment: params.segment().map_or(0, |n| n.get()),
        tap_count: taps.len() as u32,
        taps: all,
    }
}
