//! How well plans predict: plans folders and files, then applies the winner's command and two others to all of the data
//! and compares.
//!
//! ```text
//! cargo build --release && cargo run --release -p linerate-bench --example plan-accuracy -- \
//!     --linerate target/release/linerate --csv records/plan-accuracy.csv textures silesia/nci
//! ```
//!
//! For a quiet machine. Real speeds are elapsed times of `linerate nx pack`, `nx verify`, `gzip` and `gzip -t`, the best
//! of some rounds, with the start of the program in them. Beside the winner, the smallest candidate and the fastest to
//! decode are run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Parser;
use linerate_bench::candidates::{self, Measured, Options, Shape};
use linerate_bench::{csv, environment as env};
use linerate_plan::{Budget, Pipe, Row, plan};

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
    /// Rounds of each real run; packing has one
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Folders, for archives, and files, for deflate; also below $LINERATE_CORPORA
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
        // `gzip` writes beside its input.
        false => {
            let copy = folder.path().join(found.file_name().unwrap_or_default());
            fs::copy(&found, &copy).map_err(|e| format!("{}: {e}", found.display()))?;
            (Shape::Bytes, copy)
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
    for (row, why) in chosen(&plan.rows, plan.winner) {
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
                    words.join(" ").replace(&data.display().to_string(), &name)
                }),
            }
        }));
    }
    Ok(outcomes)
}

/// The winner, or what delivers most if the data is best stored plainly; the smallest; and the one that decodes fastest of those that compress.
fn chosen(rows: &[Row], winner: Option<usize>) -> Vec<(&Row, &'static str)> {
    let usable = || rows.iter().filter(|row| row.measurement.command.is_some());
    let decode = |row: &Row| row.measurement.decode.map_or(0.0, |speed| speed.median);
    let smallest = usable().max_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let fastest = usable().filter(|row| row.ratio > 1.05).max_by(|a, b| decode(a).total_cmp(&decode(b)));
    let best = || usable().max_by(|a, b| a.delivered.median.total_cmp(&b.delivered.median));
    let winner = winner.map(|i| &rows[i]).filter(|row| row.measurement.command.is_some()).or_else(best);
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

impl Run<'_> {
    fn candidate(&self, row: &Row, measured: &Measured) -> Result<Vec<Figure>, String> {
        let measurement = &row.measurement;
        let command = measurement.command.as_ref().ok_or("a candidate without a command")?;
        let before = self.outputs()?;
        let words: Vec<&str> = command[1..].iter().map(String::as_str).collect();
        let encode = self.time(&words)?;
        let made: Vec<PathBuf> = self.outputs()?.into_iter().filter(|path| !before.contains(path)).collect();
        let [output] = made.as_slice() else { return Err(format!("{command:?} made {made:?}")) };
        let size = fs::metadata(output).map_err(|e| e.to_string())?.len();
        let content = measured.bytes as f64;
        let mb = |seconds: Duration| content / 1e6 / seconds.as_secs_f64();
        let scaled = |points: &[linerate_plan::Scaling]| {
            let point = points.iter().find(|point| point.threads == self.threads);
            point.map(|point| [point.speed.low, point.speed.median, point.speed.high].map(|v| v / 1e6))
        };
        let mut figures = vec![("ratio".to_owned(), [measurement.ratio(); 3], content / size as f64)];
        if let Some(predicted) = scaled(&measurement.encode_scaling) {
            figures.push((format!("encode x{}", self.threads), predicted, mb(encode)));
        }
        let file = output.display().to_string();
        let check: &[&str] = if command[1] == "nx" { &["nx", "verify", "-q"] } else { &["gzip", "-t", "-q"] };
        let one = measurement.decode.map(|speed| [speed.low, speed.median, speed.high].map(|v| v / 1e6));
        for (threads, predicted) in [(1, one), (self.threads, scaled(&measurement.decode_scaling))] {
            let Some(predicted) = predicted else { continue };
            let count = threads.to_string();
            let words = [check, &["-p", &count, &file]].concat();
            let times = (0..self.rounds.max(1)).map(|_| self.time(&words)).collect::<Result<Vec<_>, _>>()?;
            let best = times.into_iter().min().unwrap_or_default();
            figures.push((format!("decode x{threads}"), predicted, mb(best)));
        }
        fs::remove_file(output).map_err(|e| e.to_string())?;
        Ok(figures)
    }

    fn outputs(&self) -> Result<Vec<PathBuf>, String> {
        let entries = fs::read_dir(self.folder).map_err(|e| e.to_string())?;
        entries.map(|entry| entry.map(|entry| entry.path()).map_err(|e| e.to_string())).collect()
    }

    fn time(&self, args: &[&str]) -> Result<Duration, String> {
        let mut command = Command::new(self.program);
        command.args(args).current_dir(self.folder).stdout(Stdio::null());
        let begun = Instant::now();
        let status = command.status().map_err(|e| format!("{}: {e}", self.program.display()))?;
        match status.code() {
            // 5: names that no archive can hold were left out, in the plan too.
            Some(0 | 5) => Ok(begun.elapsed()),
            _ => Err(format!("{args:?}: {status}")),
        }
    }
}
