//! Decodes and executes sequences one by one, in safe code. This is the reference that
//! [`kernel::sequences`](crate::kernel::sequences) must match.

use linerate_core::{Error, Result};

use crate::entropy::bits::BackwardBitReader;
use crate::entropy::fse;
use crate::entropy::tables::{FseTable, LL_BASE, ML_BASE, RepeatOffsets};
use crate::output::{OUTPUT_TOO_SMALL, Output};
use crate::prefetch::PrefetchQueue;

/// Number of bytes that a copy may write after its output, and read after its source.
pub(crate) const SLACK: usize = 32;

/// The sequences of one block, with everything needed to decode and execute them.
pub(crate) struct Job<'a, 'b> {
    /// Number of sequences, at least 1.
    pub(crate) count: usize,
    pub(crate) ll: FseTable<'a>,
    pub(crate) of: FseTable<'a>,
    pub(crate) ml: FseTable<'a>,
    /// The input that contains `bits`.
    pub(crate) whole: &'a [u8],
    pub(crate) bits: &'a [u8],
    /// Literals, followed by [`SLACK`] readable bytes.
    pub(crate) literals: &'a [u8],
    pub(crate) repeats: RepeatOffsets,
    /// Largest number of bytes that the block may regenerate.
    pub(crate) max: usize,
    pub(crate) prefetch: Option<&'a mut PrefetchQueue>,
    /// Whether sequences are decoded ahead of their execution, so that the sources of their matches
    /// can be prefetched.
    pub(crate) two_phase: bool,
    pub(crate) out: &'a mut Output<'b>,
}

/// The reference of [`crate::kernel::sequences::run`].
pub(crate) fn run(job: Job<'_, '_>) -> Result<RepeatOffsets> {
    let Job {
        count,
        ll: ll_table,
        of: of_table,
        ml: ml_table,
        bits,
        literals,
        max,
        mut repeats,
        mut prefetch,
        out,
        ..
    } = job;
    let mut literals = &literals[..literals.len() - SLACK];
    let mut input =
        BackwardBitReader::new(bits).ok_or(Error::corrupt("the bits of sequences have no end mark"))?;
    let end = out.at + max;
    let mut ll_state = input.take(ll_table.log) as usize;
    let mut of_state = input.take(of_table.log) as usize;
    let mut ml_state = input.take(ml_table.log) as usize;
    for left in (0..count).rev() {
        if let Some(queue) = &mut prefetch {
            queue.prefetch_next();
        }
        let (ll, of, ml) = (ll_table.cells[ll_state], of_table.cells[of_state], ml_table.cells[ml_state]);
        let value = (1 << fse::extra_bits(of)) + input.take(fse::extra_bits(of));
        let match_len = ML_BASE[fse::code(ml) as usize] + input.take(fse::extra_bits(ml)) as u32;
        let literal_len = LL_BASE[fse::code(ll) as usize] + input.take(fse::extra_bits(ll)) as u32;
        if left > 0 {
            ll_state = fse::base_state(ll) as usize + input.take(fse::state_bits(ll)) as usize;
            ml_state = fse::base_state(ml) as usize + input.take(fse::state_bits(ml)) as usize;
            of_state = fse::base_state(of) as usize + input.take(fse::state_bits(of)) as usize;
        }
        if input.left() < 0 {
            return Err(Error::corrupt("the bits of sequences end too early"));
        }
        let offset = repeats.resolve(value as u32, literal_len);
        if offset == 0 {
            return Err(Error::corrupt("a match has offset zero"));
        }
        let (literal_len, match_len) = (literal_len as usize, match_len as usize);
        let Some((head, tail)) = literals.split_at_checked(literal_len) else {
            return Err(Error::corrupt("sequences use more literals than the block has"));
        };
        check_capacity(literal_len + match_len, end, out)?;
        out.append(head)?;
        literals = tail;
        out.copy_match(offset as usize, match_len)?;
    }
    if input.left() != 0 {
        return Err(Error::corrupt("the bits of sequences are not used up exactly"));
    }
    check_capacity(literals.len(), end, out)?;
    out.append(literals)?;
    Ok(repeats)
}

/// Checks that `len` more bytes fit into the block, whose output must end at or before `end`, and
/// into the buffer.
fn check_capacity(len: usize, end: usize, out: &Output<'_>) -> Result<()> {
    if len > end - out.at {
        return Err(Error::corrupt("a block regenerates more bytes than allowed"));
    }
    if len > out.buf.len() - out.at {
        return Err(OUTPUT_TOO_SMALL);
    }
    Ok(())
}
