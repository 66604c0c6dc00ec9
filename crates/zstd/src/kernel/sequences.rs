//! Sequences decoded and executed in one loop.
//!
//! Each turn checks three things, all of which are nearly always so: bits are left, the turn's output
//! ends [`SLACK`] bytes before the end of the room, and the match lies in what may be copied. Then it
//! copies 16 or 32 bytes at a time and may touch as many behind. What fails a check takes the exact
//! way.

use linerate_core::{Error, Kind, Result};

use super::backward::{self, BEGIN, LOADED, field};
use super::isa::{Isa, Kernel, copy16, dispatch};
use crate::execute;
use crate::fse;
use crate::output::{Output, TOO_SMALL};
use crate::prefetch::Prefetch;
use crate::scratch::Form;
use crate::sequences::{LL_BASE, ML_BASE, Repeats, Table};

/// Bytes that a turn may write behind its output, and read behind what it copies.
pub(crate) const SLACK: usize = 32;

/// A block's sequences, ready to be executed.
pub(crate) struct Job<'a, 'b> {
    /// Sequences, at least one.
    pub(crate) count: usize,
    pub(crate) ll: Table<'a>,
    pub(crate) of: Table<'a>,
    pub(crate) ml: Table<'a>,
    /// The stream of bits; eight bytes before it are readable.
    pub(crate) bits: &'a [u8],
    /// Literals, and [`SLACK`] bytes behind them.
    pub(crate) literals: &'a [u8],
    pub(crate) repeats: Repeats,
    /// Bytes that the block may regenerate.
    pub(crate) max: usize,
    pub(crate) prefetch: Option<&'a mut Prefetch>,
    pub(crate) out: &'a mut Output<'b>,
}

const fn corrupt(what: &'static str) -> Error {
    Error::new(Kind::Corrupt, 0, what)
}

const TOO_EARLY: Error = corrupt("the bits of sequences end too early");

/// Decodes and executes the sequences, and appends the literals left over. Returns the repeat
/// offsets after them.
pub(crate) fn run(form: Form, job: Job<'_, '_>) -> Result<Repeats> {
    let Form::Fast(tier) = form else { return execute::run(job) };
    let history = job.out.before.iter().any(|piece| !piece.bytes.is_empty());
    match (history, job.prefetch.is_some()) {
        (false, false) => dispatch(tier, Loop::<false, false>(job)),
        (false, true) => dispatch(tier, Loop::<false, true>(job)),
        (true, false) => dispatch(tier, Loop::<true, false>(job)),
        (true, true) => dispatch(tier, Loop::<true, true>(job)),
    }
}

struct Loop<'a, 'b, const HISTORY: bool, const PREFETCH: bool>(Job<'a, 'b>);

impl<const HISTORY: bool, const PREFETCH: bool> Kernel for Loop<'_, '_, HISTORY, PREFETCH> {
    type Output = Result<Repeats>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Result<Repeats> {
        let Job { count, ll, of, ml, bits, literals, repeats, max, mut prefetch, out } = self.0;
        let mut place = backward::end(bits).ok_or(corrupt("the bits of sequences have no end mark"))?;
        let stream = bits.as_ptr();
        let literal_count = literals.len() - SLACK;
        // SAFETY: one load per place that is at least `BEGIN`; states are below the size of their
        // tables. Pointers stay in their buffers: `to` is at most `fast_end` when a turn has copied
        // the fast way, `from` has as many literals before `literals_end` as are copied, and a match
        // begins in `out` or in a piece of history with its slack.
        unsafe {
            if place - ((ll.log + of.log + ml.log) as isize) < BEGIN {
                return Err(TOO_EARLY);
            }
            let (word, left) = backward::load(stream, place);
            let mut state_ll = field(word, left - ll.log, ll.log) as usize;
            let mut state_of = field(word, left - ll.log - of.log, of.log) as usize;
            let mut state_ml = field(word, left - ll.log - of.log - ml.log, ml.log) as usize;
            place -= (ll.log + of.log + ml.log) as isize;
            let (cells_ll, cells_of, cells_ml) = (ll.cells.as_ptr(), of.cells.as_ptr(), ml.cells.as_ptr());

            let buf = out.buf.as_mut_ptr();
            let start = buf.add(out.start);
            let mut to = buf.add(out.at);
            let end = out.at + max;
            let fast_end = buf.add(end.min(out.buf.len().saturating_sub(SLACK)));
            let mut from = literals.as_ptr();
            let literals_end = from.add(literal_count);
            let [mut r1, mut r2, mut r3] = repeats.0;
            let piece = out.before[0];
            let piece_end = piece.bytes.as_ptr().wrapping_add(piece.bytes.len());
            let piece_len = piece.bytes.len() as isize;
            // Copies from the piece read `SLACK` bytes behind what they copy at most.
            let piece_pad = SLACK.saturating_sub(piece.slack);

            let mut state_bits = 0;
            for _ in 0..count {
                if PREFETCH && let Some(list) = &mut prefetch {
                    list.pop();
                }
                if place < BEGIN {
                    return Err(TOO_EARLY);
                }
                let (cell_ll, cell_of, cell_ml) =
                    (*cells_ll.add(state_ll), *cells_of.add(state_of), *cells_ml.add(state_ml));
                let (word, left) = backward::load(stream, place);
                let sum = cell_ll.wrapping_add(cell_of).wrapping_add(cell_ml);
                let all = fse::all_bits(sum);
                state_bits = fse::bits(sum);
                let (extra_of, extra_ml, extra_ll) =
                    (fse::extra(cell_of), fse::extra(cell_ml), fse::extra(cell_ll));
                let (value_of, value_ml, value_ll, states);
                if all <= LOADED {
                    let after_of = left.wrapping_sub(extra_of);
                    value_of = field(word, after_of, extra_of);
                    let after_ml = after_of.wrapping_sub(extra_ml);
                    value_ml = field(word, after_ml, extra_ml);
                    let after_ll = after_ml.wrapping_sub(extra_ll);
                    value_ll = field(word, after_ll, extra_ll);
                    states = word >> ((left - all) & 63);
                } else {
                    // More bits than a load has: one load for each value.
                    let mut at = place;
                    let mut take = |count: u32| {
                        if at < BEGIN {
                            return None;
                        }
                        let (word, left) = backward::load(stream, at);
                        at -= count as isize;
                        Some(field(word, left - count, count))
                    };
                    value_of = take(extra_of).ok_or(TOO_EARLY)?;
                    value_ml = take(extra_ml).ok_or(TOO_EARLY)?;
                    value_ll = take(extra_ll).ok_or(TOO_EARLY)?;
                    states = take(state_bits).unwrap_or(0);
                }
                place -= all as isize;
                // The last turn reads states that no turn needs; their bits are given back below.
                let (bits_of, bits_ml, bits_ll) =
                    (fse::bits(cell_of), fse::bits(cell_ml), fse::bits(cell_ll));
                state_of = fse::base(cell_of) as usize + field(states, 0, bits_of) as usize;
                state_ml = fse::base(cell_ml) as usize + field(states, bits_of, bits_ml) as usize;
                state_ll = fse::base(cell_ll) as usize + field(states, bits_of + bits_ml, bits_ll) as usize;

                let literal_len = LL_BASE[fse::code(cell_ll) as usize & 63] as usize + value_ll as usize;
                let match_len = ML_BASE[fse::code(cell_ml) as usize & 63] as usize + value_ml as usize;
                let offset;
                if extra_of > 1 {
                    offset = ((1 << extra_of) + value_of - 3) as u32;
                    (r3, r2, r1) = (r2, r1, offset);
                } else {
                    let mut repeats = Repeats([r1, r2, r3]);
                    offset = repeats.resolve((1 << extra_of) + value_of as u32, literal_len as u32);
                    [r1, r2, r3] = repeats.0;
                    if offset == 0 {
                        return Err(corrupt("a match has offset zero"));
                    }
                }
                let offset = offset as usize;

                if literals_end.offset_from_unsigned(from) < literal_len {
                    return Err(corrupt("sequences use more literals than there are"));
                }
                // The sum of both is below 2^18; the room is compared as a number, since a pointer
                // beyond it might not exist.
                if (fast_end as isize - to as isize) < (literal_len + match_len) as isize {
                    out.at = to.offset_from_unsigned(buf);
                    let literals = core::slice::from_raw_parts(from, literal_len);
                    exact(out, literals, match_len, offset, end)?;
                    to = buf.add(out.at);
                    from = from.add(literal_len);
                    continue;
                }
                copy16(from, to);
                if literal_len > 16 {
                    copy_wild(from.add(16), to.add(16), literal_len - 16);
                }
                from = from.add(literal_len);
                to = to.add(literal_len);

                let made = to.offset_from_unsigned(start);
                let mut source = to.wrapping_sub(offset).cast_const();
                let back = offset as isize - made as isize;
                if HISTORY {
                    if back > 0 {
                        source = piece_end.wrapping_sub(back as usize);
                    }
                    // Within the piece: it begins there, and ends there with what is read behind it.
                    if back > piece_len || ((back - 1) as usize) < match_len + piece_pad - 1 {
                        out.at = to.offset_from_unsigned(buf);
                        exact(out, &[], match_len, offset, end)?;
                        to = buf.add(out.at);
                        continue;
                    }
                } else if back > 0 {
                    return Err(corrupt("a match reaches back before the history"));
                }
                if offset >= 16 {
                    copy16(source, to);
                    copy16(source.add(16), to.add(16));
                    if match_len > 32 {
                        copy_wild(source.add(32), to.add(32), match_len - 32);
                    }
                } else {
                    // Whole periods of 9 to 16 bytes.
                    let period = offset * (16 / offset);
                    I::repeat16(source, to, offset);
                    let mut copied = period;
                    while copied < match_len {
                        copy16(to.add(copied - period), to.add(copied));
                        copied += period;
                    }
                }
                to = to.add(match_len);
            }
            if place + state_bits as isize != BEGIN {
                return Err(corrupt("the bits of sequences are not used up exactly"));
            }
            out.at = to.offset_from_unsigned(buf);
            let literals = core::slice::from_raw_parts(from, literals_end.offset_from_unsigned(from));
            exact(out, literals, 0, 1, end)?;
            Ok(Repeats([r1, r2, r3]))
        }
    }
}

/// Copies `len` bytes, not 0, sixteen at a time.
///
/// # Safety
/// The bytes, rounded up to a multiple of 16, are readable and writable; where both overlap, `to` is
/// at least 16 behind `from`.
#[inline(always)]
unsafe fn copy_wild(from: *const u8, to: *mut u8, len: usize) {
    let mut copied = 0;
    while copied < len {
        // SAFETY: as the caller vouches.
        unsafe { copy16(from.add(copied), to.add(copied)) };
        copied += 16;
    }
}

/// Appends literals and a match without touching a byte beside them.
#[cold]
#[inline(never)]
fn exact(out: &mut Output<'_>, literals: &[u8], match_len: usize, offset: usize, end: usize) -> Result<()> {
    let len = literals.len() + match_len;
    if len > end - out.at {
        return Err(corrupt("a block regenerates more than it may"));
    }
    if len > out.buf.len() - out.at {
        return Err(TOO_SMALL);
    }
    out.append(literals)?;
    out.copy_match(offset, match_len)
}
