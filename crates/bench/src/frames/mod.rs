//! The shape "frames": zstd frames and flushed streams decoded, dictionaries digested, in CPU time
//! of one core.

pub(crate) mod cases;
mod decoders;

use clap::Args;
use linerate_zstd::Dictionary;
use zstd_safe::DDict;

use self::cases::Blocks;
pub use self::cases::Case;
use self::decoders::{contenders, streams};
use crate::decoding;
use crate::harness::args::CorpusArgs;
use crate::harness::corpus::Corpus;
use crate::harness::filter::{Chunk, parse_bytes};
use crate::harness::{Clock, Common, Contender, Rounds, measure as harness, message, progress, row};
use crate::records::Measurement;

/// Number of times that a dictionary is digested in a turn.
const DIGESTS: u32 = 2000;

/// Options of `linerate-bench frames`.
#[derive(Args, Clone, Debug)]
pub struct FramesArgs {
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Sizes of blocks and, after a plus, of the dictionary that they share
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "1K+8K,4K+8K,8K+8K,1K,4K,128K,whole"
    )]
    case: Vec<Case>,
    /// Sizes of the flushed pieces of streams with a window of 64 KiB
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1K,8K", value_parser = at_least_one)]
    flush: Vec<u64>,
    /// The level at which libzstd compresses
    #[arg(long, value_name = "N", default_value_t = 3, allow_negative_numbers = true)]
    level: i32,
    /// Maximum bytes of each case, taken evenly from the corpus; with `whole`, of each file; of a
    /// flushed stream, the first ones of the corpus [default: 16M, with --quick 1M]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    most: Option<u64>,
}

fn at_least_one(text: &str) -> Result<u64, String> {
    let bytes = parse_bytes(text)?;
    if bytes > 0 { Ok(bytes) } else { Err(format!("`{text}`: at least one byte is needed")) }
}

/// Measures each case, then each stream.
///
/// # Errors
/// A sentence for the user.
pub fn run(args: &FramesArgs) -> Result<(), String> {
    let mut output = args.common.open_pinned()?;
    let corpus = args.corpus.read()?;
    let most = args.most.unwrap_or(if args.common.quick { 1 << 20 } else { 16 << 20 });
    let most = most.try_into().unwrap_or(usize::MAX);
    for case in &args.case {
        for found in measure(&corpus, case, args.level, most, args.common.rounds(9))? {
            output.add("zstd decoded, CPU time", found)?;
        }
    }
    for &piece in &args.flush {
        let (frame, content) = streams::compress(&corpus, piece as usize, args.level, most)?;
        // In timed calls the content of each piece overwrites that of the piece before, as in the
        // buffer of a connection.
        let room = Some(piece as usize);
        let jobs = decoding::Jobs { frames: vec![frame], contents: vec![&content], room };
        let blank = row("frames", &corpus.name, "")
            .param("block", format!("{} flush", Chunk::Bytes(piece as usize)))
            .param("level", args.level);
        let found = decoding::measure(
            &blank,
            "libzstd",
            &jobs,
            streams::contenders(piece as usize),
            args.common.rounds(9),
        )?;
        output.add("zstd decoded, CPU time", found)?;
    }
    output.say_absent(&["ruzstd"])?;
    output.finish()
}

/// Names of the contenders in this build.
///
/// # Errors
/// The message of a contender that cannot be made.
pub fn names() -> Result<Vec<String>, String> {
    Ok(contenders(None)?.iter().map(|decoder| decoder.name.to_owned()).collect())
}

/// Measures decoding the blocks of a case, and digesting its dictionary if it has one. Returns
/// nothing if no file is as long as a block.
///
/// # Errors
/// A sentence, if training or compressing fails, or a contender fails or decodes to other content.
pub fn measure(
    corpus: &Corpus,
    case: &Case,
    level: i32,
    most: usize,
    rounds: usize,
) -> Result<Vec<Vec<Measurement>>, String> {
    progress(&format!("{case}: compressing"));
    let Blocks { jobs, dictionary } = Blocks::new(corpus, case, level, most)?;
    if jobs.frames.is_empty() {
        return Ok(Vec::new());
    }
    let blank = row("frames", &corpus.name, "").param("block", case.chunk.to_string()).param("level", level);
    let blank = match case.dictionary {
        Some(bytes) => blank.param("dictionary", Chunk::Bytes(bytes).to_string()),
        None => blank,
    };
    let all = contenders(dictionary.as_deref())?;
    let mut found = vec![decoding::measure(&blank, "libzstd", &jobs, all, rounds)?];
    if let Some(dictionary) = &dictionary {
        found.push(digest(&corpus.name, case, dictionary, rounds)?);
    }
    Ok(found)
}

/// Measures digesting a dictionary, by our library and by libzstd. Neither copies the content of
/// the dictionary. Speeds count the bytes of the dictionary.
fn digest(data: &str, case: &Case, dictionary: &[u8], rounds: usize) -> Result<Vec<Measurement>, String> {
    let digest = Dictionary::measure(dictionary).map_err(message)?;
    let theirs = DDict::create_by_reference(dictionary).sizeof();
    let held = [digest.tables_len() + size_of_val(&digest), theirs];
    let one = |i: usize| {
        let name = ["linerate", "libzstd"][i];
        let measurement = row("frames-digest", data, name)
            .param("block", case.chunk.to_string())
            .param("dictionary", Chunk::Bytes(dictionary.len()).to_string())
            .size("state", held[i]);
        let turn = move |_| {
            let ((), time) = Clock::Cpu.time(|| {
                for _ in 0..DIGESTS {
                    match i {
                        0 => drop(std::hint::black_box(Dictionary::by_reference(dictionary))),
                        _ => drop(std::hint::black_box(DDict::create_by_reference(dictionary))),
                    }
                }
                Ok(())
            })?;
            Ok(time / DIGESTS)
        };
        Contender::new(measurement, turn).bytes(dictionary.len()).units(1).base(1, "libzstd")
    };
    harness(vec![one(0), one(1)], Rounds::warm(rounds))
}
