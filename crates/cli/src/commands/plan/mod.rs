//! `linerate plan`: measures candidates on the user's data, and names the one that is best for a
//! drive or network.

mod choose;
mod decode;
mod folder;
mod load;
pub(crate) mod page;
mod recognise;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ValueEnum, ValueHint};
use linerate_candidates::{Measured, Shape};
use linerate_plan::pipe::DRIVE;
use linerate_plan::units::time;
use linerate_plan::{Budget, Direction, Goal, Pipe, Plan};

pub(crate) use self::choose::choose;
use self::page::Page;
use self::recognise::recognise;
use crate::ui::error::CliError;
use crate::ui::reporter::Reporter;
use crate::ui::size;
use crate::ui::summary::RunSummary;
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::{exit_code, inputs};

const NOTES: &str = "\
Examples:
  linerate plan mods                         settings that suit this folder and the drive that it is on
  linerate plan --pipe 1GbE --direction write --cores 4 access.log
  linerate plan --pipe 120MB/s --min-ratio 3 run7.npy
  linerate plan --seconds 60 --report plan.html --json mods

Pipes:
  A pipe is drive (the one that DATA is on, measured for a second), sata, nvme-3.0, nvme-4.0, nvme-5.0,
  1GbE, 10GbE, 25GbE, 100GbE, or a rate such as 2.5GB/s or 800Mbit/s. It carries compressed data: with a
  ratio of 2 it delivers twice its rate, if decoding keeps up.

Shapes:
  files      a folder, or several files: Nx archives by level, block size and preset
  bytes      a file of unknown structure: gzip and zstd by level, BGZF, Nx archives
  text       text that is sent in pieces: gzip and zstd by level, gzip by call size, with many streams
  waveforms  .npy, .wav and HDF5 files: Delta-Rice, and what bytes has
  records    JSON lines: blocks with dictionaries, and what bytes has
  messages   recordings of gateways
  sst        RocksDB's SST files

A sample of the data is measured on this machine for about --seconds. Nothing is kept except the report.
The cost of writing is measured with files that have no names, one of at most 32 MiB. The drive of small
files, and writing to the drive, are measured with one of at most 64 MiB.";

/// The pipe that the plan is made for if the drive cannot be measured.
const ASSUMED: &str = "nvme-4.0";

/// Share of the time to code all of the data from which the plan remarks how long the command takes
/// to start.
const LONG_START: f64 = 0.05;

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{NOTES}\n\n{}", exit_code::HELP))]
pub(crate) struct Args {
    /// Drive or network that carries the compressed data: a name, or a rate such as 2.5GB/s
    #[arg(long, value_name = "PIPE", default_value = DRIVE, value_parser = parse_pipe_or_drive)]
    pipe: PipeArg,

    /// What to choose for: content per second, size, or the product of speed and ratio
    #[arg(long, value_enum, value_name = "GOAL", default_value = "balance")]
    goal: GoalName,

    /// Direction in which the pipe is used
    #[arg(long, value_enum, value_name = "DIRECTION", default_value = "read")]
    direction: DirectionName,

    /// Number of cores that may encode or decode; 0 means all cores of this machine
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = parse_cores)]
    cores: usize,

    /// Maximum memory of an open stream or archive
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    memory_per_stream: Option<u64>,

    /// Minimum ratio of content size to compressed size, such as 2.5
    #[arg(long, value_name = "RATIO", value_parser = parse_positive)]
    min_ratio: Option<f64>,

    /// Approximate duration of the whole plan
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0, value_parser = parse_seconds)]
    seconds: f64,

    /// Kind of the data, see below [default: recognised by the content]
    #[arg(long, value_name = "SHAPE", value_parser = shape_parser())]
    shape: Option<Shape>,

    /// Also write the plan to this file as a self-contained HTML page; an existing file is replaced
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    report: Option<PathBuf>,

    #[command(flatten)]
    verbosity: VerbosityArgs,

    /// Files and folders to measure
    #[arg(required = true, value_name = "DATA", value_hint = ValueHint::AnyPath)]
    data: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DirectionName {
    /// Decoding has to keep up
    Read,
    /// Encoding has to keep up
    Write,
    /// Both have to keep up, one at a time
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum GoalName {
    /// The most content per second through the pipe
    Speed,
    /// The smallest size
    Size,
    /// The largest product of speed and ratio: half the size is worth as much as twice the speed
    Balance,
}

/// The drive, whose rate is to be measured, or a pipe that the user named.
#[derive(Clone, Debug)]
enum PipeArg {
    Drive,
    Given(Pipe),
}

/// Returns a parser of the name of a shape, such as `files`.
fn shape_parser() -> impl TypedValueParser<Value = Shape> {
    let of_name = |name: String| Shape::ALL.into_iter().find(|shape| shape.name() == name);
    PossibleValuesParser::new(Shape::ALL.map(Shape::name))
        .try_map(move |name| of_name(name).ok_or("not a shape"))
}

pub(crate) fn parse_pipe(text: &str) -> Result<Pipe, String> {
    Pipe::parse(text).map_err(|e| e.to_string())
}

fn parse_pipe_or_drive(text: &str) -> Result<PipeArg, String> {
    match text {
        DRIVE => Ok(PipeArg::Drive),
        _ => parse_pipe(text).map(PipeArg::Given),
    }
}

/// Parses a number of seconds, of at most a day, so that no arithmetic of durations overflows.
pub(crate) fn parse_seconds(text: &str) -> Result<f64, String> {
    const MAX: f64 = 86_400.0;
    match parse_positive(text)? {
        seconds if seconds <= MAX => Ok(seconds),
        _ => Err(format!("`{text}` is above {MAX} seconds, a day")),
    }
}

fn parse_positive(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    match number.is_finite() && number > 0.0 {
        true => Ok(number),
        false => Err(format!("`{text}` is not above zero")),
    }
}

/// Parses a number of cores, at most 4096. 0 means all cores.
pub(crate) fn parse_cores(text: &str) -> Result<usize, String> {
    const MAX: usize = 4096;
    text.parse().ok().filter(|n| *n <= MAX).ok_or_else(|| format!("`{text}` is not a number from 0 to {MAX}"))
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let first = args.data.first().map_or(Path::new("."), PathBuf::as_path);
    Reporter::new(&args.verbosity, false).one(first, |reporter| process(args, first, reporter))
}

fn process(args: &Args, first: &Path, reporter: &mut Reporter) -> Result<RunSummary, CliError> {
    let started = linerate_candidates::cpu_time().as_secs_f64();
    let mut summary = RunSummary::new(first, "plan");
    recognise::check(&args.data)?;
    let (shape, mut notes) = match args.shape {
        Some(shape) => (shape, Vec::new()),
        None => recognise(&args.data)?,
    };
    args.data.iter().for_each(|path| inputs::keep(path));
    let page = args.report.as_deref().map(Page::create).transpose()?;
    let direction = match args.direction {
        DirectionName::Read => Direction::Read,
        DirectionName::Write => Direction::Write,
        DirectionName::Both => Direction::Both,
    };
    let pipe = match &args.pipe {
        PipeArg::Given(pipe) => Pipe { direction, ..pipe.clone() },
        PipeArg::Drive => drive(shape, &args.data, direction, args.seconds, &mut notes)?,
    };
    let goal = match args.goal {
        GoalName::Speed => Goal::Speed,
        GoalName::Size => Goal::Size,
        GoalName::Balance => Goal::Balance,
    };
    let Args { cores, memory_per_stream, min_ratio, .. } = *args;
    let budget = Budget { cores, memory_per_stream, min_ratio, goal };
    let (measured, mut plan) = choose(shape, &args.data, pipe, budget, args.seconds, reporter)?;
    // The commands start as this one did.
    plan.rows.iter_mut().for_each(|row| row.measurement.start += started);
    let notes: Vec<String> = notes
        .into_iter()
        .chain(measured.notes.iter().cloned())
        .chain(plan.notes())
        .chain(parameters(&plan))
        .chain(short_run(&plan, measured.bytes))
        .chain(writing(&plan, measured.writing))
        .collect();
    summary.lines = table::lines(&plan, &notes, args.verbosity.verbose);
    set_keys(&mut summary, shape, &measured, &plan, &notes);
    summary.bytes = measured.bytes;
    summary.text = Some(format!("{}, {} candidates", shape.name(), measured.measurements.len()));
    summary.output = page.map(|page| page.write(&plan, first, &measured)).transpose()?;
    Ok(summary)
}

/// Measures the rate of the drive: of reading the data, of writing to the folder of the output, or
/// the lower of both. If that fails, assumes the rate of `ASSUMED`, and adds a note.
fn drive(
    shape: Shape,
    data: &[PathBuf],
    direction: Direction,
    seconds: f64,
    notes: &mut Vec<String>,
) -> Result<Pipe, CliError> {
    let output = linerate_candidates::output_folder(shape, data);
    match linerate_candidates::drive::rate(data, &output, direction, seconds) {
        Ok(rate) => Ok(Pipe { name: DRIVE.into(), rate, direction }),
        Err(why) => {
            notes.push(format!(
                "The drive was not measured ({why}): {ASSUMED} is assumed; --pipe says what it is."
            ));
            let assumed = Pipe::parse(ASSUMED).map_err(|e| CliError::Refused(e.to_string()))?;
            Ok(Pipe { direction, ..assumed })
        }
    }
}

/// Returns a remark if the command makes several chunks of Delta-Rice 1, each of which is decoded
/// with its own parameters.
fn parameters(plan: &Plan) -> Option<String> {
    let is_of_chunks = plan.command()?.starts_with("linerate rice encode --v1");
    (is_of_chunks && plan.decode_command().is_none()).then(|| {
        "Keep the cd_values that the command prints: a chunk of Delta-Rice 1 does not contain them, and \
         `linerate rice decode --cd-values` needs them."
            .into()
    })
}

/// Returns a remark if the winner codes all of the data (`bytes` bytes) in so little time that the
/// time to start the command matters.
fn short_run(plan: &Plan, bytes: u64) -> Option<String> {
    let winner = plan.winner()?;
    let (seconds, start) = (bytes as f64 / winner.speed?.median, winner.measurement.start);
    (start >= seconds * LONG_START).then(|| {
        format!(
            "All of the data takes {} at this speed. The command takes {} more to start and to use its \
             memory for the first time.",
            time(seconds),
            time(start)
        )
    })
}

/// Returns a remark about the cost of writing decoded content to files, which is not part of the
/// measured speeds. `seconds` is the CPU time to write a byte; 0 if unknown. `None` if nothing is
/// decoded.
fn writing(plan: &Plan, seconds: f64) -> Option<String> {
    let decodes = plan.pipe.direction != Direction::Write && plan.command().is_some();
    (decodes && seconds > 0.0).then(|| {
        format!(
            "Decoding was measured into memory. Writing the content to files here takes {} more of one \
             core per GB.",
            time(seconds * 1e9)
        )
    })
}

/// Adds the keys of a plan to the JSON result, which has some keys for every command.
fn set_keys(summary: &mut RunSummary, shape: Shape, measured: &Measured, plan: &Plan, notes: &[String]) {
    summary.set("shape", shape.name());
    summary.set("bytes", measured.bytes);
    summary.set("sampled", measured.sampled);
    if let serde_json::Value::Object(keys) = plan.to_json() {
        keys.into_iter().for_each(|(key, value)| summary.set(&key, value));
    }
    summary.set("notes", notes.to_vec());
}
