//! Reads an array of samples in pieces, or maps all of it.

use bytemuck::{Pod, cast_slice_mut, try_cast_slice};
use linerate_core::{Error, Kind, Result};
use linerate_io::{MapSource, ReadAt};

use super::npy::NpyHeader;
use super::{Input, NO_MEMORY, PIECE, PartialShape, SampleBuffer, reserve, swap_little_endian};
use crate::Options;
use crate::v2::{Element, ElementType, Shape};

const CUT_ARRAY: &str = "the input ends inside the array";
const CUT_SAMPLE: &str = "the input ends inside a sample";
const EXCESS: &str = "bytes follow the array";

/// Reads an array: a `.npy` file, or raw little-endian samples.
pub struct ArrayReader {
    input: Input,
    element: ElementType,
    /// The shape, as far as it is known before the end of the input.
    shape: PartialShape,
    /// Number of samples in the array. `None` until the input ends, if its length is not known.
    samples: Option<u64>,
    /// Number of samples read so far.
    read: u64,
    /// Offset of the first sample.
    start: u64,
    /// The piece that was read last.
    buffer: SampleBuffer,
    /// Number of samples in `buffer`.
    filled: usize,
    /// All samples, once they are mapped.
    map: Option<MapSource>,
}

impl ArrayReader {
    /// Reads the header of a `.npy` file.
    ///
    /// # Errors
    /// Errors of [`NpyHeader::read`]; [`Kind::Truncated`] if a regular file has fewer bytes than
    /// the array, [`Kind::Corrupt`] if it has more.
    pub fn npy(mut input: Input) -> Result<ArrayReader> {
        let header = NpyHeader::read(&mut input)?;
        ArrayReader::new(input, header.element, PartialShape::complete(header.shape)?)
    }

    /// Reads raw samples.
    ///
    /// # Errors
    /// [`Kind::Corrupt`] if the input is a `.npy` file, [`Kind::Read`] if reading fails. For a
    /// regular file, [`Kind::Truncated`] if it has fewer bytes than the array, or does not end with
    /// a whole row, and [`Kind::Corrupt`] if it has more bytes.
    pub fn raw(mut input: Input, element: ElementType, shape: PartialShape) -> Result<ArrayReader> {
        if input.is_npy()? {
            return Err(Error::new(Kind::Corrupt, 0, "this is an .npy file, not raw samples"));
        }
        ArrayReader::new(input, element, shape)
    }

    fn new(input: Input, element: ElementType, shape: PartialShape) -> Result<ArrayReader> {
        let mut array = ArrayReader {
            element,
            shape,
            samples: shape.shape().and_then(|shape| shape.samples()),
            read: 0,
            start: input.position(),
            buffer: SampleBuffer::default(),
            filled: 0,
            map: None,
            input,
        };
        array.check_size()?;
        Ok(array)
    }

    /// Checks that a regular file has exactly the bytes of the array. Sets the number of samples if
    /// the shape leaves it open.
    fn check_size(&mut self) -> Result<()> {
        let Some(len) = self.input.file_len() else { return Ok(()) };
        let size = self.sample_bytes();
        let available = len.saturating_sub(self.start);
        match self.samples {
            Some(samples) => match self.start.saturating_add(samples.saturating_mul(size)) {
                end if end > len => Err(Error::new(Kind::Truncated, len, CUT_ARRAY)),
                end if end < len => Err(Error::new(Kind::Corrupt, end, EXCESS)),
                _ => Ok(()),
            },
            None if !available.is_multiple_of(size) => Err(Error::new(Kind::Truncated, len, CUT_SAMPLE)),
            None => {
                self.samples = Some(available / size);
                self.shape().map(drop)
            }
        }
    }

    /// Makes large reads of a regular file use the threads of `options`.
    pub(super) fn set_threads(&mut self, options: Options) {
        self.input.set_threads(options);
    }

    /// The type of the samples.
    pub fn element(&self) -> ElementType {
        self.element
    }

    fn sample_bytes(&self) -> u64 {
        self.element.bytes() as u64
    }

    /// Number of samples in the array, if it is known before the end of the input.
    pub fn samples(&self) -> Option<u64> {
        self.samples
    }

    /// Number of samples in a row (the last axis), if the array has several axes.
    pub fn row(&self) -> Option<u64> {
        self.shape.row()
    }

    /// Returns the shape if the number of samples and the length of a row are not enough to
    /// describe it, as for three axes.
    pub(super) fn undescribed_by_rows(&self) -> Option<PartialShape> {
        match *self.shape.axes() {
            [_] => None,
            [_, row] if row > 0 && u32::try_from(row).is_ok() => None,
            _ => Some(self.shape),
        }
    }

    /// Number of samples read so far.
    pub fn samples_read(&self) -> u64 {
        self.read
    }

    /// Offset of the next byte of the input.
    pub fn position(&self) -> u64 {
        self.input.position()
    }

    /// Offset of the first sample.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Size of the input in bytes, if known.
    pub fn input_len(&self) -> Option<u64> {
        self.input.file_len().or_else(|| Some(self.start + self.samples? * self.sample_bytes()))
    }

    /// Whether the input is a regular file, which can be read more than once.
    pub(crate) fn is_seekable(&self) -> bool {
        self.input.file_len().is_some()
    }

    /// Returns the shape. If the number of samples is not known, this is the shape of the samples
    /// read so far.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if the last row is incomplete.
    pub fn shape(&self) -> Result<Shape> {
        let samples = self.samples.unwrap_or(self.read);
        let end = self.start + samples * self.sample_bytes();
        let cut = Error::new(Kind::Truncated, end, "the input ends inside a row of the shape");
        self.shape.for_samples(samples).ok_or(cut)
    }

    /// Whether there are more samples to read.
    ///
    /// # Errors
    /// [`Kind::Read`] if reading fails.
    pub fn has_more(&mut self) -> Result<bool> {
        match self.samples {
            Some(samples) => Ok(self.read < samples),
            None => Ok(!self.input.has_ended()?),
        }
    }

    /// Goes back to the first sample.
    ///
    /// # Errors
    /// [`Kind::Read`] if the input is no regular file, or seeking fails.
    pub(crate) fn rewind(&mut self) -> Result<()> {
        self.read = 0;
        self.input.rewind(self.start)
    }

    /// Reads the next samples, at most `max`. Returns none at the end of the array.
    ///
    /// # Errors
    /// * [`Kind::BadArgument`] if `T` has another size than the samples.
    /// * [`Kind::Truncated`] if the input ends before the array or inside a row, [`Kind::Corrupt`]
    ///   if bytes follow the array.
    /// * [`Kind::Read`] if reading fails, [`Kind::Limit`] if there is not enough memory.
    pub fn next_piece<T: Element>(&mut self, max: u64) -> Result<&[T]> {
        self.check_type::<T>()?;
        self.fill(max)?;
        swap_little_endian(self.filled_bytes(), size_of::<T>());
        Ok(self.piece())
    }

    /// Reads the next samples, at most `max`, and returns them as little-endian bytes.
    ///
    /// # Errors
    /// Errors of [`next_piece`](Self::next_piece).
    pub fn next_bytes(&mut self, max: u64) -> Result<&[u8]> {
        self.fill(max)?;
        Ok(self.filled_bytes())
    }

    /// Returns all samples that were not read before. A regular file is mapped where possible;
    /// otherwise the samples are read into memory. Repeated calls return the same samples. Nobody
    /// may shorten the file while its mapped pages are in use: on Unix that ends the program by
    /// SIGBUS.
    ///
    /// # Errors
    /// Errors of [`next_piece`](Self::next_piece).
    pub fn whole<T: Element>(&mut self) -> Result<&[T]> {
        self.check_type::<T>()?;
        if self.map.is_none() && self.read == 0 {
            self.map::<T>()?;
        }
        if self.map.is_none() && self.has_more()? {
            self.next_piece::<T>(u64::MAX)?;
        }
        if let Some(map) = &self.map {
            self.input.check_mapped(map.len(), CUT_ARRAY)?;
        }
        Ok(match &self.map {
            Some(map) => mapped(map, self.start, self.samples.unwrap_or(0)).unwrap_or_default(),
            None => self.piece(),
        })
    }

    /// The piece that was read last.
    pub(super) fn piece<T: Element>(&self) -> &[T] {
        self.buffer.samples().get(..self.filled).unwrap_or_default()
    }

    fn check_type<T: Element>(&self) -> Result<()> {
        match T::TYPE.bytes() == self.element.bytes() {
            true => Ok(()),
            false => Err(Error::new(Kind::BadArgument, 0, "samples of another size than asked for")),
        }
    }

    fn filled_bytes(&mut self) -> &mut [u8] {
        let bytes = self.filled * self.element.bytes();
        &mut self.buffer.samples_mut()[..bytes]
    }

    /// Fills the buffer with the next samples, at most `max`. Checks that the input ends where the
    /// array does.
    fn fill(&mut self, max: u64) -> Result<()> {
        let size = self.element.bytes();
        let left = self.samples.map_or(u64::MAX, |samples| samples - self.read);
        let wanted = max.min(left);
        self.filled = 0;
        // Memory grows as samples arrive, so that a wrong shape costs nothing.
        while (self.filled as u64) < wanted {
            let step = (wanted - self.filled as u64).min(PIECE / size as u64) as usize;
            let words = ((self.filled + step) * size).div_ceil(4);
            let buffer = &mut self.buffer.0;
            if buffer.is_empty() {
                reserve(buffer, words)?;
            } else if buffer.len() < words {
                buffer.try_reserve(words - buffer.len()).map_err(|_| NO_MEMORY)?;
                buffer.resize(words, 0);
            }
            let bytes: &mut [u8] = cast_slice_mut(buffer);
            let got = self.input.fill(&mut bytes[self.filled * size..(self.filled + step) * size])?;
            if !got.is_multiple_of(size) {
                return Err(Error::new(Kind::Truncated, self.input.position(), CUT_SAMPLE));
            }
            self.filled += got / size;
            if got < step * size {
                break;
            }
        }
        self.read += self.filled as u64;
        if (self.filled as u64) < wanted {
            self.end_early()?;
        }
        if self.samples == Some(self.read) && !self.input.has_ended()? {
            return Err(Error::new(Kind::Corrupt, self.input.position(), EXCESS));
        }
        Ok(())
    }

    /// Handles an input that ends before the wanted samples. If the number of samples was known,
    /// this is an error; otherwise it sets that number.
    fn end_early(&mut self) -> Result<()> {
        if self.samples.is_some() {
            return Err(Error::new(Kind::Truncated, self.input.position(), CUT_ARRAY));
        }
        self.samples = Some(self.read);
        self.shape().map(drop)
    }

    /// Maps all samples of a regular file into memory, if they are aligned and in the byte order of
    /// the CPU.
    fn map<T: Element>(&mut self) -> Result<()> {
        let samples = self.samples.unwrap_or(0);
        let Some(file) = self.input.file() else { return Ok(()) };
        if samples == 0 || cfg!(target_endian = "big") {
            return Ok(());
        }
        let map = MapSource::new(file)
            .map_err(|e| Error::from_io(Kind::Read, 0, "cannot map the file", &e))?
            .sequential();
        if mapped::<T>(&map, self.start, samples).is_some() {
            self.read = samples;
            self.map = Some(map);
        }
        Ok(())
    }
}

/// Returns the mapped samples from offset `start` on. `None` if they are not aligned, or if the
/// file has become shorter.
fn mapped<T: Pod>(map: &MapSource, start: u64, samples: u64) -> Option<&[T]> {
    let end = start.checked_add(samples.checked_mul(size_of::<T>() as u64)?)?;
    let bytes = map.as_ref().get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)?;
    try_cast_slice(bytes).ok()
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Seek, Write};

    use super::*;

    fn npy(samples: &[i16]) -> Vec<u8> {
        let shape = Shape::new(&[samples.len() as u64]).unwrap();
        let mut bytes = NpyHeader { element: ElementType::I16, shape }.to_bytes();
        bytes.extend(samples.iter().flat_map(|x| x.to_le_bytes()));
        bytes
    }

    fn file(bytes: &[u8]) -> Input {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        Input::from_file(file).unwrap()
    }

    #[test]
    fn pieces_of_a_file_and_of_a_pipe_are_the_array() {
        let bytes = npy(&[1, -2, 3, -4, 5]);
        for input in [file(&bytes), Input::from_reader(Cursor::new(bytes.clone()))] {
            let mut array = ArrayReader::npy(input).unwrap();
            assert_eq!(array.next_piece::<i16>(2).unwrap(), [1, -2]);
            assert_eq!(array.next_bytes(2).unwrap(), [3, 0, 0xfc, 0xff]);
            assert_eq!(array.next_piece::<u16>(9).unwrap(), [5]);
            assert!(array.next_piece::<i16>(9).unwrap().is_empty());
            assert_eq!((array.samples_read(), array.position()), (5, bytes.len() as u64));
        }
    }

    #[test]
    fn a_mapped_array_that_is_cut_short_is_an_error() {
        let bytes = npy(&vec![7; 5000]);
        let file = tempfile::tempfile().unwrap();
        (&file).write_all(&bytes).unwrap();
        (&file).rewind().unwrap();
        let mut array = ArrayReader::npy(Input::from_file(file.try_clone().unwrap()).unwrap()).unwrap();
        assert_eq!(array.whole::<i16>().unwrap(), [7; 5000]);
        // Windows does not cut a file that is mapped.
        if cfg!(unix) {
            file.set_len(bytes.len() as u64 - 8000).unwrap();
            let e = array.whole::<i16>().unwrap_err();
            assert_eq!((e.kind, e.message), (Kind::Truncated, CUT_ARRAY));
        }
    }

    #[test]
    fn whole_array_is_the_same_mapped_and_read() {
        let bytes = npy(&[7; 1000]);
        for input in [file(&bytes), Input::from_reader(Cursor::new(bytes.clone()))] {
            let mut array = ArrayReader::npy(input).unwrap();
            for _ in 0..2 {
                assert_eq!(array.whole::<i16>().unwrap(), [7; 1000]);
            }
        }
    }

    #[test]
    fn raw_samples_of_a_pipe_have_a_shape_at_the_end() {
        let rows = PartialShape::open(&[3]).unwrap();
        let raw =
            |bytes: Vec<u8>| ArrayReader::raw(Input::from_reader(Cursor::new(bytes)), ElementType::U32, rows);
        let mut array = raw(vec![9; 24]).unwrap();
        assert_eq!(array.samples(), None);
        assert_eq!(array.next_piece::<u32>(100).unwrap().len(), 6);
        assert_eq!(array.shape().unwrap().axes(), [2, 3]);
        let error = raw(vec![9; 20]).unwrap().next_piece::<u32>(100).unwrap_err();
        assert_eq!((error.kind, error.offset), (Kind::Truncated, 20));
        let error = raw(vec![9; 23]).unwrap().next_piece::<u32>(100).unwrap_err();
        assert_eq!((error.kind, error.offset), (Kind::Truncated, 23));
    }

    #[test]
    fn samples_of_another_size_are_a_bad_argument() {
        let mut array = ArrayReader::npy(file(&npy(&[1, 2]))).unwrap();
        assert_eq!(array.next_piece::<u32>(1).unwrap_err().kind, Kind::BadArgument);
        assert_eq!(array.whole::<i32>().unwrap_err().kind, Kind::BadArgument);
    }
}
