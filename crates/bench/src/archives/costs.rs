//! Sizes of archives: with each preset, without one of the options that save bytes, and beside
//! archives of other programs; and the bytes of an archive that are not compressed.

use std::path::Path;
use std::process::Command;

use linerate_candidates::cpu_time;
use linerate_nx::pack::{Coding, Filters, Format, PRESETS, PackOptions};
use linerate_nx::{Archive, Codec, FileSource, Limits};

use super::programs::{PROGRAMS, Program, TAR_ZSTD};
use super::{Bench, message};
use crate::harness::progress;
use crate::kernel::os::children_time;
use crate::records::Measurement;

/// Number of threads that pack.
const PACKING: usize = 2;
/// Bytes of the tar file in each zstd frame of `tar_in_pieces`; the last frame may have fewer.
const PIECE: usize = 1 << 20;
/// Name of the default options in records.
const DEFAULT: &str = "default";

/// zstd levels at which small files are packed, beside the default level 16.
const SMALL_FILES: [i32; 2] = [9, 12];

/// Options to pack with, and their name in the record.
struct Setting {
    name: String,
    options: PackOptions,
    format: Format,
    /// Name of the contender to compare with: another setting, or `tar --zstd`.
    base: String,
}

/// Measures the size of the archive of each setting, also divided by that of its base, and the CPU
/// time of packing with the files in the page cache, beside archives of other programs. For Nx
/// archives it also measures the bytes of the header, the padding and the stored blocks.
pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Vec<Measurement>>, String> {
    let folder = bench.folder()?;
    let (mut found, mut of_parts, mut saved) = (others(bench, folder.path()), Vec::new(), Vec::new());
    for setting in settings() {
        progress(&format!("{}: {}", bench.input.name, setting.name));
        let target = folder.path().join("packed");
        let before = cpu_time();
        let builder = bench.input.builder(setting.options)?;
        let bytes = builder.write_as(&target, setting.format).map_err(message)?.archive_bytes;
        let cpu = cpu_time() - before;
        let name = format!("linerate {}", setting.name);
        let of = found.iter().find(|row| row.contender == setting.base);
        let by = of.map(|of| bytes as f64 / of.metrics["output"].median);
        if setting.base.starts_with("linerate") {
            saved.push(savings(bench, &name, &setting.base, by));
        }
        let row = sized(bench, name.clone(), bytes).param("base", setting.base);
        let row = row.exact("cpu", cpu.as_secs_f64());
        found.push(row.exact("output_by_base", by));
        if matches!(setting.format, Format::Nx) {
            of_parts.extend(parts(bench, &name, &target)?);
        }
    }
    progress("");
    Ok(vec![found, of_parts, saved])
}

/// The settings to compare: the default; variants of it with one way to save bytes switched off,
/// with filters, or with small files at other levels; every preset, plain and with its filters; and
/// presets with dictionaries also as R3A archives.
fn settings() -> Vec<Setting> {
    let setting = |name: String, options: PackOptions, format, base| Setting { name, options, format, base };
    let tar = |level: i32| format!("{} {level}", TAR_ZSTD.archive);
    let ours = |name: &str| format!("linerate {name}");
    let plain = PackOptions { threads: PACKING, ..PackOptions::default() };
    let mut all = vec![setting(DEFAULT.into(), plain.clone(), Format::Nx, tar(9))];
    for (what, options) in [
        ("without grouping", plain.clone().group_similar(false)),
        ("without deduplication", plain.clone().dedup_solid(false).dedup_chunked(false)),
        ("without fitted searches", plain.clone().fit_search(false)),
        ("with filters", plain.clone().filters(Filters::all())),
    ] {
        all.push(setting(format!("{DEFAULT} {what}"), options, Format::Nx, ours(DEFAULT)));
    }
    for level in SMALL_FILES {
        let options = plain.clone().solid(Coding::zstd(level));
        let name = format!("{DEFAULT}, small files at level {level}");
        all.push(setting(name, options, Format::Nx, ours(DEFAULT)));
    }
    for preset in PRESETS {
        let options = PackOptions { threads: PACKING, ..preset.options() };
        let name = preset.name;
        all.push(setting(name.into(), options.clone(), Format::Nx, tar(level(&options))));
        let filtered = options.clone().filters(preset.filters());
        all.push(setting(format!("{name} with filters"), filtered, Format::Nx, ours(name)));
        if options.dictionaries {
            all.push(setting(format!("{name} as R3A with dictionaries"), options, Format::R3a, ours(name)));
        }
    }
    all
}

/// The zstd level for large files, or 0 if they are coded otherwise.
fn level(options: &PackOptions) -> i32 {
    match options.chunked {
        linerate_nx::pack::Coding::Zstd(zstd) => zstd.level,
        _ => 0,
    }
}

/// Archives of other programs. There is one of `tar --zstd` for each level with which a setting is
/// compared, and one in pieces. Programs that this machine lacks are left out with a message.
fn others(bench: &Bench<'_>, folder: &Path) -> Vec<Measurement> {
    static TAR: Program = TAR_ZSTD;
    let mut levels: Vec<i32> =
        std::iter::once(9).chain(PRESETS.iter().map(|p| level(&p.options()))).collect();
    levels.sort_unstable();
    levels.dedup();
    let mut found: Vec<Measurement> =
        levels.iter().filter_map(|&level| other(bench, folder, &TAR, level)).collect();
    found.extend(tar_in_pieces(bench, levels[0]));
    let rest = PROGRAMS.iter().filter(|program| program.name != TAR.name);
    found.extend(rest.filter_map(|program| other(bench, folder, program, levels[0])));
    found
}

fn other(bench: &Bench<'_>, folder: &Path, program: &'static Program, level: i32) -> Option<Measurement> {
    progress(&format!("{}: {}", bench.input.name, program.archive));
    let name = match program.has_levels {
        true => format!("{} {level}", program.archive),
        false => program.archive.to_owned(),
    };
    let before = children_time();
    match program.packed(&bench.input.root, folder, level) {
        Ok(packed) => {
            let cpu = children_time().zip(before).map(|(after, before)| (after - before).as_secs_f64());
            Some(sized(bench, name, packed.bytes).exact("cpu", cpu))
        }
        Err(missing) => {
            eprintln!("{name}: {missing}");
            None
        }
    }
}

/// Shows what independent blocks cost: measures a tar file in pieces of 1 MiB, each a zstd frame of
/// its own. Returns `None` if tar or libzstd fails.
fn tar_in_pieces(bench: &Bench<'_>, level: i32) -> Option<Measurement> {
    let tar =
        Command::new("tar").args(["--sort=name", "-cf", "-", "."]).current_dir(&bench.input.root).output();
    let tar = tar.ok().filter(|output| output.status.success())?.stdout;
    let mut packed = Vec::with_capacity(zstd_safe::compress_bound(PIECE));
    let pieces = tar.chunks(PIECE).map(|piece| {
        packed.clear();
        zstd_safe::compress(&mut packed, piece, level).ok()
    });
    let bytes = pieces.sum::<Option<usize>>()? as u64;
    Some(sized(bench, format!("{} {level}, pieces of 1 MiB", TAR_ZSTD.archive), bytes))
}

fn sized(bench: &Bench<'_>, contender: String, bytes: u64) -> Measurement {
    bench.sized(bench.row("costs", contender, 2, ""), bytes)
}

/// Returns a measurement of what one option gains: the size of the archive with the option, divided
/// by the size without. `by` is the size of the setting `name` divided by that of the setting
/// `base`. A setting with " without " in its name lacks the option, and its base has it; any other
/// setting adds the option to its base.
fn savings(bench: &Bench<'_>, name: &str, base: &str, by: Option<f64>) -> Measurement {
    let (name, base, by) = match name.contains(" without ") {
        true => (base, name, by.map(|by| 1.0 / by)),
        false => (name, base, by),
    };
    let mut row = bench.row("savings", name, 2, "").param("base", base).exact("output_by_base", by);
    row.params.remove("threads");
    row
}

/// Measures the bytes of an archive that are not compressed: header, padding and stored blocks.
fn parts(bench: &Bench<'_>, name: &str, path: &Path) -> Result<Vec<Measurement>, String> {
    let source = FileSource::open(path).map_err(message)?;
    let bytes = path.metadata().map_err(message)?.len();
    let archive = Archive::open_with(source, Limits::none()).map_err(message)?;
    let header = archive.header().bytes();
    let blocks = &archive.toc().blocks;
    let compressed: u64 = blocks.iter().map(|block| u64::from(block.compressed)).sum();
    let stored = blocks.iter().filter(|block| block.codec == Codec::Copy);
    let stored: u64 = stored.map(|block| u64::from(block.compressed)).sum();
    let padding = bytes.saturating_sub(header + compressed);
    let part = |(what, counted): (&str, u64)| {
        let row = bench.row("parts", name, 2, "").param("part", what);
        row.exact("output", counted as f64).exact("part", counted as f64 / bytes as f64)
    };
    Ok([("header", header), ("padding", padding), ("stored blocks", stored)].map(part).into())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn settings_are_valid_and_follow_what_they_are_compared_with() {
        let mut seen = BTreeSet::new();
        for setting in settings() {
            setting.options.check().unwrap_or_else(|e| panic!("{}: {e}", setting.name));
            if let Some(base) = setting.base.strip_prefix("linerate ") {
                assert!(seen.contains(base), "{} before {base}", setting.name);
            }
            assert!(seen.insert(setting.name.clone()), "{} twice", setting.name);
        }
    }
}
