//! Reads the header with its tables and segments.

use linerate_core::{Error, Kind, Result};

use super::dictionaries::Dictionaries;
use super::header::{FixedFields, Header, ZeroWidth};
use super::toc::Toc;
use super::user_data::{self, Extension};
use super::{string_pool, toc};
use crate::format::limits::Limits;
use crate::format::string_pool::StringPool;

/// The header of an archive with its tables and segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The fields of the header.
    pub header: Header,
    /// The entries and blocks.
    pub toc: Toc,
    /// The paths.
    pub pool: StringPool,
    /// The dictionaries, if the archive has a dictionary segment.
    pub dictionaries: Option<Dictionaries>,
    /// The user data, which is not interpreted.
    pub user_data: Vec<Extension>,
}

/// The tables by one interpretation of a flexible form.
struct Tables {
    header: Header,
    toc: Toc,
    pool: StringPool,
}

impl Head {
    /// Parses the header pages at the start of `bytes`. [`super::Archive::open`] checks the entries
    /// against the blocks.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::Truncated`] if `bytes` end before the pages do, or the pool within its
    /// frame; [`Kind::Corrupt`] if a field, a table or a segment does not fit or is damaged, the
    /// pool does not have exactly one path for each file, or a flexible form has two valid
    /// interpretations that differ, both with files or a pool, or both without;
    /// [`Kind::Unsupported`] for another version of the archive or of a segment, and for chunks
    /// above 512 MiB; [`Kind::Limit`] if a limit is exceeded or memory runs out;
    /// [`Kind::BadArgument`] if [`Limits::window_log`] is too large. Offsets are in the archive.
    pub fn parse(bytes: &[u8], limits: &Limits) -> Result<Head> {
        let fields = FixedFields::parse(bytes)?;
        let pages = usize::try_from(fields.bytes()).ok().and_then(|len| bytes.get(..len));
        let what = "the archive ends within its header";
        let bytes = pages.ok_or(Error::new(Kind::Truncated, bytes.len() as u64, what))?;
        let Tables { header, toc, pool } = tables(&fields, bytes, limits)?;
        let mut end = header.pool_end() as usize;
        let mut dictionaries = None;
        if header.has_dictionaries() {
            let (found, after) = Dictionaries::parse(bytes, end, header.blocks, limits)?;
            (dictionaries, end) = (Some(found), after);
        }
        let user_data = match header.has_user_data() {
            true => user_data::parse(bytes, end, limits)?,
            false => Vec::new(),
        };
        Ok(Head { header, toc, pool, dictionaries, user_data })
    }
}

fn tables(fields: &FixedFields, bytes: &[u8], limits: &Limits) -> Result<Tables> {
    if !fields.is_flexible() || fields.version == 0 {
        return read(bytes, ZeroWidth::IsZero, limits);
    }
    match (read(bytes, ZeroWidth::IsOne, limits), read(bytes, ZeroWidth::IsZero, limits)) {
        (Ok(one), Ok(zero)) if one.says_the_same(&zero) => Ok(one),
        // An interpretation with files or a pool takes precedence over one with neither.
        (Ok(one), Ok(zero)) => match (one.is_empty(), zero.is_empty()) {
            (false, true) => Ok(one),
            (true, false) => Ok(zero),
            _ => Err(Error::new(Kind::Corrupt, 8, "tables that can be read in two ways")),
        },
        (Ok(tables), Err(_)) | (Err(_), Ok(tables)) => Ok(tables),
        // Reports the error of the interpretation that this crate writes.
        (Err(error), Err(_)) => Err(error),
    }
}

fn read(bytes: &[u8], zero: ZeroWidth, limits: &Limits) -> Result<Tables> {
    let header = Header::parse(bytes, zero)?;
    let (from, to) = (header.pool_offset(), header.pool_end());
    // Both offsets are within the header's pages.
    let pool = string_pool::parse(&bytes[from as usize..to as usize], header.files, limits);
    let pool = pool.map_err(|e| e.shifted(from))?;
    Ok(Tables { toc: toc::Toc::parse(&header, bytes)?, header, pool })
}

impl Tables {
    fn is_empty(&self) -> bool {
        self.header.files == 0 && self.header.pool == 0
    }

    fn says_the_same(&self, other: &Tables) -> bool {
        self.header.pool_end() == other.header.pool_end() && self.toc == other.toc && self.pool == other.pool
    }
}
