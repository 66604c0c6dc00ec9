//! Writes the report of a made-up plan: `sample_report FILE`. `scripts/report-check.sh` opens it in
//! a browser.

use linerate_plan::report::{self, Context};
use linerate_plan::{Budget, Direction, Goal, Measurement, Memory, Pipe, Read, Scaling, Speed, plan};

/// Made-up candidates: settings, compression ratio, MB/s of decoding with one thread, and MiB of
/// memory per stream.
const CANDIDATES: &[(&str, f64, f64, f64)] = &[
    ("LZ4, blocks of 1 MiB", 1.52, 3900.0, 1.0),
    ("zstd 1, blocks of 1 MiB", 1.86, 2100.0, 1.0),
    ("zstd 3, blocks of 1 MiB", 1.94, 1900.0, 1.0),
    ("zstd 9, blocks of 1 MiB", 2.05, 1960.0, 1.0),
    ("zstd 12, blocks of 128 KiB", 1.98, 1750.0, 0.125),
    ("zstd 12, blocks of 1 MiB", 2.11, 1930.0, 1.0),
    ("zstd 12, raw literals, blocks of 1 MiB", 1.83, 2900.0, 1.0),
    ("zstd 12, minMatch 5, blocks of 1 MiB", 2.09, 2060.0, 1.0),
    ("zstd 16, blocks of 4 MiB", 2.19, 1690.0, 4.0),
    ("zstd 19, window of 128 MiB", 2.58, 1480.0, 130.0),
];

fn main() -> std::io::Result<()> {
    let Some(file) = std::env::args_os().nth(1) else {
        eprintln!("usage: sample_report FILE");
        std::process::exit(2);
    };
    let pipe = Pipe { direction: Direction::Both, ..Pipe::parse("nvme-3.0").map_err(std::io::Error::other)? };
    let budget = Budget { cores: 2, memory_per_stream: Some(64 << 20), min_ratio: None, goal: Goal::Balance };
    let mut measured: Vec<Measurement> = CANDIDATES.iter().map(candidate).collect();
    measured.push(comparison());
    std::fs::write(file, report::html(&plan(&measured, &pipe, &budget), &context()))
}

fn candidate(&(settings, ratio, megabytes, mebibytes): &(&str, f64, f64, f64)) -> Measurement {
    let content = 1 << 30;
    let command = ["linerate", "nx", "pack", "--options", settings, "mods & <more>", "-o", "mods.nx"];
    Measurement {
        engine: "nx".into(),
        settings: settings.into(),
        command: Some(command.map(String::from).to_vec()),
        content,
        compressed: (content as f64 / ratio) as u64,
        encode: Some(speed(megabytes / ratio.powi(4))),
        decode: Some(speed(megabytes)),
        encode_scaling: scaling(megabytes / ratio.powi(4)),
        decode_scaling: scaling(megabytes),
        memory: Memory { per_stream: (mebibytes * 1048576.0) as u64, per_thread: 2 << 20 },
        start: 0.004,
        read: Some(Read { seconds: mebibytes / megabytes, fetched: mebibytes * 1048576.0 / ratio }),
    }
}

fn scaling(megabytes: f64) -> Vec<Scaling> {
    [(1, 1.0), (2, 1.93)].map(|(threads, times)| Scaling { threads, speed: speed(megabytes * times) }).into()
}

/// The measurement of a candidate without a command: another library, measured only for comparison.
fn comparison() -> Measurement {
    Measurement {
        engine: "gzip".into(),
        settings: "zlib 6".into(),
        command: None,
        ..candidate(&("", 1.9, 320.0, 0.1))
    }
}

fn speed(megabytes: f64) -> Speed {
    Speed { low: megabytes * 0.93e6, median: megabytes * 1e6, high: megabytes * 1.04e6 }
}

fn context() -> Context {
    Context {
        data: "mods & <more>".into(),
        data_bytes: 1 << 30,
        cpu: "Sample CPU (made-up numbers)".into(),
        cores: 2,
        os: "Linux".into(),
        versions: vec![("linerate".into(), "0.1.0".into()), ("libzstd".into(), "1.5.7".into())],
        date: "2026-11-22".into(),
        command: "linerate plan 'mods & <more>' --pipe nvme-3.0 --memory-per-stream 64M".into(),
    }
}
