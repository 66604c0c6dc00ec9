//! Search parameters of levels 4 and above, and of lazy matching below, in the words of zlib's
//! `deflate.c`.
//!
//! Levels 4 to 7 parse lazily over hash chains, as zlib's `deflate_slow` does: see `kernel/lazy`
//! and `kernel/chains`. Levels 8 and 9 look for the cheapest path through the matches found: see
//! `block/optimal`.

use crate::format::Level;

/// Search parameters of lazy matching.
#[derive(Clone, Copy)]
pub(crate) struct Search {
    /// A match of this length or longer is taken at once. A shorter one gives way to a better match
    /// at the next position.
    pub(crate) max_lazy: usize,
    /// A match of this length or longer ends the search at its position.
    pub(crate) nice_length: usize,
    /// Maximum number of hash chain candidates tried at a position.
    pub(crate) max_chain: u32,
}

/// A search for a match that is longer than this or a greater length tries a quarter of the
/// candidates; one that has to exceed a shorter length, half of them. zlib has a `good_length` for
/// each level; here all levels share one.
pub(crate) const GOOD_LENGTH: usize = 24;

/// [`Search::max_lazy`] of sessions at levels 2 and 3.
#[cfg(feature = "alloc")]
pub(crate) const SESSION_MAX_LAZY: usize = 32;

const fn row(max_lazy: usize, nice_length: usize, max_chain: u32) -> Search {
    Search { max_lazy, nice_length, max_chain }
}

/// Search parameters of level 3 for data with few long matches, such as 16-bit images, which it
/// parses again for matches of 3 bytes.
pub(crate) const SHORT: Search = row(5, 16, 3);

/// One row for each of levels 4 to 7.
#[rustfmt::skip]
const ROWS: [Search; 4] = [
    // max_lazy, nice_length, max_chain
    row(16, 24, 8),
    row(32, 48, 20),
    row(65, 80, 40),
    row(258, 258, 150),
];

/// Search parameters of levels 8 and 9.
#[cfg(feature = "alloc")]
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// A match of this length or longer is taken and ends the search at its position.
    pub(crate) nice_length: usize,
    /// Maximum number of binary tree candidates tried at a position.
    pub(crate) max_depth: u32,
    /// Maximum number of parses of a block from one start, after the first parse of its span.
    pub(crate) max_passes: u32,
}

impl Level {
    /// Returns the search parameters of this level, which must be 4 or above. Levels 8 and 9 use
    /// the row of level 7.
    pub(crate) fn search(self) -> Search {
        ROWS[(self as usize).clamp(4, 7) - 4]
    }

    /// Returns the parameters of level 8 or 9.
    #[cfg(feature = "alloc")]
    pub(crate) fn effort(self) -> Effort {
        if self < Level::Best {
            Effort { nice_length: 75, max_depth: 35, max_passes: 1 }
        } else {
            Effort { nice_length: 258, max_depth: 100, max_passes: 10 }
        }
    }
}
