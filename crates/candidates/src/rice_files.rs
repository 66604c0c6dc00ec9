//! Codes pieces of arrays as `linerate rice` codes files: through the encoders and readers of
//! [`linerate_rice::file`], which allocate their buffers for each file, and whose threads share a
//! file. The files are in memory.

use std::hint::black_box;
use std::io::Cursor;
use std::num::NonZeroU32;
use std::sync::Arc;

use linerate_rice::file::{
    ArrayReader, ChunkEncoder, ChunkOptions, ChunkReader, Input, NpyHeader, SegmentChoice, StreamEncoder,
    StreamReader,
};
use linerate_rice::v2::{ElementType, Shape, StreamOptions};
use linerate_rice::{Error, Options, Params};

/// The version of Delta-Rice that codes a file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Version {
    /// Version 1 with these parameters. If `tunes`, encoding searches for the best m.
    One { params: Params, tunes: bool },
    /// Version 2 with the rows of the array.
    Two,
}

/// An `.npy` file, and its Delta-Rice file.
pub(super) struct RiceFile {
    row: Option<NonZeroU32>,
    version: Version,
    array: Arc<[u8]>,
    coded: Arc<[u8]>,
}

impl RiceFile {
    /// Makes both files of little-endian samples, in rows of `row` samples if there are rows.
    ///
    /// # Errors
    /// Returns the message of the encoder.
    pub(super) fn new(
        element: ElementType,
        row: Option<NonZeroU32>,
        version: Version,
        samples: &[u8],
    ) -> Result<RiceFile, String> {
        let count = (samples.len() / element.bytes()) as u64;
        let shape = Shape::from_rows(count, row.map(|row| row.get().into()));
        let array = [&NpyHeader { element, shape }.to_bytes(), samples].concat();
        let mut file = RiceFile { row, version, array: array.into(), coded: Arc::default() };
        let mut coded = Vec::new();
        file.encode_to(Options::new(), &mut |bytes| coded.extend_from_slice(bytes))
            .map_err(|e| e.to_string())?;
        file.coded = coded.into();
        Ok(file)
    }

    /// Encodes the array on this many threads, and drops the result.
    ///
    /// # Errors
    /// Returns the message of the encoder.
    pub(super) fn encode(&self, threads: usize) -> Result<(), String> {
        self.encode_to(Options::new().threads(threads), &mut |bytes| _ = black_box(bytes))
            .map_err(|e| e.to_string())
    }

    /// Decodes the Delta-Rice file on this many threads, and drops the samples.
    ///
    /// # Errors
    /// Returns the message of the decoder.
    pub(super) fn decode(&self, threads: usize) -> Result<(), String> {
        self.decode_to(Options::new().threads(threads), &mut |bytes| _ = black_box(bytes))
            .map_err(|e| e.to_string())
    }

    fn encode_to(&self, options: Options, out: &mut dyn FnMut(&[u8])) -> Result<(), Error> {
        let array = ArrayReader::npy(file(&self.array))?;
        match self.version {
            Version::One { params, tunes } => {
                let segment = params.segment().map_or(SegmentChoice::All, SegmentChoice::Samples);
                let settings = ChunkOptions::new()
                    .m((!tunes).then_some(params.m()))
                    .segment(segment)
                    .filter(*params.filter())
                    .allow_expansion(true);
                let mut encoder = ChunkEncoder::new(array, &settings, options)?;
                while let Some(bytes) = encoder.next_bytes()? {
                    out(bytes);
                }
            }
            Version::Two => {
                let settings = StreamOptions::new().row(self.row);
                let mut encoder = StreamEncoder::new(array, settings, options);
                while let Some(bytes) = encoder.next_bytes()? {
                    out(bytes);
                }
            }
        }
        Ok(())
    }

    fn decode_to(&self, options: Options, out: &mut dyn FnMut(&[u8])) -> Result<(), Error> {
        match self.version {
            Version::One { params, .. } => {
                let mut reader = ChunkReader::new(file(&self.coded), &params, options)?;
                while let Some(bytes) = reader.next_bytes()? {
                    out(bytes);
                }
            }
            Version::Two => {
                let mut reader = StreamReader::new(file(&self.coded), options);
                while let Some(bytes) = reader.next_bytes()? {
                    out(bytes);
                }
            }
        }
        Ok(())
    }
}

fn file(bytes: &Arc<[u8]>) -> Input {
    Input::from_reader(Cursor::new(bytes.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_restore_the_samples_on_any_number_of_threads() {
        let samples: Vec<u8> = (0..30_000_i16).flat_map(|i| (i % 700).to_le_bytes()).collect();
        let row = NonZeroU32::new(3000);
        let params = Params::new(8, row).expect("valid");
        for version in [Version::One { params, tunes: false }, Version::Two] {
            let file = RiceFile::new(ElementType::I16, row, version, &samples).expect("encodes");
            assert!(file.coded.len() < samples.len());
            for threads in [1, 3] {
                let mut decoded = Vec::new();
                file.decode_to(Options::new().threads(threads), &mut |bytes| {
                    decoded.extend_from_slice(bytes)
                })
                .expect("decodes");
                assert!(decoded == samples, "{version:?} on {threads} threads");
                file.encode(threads).expect("encodes");
            }
        }
        let tuned = RiceFile::new(ElementType::I16, row, Version::One { params, tunes: true }, &samples);
        assert!(tuned.expect("encodes").coded.len() < samples.len());
    }
}
