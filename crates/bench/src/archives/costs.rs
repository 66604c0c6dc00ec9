//! What an archive costs and what saves bytes in it, beside archives of other programs.

use std::path::Path;
use std::process::Command;

use linerate_nx::pack::{Filters, Format, Options, PRESETS};
use linerate_nx::{Archive, Codec, FileSource, Limits};

use super::BenchOptions;
use super::input::message;
use super::programs::{PROGRAMS, Program, TAR_ZSTD};
use super::row::{Row, Target};

/// Threads that pack.
const PACKING: usize = 2;
const PIECE: usize = 1 << 20;
/// The name of the options that are used unless asked for others.
const DEFAULT: &str = "default";

/// Options under a name.
struct Setting {
    name: String,
    options: Options,
    format: Format,
    /// What it is compared with: another setting, or tar with this level.
    base: Base,
}

enum Base {
    Setting(String),
    Tar { level: i32, target: Option<Target> },
}

/// Bytes of the archives of all settings, each by the bytes of its base; for archives that other programs read, also the
/// bytes of the header, of padding and of stored blocks (`counted_bytes`).
pub(super) fn measure(options: &BenchOptions<'_>, progress: fn(&str)) -> Result<Vec<Row>, String> {
    let folder = options.folder()?;
    let mut rows = others(options, folder.path(), progress);
    for setting in settings() {
        progress(&format!("{}: {}", options.input.name, setting.name));
        let target = folder.path().join("packed");
        let builder = options.input.builder(setting.options)?;
        let bytes = builder.write_as(&target, setting.format).map_err(message)?.archive_bytes;
        let name = format!("linerate {}", setting.name);
        rows.push(compared(sized(options, name.clone(), bytes), setting.base, &rows));
        if matches!(setting.format, Format::Nx) {
            rows.extend(parts(options, &name, &target)?);
        }
    }
    progress("");
    Ok(rows)
}

/// The default and every preset, plain and with its filters, and the default without one of its savings at a time.
fn settings() -> Vec<Setting> {
    let plain = Options { threads: PACKING, ..Options::default() };
    let near = Some(Target::AtMost(1.01));
    let mut all = vec![Setting {
        name: DEFAULT.into(),
        options: plain.clone(),
        format: Format::Nx,
        base: Base::Tar { level: 9, target: near },
    }];
    let without = |what: &str, options: Options| Setting {
        name: format!("{DEFAULT} {what}"),
        options,
        format: Format::Nx,
        base: Base::Setting(DEFAULT.into()),
    };
    all.push(without("without grouping", plain.clone().group_similar(false)));
    all.push(without("without deduplication", plain.clone().dedup_solid(false).dedup_chunked(false)));
    all.push(without("without fitted searches", plain.clone().fit_search(false)));
    all.push(without("with filters", plain.filters(Filters::all())));
    for preset in PRESETS {
        let options = Options { threads: PACKING, ..preset.options() };
        let filtered = options.clone().filters(preset.filters());
        let (dictionaries, level) = (options.dictionaries, level(&options));
        let setting = |what: &str, options: Options, format: Format, base: Base| Setting {
            name: format!("{}{what}", preset.name),
            options,
            format,
            base,
        };
        let own = || Base::Setting(preset.name.into());
        all.push(setting("", options.clone(), Format::Nx, Base::Tar { level, target: None }));
        all.push(setting(" with filters", filtered, Format::Nx, own()));
        if dictionaries {
            all.push(setting(" as R3A with dictionaries", options, Format::R3a, own()));
        }
    }
    all
}

/// The level of zstd for large files.
fn level(options: &Options) -> i32 {
    match options.chunked {
        linerate_nx::pack::Coding::Zstd(zstd) => zstd.level,
        _ => 0,
    }
}

/// Archives of other programs; those of zstd at each level that is compared with.
fn others(options: &BenchOptions<'_>, folder: &Path, progress: fn(&str)) -> Vec<Row> {
    static TAR: Program = TAR_ZSTD;
    let mut levels: Vec<i32> =
        std::iter::once(9).chain(PRESETS.iter().map(|p| level(&p.options()))).collect();
    levels.sort_unstable();
    levels.dedup();
    let mut rows: Vec<Row> =
        levels.iter().map(|&level| other(options, folder, &TAR, level, progress)).collect();
    rows.extend(tar_in_pieces(options, levels[0]));
    let rest = PROGRAMS.iter().filter(|program| program.name != TAR.name);
    rows.extend(rest.map(|program| other(options, folder, program, levels[0], progress)));
    rows
}

fn other(
    options: &BenchOptions<'_>,
    folder: &Path,
    program: &'static Program,
    level: i32,
    progress: fn(&str),
) -> Row {
    progress(&format!("{}: {}", options.input.name, program.archive));
    let name = match program.has_levels {
        true => format!("{} {level}", program.archive),
        false => program.archive.to_owned(),
    };
    match program.packed(&options.input.root, folder, level) {
        Ok(packed) => Row { version: packed.version, ..sized(options, name, packed.bytes) },
        Err(missing) => Row { version: missing, ..options.row("costs", name, 2, "") },
    }
}

/// What independent blocks cost: the tar cut into pieces of 1 MiB, each a zstd frame.
fn tar_in_pieces(options: &BenchOptions<'_>, level: i32) -> Option<Row> {
    let tar =
        Command::new("tar").args(["--sort=name", "-cf", "-", "."]).current_dir(&options.input.root).output();
    let tar = tar.ok().filter(|output| output.status.success())?.stdout;
    let mut packed = Vec::with_capacity(zstd_safe::compress_bound(PIECE));
    let pieces = tar.chunks(PIECE).map(|piece| {
        packed.clear();
        zstd_safe::compress(&mut packed, piece, level).ok()
    });
    let bytes = pieces.sum::<Option<usize>>()? as u64;
    Some(sized(options, format!("{} {level}, pieces of 1 MiB", TAR_ZSTD.archive), bytes))
}

fn sized(options: &BenchOptions<'_>, contender: String, bytes: u64) -> Row {
    Row {
        archive_bytes: Some(bytes),
        ratio: Some(bytes as f64 / options.input.bytes as f64),
        rounds: 1,
        ..options.row("costs", contender, 2, "")
    }
}

/// The row with its bytes by those of its base, if that was made.
fn compared(row: Row, base: Base, rows: &[Row]) -> Row {
    let (base, target) = match base {
        Base::Setting(name) => (format!("linerate {name}"), None),
        Base::Tar { level, target } => (format!("{} {level}", TAR_ZSTD.archive), target),
    };
    let found = rows.iter().find(|row| row.contender == base).and_then(|row| row.archive_bytes);
    let vs_base = row.archive_bytes.zip(found).map(|(bytes, base)| bytes as f64 / base as f64);
    Row { base, vs_base, target, ..row }
}

/// Bytes of an archive that are not compressed content.
fn parts(options: &BenchOptions<'_>, name: &str, path: &Path) -> Result<Vec<Row>, String> {
    let source = FileSource::open(path).map_err(message)?;
    let bytes = path.metadata().map_err(message)?.len();
    let archive = Archive::open_with(source, Limits::none()).map_err(message)?;
    let header = archive.header().bytes();
    let blocks = &archive.toc().blocks;
    let compressed: u64 = blocks.iter().map(|block| u64::from(block.compressed)).sum();
    let stored = blocks.iter().filter(|block| block.codec == Codec::Copy);
    let stored: u64 = stored.map(|block| u64::from(block.compressed)).sum();
    let part = |what: &str, counted: u64| Row {
        counted_bytes: Some(counted),
        rounds: 1,
        ..options.row("costs", format!("{name}: {what}"), 2, "")
    };
    let padding = bytes.saturating_sub(header + compressed);
    Ok(vec![part("header", header), part("padding", padding), part("stored blocks", stored)])
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
            if let Base::Setting(base) = &setting.base {
                assert!(seen.contains(base), "{} before {base}", setting.name);
            }
            assert!(seen.insert(setting.name.clone()), "{} twice", setting.name);
        }
    }
}
