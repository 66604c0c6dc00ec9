//! How well plans predict: plans folders and files, then applies the winner's command and two others to all of the data
//! and compares.
//!
//! ```text
//! cargo build --release && cargo run --release -p linerate-bench --example plan-accuracy -- \
//!     --linerate target/release/linerate --csv records/plan-accuracy.csv textures silesia/nci
//! ```
//!
//! For a quiet machine, and for data of 1 GB: real speeds are those of the printed command, and of the command that decodes
//! and checks what it wrote, with the start of the program and files in them: the best of some rounds, of a command that
//! takes longer than 5 s just one. On one thread it is CPU time that counts, as in the plan, on several the elapsed time.
//! Beside the winner, the smallest candidate and the fastest to decode are run, of those whose command is predicted to
//! take no longer than `--max-encode`.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Parser;
use linerate_bench::{children_time, csv, environment as env};
use linerate_candidates::arrays::Container;
use linerate_candidates::{self as candidates, Measured, Options, Shape, messages, sst};
use linerate_plan::{Budget, Curve, Pipe, Row, Speed, plan};

/// A command that takes longer has one round: noise is a small part of it.
const LONG: Duration = Duration::from_secs(5);

const COLUMNS: [&str; 18] = [
    "date",
    "cpu",
    "linerate",
    "corpus",
    "bytes",
    "sampled",
    "planned_s",
    "threads",
    "candidate",
    "why",
    "measure",
    "predicted",
    "predicted_low",
    "predicted_high",
    "real",
    "error_percent",
    "rounds",
    "command",
];

#[derive(Parser)]
struct Args {
    /// The program that is run
    #[arg(long, value_name = "PROGRAM", default_value = "target/release/linerate")]
    linerate: PathBuf,
    /// Add the results to this CSV file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Seconds of each plan
    #[arg(long, default_value_t = 20.0)]
    seconds: f64,
    /// The pipe of the plan
    #[arg(long, default_value = "nvme-4.0")]
    pipe: String,
    /// Rounds of each real run that takes less than 5 s
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Seconds that the command of a candidate may take, as predicted
    #[arg(long, default_value_t = 60.0)]
    max_encode: f64,
    /// Folders, for archives, and files: arrays, JSON lines, messages, SST files, bytes; also below $LINERATE_CORPORA
    #[arg(required = true)]
    corpora: Vec<PathBuf>,
}

fn main() -> Result<(), String> {
    let args = Args::parse();
    let program = args.linerate.canonicalize().map_err(|e| format!("{}: {e}", args.linerate.display()))?;
    let mut lines = Vec::new();
    println!("{:<44} {:>8} {:>11} {:>11} {:>8}", "candidate", "measure", "predicted", "real", "error");
    for corpus in &args.corpora {
        for result in check(&args, &program, corpus)? {
            println!("{}", result.text());
            lines.push(csv::line(&result.fields(&args)));
        }
    }
    args.csv.as_ref().map_or(Ok(()), |path| append(path, &lines))
}

/// Adds rows to the file, after a header if it is new.
fn append(path: &Path, lines: &[String]) -> Result<(), String> {
    let before = fs::read_to_string(path).unwrap_or_default();
    let header = if before.is_empty() { csv::line(&COLUMNS) + "\n" } else { String::new() };
    let rows: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(path, before + &header + &rows).map_err(|e| format!("{}: {e}", path.display()))
}

/// One figure of one candidate.
struct Outcome {
    corpus: String,
    bytes: u64,
    sampled: u64,
    planned: Duration,
    threads: usize,
    candidate: String,
    why: &'static str,
    measure: String,
    predicted: [f64; 3],
    real: f64,
    command: String,
}

impl Outcome {
    fn error(&self) -> f64 {
        100.0 * (self.predicted[1] / self.real - 1.0)
    }

    fn text(&self) -> String {
        let (predicted, real) = (self.predicted[1], self.real);
        let name = format!("{}: {}", self.corpus, self.candidate);
        format!("{name:<44} {:>8} {predicted:>11.3} {real:>11.3} {:>7.1}%", self.measure, self.error())
    }

    fn fields(&self, args: &Args) -> [String; COLUMNS.len()] {
        [
            env::date(),
            env::cpu(),
            env::linerate(),
            self.corpus.clone(),
            self.bytes.to_string(),
            self.sampled.to_string(),
            format!("{:.1}", self.planned.as_secs_f64()),
            self.threads.to_string(),
            self.candidate.clone(),
            self.why.into(),
            self.measure.clone(),
            format!("{:.4}", self.predicted[1]),
            format!("{:.4}", self.predicted[0]),
            format!("{:.4}", self.predicted[2]),
            format!("{:.4}", self.real),
            format!("{:.2}", self.error()),
            args.rounds.to_string(),
            self.command.clone(),
        ]
    }
}

/// Plans one corpus and runs three candidates.
fn check(args: &Args, program: &Path, corpus: &Path) -> Result<Vec<Outcome>, String> {
    let found = match std::env::var_os("LINERATE_CORPORA") {
        Some(root) if !corpus.exists() => Path::new(&root).join(corpus),
        _ => corpus.to_owned(),
    };
    let found = found.canonicalize().map_err(|e| format!("{}: {e}", found.display()))?;
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let (shape, data) = match found.is_dir() {
        true => (Shape::Files, found.clone()),
        // Commands write beside their input.
        false => {
            let copy = folder.path().join(found.file_name().unwrap_or_default());
            fs::copy(&found, &copy).map_err(|e| format!("{}: {e}", found.display()))?;
            (shape_of(&copy)?, copy)
        }
    };
    let options = Options { seconds: args.seconds, ..Options::default() };
    let begun = Instant::now();
    let measured = candidates::measure(shape, std::slice::from_ref(&data), &options, &|_| {})?;
    let planned = begun.elapsed();
    let pipe = Pipe::parse(&args.pipe).map_err(|e| e.to_string())?;
    let budget = Budget { cores: options.threads, memory_per_stream: None, min_ratio: None };
    let plan = plan(&measured.measurements, &pipe, &budget);
    let run = Run { program, folder: folder.path(), threads: options.threads, rounds: args.rounds };
    let mut outcomes = Vec::new();
    for (row, why) in chosen(&plan.rows, plan.winner, |row| encode_seconds(row) <= args.max_encode) {
        let name = found.file_name().unwrap_or_default().to_string_lossy().into_owned();
        outcomes.extend(run.candidate(row, &measured)?.into_iter().map(|(measure, predicted, real)| {
            Outcome {
                corpus: name.clone(),
                bytes: measured.bytes,
                sampled: measured.sampled,
                planned,
                threads: options.threads,
                candidate: row.measurement.settings.clone(),
                why,
                measure,
                predicted,
                real,
                command: row.measurement.command.as_ref().map_or(String::new(), |words| {
                    // The record names no path of the machine.
                    let words = words.join(" ").replace(&data.display().to_string(), &name);
                    words.replace(&format!("{}/", folder.path().display()), "")
                }),
            }
        }));
    }
    Ok(outcomes)
}

/// The shape of a file: by its content, and JSON lines by their name.
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

/// How long the command is predicted to take.
fn encode_seconds(row: &Row) -> f64 {
    let last = row.measurement.encode_scaling.last().map(|point| point.speed.median);
    last.map_or(0.0, |speed| row.measurement.content as f64 / speed)
}

/// The winner, or what delivers most if the data is best stored plainly; the smallest; and the one that decodes fastest
/// of those that compress.
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

/// Real runs in a folder.
struct Run<'r> {
    program: &'r Path,
    folder: &'r Path,
    threads: usize,
    rounds: u32,
}

/// What was measured, its low, median and high prediction, and what it really was.
type Figure = (String, [f64; 3], f64);

/// How the commands of an engine work.
struct Runs {
    /// Whether the command makes what the plan says of all of the data.
    is_for_all: bool,
    /// Threads that it uses.
    encode_threads: usize,
    /// Subcommand that decodes what was written, and checks it.
    check: &'static [&'static str],
    /// Threads to run that with; with `-p` if there are several numbers.
    decode_threads: Vec<usize>,
}

impl Runs {
    fn of(command: &[&str], threads: usize) -> Runs {
        let all =
            |check, decode_threads| Runs { is_for_all: true, encode_threads: threads, check, decode_threads };
        let one = |check| Runs { encode_threads: 1, ..all(check, vec![1]) };
        match command {
            ["nx", ..] => all(&["nx", "verify", "-q"], vec![1, threads]),
            // A chunk of version 1 does not have its parameters in it.
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
    fn candidate(&self, row: &Row, measured: &Measured) -> Result<Vec<Figure>, String> {
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
        let in_mb = |speed: Speed| [speed.low, speed.median, speed.high].map(|v| v / 1e6);
        let curves = [
            Curve::new(measurement.encode, &measurement.encode_scaling),
            Curve::new(measurement.decode, &measurement.decode_scaling),
        ];
        let [encoding, decoding] =
            curves.map(|curve| move |threads: usize| curve.as_ref().map(|curve| in_mb(curve.on(threads))));
        let output = match made.as_slice() {
            [output] => output.clone(),
            // A command that checks what is there writes nothing.
            [] => PathBuf::from(&command[command.len() - 1]),
            _ => return Err(format!("{command:?} made {made:?}")),
        };
        let mut figures = Vec::new();
        if !made.is_empty() && runs.is_for_all {
            let size = fs::metadata(&output).map_err(|e| e.to_string())?.len();
            figures.push(("ratio".to_owned(), [measurement.ratio(); 3], content / size as f64));
            if let Some(predicted) = encoding(runs.encode_threads) {
                figures.push((format!("encode x{}", runs.encode_threads), predicted, mb(encode)));
            }
        }
        let file = output.display().to_string();
        for &threads in &runs.decode_threads {
            let Some(predicted) = decoding(threads) else { continue };
            let count = threads.to_string();
            let with_threads: &[&str] = if runs.decode_threads.len() > 1 { &["-p", &count] } else { &[] };
            let words = [runs.check, with_threads, &[&*file]].concat();
            let best = self.best(&words, threads, || Ok(()))?;
            figures.push((format!("decode x{threads}"), predicted, mb(best)));
        }
        remove(&made)?;
        Ok(figures)
    }

    /// The best time of all rounds; `again` prepares every round but the first.
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
        let entries = fs::read_dir(self.folder).map_err(|e| e.to_string())?;
        entries.map(|entry| entry.map(|entry| entry.path()).map_err(|e| e.to_string())).collect()
    }

    /// CPU time of the command if it has one thread, elapsed time otherwise.
    fn time(&self, args: &[&str], threads: usize) -> Result<Duration, String> {
        let mut command = Command::new(self.program);
        command.args(args).current_dir(self.folder).stdout(Stdio::null());
        let (begun, used) = (Instant::now(), children_time());
        let status = command.status().map_err(|e| format!("{}: {e}", self.program.display()))?;
        match status.code() {
            // 5: names that no archive can hold were left out, in the plan too.
            Some(0 | 5) => Ok(match (children_time(), used) {
                (Some(now), Some(before)) if threads == 1 => now - before,
                _ => begun.elapsed(),
            }),
            _ => Err(format!("{args:?}: {status}")),
        }
    }
}

fn remove(files: &[PathBuf]) -> Result<(), String> {
    files.iter().try_for_each(|path| fs::remove_file(path).map_err(|e| e.to_string()))
}
