//! What takes part in a measurement of the shape "bytes".

use linerate_deflate::Format;

/// What a contender's output is, which decides how it is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// The outputs of one file, joined, are one stream of that format.
    Stream(Format),
    /// Each chunk is a complete deflate stream of its own.
    DeflatePieces,
    /// Each chunk is an LZ4 block.
    Lz4Pieces,
    /// The input itself.
    Copy,
}

/// A library at one setting. Errors are sentences for the report.
///
/// The order of calls for one file: [`begin`](Self::begin), then [`chunk`](Self::chunk) for each
/// chunk, of which there is at least one. Output goes to the start of `out`, whose size is
/// [`room`]`(chunk size)`.
pub trait Contender {
    /// What the output is.
    fn coding(&self) -> Coding;

    /// Starts a new stream.
    fn begin(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Compresses one chunk without reference to the chunks before, ends the stream after the
    /// `last`, and returns the number of bytes written.
    fn chunk(&mut self, input: &[u8], last: bool, out: &mut [u8]) -> Result<usize, String>;

    /// Bytes that each idle stream holds between chunks, where known.
    fn state_bytes(&self) -> Option<usize>;

    /// Bytes of working memory that streams of one thread can share, where known.
    fn scratch_bytes(&self) -> Option<usize>;

    /// The library's version.
    fn version(&self) -> String;
}

/// Room for the output of one chunk of `n` bytes by any contender: generous, because not every
/// library's own bound holds.
pub fn room(n: usize) -> usize {
    2 * n + 4096
}

/// A file in pieces of `chunk` bytes, each with whether it is the last.
pub fn pieces(file: &[u8], chunk: usize) -> impl Iterator<Item = (&[u8], bool)> {
    let count = file.len().div_ceil(chunk);
    file.chunks(chunk).enumerate().map(move |(i, piece)| (piece, i + 1 == count))
}
