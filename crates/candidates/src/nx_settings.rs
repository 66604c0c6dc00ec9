//! Lists the settings of Nx archives to try. Each has options for the engine, and arguments for the
//! command line.
//!
//! Most settings pack the broad sample of the data, which has many windows (parts of the data) of
//! 1 MiB. Slow settings and those with blocks above 1 MiB are deep: they pack the deep sample,
//! which has few windows of 4 MiB. The reference setting packs both, so that figures of deep
//! settings can be compared with the others.

use linerate_nx::pack::{Coding, Filters, PRESETS, PackOptions, Zstd};

/// A choice of options of `linerate nx pack`.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    /// Description for people.
    pub(super) words: String,
    /// Flags of `linerate nx pack`, without paths.
    pub(super) flags: Vec<String>,
    /// The same choice as options of the engine, with one thread.
    pub(super) options: PackOptions,
    /// Estimated nanoseconds that one core takes to encode a byte. Settings from `SLOW` on, and
    /// those with chunks above 1 MiB, pack the deep sample, the others the broad one. The costs of
    /// all settings that pack a sample determine its size. They are estimates, because a
    /// measurement would make samples differ from plan to plan.
    pub(super) cost: f64,
}

/// Estimated nanoseconds of encoding a byte from which a setting is slow and packs the deep sample,
/// which has few large parts of the data.
const SLOW: f64 = 100.0;

/// zstd levels for blocks of 1 MiB, with the estimated nanoseconds of encoding a byte.
const LEVELS: [(i32, f64); 7] =
    [(1, 4.0), (3, 7.0), (6, 25.0), (REFERENCE_LEVEL, 45.0), (12, 80.0), (16, 250.0), (19, 450.0)];
/// The zstd level that packs both samples in blocks of 1 MiB, the broad sample (many small parts of
/// the data) and the deep one (few large parts), so that figures from the two can be compared.
const REFERENCE_LEVEL: i32 = 9;
/// Block sizes in bytes, other than 1 MiB, with a zstd level and the estimated nanoseconds of
/// encoding a byte. Small blocks are for random access, large ones for small archives.
const BLOCKS: [(u64, i32, f64); 5] = [
    (128 << 10, 3, 7.0),
    (128 << 10, 12, 50.0),
    (256 << 10, 12, 50.0),
    (4 << 20, 3, 7.0),
    (4 << 20, 12, 80.0),
];
/// LZ4 levels for blocks of 1 MiB, with the estimated nanoseconds of encoding a byte.
const LZ4: [(i32, f64); 2] = [(1, 3.0), (12, 60.0)];
/// The presets in the order of the engine's table, with the estimated nanoseconds of encoding a
/// byte. If one is missing here, this does not compile.
const PRESET_COSTS: [(&str, f64); PRESETS.len()] =
    [("archive", 300.0), ("fast-load", 60.0), ("vfs", 60.0), ("web", 500.0)];
const MIB: u64 = 1 << 20;

/// Returns all settings to try on folders. Those with texture filters are only for data with
/// textures.
pub(super) fn settings() -> Vec<Setting> {
    let mut all = vec![uniform("stored in an archive".into(), MIB, Coding::Copy, 1.0, &[])];
    all.extend(LZ4.map(|(level, cost)| lz4(level, cost)));
    all.extend(LEVELS.map(|(level, cost)| zstd(level, MIB, cost)));
    all.extend(BLOCKS.map(|(block, level, cost)| zstd(level, block, cost)));
    all.push(raw_literals(12, 80.0));
    let plain = [lz4(12, 130.0), zstd(3, MIB, 25.0), zstd(REFERENCE_LEVEL, MIB, 95.0), zstd(12, MIB, 180.0)];
    all.extend(plain.map(filtered));
    all.extend(PRESETS.iter().zip(PRESET_COSTS).map(|(preset, (_, cost))| Setting {
        words: format!("preset {}", preset.name),
        flags: vec!["--preset".into(), preset.name.into()],
        options: preset.options(),
        cost,
    }));
    all
}

/// Returns the settings for data that is not expected to be many small files. Leaves out texture
/// filters, storing without compression, blocks below 1 MiB, and all presets but `archive`.
pub(super) fn for_one_file() -> Vec<Setting> {
    let mut all = settings();
    all.retain(|setting| {
        let is_preset = setting.flags.iter().any(|flag| flag == "--preset");
        let is_for_one = setting.words == "preset archive" || !is_preset;
        is_for_one
            && !setting.is_filtered()
            && setting.options.chunk >= MIB
            && setting.options.solid != Coding::Copy
    });
    all
}

/// Returns the index of the setting that packs both samples: zstd 9 in blocks of 1 MiB, without
/// texture filters if there is such a setting. Returns 0 if no setting has that level.
pub(super) fn reference(settings: &[Setting]) -> usize {
    let wanted = Coding::zstd(REFERENCE_LEVEL);
    // The setting without filters comes first.
    settings.iter().position(|setting| setting.options.solid == wanted).unwrap_or(0)
}

impl Setting {
    /// Whether the setting applies texture filters, reversible transforms that make textures
    /// smaller to compress.
    pub(super) fn is_filtered(&self) -> bool {
        self.options.filters != Filters::default()
    }

    /// Whether the setting packs the deep sample (few large parts of the data) instead of the broad
    /// one (many small parts), because it is slow or has blocks above 1 MiB.
    pub(super) fn is_deep(&self) -> bool {
        self.cost >= SLOW || self.options.chunk > MIB
    }
}

fn lz4(level: i32, cost: f64) -> Setting {
    let words = format!("LZ4 {level}, blocks of 1 MiB");
    uniform(words, MIB, Coding::lz4(level), cost, &[])
}

fn zstd(level: i32, block: u64, cost: f64) -> Setting {
    let words = format!("zstd {level}, blocks of {}", in_words(block));
    uniform(words, block, Coding::zstd(level), cost, &[])
}

fn raw_literals(level: i32, cost: f64) -> Setting {
    let coding = Coding::Zstd(Zstd { level, min_match: 4, literals: false, long: false });
    let words = format!("zstd {level} with raw literals and minMatch 4, blocks of 1 MiB");
    uniform(words, MIB, coding, cost, &["--raw-literals", "--min-match", "4"])
}

/// Adds texture filters to a setting, whose `cost` must already include the time that they take.
fn filtered(mut setting: Setting) -> Setting {
    setting.words.push_str(", textures filtered");
    setting.flags.extend(["--filters".into(), "auto".into()]);
    setting.options.filters = Filters::all();
    setting
}

/// Makes a setting that uses one coding for everything: for blocks that several small files share,
/// of less than `block` bytes, and for chunks of large files, of `block` bytes. `more` has flags of
/// the coding that are neither algorithm nor level.
fn uniform(words: String, block: u64, coding: Coding, cost: f64, more: &[&str]) -> Setting {
    let (algorithm, level) = match coding {
        Coding::Copy => ("copy", None),
        Coding::Zstd(zstd) => ("zstandard", Some(zstd.level)),
        Coding::Lz4 { level } => ("lz4", Some(level)),
    };
    let size = flag_size(block);
    let mut flags = vec!["--chunksize".to_owned(), size.clone(), "--blocksize".into(), size];
    for kind in ["solid", "chunked"] {
        flags.extend([format!("--{kind}-algorithm"), algorithm.into()]);
        flags.extend(level.into_iter().flat_map(|level| [format!("--{kind}level"), level.to_string()]));
    }
    flags.extend(more.iter().map(|&flag| flag.to_owned()));
    let options = PackOptions::new().chunk(block).solid_limit(block - 1).solid(coding).chunked(coding);
    Setting { words, flags, options, cost }
}

fn flag_size(bytes: u64) -> String {
    match bytes % MIB {
        0 => format!("{}M", bytes / MIB),
        _ => format!("{}K", bytes >> 10),
    }
}

fn in_words(bytes: u64) -> String {
    match bytes % MIB {
        0 => format!("{} MiB", bytes / MIB),
        _ => format!("{} KiB", bytes >> 10),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_setting_is_valid_and_has_words_of_its_own() {
        let all = settings();
        let words: BTreeSet<&str> = all.iter().map(|setting| setting.words.as_str()).collect();
        assert_eq!(words.len(), all.len());
        for setting in &all {
            setting.options.check().unwrap_or_else(|e| panic!("{}: {e}", setting.words));
            assert!(setting.cost > 0.0 && !setting.flags.is_empty(), "{}", setting.words);
        }
    }

    #[test]
    fn no_two_settings_are_equal() {
        let all = settings();
        for (i, one) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|other| other.options != one.options), "{}", one.words);
        }
    }

    #[test]
    fn one_file_gets_large_blocks_of_every_codec() {
        let words: Vec<String> = for_one_file().into_iter().map(|setting| setting.words).collect();
        for wanted in [
            "LZ4 1, blocks of 1 MiB",
            "zstd 19, blocks of 1 MiB",
            "zstd 12, blocks of 4 MiB",
            "preset archive",
        ] {
            assert!(words.iter().any(|words| words == wanted), "{words:?}");
        }
        assert!(words.iter().all(|words| !words.contains("KiB") && !words.contains("stored")), "{words:?}");
    }

    #[test]
    fn presets_have_costs_under_their_own_names() {
        assert!(PRESETS.iter().map(|preset| preset.name).eq(PRESET_COSTS.map(|(name, _)| name)));
    }

    #[test]
    fn deep_settings_are_compared_with_one_that_is_not() {
        let all = settings();
        let found = &all[reference(&all)];
        assert_eq!(found.words, "zstd 9, blocks of 1 MiB");
        assert!(!found.is_deep());
        assert_eq!(all.iter().filter(|setting| setting.is_deep()).count(), 8);
    }
}
