//! Estimates the sizes of archives of all of the data from those of samples.

use linerate_nx::pack::{Builder, Coding, PackOptions};

use super::samples::{BROAD_WINDOW, Packed, Sample, Samples, pack_with};
use crate::layout;
use crate::nx_settings::{Setting, reference};
use crate::sample::FileSet;
use crate::sys::clock::cpu_time;
use crate::{Options, Progress, control};

impl Samples {
    /// Estimates the bytes of an archive of all of the data, for each setting. `packed` has the
    /// settings' archives of their samples, and `unique` is the number of bytes in the data if
    /// equal files count once.
    pub(super) fn estimate(
        &self,
        set: &FileSet,
        settings: &[Setting],
        packed: &[Packed],
        bridge: Option<&Packed>,
        unique: u64,
        options: &Options,
    ) -> Result<Vec<u64>, String> {
        // Compressed bytes per byte of content with a control, in all of the data, divided by those
        // in the broad sample: 1.1 if all of the data compresses 10 % worse than the sample.
        let of_layout = |control| match self.layouts.get(&(BROAD_WINDOW, control)) {
            Some(layout) if !self.broad.is_whole => {
                let inner = control_density(&self.broad, BROAD_WINDOW, control, options.threads)?;
                Ok(Some(layout.density() / inner))
            }
            _ => Ok::<_, String>(None),
        };
        let of_broad = match of_layout(layout::ZSTD)? {
            _ if self.broad.is_whole => 1.0,
            Some(factor) => factor,
            None => {
                let inner = control::of_windows(set, &self.broad.windows, options.threads)?;
                control::of_set(set, options)? / inner
            }
        };
        let of_lz4 = of_layout(layout::LZ4)?.unwrap_or(of_broad);
        let of_deep =
            bridge.map_or(1.0, |bridge| packed[reference(settings)].density() / bridge.density()) * of_broad;
        let mut total = Vec::new();
        for (setting, packed) in settings.iter().zip(packed) {
            let factor = match setting.options.solid {
                // This setting compresses nothing, so all of the data is stored as the sample is.
                Coding::Copy => 1.0,
                _ if setting.is_deep() => of_deep * self.gain(setting.options.chunk, options.threads)?,
                Coding::Lz4 { .. } => of_lz4,
                Coding::Zstd(_) => of_broad,
            };
            let (content, header) = match self.layouts.get(&(BROAD_WINDOW, layout::ZSTD)) {
                Some(layout) if !self.broad.is_whole => (layout.content, layout.header as f64),
                _ => (unique, packed.header as f64 / packed.content.max(1) as f64 * set.bytes as f64),
            };
            // Blocks that do not shrink are stored, so no factor makes them larger than their
            // content.
            let density = (packed.density() * factor).min(packed.density().max(1.0));
            total.push((density * content as f64 + header).round() as u64);
        }
        Ok(total)
    }

    /// Returns how much more is gained by blocks of this size, compared with those of
    /// `BROAD_WINDOW`, in all of the data than in the deep sample, whose windows may be shorter
    /// than a block: the quotient of compressed sizes, which is 0.9 if all of the data gains 10 %
    /// more.
    fn gain(&self, block: u64, threads: usize) -> Result<f64, String> {
        let layout = |block| self.layouts.get(&(block, layout::ZSTD));
        let (Some(small), Some(large)) = (layout(BROAD_WINDOW), layout(block)) else {
            return Ok(1.0);
        };
        if block <= BROAD_WINDOW || self.deep.is_whole {
            return Ok(1.0);
        }
        let density = |block| control_density(&self.deep, block, layout::ZSTD, threads);
        let in_sample = density(block)? / density(BROAD_WINDOW)?;
        Ok(large.density() / small.density() / in_sample)
    }

    /// Finds equal files in all of the data. If the broad sample is all of the data, counts all
    /// files as different, since the archive of that sample has stored equal files once.
    pub(super) fn equal_files(
        &self,
        set: &FileSet,
        threads: usize,
        progress: Progress<'_>,
    ) -> Result<EqualFiles, String> {
        match self.broad.is_whole {
            true => Ok(EqualFiles { unique: set.bytes, seconds: 0.0 }),
            false => EqualFiles::find(set, threads, progress),
        }
    }
}

/// Packs a sample with a control, in blocks of this size, and returns the compressed bytes per byte
/// of content.
fn control_density(sample: &Sample, block: u64, control: Coding, threads: usize) -> Result<f64, String> {
    Ok(pack_with(sample, layout::options(block, control, threads))?.density())
}

/// What was found about files of equal content.
pub(super) struct EqualFiles {
    /// Bytes of all of the data if equal files count once.
    pub(super) unique: u64,
    /// CPU seconds that it took to find equal files.
    pub(super) seconds: f64,
}

impl EqualFiles {
    /// Finds equal files as packing does, which compares the lengths of files, then hashes of their
    /// first 4 KiB, then hashes of all of their bytes, and then the bytes. It also compares the
    /// chunks of 1 MiB of large files, so it reads the first 4 KiB of most of them.
    fn find(set: &FileSet, threads: usize, progress: Progress<'_>) -> Result<EqualFiles, String> {
        progress("looking for equal files");
        let begun = cpu_time();
        let options = PackOptions::new().threads(threads).group_similar(false);
        let mut builder = Builder::new(options).map_err(|e| e.to_string())?;
        for (i, file) in set.files.iter().enumerate() {
            builder.add_path(format!("{i}"), &file.path).map_err(|e| e.to_string())?;
        }
        let summary = builder.dry_run().map_err(|e| e.to_string())?;
        let unique = summary.bytes.saturating_sub(summary.shared_bytes);
        Ok(EqualFiles { unique, seconds: (cpu_time() - begun).as_secs_f64() })
    }
}

#[cfg(test)]
mod tests {
    use linerate_nx::pack::Zstd;

    use super::super::samples::DEEP_WINDOW;
    use super::*;
    use crate::layout::{Layouts, layouts};
    use crate::nx_settings::settings;

    /// Samples with windows of 128 KiB, and of 4 MiB for large blocks, of these numbers of bytes.
    fn samples(set: &FileSet, laid_out: bool, broad: u64, deep: u64) -> Samples {
        let options = Options { seconds: 60.0, threads: 2, seed: 1 };
        let sizes = [BROAD_WINDOW, DEEP_WINDOW, 16 << 20].into();
        let layouts = match laid_out {
            true => layouts(set, &sizes, &options, &|_| {}).expect("readable"),
            false => Layouts::new(),
        };
        assert_eq!(layouts.len(), if laid_out { 4 } else { 0 });
        let sample = |bytes, window, block| {
            Sample::read(set, layouts.get(&(block, layout::ZSTD)), bytes, window, 1).expect("readable")
        };
        let broad = sample(broad, 128 << 10, BROAD_WINDOW);
        let deep = sample(deep, DEEP_WINDOW, DEEP_WINDOW);
        Samples { broad, deep, layouts }
    }

    /// Returns the largest relative error of the estimates for these settings.
    fn error(set: &FileSet, samples: &Samples, settings: &[Setting]) -> f64 {
        let options = Options { seconds: 0.2, threads: 2, seed: 1 };
        let packed = samples.pack_all(settings, &options, &|_| {}).expect("packed");
        let bridge = samples.bridge(settings, 2, &|_| {}).expect("packed");
        let unique = EqualFiles::find(set, 2, &|_| {}).expect("readable").unique;
        let estimates = samples.estimate(set, settings, &packed, bridge.as_ref(), unique, &options);
        let real = |setting: &Setting| {
            let mut builder = Builder::new(setting.options.clone().threads(2)).expect("valid options");
            for file in &set.files {
                builder.add_path(file.name.as_str(), &file.path).expect("a file");
            }
            builder.to_bytes().expect("packed").0.len() as f64
        };
        let of = |(setting, estimate)| f64::abs(estimate as f64 / real(setting) - 1.0);
        settings.iter().zip(estimates.expect("estimated")).map(of).fold(0.0, f64::max)
    }

    fn fast_settings() -> Vec<Setting> {
        let is_fast = |setting: &Setting| setting.words.contains("of 1 MiB") && !setting.is_deep();
        settings().into_iter().filter(is_fast).collect()
    }

    #[test]
    fn estimate_from_a_sample_is_near_the_archive_of_all_of_the_data() {
        let folder = crate::testdata::folder();
        let set = FileSet::new(&[folder.path().to_owned()]).expect("readable");
        for laid_out in [false, true] {
            let samples = samples(&set, laid_out, 700_000, 700_000);
            assert!(!samples.broad.is_whole && samples.broad.bytes < set.bytes / 2);
            let error = error(&set, &samples, &fast_settings());
            assert!(error < 0.1, "{laid_out} {error}");
        }
    }

    #[test]
    fn similar_files_that_are_no_neighbours_by_name_share_the_windows_of_a_sample() {
        let folder = tempfile::tempdir().expect("a folder");
        let noise = crate::testdata::random(100 * 8192);
        // Files of one kind are 800 KiB apart by name, more than a window of the sample.
        for i in 0..400 {
            let mut file = noise[i % 100 * 8192..][..8192].to_vec();
            file[i * 20] ^= 1;
            std::fs::write(folder.path().join(format!("{i:03}")), file).expect("writable");
        }
        let set = FileSet::new(&[folder.path().to_owned()]).expect("readable");
        let settings: Vec<Setting> =
            fast_settings().into_iter().filter(|setting| setting.words.starts_with("zstd 9")).collect();
        let with = error(&set, &samples(&set, true, 700_000, 700_000), &settings);
        let without = error(&set, &samples(&set, false, 700_000, 700_000), &settings);
        assert!(with < 0.08 && without > 1.0, "{with} {without}");
    }

    #[test]
    fn equal_files_are_not_counted_twice_as_similar_and_as_equal() {
        let folder = tempfile::tempdir().expect("a folder");
        let noise = crate::testdata::random(200 * 8192);
        for (i, file) in noise.chunks(8192).enumerate() {
            // Equal last components are neighbours in the order of the set.
            for copy in ["one", "two"] {
                let path = folder.path().join(copy);
                std::fs::create_dir_all(&path).expect("writable");
                std::fs::write(path.join(format!("{i:03}")), file).expect("writable");
            }
        }
        let set = FileSet::new(&[folder.path().to_owned()]).expect("readable");
        let with = error(&set, &samples(&set, true, 700_000, 700_000), &fast_settings());
        let without = error(&set, &samples(&set, false, 700_000, 700_000), &fast_settings());
        assert!(with < 0.08 && without > 0.3, "{with} {without}");
    }

    #[test]
    fn blocks_longer_than_a_window_of_the_sample_gain_by_repeats_that_no_window_has() {
        let folder = tempfile::tempdir().expect("a folder");
        let rows = crate::testdata::rows(5 << 20);
        std::fs::write(folder.path().join("rows"), rows.repeat(3)).expect("writable");
        let set = FileSet::new(&[folder.path().to_owned()]).expect("readable");
        let coding = Coding::Zstd(Zstd { level: 4, min_match: 0, literals: true, long: true });
        let mut settings = fast_settings();
        settings.retain(|setting| setting.words.starts_with("zstd 9"));
        let large = PackOptions::new().chunk(16 << 20).solid_limit((16 << 20) - 1);
        let options = large.solid(coding).chunked(coding);
        settings.push(Setting { words: "16 MiB".into(), flags: Vec::new(), options, cost: 1.0 });
        let with = error(&set, &samples(&set, true, 700_000, 5 << 20), &settings);
        let without = error(&set, &samples(&set, false, 700_000, 5 << 20), &settings);
        assert!(with < 0.08 && without > 1.0, "{with} {without}");
    }

    #[test]
    fn equal_files_count_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let noise = crate::testdata::random(100_000);
        for name in ["a", "b", "c"] {
            std::fs::write(folder.path().join(name), &noise).expect("writable");
        }
        std::fs::write(folder.path().join("d"), &noise[..50_000]).expect("writable");
        let set = FileSet::new(&[folder.path().to_owned()]).expect("readable");
        let found = EqualFiles::find(&set, 2, &|_| {}).expect("readable");
        assert!(found.unique == 150_000 && found.seconds > 0.0);
    }
}
