//! Samples of the data, and their archives.

use std::fs::File;
use std::io::Read as _;
use std::time::{Duration, Instant};

use linerate_nx::filter::{MAX_HEAD, detect};
use linerate_nx::pack::{Builder, FileOptions, PackOptions};
use linerate_nx::{Archive, Limits, check_path};
use linerate_plan::Speed;

use crate::layout::{self, Layout, Layouts, layouts};
use crate::nx_settings::{Setting, reference};
use crate::sample::{Content, Entry, FileSet, Window, length};
use crate::sys::clock::cpu_time;
use crate::timing::{busy_threads, speed};
use crate::{Options, Progress};

/// Approximate bytes of each window (part of the data) of the broad sample, which most settings
/// pack. Their blocks have at most 1 MiB.
pub(super) const BROAD_WINDOW: u64 = 1 << 20;
/// Approximate bytes of each window (part of the data) of the deep sample, which slow settings and
/// those with blocks above 1 MiB pack. Only the preset `archive` has larger blocks (16 MiB).
/// Layouts show how much it gains by them.
pub(super) const DEEP_WINDOW: u64 = 4 << 20;
/// Smallest size to which windows are reduced, and smallest size that a sample should have, in
/// bytes. Samples of less data are all of it.
const MIN_WINDOW: u64 = 128 << 10;
/// Smallest number of windows that a sample should have. If it is too small for that many full
/// windows, they are reduced to as little as `MIN_WINDOW` bytes.
const MIN_WINDOWS: u64 = 2;
/// Largest size of each of the two samples, in bytes, plus `MAX_SAMPLE_PER_THREAD` for each thread.
/// It is limited because the archives of all candidates are kept in memory.
const MAX_SAMPLE: u64 = 32 << 20;
/// Bytes that each thread adds to the largest size of a sample.
const MAX_SAMPLE_PER_THREAD: u64 = 4 << 20;
/// Share of the measurement's time for packing the broad sample once with each of its settings.
const BROAD_SHARE: f64 = 0.2;
/// Share of the measurement's time for packing the deep sample once with each of its settings,
/// which are slow or have blocks above 1 MiB.
const DEEP_SHARE: f64 = 0.35;
/// Largest number of times that a setting packs its sample. A setting packs it again only if the
/// first time took less CPU time than `SHORT_ROUND`, and while both shares of the time for packing
/// last.
const PACK_ROUNDS: usize = 3;
/// CPU time of packing the sample from which a setting packs it only once.
const SHORT_ROUND: Duration = Duration::from_millis(400);

/// The broad or the deep sample of the data.
pub(super) struct Sample {
    pub(super) windows: Vec<Window>,
    /// The files, and pieces of files, in the windows.
    pub(super) contents: Vec<Content>,
    /// Bytes of all windows.
    pub(super) bytes: u64,
    /// Whether the sample is all of the data.
    pub(super) is_whole: bool,
}

impl Sample {
    /// Reads a sample of about `bytes` bytes, from all over the data. Each window has about
    /// `window` bytes, or fewer if there would be fewer than `MIN_WINDOWS` windows. With a layout,
    /// windows are its blocks or parts of them, unless the sample is all of the data.
    pub(super) fn read(
        set: &FileSet,
        layout: Option<&Layout>,
        bytes: u64,
        window: u64,
        seed: u64,
    ) -> Result<Sample, String> {
        let size = (bytes / MIN_WINDOWS).next_power_of_two().clamp(MIN_WINDOW, window);
        let windows = match layout {
            Some(layout) if bytes < set.bytes => layout.spread(size, bytes, seed),
            _ => set.spread(size, bytes, seed),
        };
        let contents: Vec<Vec<Content>> =
            windows.iter().map(|window| set.read(window)).collect::<Result<_, _>>()?;
        let bytes = windows.iter().map(|window| length(window)).sum();
        let contents = contents.into_iter().flatten().collect();
        Ok(Sample { windows, contents, bytes, is_whole: bytes == set.bytes })
    }
}

/// The two samples of the data.
pub(super) struct Samples {
    /// Many windows (parts of the data) of at most about 1 MiB from all over the data, for most
    /// settings.
    pub(super) broad: Sample,
    /// Few windows of at most about 4 MiB from all over the data, for slow settings and those with
    /// blocks above 1 MiB.
    pub(super) deep: Sample,
    /// Layouts of all of the data in blocks from `BROAD_WINDOW` on. Empty if the data is too large
    /// for them or mostly large files, or both samples are all of it.
    pub(super) layouts: Layouts,
}

/// An archive of a sample.
pub(super) struct Packed {
    pub(super) bytes: Vec<u8>,
    /// Bytes of the archive's header with its tables.
    pub(super) header: u64,
    /// Bytes of content in the archive.
    pub(super) content: u64,
    /// CPU seconds of packing, for each time that the sample was packed.
    cpu: Vec<f64>,
}

impl Packed {
    /// Compressed bytes per byte of content, without the header.
    pub(super) fn density(&self) -> f64 {
        (self.bytes.len() as u64 - self.header) as f64 / self.content.max(1) as f64
    }

    /// Returns the median speed of packing the sample, in bytes of content per second of CPU time.
    pub(super) fn typical(&self) -> f64 {
        self.speed(1, 1).median
    }

    /// Returns the speed of packing data that has `blocks` blocks on this many threads: the speed
    /// of one thread, times the mean number of threads that these blocks keep busy. The elapsed
    /// time of the sample would mislead, since a sample has few blocks: of two threads that pack
    /// three equal blocks, one has no work for half of the time.
    pub(super) fn speed(&self, threads: usize, blocks: u64) -> Speed {
        let busy = busy_threads(blocks, threads);
        speed(self.content, self.cpu.iter().map(|seconds| seconds / busy).collect())
    }
}

impl Samples {
    pub(super) fn read(
        set: &FileSet,
        settings: &[Setting],
        options: &Options,
        progress: Progress<'_>,
    ) -> Result<Samples, String> {
        progress("reading a sample");
        // Bytes of the deep or the broad sample that all of its settings together can pack in this
        // share of the time, by their estimated cost.
        let bytes = |deep: bool, share: f64| {
            let costs =
                settings.iter().filter(|setting| setting.is_deep() == deep).map(|setting| setting.cost);
            let bytes = options.seconds * options.threads as f64 * share * 1e9 / costs.sum::<f64>();
            let most = MAX_SAMPLE + MAX_SAMPLE_PER_THREAD * options.threads as u64;
            (bytes as u64).clamp(MIN_WINDOW, most)
        };
        let (broad, deep) = (bytes(false, BROAD_SHARE), bytes(true, DEEP_SHARE));
        // Only files below the size of a block share blocks. Without many of them, a sample in the
        // order of the data is better than one in the layout's order, by compressibility, which was
        // 10 % off for a database.
        let small = set.files.iter().map(|file| file.size).filter(|&size| size < BROAD_WINDOW).sum::<u64>();
        let layouts = match broad.min(deep) < set.bytes && small >= set.bytes / 2 {
            true => {
                let blocks = settings.iter().map(|setting| setting.options.chunk.max(BROAD_WINDOW));
                layouts(set, &blocks.collect(), options, progress)?
            }
            false => Layouts::new(),
        };
        let sample = |bytes, window| {
            Sample::read(set, layouts.get(&(window, layout::ZSTD)), bytes, window, options.seed)
        };
        let (broad, deep) = (sample(broad, BROAD_WINDOW)?, sample(deep, DEEP_WINDOW)?);
        Ok(Samples { broad, deep, layouts })
    }

    /// Whether the data has a texture that filters know, by its header. Examines the beginnings of
    /// all sampled files and pieces, and of all files named `.dds` or `.ktx2`, which the samples
    /// may miss. Skips files that cannot be read.
    pub(super) fn have_textures(&self, set: &FileSet) -> bool {
        let sampled = self.broad.contents.iter().chain(&self.deep.contents);
        let sampled = sampled.map(|content| content.bytes[..content.bytes.len().min(MAX_HEAD)].to_vec());
        let is_named = |file: &&Entry| ["dds", "ktx2"].contains(&file.extension().as_str());
        let named = set.files.iter().filter(is_named).filter_map(|file| {
            let mut head = Vec::new();
            File::open(&file.path).ok()?.take(MAX_HEAD as u64).read_to_end(&mut head).ok()?;
            Some(head)
        });
        sampled.chain(named).any(|head| detect(&head).is_some())
    }

    pub(super) fn of(&self, setting: &Setting) -> &Sample {
        if setting.is_deep() { &self.deep } else { &self.broad }
    }

    pub(super) fn pack_all(
        &self,
        settings: &[Setting],
        options: &Options,
        progress: Progress<'_>,
    ) -> Result<Vec<Packed>, String> {
        let pack_one = |setting: &Setting| {
            progress(&format!("{}: packing", setting.words));
            pack(self.of(setting), setting, options.threads)
        };
        let (begun, share) = (Instant::now(), options.seconds * (BROAD_SHARE + DEEP_SHARE));
        let mut packed: Vec<Packed> = settings.iter().map(pack_one).collect::<Result<_, _>>()?;
        // Slow settings do not pack again, since one of them takes as long as many fast ones.
        for _ in 1..PACK_ROUNDS {
            for (packed, setting) in packed.iter_mut().zip(settings) {
                let is_short = packed.cpu[0] < SHORT_ROUND.as_secs_f64();
                if is_short && begun.elapsed().as_secs_f64() < share {
                    packed.cpu.extend(pack_one(setting)?.cpu);
                }
            }
        }
        Ok(packed)
    }

    /// Packs the deep sample with the reference setting, which packs the broad sample too, so that
    /// sizes and speeds on the two samples can be compared. Returns `None` if the two samples have
    /// the same windows.
    pub(super) fn bridge(
        &self,
        settings: &[Setting],
        threads: usize,
        progress: Progress<'_>,
    ) -> Result<Option<Packed>, String> {
        if self.deep.windows == self.broad.windows {
            return Ok(None);
        }
        let setting = &settings[reference(settings)];
        progress(&format!("{}: packing the sample of large windows", setting.words));
        pack(&self.deep, setting, threads).map(Some)
    }

    pub(super) fn notes(&self) -> Vec<String> {
        match self.broad.is_whole && self.deep.is_whole {
            true => Vec::new(),
            false => vec![format!(
                "Sizes are estimates from samples of {:.1} MB, and of {:.1} MB for slow levels and large blocks.",
                self.broad.bytes as f64 / 1e6,
                self.deep.bytes as f64 / 1e6
            )],
        }
    }
}

/// Packs a sample with a setting, as [`pack_with`] does.
fn pack(sample: &Sample, setting: &Setting, threads: usize) -> Result<Packed, String> {
    let options = setting.options.clone().threads(threads);
    pack_with(sample, options).map_err(|e| format!("{}: {e}", setting.words))
}

/// Packs a sample in memory. Stores equal files once only if the sample is all of the data. For
/// other samples, the estimate of the size of all of the data accounts for equal files.
pub(super) fn pack_with(sample: &Sample, options: PackOptions) -> Result<Packed, String> {
    let options = options.dedup_solid(sample.is_whole).dedup_chunked(sample.is_whole);
    let mut builder = Builder::new(options).map_err(|e| e.to_string())?;
    for (i, content) in sample.contents.iter().enumerate() {
        // A piece of a large file gets its own blocks, as large files do.
        let file_options = FileOptions::new().alone(content.is_part);
        let name = format!("{i}/{}", last_component(&content.name));
        builder.add_bytes_with(name, content.bytes.clone(), file_options).map_err(|e| e.to_string())?;
    }
    let begun = cpu_time();
    let (bytes, summary) = builder.to_bytes().map_err(|e| e.to_string())?;
    let cpu = vec![(cpu_time() - begun).as_secs_f64()];
    let header = open(&bytes)?.header().bytes();
    Ok(Packed { bytes, header, content: summary.bytes, cpu })
}

/// Returns the last component of a path, or `file` if no archive can hold that component.
fn last_component(name: &str) -> &str {
    let last = name.rsplit('/').next().unwrap_or(name);
    if check_path(last).is_ok() { last } else { "file" }
}

pub(super) fn open(bytes: &[u8]) -> Result<Archive<&[u8]>, String> {
    Archive::open_with(bytes, Limits::none()).map_err(|e| e.to_string())
}
