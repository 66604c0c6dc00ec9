//! The deflate window of a connection.

/// Largest match distance, in bytes.
const WINDOW: usize = 32 << 10;

/// The last 32 KiB of a connection's output; memory grows with the output up to that size.
#[derive(Default)]
pub(crate) struct History {
    /// Linear until it is full, then a ring buffer.
    bytes: Vec<u8>,
    /// Index of the oldest byte of a full ring buffer.
    at: usize,
}

impl History {
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes held.
    pub(crate) fn memory(&self) -> usize {
        self.bytes.capacity()
    }

    /// Appends output. Fails if memory runs out.
    pub(crate) fn push(&mut self, output: &[u8]) -> Result<(), std::collections::TryReserveError> {
        let output = &output[output.len().saturating_sub(WINDOW)..];
        let free = WINDOW - self.bytes.len();
        let (linear, round) = output.split_at(output.len().min(free));
        if self.bytes.capacity() - self.bytes.len() < linear.len() {
            // Doubling, but never beyond the window.
            let wanted = (self.bytes.len() + linear.len()).next_power_of_two().clamp(1 << 10, WINDOW);
            self.bytes.try_reserve_exact(wanted - self.bytes.len())?;
        }
        self.bytes.extend_from_slice(linear);
        let (first, second) = round.split_at(round.len().min(self.bytes.len() - self.at));
        self.bytes[self.at..self.at + first.len()].copy_from_slice(first);
        self.bytes[..second.len()].copy_from_slice(second);
        self.at = (self.at + round.len()) % WINDOW;
        Ok(())
    }

    /// Returns `len` bytes from `back` bytes before the end, plus `slack` arbitrary bytes, if they are contiguous.
    /// `back` is at most [`len`](Self::len).
    #[inline(always)]
    pub(crate) fn contiguous(&self, back: usize, len: usize, slack: usize) -> Option<&[u8]> {
        // The newest byte is before `at`, or last.
        let start = self.at + self.bytes.len() - back;
        let start = if start >= self.bytes.len() { start - self.bytes.len() } else { start };
        if len <= back { self.bytes.get(start..start + len + slack) } else { None }
    }

    /// Copies the bytes from `back` before the end into `into`; returns how many there were. `back` is at most
    /// [`len`](Self::len).
    pub(crate) fn copy(&self, back: usize, into: &mut [u8]) -> usize {
        let len = into.len().min(back);
        let (new, old) = self.bytes.split_at(self.at);
        let after_old = back.saturating_sub(new.len());
        let from_old = &old[old.len() - after_old..];
        let (first, second) = into[..len].split_at_mut(from_old.len().min(len));
        first.copy_from_slice(&from_old[..first.len()]);
        let from_new = &new[new.len() - (back - after_old)..];
        second.copy_from_slice(&from_new[..second.len()]);
        len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with a copy of all output.
    #[test]
    fn history_holds_the_last_32_kib_of_output() {
        let mut all: Vec<u8> = Vec::new();
        let mut history = History::default();
        let mut seed = 3u32;
        let mut random = |n: usize| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as usize % n
        };
        for round in 0..400 {
            let len = if round % 50 == 49 { random(3 * WINDOW) } else { random(700) };
            let more: Vec<u8> = (0..len).map(|_| random(256) as u8).collect();
            history.push(&more).unwrap();
            all.extend(&more);
            assert_eq!(history.len(), all.len().min(WINDOW));
            assert!(history.memory() <= WINDOW);
            for _ in 0..20 {
                let back = 1 + random(history.len().max(1)).min(history.len().max(1) - 1);
                if history.len() == 0 {
                    continue;
                }
                let mut into = vec![0; random(300)];
                let n = history.copy(back, &mut into);
                assert_eq!(n, into.len().min(back));
                assert_eq!(into[..n], all[all.len() - back..][..n]);
                if let Some(piece) = history.contiguous(back, into.len(), 7) {
                    assert_eq!((&piece[..n], piece.len()), (&into[..n], into.len() + 7));
                }
            }
        }
    }
}
