//! Decodes and encodes version 2 streams.

use std::sync::Arc;

use linerate_rice::v2::{self, ElementType, StreamOptions};

use super::{Place, aligned, count};
use crate::layout::{NO_SHAPE, PLAN2, SEGMENT2, Stream2};
use crate::sys::{Kernel, Module, Stream, argument};
use crate::workspace::{Plan, Workspace};
use crate::{Codec, DecodeJob, EncodeJob, Error, Input, Result};

/// Thread blocks per multiprocessor that choose predictors. The segments of a batch are divided
/// evenly among all of these blocks.
const PLANNERS: usize = 4;

/// The kernels that decode version 2. An array has the forms of a kernel for samples of 16 and of
/// 32 bits.
#[derive(Debug)]
pub(crate) struct DecodeKernels {
    index: Kernel,
    decode: [Kernel; 2],
    linear: [Kernel; 2],
    channels: [Kernel; 2],
    verify: Kernel,
    /// Keeps the kernels loaded.
    _module: Arc<Module>,
}

/// The kernels that encode version 2, in arrays as in [`DecodeKernels`].
#[derive(Debug)]
pub(crate) struct EncodeKernels {
    plan: [Kernel; 2],
    offsets: Kernel,
    pack: [Kernel; 2],
    planners: usize,
    /// Keeps the kernels loaded.
    _module: Arc<Module>,
}

/// Finds the forms of kernel `name` for samples of 16 and of 32 bits.
fn both(module: &Module, name: &str) -> Result<[Kernel; 2]> {
    Ok([module.kernel(&format!("{name}_16"))?, module.kernel(&format!("{name}_32"))?])
}

impl DecodeKernels {
    /// Finds the kernels in `module`.
    pub(crate) fn find(module: &Arc<Module>) -> Result<DecodeKernels> {
        Ok(DecodeKernels {
            index: module.kernel("rice2_index")?,
            decode: both(module, "rice2_decode")?,
            linear: both(module, "rice2_linear")?,
            channels: both(module, "rice2_channels")?,
            verify: module.kernel("rice2_verify")?,
            _module: Arc::clone(module),
        })
    }
}

impl EncodeKernels {
    /// Finds the kernels in `module`.
    pub(crate) fn find(module: &Arc<Module>) -> Result<EncodeKernels> {
        Ok(EncodeKernels {
            plan: both(module, "rice2_plan")?,
            offsets: module.kernel("rice2_offsets")?,
            pack: both(module, "rice2_pack")?,
            planners: PLANNERS * module.context().multiprocessors()?,
            _module: Arc::clone(module),
        })
    }
}

impl Codec {
    /// Queues the decoding of version 2 streams of samples of type `element`.
    ///
    /// * `min_segment`: the fewest samples per segment of any stream in device memory; 0 means 1.
    ///   The call makes room for as many segments as the job's capacity has at this length. The
    ///   outcome of a stream with more is an error of kind [`Limit`](linerate_core::Kind::Limit). Of
    ///   streams in host memory, the header states the number of segments.
    /// * `jobs`: one stream each, of any length, with the capacity of its output in samples.
    ///   Streams with channels must be in host memory, where their headers state the size of their
    ///   scratch (as many bytes as their samples). In device memory, their outcome is an error of
    ///   kind [`Unsupported`](linerate_core::Kind::Unsupported).
    /// * `stream`, `workspace`: as for [`Codec::decode`].
    ///
    /// # Safety
    /// As for [`Codec::decode`].
    ///
    /// # Errors
    /// As for [`Codec::decode`], but a capacity may be 2^32 samples or more.
    pub unsafe fn decode_streams(
        &self,
        element: ElementType,
        min_segment: usize,
        jobs: &[DecodeJob<'_>],
        stream: &Stream,
        workspace: &mut Workspace,
    ) -> Result<()> {
        workspace.drop_outcomes();
        let kernels = self.v2_decode()?;
        let width = element.bytes();
        let mut plan = Plan::default();
        let streams_at = plan.stage(jobs.len() * size_of::<Stream2>())?;
        let mut streams = Vec::with_capacity(jobs.len());
        let mut places = Vec::with_capacity(jobs.len());
        let mut parts = Vec::with_capacity(jobs.len());
        let mut segments = 0;
        for job in jobs {
            let (slots, in_parts) = match job.chunk {
                // The stream's own table bounds the number of segments. If the header is damaged,
                // there is no slot, and the kernel reports the error.
                Input::Host(bytes) => v2::info(bytes).map_or((0, None), |info| {
                    let channels = info.channels as usize;
                    // Even a stream of no samples gets an address, which tells the kernel that
                    // channels can be decoded.
                    let in_parts = (channels > 1).then(|| job.capacity.min(info.samples as usize));
                    (info.segments as usize * channels, in_parts)
                }),
                Input::Device { .. } => (job.capacity.div_ceil(min_segment.max(1)), None),
            };
            parts.push(in_parts.map(|samples| samples * width));
            places.push(Place::of(&job.chunk, 4, &mut plan)?);
            streams.push(Stream2 {
                bytes: job.chunk.len() as u64,
                samples: aligned(job.samples, width as u64)?,
                sample_count: job.capacity as u64,
                first_segment: count(segments)?,
                segments: count(slots)?,
                axis_count: NO_SHAPE,
                ..Stream2::default()
            });
            segments += slots;
        }
        let segment_count = count(segments)?;
        let results_at = plan.results(jobs.len())?;
        let segments_at = plan.reserve(segments * SEGMENT2)?;
        let linear_at = plan.reserve(4 + 4 * segments)?;
        let has_channels = parts.iter().any(Option::is_some);
        let parts_at = parts.iter().map(|bytes| bytes.map(|bytes| plan.reserve(bytes)).transpose());
        let parts_at = parts_at.collect::<Result<Vec<_>>>()?;

        let mut call = workspace.begin(&plan, stream)?;
        for ((stream, place), job) in streams.iter_mut().zip(&places).zip(jobs) {
            stream.data = place.fill(&job.chunk, &mut call);
        }
        for (stream, at) in streams.iter_mut().zip(parts_at) {
            stream.parts = at.map_or(0, |at| call.address(at));
        }
        call.put(streams_at, &streams);
        let (stream_count, code, width_bytes) = (count(jobs.len())?, u32::from(element.code()), width as u32);
        let (streams, results) = (call.address(streams_at), call.address(results_at));
        let (segments, list) = (call.address(segments_at), call.address(linear_at));
        let (streams, results) = (argument(&streams), argument(&results));
        let (segments, linear) = (argument(&segments), argument(&list));
        let form = usize::from(width == 4);
        call.run(|stream| {
            // SAFETY: grids and arguments are those of kernels.h. The workspace keeps descriptors
            // and scratch until the stream is done. The caller guarantees the rest.
            unsafe {
                stream.fill(list, 0, 4)?;
                let index = [streams, argument(&stream_count), argument(&code), segments, results];
                kernels.index.launch(stream, stream_count, 32, &index)?;
                kernels.decode[form].launch(
                    stream,
                    segment_count,
                    128,
                    &[streams, segments, linear, results],
                )?;
                kernels.linear[form].launch(
                    stream,
                    segment_count.div_ceil(32),
                    32,
                    &[streams, segments, linear],
                )?;
                if has_channels {
                    let channels = [streams, argument(&code), segments];
                    kernels.channels[form].launch(stream, segment_count, 128, &channels)?;
                }
                let verify = [streams, segments, argument(&segment_count), argument(&width_bytes), results];
                kernels.verify.launch(stream, segment_count.div_ceil(4), 128, &verify)
            }
        })
    }

    /// Queues the encoding of samples of type `element` as version 2 streams. The output has the
    /// bytes that [`linerate_rice::v2::encode`] returns with these options and without channels
    /// (`StreamOptions::channels` of 1), which the CPU otherwise looks for in short rows. The
    /// outcomes are sizes in bytes. The outcome of samples that take more than 16 GiB when encoded
    /// is an error of kind [`BadArgument`](linerate_core::Kind::BadArgument).
    ///
    /// # Safety
    /// As for [`Codec::decode`].
    ///
    /// # Errors
    /// As for [`Codec::decode`], but there may be 2^32 samples or more. [`Error::BadArgument`] also
    /// for more than one channel, which only the CPU's codec encodes, for a segment of more than
    /// [`v2::MAX_SEGMENT`] samples, for a number of bytes that is no multiple of the sample size,
    /// and for a shape that does not have as many samples as the job.
    pub unsafe fn encode_streams(
        &self,
        element: ElementType,
        options: &StreamOptions,
        jobs: &[EncodeJob<'_>],
        stream: &Stream,
        workspace: &mut Workspace,
    ) -> Result<()> {
        workspace.drop_outcomes();
        let kernels = self.v2_encode()?;
        let width = element.bytes();
        let segment = options.segment_len();
        if segment > v2::MAX_SEGMENT {
            return Err(Error::BadArgument("a segment of more than 65536 samples"));
        }
        if options.channel_count().is_some_and(|channels| channels.get() > 1) {
            return Err(Error::BadArgument("channels, which only the CPU's codec encodes"));
        }
        let mut plan = Plan::default();
        let streams_at = plan.stage(jobs.len() * size_of::<Stream2>())?;
        let axes = options.array_shape().map_or(&[][..], |shape| shape.axes());
        let axes_at = plan.stage(size_of_val(axes))?;
        let mut streams = Vec::with_capacity(jobs.len());
        let mut places = Vec::with_capacity(jobs.len());
        let (mut segments, mut longest) = (0, 0);
        for job in jobs {
            if job.samples.len() % width != 0 {
                return Err(Error::BadArgument("a number of bytes that is no multiple of the sample size"));
            }
            let n = job.samples.len() / width;
            if options.array_shape().is_some_and(|shape| shape.samples() != Some(n as u64)) {
                return Err(Error::BadArgument("a shape of more or fewer samples than there are"));
            }
            let slots = n.div_ceil(segment as usize);
            longest = longest.max(n.min(segment as usize));
            places.push(Place::of(&job.samples, width as u64, &mut plan)?);
            streams.push(Stream2 {
                data: aligned(job.chunk, 4)?,
                bytes: job.capacity as u64,
                sample_count: n as u64,
                axis_count: options.array_shape().map_or(NO_SHAPE, |shape| shape.axes().len() as u32),
                row: options.row_len().map_or(0, |row| row.get()),
                segment,
                first_segment: count(segments)?,
                segments: count(slots)?,
                ..Stream2::default()
            });
            segments += slots;
        }
        let (segment_count, planners) = (count(segments)?, kernels.planners.min(segments));
        let mode_stride = longest.div_ceil(32);
        let results_at = plan.results(jobs.len())?;
        let plans_at = plan.reserve(segments * PLAN2)?;
        let modes_at = plan.reserve(segments * mode_stride)?;

        let mut call = workspace.begin(&plan, stream)?;
        for ((stream, place), job) in streams.iter_mut().zip(&places).zip(jobs) {
            stream.samples = place.fill(&job.samples, &mut call);
            stream.axes = call.address(axes_at);
        }
        call.put(streams_at, &streams);
        call.put(axes_at, axes);
        let (stream_count, code) = (count(jobs.len())?, u32::from(element.code()));
        let mode_stride = count(mode_stride)?;
        let (streams, results) = (call.address(streams_at), call.address(results_at));
        let (plans, modes) = (call.address(plans_at), call.address(modes_at));
        let (streams, results) = (argument(&streams), argument(&results));
        let (plans, modes) = (argument(&plans), argument(&modes));
        let form = usize::from(width == 4);
        call.run(|stream| {
            let (stream_count_arg, code, stride) =
                (argument(&stream_count), argument(&code), argument(&mode_stride));
            let plan = [streams, stream_count_arg, argument(&segment_count), code, plans, modes, stride];
            // SAFETY: as for decoding.
            unsafe {
                kernels.plan[form].launch(stream, planners as u32, 256, &plan)?;
                let offsets = [streams, stream_count_arg, code, plans, results];
                kernels.offsets.launch(stream, stream_count, 256, &offsets)?;
                let pack = [streams, stream_count_arg, plans, modes, stride];
                kernels.pack[form].launch(stream, segment_count, 128, &pack)
            }
        })
    }
}
