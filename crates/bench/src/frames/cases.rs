//! The input of the shape "frames": blocks of one size, or whole files, with or without a
//! dictionary, compressed by libzstd.

use std::fmt;
use std::str::FromStr;

use zstd_safe::{CCtx, CDict, CParameter, get_error_name};

use crate::decoding::Jobs;
use crate::harness::corpus::Corpus;
use crate::harness::filter::Chunk;

/// A size of blocks, and of the dictionary that they share, written as `4K`, `4K+8K` or `whole`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Size of a block, or whole files.
    pub chunk: Chunk,
    /// Maximum bytes of the dictionary, if there is one.
    pub dictionary: Option<usize>,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dictionary {
            None => write!(f, "{}", self.chunk),
            Some(n) => write!(f, "{}+{}", self.chunk, Chunk::Bytes(n)),
        }
    }
}

impl FromStr for Case {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('+') {
            None => Ok(Case { chunk: text.parse()?, dictionary: None }),
            Some((chunk, dictionary)) => {
                let (chunk, Chunk::Bytes(n)) = (chunk.parse()?, dictionary.parse()?) else {
                    return Err(format!("`{text}`: a dictionary has a size"));
                };
                Ok(Case { chunk, dictionary: Some(n) })
            }
        }
    }
}

/// The frames of a case with their contents, and its dictionary.
pub(crate) struct Blocks<'a> {
    pub(crate) jobs: Jobs<'a>,
    pub(crate) dictionary: Option<Vec<u8>>,
}

impl<'a> Blocks<'a> {
    /// Cuts the corpus into blocks and compresses them. If the blocks have more than `most` bytes
    /// in all, blocks are taken evenly from the corpus. Whole files are each cut to `most` bytes.
    pub(crate) fn new(corpus: &'a Corpus, case: &Case, level: i32, most: usize) -> Result<Self, String> {
        let size = case.chunk.size();
        // The end of a file that is shorter than a block is left out.
        let blocks: Vec<&'a [u8]> = match case.chunk {
            Chunk::Whole => corpus.files.iter().map(|file| &file[..file.len().min(most)]).collect(),
            Chunk::Bytes(_) => corpus.files.iter().flat_map(|file| file.chunks_exact(size)).collect(),
        };
        let total: usize = blocks.iter().map(|block| block.len()).sum();
        let step = match case.chunk {
            Chunk::Whole => 1,
            Chunk::Bytes(_) => total.div_ceil(most).max(1),
        };
        let dictionary = case.dictionary.map(|n| train(&blocks, n)).transpose()?;
        let contents: Vec<&[u8]> = blocks.into_iter().step_by(step).collect();
        let frames = compress(&contents, level, dictionary.as_deref())?;
        Ok(Blocks { jobs: Jobs { frames, contents, room: None }, dictionary })
    }
}

/// Trains a dictionary of at most `size` bytes on at most 1,000 of all blocks, taken evenly. As in
/// a storage engine, the dictionary is for a whole table, not for the measured blocks alone.
fn train(blocks: &[&[u8]], size: usize) -> Result<Vec<u8>, String> {
    let step = blocks.len().div_ceil(1000).max(1);
    let samples: Vec<&[u8]> = blocks.iter().copied().skip(step / 2).step_by(step).collect();
    train_by_libzstd(&samples, size)
}

/// Trains a dictionary of at most `size` bytes with libzstd.
pub(crate) fn train_by_libzstd(samples: &[&[u8]], size: usize) -> Result<Vec<u8>, String> {
    let sizes: Vec<usize> = samples.iter().map(|sample| sample.len()).collect();
    let mut dictionary = Vec::with_capacity(size);
    zstd_safe::train_from_buffer(&mut dictionary, &samples.concat(), &sizes)
        .map_err(|e| format!("training a dictionary: {}", get_error_name(e)))?;
    Ok(dictionary)
}

fn compress(contents: &[&[u8]], level: i32, dictionary: Option<&[u8]>) -> Result<Vec<Vec<u8>>, String> {
    let message = |e| format!("compressing: {}", get_error_name(e));
    let digested = dictionary.map(|bytes| CDict::create(bytes, level));
    let mut context = CCtx::create();
    context.set_parameter(CParameter::CompressionLevel(level)).map_err(message)?;
    if let Some(digested) = &digested {
        context.ref_cdict(digested).map_err(message)?;
    }
    let one = |content: &&[u8]| {
        let mut frame = Vec::with_capacity(zstd_safe::compress_bound(content.len()));
        context.compress2(&mut frame, content).map_err(message)?;
        frame.shrink_to_fit();
        Ok(frame)
    };
    contents.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_read_and_shown() {
        for text in ["4K", "1K+8K", "whole", "128K+112K"] {
            assert_eq!(text.parse::<Case>().unwrap().to_string(), text);
        }
        for bad in ["", "4K+", "+8K", "4K+whole", "4K+8K+1", "x"] {
            assert!(bad.parse::<Case>().is_err(), "{bad}");
        }
    }

    #[test]
    fn jobs_are_spread_over_the_corpus() {
        let corpus = Corpus::rows(1 << 20);
        let case = "4K+8K".parse().unwrap();
        let Blocks { jobs, dictionary } = Blocks::new(&corpus, &case, 3, 300_000).unwrap();
        assert_eq!(jobs.bytes(), 4096 * jobs.frames.len());
        assert!((250_000..=300_000).contains(&jobs.bytes()), "{}", jobs.bytes());
        assert!(dictionary.is_some_and(|d| (1000..=8192).contains(&d.len())));
    }
}
