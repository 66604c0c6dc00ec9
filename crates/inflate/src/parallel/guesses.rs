//! A plan without an index: divides the input by size, and lets workers guess where blocks begin.

use super::chunk::Start;
use super::{Cut, Outcome, Plan};

/// Sizes in bytes.
pub(super) struct Sizes {
    /// Size of the first piece.
    pub(super) first: usize,
    /// Minimum size of the other pieces.
    pub(super) least: usize,
    /// Maximum size of the other pieces.
    pub(super) most: usize,
    /// Target for the output of a piece.
    pub(super) output: u64,
    /// Maximum memory for the marked output of a chunk, and again for its output without markers.
    pub(super) share: usize,
}

/// Maximum size of a piece. A larger one would not leave a thread enough of its memory for output.
const MOST: usize = 2 << 20;

impl Sizes {
    pub(super) fn up_to(most: usize) -> Self {
        let most = most.clamp(1, MOST);
        let [first, least] = [256 << 10, 16 << 10].map(|len| most.min(len));
        Sizes { first, least, most, output: 2 << 20, share: 8 << 20 }
    }

    /// Returns the size of the next piece that gives the target output, if its ratio is that of
    /// `bytes_in` and `bytes_out`.
    fn of_piece(&self, bytes_in: u64, bytes_out: u64) -> usize {
        let size = u128::from(self.output) * u128::from(bytes_in) / u128::from(bytes_out.max(1));
        usize::try_from(size).unwrap_or(usize::MAX).clamp(self.least, self.most)
    }
}

/// Decides whether guessing is worth its time. After several wrong guesses in a row, pieces are
/// decoded in order for a while, each time for longer.
pub(super) struct Guesses<'s> {
    sizes: &'s Sizes,
    /// The size of the next piece.
    size: usize,
    wrong: u32,
    /// Number of coming pieces without a guess.
    pause: u32,
    next_pause: u32,
}

impl<'s> Guesses<'s> {
    /// Number of wrong guesses in a row before the first pause. Half as many come before each later
    /// pause.
    const MOST_WRONG: u32 = 4;
    const FIRST_PAUSE: u32 = 8;
    const LAST_PAUSE: u32 = 256;

    pub(super) fn new(sizes: &'s Sizes) -> Self {
        let size = sizes.first.clamp(sizes.least, sizes.most);
        Guesses { sizes, size, wrong: 0, pause: 0, next_pause: Self::FIRST_PAUSE }
    }

    /// Returns whether the next piece is worth a guess.
    fn is_worth_it(&mut self) -> bool {
        let is_worth_it = self.pause == 0;
        self.pause = self.pause.saturating_sub(1);
        is_worth_it
    }

    /// Counts the outcome of a guess.
    fn count(&mut self, is_hit: bool) {
        if is_hit {
            (self.wrong, self.pause, self.next_pause) = (0, 0, Self::FIRST_PAUSE);
            return;
        }
        self.wrong += 1;
        if self.wrong >= Self::MOST_WRONG {
            self.wrong = Self::MOST_WRONG - 2;
            self.pause = self.next_pause;
            self.next_pause = (2 * self.next_pause).min(Self::LAST_PAUSE);
        }
    }
}

impl Plan<'static> for Guesses<'_> {
    fn share(&self) -> usize {
        self.sizes.share
    }

    fn len(&mut self, at: u64) -> usize {
        if at == 0 { self.sizes.first } else { self.size }
    }

    fn cut(&mut self, at: u64, data: Option<u64>) -> Cut<'static> {
        let start = match data {
            Some(bit) => Start::Known(bit, None),
            None if at > 0 && self.is_worth_it() => Start::Search,
            None => Start::Skip,
        };
        Cut { start, end: None }
    }

    fn learn(&mut self, outcome: Outcome) {
        if outcome.has_searched {
            self.count(outcome.is_hit);
        }
        if (outcome.bytes_in, outcome.bytes_out) != (0, 0) {
            self.size = self.sizes.of_piece(outcome.bytes_in, outcome.bytes_out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_pause_after_wrong_ones_for_longer_and_longer() {
        let sizes = Sizes::up_to(1);
        let mut guesses = Guesses::new(&sizes);
        let mut made = 0;
        for _ in 0..10_000 {
            if guesses.is_worth_it() {
                made += 1;
                guesses.count(false);
            }
        }
        assert!(made < 100, "{made}");
        while !guesses.is_worth_it() {}
        guesses.count(true);
        assert!((0..3).all(|_| {
            guesses.count(false);
            guesses.is_worth_it()
        }));
    }

    #[test]
    fn pieces_stay_small_whatever_the_options_and_the_ratio() {
        for most in [0, 1, 1000, 384 << 10, 1 << 30, usize::MAX] {
            let sizes = Sizes::up_to(most);
            let mut guesses = Guesses::new(&sizes);
            for (bytes_in, bytes_out) in [(1, 1), (u64::MAX, 0), (1 << 40, 1), (0, 1 << 40)] {
                guesses.learn(Outcome { has_searched: false, is_hit: true, bytes_in, bytes_out });
                let lens = [guesses.len(0), guesses.len(1)];
                assert!(lens.iter().all(|len| (1..=2 << 20).contains(len)), "{most}: {lens:?}");
            }
        }
    }
}
