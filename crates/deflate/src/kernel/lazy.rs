//! Lazy matching, as in zlib's `deflate_slow` (RFC 1951, section 4), for levels 4 to 7, sessions,
//! and level 3 where matches of 3 bytes pay. It turns bytes into tokens, one position at a time.
//!
//! A match shorter than `max_lazy` is taken only after the next position has been searched: a
//! longer match there costs one more literal. Candidates come from a [`Finder`].

use linerate_core::Tier;

use super::dispatch::{Kernel, dispatch};
use super::incompressible::{LONG_RUN, LiteralRun};
use super::isa::Isa;
use super::matcher::{MAX_MATCH, MIN_MATCH};
use super::parse::Parsed;
use super::scalar::Scalar;
use super::token_writer::TokenWriter;
use crate::coding::token::Tokens;

/// Maximum number of positions by which a match is put off. This keeps the tokens of a step within
/// their slack.
const MAX_PUT_OFF: usize = 56;
const _: () = assert!(MAX_PUT_OFF / 2 + 3 <= crate::coding::token::SLACK);

/// Number of positions that are inserted at the end of a match if the finder does not need every
/// position. The earlier positions are found at the source of the match.
const INSIDE: usize = 4;

/// Number of positions at the end of a match that are inserted into all tables.
const FULLY_INSERTED: usize = 32;

/// A match, or none if `length` is 0.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    pub(crate) length: usize,
    pub(crate) distance: usize,
}

impl Found {
    pub(crate) const NONE: Found = Found { length: 0, distance: 1 };

    /// Returns whether to take `later`, which begins one position later, instead of `self`. The
    /// literal between them costs about 6 bits, minus the 4 bits that its byte would be worth in
    /// the match.
    #[inline(always)]
    fn loses_to(self, later: Found) -> bool {
        later.length >= self.length && later.bits() > self.bits() + 2
    }

    /// Returns whether to take `later`, which begins two positions later. The margin of 6 bits was
    /// found by trial.
    #[inline(always)]
    fn loses_to_second(self, later: Found) -> bool {
        later.length > self.length && later.bits() > self.bits() + 6
    }

    /// Returns the value of the match in bits: about 4 per byte, minus the bits of its distance.
    #[inline(always)]
    fn bits(self) -> i32 {
        4 * self.length as i32 - self.distance.ilog2() as i32
    }
}

/// A match finder over one buffer.
pub(crate) trait Finder {
    /// Whether the finder needs every position. If not, only the last [`INSIDE`] positions of a
    /// match are inserted, besides those that were searched.
    const INSERTS_ALL: bool;
    /// Whether a match may also give way to one that begins two positions later.
    const LOOKS_TWICE: bool;
    type Lent<'s>: Finder
    where
        Self: 's;

    /// Returns the same finder for a loop to hold by value. The compiler can then keep it in
    /// registers, because no store can change it.
    fn lend(&mut self) -> Self::Lent<'_>;

    /// Adapts the search to data in which `literals` different literals are common.
    fn adapt(&mut self, literals: usize);

    /// Inserts position `at`.
    ///
    /// # Safety
    /// `at + MIN_MATCH` must be within `buffer`, which must be the same at every call. Positions
    /// must be inserted in ascending order.
    unsafe fn insert(&mut self, buffer: &[u8], at: usize);

    /// Inserts position `at`, which is deep inside a match or in incompressible data. The finder
    /// may leave it out of tables that only serve short matches.
    ///
    /// # Safety
    /// See [`insert`](Self::insert).
    #[inline(always)]
    unsafe fn insert_lightly(&mut self, buffer: &[u8], at: usize) {
        // SAFETY: as the caller vouches.
        unsafe { self.insert(buffer, at) }
    }

    /// Inserts position `at`. Returns the longest match found there if it is longer than `shorter`.
    ///
    /// # Safety
    /// See [`insert`](Self::insert). With `FAR`, more than [`MAX_MATCH`] + 8 bytes must follow
    /// `at`. The CPU must support the tier that `I` is for.
    unsafe fn find<I: Isa, const FAR: bool>(&mut self, buffer: &[u8], at: usize, shorter: usize) -> Found;
}

/// Inserts the positions of a range, except those near the end that have fewer than 4 bytes.
pub(crate) fn insert_all(finder: &mut impl Finder, buffer: &[u8], start: usize, end: usize) {
    for at in start..end.min((buffer.len() + 1).saturating_sub(MIN_MATCH)) {
        // SAFETY: the position has 4 bytes.
        unsafe { finder.insert(buffer, at) };
    }
}

/// Inserts position `at`, which must have 4 bytes. If `look` is set, returns whether a match of 4
/// bytes begins there.
pub(crate) fn insert_one(finder: &mut impl Finder, buffer: &[u8], at: usize, look: bool) -> bool {
    assert!(buffer.len() - at >= MIN_MATCH, "the position has 4 bytes");
    // SAFETY: the position has 4 bytes, as checked.
    unsafe {
        if look {
            return finder.find::<Scalar, false>(buffer, at, 0).length >= MIN_MATCH;
        }
        finder.insert_lightly(buffer, at);
    }
    false
}

/// Appends tokens for the bytes from `start`, until the list has `most` tokens, or until
/// incompressible data or the end of the buffer.
pub(crate) struct LazyParse<'a, F> {
    pub(crate) tokens: &'a mut Tokens,
    /// Number of tokens at which the parse stops, at most
    /// [`CAPACITY`](crate::coding::token::CAPACITY).
    pub(crate) most: usize,
    pub(crate) buffer: &'a [u8],
    pub(crate) start: usize,
    pub(crate) finder: &'a mut F,
    /// See [`Search::max_lazy`](crate::levels::Search::max_lazy).
    pub(crate) max_lazy: usize,
}

impl<F: Finder> LazyParse<'_, F> {
    /// Runs the parse on `tier`.
    pub(crate) fn run(self, tier: Tier) -> Parsed {
        let LazyParse { tokens, most, buffer, start, finder, max_lazy } = self;
        tokens.clear_counts();
        let steps = Steps {
            writer: TokenWriter::new(tokens),
            most,
            buffer,
            finder: finder.lend(),
            max_lazy,
            at: start,
            run: LiteralRun::new(start),
            incompressible: false,
        };
        let hashed_end = (buffer.len() + 1).saturating_sub(MIN_MATCH);
        let mut steps =
            dispatch(tier, Advance::<_, true> { steps, until: hashed_end.saturating_sub(NEAR_END) });
        if !steps.incompressible {
            steps = dispatch(tier, Advance::<_, false> { steps, until: hashed_end });
        }
        steps.end(hashed_end, start)
    }
}

/// Parses until a token begins at `until` or later, or the parse ends for another reason. Positions
/// before `until` must have 4 bytes, or with `FAR` [`NEAR_END`].
struct Advance<'a, F, const FAR: bool> {
    steps: Steps<'a, F>,
    until: usize,
}

impl<'a, F: Finder, const FAR: bool> Kernel for Advance<'a, F, FAR> {
    type Output = Steps<'a, F>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Steps<'a, F> {
        // The state is copied, so that it stays in registers.
        let mut steps = self.steps;
        // SAFETY: as the fields and the caller vouch.
        unsafe { steps.advance::<I, FAR>(self.until) };
        steps
    }
}

/// With this many bytes left, a match may have any length, even if it is put off.
const NEAR_END: usize = MAX_MATCH + MAX_PUT_OFF + 8;

/// The state of a parse.
struct Steps<'a, F> {
    writer: TokenWriter<'a>,
    most: usize,
    buffer: &'a [u8],
    finder: F,
    max_lazy: usize,
    at: usize,
    run: LiteralRun,
    incompressible: bool,
}

impl<F: Finder> Steps<'_, F> {
    /// Parses until a token begins at `until` or later, or the parse ends for another reason.
    ///
    /// # Safety
    /// Positions below `until` must have 4 bytes, or with `FAR` [`NEAR_END`]; the CPU must support
    /// the tier that `I` is for.
    #[inline(always)]
    unsafe fn advance<I: Isa, const FAR: bool>(&mut self, until: usize) {
        let buffer = self.buffer;
        // SAFETY: as the caller vouches, and each position is inserted once, in order; a step makes
        // at most MAX_PUT_OFF / 2 + 3 tokens.
        unsafe {
            while self.at < until && self.writer.len() < self.most {
                let mut found = self.finder.find::<I, FAR>(buffer, self.at, 0);
                if found.length == 0 {
                    self.writer.push_literal(*buffer.get_unchecked(self.at));
                    self.at += 1;
                    if self.at - self.run.start > LONG_RUN
                        && self.run.literal_run_is_incompressible(buffer, self.at)
                    {
                        self.incompressible = true;
                        return;
                    }
                    continue;
                }
                let hashed_end = buffer.len() - MIN_MATCH + 1;
                let first = self.at;
                let mut next = first + 1;
                while found.length < self.max_lazy
                    && (FAR || next < hashed_end)
                    && next - first <= MAX_PUT_OFF
                {
                    let mut later = self.finder.find::<I, FAR>(buffer, next, found.length - 1);
                    next += 1;
                    if !found.loses_to(later) {
                        if !F::LOOKS_TWICE || !FAR && next >= hashed_end || next - first > MAX_PUT_OFF {
                            break;
                        }
                        later = self.finder.find::<I, FAR>(buffer, next, found.length);
                        next += 1;
                        if !found.loses_to_second(later) {
                            break;
                        }
                        self.writer.push_literal(*buffer.get_unchecked(self.at));
                        self.at += 1;
                    }
                    self.writer.push_literal(*buffer.get_unchecked(self.at));
                    (self.at, found) = (next - 1, later);
                }
                self.writer.end_literals();
                self.writer.push_match(found.length, found.distance);
                self.at += found.length;
                let first = if F::INSERTS_ALL { next } else { next.max(self.at - self.at.min(INSIDE)) };
                let end = if FAR { self.at } else { self.at.min(hashed_end) };
                let near_end = first.max(end - end.min(FULLY_INSERTED));
                for inside in first..near_end {
                    self.finder.insert_lightly(buffer, inside);
                }
                for inside in near_end..end {
                    self.finder.insert(buffer, inside);
                }
                self.run.start = self.at;
            }
        }
    }

    /// Writes the pending literal and, at the end of the buffer, its last bytes.
    fn end(mut self, hashed_end: usize, start: usize) -> Parsed {
        // SAFETY: steps end with at most MAX_PUT_OFF / 2 + 2 tokens above `most`, so SLACK leaves
        // room for a pending literal. Below `most` there is also room for the last three bytes.
        unsafe {
            self.writer.end_literals();
            if self.at >= hashed_end && self.writer.len() < self.most {
                self.writer.push_bytes(&self.buffer[self.at..]);
                self.at = self.buffer.len();
            }
        }
        self.writer.end();
        let Steps { at: end, incompressible, run, .. } = self;
        Parsed { end, incompressible, incompressible_throughout: incompressible && run.start == start }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::chains::Chains;
    use crate::kernel::matcher::MAX_DISTANCE;
    use crate::kernel::parse::ParseState;
    use crate::{Level, Scratch};

    #[test]
    fn parse_ends_at_incompressible_data_far_from_the_end_of_the_buffer() {
        let mut x = 1u32;
        let noise: Vec<u8> = (0..1 << 16)
            .map(|_| {
                x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (x >> 24) as u8
            })
            .collect();
        let mut scratch = Box::new(Scratch::new());
        let Scratch { work: ParseState { tokens, .. }, chains, .. } = &mut *scratch;
        let search = Level::Deeper.search();
        let mut finder = Chains::<false, false, false>::begin(chains, noise.len(), MAX_DISTANCE, search);
        let max_lazy = search.max_lazy;
        let parse = LazyParse { tokens, most: 1024, buffer: &noise, start: 0, finder: &mut finder, max_lazy };
        let parsed = parse.run(Tier::Scalar);
        assert!(parsed.incompressible_throughout);
        assert_eq!(parsed.end, LONG_RUN + 1);
    }
}
