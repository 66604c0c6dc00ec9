//! An array being read: from a file or a pipe, in pieces or as a whole.

use bytemuck::{cast_slice_mut, try_cast_slice};
use linerate_core::Kind;
use linerate_io::MapSource;

use super::args::RawArgs;
use super::dtype::{Dtype, Word};
use super::npy::{self, Header};
use super::piece::{PIECE, no_memory};
use super::reader::Reader;
use super::shape::{Shape, ShapeChoice};
use crate::ui::error::CliError;

const INSIDE: &str = "the input ends inside the array";

/// An array whose first sample is next, or which has been read in part.
pub(crate) struct Input {
    reader: Reader,
    dtype: Dtype,
    /// What is known of the shape before the end.
    shape: ShapeChoice,
    /// Samples in all, unless only the end will tell.
    samples: Option<u64>,
    /// Samples read.
    read: u64,
    /// Offset of the first sample.
    start: u64,
}

impl Input {
    /// Reads the header of an .npy file; or takes the input as raw if its type is given.
    pub(crate) fn open(mut reader: Reader, raw: &RawArgs) -> Result<Input, CliError> {
        let is_npy = reader.peek(npy::MAGIC.len())? == npy::MAGIC;
        let (dtype, shape) = match raw.dtype {
            Some(_) if is_npy => {
                let what = "this is an .npy file, which has a type: leave out --dtype";
                return Err(CliError::data(Kind::Corrupt, 0, what));
            }
            Some(dtype) => (dtype, raw.shape.clone().unwrap_or(ShapeChoice::line())),
            None if is_npy => {
                let header = Header::read(&mut reader)?;
                (header.dtype, ShapeChoice::from(header.shape))
            }
            None => {
                let what = "this is not an .npy file; raw samples need --dtype";
                return Err(CliError::data(Kind::Corrupt, 0, what));
            }
        };
        let start = reader.at();
        let samples = shape.closed().and_then(|shape| shape.samples());
        let mut input = Input { reader, dtype, shape, samples, read: 0, start };
        input.check_size()?;
        Ok(input)
    }

    /// The bytes of a regular file must be those of the array, no fewer and no more.
    fn check_size(&mut self) -> Result<(), CliError> {
        let Some(len) = self.reader.len() else { return Ok(()) };
        let there = len.saturating_sub(self.start);
        let size = self.dtype.bytes();
        match self.samples {
            Some(samples) => match self.start.saturating_add(samples.saturating_mul(size)) {
                end if end > len => Err(CliError::data(Kind::Truncated, len, INSIDE)),
                end if end < len => Err(CliError::data(Kind::Corrupt, end, "bytes follow the array")),
                _ => Ok(()),
            },
            None if there % size != 0 => Err(Self::ends_inside_a_sample(len)),
            None => {
                self.samples = Some(there / size);
                self.final_shape().map(drop)
            }
        }
    }

    fn ends_inside_a_sample(at: u64) -> CliError {
        CliError::data(Kind::Truncated, at, "the input ends inside a sample")
    }

    pub(crate) fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Samples in all, unless only the end will tell.
    pub(crate) fn samples(&self) -> Option<u64> {
        self.samples
    }

    /// Samples of a row, if the array has several axes.
    pub(crate) fn row(&self) -> Option<u64> {
        self.shape.row()
    }

    /// Samples read so far.
    pub(crate) fn read(&self) -> u64 {
        self.read
    }

    /// Offset of the next sample.
    pub(crate) fn at(&self) -> u64 {
        self.reader.at()
    }

    /// Offset of the first sample.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// Bytes of the input, if known.
    pub(crate) fn len(&self) -> Option<u64> {
        self.reader.len().or_else(|| Some(self.start + self.samples? * self.dtype.bytes()))
    }

    /// Whether it can be read more than once.
    pub(crate) fn is_regular(&self) -> bool {
        self.reader.len().is_some()
    }

    /// The shape, once the number of samples is known.
    pub(crate) fn final_shape(&self) -> Result<Shape, CliError> {
        let samples = self.samples.unwrap_or(self.read);
        self.shape.for_samples(samples).ok_or_else(|| {
            let at = self.start + samples * self.dtype.bytes();
            CliError::data(Kind::Truncated, at, format!("the input ends inside a row of {}", self.shape))
        })
    }

    /// Whether samples follow.
    pub(crate) fn has_more(&mut self) -> Result<bool, CliError> {
        match self.samples {
            Some(samples) => Ok(self.read < samples),
            None => Ok(!self.reader.has_ended()?),
        }
    }

    /// Back to the first sample of a regular file.
    pub(crate) fn rewind(&mut self) -> Result<(), CliError> {
        self.read = 0;
        self.reader.rewind(self.start)
    }

    /// Puts the next `most` samples, or as many as there are, into `into`, and says whether there
    /// were any. Where the array ends, the input must end too.
    pub(crate) fn next<T: Word>(&mut self, most: u64, into: &mut Vec<T>) -> Result<bool, CliError> {
        let left = self.samples.map_or(u64::MAX, |samples| samples - self.read);
        let wanted = most.min(left);
        let mut filled = 0;
        // Memory grows as samples arrive, so that a shape that lies costs nothing.
        while (filled as u64) < wanted {
            let step = (wanted - filled as u64).min(PIECE / size_of::<T>() as u64) as usize;
            if into.len() < filled + step {
                into.try_reserve(filled + step - into.len()).map_err(|_| no_memory())?;
                into.resize(filled + step, T::default());
            }
            let got = self.reader.fill(cast_slice_mut(&mut into[filled..filled + step]))?;
            if got % size_of::<T>() != 0 {
                return Err(Self::ends_inside_a_sample(self.reader.at()));
            }
            filled += got / size_of::<T>();
            if got < step * size_of::<T>() {
                break;
            }
        }
        into.truncate(filled);
        into.iter_mut().for_each(|sample| *sample = sample.little_endian());
        self.read += filled as u64;
        if (filled as u64) < wanted {
            self.end_early()?;
        }
        if self.samples == Some(self.read) && !self.reader.has_ended()? {
            return Err(CliError::data(Kind::Corrupt, self.reader.at(), "bytes follow the array"));
        }
        Ok(filled > 0)
    }

    /// The input has ended: the number of samples is known now, or wrong.
    fn end_early(&mut self) -> Result<(), CliError> {
        if self.samples.is_some() {
            return Err(CliError::data(Kind::Truncated, self.reader.at(), INSIDE));
        }
        self.samples = Some(self.read);
        self.final_shape().map(drop)
    }

    /// All samples at once: of a regular file the mapped pages, otherwise a copy.
    pub(crate) fn whole<T: Word>(&mut self) -> Result<Whole<T>, CliError> {
        let bytes = self.samples.unwrap_or(0) * self.dtype.bytes();
        if self.is_regular() && bytes > 0 && cfg!(target_endian = "little") {
            let map =
                MapSource::new(self.reader.file()).map_err(CliError::io("cannot map the file"))?.sequential();
            let mapped = Whole::Mapped { map, start: self.start as usize, bytes: bytes as usize };
            if mapped.mapped_samples().is_some() {
                self.read = self.samples.unwrap_or(0);
                return Ok(mapped);
            }
        }
        let mut all = Vec::new();
        self.next(u64::MAX, &mut all)?;
        Ok(Whole::Read(all))
    }
}

/// All samples of an array.
pub(crate) enum Whole<T> {
    Mapped { map: MapSource, start: usize, bytes: usize },
    Read(Vec<T>),
}

impl<T: Word> Whole<T> {
    pub(crate) fn samples(&self) -> &[T] {
        match self {
            Whole::Mapped { .. } => self.mapped_samples().unwrap_or_default(),
            Whole::Read(samples) => samples,
        }
    }

    /// `None` if they are not aligned, or if the file has become shorter.
    fn mapped_samples(&self) -> Option<&[T]> {
        match self {
            Whole::Mapped { map, start, bytes } => {
                try_cast_slice(map.as_ref().get(*start..start.checked_add(*bytes)?)?).ok()
            }
            Whole::Read(_) => None,
        }
    }
}
