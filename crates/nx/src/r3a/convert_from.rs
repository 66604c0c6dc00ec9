//! Converts Nx to R3A. First, every file is read and checked against its hash. Then blocks are
//! copied, and zstd frames lose their magic number.

use std::io::{self, Write};

use linerate_core::{Error, Kind};
use linerate_io::{FileSource, ReadAt, read_error};

use super::convert::{Conversion, copy, ordered_entries};
use super::dictionaries::Dictionaries;
use super::frame::MAGIC;
use super::head_builder::{HeadBuilder, Tables};
use super::toc::{Block, BlockCodec};
use super::user_data::Extension;
use crate::format::header::PAGE;
use crate::format::toc::{self, Codec};
use crate::read::archive as nx;

/// Blocks that were encoded again with dictionaries.
pub(crate) struct Recoded {
    pub(crate) dictionaries: Dictionaries,
    /// For each block of the archive, its offset and length in `data` if it was encoded again.
    pub(crate) blocks: Vec<Option<(u64, u32)>>,
    pub(crate) data: FileSource,
}

/// Converts an Nx archive to R3A, with the given user data.
///
/// # Errors
///
/// Returns the errors of [`HeadBuilder::write`], of the first file that cannot be read or does not
/// match its hash, of the source, and of `out`. Also returns [`Kind::Unsupported`] if a block is
/// filtered, since R3A has no filters, or if a zstd block does not begin with the magic number of a
/// frame. After an error the output is incomplete.
pub fn from_nx<S: ReadAt>(
    archive: &nx::Archive<S>,
    tables: Tables,
    user_data: &[Extension],
    out: &mut impl Write,
) -> io::Result<Conversion> {
    from_nx_with(archive, None, tables, user_data, out)
}

/// Does the same as [`from_nx`], but blocks in `recoded` replace those of the archive.
pub(crate) fn from_nx_with<S: ReadAt>(
    archive: &nx::Archive<S>,
    recoded: Option<&Recoded>,
    tables: Tables,
    user_data: &[Extension],
    out: &mut impl Write,
) -> io::Result<Conversion> {
    let toc = archive.toc();
    if let Some(block) = toc.blocks.iter().position(|block| block.filtered) {
        let what = "a filtered block, which R3A does not have: repack the archive without filters first";
        return Err(Error::new(Kind::Unsupported, archive.layout().offset(block), what).into());
    }
    let entries = ordered_entries(archive)?;
    let place_of = |i: usize| recoded.and_then(|recoded| Some((recoded, recoded.blocks[i]?)));
    let word = |(i, block)| match place_of(i) {
        Some((_, (_, compressed))) => Block { compressed, codec: BlockCodec::Known(Codec::Zstd) },
        None => without_magic(block),
    };
    let blocks: Vec<Block> = toc.blocks.iter().enumerate().map(word).collect();
    let paths: Vec<&str> = archive.pool().iter().collect();
    let draft = HeadBuilder {
        chunk: archive.header().chunk,
        tables,
        entries: &entries,
        blocks: &blocks,
        paths: &paths,
        dictionaries: recoded.map(|recoded| &recoded.dictionaries),
        user_data,
    };
    let head = draft.write()?;
    out.write_all(&head)?;
    let mut written = head.len() as u64;
    for (i, block) in blocks.iter().enumerate() {
        match place_of(i) {
            Some((recoded, (at, len))) => copy(&recoded.data, at, at + u64::from(len), out)?,
            None => {
                let (at, len) = (archive.layout().offset(i), u64::from(toc.blocks[i].compressed));
                let skipped = len - u64::from(block.compressed);
                check_magic(archive.source(), at, skipped as usize)?;
                copy(archive.source(), at + skipped, at + len, out)?;
            }
        }
        written += u64::from(block.compressed);
        let padding = written.next_multiple_of(PAGE) - written;
        out.write_all(&[0; PAGE as usize][..padding as usize])?;
        written += padding;
    }
    out.flush()?;
    Ok(Conversion {
        files: entries.len() as u64,
        blocks: blocks.len() as u64,
        decoded_blocks: 0,
        bytes: written,
    })
}

/// Returns the table entry of a block without its magic number. [`check_magic`] reports a block
/// that is too short.
fn without_magic(block: &toc::Block) -> Block {
    let magic = match block.codec {
        Codec::Zstd => block.compressed.min(MAGIC.len() as u32),
        _ => 0,
    };
    Block { compressed: block.compressed - magic, codec: BlockCodec::Known(block.codec) }
}

fn check_magic(source: &impl ReadAt, at: u64, len: usize) -> io::Result<()> {
    let mut found = [0; MAGIC.len()];
    source.read_at(at, &mut found[..len]).map_err(|e| read_error(at, &e))?;
    match len == 0 || found == MAGIC {
        true => Ok(()),
        false => Err(Error::new(Kind::Unsupported, at, "a zstd block that is no zstd frame").into()),
    }
}
