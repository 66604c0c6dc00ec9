//! Finds the arrays in `.npy`, WAV and HDF5 files, and reads parts of them for the measurement.
//!
//! In this file, a sample is one number of an array, such as a 16-bit integer of a waveform. Arrays
//! are read in pieces: chunks of HDF5 datasets, and whole rows of other arrays, except parts of
//! very long rows.

use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use linerate_rice::file::{Input, NpyHeader};
use linerate_rice::v2::ElementType;

use crate::sys::hdf5;

/// Largest number of samples in a slice, which is the part of an `.npy` or WAV array that is read
/// at once, unless a single row has more. Also the largest number in a chunk proposed for HDF5.
/// That many 16-bit samples take 1 MiB.
const SLICE: u64 = 512 << 10;
/// About the most bytes that `linerate rice encode` reads and codes at a time, unless a segment
/// (the samples that are coded together) is longer. They do not fit into the cache of a core.
const CODED: usize = 16 << 20;
/// Longest row that slices never cut, in samples. An array of longer rows is sampled as if it had
/// one axis.
const LONGEST_ROW: u64 = 8 * SLICE;
/// Number of samples that Delta-Rice codes together in an array of one row
/// (`Params::segment_for`).
const LINE: u64 = 16_384;
/// Signature of an HDF5 file, at offset 0 or at a power of two of at least 512 (HDF5 File Format,
/// section II.A).
const HDF5: &[u8; 8] = b"\x89HDF\r\n\x1a\n";

/// First bytes of an `.npy` file.
const NPY: &[u8; 6] = b"\x93NUMPY";

/// The format of a file of samples, recognised by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// A NumPy array.
    Npy,
    /// RIFF with waveform audio.
    Wav,
    /// HDF5.
    Hdf5,
}

impl Container {
    /// Returns the format of a file that begins with `head`. An HDF5 file may begin with other
    /// bytes; then `head` must reach to HDF5's signature.
    pub fn recognise(head: &[u8]) -> Option<Container> {
        let begins = |at: usize| head[at..].starts_with(HDF5);
        let user_blocks = (9..).map(|log| 1 << log).take_while(|&at| at < head.len());
        let is_hdf5 = std::iter::once(0).chain(user_blocks).any(begins);
        match head {
            _ if head.starts_with(NPY) => Some(Container::Npy),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => Some(Container::Wav),
            _ if is_hdf5 => Some(Container::Hdf5),
            _ => None,
        }
    }
}

/// Whether a file that begins with `head` is an `.npy` or WAV file of integers of 16 or 32 bits.
/// `head` must have the file's whole header.
pub fn has_integers(head: &[u8]) -> bool {
    match Container::recognise(head) {
        Some(Container::Npy) => NpyHeader::read(&mut Input::from_reader(Cursor::new(head.to_vec()))).is_ok(),
        Some(Container::Wav) => hound::WavReader::new(head).is_ok_and(|file| integers(file.spec()).is_some()),
        Some(Container::Hdf5) | None => false,
    }
}

/// The type of a WAV file's samples, if they are integers of 16 or 32 bits.
fn integers(spec: hound::WavSpec) -> Option<ElementType> {
    match (spec.sample_format, spec.bits_per_sample) {
        (hound::SampleFormat::Int, 16) => Some(ElementType::I16),
        (hound::SampleFormat::Int, 32) => Some(ElementType::I32),
        _ => None,
    }
}

/// An array in a file.
#[derive(Clone, Debug)]
pub(super) struct Array {
    /// Path of the file that has the array.
    pub(super) path: PathBuf,
    /// Format of the file.
    pub(super) container: Container,
    /// Type of the samples.
    pub(super) element: ElementType,
    /// Length of each axis, in samples.
    pub(super) shape: Vec<u64>,
    /// Length of each axis of an HDF5 chunk, which is coded on its own. A dataset without chunks
    /// gets the shape of `proposed_chunk`. `None` for `.npy` and WAV files, which have no chunks.
    pub(super) chunk: Option<Vec<u64>>,
    /// Offset of the first sample in the file, in bytes. 0 for WAV files, whose header counts as
    /// samples. Not used for HDF5.
    start: u64,
    /// The HDF5 dataset. `None` for `.npy` and WAV files.
    pub(super) dataset: Option<hdf5::Dataset>,
}

/// The arrays that were found, and sentences for the user.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Arrays of integers of 16 or 32 bits, without empty ones.
    pub(super) arrays: Vec<Array>,
    /// Sentences about files and datasets that were left out, and about limits of the command.
    pub(super) notes: Vec<String>,
}

/// Finds the arrays in these files. A file of another format, or with other samples than integers
/// of 16 or 32 bits, is left out with a note.
///
/// # Errors
/// Returns a sentence that names the file, if it cannot be read, or if it is HDF5 and libhdf5 is
/// missing or too old.
pub(super) fn find(paths: &[PathBuf]) -> Result<Found, String> {
    let mut found = Found::default();
    for path in paths {
        let at = |e: String| format!("{}: {e}", path.display());
        let mut head = Vec::new();
        let mut file = File::open(path).map_err(|e| at(e.to_string()))?;
        (&mut file).take(64 << 10).read_to_end(&mut head).map_err(|e| at(e.to_string()))?;
        let length = file.metadata().map_err(|e| at(e.to_string()))?.len();
        match Container::recognise(&head) {
            Some(Container::Npy) => found.add(npy(path, head, length), path),
            Some(Container::Wav) => found.add(wav(path, length), path),
            Some(Container::Hdf5) => found.hdf5(path).map_err(at)?,
            None => found.notes.push(at("not an .npy, WAV or HDF5 file".into())),
        }
    }
    found.arrays.retain(|array| array.samples() > 0);
    Ok(found)
}

impl Found {
    fn add(&mut self, array: Result<Array, String>, path: &Path) {
        match array {
            Ok(array) => self.arrays.push(array),
            Err(why) => self.notes.push(format!("{}: {why}", path.display())),
        }
    }

    fn hdf5(&mut self, path: &Path) -> Result<(), String> {
        let (datasets, others) = hdf5::File::open(path)?.datasets();
        if others > 0 {
            self.notes.push(format!(
                "{}: {} left out: samples are not little-endian integers of 16 or 32 bits.",
                path.display(),
                counted(others, "dataset")
            ));
        }
        for dataset in datasets {
            let element = element(dataset.samples.size, dataset.samples.signed);
            let Some(element) = element else { continue };
            self.arrays.push(Array {
                path: path.to_owned(),
                container: Container::Hdf5,
                element,
                shape: dataset.shape.clone(),
                chunk: Some(dataset.chunk.clone().unwrap_or_else(|| proposed_chunk(&dataset.shape))),
                start: 0,
                dataset: Some(dataset),
            });
        }
        Ok(())
    }
}

/// Formats a count, with the verb that fits: `1 dataset is`, `2 datasets are`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun} is"),
        _ => format!("{count} {noun}s are"),
    }
}

fn element(size: usize, signed: bool) -> Option<ElementType> {
    match (size, signed) {
        (2, true) => Some(ElementType::I16),
        (2, false) => Some(ElementType::U16),
        (4, true) => Some(ElementType::I32),
        (4, false) => Some(ElementType::U32),
        _ => None,
    }
}

/// Describes the array of an `.npy` file of `length` bytes that begins with `head`. Fails unless
/// `head` has the whole header, the file is at least as long as the header says, and the array is
/// one that Delta-Rice takes.
fn npy(path: &Path, head: Vec<u8>, length: u64) -> Result<Array, String> {
    let mut input = Input::from_reader(Cursor::new(head));
    let NpyHeader { element, shape } = NpyHeader::read(&mut input).map_err(|e| e.message.to_string())?;
    let array = Array {
        path: path.to_owned(),
        container: Container::Npy,
        element,
        shape: shape.axes().to_vec(),
        chunk: None,
        start: input.position(),
        dataset: None,
    };
    match array.start.saturating_add(array.bytes()) <= length {
        true => Ok(array),
        false => Err("the file is shorter than its header says".into()),
    }
}

/// Makes one array of all bytes of a WAV file, header included: `linerate rice encode` keeps them
/// all, to restore the file byte for byte.
fn wav(path: &Path, length: u64) -> Result<Array, String> {
    let spec = hound::WavReader::open(path).map_err(|e| e.to_string())?.spec();
    let element = integers(spec).ok_or_else(|| match spec.sample_format {
        hound::SampleFormat::Int => format!(
            "left out: its samples have {} bits, which `linerate rice encode` takes, but no plan measures",
            spec.bits_per_sample
        ),
        hound::SampleFormat::Float => "floating-point samples: Delta-Rice takes integers".to_owned(),
    })?;
    let bytes = element.bytes() as u64;
    if !length.is_multiple_of(bytes) {
        return Err(format!("its length is not a multiple of {bytes}, the bytes of a sample"));
    }
    Ok(Array {
        path: path.to_owned(),
        container: Container::Wav,
        element,
        shape: vec![length / bytes],
        chunk: None,
        start: 0,
        dataset: None,
    })
}

/// Proposes a shape of chunks for an HDF5 dataset that has none: whole rows of at most [`SLICE`]
/// samples together, or a part of one row.
fn proposed_chunk(shape: &[u64]) -> Vec<u64> {
    let mut chunk = vec![1; shape.len()];
    let mut left = SLICE;
    for (axis, &length) in chunk.iter_mut().zip(shape).rev() {
        *axis = length.min(left).max(1);
        left /= *axis;
    }
    chunk
}

impl Array {
    /// Number of samples of the array.
    pub(super) fn samples(&self) -> u64 {
        self.shape.iter().fold(1, |all, &axis| all.saturating_mul(axis))
    }

    /// Bytes of all samples.
    pub(super) fn bytes(&self) -> u64 {
        self.samples().saturating_mul(self.element.bytes() as u64)
    }

    /// Number of samples in a row, which is the last axis of a chunk, or of the array if it has no
    /// chunks. `None` if there is only one axis.
    pub(super) fn row(&self) -> Option<u64> {
        let shape = self.chunk.as_ref().unwrap_or(&self.shape);
        shape.last().copied().filter(|&row| shape.len() > 1 && row > 0)
    }

    /// Length of each axis of what is coded on its own: a chunk, or an array without chunks.
    pub(super) fn coded_shape(&self) -> &[u64] {
        self.chunk.as_ref().unwrap_or(&self.shape)
    }

    /// Reads about `bytes` bytes of the array, but at least a chunk or slice, evenly spread and in
    /// order. Of an HDF5 dataset, each piece is a chunk. Of other arrays, slices of whole rows are
    /// joined into pieces of at most 16 MiB. If rows are longer than `LONGEST_ROW`, or there is one
    /// axis, slices have multiples of `LINE` samples instead, except the last of the array.
    ///
    /// # Errors
    /// Returns a sentence that names the file, if it cannot be read, or if libhdf5 or the plugin
    /// for a filter of the dataset is missing.
    pub(super) fn sample(&self, bytes: u64) -> Result<Vec<Vec<u8>>, String> {
        let mut pieces = Vec::new();
        self.visit(bytes, &mut |piece| {
            pieces.push(piece);
            Ok(())
        })?;
        Ok(pieces)
    }

    /// Reads the pieces that [`sample`](Self::sample) returns, and passes each on before it reads
    /// the next.
    ///
    /// # Errors
    /// Returns the errors of [`sample`](Self::sample), and those of `visit`, with the file's name.
    pub(super) fn visit(&self, bytes: u64, visit: Visit<'_>) -> Result<(), String> {
        let at = |e: String| format!("{}: {e}", self.path.display());
        match (&self.dataset, &self.chunk) {
            (Some(dataset), Some(chunk)) => self.chunks(dataset, chunk, bytes, visit).map_err(at),
            _ => self.slices(bytes, visit).map_err(at),
        }
    }

    fn slices(&self, bytes: u64, visit: Visit<'_>) -> Result<(), String> {
        let width = self.element.bytes() as u64;
        let unit = match self.row() {
            Some(row) if row <= LONGEST_ROW => row,
            _ => LINE,
        };
        let most = (SLICE.min(bytes / width) / unit).max(1) * unit;
        let count = self.samples().div_ceil(most);
        let mut file = File::open(&self.path).map_err(|e| e.to_string())?;
        let mut read = |i: u64| {
            let length = most.min(self.samples() - i * most);
            let mut slice = vec![0; (length * width) as usize];
            file.seek(SeekFrom::Start(self.start + i * most * width))?;
            file.read_exact(&mut slice)?;
            Ok(slice)
        };
        let mut join = Join::default();
        for i in spread(count, bytes / (most * width)) {
            let slice = read(i).map_err(|e: std::io::Error| e.to_string())?;
            join.add(slice).map_or(Ok(()), &mut *visit)?;
        }
        join.piece.map_or(Ok(()), visit)
    }

    fn chunks(
        &self,
        dataset: &hdf5::Dataset,
        chunk: &[u64],
        bytes: u64,
        visit: Visit<'_>,
    ) -> Result<(), String> {
        let file = hdf5::File::open(&self.path)?;
        let counts: Vec<u64> = self.shape.iter().zip(chunk).map(|(n, of)| n.div_ceil((*of).max(1))).collect();
        let size = chunk.iter().fold(self.element.bytes() as u64, |all, &axis| all.saturating_mul(axis));
        let total = counts.iter().fold(1, |all, &n| u64::saturating_mul(all, n));
        let read = |i: u64| {
            let start = coordinates(i, &counts, chunk);
            let count: Vec<u64> =
                (0..start.len()).map(|axis| chunk[axis].min(self.shape[axis] - start[axis])).collect();
            file.read(dataset, &start, &count)
        };
        spread(total, bytes / size.max(1)).try_for_each(|i| visit(read(i)?))
    }
}

/// Receives the bytes of a piece of an array.
pub(super) type Visit<'v> = &'v mut dyn FnMut(Vec<u8>) -> Result<(), String>;

/// Joins slices, in order, into pieces of at most 16 MiB (`CODED`). A longer slice is a piece by
/// itself.
#[derive(Default)]
struct Join {
    /// The piece to which the next slice may be added.
    piece: Option<Vec<u8>>,
}

impl Join {
    /// Adds a slice. Returns the piece before it if that is complete.
    fn add(&mut self, slice: Vec<u8>) -> Option<Vec<u8>> {
        match self.piece.as_mut().filter(|piece| piece.len() + slice.len() <= CODED) {
            Some(piece) => {
                piece.extend(slice);
                None
            }
            None => self.piece.replace(slice),
        }
    }
}

/// Returns where chunk number `i` begins along each axis, in samples. Chunks are numbered along the
/// last axis first. `counts` has the number of chunks along each axis, and `chunk` the lengths of a
/// chunk.
fn coordinates(mut i: u64, counts: &[u64], chunk: &[u64]) -> Vec<u64> {
    let mut start: Vec<u64> = counts
        .iter()
        .zip(chunk)
        .rev()
        .map(|(&count, &axis)| {
            let at = i % count;
            i /= count;
            at * axis
        })
        .collect();
    start.reverse();
    start
}

/// Returns `wanted` of the numbers below `count`, but at least one and at most all, evenly spread
/// and ascending.
fn spread(count: u64, wanted: u64) -> impl Iterator<Item = u64> {
    let taken = wanted.clamp(1, count.max(1));
    (0..taken).map(move |i| (u128::from(2 * i + 1) * u128::from(count) / u128::from(2 * taken)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testdata::{samples, write_npy};

    #[test]
    fn containers_are_recognised_by_their_first_bytes() {
        assert_eq!(Container::recognise(b"\x93NUMPY\x01\x00"), Some(Container::Npy));
        assert_eq!(Container::recognise(b"RIFF\x24\0\0\0WAVEfmt "), Some(Container::Wav));
        assert_eq!(Container::recognise(b"\x89HDF\r\n\x1a\n\0"), Some(Container::Hdf5));
        let user_block = [&[b'#'; 512][..], HDF5].concat();
        assert_eq!(Container::recognise(&user_block), Some(Container::Hdf5));
        for other in [&b"RIFF\x24\0\0\0AVI "[..], b"\x89HDF", b"", &user_block[1..]] {
            assert_eq!(Container::recognise(other), None);
        }
    }

    #[test]
    fn spread_numbers_are_distinct_and_within_the_count() {
        assert_eq!(spread(10, 5).collect::<Vec<_>>(), [1, 3, 5, 7, 9]);
        assert_eq!(spread(3, 100).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(spread(7, 0).collect::<Vec<_>>(), [3]);
        assert_eq!(spread(u64::MAX, 2).last(), Some(u64::MAX / 4 * 3 + 2));
    }

    #[test]
    fn proposed_chunks_are_whole_rows_as_far_as_they_fit() {
        assert_eq!(proposed_chunk(&[2000, 7000]), [74, 7000]);
        assert_eq!(proposed_chunk(&[10, 7000]), [10, 7000]);
        assert_eq!(proposed_chunk(&[1 << 30]), [SLICE]);
        assert_eq!(proposed_chunk(&[5, 1000, 1 << 30]), [1, 1, SLICE]);
    }

    #[test]
    fn chunk_numbers_are_coordinates_with_the_last_axis_first() {
        let (counts, chunk) = ([3, 2], [64, 700]);
        let all: Vec<Vec<u64>> = (0..6).map(|i| coordinates(i, &counts, &chunk)).collect();
        assert_eq!(all, [[0, 0], [0, 700], [64, 0], [64, 700], [128, 0], [128, 700]]);
    }

    #[test]
    fn sample_of_an_npy_file_is_whole_rows_or_all_of_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("nab.npy");
        write_npy(&path, 50);
        let found = find(&[path]).expect("readable");
        let [array] = &found.arrays[..] else { panic!("{found:?}") };
        assert_eq!((array.row(), array.bytes()), (Some(7000), 700_000));
        let whole: Vec<u8> = samples(50).iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(array.sample(u64::MAX).expect("readable").concat(), whole);
        let some = array.sample(100_000).expect("readable");
        assert!(some.iter().all(|piece| piece.len() % 14_000 == 0) && some.concat().len() <= 100_000);
        assert!(!some.is_empty() && whole.windows(some[0].len()).any(|part| part == some[0]));
    }

    #[test]
    fn slices_are_joined_to_pieces_of_at_most_16_mib() {
        let lengths = |slices: &[usize]| -> Vec<usize> {
            let mut join = Join::default();
            let mut pieces: Vec<_> = slices.iter().filter_map(|&n| join.add(vec![1; n])).collect();
            pieces.extend(join.piece);
            pieces.iter().map(Vec::len).collect()
        };
        assert_eq!(lengths(&[CODED / 2, CODED / 2, 1, 2]), [CODED, 3]);
        assert_eq!(lengths(&[5, CODED + 1, 5]), [5, CODED + 1, 5]);
        assert_eq!(lengths(&[]), [0; 0]);
    }

    #[test]
    fn file_shorter_than_its_header_says_is_left_out_with_a_note() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("cut.npy");
        for (shape, is_whole) in [(4u64, true), (5, false), (1 << 60, false)] {
            let text = format!("{{'descr': '<i2', 'fortran_order': False, 'shape': ({shape},), }}");
            let head = [&b"\x93NUMPY\x01\x00\x76\x00"[..], format!("{text:<117}\n").as_bytes()].concat();
            std::fs::write(&path, [&head[..], &[0; 8]].concat()).expect("writable");
            let found = find(std::slice::from_ref(&path)).expect("readable");
            assert_eq!((found.arrays.len(), found.notes.is_empty()), (usize::from(is_whole), is_whole));
            assert!(is_whole || found.notes[0].ends_with("shorter than its header says"), "{found:?}");
        }
    }

    #[test]
    fn floating_point_samples_are_left_out_with_a_note() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("float.npy");
        let text =
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }                                    \n";
        let head = [&b"\x93NUMPY\x01\x00"[..], &(text.len() as u16).to_le_bytes(), text.as_bytes(), &[0; 8]];
        std::fs::write(&path, head.concat()).expect("writable");
        let found = find(&[path]).expect("readable");
        assert!(found.arrays.is_empty() && found.notes[0].contains("not of type '<i2'"), "{found:?}");
    }

    #[test]
    fn wav_files_of_other_samples_are_left_out_with_a_note_that_says_whether_the_command_takes_them() {
        let folder = tempfile::tempdir().expect("a folder");
        for (bits, sample_format, note) in [
            (8, hound::SampleFormat::Int, "8 bits, which `linerate rice encode` takes"),
            (24, hound::SampleFormat::Int, "24 bits, which `linerate rice encode` takes"),
            (32, hound::SampleFormat::Float, "floating-point samples: Delta-Rice takes integers"),
        ] {
            let path = folder.path().join("tone.wav");
            let spec =
                hound::WavSpec { channels: 1, sample_rate: 48_000, bits_per_sample: bits, sample_format };
            hound::WavWriter::create(&path, spec).expect("writable").finalize().expect("writable");
            let found = find(&[path]).expect("readable");
            assert!(found.arrays.is_empty() && found.notes[0].contains(note), "{found:?}");
        }
    }
}
