//! The command line of `linerate rice`.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueHint};
use linerate_rice::{Filter, Options, Params};

use super::dtype::Dtype;
use super::shape::ShapeChoice;
use crate::ui::output_args;
use crate::ui::threads::ThreadArgs;
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::{exit_code, size};

const NOTES: &str = "\
Examples:
  linerate rice encode run7.npy              make run7.rice
  linerate rice decode run7.rice             make run7.npy
  linerate rice verify *.rice                checksums, without an original

Formats:
  v2, suffix .rice, describes itself: samples of 16 or 32 bits, the length of a row, and checksums.
  Each segment has a predictor, and each block of 32 samples a parameter of its own.

  v1, suffix .drc, is one chunk as HDF5 filter 32025 (Delta-Rice) stores it for the whole array:
  16-bit samples, without shape, parameters or checksum. Its parameters are the filter's cd_values,
  which `encode` prints and `decode` must be given.

Arrays:
  .npy files, or raw little-endian samples where --dtype is given. They are coded in pieces, so they
  may be larger than memory; a segment must fit.";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{NOTES}\n\n{}", exit_code::HELP))]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: RiceCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum RiceCommand {
    /// Encode arrays of samples
    ///
    /// FILE.npy becomes FILE.rice, or FILE.drc with --v1; any other FILE keeps its suffix before
    /// the new one. FILE itself is kept.
    Encode(Box<EncodeArgs>),
    /// Decode to .npy files, or to raw samples
    Decode(Box<DecodeArgs>),
    /// Print what is in encoded files, without decoding them
    Info(Box<InfoArgs>),
    /// Find the parameters that make a v1 chunk smallest
    Tune(Box<TuneArgs>),
    /// Decode and check, and compare with the original; write nothing
    Verify(Box<VerifyArgs>),
}

const ENCODE_EXAMPLES: &str = "\
Examples:
  linerate rice encode run7.npy                        make run7.rice
  linerate rice encode -p4 --verify big.npy            4 threads, each piece decoded and compared
  linerate rice encode --dtype i16 --shape -1,7000 a.raw
  daq | linerate rice encode --dtype u16 -o run8.rice  from a pipe, as long as it lasts
  linerate rice encode --v1 run7.npy                   make run7.drc, print its cd_values
  linerate rice encode --v1 --m 8 --segment 7000 a.npy  the parameters of an existing HDF5 file";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{ENCODE_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct EncodeArgs {
    #[command(flatten)]
    pub(crate) version: Version,

    #[command(flatten)]
    pub(crate) raw: RawArgs,

    /// Rice parameter of a v1 chunk: a power of two from 2 to 32768, or `auto` for the one that
    /// makes it smallest (of a pipe: its first 16 MiB), which is the default
    #[arg(long, value_name = "M", value_parser = rice_parameter, requires = "v1")]
    pub(crate) m: Option<Auto<u32>>,

    /// Samples that are coded, and can be decoded, by themselves: a number, at most 65536 in v2; with
    /// --v1 also `row`, or `all` (-1) for the whole array; or `auto` (the default) for rows, where short
    /// ones are joined and a single long one, or in v2 any, is cut
    #[arg(long, value_name = "N", default_value = "auto", value_parser = segment, allow_hyphen_values = true)]
    pub(crate) segment: Segment,

    /// Keep a v1 chunk that is larger than its samples by more than 2 %, which is otherwise refused
    #[arg(long, requires = "v1")]
    pub(crate) allow_expansion: bool,

    /// Coefficients of the filter of a v1 chunk, the first of them 1 or -1; 1,-1 if not given
    #[arg(
        long,
        value_name = "C0,C1,..",
        value_parser = filter,
        allow_hyphen_values = true,
        requires = "v1"
    )]
    pub(crate) filter: Option<Filter>,

    /// Decode each piece again and compare it with the input
    #[arg(long)]
    pub(crate) verify: bool,

    #[command(flatten)]
    pub(crate) target: TargetArgs,

    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

const DECODE_EXAMPLES: &str = "\
Examples:
  linerate rice decode run7.rice                                        make run7.npy
  linerate rice decode --raw < run7.rice | hexdump -d
  linerate rice decode --cd-values 8,7000 --shape -1,7000 run7.drc      make run7.npy
  linerate rice decode --cd-values 8,7000 --raw -o - a.drc | head -c 14K > a.raw
  linerate rice decode --m 32 --segment 8192 --dtype u16 a.drc          16-bit unsigned";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{DECODE_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct DecodeArgs {
    #[command(flatten)]
    pub(crate) chunk: ChunkArgs,

    /// Type of the samples of a v1 chunk, which does not say
    #[arg(long, value_enum, value_name = "TYPE")]
    pub(crate) dtype: Option<Dtype>,

    /// Shape of the array, of which the first axis may be -1. If it is not given, a v2 file is
    /// restored with two axes, or one if it has no rows, and a v1 chunk with one
    #[arg(long, value_name = "ROWS,SAMPLES", value_parser = ShapeChoice::parse, allow_hyphen_values = true)]
    pub(crate) shape: Option<ShapeChoice>,

    /// Write raw little-endian samples without a header
    #[arg(long)]
    pub(crate) raw: bool,

    /// Fail when the samples take more bytes than this: a number, or one with K, M or G
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) max_output: Option<u64>,

    #[command(flatten)]
    pub(crate) target: TargetArgs,

    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

const INFO_EXAMPLES: &str = "\
Examples:
  linerate rice info run7.rice                         type, shape, sizes, streams
  linerate rice info --cd-values 8,7000 run7.drc       segments, words, and whether they fit
  linerate rice info --json --cd-values 8,7000 *.drc";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{INFO_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    pub(crate) chunk: ChunkArgs,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,

    /// Files to look at; standard input if there is none, or for `-`
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
}

const TUNE_EXAMPLES: &str = "\
Examples:
  linerate rice tune run7.npy                          a table of sizes, and what to give h5repack
  linerate rice tune --json --segment 1000 run7.npy
  linerate rice tune --dtype i16 --shape -1,7000 a.raw";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{TUNE_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    pub(crate) raw: RawArgs,

    /// Samples per independently coded waveform: a number, `row`, `all` (-1) for the whole array, or
    /// `auto` for rows, where short ones are joined and a single long one is cut
    #[arg(long, value_name = "N", default_value = "auto", value_parser = segment, allow_hyphen_values = true)]
    pub(crate) segment: Segment,

    /// The filter that the table is for
    #[arg(long, value_name = "C0,C1,..", default_value = "1,-1", value_parser = filter, allow_hyphen_values = true)]
    pub(crate) filter: Filter,

    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

const VERIFY_EXAMPLES: &str = "\
Examples:
  linerate rice verify *.rice                          checksums, without an original
  linerate rice verify --against run7.npy run7.rice
  linerate rice verify --cd-values 8,7000 --against run7.npy run7.drc
  linerate rice verify --cd-values 8,7000 *.drc        lengths and codes, without an original";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{VERIFY_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) chunk: ChunkArgs,

    /// Compare with this array
    #[arg(long, value_name = "ARRAY", value_hint = ValueHint::FilePath)]
    pub(crate) against: Option<PathBuf>,

    /// ARRAY is raw: the type of its samples
    #[arg(long, value_enum, value_name = "TYPE", requires = "against")]
    pub(crate) dtype: Option<Dtype>,

    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

/// Which format to write.
#[derive(clap::Args, Debug)]
pub(crate) struct Version {
    /// Write one chunk of HDF5 filter 32025, suffix .drc
    #[arg(long, overrides_with = "v2")]
    pub(crate) v1: bool,

    /// Write a self-describing file, suffix .rice (the default)
    #[arg(long, overrides_with = "v1")]
    pub(crate) v2: bool,
}

/// How to read an array.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct RawArgs {
    /// The input is raw little-endian samples of this type
    #[arg(long, value_enum, value_name = "TYPE")]
    pub(crate) dtype: Option<Dtype>,

    /// Shape of the raw array, of which the first axis may be -1; one axis if this is not given
    #[arg(
        long,
        value_name = "ROWS,SAMPLES",
        value_parser = ShapeChoice::parse,
        allow_hyphen_values = true,
        requires = "dtype"
    )]
    pub(crate) shape: Option<ShapeChoice>,
}

/// What a v1 chunk does not say about itself.
#[derive(clap::Args, Debug)]
pub(crate) struct ChunkArgs {
    /// The input is one chunk of HDF5 filter 32025; the options below imply it
    #[arg(long)]
    pub(crate) v1: bool,

    /// Parameters of the chunk, as HDF5 has them: m, segment, number of coefficients, coefficients;
    /// each with those after it may be left out
    #[arg(
        long,
        value_name = "M,SEGMENT,..",
        value_parser = cd_values,
        allow_hyphen_values = true,
        conflicts_with_all = ["m", "segment", "filter"]
    )]
    pub(crate) cd_values: Option<Params>,

    /// Rice parameter of the chunk, 8 if not given
    #[arg(long, value_name = "M", value_parser = known_rice_parameter)]
    pub(crate) m: Option<u32>,

    /// Samples per segment of the chunk, `all` (-1) if not given
    #[arg(long, value_name = "N", value_parser = known_segment, allow_hyphen_values = true)]
    pub(crate) segment: Option<Segment>,

    /// Coefficients of the filter of the chunk, 1,-1 if not given
    #[arg(long, value_name = "C0,C1,..", value_parser = filter, allow_hyphen_values = true)]
    pub(crate) filter: Option<Filter>,
}

/// Where output goes.
#[derive(clap::Args, Debug)]
pub(crate) struct TargetArgs {
    #[arg(short = 'o', long, value_name = "FILE", help = output_args::STREAM, value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    #[arg(short = 'f', long, help = output_args::FORCE)]
    pub(crate) force: bool,
}

/// How to work, and on what.
#[derive(clap::Args, Debug)]
pub(crate) struct WorkArgs {
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,

    /// Files to work on; standard input if there is none, or for `-`
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
}

impl WorkArgs {
    pub(crate) fn exec(&self) -> Options {
        Options::new().threads(self.threads.threads)
    }
}

/// A value, or what the data makes best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Auto<T> {
    Auto,
    Given(T),
}

/// Samples that are coded together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// What the shape suggests.
    Auto,
    /// The last axis; all of an array of one axis.
    Row,
    All,
    Given(NonZeroU32),
}

impl ChunkArgs {
    /// The parameters, if the input is said to be a v1 chunk.
    pub(crate) fn params(&self) -> Option<Params> {
        if let Some(params) = self.cd_values {
            return Some(params);
        }
        if !self.v1 && self.m.is_none() && self.segment.is_none() && self.filter.is_none() {
            return None;
        }
        let segment = match self.segment {
            Some(Segment::Given(n)) => Some(n),
            _ => None,
        };
        // The parser has let only valid m through.
        let params = Params::new(self.m.unwrap_or(8), segment).unwrap_or_default();
        Some(params.with_filter(self.filter.unwrap_or(Filter::DELTA)))
    }
}

impl TargetArgs {
    /// Whether standard output is where an operand's output goes.
    pub(crate) fn is_stdout(&self, operand_is_stdin: bool) -> bool {
        match &self.output {
            Some(path) => path == Path::new("-"),
            None => operand_is_stdin,
        }
    }
}

fn rice_parameter(text: &str) -> Result<Auto<u32>, String> {
    match text {
        "auto" => Ok(Auto::Auto),
        _ => match known_rice_parameter(text)? {
            1 => Err("m = 1 can only be decoded".into()),
            m => Ok(Auto::Given(m)),
        },
    }
}

fn known_rice_parameter(text: &str) -> Result<u32, String> {
    let m = text.parse().map_err(|_| "not a number")?;
    Params::new(m, None).map(|params| params.m()).map_err(|e| e.message.to_owned())
}

fn segment(text: &str) -> Result<Segment, String> {
    match text {
        "auto" => Ok(Segment::Auto),
        "row" => Ok(Segment::Row),
        "all" | "-1" => Ok(Segment::All),
        // HDF5 keeps it as a signed number.
        _ => match text.parse::<i32>().ok().and_then(|n| NonZeroU32::new(u32::try_from(n).ok()?)) {
            Some(n) => Ok(Segment::Given(n)),
            None => Err(format!("not `auto`, `row`, `all` or a number from 1 to {}", i32::MAX)),
        },
    }
}

fn known_segment(text: &str) -> Result<Segment, String> {
    match segment(text)? {
        Segment::Auto | Segment::Row => Err("the chunk does not tell its segment: give the number".into()),
        known => Ok(known),
    }
}

/// Numbers with commas between them.
fn numbers(text: &str) -> Result<Vec<i64>, String> {
    text.split(',').map(|n| n.trim().parse().map_err(|_| format!("`{}` is not a number", n.trim()))).collect()
}

fn filter(text: &str) -> Result<Filter, String> {
    let taps: Result<Vec<i32>, _> = numbers(text)?.into_iter().map(i32::try_from).collect();
    let taps = taps.map_err(|_| "a coefficient does not fit into 32 bits")?;
    Filter::new(&taps).map_err(|e| e.message.to_owned())
}

fn cd_values(text: &str) -> Result<Params, String> {
    // Negative numbers may be given as they are, or as HDF5 shows them.
    let word = |n: i64| u32::try_from(n).ok().or(i32::try_from(n).ok().map(|n| n as u32));
    // None at all is a form too.
    let numbers = if text.is_empty() { Vec::new() } else { numbers(text)? };
    let values: Option<Vec<u32>> = numbers.into_iter().map(word).collect();
    let values = values.ok_or("a value does not fit into 32 bits")?;
    Params::from_cd_values(&values).map_err(|e| e.message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read() {
        assert_eq!(rice_parameter("auto"), Ok(Auto::Auto));
        assert_eq!(rice_parameter("32"), Ok(Auto::Given(32)));
        for bad in ["1", "0", "12", "65536", "", "x"] {
            assert!(rice_parameter(bad).is_err(), "{bad}");
        }
        assert_eq!(segment("-1"), Ok(Segment::All));
        assert_eq!(segment("7000"), Ok(Segment::Given(NonZeroU32::new(7000).unwrap())));
        for bad in ["0", "-2", "2147483648", "rows"] {
            assert!(segment(bad).is_err(), "{bad}");
        }
        assert!(known_segment("row").is_err() && known_segment("auto").is_err());
        assert_eq!(filter("1, -2,1").unwrap().taps(), [1, -2, 1]);
        for bad in ["", "0,1", "1,,1", "1,4294967295"] {
            assert!(filter(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn cd_values_may_be_signed_or_not() {
        let params = cd_values("8,-1,2,1,-1").unwrap();
        assert_eq!(cd_values("8,4294967295,2,1,4294967295"), Ok(params));
        assert_eq!(cd_values("8"), Ok(params));
        assert_eq!(cd_values(""), Ok(params));
        for bad in ["12", ",", "8,0", "8,5,2,1", "4294967296", "-2147483649"] {
            assert!(cd_values(bad).is_err(), "{bad}");
        }
    }
}
