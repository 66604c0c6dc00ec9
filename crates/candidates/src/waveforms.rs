//! Measures candidates for waveforms: version 1 of Delta-Rice with default and tuned parameters,
//! version 2, and, for comparison, zstd after a byte shuffle.
//!
//! The samples of a waveform are its numbers. The sample of the data is what candidates code:
//! pieces of arrays. Version 2 also codes a larger part of the data, usually all of it, since the
//! amplitude of waveforms varies: a seismogram is quiet for hours before an earthquake. The sizes
//! of all candidates are scaled by the quotient of its densities there and in the sample.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use linerate_plan::{Measurement, Memory};
use linerate_rice::tune::{Histogram, best_filter, best_m};
use linerate_rice::v2::{self, Element, ElementType, StreamOptions};
use linerate_rice::{Filter, Options as Threads, Params, decode_into, encode_into, expands};

use super::arrays::{Array, Container, Found, counted, find};
use super::command::operand;
use super::pieces::{Candidate, Checked, time};
use super::rice_files::{RiceFile, Version};
use super::sample::FileSet;
use super::{Measured, Options, Progress, general};

/// Bytes of the data that candidates code, for each second of the measurement. All candidates
/// together take about 60 ns to code a byte once, most of it in zstd 9, and they do so about ten
/// times.
const BYTES_PER_SECOND: f64 = 1e6;
/// Smallest and largest part of the data that candidates code, in bytes. Smaller data is coded
/// whole.
const SAMPLE: (u64, u64) = (256 << 10, 32 << 20);
/// Bytes of the data that Delta-Rice 2 codes once, for each second of the measurement, to estimate
/// sizes for all of the data. It takes 1 to 2 ns for a byte, so less than a tenth of the time.
const ONCE_BYTES_PER_SECOND: f64 = 40e6;
/// Smallest mean number of bytes that are sampled of each `.npy` or WAV file, unless the files are
/// smaller: 16,384 numbers of 16 bits, which Delta-Rice codes together in an array of one row.
const LEAST: u64 = 32 << 10;
/// Largest file, in bytes, that `linerate rice` processes at the same time as others. All threads
/// share a larger one.
const SMALL: u64 = 1 << 20;
/// Levels of libzstd that are tried after a byte shuffle.
const ZSTD_LEVELS: [i32; 2] = [3, 9];
/// The settings of Delta-Rice 2, for people.
const VERSION_2: &str = "Delta-Rice 2";
/// Numbers of the HDF5 filters of Delta-Rice 1 and Delta-Rice 2.
const FILTER: (u32, u32) = (32025, 325);

/// Measures Delta-Rice, and zstd for comparison, on arrays in `.npy`, WAV and HDF5 files. There are
/// no measurements if no file has integers of 16 or 32 bits.
///
/// # Errors
/// Returns a sentence if a file cannot be read, all files below a folder are empty, a candidate
/// fails, or there is an HDF5 file and libhdf5 is missing or too old.
pub(super) fn measure(
    paths: &[PathBuf],
    options: &Options,
    progress: Progress<'_>,
) -> Result<Measured, String> {
    progress("reading a sample");
    let mut found = find(&files(paths)?)?;
    let Some(element) = most_common(&found.arrays) else {
        return Ok(Measured { notes: found.notes, ..Measured::default() });
    };
    keep_alike(&mut found, element);
    let all: u64 = found.arrays.iter().map(Array::bytes).sum();
    let wanted = ((options.seconds * BYTES_PER_SECOND) as u64).clamp(SAMPLE.0, SAMPLE.1).min(all);
    let files: Vec<PathBuf> = found.arrays.iter().map(|array| array.path.clone()).collect();
    let every_array = found.arrays.clone();
    // Small files are sampled whole, since a file takes time besides its samples.
    let of_each = (all / every_array.len() as u64).clamp(LEAST, SMALL);
    thin_out(&mut found.arrays, (wanted / of_each) as usize);
    let sampled: u64 = found.arrays.iter().map(Array::bytes).sum();
    let (mut raw, mut owners) = (Vec::new(), Vec::new());
    for (owner, array) in found.arrays.iter().enumerate() {
        let share = u128::from(wanted) * u128::from(array.bytes()) / u128::from(sampled.max(1));
        let pieces = array.sample(share as u64)?;
        owners.extend(pieces.iter().map(|_| owner));
        raw.extend(pieces);
    }
    let sample = Sample { sources: paths, files: &files, arrays: &found.arrays, owners: &owners, raw: &raw };
    let mut measurements = match element {
        ElementType::I16 => sample.measure::<i16>(Some(&sample.words()), options, progress),
        ElementType::U16 => sample.measure::<u16>(Some(&sample.words()), options, progress),
        ElementType::I32 => sample.measure::<i32>(None, options, progress),
        ElementType::U32 => sample.measure::<u32>(None, options, progress),
    }?;
    let sampled = raw.iter().map(|piece| piece.len() as u64).sum();
    if sampled < all {
        progress("how well all of the data compresses");
        let wanted = (options.seconds * ONCE_BYTES_PER_SECOND) as u64;
        let density = match element {
            ElementType::I16 => density::<i16>(every_array, wanted),
            ElementType::U16 => density::<u16>(every_array, wanted),
            ElementType::I32 => density::<i32>(every_array, wanted),
            ElementType::U32 => density::<u32>(every_array, wanted),
        }?;
        scale(&mut measurements, density, all);
    }
    Ok(Measured { measurements, bytes: all, sampled, notes: found.notes, ..Measured::default() })
}

/// Codes about `wanted` bytes of the arrays, or all of them, with Delta-Rice 2, and returns the
/// compressed bytes divided by the bytes of content.
fn density<T: Word>(mut arrays: Vec<Array>, mut wanted: u64) -> Result<f64, String> {
    let all: u64 = arrays.iter().map(Array::bytes).sum();
    let is_whole = wanted >= all;
    if !is_whole {
        wanted = wanted.max(SAMPLE.0);
        thin_out(&mut arrays, (wanted / LEAST) as usize);
    }
    let kept: u64 = arrays.iter().map(Array::bytes).sum();
    let (mut content, mut compressed, mut stream) = (0, 0, Vec::new());
    for array in &arrays {
        let share = u128::from(wanted) * u128::from(array.bytes()) / u128::from(kept.max(1));
        let settings = stream_options(array);
        array.visit(if is_whole { u64::MAX } else { share as u64 }, &mut |piece| {
            let words = T::from_bytes(&piece);
            stream.resize(v2::bound::<T>(&settings, words.len()), 0);
            let coded = v2::encode_into(&settings, &words, &mut stream, Threads::new());
            content += piece.len();
            compressed += coded.map_err(|e| e.to_string())?;
            Ok(())
        })?;
    }
    Ok(compressed as f64 / content.max(1) as f64)
}

/// Scales the sizes of the sample up to all of the data, of which Delta-Rice 2 has this density:
/// compressed bytes per byte of content. Other candidates are assumed to differ from it as they do
/// in the sample.
fn scale(measurements: &mut [Measurement], density: f64, all: u64) {
    let of = |found: &Measurement| found.compressed as f64 / found.content.max(1) as f64;
    let Some(in_sample) = measurements.iter().find(|found| found.settings == VERSION_2).map(of) else {
        return;
    };
    for found in measurements {
        found.compressed = (of(found) * density / in_sample * all as f64).round() as u64;
        found.content = all;
    }
}

/// Keeps every n-th array, at most `most` together but at least one, so that on average [`LEAST`]
/// bytes of each can be coded. Keeps all datasets of HDF5 files, since the command has parameters
/// for each.
fn thin_out(arrays: &mut Vec<Array>, most: usize) {
    let step = arrays.len().div_ceil(most.max(1));
    if arrays[0].container != Container::Hdf5 {
        let mut at = 0..;
        arrays.retain(|_| at.next().is_some_and(|at: usize| at.is_multiple_of(step)));
    }
}

/// Returns the files among these paths, and the `.npy` and WAV files that are not empty below the
/// folders among these paths: those that `linerate rice encode -r` encodes.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => files.extend(
                FileSet::new(std::slice::from_ref(path))?
                    .files
                    .into_iter()
                    .map(|file| file.path)
                    .filter(|path| is_named_as_array(path)),
            ),
            false => files.push(path.clone()),
        }
    }
    Ok(files)
}

fn is_named_as_array(path: &Path) -> bool {
    path.extension()
        .is_some_and(|suffix| ["npy", "wav"].iter().any(|known| suffix.eq_ignore_ascii_case(known)))
}

/// Keeps only arrays whose numbers have this type, in the file format of the first of them, because
/// one command must suit all arrays. Adds notes about arrays left out, and about `h5repack`.
fn keep_alike(found: &mut Found, element: ElementType) {
    let before = found.arrays.len();
    let container = found.arrays.iter().find(|array| array.element == element).map(|array| array.container);
    found.arrays.retain(|array| array.element == element && Some(array.container) == container);
    let (left, name) = (before - found.arrays.len(), element.name());
    if left > 0 {
        found.notes.push(format!(
            "{} left out: samples are not {name}, or the file is of another kind.",
            counted(left, "array")
        ));
    }
    let first = &found.arrays[0].path;
    if container != Some(Container::Hdf5) {
        return;
    }
    if found.arrays.iter().any(|array| array.path != *first) {
        found
            .notes
            .push(format!("The command is only for {}: h5repack takes one file at a time.", first.display()));
    }
    found.notes.push(
        "h5repack loads filters from the folder in HDF5_PLUGIN_PATH: set it to the folder with Linerate's \
         plugins."
            .into(),
    );
}

/// Returns the type of numbers that has the most bytes in these arrays. `None` without arrays.
fn most_common(arrays: &[Array]) -> Option<ElementType> {
    let bytes = |element: &ElementType| -> u64 {
        arrays.iter().filter(|array| array.element == *element).map(Array::bytes).sum()
    };
    ElementType::ALL.into_iter().filter(|element| bytes(element) > 0).max_by_key(bytes)
}

/// A type of numbers that can be read from little-endian bytes.
trait Word: Element {
    fn from_bytes(bytes: &[u8]) -> Vec<Self>;
}

macro_rules! words {
    ($($word:ty),*) => { $(
        impl Word for $word {
            fn from_bytes(bytes: &[u8]) -> Vec<Self> {
                bytes.as_chunks().0.iter().map(|word| <$word>::from_le_bytes(*word)).collect()
            }
        }
    )* };
}
words!(i16, u16, i32, u32);

/// What candidates code: pieces of arrays whose numbers have one type.
struct Sample<'s> {
    /// The files and folders that were given.
    sources: &'s [PathBuf],
    /// The file of each array that the command encodes, sampled or not.
    files: &'s [PathBuf],
    /// The arrays from which pieces are taken.
    arrays: &'s [Array],
    /// For each piece, the index of its array in `arrays`.
    owners: &'s [usize],
    /// The pieces, as the bytes in the files.
    raw: &'s [Vec<u8>],
}

impl Sample<'_> {
    fn typed<T: Word>(&self) -> Vec<Vec<T>> {
        self.raw.iter().map(|piece| T::from_bytes(piece)).collect()
    }

    /// Returns the pieces as signed 16-bit numbers. Delta-Rice 1 codes unsigned ones as if they
    /// were signed.
    fn words(&self) -> Vec<Vec<i16>> {
        self.typed()
    }

    /// Measures all candidates. `words` has the pieces for Delta-Rice 1, which takes only numbers
    /// of 16 bits; `None` for numbers of 32 bits.
    fn measure<T: Word>(
        &self,
        words: Option<&Vec<Vec<i16>>>,
        options: &Options,
        progress: Progress<'_>,
    ) -> Result<Vec<Measurement>, String> {
        let typed: Vec<Vec<T>> = self.typed();
        let shuffled: Vec<Vec<u8>> =
            self.raw.iter().map(|piece| general::shuffle(piece, size_of::<T>())).collect();
        let mut candidates: Vec<Checked<'_>> = Vec::new();
        if let Some(words) = words {
            for setting in self.settings(words) {
                progress(&setting.words());
                let checked = self.version_1(words, &setting).check()?;
                // A candidate that makes the data larger by more than 2 %, and by more than 64
                // bytes, is left out: `linerate rice encode` refuses that, and general codecs do
                // better.
                if !expands(checked.measurement.content as usize / 2, checked.measurement.compressed) {
                    let tunes = setting.tunes();
                    let version = |owner: usize| Version::One { params: setting.params[owner], tunes };
                    candidates.push(self.in_files(checked, version)?);
                }
            }
        }
        progress(VERSION_2);
        candidates.push(self.in_files(self.version_2(&typed).check()?, |_| Version::Two)?);
        for level in ZSTD_LEVELS {
            progress("libzstd");
            let shuffled = general::zstd(&shuffled, level, format!("shuffle, then libzstd {level}"));
            candidates.push(shuffled.check()?);
        }
        time(candidates, options, progress)
    }

    /// Returns the distinct parameters of Delta-Rice 1 to try. Each setting has parameters for
    /// every array.
    fn settings(&self, words: &[Vec<i16>]) -> Vec<Setting> {
        let usual = |(array, _): (&Array, usize)| Params::new(8, segment(array)).unwrap_or_default();
        let of_array = |at: usize| -> Vec<i16> {
            let own = self.owners.iter().zip(words).filter(|(owner, _)| **owner == at);
            own.flat_map(|(_, piece)| piece.iter().copied()).collect()
        };
        let arrays = || self.arrays.iter().zip(0..);
        let tuned = |(array, at): (&Array, usize)| {
            let (m, _) = Histogram::of(&of_array(at), segment(array), &Filter::DELTA).best_m();
            Params::new(m, segment(array)).unwrap_or_default()
        };
        let mut all = vec![
            Setting { choice: Choice::Default, params: arrays().map(usual).collect() },
            Setting { choice: Choice::TunedM, params: arrays().map(tuned).collect() },
        ];
        // The command has one filter for all files. Only HDF5 datasets can have one each.
        if self.arrays.len() == 1 || self.arrays[0].container == Container::Hdf5 {
            let searched = |(array, at): (&Array, usize)| best_filter(&of_array(at), segment(array));
            let params: Vec<Params> = arrays().map(searched).collect();
            if params.iter().any(|params| params.filter() != &Filter::DELTA) {
                all.push(Setting { choice: Choice::Filter, params });
            }
        }
        all.dedup_by(|b, a| a.params == b.params);
        all
    }

    fn version_1<'c>(&'c self, words: &'c [Vec<i16>], setting: &Setting) -> Candidate<'c, i16> {
        let params: Vec<Params> = self.owners.iter().map(|&owner| setting.params[owner]).collect();
        let for_encoding = params.clone();
        let tunes = setting.tunes();
        let longest = words.iter().map(Vec::len).max().unwrap_or(0);
        Candidate {
            measurement: self.measurement(
                setting.words(),
                self.command_1(setting),
                size_of::<i16>() * longest,
            ),
            pieces: words,
            encode: Box::new(move |pieces, out| {
                let mut chunk = Vec::new();
                for (piece, params) in pieces.iter().zip(&for_encoding) {
                    if tunes {
                        black_box(best_m(piece, params.segment(), params.filter()));
                    }
                    chunk.resize(params.bound(piece.len()), 0);
                    let n =
                        encode_into(params, piece, &mut chunk, Threads::new()).map_err(|e| e.to_string())?;
                    out(&chunk[..n]);
                }
                Ok(())
            }),
            decode: Box::new(move |chunks, out| {
                let mut samples = vec![0; longest];
                for (i, (chunk, params)) in chunks.iter().zip(&params).enumerate() {
                    let n = decode_into(params, chunk, &mut samples, Threads::new())
                        .map_err(|e| e.to_string())?;
                    out(i, &samples[..n]);
                }
                Ok(())
            }),
        }
    }

    fn version_2<'c, T: Word>(&'c self, pieces: &'c [Vec<T>]) -> Candidate<'c, T> {
        let settings: Vec<StreamOptions> =
            self.owners.iter().map(|&owner| stream_options(&self.arrays[owner])).collect();
        let longest = pieces.iter().map(Vec::len).max().unwrap_or(0);
        Candidate {
            measurement: self.measurement(VERSION_2.into(), Some(self.command_2()), size_of::<T>() * longest),
            pieces,
            encode: Box::new(move |pieces, out| {
                let mut stream = Vec::new();
                for (piece, settings) in pieces.iter().zip(&settings) {
                    stream.resize(v2::bound::<T>(settings, piece.len()), 0);
                    let n = v2::encode_into(settings, piece, &mut stream, Threads::new())
                        .map_err(|e| e.to_string())?;
                    out(&stream[..n]);
                }
                Ok(())
            }),
            decode: Box::new(move |streams, out| {
                let mut samples = vec![T::default(); longest];
                for (i, stream) in streams.iter().enumerate() {
                    let n =
                        v2::decode_into(stream, &mut samples, Threads::new()).map_err(|e| e.to_string())?;
                    out(i, &samples[..n]);
                }
                Ok(())
            }),
        }
    }

    /// Times a candidate as `linerate rice` codes `.npy` and WAV files: each piece is a file. Threads
    /// share large files, and of small ones each thread codes its own. HDF5's filters code chunks in
    /// memory. `version` returns the version for the array with this index.
    fn in_files<'c>(
        &self,
        checked: Checked<'c>,
        version: impl Fn(usize) -> Version,
    ) -> Result<Checked<'c>, String> {
        if self.arrays[0].container == Container::Hdf5 {
            return Ok(checked);
        }
        let file = |(content, &owner): (&Vec<u8>, &usize)| {
            let array = &self.arrays[owner];
            RiceFile::new(array.element, row(array), version(owner), content)
        };
        let files: Vec<RiceFile> = self.raw.iter().zip(self.owners).map(file).collect::<Result<_, _>>()?;
        let mean = self.arrays.iter().map(Array::bytes).sum::<u64>() / self.arrays.len() as u64;
        let files = Arc::new(files);
        let coded = files.clone();
        let encode = move |threads| files.iter().try_for_each(|file| file.encode(threads));
        let decode = move |threads| coded.iter().try_for_each(|file| file.decode(threads));
        Ok(match mean > SMALL {
            true => checked.shared_by(encode, decode),
            false => checked.coded_by(move || encode(1), move || decode(1)),
        })
    }

    fn measurement(&self, settings: String, command: Option<Vec<String>>, buffer: usize) -> Measurement {
        Measurement {
            engine: "rice".into(),
            settings,
            command,
            // Nothing is kept between calls. A thread holds the numbers of the longest piece.
            memory: Memory { per_stream: 0, per_thread: buffer as u64 },
            ..Measurement::default()
        }
    }

    /// Returns the command for Delta-Rice 1. `None` for WAV files if a folder is given: they need
    /// `--v1 --dtype`, with which the command refuses `.npy` files below the folder.
    fn command_1(&self, setting: &Setting) -> Option<Vec<String>> {
        let container = self.arrays[0].container;
        if container == Container::Hdf5 {
            return Some(self.repack(|owner| (FILTER.0, setting.filter_values(owner))));
        }
        if container == Container::Wav && self.has_folders() {
            return None;
        }
        let mut flags = vec!["--v1".to_owned()];
        match setting.choice {
            // Without --m the command searches for the best m of each array, and reads each array
            // twice.
            Choice::Default | Choice::TunedM => {
                flags.extend(setting.common_m().into_iter().flat_map(|m| ["--m".to_owned(), m.to_string()]));
            }
            Choice::Filter => {
                let taps = list(setting.params[0].filter().taps());
                flags.extend(["--m".into(), setting.params[0].m().to_string(), format!("--filter={taps}")]);
            }
        }
        if container == Container::Wav {
            flags.extend(["--dtype".into(), self.arrays[0].element.name().into()]);
        }
        Some(self.encode(flags))
    }

    fn has_folders(&self) -> bool {
        self.sources.iter().any(|path| path.is_dir())
    }

    fn command_2(&self) -> Vec<String> {
        match self.arrays[0].container {
            Container::Hdf5 => self.repack(|_| (FILTER.1, vec![0])),
            Container::Npy | Container::Wav => self.encode(Vec::new()),
        }
    }

    /// Returns the `linerate rice encode` command for all files, or for the given paths if there
    /// are folders among them.
    fn encode(&self, flags: Vec<String>) -> Vec<String> {
        let mut command = vec!["linerate".to_owned(), "rice".into(), "encode".into()];
        command.extend(flags);
        let folders = self.has_folders();
        command.extend(folders.then(|| "-r".into()));
        let operands = if folders { self.sources } else { self.files };
        command.extend(operands.iter().map(|path| operand(path)));
        command
    }

    /// Returns the `h5repack` command for the first file. `filter` returns the number and the
    /// parameters of the HDF5 filter for the dataset with this index in `arrays`. Datasets without
    /// chunks get the proposed ones.
    fn repack(&self, filter: impl Fn(usize) -> (u32, Vec<u32>)) -> Vec<String> {
        let path = &self.arrays[0].path;
        let mut command = vec!["h5repack".to_owned()];
        let mut names: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (owner, array) in self.arrays.iter().enumerate().filter(|(_, array)| array.path == *path) {
            let Some(dataset) = &array.dataset else { continue };
            let (number, values) = filter(owner);
            let filter = format!("UD={number},0,{},{}", values.len(), list(&values));
            names.entry(filter).or_default().push(&dataset.name);
            if dataset.chunk.is_none() {
                let axes: Vec<String> = array.coded_shape().iter().map(u64::to_string).collect();
                command.extend(["-l".into(), format!("{}:CHUNK={}", dataset.name, axes.join("x"))]);
            }
        }
        for (filter, names) in names {
            command.extend(["-f".into(), format!("{}:{filter}", names.join(","))]);
        }
        command.extend([operand(path), operand(&repacked(path))]);
        command
    }
}

/// Returns the options with which the command or the HDF5 filter codes an array by Delta-Rice 2.
fn stream_options(array: &Array) -> StreamOptions {
    StreamOptions::new().row(row(array))
}

/// Returns the length of the array's rows, unless it is too long for a stream to record.
fn row(array: &Array) -> Option<NonZeroU32> {
    array.row().and_then(|row| NonZeroU32::new(u32::try_from(row).ok()?))
}

/// Returns how many numbers are coded together (the segment length), as the command and the HDF5
/// filter choose it for an array or a chunk of this shape. `None` means all of them.
fn segment(array: &Array) -> Option<NonZeroU32> {
    Params::segment_for(array.coded_shape())
}

/// Returns the path of the repacked file: `data.rice.h5` for `data.h5`.
fn repacked(path: &Path) -> PathBuf {
    let end = path.extension().map_or_else(|| "h5".into(), |end| end.to_string_lossy().into_owned());
    path.with_extension(format!("rice.{end}"))
}

fn list<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

/// How the parameters of Delta-Rice 1 are chosen: the Rice parameter m, and the prediction filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// m = 8, and as filter the difference from the number before.
    Default,
    /// The m with the smallest output for each array, and as filter the difference from the number
    /// before.
    TunedM,
    /// The filter of up to four coefficients that a search finds for each array, and its best m.
    Filter,
}

/// Parameters of Delta-Rice 1, for each array.
#[derive(Clone, Debug)]
struct Setting {
    choice: Choice,
    params: Vec<Params>,
}

impl Setting {
    fn words(&self) -> String {
        let each = |of: fn(&Params) -> String| {
            let mut all: Vec<String> = self.params.iter().map(of).collect();
            all.sort();
            all.dedup();
            match all.len() {
                1 => all.remove(0),
                _ => "tuned for each array".to_owned(),
            }
        };
        let m = each(|params| params.m().to_string());
        match self.choice {
            Choice::Default | Choice::TunedM => format!("Delta-Rice, m {m}"),
            Choice::Filter => {
                format!("Delta-Rice, m {m}, filter {}", each(|params| list(params.filter().taps())))
            }
        }
    }

    /// Whether `linerate rice encode` is called without `--m`, because arrays have different values
    /// of m. It then searches for the best m, so the search is timed too.
    fn tunes(&self) -> bool {
        self.choice == Choice::TunedM && self.common_m().is_none()
    }

    /// The m of all arrays; `None` if arrays have different values of m.
    fn common_m(&self) -> Option<u32> {
        let first = self.params.first()?.m();
        self.params.iter().all(|params| params.m() == first).then_some(first)
    }

    /// Returns the parameters of the HDF5 filter for the array with this index. If the filter gets
    /// only the first one, m, it chooses the segment length by itself.
    fn filter_values(&self, owner: usize) -> Vec<u32> {
        let params = &self.params[owner];
        match self.choice {
            Choice::Default | Choice::TunedM => vec![params.m()],
            Choice::Filter => {
                let (n, values) = params.cd_values();
                values[..n].to_vec()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testdata::write_npy;

    fn options() -> Options {
        Options { seconds: 0.05, threads: 2, seed: 1 }
    }

    fn named<'m>(measured: &'m Measured, start: &str) -> &'m Measurement {
        measured.measurements.iter().find(|found| found.settings.starts_with(start)).expect(start)
    }

    #[test]
    fn npy_file_is_measured_with_both_versions_and_after_a_shuffle() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("nab.npy");
        write_npy(&path, 40);
        let measured = measure(std::slice::from_ref(&path), &options(), &|_| {}).expect("measured");
        assert_eq!(measured.bytes, 560_000);
        let (tuned, second) = (named(&measured, "Delta-Rice, m"), named(&measured, "Delta-Rice 2"));
        assert!(tuned.ratio() > 2.5 && second.ratio() > 2.5);
        let command = second.command.as_ref().expect("a command");
        assert_eq!(command[1..], ["rice", "encode", &path.display().to_string()]);
        let shuffled = named(&measured, "shuffle");
        assert!(shuffled.command.is_none() && shuffled.ratio() < second.ratio(), "{shuffled:?}");
        assert!(measured.measurements.iter().all(|found| found.decode.is_some() && found.encode.is_some()));
    }

    #[test]
    fn loud_part_that_the_sample_misses_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("quake.npy");
        write_npy(&path, 200);
        let mut file = std::fs::read(&path).expect("readable");
        let noise = crate::testdata::random(700_000);
        file[1_800_128..2_500_128].copy_from_slice(&noise);
        std::fs::write(&path, &file).expect("writable");
        let options = Options { seconds: 0.1, ..options() };
        let measured = measure(std::slice::from_ref(&path), &options, &|_| {}).expect("measured");
        assert!(measured.sampled < 300_000 && measured.bytes == 2_800_000);
        let words = i16::from_bytes(&file[128..]);
        let settings = StreamOptions::new().row(NonZeroU32::new(7000));
        let mut stream = vec![0; v2::bound::<i16>(&settings, words.len())];
        let real = v2::encode_into(&settings, &words, &mut stream, Threads::new()).expect("encoded") as u64;
        let second = named(&measured, VERSION_2);
        assert!(second.compressed.abs_diff(real) <= 1, "{} {real}", second.compressed);
        let shuffled = named(&measured, "shuffle");
        assert!(shuffled.compressed > 700_000, "{shuffled:?}");
    }

    #[test]
    fn many_small_arrays_are_sampled_and_all_of_them_are_in_the_command() {
        let folder = tempfile::tempdir().expect("a folder");
        let paths: Vec<PathBuf> = (0..30).map(|i| folder.path().join(format!("{i:02}.npy"))).collect();
        paths.iter().for_each(|path| write_npy(path, 10));
        let measured = measure(&paths, &options(), &|_| {}).expect("measured");
        assert_eq!(measured.bytes, 30 * 140_000);
        assert!(measured.sampled <= 2 * SAMPLE.0, "{}", measured.sampled);
        let command = named(&measured, "Delta-Rice 2").command.clone().expect("a command");
        assert_eq!(command.len(), 3 + paths.len());
    }

    #[test]
    fn wav_file_is_coded_whole_with_its_header() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tone.wav");
        let spec = hound::WavSpec {
            channels: 1,
            sample_rate: 48_000,
            bits_per_sample: 16,
            sample_format: hound::SampleFormat::Int,
        };
        let mut writer = hound::WavWriter::create(&path, spec).expect("writable");
        (0..100_000).for_each(|i: i32| writer.write_sample((i % 200 - 100) as i16).expect("writable"));
        writer.finalize().expect("writable");
        let measured = measure(std::slice::from_ref(&path), &options(), &|_| {}).expect("measured");
        assert_eq!(measured.bytes, std::fs::metadata(&path).expect("a file").len());
        let command = named(&measured, "Delta-Rice 2").command.clone().expect("a command");
        assert_eq!(command[1..], ["rice", "encode", &path.display().to_string()]);
    }

    #[test]
    fn floating_point_array_has_no_measurement_but_a_note() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("float.npy");
        let text = format!("{:<107}\n", "{'descr': '<f4', 'fortran_order': False, 'shape': (4096,), }");
        let mut file =
            [&b"\x93NUMPY\x01\x00"[..], &(text.len() as u16).to_le_bytes(), text.as_bytes()].concat();
        file.extend((0..4096).flat_map(|i| (i as f32).to_le_bytes()));
        std::fs::write(&path, file).expect("writable");
        let measured = measure(&[path], &options(), &|_| {}).expect("measured");
        assert!(measured.notes[0].contains("are not of type"), "{:?}", measured.notes);
        assert!(measured.measurements.is_empty());
    }

    #[test]
    fn repacked_file_has_a_name_of_its_own() {
        assert_eq!(repacked(Path::new("a/run.h5")), Path::new("a/run.rice.h5"));
        assert_eq!(repacked(Path::new("run")), Path::new("run.rice.h5"));
    }
}
