//! The shape "plan": how well plans predict. It plans folders and files, runs the winner's command
//! and two others on all of the data, and compares.
//!
//! Use a quiet machine, and data of 1 GB. A real speed is that of the printed command, or of the
//! command that decodes and checks its output, including the start of the program and file access.
//! It is the best of some rounds; a command that takes longer than 5 s has one round. One thread
//! counts in CPU time, as in the plan, several in elapsed time. Beside the winner, the smallest
//! candidate and the fastest one to decode run, among those whose command is predicted to take no
//! longer than `--max-encode`.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use linerate_candidates::arrays::Container;
use linerate_candidates::{self as candidates, Measured, Options, Shape, messages, sst};
use linerate_plan::{Budget, Curve, Goal, Pipe, Row, Speed, plan};

use crate::harness::{self, Common, message, process, progress, rounded};
use crate::kernel::os::children_time;
use crate::records::{Figure, Measurement};

/// A command that takes longer has one round, because noise is a small part of its time.
const LONG: Duration = Duration::from_secs(5);

/// Options of the shape.
#[derive(Args, Clone, Debug)]
pub struct PlanArgs {
    /// The program to run [default: `linerate` beside this one]
    #[arg(long, value_name = "PROGRAM")]
    linerate: Option<PathBuf>,
    /// Seconds of each plan
    #[arg(long, default_value_t = 20.0)]
    seconds: f64,
    /// The pipe of the plan
    #[arg(long, default_value = "nvme-4.0")]
    pipe: String,
    /// Most seconds that a command may be predicted to take
    #[arg(long, default_value_t = 60.0)]
    max_encode: f64,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Folders (for archives) and files (arrays, JSON lines, messages, SST files, bytes), or names
    /// below $LINERATE_CORPORA [default: generated rows]
    #[arg(value_name = "PATH")]
    corpora: Vec<PathBuf>,
}

/// Plans each corpus and compares.
///
/// # Errors
/// A sentence for the user.
pub fn run(args: &PlanArgs) -> Result<(), String> {
    let mut output = args.common.open(&[])?;
    let program = args.linerate.clone().map_or_else(process::linerate, Ok)?;
    let program = program.canonicalize().map_err(|e| format!("{}: {e}", program.display()))?;
    let generated = tempfile::tempdir().map_err(message)?;
    let mut corpora = args.corpora.clone();
    if corpora.is_empty() {
        // Not .json: for JSON lines the plan's commands make dictionaries, which are not compared.
        let rows = generated.path().join("rows.log");
        let data =
            harness::corpus::Corpus::rows(if args.common.quick { 8 << 20 } else { 256 << 20 }).files.concat();
        fs::write(&rows, data).map_err(message)?;
        corpora.push(rows);
    }
    for corpus in &corpora {
        output.add("Predictions of plans, and what their commands do", check(args, &program, corpus)?)?;
    }
    output.finish()
}

/// Plans one corpus and runs three candidates.
fn check(args: &PlanArgs, program: &Path, corpus: &Path) -> Result<Vec<Measurement>, String> {
    let found = harness::corpus::resolve(corpus);
    let found = found.canonicalize().map_err(|e| format!("{}: {e}", found.display()))?;
    let folder = tempfile::tempdir().map_err(message)?;
    let (shape, data) = match found.is_dir() {
        true => (Shape::Files, found.clone()),
        // Commands write their output beside the input.
        false => {
            let copy = folder.path().join(found.file_name().unwrap_or_default());
            fs::copy(&found, &copy).map_err(|e| format!("{}: {e}", found.display()))?;
            (shape_of(&copy)?, copy)
        }
    };
    let seconds = if args.common.quick { args.seconds.min(2.0) } else { args.seconds };
    let options = Options { seconds, ..Options::default() };
    let begun = Instant::now();
    let measured = candidates::measure(shape, std::slice::from_ref(&data), &options, &progress)?;
    let planned = begun.elapsed().as_secs_f64();
    let pipe = Pipe::parse(&args.pipe).map_err(message)?;
    let budget =
        Budget { cores: options.threads, memory_per_stream: None, min_ratio: None, goal: Goal::default() };
    let plan = plan(&measured.measurements, &pipe, &budget);
    let run = Run { program, folder: folder.path(), threads: options.threads, rounds: args.common.rounds(3) };
    let name = found.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // The record must not contain paths of this machine.
    let named = |words: &[String]| {
        let words = words.join(" ").replace(&data.display().to_string(), &name);
        words.replace(&format!("{}/", folder.path().display()), "")
    };
    let mut rows = Vec::new();
    for (row, why) in chosen(&plan.rows, plan.winner, |row| encode_seconds(row) <= args.max_encode) {
        for (what, threads, predicted, real) in run.candidate(row, &measured)? {
            let blank = harness::row("plan-accuracy", &name, row.measurement.settings.as_str())
                .param("measure", what)
                .param("why", why)
                .param("bytes", measured.bytes)
                .param("sampled", measured.sampled)
                .param("command", row.measurement.command.as_deref().map_or_else(String::new, named))
                .exact("planned", planned)
                .exact("error", predicted.median / real - 1.0);
            let (metric, blank) = match what {
                "ratio" => ("ratio", blank),
                _ => ("speed", blank.param("threads", threads)),
            };
            let mut row = blank.exact(metric, real);
            row.metrics.insert(format!("predicted_{metric}"), predicted);
            rows.push(row);
        }
    }
    if rows.is_empty() {
        eprintln!("{name}: no candidate has a command that can be compared");
    }
    Ok(rows)
}

/// The shape of a file, found by its content, for JSON lines by its extension.
fn shape_of(path: &Path) -> Result<Shape, String> {
    let at = |e: std::io::Error| format!("{}: {e}", path.display());
    let mut head = Vec::new();
    let mut file = fs::File::open(path).map_err(at)?;
    let length = file.metadata().map_err(at)?.len();
    (&mut file).take(64 << 10).read_to_end(&mut head).map_err(at)?;
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(length.saturating_sub(8))).map_err(at)?;
    file.read_to_end(&mut tail).map_err(at)?;
    Ok(match path.extension() {
        _ if Container::recognise(&head).is_some() => Shape::Waveforms,
        _ if sst::recognise(&tail) => Shape::Sst,
        _ if messages::recognise(&head, length) => Shape::Messages,
        Some(end) if end == "json" => Shape::Records,
        _ => Shape::Bytes,
    })
}

/// Seconds that the command is predicted to take.
fn encode_seconds(row: &Row) -> f64 {
    let last = row.measurement.encode_scaling.last().map(|point| point.speed.median);
    last.map_or(0.0, |speed| row.measurement.content as f64 / speed)
}

/// Picks the winner, or the candidate that delivers most if the plan stores the data uncompressed;
/// the smallest one; and among those that compress, the fastest to decode.
fn chosen(rows: &[Row], winner: Option<usize>, is_quick: impl Fn(&Row) -> bool) -> Vec<(&Row, &'static str)> {
    let usable = || rows.iter().filter(|row| row.measurement.command.is_some() && is_quick(row));
    let decode = |row: &Row| row.measurement.decode.map_or(0.0, |speed| speed.median);
    let smallest = usable().max_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let compressing = || usable().filter(|row| row.ratio > 1.05);
    let fastest = compressing().max_by(|a, b| decode(a).total_cmp(&decode(b)));
    let best = || compressing().max_by(|a, b| a.delivered.median.total_cmp(&b.delivered.median));
    let winner = winner
        .map(|i| &rows[i])
        .filter(|row| row.measurement.command.is_some() && is_quick(row))
        .or_else(best);
    let mut chosen: Vec<(&Row, &'static str)> = Vec::new();
    for (row, why) in [(winner, "winner"), (smallest, "smallest"), (fastest, "fastest")] {
        if let Some(row) = row.filter(|row| chosen.iter().all(|(other, _)| *other != *row)) {
            chosen.push((row, why));
        }
    }
    chosen
}

/// Runs commands in a folder.
struct Run<'r> {
    program: &'r Path,
    folder: &'r Path,
    threads: usize,
    rounds: usize,
}

/// The figure's name, its number of threads, its prediction, and its measured value.
type Compared = (&'static str, usize, Figure, f64);

/// Properties of an engine's command.
struct Runs {
    /// Whether the command does to all of the data what the plan predicts.
    is_for_all: bool,
    /// Number of threads that it uses.
    encode_threads: usize,
    /// The subcommand that decodes the output and checks it. Empty if there is none.
    check: &'static [&'static str],
    /// Numbers of threads to run that subcommand with, passed as `-p` if there are several.
    decode_threads: Vec<usize>,
}

impl Runs {
    fn of(command: &[&str], threads: usize) -> Runs {
        let all =
            |check, decode_threads| Runs { is_for_all: true, encode_threads: threads, check, decode_threads };
        let one = |check| Runs { encode_threads: 1, ..all(check, vec![1]) };
        match command {
            ["nx", ..] => all(&["nx", "verify", "-q"], vec![1, threads]),
            // A chunk of version 1 does not contain its parameters, so no command can decode it.
            ["rice", "encode", "--v1", ..] => all(&[], Vec::new()),
            ["rice", ..] => all(&["rice", "verify", "-q"], vec![1, threads]),
            ["gateway", ..] => one(&["gateway", "replay", "-q"]),
            ["dict", "build", ..] => one(&["dict", "verify", "-q"]),
            ["dict", "sst", ..] => one(&["dict", "sst", "verify", "-q"]),
            ["dict", ..] => Runs { is_for_all: false, ..all(&[], Vec::new()) },
            _ => all(&["gzip", "-t", "-q"], vec![1, threads]),
        }
    }
}

impl Run<'_> {
    fn candidate(&self, row: &Row, measured: &Measured) -> Result<Vec<Compared>, String> {
        let measurement = &row.measurement;
        let command = measurement.command.as_ref().ok_or("a candidate without a command")?;
        let before = self.outputs()?;
        let words: Vec<&str> = command[1..].iter().map(String::as_str).collect();
        let runs = Runs::of(&words, self.threads);
        let made = || -> Result<Vec<PathBuf>, String> {
            Ok(self.outputs()?.into_iter().filter(|path| !before.contains(path)).collect())
        };
        let encode = self.best(&words, runs.encode_threads, || remove(&made()?))?;
        let made = made()?;
        let content = measured.bytes as f64;
        let mb = |seconds: Duration| content / 1e6 / seconds.as_secs_f64();
        let curves = [
            Curve::new(measurement.encode, &measurement.encode_scaling),
            Curve::new(measurement.decode, &measurement.decode_scaling),
        ];
        let predicted = |speed: Speed| Figure {
            median: rounded(speed.median / 1e6),
            low: Some(rounded(speed.low / 1e6)),
            high: Some(rounded(speed.high / 1e6)),
        };
        let [encoding, decoding] = curves
            .map(|curve| move |threads: usize| curve.as_ref().map(|curve| predicted(curve.on(threads))));
        let output = match made.as_slice() {
            [output] => output.clone(),
            // A command that only checks its input writes nothing.
            [] => PathBuf::from(&command[command.len() - 1]),
            _ => return Err(format!("{command:?} made {made:?}")),
        };
        let mut figures = Vec::new();
        if !made.is_empty() && runs.is_for_all {
            let size = fs::metadata(&output).map_err(message)?.len();
            figures.push(("ratio", 0, rounded(measurement.ratio()).into(), content / size as f64));
            if let Some(predicted) = encoding(runs.encode_threads) {
                figures.push(("encode", runs.encode_threads, predicted, mb(encode)));
            }
        }
        let file = output.display().to_string();
        for &threads in &runs.decode_threads {
            let Some(predicted) = decoding(threads) else { continue };
            let count = threads.to_string();
            let with_threads: &[&str] = if runs.decode_threads.len() > 1 { &["-p", &count] } else { &[] };
            let words = [runs.check, with_threads, &[&*file]].concat();
            let best = self.best(&words, threads, || Ok(()))?;
            figures.push(("decode", threads, predicted, mb(best)));
        }
        remove(&made)?;
        Ok(figures)
    }

    /// The best time of all rounds. `again` prepares every round after the first.
    fn best(
        &self,
        args: &[&str],
        threads: usize,
        again: impl Fn() -> Result<(), String>,
    ) -> Result<Duration, String> {
        let mut best = self.time(args, threads)?;
        for _ in 1..self.rounds {
            if best > LONG {
                break;
            }
            again()?;
            best = best.min(self.time(args, threads)?);
        }
        Ok(best)
    }

    fn outputs(&self) -> Result<Vec<PathBuf>, String> {
        let entries = fs::read_dir(self.folder).map_err(message)?;
        entries.map(|entry| entry.map(|entry| entry.path()).map_err(message)).collect()
    }

    /// CPU time of the command if it uses one thread, otherwise the elapsed time.
    fn time(&self, args: &[&str], threads: usize) -> Result<Duration, String> {
        let mut command = Command::new(self.program);
        command.args(args).current_dir(self.folder).stdout(Stdio::null()).stderr(Stdio::null());
        let (begun, used) = (Instant::now(), children_time());
        let status = command.status().map_err(|e| format!("{}: {e}", self.program.display()))?;
        match status.code() {
            // Status 5: files whose names no archive can hold were left out, as in the plan.
            Some(0 | 5) => Ok(match (children_time(), used) {
                (Some(now), Some(before)) if threads == 1 => now - before,
                _ => begun.elapsed(),
            }),
            _ => Err(format!("{args:?}: {status}")),
        }
    }
}

fn remove(files: &[PathBuf]) -> Result<(), String> {
    files.iter().try_for_each(|path| fs::remove_file(path).map_err(message))
}
