//! Number of threads for a chunk.

use std::sync::OnceLock;
use std::thread;

use linerate_rice::Options;

/// Largest number of threads.
const MAX: usize = 256;

/// Minimum number of segments per thread by default: the number that a kernel decodes at once.
const MIN_SEGMENTS: usize = 8;

/// Minimum number of samples per thread by default. Starting a thread takes only a fraction of the
/// time that decoding them takes.
const MIN_SAMPLES: usize = 1 << 16;

/// Returns the options for a chunk of `samples` samples in `segments` segments. The number of
/// threads is `LINERATE_THREADS`, from 1 to 256; any other value means 1. If the variable is unset,
/// empty or not UTF-8, it is the number of processors, but at most 256, and no more than give each
/// thread the minimum of samples and of segments.
pub(crate) fn options(samples: usize, segments: usize) -> Options {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    let processors = || *PROCESSORS.get_or_init(|| thread::available_parallelism().map_or(1, usize::from));
    let threads = match std::env::var("LINERATE_THREADS") {
        Ok(text) if !text.is_empty() => parse(&text),
        _ => useful(samples, segments).min(processors()),
    };
    Options::new().threads(threads)
}

fn parse(text: &str) -> usize {
    text.trim().parse().ok().filter(|n| (1..=MAX).contains(n)).unwrap_or(1)
}

fn useful(samples: usize, segments: usize) -> usize {
    (samples / MIN_SAMPLES).min(segments / MIN_SEGMENTS).clamp(1, MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_counts_from_1_to_256_are_used_and_others_mean_1() {
        for (text, n) in [("1", 1), ("4", 4), (" 16 ", 16), ("256", 256)] {
            assert_eq!(parse(text), n, "{text:?}");
        }
        for text in ["0", "-2", "257", "four", "2.5", "99999999999999999999999"] {
            assert_eq!(parse(text), 1, "{text:?}");
        }
    }

    #[test]
    fn small_chunks_and_few_segments_get_one_thread() {
        assert_eq!(useful(28_000_000, 2000), 250);
        assert_eq!(useful(28_000_000, 1), 1);
        assert_eq!(useful(28_000_000, 16), 2);
        assert_eq!(useful(10_000, 100), 1);
        assert_eq!(useful(0, 0), 1);
        assert_eq!(useful(usize::MAX, usize::MAX), MAX);
    }

    #[test]
    fn large_chunks_get_all_processors_by_default() {
        // The variable belongs to the whole process. Tests that set it run the filter in a process
        // of their own.
        if std::env::var_os("LINERATE_THREADS").is_none() {
            let all = thread::available_parallelism().map_or(1, usize::from).min(MAX);
            assert_eq!(options(usize::MAX, usize::MAX), Options::new().threads(all));
        }
        assert_eq!(options(100, 1), Options::new().threads(1));
    }
}
