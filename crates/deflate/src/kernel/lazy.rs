//! Lazy matching, as in zlib's `deflate_slow` (RFC 1951, section 4), for levels 4 to 6 and sessions: bytes to tokens, one
//! position at a time.
//!
//! A match is taken only after the next position was tried: a longer match there costs one literal more. Candidates
//! come from a [`Finder`].

use super::dispatch::Kernel;
use super::incompressible::{LONG_RUN, LiteralRun};
use super::isa::Isa;
use super::matcher::MIN_MATCH;
use super::parse::Parsed;
use super::token_writer::TokenWriter;
use crate::coding::token::Tokens;

/// Literals after which the run is written to the tokens.
const RUN_PIECE: usize = 48;
/// Most literals before a match that may still give way to the next one: with [`RUN_PIECE`] this keeps the tokens of one step below
/// their slack.
const MAX_LITERALS: usize = 56;
const _: () = assert!(MAX_LITERALS / 2 + 3 <= crate::coding::token::SLACK);

/// Positions inserted at the end of a match: those before are found where the match came from.
const INSIDE: usize = 4;

/// A match: `length` 0 stands for none.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    pub(crate) length: usize,
    pub(crate) distance: usize,
}

impl Found {
    pub(crate) const NONE: Found = Found { length: 0, distance: 1 };

    /// Whether to take `later`, one position further on, instead of `self`: each byte more is worth some 4 bits,
    /// the literal between costs some 6, and a distance as many as it has.
    #[inline(always)]
    fn loses_to(self, later: Found) -> bool {
        let bits = |found: Found| 4 * found.length as i32 - found.distance.ilog2() as i32;
        later.length >= self.length && bits(later) > bits(self) + 2
    }
}

/// A source of candidates for matches, over one buffer.
pub(crate) trait Finder {
    /// Whether it needs every position; else only the last [`INSIDE`] of a match are inserted.
    const INSERTS_ALL: bool;
    type Lent<'s>: Finder
    where
        Self: 's;

    /// The same, for a loop to hold by value: in registers, since no store can change it.
    fn lend(&mut self) -> Self::Lent<'_>;

    /// Inserts position `at`.
    ///
    /// # Safety
    /// `at + MIN_MATCH` must be within `buffer`, the same at every call; positions are inserted in ascending order.
    unsafe fn insert(&mut self, buffer: &[u8], at: usize);

    /// Inserts position `at`; returns the longest match there if it is longer than `shorter`.
    ///
    /// # Safety
    /// As [`insert`](Self::insert); the CPU must support the tier that `I` is for.
    unsafe fn find<I: Isa>(&mut self, buffer: &[u8], at: usize, shorter: usize) -> Found;
}

/// Inserts the positions of a range that have 4 bytes.
pub(crate) fn insert_all(finder: &mut impl Finder, buffer: &[u8], start: usize, end: usize) {
    for at in start..end.min((buffer.len() + 1).saturating_sub(MIN_MATCH)) {
        // SAFETY: the position has 4 bytes.
        unsafe { finder.insert(buffer, at) };
    }
}

/// Appends tokens from `start` on, until there are so many, incompressible data, or the end of the buffer.
pub(crate) struct LazyParse<'a, F> {
    pub(crate) tokens: &'a mut Tokens,
    /// Tokens after which it ends: at most [`CAPACITY`](crate::coding::token::CAPACITY).
    pub(crate) most: usize,
    pub(crate) buffer: &'a [u8],
    pub(crate) start: usize,
    pub(crate) finder: &'a mut F,
    /// As [`Search::max_lazy`](crate::levels::Search::max_lazy).
    pub(crate) max_lazy: usize,
}

impl<F: Finder> Kernel for LazyParse<'_, F> {
    type Output = Parsed;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Parsed {
        let LazyParse { tokens, most, buffer, start, finder, max_lazy } = self;
        let mut finder = finder.lend();
        tokens.clear_counts();
        let mut writer = TokenWriter::new(tokens);
        let hashed_end = (buffer.len() + 1).saturating_sub(MIN_MATCH);
        let (mut at, mut literals) = (start, start);
        let mut run = LiteralRun::new(start);
        let mut incompressible = false;
        // SAFETY: positions below `hashed_end` have 4 bytes, and each is inserted once, in order; one step makes at
        // most MAX_LITERALS / 2 + 3 tokens.
        unsafe {
            while at < hashed_end && writer.len() < most {
                let mut found = finder.find::<I>(buffer, at, 0);
                if found.length == 0 {
                    at += 1;
                    if at - literals >= RUN_PIECE {
                        writer.push_bytes(&buffer[literals..at]);
                        literals = at;
                        if at - run.start > LONG_RUN && run.literal_run_is_incompressible(buffer, at) {
                            incompressible = true;
                            break;
                        }
                    }
                    continue;
                }
                let mut next = at + 1;
                while found.length < max_lazy && next < hashed_end && at - literals < MAX_LITERALS {
                    let later = finder.find::<I>(buffer, next, found.length - 1);
                    next += 1;
                    if !found.loses_to(later) {
                        break;
                    }
                    (at, found) = (next - 1, later);
                }
                writer.push_bytes(&buffer[literals..at]);
                writer.push_match(found.length, found.distance);
                at += found.length;
                let first = if F::INSERTS_ALL { next } else { next.max(at - at.min(INSIDE)) };
                for inside in first..at.min(hashed_end) {
                    finder.insert(buffer, inside);
                }
                (literals, run.start) = (at, at);
            }
            writer.push_bytes(&buffer[literals..at]);
            if at >= hashed_end && writer.len() < most {
                writer.push_bytes(&buffer[at..]);
                at = buffer.len();
            }
        }
        let len = writer.len();
        tokens.len = len;
        Parsed { end: at, incompressible, incompressible_throughout: incompressible && run.start == start }
    }
}
