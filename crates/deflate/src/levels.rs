//! Levels 4 to 6 as rows of a table, in the words of zlib's `deflate.c`.
//!
//! These levels parse lazily (zlib's `deflate_slow`) over hash chains: see `kernel/lazy` and `kernel/chains`.

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

/// Levels 4 to 6.
#[rustfmt::skip]
const ROWS: [Search; 3] = [
    // max_lazy, nice_length, max_chain
    row(16, 24, 8),
    row(32, 48, 20),
    row(65, 80, 40),
];

impl Level {
    /// The row of a level from 4 on.
    pub(crate) fn search(self) -> Search {
        ROWS[(self as usize).clamp(4, 6) - 4]
    }
}
