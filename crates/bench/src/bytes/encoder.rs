//! The trait that every encoder in the shape "bytes" implements.

use linerate_deflate::Format;

/// Form of a contender's output, which determines how it is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// The outputs of all chunks of one file, joined, are one stream of this format.
    Stream(Format),
    /// The output of each chunk is a complete deflate stream of its own.
    DeflatePieces,
    /// The output of each chunk is an LZ4 block.
    Lz4Pieces,
    /// The output of each chunk is an LZO1X block.
    LzoPieces,
    /// The output is the input itself.
    Copy,
}

/// One encoder at one level. Errors are sentences for the report.
///
/// For each file, call [`begin`](Self::begin), then [`chunk`](Self::chunk) for each chunk, at least
/// once. Output is written to the start of `out`, which has at least
/// [`output_capacity`]`(input.len())` bytes.
pub trait Encoder {
    /// Form of the output.
    fn coding(&self) -> Coding;

    /// Starts a new stream.
    fn begin(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Compresses one chunk without reference to the chunks before, ends the stream if the chunk is
    /// the `last` of its file, and returns the number of bytes written.
    fn chunk(&mut self, input: &[u8], last: bool, out: &mut [u8]) -> Result<usize, String>;

    /// Bytes held by each idle stream between chunks, if known.
    fn state_bytes(&self) -> Option<usize> {
        Some(0)
    }

    /// Bytes of working memory shared by the streams of a thread, if known.
    fn scratch_bytes(&self) -> Option<usize> {
        Some(0)
    }

    /// The library's version; empty for Linerate's own encoder and for plain copying.
    fn version(&self) -> String {
        String::new()
    }
}

/// Capacity for the output of a chunk of `n` bytes. It is generous for every contender, because not
/// every library's own bound holds.
pub fn output_capacity(n: usize) -> usize {
    2 * n + 4096
}

/// Divides a file into pieces of `chunk` bytes, each with a flag that marks the last piece, which
/// may be shorter. An empty file has no pieces.
pub fn pieces(file: &[u8], chunk: usize) -> impl Iterator<Item = (&[u8], bool)> {
    let count = file.len().div_ceil(chunk);
    file.chunks(chunk).enumerate().map(move |(i, piece)| (piece, i + 1 == count))
}
