//! Writes the header with its tables and segments, by the rules of the profile.

use linerate_core::{Error, Kind, Result};

use super::dictionaries::Dictionaries;
use super::head::Head;
use super::header::{Form, HAS_DICTIONARIES, HAS_USER_DATA, Header, MAX_CHUNK, MAX_OFFSET, Preset, Widths};
use super::string_pool;
use super::toc::{Block, BlockCodec, write_entry};
use super::user_data::{self, Extension};
use crate::format::header::{ChunkSize, MAX_PAGES, PAGE};
use crate::format::limits::Limits;
use crate::format::toc::{Entry, MAX_COMPRESSED};

/// The table forms that may be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tables {
    /// Preset 3 if no file has an offset, sizes are below 4 GiB and the counts fit; else preset 0
    /// if sizes are below 4 GiB; else preset 2.
    #[default]
    Presets,
    /// FEF64, with fields as narrow as the archive allows.
    Flexible,
}

/// The content of a header to write. The blocks follow it in the given order, each aligned to a
/// page.
#[derive(Clone, Copy, Debug)]
pub struct HeadBuilder<'a> {
    /// The chunk size, at most 512 MiB.
    pub chunk: ChunkSize,
    /// The table forms that may be written.
    pub tables: Tables,
    /// The entries of the files, with the XXH3-64 of their contents. The position of an empty file
    /// is ignored.
    pub entries: &'a [Entry],
    /// The blocks.
    pub blocks: &'a [Block],
    /// The paths, one per entry; [`Entry::path`] is an index into them.
    pub paths: &'a [&'a str],
    /// The dictionaries, which are written with their hashes.
    pub dictionaries: Option<&'a Dictionaries>,
    /// The user data, at most 16 extensions.
    pub user_data: &'a [Extension],
}

const fn limit(what: &'static str) -> Error {
    Error::new(Kind::Limit, 0, what)
}

const fn bad(what: &'static str) -> Error {
    Error::new(Kind::BadArgument, 0, what)
}

impl HeadBuilder<'_> {
    /// Encodes the header with its tables and segments, padded to whole pages.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::Limit`] if a limit of the format is exceeded or zstd gets no memory;
    /// [`Kind::BadArgument`] if paths and entries do not match, if a path has a NUL, if an entry or
    /// the list of dictionaries refers to a missing block or dictionary, or if a block has a codec
    /// that this crate does not write. Offsets are 0.
    pub fn write(&self) -> Result<Vec<u8>> {
        self.check()?;
        let pool = string_pool::encode(self.paths)?;
        match self.tables {
            Tables::Presets => self.assemble(Form::Preset(self.preset(&pool)?), &pool),
            Tables::Flexible => self.flexible(&pool),
        }
    }

    fn check(&self) -> Result<()> {
        if self.chunk > MAX_CHUNK {
            return Err(limit("the format holds chunks of 512 MiB"));
        }
        if self.paths.len() != self.entries.len() {
            return Err(bad("not as many paths as files"));
        }
        if self.entries.iter().any(|entry| entry.path as usize >= self.paths.len()) {
            return Err(bad("an entry whose path is not in the pool"));
        }
        if self.entries.iter().any(|entry| entry.size > 0 && entry.first_block as usize >= self.blocks.len())
        {
            return Err(bad("an entry whose block is not there"));
        }
        if self.entries.iter().any(|entry| entry.size > 0 && entry.block_offset > MAX_OFFSET) {
            return Err(limit("the format holds offsets of 16 MiB - 1 in a block"));
        }
        if self.blocks.iter().any(|block| block.compressed > MAX_COMPRESSED) {
            return Err(limit("the format holds blocks of 512 MiB - 1"));
        }
        match self.blocks.iter().all(|block| matches!(block.codec, BlockCodec::Known(_))) {
            true => Ok(()),
            false => Err(bad("a block of a codec that is not written")),
        }
    }

    /// Returns the first preset that holds everything, in the order of [`Tables::Presets`].
    fn preset(&self, pool: &[u8]) -> Result<Preset> {
        let small = Preset::Small { hashed: true };
        let sizes_are_short = self.entries.iter().all(|entry| u32::try_from(entry.size).is_ok());
        let no_offsets = self.entries.iter().all(|entry| entry.size == 0 || entry.block_offset == 0);
        if no_offsets && sizes_are_short && self.counts_fit(Form::Preset(small).widths(), pool).is_ok() {
            return Ok(small);
        }
        self.counts_fit(Form::Preset(Preset::Hashed).widths(), pool)?;
        Ok(if sizes_are_short { Preset::Hashed } else { Preset::Large })
    }

    fn counts_fit(&self, widths: Widths, pool: &[u8]) -> Result<()> {
        let fits = |n: usize, width| width_of(n as u64) <= width;
        if !fits(pool.len(), widths.pool) {
            return Err(limit("the presets hold 2097151 bytes of compressed paths"));
        }
        if !fits(self.blocks.len(), widths.blocks) {
            return Err(limit("the presets hold 4194303 blocks"));
        }
        match fits(self.entries.len(), widths.files) {
            true => Ok(()),
            false => Err(limit("the presets hold 262143 files")),
        }
    }

    /// Encodes the narrowest flexible form that [`Head::parse`] reads in one way only, whatever a
    /// stored width of 0 means. Widens the field of the pool size by up to 3 bits until that is so.
    fn flexible(&self, pool: &[u8]) -> Result<Vec<u8>> {
        let largest = |field: fn(&Entry) -> u64| self.entries.iter().map(field).max().unwrap_or(0);
        let widths = Widths {
            pool: width_of(pool.len() as u64),
            files: width_of(self.entries.len() as u64),
            blocks: width_of(self.blocks.len() as u64),
            offset: width_of(largest(|entry| if entry.size > 0 { entry.block_offset.into() } else { 0 })),
        };
        let fields = widths.files + widths.blocks + widths.offset;
        if [widths.pool, widths.files, widths.blocks].iter().any(|width| *width > 32)
            || widths.pool + widths.files + widths.blocks > 61
        {
            return Err(limit("more files, blocks or paths than the format holds"));
        }
        if fields + width_of(largest(|entry| entry.size)) > 64 {
            return Err(limit("files too large for so many files and blocks in the flexible form"));
        }
        for wider in 0..4 {
            let widths = Widths { pool: (widths.pool + wider).min(32), ..widths };
            let head = self.assemble(Form::Flexible { hashed: true, widths }, pool)?;
            if Head::parse(&head, &Limits::none()).is_ok() {
                return Ok(head);
            }
        }
        Err(limit("no flexible form that can be read in one way only"))
    }

    fn assemble(&self, form: Form, pool: &[u8]) -> Result<Vec<u8>> {
        let flags = if self.dictionaries.is_some() { HAS_DICTIONARIES } else { 0 }
            | if self.user_data.is_empty() { 0 } else { HAS_USER_DATA };
        // The form was chosen so that these values fit.
        let (pool_len, blocks, files) =
            (pool.len() as u32, self.blocks.len() as u32, self.entries.len() as u32);
        let mut header = Header {
            version: super::header::VERSION,
            chunk: self.chunk,
            pages: 0,
            flags,
            form,
            pool: pool_len,
            blocks,
            files,
        };
        let mut out = header.write();
        for entry in self.entries {
            let place = match entry.size {
                0 => Entry { first_block: 0, block_offset: 0, ..*entry },
                _ => *entry,
            };
            write_entry(&header, &place, &mut out);
        }
        self.blocks.iter().for_each(|block| out.extend_from_slice(&block.word().to_le_bytes()));
        out.extend_from_slice(pool);
        if let Some(dictionaries) = self.dictionaries {
            dictionaries.write(self.blocks.len(), &mut out)?;
        }
        if !self.user_data.is_empty() {
            user_data::write(self.user_data, &mut out)?;
        }
        let pages = (out.len() as u64).div_ceil(PAGE);
        if pages > u64::from(MAX_PAGES) {
            return Err(limit("the format holds 256 MiB of header"));
        }
        header.pages = pages as u32;
        let front = header.write();
        out[..front.len()].copy_from_slice(&front);
        out.resize(header.bytes() as usize, 0);
        Ok(out)
    }
}

/// Returns the number of bits of `n`, at least 1.
fn width_of(n: u64) -> u32 {
    (u64::BITS - n.leading_zeros()).max(1)
}
