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
/// The order of calls for one file: [`begin`](Self::begin), [`chunk`](Self::chunk) for each chunk,
/// [`finish`](Self::finish). Output goes to the start of `out`, whose size is
/// [`room`]`(chunk size)`.
pub trait Contender {
    /// What the output is.
    fn coding(&self) -> Coding;

    /// Starts a new stream.
    fn begin(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Compresses one chunk and returns the number of bytes written. No later chunk may need this
    /// one's input.
    fn chunk(&mut self, input: &[u8], out: &mut [u8]) -> Result<usize, String>;

    /// Ends the stream and returns the number of bytes written.
    fn finish(&mut self, _out: &mut [u8]) -> Result<usize, String> {
        Ok(0)
    }

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
