//! Compresses a folder of files at every level and with two peers, proves each output with another
//! library's decoder, and prints what it cost. `make demo` runs it over `corpus/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use linerate_bench::corpus::Corpus;
use linerate_bench::table::{Loaded, table};
use linerate_bench::{measure, pin, verify};

/// Rows of the bench's table that the demo shows: ours, then peers that cargo builds by itself.
const ROWS: &[&str] = &[
    "linerate 0 deflate",
    "linerate 1 deflate",
    "linerate 2 deflate",
    "linerate 3 deflate",
    "zlib-rs 1 deflate",
    "zlib-rs 2 deflate",
    "zlib-rs 6 deflate",
    "libdeflate 1 deflate",
    "libdeflate 6 deflate",
];

/// Rows shown file by file.
const ROWS_BY_FILE: &[&str] = &[
    "linerate 1 deflate",
    "linerate 2 deflate",
    "linerate 3 deflate",
    "zlib-rs 2 deflate",
    "libdeflate 1 deflate",
];

/// Bytes per call. No call uses the bytes of another, as in a proxy with many connections.
const CHUNK: usize = 16 << 10;

/// Times that each row compresses everything; the fastest counts.
const ROUNDS: usize = 15;

fn main() -> ExitCode {
    let folder = std::env::args_os()
        .nth(1)
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus"), PathBuf::from);
    match demo(&folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("demo: {what}");
            ExitCode::FAILURE
        }
    }
}

fn demo(folder: &Path) -> Result<(), String> {
    pin(None);
    let all = Corpus::read(folder, None)?;
    println!(
        "{} files, {} bytes, each call gets {CHUNK} and remembers nothing\n",
        all.files.len(),
        all.bytes()
    );
    speeds(&all)?;
    println!("\nRatio file by file:\n");
    ratios(folder)?;
    println!("\nEvery output above was decoded by another library (libdeflate, or zlib-rs for");
    println!("libdeflate's own) and is the input, byte for byte.");
    Ok(())
}

fn load(rows: &[&str]) -> Result<Vec<Loaded>, String> {
    let table = table();
    let row = |name: &&str| {
        let entry = table.iter().find(|entry| entry.label() == **name);
        (entry.ok_or_else(|| format!("the bench has no row `{name}`"))?.make)()
    };
    rows.iter().map(row).collect()
}

/// One line per row: ratio, CPU time and memory over all files.
fn speeds(corpus: &Corpus) -> Result<(), String> {
    let mut rows = load(ROWS)?;
    let mut sizes = Vec::new();
    for (row, name) in rows.iter_mut().zip(ROWS) {
        sizes.push(checked(row, name, corpus)?);
    }
    let times = measure::run(&mut rows, &corpus.files, CHUNK, ROUNDS, |_| {})
        .map_err(|(i, what)| format!("{}: {what}", ROWS[i]))?;
    println!("{:22}{:>8}{:>12}{:>24}", "", "ratio", "CPU MB/s", "bytes per idle stream");
    for (i, name) in ROWS.iter().enumerate() {
        let best = times[i].iter().min().ok_or("no round was measured")?;
        let speed = corpus.bytes() as f64 / best.as_secs_f64() / 1e6;
        let ratio = corpus.bytes() as f64 / sizes[i] as f64;
        let state = rows[i].state_bytes().map_or_else(|| "unknown".into(), |n| n.to_string());
        println!("{name:22}{ratio:>8.3}{speed:>12.0}{state:>24}");
    }
    Ok(())
}

/// One line per file: its ratio in each of `ROWS_BY_FILE`.
fn ratios(folder: &Path) -> Result<(), String> {
    let mut rows = load(ROWS_BY_FILE)?;
    print!("{:22}", "");
    ROWS_BY_FILE.iter().for_each(|name| print!("{:>13}", name.trim_end_matches(" deflate")));
    println!();
    for path in files(folder)? {
        let corpus = Corpus::read(&path, None)?;
        print!("{:22}", corpus.name);
        for (row, name) in rows.iter_mut().zip(ROWS_BY_FILE) {
            let size = checked(row, name, &corpus)?;
            print!("{:>13.3}", corpus.bytes() as f64 / size as f64);
        }
        println!();
    }
    Ok(())
}

/// The compressed size, after a decoder has given the input back.
fn checked(row: &mut Loaded, name: &str, corpus: &Corpus) -> Result<usize, String> {
    verify::encode_and_check(&mut **row, &corpus.files, CHUNK).map_err(|what| format!("{name}: {what}"))
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}
