//! Levels from 4 on as rows of tables, in the words of zlib's `deflate.c`.
//!
//! Levels 4 to 7 parse lazily (zlib's `deflate_slow`) over hash chains: see `kernel/lazy` and `kernel/chains`. Levels 8 and 9 look for
//! the cheapest of all ways: see `block/optimal`.

use crate::format::Level;

/// How hard a level searches.
#[derive(Clone, Copy)]
pub(crate) struct Search {
    /// Matches of this length or longer are taken at once. Shorter ones give way to a better one at the next position.
    pub(crate) max_lazy: usize,
    /// A match of this length or longer ends the search at its position.
    pub(crate) nice_length: usize,
    /// Most candidates of a hash chain that are tried at a position.
    pub(crate) max_chain: u32,
}

/// Once a match of this length is found, the search for a longer one one byte later tries a quarter of the candidates.
/// After shorter matches it tries half of them. zlib has a `good_length` for each level; here one serves all.
pub(crate) const GOOD_LENGTH: usize = 24;

/// [`Search::max_lazy`] of sessions at levels 2 and 3.
#[cfg(feature = "alloc")]
pub(crate) const SESSION_MAX_LAZY: usize = 32;

const fn row(max_lazy: usize, nice_length: usize, max_chain: u32) -> Search {
    Search { max_lazy, nice_length, max_chain }
}

/// Level 3 where literals prevail.
pub(crate) const SHORT: Search = row(5, 16, 3);

/// Levels 4 to 7.
#[rustfmt::skip]
const ROWS: [Search; 4] = [
    // max_lazy, nice_length, max_chain
    row(16, 24, 8),
    row(32, 48, 20),
    row(65, 80, 40),
    row(258, 258, 150),
];

/// How hard levels 8 and 9 search.
#[cfg(feature = "alloc")]
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// A match of this length or longer is taken, and ends the search at its position.
    pub(crate) nice_length: usize,
    /// Most candidates of a binary tree that are tried at a position.
    pub(crate) max_depth: u32,
    /// Most parses of a block, after the first one of its span.
    pub(crate) max_passes: u32,
}

impl Level {
    /// The row of a level from 4 on.
    pub(crate) fn search(self) -> Search {
        ROWS[(self as usize).clamp(4, 7) - 4]
    }

    /// What levels 8 and 9 do.
    #[cfg(feature = "alloc")]
    pub(crate) fn effort(self) -> Effort {
        if self < Level::Best {
            Effort { nice_length: 75, max_depth: 35, max_passes: 1 }
        } else {
            Effort { nice_length: 258, max_depth: 100, max_passes: 10 }
        }
    }
}
