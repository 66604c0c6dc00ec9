//! Cuts a frame into its headers and blocks, by the sizes that they state.

use super::block::Block;
use super::ring::{Part, Ring};
use crate::frame::{BlockHeader, BlockType, Format, HEADER_MAX, Header, PartialHeader, parse_partial};

/// Size of a checksum, in bytes.
const CHECKSUM: usize = 4;

/// The part expected next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    FrameHeader,
    BlockHeader,
    /// The rest of a compressed block.
    Compressed {
        left: usize,
        last: bool,
    },
    /// The rest of a block that is not compressed, with the checksum if one follows, or a checksum.
    Other {
        left: usize,
        end: bool,
    },
    /// Nothing until the next frame.
    End,
    /// The rest of the frame, uncut. The stream decoder gets it as it arrives.
    Uncut,
}

/// Cuts each frame into its headers and blocks. The first frame begins with the first byte.
pub(super) struct Cutter {
    next: Next,
    format: Format,
    /// Bytes of a header, or of a part that is no compressed block.
    bytes: Vec<u8>,
    block: Option<Box<Block>>,
    /// Largest number of bytes in a block of the frame.
    block_max: usize,
    has_checksum: bool,
}

impl Cutter {
    pub(super) fn new(format: Format) -> Self {
        Cutter {
            next: Next::FrameHeader,
            format,
            bytes: Vec::new(),
            block: None,
            block_max: 0,
            has_checksum: false,
        }
    }

    /// Begins a frame.
    pub(super) fn start(&mut self) {
        self.next = Next::FrameHeader;
        self.bytes.clear();
        self.block = None;
    }

    /// Returns whether the rest of the frame stays uncut.
    pub(super) fn is_uncut(&self) -> bool {
        self.next == Next::Uncut
    }

    /// Returns whether the frame needs no more input.
    pub(super) fn is_at_end(&self) -> bool {
        self.next == Next::End
    }

    /// Returns whether a frame begins here.
    pub(super) fn is_at_start(&self) -> bool {
        self.next == Next::FrameHeader && self.bytes.is_empty()
    }

    /// Takes bytes of one part, and adds the part to `ring` when it is complete. Returns the number
    /// of bytes taken.
    pub(super) fn take(&mut self, src: &[u8], ring: &mut Ring) -> usize {
        match self.next {
            Next::FrameHeader => self.frame_header(src, ring),
            Next::BlockHeader => {
                let n = self.fill(src, BlockHeader::LEN);
                if let Some(header) = self.bytes.first_chunk() {
                    self.block_header(*header, ring);
                }
                n
            }
            Next::Compressed { left, last } => {
                let n = left.min(src.len());
                if let Some(block) = &mut self.block {
                    block.push(&src[..n]);
                }
                self.next = Next::Compressed { left: left - n, last };
                self.end_compressed(ring);
                n
            }
            Next::Other { left, end } => {
                let n = left.min(src.len());
                self.bytes.extend_from_slice(&src[..n]);
                self.next = Next::Other { left: left - n, end };
                self.end_other(ring);
                n
            }
            Next::End | Next::Uncut => 0,
        }
    }

    /// Stops cutting. The bytes of an incomplete part become a part.
    pub(super) fn stop(&mut self, ring: &mut Ring) {
        if let Some(mut block) = self.block.take() {
            block.finish();
            self.bytes.extend_from_slice(block.input());
            ring.reuse(block);
        }
        if !self.bytes.is_empty() {
            ring.push(Part::Other(std::mem::take(&mut self.bytes)));
        }
        self.next = Next::Uncut;
    }

    /// Fills `bytes` up to `len`, and returns the number of bytes taken.
    fn fill(&mut self, src: &[u8], len: usize) -> usize {
        let n = (len - self.bytes.len()).min(src.len());
        self.bytes.extend_from_slice(&src[..n]);
        n
    }

    fn frame_header(&mut self, src: &[u8], ring: &mut Ring) -> usize {
        debug_assert!(self.bytes.len() < HEADER_MAX);
        let mut taken = 0;
        loop {
            match parse_partial(&self.bytes, self.format) {
                Ok(PartialHeader::Needs(len)) => {
                    let n = self.fill(&src[taken..], len);
                    taken += n;
                    // A wrong magic number is an error at its first wrong byte.
                    if self.bytes.len() < len && parse_partial(&self.bytes, self.format).is_ok() {
                        return taken;
                    }
                }
                Ok(PartialHeader::Complete(Header::Frame(header))) => {
                    (self.block_max, self.has_checksum) = (header.block_max(), header.checksum);
                    ring.start_frame();
                    ring.push(Part::Other(std::mem::take(&mut self.bytes)));
                    self.next = Next::BlockHeader;
                    return taken;
                }
                Ok(PartialHeader::Complete(Header::Skippable { .. })) | Err(_) => {
                    self.stop(ring);
                    return taken;
                }
            }
        }
    }

    fn block_header(&mut self, bytes: [u8; BlockHeader::LEN], ring: &mut Ring) {
        let Ok(header) = BlockHeader::parse(bytes, self.block_max) else { return self.stop(ring) };
        let (left, last) = (header.stored(), header.last);
        if header.kind == BlockType::Compressed {
            self.bytes.clear();
            let mut block = ring.new_block();
            block.start(bytes, last);
            self.block = Some(block);
            self.next = Next::Compressed { left, last };
            self.end_compressed(ring);
        } else {
            // The checksum follows in the same part.
            let after = if last && self.has_checksum { CHECKSUM } else { 0 };
            self.next = Next::Other { left: left + after, end: last };
            self.end_other(ring);
        }
    }

    fn end_compressed(&mut self, ring: &mut Ring) {
        let Next::Compressed { left: 0, last } = self.next else { return };
        if let Some(mut block) = self.block.take() {
            block.finish();
            ring.push(Part::Block(block));
        }
        self.next = match (last, self.has_checksum) {
            (false, _) => Next::BlockHeader,
            (true, true) => Next::Other { left: CHECKSUM, end: true },
            (true, false) => Next::End,
        };
    }

    fn end_other(&mut self, ring: &mut Ring) {
        let Next::Other { left: 0, end } = self.next else { return };
        ring.push(Part::Other(std::mem::take(&mut self.bytes)));
        self.next = if end { Next::End } else { Next::BlockHeader };
    }
}
