//! The shape "plan": measures how well plans predict. It runs `linerate plan` twice on a copy of
//! each folder or file, and the winner's command and up to two others on all of the data. Their
//! sizes and speeds are compared with the first plan. The second plan, with the rate of the pipe that
//! the first one measured, shows whether its command is the same.
//!
//! Use a quiet machine, and data of 200 MB to 2 GB. A real speed is that of the printed command, or
//! of the command that decodes and checks its output, including the start of the program and file
//! access. It is the median of up to nine rounds; no other round begins after 5 s. The drive has the
//! outputs of earlier commands by then, so that the system does not write them meanwhile. A command
//! with one thread is measured in CPU time, as in the plan, or in elapsed time where the system does
//! not report the CPU time of a command; one with several threads in elapsed time. A predicted speed
//! includes the start that the plan states.
//!
//! Beside the winner, the smallest candidate runs, and the one that decodes fastest of those that
//! compress, among the candidates whose command is predicted to take no longer than `--max-encode`.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use linerate_candidates::stats;
use linerate_plan::{Curve, Measurement as Candidate, Scaling, Speed};
use serde_json::Value;

use crate::harness::{self, Common, message, process, rounded};
use crate::kernel::os::children_time;
use crate::records::{Figure, Measurement};

/// Largest number of rounds of a command.
const ROUNDS: usize = 9;
/// Time of all rounds of a command after which there is no other.
const ENOUGH: Duration = Duration::from_secs(5);

/// Options of `linerate-bench plan`.
#[derive(Args, Clone, Debug)]
pub struct PlanArgs {
    /// The program to run [default: `linerate` beside this one]
    #[arg(long, value_name = "PROGRAM")]
    linerate: Option<PathBuf>,
    /// Seconds that each plan may take, with --quick at most 2
    #[arg(long, default_value_t = 20.0)]
    seconds: f64,
    /// The pipe of the plan
    #[arg(long, default_value = "drive")]
    pipe: String,
    /// Maximum predicted seconds of a command; slower ones are not run, except the plan's own
    #[arg(long, default_value_t = 60.0)]
    max_encode: f64,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Folders and files, or names below $LINERATE_CORPORA [default: generated rows]
    #[arg(value_name = "PATH")]
    corpora: Vec<PathBuf>,
}

/// Plans each corpus, runs the commands, and records the predictions and the real figures.
///
/// # Errors
/// Returns a sentence for the user if a corpus cannot be read or copied, there is no plan, or a
/// command fails.
pub fn run(args: &PlanArgs) -> Result<(), String> {
    let mut output = args.common.open(&[])?;
    let program = args.linerate.clone().map_or_else(process::linerate, Ok)?;
    let program = program.canonicalize().map_err(|e| format!("{}: {e}", program.display()))?;
    let generated = tempfile::tempdir().map_err(message)?;
    let mut corpora = args.corpora.clone();
    if corpora.is_empty() {
        let rows = generated.path().join("rows.log");
        let data =
            harness::corpus::Corpus::rows(if args.common.quick { 8 << 20 } else { 256 << 20 }).files.concat();
        fs::write(&rows, data).map_err(message)?;
        corpora.push(rows);
    }
    // Outputs are deleted at the end, since ext4 without a journal creates files slowly for a minute
    // after others were deleted.
    let outputs = tempfile::tempdir().map_err(message)?;
    for corpus in &corpora {
        let rows = check(args, &program, corpus, outputs.path())?;
        output.add("Predictions of plans, and what their commands do", rows)?;
    }
    output.finish()
}

/// Plans one corpus twice, runs up to three candidates, and returns a row for each real figure. The
/// copy of the corpus and all output stay in `folder`.
fn check(args: &PlanArgs, program: &Path, corpus: &Path, folder: &Path) -> Result<Vec<Measurement>, String> {
    let found = harness::corpus::resolve(corpus);
    let found = found.canonicalize().map_err(|e| format!("{}: {e}", found.display()))?;
    let name = found.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // Commands write their output beside the input, so the input is copied.
    let inputs = tempfile::Builder::new().disable_cleanup(true).tempdir_in(folder).map_err(message)?;
    let old = tempfile::Builder::new().disable_cleanup(true).tempdir_in(folder).map_err(message)?;
    copy(&found, &inputs.path().join(&name)).map_err(|e| format!("{}: {e}", found.display()))?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let rounds = args.common.rounds(ROUNDS);
    let run = Run { program, folder: inputs.path(), old: old.path(), threads, rounds };
    let seconds = if args.common.quick { args.seconds.min(2.0) } else { args.seconds };
    let plan = Plan::make(&run, &name, &args.pipe, seconds)?;
    // The rate of a drive may differ by more than half from one second to the next.
    let again = Plan::make(&run, &name, &format!("{}B/s", plan.pipe), seconds)?;
    let mut rows = Vec::new();
    for (candidate, why) in plan.chosen(args.max_encode) {
        for (what, threads, predicted, real) in run.candidate(candidate, plan.bytes)? {
            let blank = harness::row("plan-accuracy", &name, candidate.settings.as_str())
                .param("measure", what)
                .param("why", why)
                .param("shape", plan.shape.as_str())
                .param("again", if plan.applied() == again.applied() { "same" } else { "other" })
                .param("ties", plan.ties)
                .param("bytes", plan.bytes)
                .param("sampled", plan.sampled)
                .param(
                    "command",
                    candidate.command.as_deref().map_or_else(String::new, |words| words.join(" ")),
                )
                .exact("planned", plan.seconds)
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

/// Copies a file, or a folder with all files below it but without links.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    if !from.is_dir() {
        return fs::copy(from, to).map(|_| ());
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if !entry.file_type()?.is_symlink() {
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// Waits until the drive has the files.
fn written(files: &[PathBuf]) -> Result<(), String> {
    let wait = |path: &PathBuf| fs::File::options().write(true).open(path)?.sync_all();
    files.iter().try_for_each(|path| wait(path).map_err(|e| format!("{}: {e}", path.display())))
}

/// The plan as `linerate plan --json` prints it.
struct Plan {
    shape: String,
    /// Rate of the pipe in bytes per second.
    pipe: f64,
    bytes: u64,
    sampled: u64,
    /// Seconds that `linerate plan` ran.
    seconds: f64,
    /// The candidates of the plan. The first one is storing the data uncompressed.
    candidates: Vec<Candidate>,
    /// Index of the candidate whose command the plan prints, or of storing plainly if it prints
    /// none.
    applied: Option<usize>,
    /// Number of candidates that are tied with the winner.
    ties: u64,
}

impl Plan {
    fn make(run: &Run<'_>, data: &str, pipe: &str, seconds: f64) -> Result<Plan, String> {
        let mut command = Command::new(run.program);
        command.args(["plan", "--json", "--pipe", pipe, "--seconds", &seconds.to_string(), data]);
        let begun = Instant::now();
        let made = command.current_dir(run.folder).stderr(Stdio::inherit()).output().map_err(message)?;
        let seconds = begun.elapsed().as_secs_f64();
        let json: Value =
            serde_json::from_slice(&made.stdout).map_err(|e| format!("{data}: no plan: {e}"))?;
        let index = |key: &str| json[key].as_u64().map(|i| i as usize);
        let number = |key: &str| json[key].as_u64().ok_or_else(|| format!("{data}: the plan has no {key}"));
        Ok(Plan {
            shape: json["shape"].as_str().unwrap_or_default().into(),
            pipe: json["pipe"]["bytes_per_second"].as_f64().ok_or("the plan has no pipe")?,
            bytes: number("bytes")?,
            sampled: number("sampled")?,
            seconds,
            candidates: json["candidates"].as_array().into_iter().flatten().map(candidate).collect(),
            applied: index("alternative").or_else(|| index("winner")),
            ties: json["ties"].as_array().map_or(0, |ties| ties.len() as u64),
        })
    }

    /// Returns the settings whose command the plan prints.
    fn applied(&self) -> Option<&str> {
        self.applied.map(|i| self.candidates[i].settings.as_str())
    }

    /// Returns the candidates to run, without duplicates, and why each runs: the one whose command
    /// the plan prints; then, of those predicted to encode all of the data within `max_encode`
    /// seconds, the one with the smallest output, and the fastest to decode of those whose ratio is
    /// above 1.05. A candidate without a command is left out.
    fn chosen(&self, max_encode: f64) -> Vec<(&Candidate, &'static str)> {
        let is_quick = |one: &Candidate| {
            let last = one.encode_scaling.last().map(|point| point.speed).or(one.encode);
            last.is_none_or(|speed| self.bytes as f64 / speed.median <= max_encode)
        };
        let usable = || self.candidates.iter().filter(|one| one.command.is_some());
        let quick = || usable().filter(|one| is_quick(one));
        let decode = |one: &Candidate| one.decode.map_or(0.0, |speed| speed.median);
        let smallest = quick().max_by(|a, b| a.ratio().total_cmp(&b.ratio()));
        let compressing = quick().filter(|one| one.ratio() > 1.05);
        let fastest = compressing.max_by(|a, b| decode(a).total_cmp(&decode(b)));
        // The candidate whose command the plan prints runs even if it takes longer than
        // `max_encode`.
        let winner = self.applied.map(|i| &self.candidates[i]).filter(|one| one.command.is_some());
        let mut chosen: Vec<(&Candidate, &'static str)> = Vec::new();
        for (one, why) in [(winner, "winner"), (smallest, "smallest"), (fastest, "fastest")] {
            if let Some(one) = one.filter(|one| chosen.iter().all(|(other, _)| *other != *one)) {
                chosen.push((one, why));
            }
        }
        chosen
    }
}

/// Reads a candidate from the JSON of a plan.
fn candidate(json: &Value) -> Candidate {
    let speed = |json: &Value| {
        let of = |key: &str| json[key].as_f64();
        Some(Speed { low: of("low")?, median: of("median")?, high: of("high")? })
    };
    let point = |json: &Value| {
        Some(Scaling { threads: json["threads"].as_u64()? as usize, speed: speed(&json["speed"])? })
    };
    let scaling = |key: &str| json[key].as_array().into_iter().flatten().filter_map(point).collect();
    let text = |json: &Value| json.as_str().unwrap_or_default().to_owned();
    Candidate {
        engine: text(&json["engine"]),
        settings: text(&json["settings"]),
        command: json["command"].as_array().map(|words| words.iter().map(text).collect()),
        content: json["content"].as_u64().unwrap_or(0),
        compressed: json["compressed"].as_u64().unwrap_or(0),
        encode: speed(&json["encode"]),
        decode: speed(&json["decode"]),
        encode_scaling: scaling("encode_scaling"),
        decode_scaling: scaling("decode_scaling"),
        start: json["start"].as_f64().unwrap_or(0.0),
        ..Candidate::default()
    }
}

/// How commands of `linerate` are run: the program, the folder with the data, the folder to which
/// outputs are moved, the number of threads of this machine, and the number of rounds.
struct Run<'r> {
    program: &'r Path,
    folder: &'r Path,
    old: &'r Path,
    threads: usize,
    rounds: usize,
}

/// Name of the figure (`ratio`, `encode` or `decode`), number of threads (0 for the ratio),
/// prediction, and real value. Speeds are in MB/s.
type Compared = (&'static str, usize, Figure, f64);

/// Properties of a command of `linerate`, and how its output is checked.
struct Runs {
    /// Whether the command does to all of the data what the plan predicts. Only then its ratio and
    /// its encoding speed are compared with the plan.
    is_for_all: bool,
    /// Number of threads that the command uses.
    encode_threads: usize,
    /// Arguments of the subcommand that decodes the output and checks it. Empty if there is none.
    check: &'static [&'static str],
    /// Numbers of threads with which the check runs. If there are several, `option` sets them.
    decode_threads: Vec<usize>,
    /// The option that sets the check's number of threads, without the number.
    option: &'static str,
}

impl Runs {
    fn of(command: &[&str], threads: usize) -> Runs {
        let all = |check, decode_threads| Runs {
            is_for_all: true,
            encode_threads: threads,
            check,
            decode_threads,
            option: "-p",
        };
        let one = |check| Runs { encode_threads: 1, ..all(check, vec![1]) };
        match command {
            ["nx", ..] => all(&["nx", "verify", "-q"], vec![1, threads]),
            // A chunk of Delta-Rice version 1 does not contain its parameters, and without them it
            // cannot be checked.
            ["rice", "encode", "--v1", ..] => all(&[], Vec::new()),
            ["rice", ..] => all(&["rice", "verify", "-q"], vec![1, threads]),
            ["gateway", ..] => one(&["gateway", "replay", "-q"]),
            ["dict", "build", ..] => one(&["dict", "verify", "-q"]),
            ["dict", "sst", ..] => one(&["dict", "sst", "verify", "-q"]),
            ["dict", ..] => Runs { is_for_all: false, ..all(&[], Vec::new()) },
            ["zstd", ..] => Runs { option: "-T", ..all(&["zstd", "-t", "-q"], vec![1, threads]) },
            _ => all(&["gzip", "-t", "-q"], vec![1, threads]),
        }
    }
}

impl Run<'_> {
    fn candidate(&self, candidate: &Candidate, bytes: u64) -> Result<Vec<Compared>, String> {
        let command = candidate.command.as_ref().ok_or("a candidate without a command")?;
        let before = self.files()?;
        let words: Vec<&str> = command[1..].iter().map(String::as_str).collect();
        let runs = Runs::of(&words, self.threads);
        let made = || -> Result<Vec<PathBuf>, String> {
            Ok(self.files()?.into_iter().filter(|path| !before.contains(path)).collect())
        };
        let encode = self.usual(&words, runs.encode_threads, || self.move_away(&made()?))?;
        let made = made()?;
        let content = bytes as f64;
        let mb = |seconds: Duration| content / 1e6 / seconds.as_secs_f64();
        let curves = [
            Curve::new(candidate.encode, &candidate.encode_scaling),
            Curve::new(candidate.decode, &candidate.decode_scaling),
        ];
        let predicted = |speed: Speed| Figure {
            median: rounded(speed.median / 1e6),
            low: Some(rounded(speed.low / 1e6)),
            high: Some(rounded(speed.high / 1e6)),
        };
        let start = candidate.start / content;
        let on = move |curve: &Curve, threads| predicted(curve.on(threads).after(start));
        let [encoding, decoding] =
            curves.map(|curve| move |threads: usize| curve.as_ref().map(|curve| on(curve, threads)));
        let mut figures = Vec::new();
        if !made.is_empty() && runs.is_for_all {
            let sizes = made.iter().map(|path| fs::metadata(path).map(|found| found.len()));
            let size = sizes.sum::<Result<u64, _>>().map_err(message)?;
            figures.push(("ratio", 0, rounded(candidate.ratio()).into(), content / size as f64));
            if let Some(predicted) = encoding(runs.encode_threads) {
                figures.push(("encode", runs.encode_threads, predicted, mb(encode)));
            }
        }
        written(&made)?;
        // A command that only checks its input writes no file. The last argument is taken as its
        // input.
        let files: Vec<String> = match made.is_empty() {
            true => vec![command[command.len() - 1].clone()],
            false => made.iter().map(|path| path.display().to_string()).collect(),
        };
        for &threads in &runs.decode_threads {
            let Some(predicted) = decoding(threads) else { continue };
            let count = format!("{}{threads}", runs.option);
            let with_threads: &[&str] = if runs.decode_threads.len() > 1 { &[&count] } else { &[] };
            let files = files.iter().map(String::as_str);
            let words: Vec<&str> = runs.check.iter().chain(with_threads).copied().chain(files).collect();
            let usual = self.usual(&words, threads, || Ok(()))?;
            figures.push(("decode", threads, predicted, mb(usual)));
        }
        self.move_away(&made)?;
        Ok(figures)
    }

    /// Runs the command in several rounds and returns the median time. `again` prepares every round
    /// after the first.
    fn usual(
        &self,
        args: &[&str],
        threads: usize,
        again: impl Fn() -> Result<(), String>,
    ) -> Result<Duration, String> {
        let mut times = vec![self.time(args, threads)?];
        while times.len() < self.rounds && times.iter().sum::<Duration>() < ENOUGH {
            again()?;
            times.push(self.time(args, threads)?);
        }
        Ok(stats::median(&times).unwrap_or_default())
    }

    /// Returns all files below the folder.
    fn files(&self) -> Result<HashSet<PathBuf>, String> {
        let (mut files, mut folders) = (HashSet::new(), vec![self.folder.to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).map_err(message)? {
                let path = entry.map_err(message)?.path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => _ = files.insert(path),
                }
            }
        }
        Ok(files)
    }

    fn move_away(&self, files: &[PathBuf]) -> Result<(), String> {
        written(files)?;
        let folder = tempfile::Builder::new().disable_cleanup(true).tempdir_in(self.old).map_err(message)?;
        let mut files = files.iter().enumerate();
        files.try_for_each(|(i, path)| fs::rename(path, folder.path().join(i.to_string())).map_err(message))
    }

    /// Runs the command once. Returns its CPU time if it uses one thread and the system reports
    /// that, otherwise the elapsed time.
    fn time(&self, args: &[&str], threads: usize) -> Result<Duration, String> {
        let mut command = Command::new(self.program);
        command.args(args).current_dir(self.folder).stdout(Stdio::null()).stderr(Stdio::null());
        let (begun, used) = (Instant::now(), children_time());
        let status = command.status().map_err(|e| format!("{}: {e}", self.program.display()))?;
        match status.code() {
            // Exit status 5 is a warning: files whose names no archive can hold were left out, as
            // in the plan.
            Some(0 | 5) => Ok(match (children_time(), used) {
                (Some(now), Some(before)) if threads == 1 => now - before,
                _ => begun.elapsed(),
            }),
            _ => Err(format!("{args:?}: {status}")),
        }
    }
}
