//! Compresses data with the control, zstd 1 in blocks of 256 KiB, to estimate compressed sizes.
//!
//! Most settings can compress only a sample in the time of a measurement. The control is fast
//! enough for much more of the data. If it compresses this larger part 10 % worse than the sample,
//! every setting that compresses is assumed to do so.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use linerate_core::lock;
use zstd_safe::CCtx;

use super::Options;
use super::sample::{Content, FileSet, Window};
use super::timing::on_threads;

const LEVEL: i32 = 1;
const BLOCK: usize = 256 << 10;
/// Largest size of the windows (parts of the data) of [`of_set`], in bytes. A thread reads and
/// compresses one window at a time.
const WINDOW: u64 = 4 << 20;
/// Bytes that each thread compresses in [`of_set`], for each second of [`Options::seconds`].
/// Compressing them takes about 60 ms.
const BYTES_PER_SECOND: f64 = 20e6;

/// Compresses about `BYTES_PER_SECOND` bytes of the data for each second and thread of `options`,
/// or all of the data if it has fewer bytes, with zstd 1. Returns the compressed bytes divided by
/// the bytes of content.
///
/// # Errors
/// Returns a sentence if a file cannot be read, libzstd fails or a thread cannot be started.
pub(super) fn of_set(set: &FileSet, options: &Options) -> Result<f64, String> {
    let bytes = (options.seconds * options.threads as f64 * BYTES_PER_SECOND) as u64;
    // Small windows cover more parts of the data, but a window should have at least four blocks.
    let windows =
        set.spread((bytes / 64).next_power_of_two().clamp(4 * BLOCK as u64, WINDOW), bytes, options.seed);
    of_windows(set, &windows, options.threads)
}

/// Compresses these parts of the data with zstd 1, and returns the compressed bytes divided by the
/// bytes of content. Each thread reads and compresses one window at a time.
///
/// # Errors
/// Returns a sentence if a file cannot be read, libzstd fails or a thread cannot be started.
pub(super) fn of_windows(set: &FileSet, windows: &[Window], threads: usize) -> Result<f64, String> {
    let (next, sums) = (AtomicUsize::new(0), Mutex::new((0, 0)));
    on_threads(threads, &|_| {
        let mut encoder = Encoder::default();
        while let Some(window) = windows.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (content, compressed) = encoder.sizes(&set.read(window)?)?;
            let mut sums = lock(&sums);
            *sums = (sums.0 + content, sums.1 + compressed);
        }
        Ok(())
    })?;
    Ok(density(sums.into_inner().unwrap_or_else(PoisonError::into_inner)))
}

fn density((content, compressed): (u64, u64)) -> f64 {
    compressed as f64 / content.max(1) as f64
}

struct Encoder {
    context: CCtx<'static>,
    joined: Vec<u8>,
    out: Vec<u8>,
}

impl Default for Encoder {
    fn default() -> Encoder {
        Encoder {
            context: CCtx::create(),
            joined: Vec::new(),
            out: Vec::with_capacity(zstd_safe::compress_bound(BLOCK)),
        }
    }
}

impl Encoder {
    /// Compresses the contents and returns their bytes before and after. Contents are joined, so
    /// that small files share blocks. A block that does not shrink counts with its uncompressed
    /// size.
    fn sizes(&mut self, contents: &[Content]) -> Result<(u64, u64), String> {
        self.joined.clear();
        contents.iter().for_each(|content| self.joined.extend_from_slice(&content.bytes));
        let mut compressed = 0;
        for block in self.joined.chunks(BLOCK) {
            self.out.clear();
            let coded = self.context.compress(&mut self.out, block, LEVEL);
            let coded = coded.map_err(|code| zstd_safe::get_error_name(code).to_owned())?;
            compressed += coded.min(block.len()) as u64;
        }
        Ok((self.joined.len() as u64, compressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn density_of(content: &[u8], size: u64) -> f64 {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("file"), content).expect("writable");
        let set = FileSet::new(&[folder.path().to_owned()]).expect("readable");
        of_windows(&set, &set.windows(size).collect::<Vec<_>>(), 2).expect("compresses")
    }

    #[test]
    fn density_of_noise_is_one_and_of_a_run_is_near_zero() {
        let noise = crate::testdata::random(300_000);
        assert!((0.999..=1.0).contains(&density_of(&noise, 1 << 20)));
        assert!(density_of(&vec![7; 300_000], 1 << 20) < 0.01);
    }

    #[test]
    fn windows_on_two_threads_add_up_to_the_density_of_the_whole() {
        let rows = crate::testdata::rows(1_048_576);
        let (parts, whole) = (density_of(&rows, BLOCK as u64), density_of(&rows, 1 << 20));
        assert!((parts / whole - 1.0).abs() < 1e-9, "{parts} {whole}");
    }
}
