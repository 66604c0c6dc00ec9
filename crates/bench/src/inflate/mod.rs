//! The shape "inflate": decoding deflate data, whole and in pieces, in CPU time.

mod decoders;

use zlib_rs::{Deflate, DeflateFlush, Status};

use self::decoders::contenders;
use crate::contender::output_capacity;
use crate::corpus::Corpus;
use crate::decoding::{self, Case, Jobs};
use crate::filter::Chunk;
use crate::record::Record;

/// Options of a measurement.
pub struct BenchOptions<'a> {
    /// Bytes of input and of output for each call; all of both for [`Chunk::Whole`].
    pub chunks: &'a [Chunk],
    /// The level at which zlib-rs compresses each file: 1 to 9.
    pub level: i32,
    /// Passes of each contender over everything.
    pub rounds: usize,
}

/// Decodes the files of the corpus, each a stream without a container: a record for each contender and size of calls. `each`
/// gets those of a size as soon as they are there.
///
/// What every contender decodes is compared with the content first. `speed_vs_base` is the median
/// over the rounds, within each of which the contenders take turns; the base is zlib-rs.
///
/// # Errors
/// A sentence: what a contender says, other content than was compressed, or what `each` returns.
pub fn measure(
    corpus: &Corpus,
    options: &BenchOptions<'_>,
    mut progress: impl FnMut(&str),
    mut each: impl FnMut(Chunk, &[Record]) -> Result<(), String>,
) -> Result<(), String> {
    progress("compressing");
    let contents: Vec<&[u8]> = corpus.files.iter().map(|file| &file[..]).collect();
    let streams: Result<_, String> =
        contents.iter().map(|content| compress(content, options.level)).collect();
    let jobs = Jobs::new(streams?, contents);
    for &chunk in options.chunks {
        let case = Case {
            shape: "inflate",
            chunk: chunk.to_string(),
            format: format!("deflate, zlib-rs {}", options.level),
            base: "zlib-rs",
            rounds: options.rounds,
        };
        let records = decoding::measure(corpus, &case, &jobs, contenders(chunk)?, &mut progress)?;
        progress("");
        each(chunk, &records)?;
    }
    Ok(())
}

/// One stream of deflate data.
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
