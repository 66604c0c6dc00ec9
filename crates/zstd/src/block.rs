//! One compressed block: its literals, its sequences, and their execution.

use linerate_core::{Error, Kind, Result};

use crate::bits::Backward;
use crate::dictionary::Dictionary;
use crate::fse;
use crate::literals::{self, Coding};
use crate::output::{Output, TOO_SMALL};
use crate::prefetch::Prefetch;
use crate::scratch::Form;
use crate::sequences::{self, LL_BASE, ML_BASE, Repeats, Table, Which};
use crate::tables::Tables;

/// What decoding a block needs beside the block and the output.
pub(crate) struct Work<'a> {
    #[allow(dead_code)]
    pub(crate) form: Form,
    pub(crate) tables: &'a mut Tables,
    pub(crate) dictionary: Option<&'a Dictionary<'a>>,
    /// Room for the literals of any block.
    pub(crate) literals: &'a mut [u8],
    /// What to fetch meanwhile.
    pub(crate) prefetch: Option<&'a mut Prefetch>,
}

const fn corrupt(what: &'static str) -> Error {
    Error::new(Kind::Corrupt, 0, what)
}

impl Work<'_> {
    /// Decodes a block that may regenerate `max` bytes. `src[..at]` was read before it and holds at
    /// least 5 bytes, the block is the rest.
    pub(crate) fn decode(&mut self, src: &[u8], at: usize, max: usize, out: &mut Output<'_>) -> Result<()> {
        let block = &src[at..];
        let header = literals::Header::parse(block)?;
        if header.count > max {
            return Err(corrupt("a block has more literals than it may regenerate"));
        }
        let rest = &block[header.len..];
        let Some((stored, section)) = rest.split_at_checked(header.stored) else {
            return Err(corrupt("the literals of a block are larger than the block"));
        };
        let place = |e: Error| e.shifted(header.len as u64);
        let literals: &[u8] = match header.coding {
            Coding::Raw => stored,
            Coding::Rle => {
                self.literals[..header.count].fill(stored[0]);
                &self.literals[..header.count]
            }
            Coding::Tree | Coding::Treeless => {
                let tree = match header.coding {
                    Coding::Tree => literals::read_tree(stored, self.tables).map_err(place)?,
                    _ => 0,
                };
                let into = &mut self.literals[..header.count];
                literals::decode_codes(&header, &stored[tree..], self.tables, self.dictionary, into)
                    .map_err(|e| place(e).shifted(tree as u64))?;
                into
            }
        };
        let place = |e: Error| e.shifted((header.len + header.stored) as u64);
        let read = sequences::read_section(section, self.tables, self.dictionary).map_err(place)?;
        if read.count == 0 {
            return out.append(literals);
        }
        let bits = &section[read.len..];
        let repeats = self.tables.repeats;
        let table = |which| self.tables.table(which, self.dictionary).ok_or(corrupt("a block has no tables"));
        let tables = [table(Which::LiteralLength)?, table(Which::Offset)?, table(Which::MatchLength)?];
        let prefetch = self.prefetch.as_deref_mut();
        let repeats = run(read.count, tables, repeats, bits, literals, max, prefetch, out).map_err(place)?;
        self.tables.repeats = repeats;
        Ok(())
    }
}

#[allow(clippy::too_many_arguments)]
/// Decodes and executes `count` sequences, safely: what the kernels must match.
fn run(
    count: usize,
    [ll_table, of_table, ml_table]: [Table<'_>; 3],
    mut repeats: Repeats,
    bits: &[u8],
    mut literals: &[u8],
    max: usize,
    mut prefetch: Option<&mut Prefetch>,
    out: &mut Output<'_>,
) -> Result<Repeats> {
    let mut input = Backward::new(bits).ok_or(corrupt("the bits of sequences have no end mark"))?;
    let end = out.at + max;
    let mut ll_state = input.take(ll_table.log) as usize;
    let mut of_state = input.take(of_table.log) as usize;
    let mut ml_state = input.take(ml_table.log) as usize;
    for left in (0..count).rev() {
        if let Some(list) = &mut prefetch {
            list.pop();
        }
        let (ll, of, ml) = (ll_table.cells[ll_state], of_table.cells[of_state], ml_table.cells[ml_state]);
        let value = (1 << fse::extra(of)) + input.take(fse::extra(of));
        let match_len = ML_BASE[fse::code(ml) as usize] + input.take(fse::extra(ml)) as u32;
        let literal_len = LL_BASE[fse::code(ll) as usize] + input.take(fse::extra(ll)) as u32;
        if left > 0 {
            ll_state = fse::base(ll) as usize + input.take(fse::bits(ll)) as usize;
            ml_state = fse::base(ml) as usize + input.take(fse::bits(ml)) as usize;
            of_state = fse::base(of) as usize + input.take(fse::bits(of)) as usize;
        }
        if input.left() < 0 {
            return Err(corrupt("the bits of sequences end too early"));
        }
        let offset = repeats.resolve(value as u32, literal_len);
        if offset == 0 {
            return Err(corrupt("a match has offset zero"));
        }
        let (literal_len, match_len) = (literal_len as usize, match_len as usize);
        let Some((head, tail)) = literals.split_at_checked(literal_len) else {
            return Err(corrupt("sequences use more literals than there are"));
        };
        check_room(literal_len + match_len, end, out)?;
        out.append(head)?;
        literals = tail;
        out.copy_match(offset as usize, match_len)?;
    }
    if input.left() != 0 {
        return Err(corrupt("the bits of sequences are not used up exactly"));
    }
    check_room(literals.len(), end, out)?;
    out.append(literals)?;
    Ok(repeats)
}

/// Whether `len` bytes may be appended to a block that may reach `end`.
fn check_room(len: usize, end: usize, out: &Output<'_>) -> Result<()> {
    if len > end - out.at {
        return Err(corrupt("a block regenerates more than it may"));
    }
    if len > out.buf.len() - out.at {
        return Err(TOO_SMALL);
    }
    Ok(())
}
