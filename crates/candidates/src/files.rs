//! Measures Nx archives, by codec, level, block size and preset. The archives are packed and read
//! by the engine itself.
//!
//! Settings pack only samples of the data, from which the sizes for all of the data are estimated.
//! A window is a part of the data that is sampled as a whole: some neighbouring small files, or a
//! piece of a large file.
//!
//! * The broad sample has many windows of 1 MiB. Most settings pack it.
//! * The deep sample has few windows of 4 MiB. Slow settings and those with blocks above 1 MiB pack
//!   it.
//! * The reference setting, zstd 9 in blocks of 1 MiB, packs both samples. Its archive of the deep
//!   sample is the bridge: it shows how sizes and speeds on the two samples differ.
//! * If the data is not too large, all of it is packed with fast controls, in blocks of each size
//!   from 1 MiB on. The windows are blocks of these archives, since the packer puts similar files
//!   from all of the data into one block, and the sizes of the archives show how much the data
//!   gains by larger blocks.
//! * Otherwise the windows are files that are neighbours by name, and zstd 1 compresses the broad
//!   sample and a larger part of the data.
//!
//! In both cases the control shows how the compressibility of all of the data differs from that of
//! the sample. All comparisons are ratio estimators: sizes at two levels vary together, so their
//! quotient varies little within the data. Equal files are looked for in all of the data.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use linerate_dict::content_hash;
use linerate_nx::filter::{MAX_HEAD, detect};
use linerate_nx::pack::{Builder, Coding, FileOptions, PackOptions};
use linerate_nx::{Archive, Limits, Verifier, check_path};
use linerate_plan::{Measurement, Memory, Read, Speed};

use super::command::{archive_of, operand};
use super::layout::{self, Layout, Layouts, layouts};
use super::nx_settings::{Setting, reference};
use super::sample::{Content, Entry, FileSet, Window, length};
use super::timing::{Clock, Turn, busy_threads, rounds, scaling, speed, thread_counts};
use super::{Measured, Options, Progress, control};
use crate::sys::clock::{cpu_time, footprint};

/// Approximate bytes of each window (part of the data) of the broad sample, which most settings
/// pack. Their blocks have at most 1 MiB.
const BROAD_WINDOW: u64 = 1 << 20;
/// Approximate bytes of each window (part of the data) of the deep sample, which slow settings and
/// those with blocks above 1 MiB pack. Only the preset `archive` has larger blocks (16 MiB).
/// Layouts show how much it gains by them.
const DEEP_WINDOW: u64 = 4 << 20;
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
/// Share of the measurement's time for decoding.
const DECODE_SHARE: f64 = 0.25;
/// Largest number of times that a setting packs its sample. A setting packs it again only if the
/// first time took less CPU time than `SHORT_ROUND`, and while both shares of the time for packing
/// last.
const PACK_ROUNDS: usize = 3;
/// CPU time of packing the sample from which a setting packs it only once.
const SHORT_ROUND: Duration = Duration::from_millis(400);
/// Share of the measurement's time for random reads.
const READ_SHARE: f64 = 0.04;
/// Nanoseconds that decoding a byte is assumed to take. This determines the number of random reads,
/// each of which is assumed to decode a whole block.
const READ_COST: f64 = 1.0;
/// Smallest and largest number of random reads from each candidate's archive.
const READS: (f64, f64) = (4.0, 64.0);
/// Bytes of a random read, unless the file is shorter.
const READ_BYTES: u64 = 4096;

/// Measures Nx archives of the files with these settings.
///
/// # Errors
/// Returns a sentence if a file cannot be read, there is nothing to compress (files whose names no
/// archive can hold do not count), two files would have the same name in an archive, or a
/// candidate fails.
pub(super) fn measure(
    mut settings: Vec<Setting>,
    paths: &[PathBuf],
    options: &Options,
    progress: Progress<'_>,
) -> Result<Measured, String> {
    progress("listing files");
    let mut set = FileSet::new(paths)?;
    let left_out = leave_out_bad_names(&mut set)?;
    check_distinct(&set)?;
    let samples = Samples::read(&set, &settings, options, progress)?;
    if !samples.have_textures(&set) {
        settings.retain(|setting| !setting.is_filtered());
    }
    let mut packed = samples.pack_all(&settings, options, progress)?;
    keep_distinct(&mut settings, &mut packed);
    let bridge = samples.bridge(&settings, options.threads, progress)?;
    let equal = samples.equal_files(&set, options.threads, progress)?;
    progress("how well all of the data compresses");
    let compressed = samples.estimate(&set, &settings, &packed, bridge.as_ref(), equal.unique, options)?;
    let opened =
        packed.iter().chain(&bridge).map(|packed| open(&packed.bytes)).collect::<Result<Vec<_>, _>>()?;
    let speeds = DecodeSpeeds::measure(&settings, &opened, options, progress)?;
    // The deep sample may be faster or slower to pack than the broad one. The reference setting,
    // which packed both, shows by which factor.
    let reference = reference(&settings);
    let to_broad = bridge.as_ref().map_or(1.0, |bridge| packed[reference].typical() / bridge.typical());
    let command = PackCommand::new(paths, left_out > 0);
    let threads = [options.threads];
    let blocks = |setting: &Setting| set.bytes.div_ceil(setting.options.chunk);
    let block_bytes: f64 = settings.iter().map(|setting| setting.options.chunk as f64).sum();
    let reads = options.seconds * READ_SHARE * 1e9 / (block_bytes * READ_COST);
    let mut measurements = Vec::new();
    for (i, setting) in settings.iter().enumerate() {
        progress(&format!("{}: random reads", setting.words));
        let factor = if setting.is_deep() { to_broad } else { 1.0 };
        let search = equal.seconds / set.bytes as f64;
        let encode = |n| packed[i].speed(n, blocks(setting)).scaled(factor).after(search / n as f64);
        measurements.push(Measurement {
            engine: "nx".into(),
            settings: setting.words.clone(),
            command: Some(command.with(setting)),
            content: set.bytes,
            compressed: compressed[i],
            encode: Some(encode(1)),
            decode: Some(speeds.one_thread[i]),
            encode_scaling: scaling(&threads, threads.iter().map(|&n| encode(n))),
            decode_scaling: speeds.scaling(i, blocks(setting), opened[i].toc().blocks.len() as u64),
            memory: memory(&packed[i].bytes, set.files.len() as u64)?,
            read: Some(random_reads(&opened[i], reads.clamp(READS.0, READS.1) as usize)?),
            ..Measurement::default()
        });
    }
    let mut notes = samples.notes();
    notes.extend(
        (left_out > 0).then(|| format!("Left out: {left_out} files whose names no archive can hold.")),
    );
    Ok(Measured {
        measurements,
        bytes: set.bytes,
        sampled: samples.broad.bytes,
        notes,
        ..Measured::default()
    })
}

/// Removes each setting whose archive has the same bytes as that of an earlier setting. If the data
/// does not compress, for example, blocks are stored, and the level makes no difference.
fn keep_distinct(settings: &mut Vec<Setting>, packed: &mut Vec<Packed>) {
    let mut seen = HashSet::new();
    let is_new: Vec<bool> = packed.iter().map(|packed| seen.insert(content_hash(&packed.bytes))).collect();
    let mut keep = is_new.iter();
    settings.retain(|_| keep.next() == Some(&true));
    let mut keep = is_new.iter();
    packed.retain(|_| keep.next() == Some(&true));
}

/// Removes the files whose names no archive can hold, which `linerate nx pack --skip-bad-names`
/// leaves out too, and returns their number. Fails if no file is left.
fn leave_out_bad_names(set: &mut FileSet) -> Result<usize, String> {
    let all = set.files.len();
    set.files.retain(has_good_name);
    set.bytes = set.files.iter().map(|file| file.size).sum();
    match set.bytes {
        0 => Err("nothing to compress: no archive can hold the names of the files".into()),
        _ => Ok(all - set.files.len()),
    }
}

/// Returns whether an archive can hold the file's name.
fn has_good_name(file: &Entry) -> bool {
    let is_lossy = file.path.to_str().is_none() && file.name.contains(char::REPLACEMENT_CHARACTER);
    check_path(&file.name).is_ok() && !is_lossy
}

/// Refuses files of the same name, which lie in different folders: `linerate nx pack` refuses them.
fn check_distinct(set: &FileSet) -> Result<(), String> {
    // Equal names are neighbours in the order of the set.
    match set.files.windows(2).find(|pair| pair[0].name == pair[1].name) {
        Some([first, second]) => Err(format!(
            "{} and {} would have the same name in an archive; name a folder that holds both",
            first.path.display(),
            second.path.display()
        )),
        _ => Ok(()),
    }
}

/// The broad or the deep sample of the data.
struct Sample {
    windows: Vec<Window>,
    /// The files, and pieces of files, in the windows.
    contents: Vec<Content>,
    /// Bytes of all windows.
    bytes: u64,
    /// Whether the sample is all of the data.
    is_whole: bool,
}

impl Sample {
    /// Reads a sample of about `bytes` bytes, from all over the data. Each window has about
    /// `window` bytes, or fewer if there would be fewer than `MIN_WINDOWS` windows. With a layout,
    /// windows are its blocks or parts of them, unless the sample is all of the data.
    fn read(
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
struct Samples {
    /// Many windows (parts of the data) of at most about 1 MiB from all over the data, for most
    /// settings.
    broad: Sample,
    /// Few windows of at most about 4 MiB from all over the data, for slow settings and those with
    /// blocks above 1 MiB.
    deep: Sample,
    /// Layouts of all of the data in blocks from `BROAD_WINDOW` on. Empty if the data is too large
    /// for them or mostly large files, or both samples are all of it.
    layouts: Layouts,
}

/// An archive of a sample.
struct Packed {
    bytes: Vec<u8>,
    /// Bytes of the archive's header with its tables.
    header: u64,
    /// Bytes of content in the archive.
    content: u64,
    /// CPU seconds of packing, for each time that the sample was packed.
    cpu: Vec<f64>,
}

impl Packed {
    /// Compressed bytes per byte of content, without the header.
    fn density(&self) -> f64 {
        (self.bytes.len() as u64 - self.header) as f64 / self.content.max(1) as f64
    }

    /// Returns the median speed of packing the sample, in bytes of content per second of CPU time.
    fn typical(&self) -> f64 {
        self.speed(1, 1).median
    }

    /// Returns the speed of packing data that has `blocks` blocks on this many threads: the speed
    /// of one thread, times the mean number of threads that these blocks keep busy. The elapsed
    /// time of the sample would mislead, since a sample has few blocks: of two threads that pack
    /// three equal blocks, one has no work for half of the time.
    fn speed(&self, threads: usize, blocks: u64) -> Speed {
        let busy = busy_threads(blocks, threads);
        speed(self.content, self.cpu.iter().map(|seconds| seconds / busy).collect())
    }
}

impl Samples {
    fn read(
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
    fn have_textures(&self, set: &FileSet) -> bool {
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

    fn of(&self, setting: &Setting) -> &Sample {
        if setting.is_deep() { &self.deep } else { &self.broad }
    }

    fn pack_all(
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
    fn bridge(
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

    /// Estimates the bytes of an archive of all of the data, for each setting. `packed` has the
    /// settings' archives of their samples, and `unique` is the number of bytes in the data if
    /// equal files count once.
    fn estimate(
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
    fn equal_files(
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

    fn notes(&self) -> Vec<String> {
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

/// Packs a sample with a control, in blocks of this size, and returns the compressed bytes per byte
/// of content.
fn control_density(sample: &Sample, block: u64, control: Coding, threads: usize) -> Result<f64, String> {
    Ok(pack_with(sample, layout::options(block, control, threads))?.density())
}

/// Packs a sample in memory. Stores equal files once only if the sample is all of the data. For
/// other samples, the estimate of the size of all of the data accounts for equal files.
fn pack_with(sample: &Sample, options: PackOptions) -> Result<Packed, String> {
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

/// What was found about files of equal content.
struct EqualFiles {
    /// Bytes of all of the data if equal files count once.
    unique: u64,
    /// CPU seconds that it took to find equal files.
    seconds: f64,
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

fn open(bytes: &[u8]) -> Result<Archive<&[u8]>, String> {
    Archive::open_with(bytes, Limits::none()).map_err(|e| e.to_string())
}

/// Speeds of decoding the archives of all settings. They include the check of the files' hashes,
/// which `linerate nx extract` does by default.
struct DecodeSpeeds {
    /// Speed of one thread, for each setting.
    one_thread: Vec<Speed>,
    /// The numbers of threads that were measured, other than one.
    threads: Vec<usize>,
    /// For each of `threads`, the speed of each setting.
    by_threads: Vec<Vec<Speed>>,
}

impl DecodeSpeeds {
    fn measure(
        settings: &[Setting],
        archives: &[Archive<&[u8]>],
        options: &Options,
        progress: Progress<'_>,
    ) -> Result<DecodeSpeeds, String> {
        let threads: Vec<usize> = thread_counts(options.threads).into_iter().filter(|&n| n > 1).collect();
        let share = options.seconds * DECODE_SHARE / (1 + threads.len()) as f64;
        let reference = reference(settings);
        let turn = |at: usize, threads| {
            decode_turn(settings.get(at).unwrap_or(&settings[reference]), &archives[at], threads)
        };
        let speeds = |threads: usize, clock: Clock| {
            let mut turns: Vec<Turn<'_>> = (0..archives.len()).map(|at| turn(at, threads)).collect();
            let mut speeds = rounds(&mut turns, clock, Duration::from_secs_f64(share), progress)?;
            // If the samples differ, the last turn is the reference setting on the deep sample. Its
            // speed on the broad sample, divided by this one, scales the speeds of all settings
            // that were measured on the deep sample.
            let bridge =
                speeds.get(settings.len()).map_or(1.0, |bridge| speeds[reference].median / bridge.median);
            for (speed, _) in speeds.iter_mut().zip(settings).filter(|(_, setting)| setting.is_deep()) {
                *speed = speed.scaled(bridge);
            }
            speeds.truncate(settings.len());
            Ok::<_, String>(speeds)
        };
        let one_thread = speeds(1, Clock::Cpu)?;
        let by_threads = threads.iter().map(|&n| speeds(n, Clock::Elapsed)).collect::<Result<_, _>>()?;
        Ok(DecodeSpeeds { one_thread, threads, by_threads })
    }

    /// Returns a candidate's speeds on several threads, scaled from its sample, which has `sampled`
    /// blocks, to all of the data, whose `all` blocks usually keep more threads busy.
    fn scaling(&self, candidate: usize, all: u64, sampled: u64) -> Vec<linerate_plan::Scaling> {
        let speeds = self.threads.iter().zip(&self.by_threads).map(|(&threads, speeds)| {
            let factor = busy_threads(all, threads) / busy_threads(sampled, threads);
            speeds[candidate].scaled(factor)
        });
        scaling(&self.threads, speeds)
    }
}

fn decode_turn<'t>(setting: &Setting, archive: &'t Archive<&[u8]>, threads: usize) -> Turn<'t> {
    let work = move || {
        let verified = Verifier::new(archive).threads(threads).run().map_err(|e| e.to_string())?;
        match verified.failures.first() {
            Some(failure) => Err(failure.to_string()),
            None => Ok(()),
        }
    };
    Turn {
        name: format!("{}: decoding with {threads} threads", setting.words),
        bytes: archive.files().map(|file| file.size()).sum(),
        work: Box::new(work),
    }
}

/// Measures the memory of an open archive, scaled to this many files, and of a reader without a
/// cache of blocks. Each thread has a reader. Where the size of the heap is unknown, estimates the
/// memory from the sizes of the archive's header and of its largest blocks.
fn memory(bytes: &[u8], files: u64) -> Result<Memory, String> {
    let (archive, tables) = footprint(|| open(bytes));
    let archive = archive?;
    let largest = archive.files().max_by_key(|file| file.size());
    let (reader, held) = footprint(|| -> Result<_, String> {
        let mut reader = archive.reader().map_err(|e| e.to_string())?;
        reader.cache(0);
        if let Some(file) = largest {
            let mut start = vec![0; file.size().min(READ_BYTES) as usize];
            reader.read_range(file, 0, &mut start).map_err(|e| e.to_string())?;
        }
        Ok(reader)
    });
    drop(reader?);
    // The read above may not have decoded the largest block. A reader that does needs memory for
    // it, decoded and compressed.
    let blocks = archive.layout().largest_content()
        + archive.toc().blocks.iter().map(|block| u64::from(block.compressed)).max().unwrap_or(0);
    let tables = tables.map_or(archive.header().bytes(), |bytes| bytes as u64);
    Ok(Memory {
        per_stream: tables * files / (archive.len() as u64).max(1),
        per_thread: held.map_or(blocks, |bytes| (bytes as u64).max(blocks)),
    })
}

/// Times this many reads of at most `READ_BYTES` bytes from files all over the archive. Before each
/// read it empties the cache of decoded blocks: in a large archive a read rarely finds its block
/// there, but a sample may have so few blocks that it would.
fn random_reads(archive: &Archive<&[u8]>, reads: usize) -> Result<Read, String> {
    let mut reader = archive.reader().map_err(|e| e.to_string())?;
    let (mut seconds, mut fetched, mut out) = (Vec::new(), 0, vec![0; READ_BYTES as usize]);
    for i in 0..reads {
        // Multiples of the golden ratio have fractional parts that cover 0 to 1 evenly and jump, so
        // that a read rarely follows the one before it in the archive.
        let at = |n: u64, k: usize| ((k as f64 * 0.618_033_988_749_895).fract() * n as f64) as u64;
        let Some(file) = archive.get(at(archive.len() as u64, i + 1) as usize) else { continue };
        let len = file.size().min(READ_BYTES);
        let offset = at(file.size() - len + 1, i + 7);
        reader.cache(0);
        let begun = Instant::now();
        reader.read_range(file, offset, &mut out[..len as usize]).map_err(|e| e.to_string())?;
        seconds.push(begun.elapsed().as_secs_f64());
        let chunk = if file.is_chunked() { offset / archive.header().chunk.bytes() } else { 0 };
        let block = archive.toc().blocks.get(file.blocks().start + chunk as usize);
        fetched += block.map_or(0, |block| u64::from(block.compressed));
    }
    let mean = fetched as f64 / seconds.len().max(1) as f64;
    Ok(Read { seconds: crate::stats::middle(seconds), fetched: mean })
}

/// The arguments of `linerate nx pack` that do not depend on the setting.
struct PackCommand {
    sources: Vec<String>,
    output: String,
    skip_bad_names: bool,
}

impl PackCommand {
    fn new(paths: &[PathBuf], skip_bad_names: bool) -> PackCommand {
        PackCommand {
            sources: paths.iter().map(|path| operand(path)).collect(),
            output: archive_of(paths.first().map_or(Path::new("."), PathBuf::as_path)),
            skip_bad_names,
        }
    }

    fn with(&self, setting: &Setting) -> Vec<String> {
        let mut command = vec!["linerate".to_owned(), "nx".into(), "pack".into()];
        command.extend(setting.flags.iter().cloned());
        command.extend(self.skip_bad_names.then(|| "--skip-bad-names".into()));
        command.extend(self.sources.iter().cloned());
        command.extend(["-o".into(), self.output.clone()]);
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nx_settings::settings;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let rows = crate::testdata::rows(1_500_000);
        let noise = crate::testdata::random(700_000);
        std::fs::write(folder.path().join("large.log"), &rows[..1_000_000]).expect("writable");
        std::fs::write(folder.path().join("noise.bin"), &noise).expect("writable");
        for (i, part) in rows[1_000_000..].chunks(5000).enumerate() {
            std::fs::write(folder.path().join(format!("{i}.json")), part).expect("writable");
        }
        folder
    }

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
        let folder = folder();
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
        let coding =
            Coding::Zstd(linerate_nx::pack::Zstd { level: 4, min_match: 0, literals: true, long: true });
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
    fn packing_reading_and_decoding_fit_into_the_time() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("noise"), crate::testdata::random(12 << 20)).expect("writable");
        let set = FileSet::new(&[folder.path().to_owned()]).expect("readable");
        for (seconds, threads) in [(1.7, 2), (1.7, 1), (4.2, 2), (8.5, 1)] {
            let (settings, options) = (settings(), Options { seconds, threads, seed: 1 });
            let samples = Samples::read(&set, &settings, &options, &|_| {}).expect("readable");
            assert!(!samples.broad.is_whole && !samples.deep.is_whole);
            let work = |setting: &Setting| setting.cost * samples.of(setting).bytes as f64 / 1e9;
            let packing = settings.iter().map(work).sum::<f64>() / threads as f64;
            let all = packing + seconds * (DECODE_SHARE + READ_SHARE);
            assert!(all < seconds * 1.25, "{seconds} s on {threads} threads: {all}");
        }
    }

    #[test]
    fn filters_are_candidates_only_where_a_texture_is() {
        let folder = folder();
        let filtered = |folder: &Path| {
            let options = Options { seconds: 0.05, threads: 1, seed: 1 };
            let found = measure(settings(), &[folder.to_owned()], &options, &|_| {}).expect("measured");
            found.measurements.iter().filter(|found| found.settings.contains("filtered")).count()
        };
        assert_eq!(filtered(folder.path()), 0);
        let mut dds = vec![0; 128];
        dds[..4].copy_from_slice(b"DDS ");
        dds[4] = 124;
        for (at, value) in [(12, 256u32), (16, 256), (76, 32), (80, 4)] {
            dds[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        dds[84..88].copy_from_slice(b"DXT1");
        // Each block of the texture has two colours that hardly change, and noise.
        let noise = crate::testdata::random(4 * 64 * 64);
        for (i, noise) in noise.chunks(4).enumerate() {
            dds.extend([(i / 50) as u8, 0x52, (i / 70) as u8, 0x31].iter().chain(noise));
        }
        let textures = tempfile::tempdir().expect("a folder");
        std::fs::write(textures.path().join("stone.dds"), dds).expect("writable");
        assert!(filtered(textures.path()) > 0);
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

    #[test]
    fn names_that_no_archive_can_hold_are_left_out() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("good"), "good").expect("writable");
        std::fs::write(folder.path().join("ends in a dot."), "bad").expect("writable");
        let mut set = FileSet::new(&[folder.path().to_owned()]).expect("readable");
        assert_eq!((leave_out_bad_names(&mut set), set.bytes), (Ok(1), 4));
        let command = PackCommand::new(&[folder.path().to_owned()], true).with(&settings()[0]);
        assert!(command.contains(&"--skip-bad-names".to_owned()), "{command:?}");
    }

    #[cfg(target_os = "linux")] // whose file systems hold any bytes
    #[test]
    fn names_that_are_not_utf_8_are_left_out() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("good"), "good").expect("writable");
        std::fs::write(folder.path().join(std::ffi::OsStr::from_bytes(b"\xff")), "bad").expect("writable");
        let mut set = FileSet::new(&[folder.path().to_owned()]).expect("readable");
        assert_eq!((leave_out_bad_names(&mut set), set.bytes), (Ok(1), 4));
    }

    #[test]
    fn files_of_the_same_name_in_two_folders_are_an_error_that_names_both() {
        let folder = tempfile::tempdir().expect("a folder");
        let folders = ["one", "two"].map(|name| folder.path().join(name));
        for path in &folders {
            std::fs::create_dir(path).expect("a folder");
            std::fs::write(path.join("a.txt"), "words").expect("writable");
        }
        let options = Options { seconds: 0.05, threads: 1, seed: 1 };
        let error = measure(settings(), &folders, &options, &|_| {}).expect_err("equal names");
        let paths = folders.map(|folder| folder.join("a.txt").display().to_string());
        assert!(paths.iter().all(|path| error.contains(path)), "{error}");
    }
}
