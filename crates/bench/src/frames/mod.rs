//! The shape "frames": decoding zstd frames and digesting dictionaries, in CPU time.

mod cases;
mod decoders;
mod digest;

use self::cases::Blocks;
pub use self::cases::Case;
use self::decoders::contenders;
use crate::corpus::Corpus;
use crate::decoding;
use crate::record::Record;

/// Options of a measurement.
pub struct BenchOptions<'a> {
    /// Sizes of blocks, and of their dictionaries.
    pub cases: &'a [Case],
    /// The level at which libzstd compresses them.
    pub level: i32,
    /// The most bytes of content that are compressed for one case.
    pub most: usize,
    /// Passes of each contender over everything.
    pub rounds: usize,
}

/// Decodes the corpus, case by case: a record for each contender, and two for the dictionary of a
/// case that has one. `each` gets them as soon as the case is done.
///
/// What every contender decodes is compared with the content first. `speed_vs_base` is the median
/// over the rounds, within each of which the contenders take turns.
///
/// # Errors
/// A sentence: what a contender says, other content than was compressed, or what `each` returns.
pub fn measure(
    corpus: &Corpus,
    options: &BenchOptions<'_>,
    mut progress: impl FnMut(&str),
    mut each: impl FnMut(&Case, &[Record]) -> Result<(), String>,
) -> Result<(), String> {
    for case in options.cases {
        progress(&format!("{case}: compressing"));
        let Blocks { jobs, dictionary } = Blocks::new(corpus, case, options)?;
        if jobs.frames.is_empty() {
            continue;
        }
        let common = decoding::Case {
            shape: "frames",
            chunk: case.chunk.to_string(),
            format: case.format(options.level),
            base: "libzstd",
            rounds: options.rounds,
        };
        let all = contenders(dictionary.as_deref())?;
        let mut records = decoding::measure(corpus, &common, &jobs, all, &mut progress)?;
        if let Some(dictionary) = &dictionary {
            records.extend(digest::measure(corpus, case, dictionary, options)?);
        }
        progress("");
        each(case, &records)?;
    }
    Ok(())
}
