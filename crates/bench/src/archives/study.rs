//! Measures archive size and decoding speed by preset, by block size and level, and with another
//! match search, codec or number of threads, or a dictionary.

use std::time::Instant;

use linerate_candidates::cpu_time;
use linerate_nx::Archive;
use linerate_nx::pack::{Coding, MAX_CHUNK, PRESETS, PackOptions, Preset, Zstd};
use linerate_zstd::{Dictionary, FrameDecoder, Options, Scratch};

use super::decode::ours;
use super::{Bench, message, pack_options};
use crate::frames::cases::Blocks;
use crate::harness::corpus::Corpus;
use crate::harness::{Clock, Contender, Rounds, measure as harness, progress, row};
use crate::records::Measurement;

/// Number of threads that pack.
const PACKING: usize = 2;
const MIB: u64 = 1 << 20;
/// Block sizes to measure at every level, each with its name and its bytes. A block of "whole
/// files" holds one file, or a part of a file that is larger than the block.
const BLOCKS: [(&str, u64); 3] =
    [("whole files", MAX_CHUNK), ("blocks of 128 KiB", 128 << 10), ("blocks of 1 MiB", MIB)];
/// zstd levels that are measured without Huffman-coded literals.
const RAW_LEVELS: [i32; 3] = [3, 12, 16];
/// zstd level at which most other options are varied.
const LEVEL: i32 = 16;
/// Minimum match lengths to measure beside the level's own, in bytes.
const MIN_MATCHES: [u32; 3] = [4, 5, 6];
/// Names of drives for which the required decode speed is computed.
const DRIVES: [&str; 4] = ["sata", "nvme-3.0", "nvme-4.0", "nvme-5.0"];
/// Name of the setting for whose archive the required decode speed is computed.
const FROM_DRIVES: &str = "zstd 16, 1 MiB";
/// Block and dictionary size of the setting with a dictionary.
const WITH_DICTIONARY: &str = "128K+110K";

/// Options to pack with, and how to decode the result.
struct Setting {
    name: String,
    options: PackOptions,
    hashes: bool,
    /// Whether decoding is timed with one thread and with two by the wall clock. Otherwise it is
    /// timed with one thread in CPU time.
    two_threads: bool,
}

impl Setting {
    fn new(name: String, options: PackOptions) -> Setting {
        Setting { name, options, hashes: false, two_threads: false }
    }

    /// Packs the folder, then measures decoding all blocks.
    fn measure(self, param: (&str, &str), bench: &Bench<'_>) -> Result<Vec<Measurement>, String> {
        progress(&format!("packing {}: {}", bench.input.name, self.name));
        let (bytes, summary) = bench.input.pack(self.options)?;
        let archive = Archive::open_with(&bytes[..], linerate_nx::Limits::none()).map_err(message)?;
        let (archive, begun) = (&archive, Instant::now());
        let row = |threads, clock| {
            let row = bench.row(param.0, "linerate", threads, clock).param(param.1, self.name.clone());
            bench.sized(row, summary.archive_bytes)
        };
        let hashes = self.hashes;
        let by_wall = |threads| {
            let turn = move |_| ours(archive, threads, hashes, || begun.elapsed());
            Contender::new(row(threads, "wall"), turn).seconds("elapsed")
        };
        let contenders = match self.two_threads {
            true => vec![by_wall(1), by_wall(2).base(0, "linerate x1")],
            false => {
                let turn = |_| ours(archive, 1, hashes, cpu_time);
                vec![Contender::new(row(1, "cpu"), turn).seconds("cpu")]
            }
        };
        let content = bench.input.bytes as usize;
        let contenders = contenders.into_iter().map(|contender| contender.bytes(content)).collect();
        harness(contenders, Rounds::warm(bench.rounds))
    }
}

/// Measures the archive of every preset without filters. Hashes are not checked, so that only
/// decoding is timed.
pub(super) fn presets(bench: &Bench<'_>) -> Result<Vec<Vec<Measurement>>, String> {
    let one = |preset: &Preset| {
        let packing = PackOptions { threads: PACKING, ..preset.options() };
        Setting::new(preset.name.to_owned(), packing).measure(("presets", "preset"), bench)
    };
    Ok(vec![PRESETS.iter().map(one).collect::<Result<Vec<_>, _>>()?.concat()])
}

/// Measures each block size at each level. Without `quick`, also other options, a dictionary, and
/// the decode speed that drives require.
pub(super) fn settings(bench: &Bench<'_>) -> Result<Vec<Vec<Measurement>>, String> {
    let mut all = grid(bench.levels);
    if !bench.quick {
        all.extend(varied());
    }
    let one = |setting: Setting| setting.measure(("settings", "setting"), bench);
    let mut found = all.into_iter().map(one).collect::<Result<Vec<_>, _>>()?.concat();
    if !bench.quick {
        found.extend(with_dictionary(bench)?);
        let read = found.iter().find(|m| m.params["setting"] == FROM_DRIVES);
        let size = read.and_then(|m| m.metrics.get("size")).map(|size| size.median);
        found.extend(size.into_iter().flat_map(|size| required(bench, size)));
    }
    Ok(vec![found])
}

/// Every level with every block size.
fn grid(levels: &[i32]) -> Vec<Setting> {
    let of = |(blocks, chunk)| {
        let of = move |&level: &i32| {
            Setting::new(format!("zstd {level}, {blocks}"), plain(Coding::zstd(level), chunk))
        };
        levels.iter().map(of)
    };
    BLOCKS.into_iter().flat_map(of).collect()
}

/// Further settings: level 3, checked hashes, a fitted match search, raw literals, minimum match
/// lengths and LZ4; and for decoding with two threads, level 16 and level 22 in long mode, each in
/// blocks of 1 and 16 MiB.
fn varied() -> Vec<Setting> {
    let zstd = |level| Zstd { level, min_match: 0, literals: true, long: false };
    let named = |name: String, coding, chunk| Setting::new(format!("zstd {name}"), plain(coding, chunk));
    let usual = plain(Coding::zstd(LEVEL), MIB);
    let mut all = vec![named("3, blocks of 1 MiB".into(), Coding::zstd(3), MIB)];
    all.push(Setting {
        hashes: true,
        ..Setting::new(format!("zstd {LEVEL}, hashes checked"), usual.clone())
    });
    all.push(Setting::new(format!("zstd {LEVEL}, search fitted to the content"), usual.fit_search(true)));
    all.extend(RAW_LEVELS.map(|level| {
        let raw = Coding::Zstd(Zstd { literals: false, ..zstd(level) });
        named(format!("{level}, raw literals"), raw, MIB)
    }));
    for (blocks, chunk) in &BLOCKS[1..] {
        all.extend(MIN_MATCHES.map(|min_match| {
            let coding = Coding::Zstd(Zstd { min_match, ..zstd(LEVEL) });
            named(format!("{LEVEL}, {blocks}, minMatch {min_match}"), coding, *chunk)
        }));
    }
    all.extend([1, 12].map(|level| Setting::new(format!("LZ4 {level}"), plain(Coding::lz4(level), MIB))));
    let long = Coding::Zstd(Zstd { long: true, ..zstd(22) });
    for (name, coding) in [("16", Coding::zstd(LEVEL)), ("22, long mode", long)] {
        all.extend([1, 16].map(|mib| Setting {
            two_threads: true,
            ..named(format!("{name}, {mib} MiB"), coding, mib * MIB)
        }));
    }
    all
}

/// Measures blocks of 128 KiB that share one dictionary, as R3A archives allow. The dictionary is
/// trained on at most 1,000 of the measured blocks, as in an archive, and its bytes count.
fn with_dictionary(bench: &Bench<'_>) -> Result<Vec<Measurement>, String> {
    let corpus = Corpus::read(&bench.input.root, None)?;
    let case = WITH_DICTIONARY.parse()?;
    let one = |level| {
        let Blocks { jobs, dictionary } = Blocks::new(&corpus, &case, level, usize::MAX)?;
        let bytes = dictionary.unwrap_or_default();
        let digested = Dictionary::new(&bytes).map_err(message)?;
        let (decoder, mut scratch) = (FrameDecoder::new(Options::default()), Scratch::default());
        let mut out = vec![0; 128 << 10];
        let turn = |_| {
            jobs.frames.iter().try_for_each(|frame| {
                decoder.decode(&mut scratch, Some(&digested), frame, &mut out).map(drop).map_err(message)
            })
        };
        let name = format!("zstd {level}, blocks of 128 KiB, dictionary of 110 KiB");
        let output = bytes.len() + jobs.frames.iter().map(Vec::len).sum::<usize>();
        // Ends of files that are shorter than a block are left out.
        let row = bench.row("settings", "linerate", 1, "cpu").param("setting", name);
        let row = row.size("output", output).exact("size", output as f64 / jobs.bytes() as f64);
        let contender = Contender::timed(row, Clock::Thread, turn).bytes(jobs.bytes()).seconds("cpu");
        harness(vec![contender], Rounds::warm(bench.rounds))
    };
    Ok([12, LEVEL].into_iter().map(one).collect::<Result<Vec<_>, String>>()?.concat())
}

/// The decode speed that each drive requires, in MB/s of content: the drive's speed divided by
/// `size`, which is the size of the archive divided by that of its content.
fn required(bench: &Bench<'_>, size: f64) -> Vec<Measurement> {
    let one = |drive: &str| {
        let pipe = linerate_plan::Pipe::parse(drive).expect("a drive with a name");
        let row = row("archives", &bench.input.name, "required").param("measure", "drives");
        row.param("drive", drive).exact("speed", pipe.rate / 1e6 / size)
    };
    DRIVES.into_iter().map(one).collect()
}

/// Options to pack into blocks of at most `chunk` bytes, all with the same coding. The match search
/// is the level's, not one that is fitted to the content ([`PackOptions::fit_search`]). With the
/// largest chunk, no block holds more than one file.
fn plain(coding: Coding, chunk: u64) -> PackOptions {
    let options = pack_options(0, chunk, PACKING).solid(coding).chunked(coding).fit_search(false);
    if chunk == MAX_CHUNK { options.solid_limit(0) } else { options }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_setting_is_valid_and_has_a_name_of_its_own() {
        let all: Vec<Setting> = grid(&[12, 19]).into_iter().chain(varied()).collect();
        let names: BTreeSet<&str> = all.iter().map(|setting| setting.name.as_str()).collect();
        assert_eq!((names.len(), all.len()), (24, 24));
        for setting in &all {
            setting.options.check().unwrap_or_else(|e| panic!("{}: {e}", setting.name));
        }
    }
}
