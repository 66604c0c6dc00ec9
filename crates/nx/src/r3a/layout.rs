//! The offsets and content lengths of the blocks, computed as for Nx.

use core::mem::take;

use linerate_core::{Error, Kind, Result};

use super::header::Header;
use super::toc::{BlockCodec, Toc};
use crate::format::hash::HashKind;
use crate::format::header::{self as nx, TocForm};
use crate::format::layout::Layout;
use crate::format::toc::{self, Codec};

/// Computes the layout and checks every entry against the blocks. Offsets of errors are in the R3A
/// archive. `toc` is unchanged afterwards.
pub(super) fn find_blocks(header: &Header, toc: &mut Toc, len: u64) -> Result<Layout> {
    let like = nx::Header {
        hash: HashKind::Xxh3,
        filtered: false,
        chunk: header.chunk,
        pages: header.pages,
        flags: 0,
        form: TocForm::Long,
        pool: 0,
        blocks: header.blocks,
        files: header.files,
    };
    let blocks = toc.blocks.iter().map(|block| toc::Block {
        compressed: block.compressed,
        // The decompressed size is unknown, as for any compressed block.
        codec: match block.codec {
            BlockCodec::Known(codec) => codec,
            BlockCodec::Foreign(_) => Codec::Zstd,
        },
        filtered: false,
    });
    let table = toc::Toc { blocks: blocks.collect(), entries: take(&mut toc.entries) };
    let layout = Layout::new(&like, &table, len);
    toc.entries = table.entries;
    layout.map_err(|error| moved(error, &like, header))
}

/// Maps the offset of an error in the Nx tables to the R3A tables.
fn moved(error: Error, from: &nx::Header, to: &Header) -> Error {
    if error.kind != Kind::Corrupt {
        return error;
    }
    let at = match error.offset.checked_sub(from.blocks_offset()) {
        Some(block) => to.blocks_offset() + block,
        None => {
            let entry = error.offset.saturating_sub(nx::HEADER as u64) / from.form.entry_bytes() as u64;
            to.entries_offset() + entry * to.form.entry_bytes() as u64
        }
    };
    error.with_offset(at)
}
