//! [`SparseWindow`]: stores the window before a point without its zeros.

use crate::window::WINDOW;

/// Maximum number of zeros in a row within a run. The four bytes before another run cost as much.
const LEAST_GAP: usize = 4;

/// A window of up to 32 KiB, stored as runs of bytes between zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SparseWindow {
    /// The runs. Each has the number of zeros before it (2 bytes, little-endian), its length (2
    /// bytes), and its bytes.
    runs: Box<[u8]>,
    len: u16,
}

impl SparseWindow {
    /// Stores a window of at most 32 KiB.
    pub(crate) fn new(window: &[u8]) -> Self {
        assert!(window.len() <= WINDOW, "a window has at most 32 KiB");
        let (mut runs, mut at) = (Vec::new(), 0);
        while let Some(zeros) = window[at..].iter().position(|&byte| byte != 0) {
            let run = run(&window[at + zeros..]);
            runs.extend_from_slice(&(zeros as u16).to_le_bytes());
            runs.extend_from_slice(&(run.len() as u16).to_le_bytes());
            runs.extend_from_slice(run);
            at += zeros + run.len();
        }
        SparseWindow { runs: runs.into(), len: window.len() as u16 }
    }

    /// Returns the length of the window in bytes, including zeros.
    pub(crate) fn len(&self) -> usize {
        self.len.into()
    }

    /// Returns the number of bytes on the heap.
    pub(crate) fn memory(&self) -> usize {
        self.runs.len()
    }

    /// Returns the window.
    pub(crate) fn to_vec(&self) -> Vec<u8> {
        let mut window = vec![0; self.len()];
        let (mut runs, mut at) = (&self.runs[..], 0);
        while let [a, b, c, d, rest @ ..] = runs {
            let len = usize::from(u16::from_le_bytes([*c, *d]));
            at += usize::from(u16::from_le_bytes([*a, *b]));
            window[at..at + len].copy_from_slice(&rest[..len]);
            (at, runs) = (at + len, &rest[len..]);
        }
        window
    }
}

/// Returns the bytes up to the next [`LEAST_GAP`] + 1 zeros in a row, without zeros at the end.
fn run(bytes: &[u8]) -> &[u8] {
    let gap = bytes.windows(LEAST_GAP + 1).position(|window| window.iter().all(|&byte| byte == 0));
    let run = &bytes[..gap.unwrap_or(bytes.len())];
    &run[..run.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_round_trip_with_their_zeros() {
        let mut mixed: Vec<u8> = (0..WINDOW).map(|i| if i / 7 % 3 == 0 { i as u8 } else { 0 }).collect();
        for len in [0, 1, 5, 6, 1000, WINDOW] {
            for window in [vec![0; len], vec![7; len], mixed[..len].to_vec()] {
                let sparse = SparseWindow::new(&window);
                assert_eq!((sparse.len(), sparse.to_vec()), (len, window));
            }
        }
        mixed.fill(0);
        mixed[20_000] = 1;
        assert_eq!(SparseWindow::new(&mixed).memory(), 5);
    }
}
