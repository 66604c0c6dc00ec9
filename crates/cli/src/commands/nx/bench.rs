//! `linerate nx bench`: measures how fast an archive that is in memory decodes into reused buffers,
//! and optionally how fast it is extracted to files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::ValueHint;
use linerate_nx::{Extractor, Kind, Verifier};
use serde::Serialize;
use serde_json::json;

use super::args::{ArchiveArg, LimitArgs};
use super::extract::entry_failure;
use super::open::{Opened, damage, open, open_source};
use crate::ui::error::CliError;
use crate::ui::exit_code;
use crate::ui::progress::Activity;
use crate::ui::reporter::Reporter;
use crate::ui::signals::CancelToken;
use crate::ui::summary::RunSummary;
use crate::ui::threads::ThreadArgs;
use crate::ui::verbosity::VerbosityArgs;

const EXAMPLES: &str = "\
Examples:
  linerate nx bench mods.nx                    with 1, 2, 4 .. threads, up to all cores
  linerate nx bench -p 12 --attempts 50 mods.nx
  linerate nx bench --no-verify mods.nx        without the hashes of contents
  linerate nx bench --to-files /dev/shm mods.nx";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct BenchArgs {
    /// Measurements for each number of threads, of which the best and the median are printed
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) attempts: u32,

    /// Start no further measurement with a number of threads after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(crate) seconds: u64,

    /// Do not check the hashes of contents
    #[arg(long)]
    pub(crate) no_verify: bool,

    /// Also extract to files in FOLDER, which are removed again
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) to_files: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,

    #[command(flatten)]
    pub(crate) archive: ArchiveArg,
}

const GIB: f64 = (1u64 << 30) as f64;

/// Kinds of drives, and their read speeds in bytes per second.
const DRIVES: [(&str, f64); 5] = [
    ("SATA", 0.55e9),
    ("PCIe 3.0 x4", 3.5e9),
    ("PCIe 4.0 x4", 7.0e9),
    ("PCIe 5.0 x4", 14.0e9),
    ("PCIe 6.0 x4", 28.0e9),
];

pub(super) fn run(args: &BenchArgs) -> ExitCode {
    let path = args.archive.path();
    Reporter::new(&args.verbosity, false).one(&path, |reporter| process(args, &path, reporter))
}

fn process(args: &BenchArgs, path: &Path, reporter: &Reporter) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(path, "bench");
    let activity = reporter.activity(summary.file());
    activity.show("reading");
    let archive = load(args, path)?;
    let packed = archive.source().file_len();
    let bytes = archive.files().fold(0u64, |sum, file| sum.saturating_add(file.size()));
    let ratio = bytes as f64 / packed.max(1) as f64;
    summary.lines.push(format!(
        "{}: {} files, {bytes} bytes, archive {packed} bytes, ratio {ratio:.2}",
        path.display(),
        archive.len()
    ));
    let verify = !args.no_verify;
    let run = Run { args, bytes, activity: &activity };
    let fastest = run.table(&mut summary, "threads", |threads| in_memory(&archive, threads, verify))?;
    summary.lines.push("GiB/s of content, from memory into reused buffers".into());
    required(&mut summary, ratio, fastest);
    if let Some(folder) = &args.to_files {
        // Folders of killed runs. Those that cannot be removed do not matter here.
        linerate_io::remove_leftovers(folder, false, false);
        let cancel = CancelToken::on_signal();
        let attempt = |threads| to_files(&archive, folder, threads, verify, &cancel);
        run.table(&mut summary, "to_files", attempt)?;
        summary.lines.push(format!("GiB/s of content, from memory to files in {}", folder.display()));
    }
    summary.set("files", archive.len());
    summary.set("bytes", bytes);
    summary.set("archive_bytes", packed);
    summary.set("ratio", ratio);
    summary.set("verify", verify);
    Ok(summary)
}

/// What all tables of a benchmark share.
struct Run<'a> {
    args: &'a BenchArgs,
    /// Bytes of content of the archive.
    bytes: u64,
    /// The line that shows the current step.
    activity: &'a Activity,
}

impl Run<'_> {
    /// Adds a table to the summary, under `key` in the object of `--json`, with a row for each
    /// number of threads. `attempt` takes that number and returns the seconds of one measurement.
    /// Returns the highest speed, in bytes of content per second.
    fn table(
        &self,
        summary: &mut RunSummary,
        key: &str,
        attempt: impl Fn(usize) -> Result<f64, CliError>,
    ) -> Result<f64, CliError> {
        summary.lines.push(format!(
            "{:>8} {:>10} {:>10} {:>8} {:>9}",
            "threads", "best", "median", "speedup", "attempts"
        ));
        let mut rows: Vec<Row> = Vec::new();
        for threads in thread_counts(self.args.threads.count()) {
            let step = format!("{key}: {threads}");
            let row = Row::of(threads, self.bytes, self.measure(&step, || attempt(threads))?);
            let single = rows.first().map_or(row.best, |first| first.best);
            summary.lines.push(format!(
                "{threads:>8} {:>10.3} {:>10.3} {:>7.2}x {:>9}",
                row.best / GIB,
                row.median / GIB,
                row.best / single.max(1e-9),
                row.attempts
            ));
            rows.push(row);
        }
        summary.set(key, &rows);
        Ok(rows.iter().map(|row| row.best).fold(0.0, f64::max))
    }

    /// Measures until there are as many attempts or as much time has passed as the command line
    /// says, but at least once. Returns the seconds of each attempt, except of an extra attempt at
    /// the beginning, which warms up the caches.
    fn measure(
        &self,
        step: &str,
        mut attempt: impl FnMut() -> Result<f64, CliError>,
    ) -> Result<Vec<f64>, CliError> {
        let (begun, patience) = (Instant::now(), Duration::from_secs(self.args.seconds));
        let most = self.args.attempts as usize;
        self.activity.show(step);
        attempt()?;
        let mut seconds = Vec::new();
        while seconds.is_empty() || (seconds.len() < most && begun.elapsed() < patience) {
            self.activity.show(&format!("{step}, attempt {} of {most}", seconds.len() + 1));
            seconds.push(attempt()?);
        }
        Ok(seconds)
    }
}

/// Adds a table to the summary with the speed of decoding that keeps up with each kind of drive,
/// and how much of that `fastest` is: a dash for an archive without content, which needs no speed.
/// `ratio` is bytes of content per byte of the archive, and `fastest` is the highest measured speed,
/// in bytes of content per second.
fn required(summary: &mut RunSummary, ratio: f64, fastest: f64) {
    summary.lines.push(format!("{:<14} {:>10} {:>10} {:>8}", "drive", "reads", "required", "reached"));
    let mut table = Vec::new();
    for (name, speed) in DRIVES {
        let needed = speed * ratio;
        let reached = if needed > 0.0 { format!("{:.0}%", 100.0 * fastest / needed) } else { "-".to_owned() };
        summary.lines.push(format!("{name:<14} {:>10.3} {:>10.3} {reached:>8}", speed / GIB, needed / GIB));
        table.push(json!({ "drive": name, "bytes_per_second": speed, "required": needed }));
    }
    summary.lines.push("GiB/s; required = read speed of the drive * ratio".into());
    summary.set("drives", table);
}

/// Reads the whole archive into memory, without decoding it. Blocks of an R3A archive that use a
/// dictionary are decoded whenever they are read from that memory.
fn load(args: &BenchArgs, path: &Path) -> Result<Opened, CliError> {
    let limits = args.limits.limits();
    let on_disk = open(path, &args.limits)?;
    let source = on_disk.source().file();
    let len = source.len();
    let size = usize::try_from(len).ok().filter(|_| len <= limits.memory);
    let size = size.ok_or_else(|| {
        CliError::data(
            Kind::Limit,
            0,
            format!("its {len} bytes exceed the memory limit; --max-memory raises it"),
        )
    })?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| CliError::data(Kind::Limit, 0, "not enough memory"))?;
    bytes.resize(size, 0);
    source.read_at(0, &mut bytes).map_err(|error| CliError::Read { error, offset: 0 })?;
    open_source(Box::new(bytes), limits)
}

/// The numbers of threads to measure with: the powers of two below `most`, and `most`, at least 1.
fn thread_counts(most: usize) -> Vec<usize> {
    let mut counts: Vec<usize> = (0..).map(|i| 1 << i).take_while(|n| *n < most).collect();
    counts.push(most.max(1));
    counts
}

/// Decodes every block into a buffer of its thread and, with `hashes`, hashes the content. Returns
/// the seconds from the beginning to the end of the last block, since the rest of a verification is
/// not decoding.
fn in_memory(archive: &Opened, threads: usize, hashes: bool) -> Result<f64, CliError> {
    let begun = Instant::now();
    let last = AtomicU64::new(0);
    let verified = Verifier::new(archive)
        .threads(threads)
        .hashes(hashes)
        .on_progress(|_| {
            last.fetch_max(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
            true
        })
        .run()
        .map_err(damage)?;
    first_of(verified.failures)?;
    Ok(last.into_inner() as f64 / 1e9)
}

/// Extracts to a new folder below `parent`, and removes that folder. Returns the seconds of the
/// extraction alone. A killed run leaves the folder; its temporary name tells `linerate clean` and
/// the next run that they may remove it.
fn to_files(
    archive: &Opened,
    parent: &Path,
    threads: usize,
    verify: bool,
    cancel: &CancelToken,
) -> Result<f64, CliError> {
    let folder = parent.join(linerate_io::temporary_name());
    let begun = Instant::now();
    let extracted = Extractor::new(archive)
        .threads(threads)
        .verify(verify)
        .on_progress(|_| !cancel.is_cancelled())
        .to_folder(&folder);
    let seconds = begun.elapsed().as_secs_f64();
    let removed = fs::remove_dir_all(&folder);
    cancel.exit_if_cancelled();
    first_of(extracted.map_err(|error| entry_failure(error.source, 0))?.failures)?;
    removed.map_err(CliError::io_at("cannot remove", &folder))?;
    Ok(seconds)
}

/// Returns the first error of single files, if there is one, since a damaged archive is not
/// measured.
fn first_of(failures: Vec<linerate_nx::PathError>) -> Result<(), CliError> {
    match failures.into_iter().next() {
        Some(error) => Err(entry_failure(error.source, 0).in_file(&error.path)),
        None => Ok(()),
    }
}

/// Speeds with one number of threads, in bytes of content per second.
#[derive(Serialize)]
struct Row {
    threads: usize,
    /// Number of measurements.
    attempts: usize,
    best: f64,
    median: f64,
}

impl Row {
    fn of(threads: usize, bytes: u64, seconds: Vec<f64>) -> Row {
        let (attempts, speed) = (seconds.len(), linerate_candidates::timing::speed(bytes, seconds));
        Row { threads, attempts, best: speed.high, median: speed.median }
    }
}
