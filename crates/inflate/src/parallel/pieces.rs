//! Divides the input of a reader into pieces.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::sync::Arc;

use super::chunk::Piece;

pub(super) struct Pieces<R> {
    reader: R,
    /// Number of bytes read.
    at: u64,
    is_at_end: bool,
    /// The pieces that have not been forgotten.
    kept: VecDeque<Arc<Piece>>,
    /// Buffers of pieces that are no longer needed.
    free: Vec<Vec<u8>>,
    /// The error that ended reading early. It is reported after the data before it.
    pub(super) failure: Option<io::Error>,
}

impl<R: Read> Pieces<R> {
    pub(super) fn new(reader: R) -> Self {
        Pieces { reader, at: 0, is_at_end: false, kept: VecDeque::new(), free: Vec::new(), failure: None }
    }

    /// Returns whether the reader has reached its end.
    pub(super) fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    /// Reads the next piece: `len` bytes unless the input ends, or if `is_whole` is false as many
    /// as one read returns.
    pub(super) fn next(&mut self, len: usize, is_whole: bool) -> Option<Arc<Piece>> {
        let len = if self.is_at_end { 0 } else { len };
        let mut bytes = self.free.pop().unwrap_or_default();
        if bytes.capacity() < len {
            bytes = vec![0; len];
        }
        bytes.resize(len, 0);
        let mut filled = 0;
        while filled < bytes.len() && (is_whole || filled == 0) {
            match self.reader.read(&mut bytes[filled..]) {
                Ok(0) => {
                    self.is_at_end = true;
                    break;
                }
                Ok(n) => filled += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    (self.is_at_end, self.failure) = (true, Some(error));
                    break;
                }
            }
        }
        bytes.truncate(filled);
        let piece = Piece { at: self.at, bytes };
        self.at = piece.end();
        let piece = (filled > 0).then(|| Arc::new(piece))?;
        self.kept.push_back(piece.clone());
        Some(piece)
    }

    /// Forgets the pieces before a position.
    pub(super) fn forget(&mut self, position: u64) {
        while self.kept.front().is_some_and(|piece| piece.end() <= position) {
            self.free.extend(self.kept.pop_front().and_then(Arc::into_inner).map(|piece| piece.bytes));
        }
    }

    /// Returns the bytes read from a position, which must not have been forgotten.
    pub(super) fn rest(&self, position: u64) -> Vec<u8> {
        let bytes = |piece: &Arc<Piece>| piece.bytes[position.saturating_sub(piece.at) as usize..].to_vec();
        self.kept.iter().filter(|piece| piece.end() > position).flat_map(bytes).collect()
    }
}
