//! Options of packing, with the names that they have in the original program for Nx archives.

use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use linerate_nx::pack::{Coding, Filters, Format, PRESETS, PackOptions, Preset, Zstd};

use crate::ui::size;

/// Level of blocks that files share, if the command line changes their algorithm without giving a
/// level. The original program has the same.
const SOLID_LEVEL: i32 = 16;
/// Level of other blocks, if the command line changes their algorithm without giving a level. The
/// original program has the same.
const CHUNKED_LEVEL: i32 = 9;
/// Highest level of LZ4.
const MAX_LZ4_LEVEL: i32 = 12;

/// How blocks are formed and compressed. Commands flatten these options after all others, since
/// arguments after them would also get their heading in the help.
#[derive(Clone, clap::Args, Debug)]
#[command(next_help_heading = "Packing")]
pub(crate) struct CodingArgs {
    /// Named settings, see below; other options change single settings
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(PRESETS.iter().map(|p| p.name)))]
    pub(crate) preset: Option<String>,

    /// Largest file that shares a block with others, and maximum size of such a block; rounded up
    /// to one less than a power of two, so that 1M means 1048575; 0 gives each file its own blocks
    /// [default: that of the preset, else 1048575; less if chunks are smaller]
    #[arg(long, visible_alias = "block-size", value_name = "SIZE", value_parser = size::parse)]
    pub(crate) blocksize: Option<u64>,

    /// Size of the chunks that larger files are cut into, rounded up to a power of two, which must
    /// be from 512 to 256M; `update` keeps that of the archive and takes no other [default: that of
    /// the preset, else of the first archive, else 1M]
    #[arg(long, visible_alias = "chunk-size", value_name = "SIZE", value_parser = size::parse)]
    pub(crate) chunksize: Option<u64>,

    /// Level of blocks that files share: -5 to 22 for zstd, 1 to 12 for LZ4 [default: that of the
    /// preset, else 16 for zstd, 12 for LZ4]
    #[arg(long, visible_alias = "solid-level", value_name = "LEVEL", allow_negative_numbers = true)]
    pub(crate) solidlevel: Option<i32>,

    /// Level of other blocks [default: that of the preset, else 9]
    #[arg(long, visible_alias = "chunked-level", value_name = "LEVEL", allow_negative_numbers = true)]
    pub(crate) chunkedlevel: Option<i32>,

    /// Algorithm of blocks that files share [default: zstandard]
    #[arg(long, value_enum, value_name = "NAME", ignore_case = true)]
    pub(crate) solid_algorithm: Option<Algorithm>,

    /// Algorithm of other blocks [default: zstandard]
    #[arg(long, value_enum, value_name = "NAME", ignore_case = true)]
    pub(crate) chunked_algorithm: Option<Algorithm>,

    /// Shortest match of zstd in bytes, 3 to 7; 4 makes textures smaller
    #[arg(long, value_name = "N")]
    pub(crate) min_match: Option<u32>,

    /// Store the literals of zstd uncoded: larger, but textures decode 1.3 to 1.6 times as fast
    #[arg(long)]
    pub(crate) raw_literals: bool,

    /// Search for long matches in whole blocks with zstd
    #[arg(long)]
    pub(crate) long: bool,

    /// Train a zstd dictionary for each extension whose small files get smaller by it; only for
    /// archives of the format r3a
    #[arg(long)]
    pub(crate) dictionaries: bool,

    /// Filter the textures of blocks that get smaller by it. Only linerate can read such an
    /// archive. LIST is none, all (chosen by size), fast (by size and estimated decoding time),
    /// auto (fast with the presets fast-load and vfs, else all), or a list of formats (bc1,bc3) or
    /// filters [default: none]
    #[arg(long, value_name = "LIST")]
    pub(crate) filters: Option<String>,

    /// Also find textures by their bytes if no header names a format; only with --filters
    /// [default: true]
    #[arg(long, value_name = "BOOL")]
    pub(crate) guess_textures: Option<bool>,

    /// Adapt the match search of zstd levels 6 to 16 to blocks above 256K: smaller, but slower to
    /// pack [default: true, but false with the presets fast-load and vfs]
    #[arg(long, value_name = "BOOL")]
    pub(crate) fit_search: Option<bool>,

    /// Group files that share blocks by the similarity of their content [default: true]
    #[arg(long, value_name = "BOOL")]
    pub(crate) group_similar: Option<bool>,

    /// Store equal files above the block size once; a file that consists of chunks of another one
    /// is not stored again [default: true]
    #[arg(long, value_name = "BOOL")]
    pub(crate) deduplicate_chunked: Option<bool>,

    /// Store equal files up to the block size once [default: true]
    #[arg(long, value_name = "BOOL")]
    pub(crate) deduplicate_solid: Option<bool>,
}

/// The algorithm of blocks. A block that does not get smaller is stored whatever the algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Algorithm {
    Copy,
    #[value(name = "zstandard", alias = "zstd")]
    ZStandard,
    Lz4,
}

impl CodingArgs {
    /// Returns the options of packing: those of the preset, changed by the other options. `chunk`
    /// is the chunk size in bytes if neither a preset nor `--chunksize` is given, `None` the
    /// engine's default.
    ///
    /// # Errors
    /// A sentence if an option exceeds the limits of the format, or the list of filters is wrong.
    pub(crate) fn options(&self, chunk: Option<u64>, threads: usize) -> Result<PackOptions, String> {
        let preset = self.preset.as_deref().and_then(Preset::from_name);
        let mut options = preset.map_or_else(PackOptions::default, Preset::options);
        options.threads = threads;
        if let Some(chunk) = self.given_chunk().or(chunk.filter(|_| preset.is_none())) {
            options = options.chunk(chunk);
        }
        if let Some(limit) = self.blocksize {
            options.solid_limit = solid_limit(limit);
        }
        options.solid = self.changed(options.solid, self.solid_algorithm, self.solidlevel, SOLID_LEVEL);
        options.chunked =
            self.changed(options.chunked, self.chunked_algorithm, self.chunkedlevel, CHUNKED_LEVEL);
        options.textures = match self.sets_algorithm() {
            true => None,
            false => options.textures.map(|coding| self.changed(coding, None, None, SOLID_LEVEL)),
        };
        options.dictionaries |= self.dictionaries;
        options.filters = match self.filters.as_deref() {
            None => Filters::NONE,
            Some("auto") => preset.map_or_else(Filters::all, Preset::filters),
            Some(list) => Filters::parse(list)?,
        };
        options.guess_textures = self.guess_textures.unwrap_or(options.guess_textures);
        options.fit_search = self.fit_search.unwrap_or(options.fit_search);
        options.group_similar = self.group_similar.unwrap_or(options.group_similar);
        options.dedup_chunked = self.deduplicate_chunked.unwrap_or(options.dedup_chunked);
        options.dedup_solid = self.deduplicate_solid.unwrap_or(options.dedup_solid);
        options.check().map_err(|e| e.to_string())?;
        Ok(options)
    }

    /// The chunk size of `--chunksize` in bytes, rounded up to a power of two.
    fn given_chunk(&self) -> Option<u64> {
        self.chunksize.map(|n| n.checked_next_power_of_two().unwrap_or(u64::MAX))
    }

    /// Returns the options of an update of an archive, which keeps its chunk size, `kept` bytes,
    /// whatever chunk size the preset has.
    ///
    /// # Errors
    /// The errors of [`options`](Self::options), and a sentence if `--chunksize` asks for another
    /// chunk size.
    pub(crate) fn options_of_update(&self, kept: u64, threads: usize) -> Result<PackOptions, String> {
        match self.given_chunk() {
            Some(given) if given != kept => Err(format!(
                "--chunksize is {given} bytes, but `update` keeps the chunks of {kept} bytes; \
                 `nx repack --chunksize` changes them"
            )),
            _ => CodingArgs { chunksize: Some(kept), ..self.clone() }.options(None, threads),
        }
    }

    /// Whether any of these options is given.
    pub(crate) fn is_given(&self) -> bool {
        self.filters.is_some() || !self.is_only_filters()
    }

    /// Whether none of these options is given, or `--filters` alone.
    pub(crate) fn is_only_filters(&self) -> bool {
        let sizes = self.blocksize.or(self.chunksize).is_some();
        let shares = self.deduplicate_chunked.or(self.deduplicate_solid).is_some();
        let grouped = self.fit_search.or(self.group_similar).is_some() || self.dictionaries;
        let guesses = self.guess_textures.is_some();
        let coded = self.sets_algorithm() || self.long;
        !(self.preset.is_some() || sizes || shares || grouped || guesses || coded)
    }

    /// Checks that a format has what the options ask for.
    ///
    /// # Errors
    /// A sentence if `--dictionaries` is given for Nx, or `--filters` with another value than
    /// `none` for R3A.
    pub(crate) fn check_format(&self, format: Format) -> Result<(), String> {
        let filters = self.filters.as_deref().is_some_and(|list| list != "none");
        match format {
            Format::Nx if self.dictionaries => {
                Err("--dictionaries needs --format r3a: Nx archives have no dictionaries".into())
            }
            Format::R3a if filters => Err("--filters needs --format nx: R3A archives have no filters".into()),
            _ => Ok(()),
        }
    }

    /// Whether an option is given that sets the algorithm, the level, minMatch or the literals. Such
    /// an option replaces the preset's own coding of textures; `--long` only adds to it.
    fn sets_algorithm(&self) -> bool {
        let algorithm = self.solid_algorithm.or(self.chunked_algorithm).is_some();
        let level = self.solidlevel.or(self.chunkedlevel).is_some();
        algorithm || level || self.min_match.is_some() || self.raw_literals
    }

    /// Returns the coding `base` changed by the options. `algorithm` and `level` are those given
    /// for these blocks. Without `level`, the level is that of `base` if no algorithm is given, or
    /// if zstd is given and `base` is zstd. Otherwise it is `default_level`, for LZ4 at most
    /// [`MAX_LZ4_LEVEL`].
    fn changed(
        &self,
        base: Coding,
        algorithm: Option<Algorithm>,
        level: Option<i32>,
        default_level: i32,
    ) -> Coding {
        let coding = match (algorithm, base) {
            (None, _) | (Some(Algorithm::ZStandard), Coding::Zstd(_)) => base,
            (Some(Algorithm::ZStandard), _) => Coding::zstd(default_level),
            (Some(Algorithm::Copy), _) => Coding::Copy,
            (Some(Algorithm::Lz4), _) => Coding::lz4(default_level.min(MAX_LZ4_LEVEL)),
        };
        match coding {
            Coding::Copy => Coding::Copy,
            Coding::Lz4 { level: default } => Coding::lz4(level.unwrap_or(default)),
            Coding::Zstd(zstd) => Coding::Zstd(Zstd {
                level: level.unwrap_or(zstd.level),
                min_match: self.min_match.unwrap_or(zstd.min_match),
                literals: zstd.literals && !self.raw_literals,
                long: zstd.long || self.long,
            }),
        }
    }
}

/// Rounds a size in bytes up to one less than a power of two. A power of two is lowered by one, and
/// 0 stays 0.
fn solid_limit(given: u64) -> u64 {
    match given {
        0 => 0,
        n => n.checked_next_power_of_two().map_or(u64::MAX, |power| match power == n {
            true => n - 1,
            // A size of 2^n - 1 is unchanged, and 2^n + 1 becomes 2^(n+1) - 1.
            false => power - 1,
        }),
    }
}

/// The list of presets in the help.
pub(crate) fn presets() -> String {
    let mut text = String::from("Presets:");
    for preset in PRESETS {
        text.push_str(&format!("\n  {:<9}  {}", preset.name, preset.purpose));
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        coding: CodingArgs,
    }

    fn options(args: &[&str]) -> Result<PackOptions, String> {
        let line = Line::try_parse_from([&["x"], args].concat()).map_err(|e| e.to_string())?;
        line.coding.options(None, 1)
    }

    #[test]
    fn defaults_are_those_of_the_original_program() {
        let found = options(&[]).unwrap();
        assert_eq!((found.chunk, found.solid_limit), (1_048_576, 1_048_575));
        assert_eq!((found.solid, found.chunked), (Coding::zstd(16), Coding::zstd(9)));
    }

    #[test]
    fn sizes_are_rounded_as_documented() {
        for (given, limit) in
            [("0", 0), ("1M", 1_048_575), ("1048575", 1_048_575), ("32767", 32_767), ("32769", 65_535)]
        {
            assert_eq!(options(&["--blocksize", given]).unwrap().solid_limit, limit, "{given}");
        }
        let found = options(&["--chunksize", "100000"]).unwrap();
        assert_eq!((found.chunk, found.solid_limit), (131_072, 131_071));
        assert!(options(&["--chunksize", "64K", "--blocksize", "64K"]).is_ok());
        assert!(options(&["--chunksize", "64K", "--blocksize", "1M"]).unwrap_err().contains("below"));
        assert!(options(&["--chunksize", "512M"]).is_err());
    }

    #[test]
    fn default_and_maximum_levels_depend_on_the_algorithm() {
        let found = options(&["--solid-algorithm", "LZ4", "--chunked-algorithm", "Copy"]).unwrap();
        assert_eq!((found.solid, found.chunked), (Coding::lz4(12), Coding::Copy));
        let found = options(&["--solid-algorithm=lz4", "--solidlevel=3", "--chunkedlevel=-5"]).unwrap();
        assert_eq!((found.solid, found.chunked), (Coding::lz4(3), Coding::zstd(-5)));
        assert!(options(&["--solidlevel", "23"]).is_err());
        assert!(options(&["--chunked-algorithm=lz4", "--chunkedlevel=13"]).is_err());
    }

    #[test]
    fn options_change_those_of_the_preset() {
        let found = options(&["--preset", "vfs", "--chunkedlevel", "3"]).unwrap();
        assert_eq!((found.chunk, found.textures), (128 << 10, None));
        assert_eq!(found.chunked, Coding::zstd(3));
        assert!(options(&["--preset", "fast-load"]).unwrap().textures.is_some());
        assert!(options(&["--preset", "best"]).is_err());
        assert!(presets().contains("fast-load"));
    }

    #[test]
    fn long_adds_long_matches_to_every_coding_of_the_preset() {
        for preset in PRESETS {
            let (plain, found) = (preset.options(), options(&["--preset", preset.name, "--long"]).unwrap());
            let long = |coding| match coding {
                Coding::Zstd(zstd) => Coding::Zstd(Zstd { long: true, ..zstd }),
                other => other,
            };
            assert_eq!(found.solid, long(plain.solid), "{}", preset.name);
            assert_eq!(found.chunked, long(plain.chunked), "{}", preset.name);
            assert_eq!(found.textures, plain.textures.map(long), "{}", preset.name);
        }
        let line = Line::try_parse_from(["x", "--long"]).unwrap();
        assert!(line.coding.is_given() && !line.coding.is_only_filters());
    }

    #[test]
    fn true_and_false_switch_deduplication_search_and_grouping() {
        let found = options(&["--deduplicate-chunked", "false", "--deduplicate-solid=true"]).unwrap();
        assert_eq!((found.dedup_chunked, found.dedup_solid), (false, true));
        assert!(options(&["--deduplicate-solid", "perhaps"]).is_err());
        let found = options(&["--fit-search=false", "--group-similar", "false"]).unwrap();
        assert!(!found.fit_search && !found.group_similar && !found.dictionaries);
        assert!(options(&["--dictionaries"]).unwrap().dictionaries);
    }

    #[test]
    fn filters_are_off_unless_asked_for_and_auto_depends_on_the_preset() {
        for preset in PRESETS {
            assert!(options(&["--preset", preset.name]).unwrap().filters.is_empty());
            let found = options(&["--preset", preset.name, "--filters", "auto"]).unwrap();
            assert_eq!(found.filters, preset.filters());
        }
        assert_eq!(options(&["--filters=auto"]).unwrap().filters, Filters::all());
        assert_eq!(options(&["--filters=bc1"]).unwrap().filters, Filters::parse("bc1").unwrap());
        assert!(options(&["--filters=none"]).unwrap().filters.is_empty());
        assert!(options(&["--filters=bc9"]).unwrap_err().contains("bc1"));
        assert!(!options(&["--guess-textures=false"]).unwrap().guess_textures);
    }

    #[test]
    fn filters_are_refused_for_r3a() {
        let line = |args: &[&str]| Line::try_parse_from([&["x"], args].concat()).unwrap().coding;
        assert!(line(&["--filters=auto"]).check_format(Format::R3a).unwrap_err().contains("--format nx"));
        assert!(line(&["--filters=none"]).check_format(Format::R3a).is_ok());
        assert!(line(&["--filters=auto"]).check_format(Format::Nx).is_ok());
    }
}
