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
//!
//! | module | content |
//! |---|---|
//! | `samples` | samples of the data, and their archives |
//! | `estimate` | sizes of archives of all of the data |
//! | `reads` | memory and random reads |

mod estimate;
mod reads;
mod samples;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use linerate_dict::content_hash;
use linerate_nx::{Archive, Verifier, check_path};
use linerate_plan::{Measurement, Speed};

use self::estimate::EqualFiles;
use self::reads::{memory, random_reads, reads};
use self::samples::{Packed, Samples, open};
use super::command::{archive_of, operand};
use super::nx_settings::{Setting, reference};
use super::sample::{Entry, FileSet};
use super::timing::{Clock, Turn, busy_threads, scaling, thread_counts};
use super::{Measured, Options, Progress, decode};

/// Measures Nx archives of the files with these settings.
///
/// # Errors
/// As [`Archives::pack`] and [`Archives::measured`].
pub(super) fn measure(
    settings: Vec<Setting>,
    paths: &[PathBuf],
    options: &Options,
    progress: Progress<'_>,
) -> Result<Measured, String> {
    let archives = Archives::pack(settings, paths, options, progress)?;
    let speeds = decode(archives.decoding()?, options, progress)?;
    archives.measured(&speeds, progress)
}

/// Candidates that have packed their samples and are still to be decoded.
pub(super) struct Archives<'p> {
    paths: &'p [PathBuf],
    options: Options,
    set: FileSet,
    /// Number of files whose names no archive can hold.
    left_out: usize,
    settings: Vec<Setting>,
    samples: Samples,
    /// The packed sample of each setting.
    packed: Vec<Packed>,
    /// The deep sample, packed with the reference setting. `None` if the two samples are equal.
    bridge: Option<Packed>,
    equal: EqualFiles,
    /// For each setting, the estimated bytes of an archive of all of the data.
    compressed: Vec<u64>,
    /// The numbers of threads to measure, one first.
    threads: Vec<usize>,
}

impl Archives<'_> {
    /// Packs samples of the files with each of these settings.
    ///
    /// # Errors
    /// Returns a sentence if a file cannot be read, there is nothing to compress (files whose names
    /// no archive can hold do not count), two files would have the same name in an archive, or a
    /// candidate fails.
    pub(super) fn pack<'p>(
        mut settings: Vec<Setting>,
        paths: &'p [PathBuf],
        options: &Options,
        progress: Progress<'_>,
    ) -> Result<Archives<'p>, String> {
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
        let compressed =
            samples.estimate(&set, &settings, &packed, bridge.as_ref(), equal.unique, options)?;
        let (options, threads) = (*options, thread_counts(options.threads));
        Ok(Archives {
            paths,
            options,
            set,
            left_out,
            settings,
            samples,
            packed,
            bridge,
            equal,
            compressed,
            threads,
        })
    }

    /// Returns the turns of decoding: for each setting and then for the bridge, one for each number
    /// of threads.
    ///
    /// # Errors
    /// Returns a sentence if an archive is invalid.
    pub(super) fn decoding(&self) -> Result<Vec<Turn<'_>>, String> {
        let reference = &self.settings[reference(&self.settings)];
        let mut turns = Vec::new();
        for (at, packed) in self.packed.iter().chain(&self.bridge).enumerate() {
            let setting = self.settings.get(at).unwrap_or(reference);
            for &threads in &self.threads {
                turns.push(decode_turn(setting, open(&packed.bytes)?, threads));
            }
        }
        Ok(turns)
    }

    /// Returns the measurements. `speeds` has those of the turns of decoding.
    ///
    /// # Errors
    /// Returns a sentence if a random read fails.
    pub(super) fn measured(&self, speeds: &[Speed], progress: Progress<'_>) -> Result<Measured, String> {
        let mut decode: Vec<&[Speed]> = speeds.chunks(self.threads.len()).collect();
        let reference = reference(&self.settings);
        // The deep sample may be faster or slower to pack and to decode than the broad one. The
        // reference setting, of which there are archives of both, shows by which factor.
        let bridge = self.bridge.as_ref().and_then(|bridge| Some((bridge, decode.pop()?)));
        let deep = bridge.map_or(SAME, |(packed, speeds)| Factors {
            encode: self.packed[reference].typical() / packed.typical(),
            decode: decode[reference][0].median / speeds[0].median,
        });
        let reads = reads(&self.settings, &self.options);
        let command = PackCommand::new(self.paths, self.left_out > 0);
        let mut measurements = Vec::new();
        for (i, setting) in self.settings.iter().enumerate() {
            progress(&format!("{}: random reads", setting.words));
            let factors = if setting.is_deep() { deep } else { SAME };
            measurements.push(Measurement {
                command: Some(command.with(setting)),
                compressed: self.compressed[i],
                read: Some(random_reads(&open(&self.packed[i].bytes)?, reads)?),
                ..self.one(setting, &self.packed[i], decode[i], factors)?
            });
        }
        let mut notes = self.samples.notes();
        let left_out = self.left_out;
        notes.extend(
            (left_out > 0).then(|| format!("Left out: {left_out} files whose names no archive can hold.")),
        );
        Ok(Measured {
            measurements,
            bytes: self.set.bytes,
            sampled: self.samples.broad.bytes,
            notes,
            ..Measured::default()
        })
    }

    /// Returns the measurement of a setting without its command, size and random reads. `decode`
    /// has the speeds of decoding with each number of threads. `factors` are those of the setting's
    /// sample.
    fn one(
        &self,
        setting: &Setting,
        packed: &Packed,
        decode: &[Speed],
        factors: Factors,
    ) -> Result<Measurement, String> {
        let archive = open(&packed.bytes)?;
        let (all, sampled) =
            (self.set.bytes.div_ceil(setting.options.chunk), archive.toc().blocks.len() as u64);
        let search = self.equal.seconds / self.set.bytes as f64;
        let encode = |n| packed.speed(n, all).scaled(factors.encode).after(search / n as f64);
        let for_all = |(&n, speed): (&usize, &Speed)| {
            speed.scaled(factors.decode * gained(n, all, sampled, speed.median / decode[0].median))
        };
        let decode: Vec<Speed> = self.threads.iter().zip(decode).map(for_all).collect();
        let all_threads = [self.options.threads];
        Ok(Measurement {
            engine: "nx".into(),
            settings: setting.words.clone(),
            content: self.set.bytes,
            encode: Some(encode(1)),
            decode: decode.first().copied(),
            encode_scaling: scaling(&all_threads, all_threads.iter().map(|&n| encode(n))),
            decode_scaling: scaling(&self.threads, decode),
            memory: memory(&packed.bytes, self.set.files.len() as u64)?,
            ..Measurement::default()
        })
    }
}

/// Speeds on the broad sample divided by those on the sample of a setting.
#[derive(Clone, Copy)]
struct Factors {
    encode: f64,
    decode: f64,
}

/// The factors of settings that packed the broad sample.
const SAME: Factors = Factors { encode: 1.0, decode: 1.0 };

/// Returns how much faster `threads` threads decode all of the data, which has `all` blocks, than a
/// sample of `sampled` blocks: more blocks usually keep more threads busy. `speedup` is their speed
/// on the sample, divided by that of one thread. This correction does not make them more than
/// `threads` times as fast as one.
fn gained(threads: usize, all: u64, sampled: u64, speedup: f64) -> f64 {
    let most = (threads as f64 / speedup).max(1.0);
    (busy_threads(all, threads) / busy_threads(sampled, threads)).min(most)
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

/// Returns the turn of decoding an archive, which includes the check of the files' hashes, as in
/// `linerate nx extract`.
fn decode_turn<'t>(setting: &Setting, archive: Archive<&'t [u8]>, threads: usize) -> Turn<'t> {
    Turn {
        name: format!("{}: decoding with {threads} threads", setting.words),
        bytes: archive.files().map(|file| file.size()).sum(),
        clock: Clock::of(threads),
        work: Box::new(move || {
            let verified = Verifier::new(&archive).threads(threads).run().map_err(|e| e.to_string())?;
            match verified.failures.first() {
                Some(failure) => Err(failure.to_string()),
                None => Ok(()),
            }
        }),
    }
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

    #[test]
    fn filters_are_candidates_only_where_a_texture_is() {
        let folder = crate::testdata::folder();
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
            let all = packing + seconds * (crate::DECODE_SHARE + reads::SHARE);
            assert!(all < seconds * 1.25, "{seconds} s on {threads} threads: {all}");
        }
    }

    #[test]
    fn threads_gain_by_more_blocks_up_to_their_number() {
        assert_eq!(gained(2, 1000, 3, 1.5), 1.0 / 0.75);
        assert_eq!(gained(2, 1000, 3, 1.9), 2.0 / 1.9);
        assert_eq!(gained(2, 1000, 3, 2.1), 1.0);
        assert_eq!(gained(1, 1000, 3, 1.0), 1.0);
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
