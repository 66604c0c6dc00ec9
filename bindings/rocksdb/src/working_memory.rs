//! Memory that a thread keeps between blocks, and the decoding of a block with it.

use linerate_core::{Error, Kind, Result};
use linerate_inflate::{self as inflate, BufferDecoder};
use linerate_zstd::{self as zstd, ExpandedHuffman, Format, FrameDecoder, PrefetchQueue, RequiredParts};

use crate::dictionary::SstDictionary;

/// Number of dictionaries that are assumed to be in the CPU's caches: those that the thread began
/// to use last.
const RECENT: usize = 4;

/// A recently used dictionary.
#[derive(Default)]
struct Recent {
    /// Number of the dictionary; 0 if there is none.
    id: u64,
    /// Huffman table of the dictionary, once a block required it.
    huffman: ExpandedHuffman,
    is_expanded: bool,
}

/// Working memory of a thread.
#[derive(Default)]
pub(crate) struct WorkingMemory {
    zstd: zstd::Scratch,
    inflate: inflate::Scratch,
    recent: [Recent; RECENT],
    /// Index in `recent` of the dictionary that the next new dictionary replaces.
    next_recent: usize,
}

impl WorkingMemory {
    /// Decodes a block, which is exactly one zstd frame, whose content must have exactly as many
    /// bytes as `dst`. If the thread has not used the dictionary lately, prefetches it meanwhile.
    pub(crate) fn zstd(
        &mut self,
        dictionary: Option<&SstDictionary<'_>>,
        block: &[u8],
        dst: &mut [u8],
    ) -> Result<()> {
        let Some(dictionary) = dictionary else {
            let sizes = FrameDecoder::default().decode_frame(&mut self.zstd, None, block, dst)?;
            return exactly([sizes.read, sizes.written], [block.len(), dst.len()]);
        };
        let mut queue = PrefetchQueue::new();
        let mut whole_content = true;
        let required = RequiredParts::from_frame(block, Format::Standard);
        let mut place = self.recent.iter().position(|recent| recent.id == dictionary.id);
        let is_cold = place.is_none();
        if is_cold {
            dictionary.prefetch_tables();
            whole_content = dictionary.enqueue_content(&required, &mut queue);
            place = Some(self.next_recent);
            self.recent[self.next_recent].id = dictionary.id;
            self.recent[self.next_recent].is_expanded = false;
            self.next_recent = (self.next_recent + 1) % RECENT;
        }
        let recent = &mut self.recent[place.unwrap_or_default()];
        if required.huffman && dictionary.is_trained() && !recent.is_expanded {
            dictionary.expand_huffman(&mut recent.huffman)?;
            recent.is_expanded = true;
        }
        if is_cold {
            dictionary.prefetch_tables();
        }
        let view = dictionary.view(&recent.huffman);
        let decoder = FrameDecoder::new(zstd::Options::new().two_phase(!whole_content));
        let sizes = decoder.decode_prefetching(&mut self.zstd, Some(&view), block, dst, &mut queue)?;
        exactly([sizes.read, sizes.written], [block.len(), dst.len()])
    }

    /// Decodes a block, which is one raw deflate stream, as RocksDB writes them. Its content must
    /// have exactly as many bytes as `dst`. `dictionary` is the text before the content, or empty.
    pub(crate) fn zlib(&mut self, dictionary: &[u8], block: &[u8], dst: &mut [u8]) -> Result<()> {
        let decoder = BufferDecoder::new(inflate::Options::new(inflate::Format::Deflate));
        let sizes = decoder.decode(&mut self.inflate, Some(dictionary), block, dst)?;
        // Bytes after the stream are ignored, as by the built-in decompressor.
        exactly([block.len(), sizes.written], [block.len(), dst.len()])
    }
}

fn exactly(sizes: [usize; 2], wanted: [usize; 2]) -> Result<()> {
    if sizes[0] != wanted[0] {
        return Err(Error::new(Kind::Corrupt, sizes[0] as u64, "bytes follow the compressed data"));
    }
    if sizes[1] != wanted[1] {
        return Err(Error::new(
            Kind::Corrupt,
            sizes[0] as u64,
            "the content is shorter than the block's size",
        ));
    }
    Ok(())
}
