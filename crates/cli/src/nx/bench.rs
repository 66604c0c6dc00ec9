//! `linerate nx bench`: how fast an archive decodes in memory, into buffers that are used again.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use linerate_nx::{Archive, File, Kind, Source as _};
use serde_json::json;

use super::args::BenchArgs;
use super::done::Done;
use super::open::{damage, damage_or_output, open};
use crate::failure::Failure;

const GIB: f64 = (1u64 << 30) as f64;

/// Drives that a user may have, in bytes per second.
const DRIVES: [(&str, f64); 5] = [
    ("SATA", 0.55e9),
    ("PCIe 3.0 x4", 3.5e9),
    ("PCIe 4.0 x4", 7.0e9),
    ("PCIe 5.0 x4", 14.0e9),
    ("PCIe 6.0 x4", 28.0e9),
];

type InMemory = Archive<Vec<u8>>;

pub(crate) fn process(args: &BenchArgs, path: &Path) -> Result<Done, Failure> {
    let mut done = Done::new(path, "bench");
    let archive = load(args, path)?;
    let bytes = archive.files().fold(0u64, |sum, file| sum.saturating_add(file.size()));
    if bytes > archive.limits().total {
        return Err(Failure::data(Kind::Limit, 0, format!("its {bytes} bytes of files exceed the limit")));
    }
    let packed = archive.source().len();
    let ratio = packed as f64 / bytes.max(1) as f64;
    done.lines.push(format!(
        "{}: {} files, {bytes} bytes, archive {packed} bytes, ratio {ratio:.4}",
        path.display(),
        archive.len()
    ));
    done.lines
        .push(format!("{:>8} {:>10} {:>10} {:>8} {:>9}", "threads", "best", "median", "speedup", "attempts"));
    let tasks = tasks(&archive);
    let mut rows = Vec::new();
    for threads in thread_counts(args.threads.threads) {
        let seconds = measure(&archive, &tasks, threads, args)?;
        rows.push(Row::of(threads, bytes, seconds));
        let (row, first) = (&rows[rows.len() - 1], &rows[0]);
        done.lines.push(format!(
            "{threads:>8} {:>10.3} {:>10.3} {:>7.2}x {:>9}",
            row.best / GIB,
            row.median / GIB,
            row.best / first.best.max(1e-9),
            row.attempts
        ));
    }
    done.lines.push("GiB/s of content, from memory into buffers that are used again".into());
    let fastest = rows.iter().map(|row| row.best).fold(0.0, f64::max);
    required(&mut done, ratio, fastest);
    let table: Vec<_> = rows.iter().map(Row::record).collect();
    done.set("files", archive.len());
    done.set("bytes", bytes);
    done.set("archive_bytes", packed);
    done.set("ratio", ratio);
    done.set("verify", !args.no_verify);
    done.set("threads", table);
    Ok(done)
}

/// What decoding must reach to keep up with drives that deliver compressed bytes.
fn required(done: &mut Done, ratio: f64, fastest: f64) {
    done.lines.push(format!("{:<14} {:>10} {:>10} {:>8}", "drive", "reads", "required", "reached"));
    let mut table = Vec::new();
    for (name, speed) in DRIVES {
        let needed = speed / ratio;
        done.lines.push(format!(
            "{name:<14} {:>10.3} {:>10.3} {:>7.0}%",
            speed / GIB,
            needed / GIB,
            100.0 * fastest / needed
        ));
        table.push(json!({ "drive": name, "bytes_per_second": speed, "required": needed }));
    }
    done.lines.push("GiB/s; required = what the drive reads / ratio".into());
    done.set("drives", table);
}

/// The archive with all of its bytes in memory.
fn load(args: &BenchArgs, path: &Path) -> Result<InMemory, Failure> {
    let limits = args.limits.limits();
    let on_disk = open(path, &args.limits)?;
    let len = on_disk.source().len();
    let size = usize::try_from(len).ok().filter(|_| len <= limits.memory);
    let size = size.ok_or_else(|| {
        Failure::data(
            Kind::Limit,
            0,
            format!("its {len} bytes do not fit the memory allowed; see --max-memory"),
        )
    })?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| Failure::data(Kind::Limit, 0, "not enough memory"))?;
    bytes.resize(size, 0);
    on_disk.source().read_at(0, &mut bytes).map_err(|error| Failure::Read { error, at: 0 })?;
    Archive::open_with(bytes, limits).map_err(damage)
}

/// 1, 2, 4 and so on, and the number asked for.
fn thread_counts(most: usize) -> Vec<usize> {
    let mut counts: Vec<usize> = (0..).map(|i| 1 << i).take_while(|n| *n < most).collect();
    counts.push(most.max(1));
    counts
}

/// What one thread takes at a time: the files of one solid block, or one chunked file, by number.
type Task = Vec<usize>;

/// The work, largest first, so that threads end together.
fn tasks(archive: &InMemory) -> Vec<Task> {
    let mut order: Vec<File<'_>> = archive.files().filter(|file| file.size() > 0).collect();
    order.sort_by_key(|file| (file.is_chunked(), file.blocks().start, file.entry().block_offset));
    let mut tasks: Vec<(u64, Task)> = Vec::new();
    let mut open_block = None;
    for file in order {
        let block = (!file.is_chunked()).then(|| file.blocks().start);
        match tasks.last_mut() {
            Some((size, task)) if block.is_some() && block == open_block => {
                *size = size.saturating_add(file.size());
                task.push(file.index());
            }
            _ => tasks.push((file.size(), vec![file.index()])),
        }
        open_block = block;
    }
    tasks.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    tasks.into_iter().map(|(_, task)| task).collect()
}

/// Seconds of each attempt. The first run warms caches up and is not counted.
fn measure(
    archive: &InMemory,
    tasks: &[Task],
    threads: usize,
    args: &BenchArgs,
) -> Result<Vec<f64>, Failure> {
    let begun = Instant::now();
    let verify = !args.no_verify;
    decode_all(archive, tasks, threads, verify)?;
    let mut seconds = Vec::new();
    while seconds.is_empty()
        || (seconds.len() < args.attempts as usize && begun.elapsed() < Duration::from_secs(args.seconds))
    {
        seconds.push(decode_all(archive, tasks, threads, verify)?);
    }
    Ok(seconds)
}

fn decode_all(archive: &InMemory, tasks: &[Task], threads: usize, verify: bool) -> Result<f64, Failure> {
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<Failure>> = Mutex::new(None);
    let begun = Instant::now();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                if let Err(failure) = serve(archive, tasks, &next, verify) {
                    next.store(tasks.len(), Ordering::Relaxed);
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
                }
            });
        }
    });
    let seconds = begun.elapsed().as_secs_f64();
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(seconds), Err)
}

/// Decodes into the buffer of one block, which the reader keeps, and looks at the content only to
/// check its hash.
fn serve(archive: &InMemory, tasks: &[Task], next: &AtomicUsize, verify: bool) -> Result<(), Failure> {
    let mut reader = archive.reader().map_err(damage)?;
    reader.verify(verify);
    while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
        for file in task.iter().filter_map(|&i| archive.get(i)) {
            let read = reader.write_to(file, &mut io::sink());
            read.map_err(|e| damage_or_output(e, Failure::doing("cannot read")).within(file.path()))?;
        }
    }
    Ok(())
}

/// The speed of one number of threads, in bytes per second.
struct Row {
    threads: usize,
    attempts: usize,
    best: f64,
    median: f64,
}

impl Row {
    fn of(threads: usize, bytes: u64, mut seconds: Vec<f64>) -> Row {
        seconds.sort_by(f64::total_cmp);
        let speed = |seconds: f64| bytes as f64 / seconds.max(1e-9);
        Row {
            threads,
            attempts: seconds.len(),
            best: speed(seconds[0]),
            median: speed(seconds[seconds.len() / 2]),
        }
    }

    fn record(&self) -> serde_json::Value {
        json!({
            "threads": self.threads,
            "attempts": self.attempts,
            "best": self.best,
            "median": self.median,
        })
    }
}
