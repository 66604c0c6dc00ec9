//! Where blocks stand, which is as in Nx.

use core::mem::take;

use linerate_core::{Error, Kind, Result};

use super::header::Header;
use super::toc::{BlockCodec, Toc};
use crate::hash::HashKind;
use crate::header::{self as nx, TocForm};
use crate::layout::Layout;
use crate::toc::{self, Codec};

/// Finds the blocks and checks every entry against them. Errors are at offsets in the archive, and
/// `toc` is as it was.
pub(super) fn find_blocks(header: &Header, toc: &mut Toc, len: u64) -> Result<Layout> {
    let like = nx::Header {
        hash: HashKind::Xxh3,
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
        // What a foreign block holds is not known, as with any compressed one.
        codec: match block.codec {
            BlockCodec::Known(codec) => codec,
            BlockCodec::Foreign(_) => Codec::Zstd,
        },
    });
    let table = toc::Toc { blocks: blocks.collect(), entries: take(&mut toc.entries) };
    let layout = Layout::new(&like, &table, len);
    toc.entries = table.entries;
    layout.map_err(|error| moved(error, &like, header))
}

/// An error at an entry or a block of the Nx table, at its place in this one.
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
