//! A span of the input with the matches found in it, and the path through it that a near-optimal
//! parse takes (levels 8 and 9).

use core::hint::select_unpredictable;

use super::binary_trees::{BinaryTrees, Match};
use super::dispatch::Kernel;
use super::incompressible::LiteralRun;
use super::isa::Isa;
use super::matcher::{MAX_MATCH, MIN_MATCH};
use crate::coding::costs::NO_DISTANCE;
use crate::coding::frequencies::Frequencies;
use crate::coding::token::{NONE, distance_symbol};

/// Maximum size of a span in bytes. Its last match may go past this end.
const SPAN: usize = 256 << 10;
/// Maximum number of positions of a span.
const POSITIONS: usize = SPAN + MAX_MATCH;
/// Maximum number of matches of a span. A span with more ends early.
const MATCHES: usize = 4 * SPAN;
/// The number of matches of a position is padded to a multiple of this.
pub(crate) const GROUP: usize = 4;
/// Maximum depth of a search. This many matches, one of 3 bytes, and one at the distance of the
/// window fit [`GROUPS`] groups.
pub(crate) const MAX_DEPTH: u32 = 250;
/// Number of lengths that a parse compares at once.
pub(crate) const LANES: usize = 8;

/// The entry that pads a group.
pub(crate) const NO_MATCH: Match = (NO_DISTANCE as u32) << 8;

/// The matches of a position: the number of groups of [`GROUP`] matches, and whether a match has
/// more than 10 bytes.
#[derive(Clone, Copy)]
pub(crate) struct MatchesHere(u8);

/// The bits of [`MatchesHere`] that count groups.
const GROUPS: u8 = 63;
const IS_LONG: u8 = 128;
const _: () = assert!((MAX_DEPTH as usize) + 1 < GROUP * GROUPS as usize);

impl MatchesHere {
    const NONE: MatchesHere = MatchesHere(0);

    /// Returns the number of matches, including the entries that pad the last group.
    #[inline(always)]
    pub(crate) fn count(self) -> usize {
        GROUP * usize::from(self.0 & GROUPS)
    }

    #[inline(always)]
    pub(crate) fn has_long(self) -> bool {
        self.0 & IS_LONG != 0
    }
}

/// A step of a path: a match, or a literal in the form of a match without a distance.
#[derive(Clone, Copy)]
pub(crate) struct Step(pub(crate) Match);

impl Step {
    #[inline(always)]
    pub(crate) fn literal(byte: u8) -> Step {
        Step(u32::from(byte) | NO_MATCH)
    }

    #[inline(always)]
    fn distance_symbol(self) -> usize {
        (self.0 >> 8 & 31) as usize
    }

    #[inline(always)]
    fn is_match(self) -> bool {
        self.distance_symbol() != NO_DISTANCE
    }

    /// Returns the number of bytes that the step covers.
    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        select_unpredictable(self.is_match(), (self.0 & 0xff) as usize + 3, 1)
    }

    /// Returns the step as a [token](crate::coding::token).
    #[inline(always)]
    pub(crate) fn token(self) -> u32 {
        let (symbol, extra) = distance_symbol((self.0 >> 16) + 1);
        let found = (256 + (self.0 & 0xff)) | symbol << 9 | extra << 18;
        select_unpredictable(self.is_match(), found, self.0 & 0xff | NONE << 9)
    }
}

/// A span of the input.
pub(crate) struct Span {
    /// The matches of all positions, in order.
    pub(crate) matches: [Match; MATCHES],
    pub(crate) here: [MatchesHere; POSITIONS],
    /// The cheapest step from each position. Following the steps from the first position gives the
    /// path.
    pub(crate) steps: [Step; POSITIONS],
    /// The cost from each position to the end of a block. After the end come prohibitive costs, as
    /// many entries as a match that runs over the end and a vector read can reach.
    pub(crate) to_end: [u32; POSITIONS + 1 + MAX_MATCH + LANES],
}

impl Span {
    /// Counts the symbols of at most `most` steps from `at`, up to `end`. Returns the position
    /// after them.
    pub(crate) fn count(&self, mut at: usize, end: usize, most: usize, freqs: &mut Frequencies) -> usize {
        let (mut firsts, mut distances) = ([0; 512], [0; 32]);
        for _ in 0..most {
            if at >= end {
                break;
            }
            let step = self.steps[at];
            firsts[(step.0 & 0xff) as usize + 256 * usize::from(step.is_match())] += 1;
            distances[step.distance_symbol()] += 1;
            at += step.len();
        }
        freqs.set(&firsts, &distances);
        at
    }

    /// Returns the number of steps up to `end`.
    pub(crate) fn steps_to(&self, end: usize) -> usize {
        let (mut at, mut n) = (0, 0);
        while at < end {
            at += self.steps[at].len();
            n += 1;
        }
        n
    }
}

/// Finds the matches of a span that begins at `start`.
pub(crate) struct Gather<'a, 't> {
    pub(crate) trees: &'a mut BinaryTrees<'t>,
    pub(crate) span: &'a mut Span,
    pub(crate) buffer: &'a [u8],
    pub(crate) start: usize,
}

/// The end of a span, and the reason for it.
pub(crate) struct Gathered {
    pub(crate) end: usize,
    /// Number of matches, including the entries that pad groups.
    pub(crate) matches: usize,
    /// See [`Parsed`](super::parse::Parsed).
    pub(crate) incompressible: bool,
    pub(crate) incompressible_throughout: bool,
}

impl Kernel for Gather<'_, '_> {
    type Output = Gathered;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Gathered {
        let Gather { trees, span, buffer, start } = self;
        let until = buffer.len().min(start + SPAN);
        let hashed_end = (buffer.len() + 1).saturating_sub(MIN_MATCH);
        let (mut at, mut len) = (start, 0);
        let mut run = LiteralRun::new(start);
        let mut incompressible = false;
        while at < until.min(hashed_end) && len + MAX_MATCH <= MATCHES && !incompressible {
            let list = &mut span.matches[len..];
            // SAFETY: the position has 4 bytes, and the list has room for more matches than a
            // position may have.
            let (count, longest) = unsafe {
                let (end, longest) = trees.insert::<true>(buffer, at, list.as_mut_ptr());
                (end.offset_from(list.as_ptr()) as usize, longest)
            };
            let groups = count.div_ceil(GROUP);
            list[count..GROUP * groups].fill(NO_MATCH);
            len += GROUP * groups;
            let long = if longest >= 3 + LANES { IS_LONG } else { 0 };
            span.here[at - start] = MatchesHere(groups as u8 | long);
            at += 1;
            if longest >= MIN_MATCH {
                run.start = at;
            } else {
                incompressible = run.literal_run_is_incompressible(buffer, at);
            }
            if longest >= trees.nice_length {
                // Searching inside such a match gains nothing and is expensive.
                let end = at + longest - 1;
                span.here[at - start..end - start].fill(MatchesHere::NONE);
                for inside in at..end.min(hashed_end) {
                    // SAFETY: the position has 4 bytes.
                    unsafe { trees.insert::<false>(buffer, inside, core::ptr::null_mut()) };
                }
                at = end;
                run.start = at;
            }
        }
        if at >= hashed_end && at < until {
            span.here[at - start..until - start].fill(MatchesHere::NONE);
            at = until;
        }
        Gathered {
            end: at,
            matches: len,
            incompressible,
            incompressible_throughout: incompressible && run.start == start,
        }
    }
}
