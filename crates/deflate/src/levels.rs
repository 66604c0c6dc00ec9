//! The levels that look for matches at one position after the other, as rows of a table.

use crate::Level;

/// How hard a level searches.
#[derive(Clone, Copy)]
pub(crate) struct Search {
    /// Most candidates tried at a position.
    pub(crate) depth: u32,
    /// A match of this length ends the search.
    pub(crate) enough: usize,
    /// Shorter matches are put off if the next position has a better one.
    pub(crate) put_off_below: usize,
    /// Largest distance of matches of 3 bytes.
    pub(crate) reach_3: usize,
}

/// As in [`Search`], for sessions below level 4.
#[cfg(feature = "alloc")]
pub(crate) const PUT_OFF_BELOW: usize = 32;

const fn row(depth: u32, enough: usize, put_off_below: usize) -> Search {
    // In text, matches of 3 bytes from further away cost as much as their literals.
    Search { depth, enough, put_off_below, reach_3: 4096 }
}

/// Level 3 where literals prevail: these have long codes, so matches of 3 bytes pay from further away.
pub(crate) const SHORT: Search = Search { depth: 3, enough: 16, put_off_below: 5, reach_3: 8192 };

/// Levels 4 to 6.
const ROWS: [Search; 3] = [row(8, 24, 16), row(20, 48, 32), row(44, 100, 48)];

impl Level {
    /// The row of a level from 4 on.
    pub(crate) fn search(self) -> Search {
        ROWS[(self as usize).clamp(4, 6) - 4]
    }
}
