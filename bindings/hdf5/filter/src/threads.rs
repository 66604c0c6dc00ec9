//! How many threads a filter uses.

use std::sync::OnceLock;
use std::thread;

use linerate_rice::Exec;

/// Most threads that are taken seriously: the environment is not a place for `1e9`.
const MAX: usize = 256;

/// Segments that a thread should have at least: kernels work on so many side by side.
const SEGMENTS: usize = 8;

/// Samples that a thread should have at least: to start it takes as long as to decode some of them.
const SAMPLES: usize = 1 << 16;

/// Threads for a chunk of so many samples and segments: as many as `LINERATE_THREADS` says, from 1
/// to 256, and 1 if it says anything else; without it all processors, as far as each has enough to do.
pub(crate) fn exec(samples: usize, segments: usize) -> Exec {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    let processors = || *PROCESSORS.get_or_init(|| thread::available_parallelism().map_or(1, usize::from));
    let threads = match std::env::var("LINERATE_THREADS") {
        Ok(text) if !text.is_empty() => asked_for(&text),
        _ => useful(samples, segments).min(processors()),
    };
    Exec::threads(threads)
}

fn asked_for(text: &str) -> usize {
    text.trim().parse().ok().filter(|n| (1..=MAX).contains(n)).unwrap_or(1)
}

fn useful(samples: usize, segments: usize) -> usize {
    (samples / SAMPLES).min(segments / SEGMENTS).clamp(1, MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sensible_counts_are_used() {
        for (text, n) in [("1", 1), ("4", 4), (" 16 ", 16), ("256", 256)] {
            assert_eq!(asked_for(text), n, "{text:?}");
        }
        for text in ["0", "-2", "257", "four", "2.5", "99999999999999999999999"] {
            assert_eq!(asked_for(text), 1, "{text:?}");
        }
    }

    #[test]
    fn small_chunks_and_those_of_few_segments_get_one_thread() {
        assert_eq!(useful(28_000_000, 2000), 250);
        assert_eq!(useful(28_000_000, 1), 1);
        assert_eq!(useful(28_000_000, 16), 2);
        assert_eq!(useful(10_000, 100), 1);
        assert_eq!(useful(0, 0), 1);
        assert_eq!(useful(usize::MAX, usize::MAX), MAX);
    }

    #[test]
    fn large_chunks_get_all_processors_unless_told() {
        // The variable is that of the process: tests that set it run the filter in one of their own.
        if std::env::var_os("LINERATE_THREADS").is_none() {
            let all = thread::available_parallelism().map_or(1, usize::from).min(MAX);
            assert_eq!(exec(usize::MAX, usize::MAX), Exec::threads(all));
        }
        assert_eq!(exec(100, 1), Exec::threads(1));
    }
}
