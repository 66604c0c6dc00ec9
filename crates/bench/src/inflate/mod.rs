//! The shape "inflate": deflate data decoded whole and in pieces, in CPU time of one core.

mod decoders;

use clap::Args;
use zlib_rs::{Deflate, DeflateFlush, Status};

use self::decoders::contenders;
use crate::bytes::output_capacity;
use crate::decoding::{self, Jobs};
use crate::harness::args::CorpusArgs;
use crate::harness::corpus::Corpus;
use crate::harness::filter::Chunk;
use crate::harness::{Common, progress, row};
use crate::records::Measurement;

/// Options of `linerate-bench inflate`.
#[derive(Args, Clone, Debug)]
pub struct InflateArgs {
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Bytes of input and of output for each call, or `whole` for all of a file
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "whole,64K")]
    chunk: Vec<Chunk>,
    /// The level at which zlib-rs compresses
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(i32).range(1..=9))]
    level: i32,
}

/// Measures decoding with each size of calls.
///
/// # Errors
/// A sentence for the user.
pub fn run(args: &InflateArgs) -> Result<(), String> {
    let mut output = args.common.open_pinned()?;
    let corpus = args.corpus.read()?;
    for found in measure(&corpus, &args.chunk, args.level, args.common.rounds(9))? {
        output.add("Deflate data decoded, CPU time", found)?;
    }
    output.say_absent(&["isal", "libdeflate", "zlib", "zlib-ng"])?;
    output.finish()
}

/// Names of the contenders in this build.
///
/// # Errors
/// The message of a contender that cannot be made.
pub fn names() -> Result<Vec<String>, String> {
    Ok(contenders(Chunk::Whole)?.iter().map(|decoder| decoder.name.to_owned()).collect())
}

/// Measures how fast every contender decodes the files of the corpus, each a stream without a
/// container, with each size of calls.
///
/// # Errors
/// A sentence, if a contender fails or decodes to other content.
pub fn measure(
    corpus: &Corpus,
    chunks: &[Chunk],
    level: i32,
    rounds: usize,
) -> Result<Vec<Vec<Measurement>>, String> {
    progress("compressing");
    let contents: Vec<&[u8]> = corpus.files.iter().map(|file| &file[..]).collect();
    let frames: Result<_, String> = contents.iter().map(|content| compress(content, level)).collect();
    let jobs = Jobs { frames: frames?, contents, room: None };
    let one = |&chunk: &Chunk| {
        let blank = row("inflate", &corpus.name, "")
            .param("chunk", chunk.to_string())
            .param("source", format!("deflate, zlib-rs {level}"));
        decoding::measure(&blank, "zlib-rs", &jobs, contenders(chunk)?, rounds)
    };
    chunks.iter().map(one).collect()
}

/// Compresses `content` with zlib-rs into one stream of deflate data without a container.
fn compress(content: &[u8], level: i32) -> Result<Vec<u8>, String> {
    let mut out = vec![0; output_capacity(content.len())];
    let mut stream = Deflate::new(level, false, 15);
    match stream.compress(content, &mut out, DeflateFlush::Finish) {
        Ok(Status::StreamEnd) => {
            out.truncate(stream.total_out() as usize);
            out.shrink_to_fit();
            Ok(out)
        }
        Ok(status) => Err(format!("compressing: {status:?}")),
        Err(error) => Err(format!("compressing: {}", error.as_str())),
    }
}
