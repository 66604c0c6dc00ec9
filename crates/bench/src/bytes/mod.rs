//! The shape "bytes": a chunk in, compressed bytes out, in CPU time of one core. Each file is a
//! separate stream.

mod encoder;
mod encoders;
mod table;
mod verify;

use std::collections::BTreeMap;
use std::fmt::Write;

use clap::Args;

pub use self::encoder::{Coding, Encoder, output_capacity, pieces};
#[cfg(any(feature = "zlib", feature = "zlib-ng"))]
pub(crate) use self::table::Strategy;
pub use self::table::{Entry, Loaded, table};
pub(crate) use self::verify::check_stream;
pub use self::verify::encode_and_check;
#[cfg(feature = "servers")]
pub(crate) use self::verify::inflate;
use crate::harness::args::CorpusArgs;
use crate::harness::corpus::Corpus;
use crate::harness::filter::{Chunk, Filter};
use crate::harness::{Clock, Common, Contender, PART, Rounds, measure, parts, progress, repeats, row};
use crate::records::Measurement;

/// Contenders with which the others are usually compared: the first one that is available.
const BASES: [&str; 3] = ["libslz deflate", "ISA-L 1 deflate", "zlib-rs 1 deflate"];

/// Options of `linerate-bench bytes`.
#[derive(Args, Clone, Debug)]
pub struct BytesArgs {
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Bytes of input in each call: numbers such as 16K, or `whole` for a file at once; --quick
    /// takes only the first
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1K,4K,16K,64K,whole")]
    chunk: Vec<Chunk>,
    /// Only contenders whose name and format contain one of these, and the base
    #[arg(long, value_name = "LIST", default_value = "", hide_default_value = true)]
    only: Filter,
    /// The base, with which the others are compared [default: libslz, else ISA-L 1, else zlib-rs 1]
    #[arg(long, value_name = "NAME")]
    base: Option<String>,
}

/// Measures each chunk size, with `--quick` only the first.
///
/// # Errors
/// A sentence for the user.
pub fn run(args: &BytesArgs) -> Result<(), String> {
    let mut output = args.common.open_pinned()?;
    let corpus = args.corpus.read()?;
    let mut field = Field::new(&args.only, args.base.as_deref())?;
    let chunks = if args.common.quick { &args.chunk[..1] } else { &args.chunk };
    for &chunk in chunks {
        output.add("Deflate, CPU time", field.measure(&corpus, chunk, args.common.rounds(5))?)?;
    }
    eprint!("{}", field.absent);
    output.finish()
}

/// The contenders of a run, ready to encode.
pub struct Field {
    loaded: Vec<(Entry, Loaded)>,
    base: usize,
    /// A line for each chosen contender that this build or machine lacks, with the reason.
    pub absent: String,
}

impl Field {
    /// Makes the contenders that the filter admits, and the base of comparison: the one that `base`
    /// names, or the first available one of the usual bases.
    ///
    /// # Errors
    /// A sentence, if there is no such base or it is not available.
    pub fn new(only: &Filter, base: Option<&str>) -> Result<Self, String> {
        let base = choose_base(base)?;
        let mut field = Field { loaded: vec![], base: 0, absent: String::new() };
        for entry in table() {
            let label = entry.label();
            if label != base && !only.admits(&label) {
                continue;
            }
            match (entry.make)() {
                Ok(encoder) => {
                    if label == base {
                        field.base = field.loaded.len();
                    }
                    field.loaded.push((entry, encoder));
                }
                Err(why) => _ = writeln!(field.absent, "{label}: not available: {why}"),
            }
        }
        Ok(field)
    }

    /// Checks every contender's output at this chunk size, then times all of them.
    ///
    /// # Errors
    /// The message of a contender, or that its output does not decode to its input.
    pub fn measure(
        &mut self,
        corpus: &Corpus,
        chunk: Chunk,
        rounds: usize,
    ) -> Result<Vec<Measurement>, String> {
        let (files, bytes) = (&corpus.files, corpus.bytes());
        let mut sizes = Vec::new();
        for (entry, encoder) in &mut self.loaded {
            progress(&format!("{chunk} chunks: checking {}", entry.label()));
            let size = encode_and_check(&mut **encoder, files, chunk.size());
            sizes.push(size.map_err(|e| format!("{}: {e}", entry.label()))?);
        }
        let (base, label) = (self.base, self.loaded[self.base].0.label());
        let ranges = parts(files.iter().map(Vec::len), PART);
        let longest = files.iter().map(Vec::len).max().unwrap_or(0);
        let repeats = repeats(bytes);
        // The output is filled with ones, so that its pages exist before the first turn and no turn
        // pays for the page faults.
        let out = std::cell::RefCell::new(vec![1; output_capacity(chunk.size().min(longest))]);
        let contenders = self.loaded.iter_mut().zip(&sizes).map(|((entry, encoder), &size)| {
            let measurement = row("bytes", &corpus.name, entry.name.as_str())
                .param("chunk", chunk.to_string())
                .param("format", entry.format)
                .exact("ratio", bytes as f64 / size as f64)
                .exact("ratio_by_base", sizes[base] as f64 / size as f64)
                .size("state", encoder.state_bytes())
                .size("scratch", encoder.scratch_bytes());
            let (ranges, out) = (&ranges, &out);
            let turn = move |part: usize| {
                let out = &mut *out.borrow_mut();
                let pass = |_| pass(&mut **encoder, &files[ranges[part].clone()], chunk.size(), out);
                let ((), time) = Clock::Cpu.time(|| (0..repeats).try_for_each(pass))?;
                Ok(time / repeats)
            };
            Contender::new(measurement, turn).bytes(bytes).base(base, label.as_str())
        });
        measure(contenders.collect(), Rounds::parts(rounds, ranges.len()))
    }
}

/// Compresses the files once. The output of each chunk overwrites that of the chunk before.
fn pass(encoder: &mut dyn Encoder, files: &[Vec<u8>], chunk: usize, out: &mut [u8]) -> Result<(), String> {
    for file in files {
        encoder.begin()?;
        for (piece, last) in pieces(file, chunk) {
            encoder.chunk(piece, last, out)?;
        }
    }
    std::hint::black_box(out);
    Ok(())
}

/// The label of the contender that `wanted` names, by label or by name alone. Without `wanted`, the
/// label of the first of [`BASES`] that is available.
fn choose_base(wanted: Option<&str>) -> Result<String, String> {
    let entries = table();
    let found = match wanted {
        Some(w) => {
            let is = |e: &&Entry| e.label().eq_ignore_ascii_case(w) || e.name.eq_ignore_ascii_case(w);
            entries.iter().find(is).ok_or_else(|| format!("no contender is named `{w}`"))?
        }
        None => {
            let usual = BASES.iter().filter_map(|base| entries.iter().find(|e| e.label() == *base));
            usual.into_iter().find(|e| (e.make)().is_ok()).ok_or("no base of comparison is available")?
        }
    };
    match (found.make)() {
        Ok(_) => Ok(found.label()),
        Err(why) => Err(format!("{}: not available: {why}", found.label())),
    }
}

/// Versions of the libraries in the shape "bytes" that this build and machine have, by name.
pub(crate) fn versions() -> BTreeMap<String, String> {
    let library = |name: &str| name.split(' ').next().unwrap_or_default().to_owned();
    let made =
        table().into_iter().filter_map(|entry| Some((library(&entry.name), (entry.make)().ok()?.version())));
    made.filter(|(_, version)| !version.is_empty()).collect()
}

/// Names and formats of the contenders, each with the version of its library, or with the reason if
/// this build or machine lacks it.
pub fn names() -> Vec<String> {
    let name = |entry: Entry| match (entry.make)() {
        Ok(encoder) if encoder.version().is_empty() => entry.label(),
        Ok(encoder) => format!("{:28}{}", entry.label(), encoder.version()),
        Err(why) => format!("{:28}not available: {why}", entry.label()),
    };
    table().into_iter().map(name).collect()
}
