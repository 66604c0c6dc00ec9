//! Undoes the filter pipeline of an HDF5 dataset.

use std::ops::Range;

use linerate_core::{Error, Kind, Result};
use linerate_rice::v2::{self, Element, ElementType};
use linerate_rice::{Options, Params, Segments, decode_into, decode_segments};

use crate::gpu::Format;

/// An HDF5 filter that this module can undo.
pub(crate) enum Stage {
    /// Filter 2, byte shuffle, with the number of bytes per element. It stores the first bytes of
    /// all elements, then the second bytes of all, and so on.
    Shuffle(usize),
    /// Filter 3: a checksum of 4 bytes after the data.
    Fletcher32,
    /// Filter 32025: Delta-Rice chunks with these parameters.
    DeltaRice(Params),
    /// Filter 325: version 2 streams of Delta-Rice. The sample type is known if the filter's values
    /// name it.
    DeltaRice2(Option<ElementType>),
}

/// Sizes of a decoded chunk.
struct Layout {
    /// Bytes of the decoded chunk.
    bytes: usize,
    /// Decoded bytes of each segment but the last, which may have fewer.
    segment: usize,
}

/// The filters of a dataset, in the order in which they are applied when a chunk is written.
pub(crate) struct Pipeline {
    stages: Vec<Stage>,
    /// Bytes of a chunk before filters are applied.
    chunk_bytes: usize,
}

impl Stage {
    /// The filter with the HDF5 number `id` and the filter values (`cd_values`) of the dataset.
    ///
    /// # Errors
    /// Returns [`Kind::Unsupported`] for another filter and for shuffle without a number of bytes,
    /// [`Kind::BadArgument`] if the values of filter 325 name an unknown sample type, and the
    /// errors of [`Params::from_cd_values`].
    pub(crate) fn new(id: i32, values: &[u32]) -> Result<Stage> {
        match (id, values) {
            (2, &[size, ..]) if size > 0 => Ok(Stage::Shuffle(size as usize)),
            (3, _) => Ok(Stage::Fletcher32),
            (325, &[_, code, ..]) => {
                let element = u8::try_from(code).ok().and_then(ElementType::from_code);
                let unknown = Error::new(Kind::BadArgument, 4, "the filter's values name no sample type");
                element.map(|element| Stage::DeltaRice2(Some(element))).ok_or(unknown)
            }
            (325, _) => Ok(Stage::DeltaRice2(None)),
            (32025, _) => Ok(Stage::DeltaRice(Params::from_cd_values(values)?)),
            _ => Err(Error::new(Kind::Unsupported, 0, "the filter is not supported")),
        }
    }

    /// Number of bytes that `data` has after this filter is undone.
    fn undone_len(&self, data: &[u8]) -> Result<usize> {
        match self {
            Stage::Shuffle(_) => Ok(data.len()),
            Stage::Fletcher32 => Ok(checked(data)?.len()),
            Stage::DeltaRice(_) | Stage::DeltaRice2(_) => {
                Ok(self.layout(data)?.map_or(0, |layout| layout.bytes))
            }
        }
    }

    /// Sizes of the chunk that Delta-Rice data decodes to. `None` for shuffle and Fletcher32, which
    /// have no segments.
    fn layout(&self, data: &[u8]) -> Result<Option<Layout>> {
        let (samples, segment, width) = match self {
            Stage::Shuffle(_) | Stage::Fletcher32 => return Ok(None),
            Stage::DeltaRice(params) => {
                let segments = Segments::of(params, data)?;
                (segments.samples(), segments.segment_len(), 2)
            }
            Stage::DeltaRice2(element) => {
                let info = v2::info(data)?;
                if element.is_some_and(|element| element != info.element) {
                    return Err(Error::corrupt(
                        "the samples of a chunk are of another type than the dataset",
                    ));
                }
                (info.samples as usize, info.segment as usize, info.element.bytes())
            }
        };
        Ok(Some(Layout { bytes: samples.saturating_mul(width), segment: segment.saturating_mul(width) }))
    }

    /// Undoes the filter. `out` has the length [`Stage::undone_len`]. For Delta-Rice, `out` must
    /// also be aligned for the samples; otherwise undoing is an error.
    fn undo(&self, data: &[u8], out: &mut [u8], options: Options) -> Result<()> {
        fn of<T: Element + bytemuck::Pod>(data: &[u8], out: &mut [u8], options: Options) -> Result<()> {
            v2::decode_into(data, samples::<T>(out)?, options).map(drop)
        }
        match self {
            Stage::Shuffle(size) => unshuffle(data, out, *size),
            Stage::Fletcher32 => out.copy_from_slice(checked(data)?),
            Stage::DeltaRice(params) => {
                return decode_into(params, data, samples::<i16>(out)?, options).map(drop);
            }
            Stage::DeltaRice2(_) => match v2::info(data)?.element {
                ElementType::I16 => return of::<i16>(data, out, options),
                ElementType::U16 => return of::<u16>(data, out, options),
                ElementType::I32 => return of::<i32>(data, out, options),
                ElementType::U32 => return of::<u32>(data, out, options),
            },
        }
        Ok(())
    }

    /// Decodes the segments with the numbers `which` into `out`, which has exactly the length of
    /// their samples in bytes. Fails for filters other than Delta-Rice.
    fn segments(&self, data: &[u8], which: Range<usize>, out: &mut [u8]) -> Result<()> {
        fn of<T: Element + bytemuck::Pod>(data: &[u8], which: Range<usize>, out: &mut [u8]) -> Result<()> {
            v2::decode_segments(data, which, samples::<T>(out)?, Options::new()).map(drop)
        }
        match self {
            Stage::Shuffle(_) | Stage::Fletcher32 => Err(Error::corrupt("a filter without segments")),
            Stage::DeltaRice(params) => {
                decode_segments(params, data, which, samples::<i16>(out)?, Options::new()).map(drop)
            }
            Stage::DeltaRice2(_) => match v2::info(data)?.element {
                ElementType::I16 => of::<i16>(data, which, out),
                ElementType::U16 => of::<u16>(data, which, out),
                ElementType::I32 => of::<i32>(data, which, out),
                ElementType::U32 => of::<u32>(data, which, out),
            },
        }
    }
}

fn samples<T: bytemuck::Pod>(bytes: &mut [u8]) -> Result<&mut [T]> {
    bytemuck::try_cast_slice_mut(bytes)
        .map_err(|_| Error::corrupt("the size of a chunk is not a multiple of the sample size"))
}

/// Resizes `words` to hold `bytes` bytes, and returns these bytes. They are aligned to 4 bytes,
/// which suits samples of every type. Their content is unspecified.
///
/// # Errors
/// Returns [`Kind::Limit`] if memory runs out.
pub(crate) fn aligned_buffer(words: &mut Vec<u32>, bytes: usize) -> Result<&mut [u8]> {
    let count = bytes.div_ceil(4);
    let more = count.saturating_sub(words.len());
    words.try_reserve_exact(more).map_err(|_| Error::new(Kind::Limit, 0, "out of memory for a chunk"))?;
    words.resize(count, 0);
    Ok(&mut bytemuck::cast_slice_mut(words)[..bytes])
}

/// Bytes of a chunk, of which none or some of the filters were undone.
enum Bytes<'a> {
    /// The bytes as stored in the file, perhaps without their Fletcher32 checksum.
    Stored(&'a [u8]),
    /// The bytes after a filter was undone: a buffer of words, and how many of its bytes are used.
    Undone(Vec<u32>, usize),
}

impl Bytes<'_> {
    fn all(&self) -> &[u8] {
        match self {
            Bytes::Stored(bytes) => bytes,
            Bytes::Undone(words, len) => &bytemuck::cast_slice(words)[..*len],
        }
    }
}

impl Pipeline {
    pub(crate) fn new(stages: Vec<Stage>, chunk_bytes: usize) -> Pipeline {
        Pipeline { stages, chunk_bytes }
    }

    /// Undoes all filters of a stored chunk except the one that was applied first. If bit i of
    /// `mask` is set, filter i was not applied to this chunk.
    ///
    /// # Errors
    /// Returns the errors of undoing a filter, such as a wrong checksum, and [`Kind::Corrupt`] if
    /// the decoded chunk would not have the size of the dataset's chunks.
    pub(crate) fn open<'a>(&'a self, data: &'a [u8], mask: u32, options: Options) -> Result<Opened<'a>> {
        let was_applied = |i: usize| mask.checked_shr(i as u32).unwrap_or(0) & 1 == 0;
        let stages = self.stages.iter().enumerate();
        let mut stages = stages.filter(|&(i, _)| was_applied(i)).map(|(_, stage)| stage);
        let first = stages.next();
        let mut data = Bytes::Stored(data);
        for stage in stages.rev() {
            data = self.undone(stage, data, options)?;
        }
        let (bytes, segment) = match first {
            None => (data.all().len(), 1),
            Some(first) => match first.layout(data.all())? {
                Some(Layout { bytes, segment }) => (bytes, segment),
                None => (first.undone_len(data.all())?, usize::MAX),
            },
        };
        if bytes != self.chunk_bytes {
            return Err(Error::corrupt("a chunk has another number of bytes than the dataset's chunks"));
        }
        Ok(Opened { first, data, bytes, segment })
    }

    /// Undoes a filter that was not the first to be applied.
    fn undone<'a>(&self, stage: &Stage, data: Bytes<'a>, options: Options) -> Result<Bytes<'a>> {
        if let (Stage::Fletcher32, Bytes::Stored(data)) = (stage, &data) {
            return checked(data).map(Bytes::Stored);
        }
        let len = stage.undone_len(data.all())?;
        if len > self.chunk_bytes.saturating_add(4 * self.stages.len()) {
            return Err(Error::corrupt("a chunk has more bytes than the dataset's chunks"));
        }
        let mut words = Vec::new();
        stage.undo(data.all(), aligned_buffer(&mut words, len)?, options)?;
        Ok(Bytes::Undone(words, len))
    }
}

/// A chunk of which at most one filter is left to undo: the one that was applied first. The chunk
/// is known to decode to the size of the dataset's chunks.
pub(crate) struct Opened<'a> {
    first: Option<&'a Stage>,
    data: Bytes<'a>,
    /// Bytes of the decoded chunk.
    bytes: usize,
    /// Decoded bytes of a segment, the smallest unit that can be decoded alone: 1 if no filter is
    /// left, and `usize::MAX` if the filter has no segments, so that the chunk is decoded whole.
    segment: usize,
}

impl Opened<'_> {
    /// The Delta-Rice format and the encoded bytes of the chunk. `None` if Delta-Rice is not the
    /// filter that is left to undo.
    pub(crate) fn rice(&self) -> Result<Option<(Format, &[u8])>> {
        let data = self.data.all();
        Ok(match self.first {
            Some(Stage::DeltaRice(params)) => Some((Format::V1(*params), data)),
            Some(Stage::DeltaRice2(_)) => Some((Format::V2(v2::info(data)?.element), data)),
            Some(Stage::Shuffle(_) | Stage::Fletcher32) | None => None,
        })
    }

    /// The smallest range of decoded bytes that consists of whole segments and contains `span`.
    pub(crate) fn covering(&self, span: Range<usize>) -> Range<usize> {
        let end = span.end.div_ceil(self.segment).saturating_mul(self.segment);
        span.start / self.segment * self.segment..end.min(self.bytes)
    }

    /// Decodes the bytes `range` of the chunk: a range that [`Opened::covering`] returned, or the
    /// whole chunk. `out` has the same length and is aligned for samples.
    pub(crate) fn decode(&self, range: Range<usize>, out: &mut [u8], options: Options) -> Result<()> {
        let data = self.data.all();
        match self.first {
            None => out.copy_from_slice(&data[range]),
            Some(first) if range == (0..self.bytes) => first.undo(data, out, options)?,
            Some(first) => {
                first.segments(data, range.start / self.segment..range.end.div_ceil(self.segment), out)?;
            }
        }
        Ok(())
    }
}

fn unshuffle(data: &[u8], out: &mut [u8], size: usize) {
    let elements = data.len() / size;
    let (body, rest) = out.split_at_mut(elements * size);
    for (i, element) in body.chunks_exact_mut(size).enumerate() {
        element.iter_mut().enumerate().for_each(|(j, byte)| *byte = data[j * elements + i]);
    }
    rest.copy_from_slice(&data[elements * size..]);
}

/// Verifies the Fletcher-32 checksum in the last four bytes of `data`, and returns the bytes before
/// it. Early versions of HDF5 swapped the bytes of each half of the checksum; both forms are
/// accepted.
fn checked(data: &[u8]) -> Result<&[u8]> {
    let Some((body, stored)) = data.split_last_chunk::<4>() else {
        return Err(Error::new(Kind::Truncated, data.len() as u64, "a chunk ends within its checksum"));
    };
    let [a, b, c, d] = *stored;
    let sum = fletcher32(body);
    if sum == u32::from_le_bytes([a, b, c, d]) || sum == u32::from_le_bytes([b, a, d, c]) {
        Ok(body)
    } else {
        Err(Error::new(Kind::Corrupt, body.len() as u64, "the checksum of a chunk does not match"))
    }
}

/// Fletcher-32 as HDF5 computes it: over big-endian 16-bit words, with a zero byte appended to data
/// of odd length. Sums are reduced modulo 65535 to 1..=65535; only a sum of 0 stays 0.
fn fletcher32(data: &[u8]) -> u32 {
    let reduce = |sum: u64| if sum == 0 { 0 } else { (sum - 1) % 65_535 + 1 };
    let (mut first, mut second) = (0u64, 0u64);
    for block in data.chunks(1 << 16) {
        for word in block.chunks(2) {
            first += u64::from(word[0]) << 8 | u64::from(word.get(1).copied().unwrap_or(0));
            second += first;
        }
        (first, second) = (reduce(first), reduce(second)); // no overflow: sums stay below 2^48
    }
    (second << 16 | first) as u32
}
