//! One small file of a very large number of files: opening, finding, reading.

use std::path::Path;
use std::process::Command;

use linerate_nx::pack::Builder;
use linerate_nx::{Archive, CountingSource, FileSource};

use super::input::{message, pack_options};
use super::rounds::{self, Contender, timed, wall};
use super::row::{Row, Target};
use super::{BenchOptions, CHUNK, programs};

const FILES: usize = 100_000;
const BYTES: usize = 4096;
/// What opening and reading may take together, in milliseconds.
const ALLOWED_MS: f64 = 10.0;
const LEVEL: i32 = 3;

pub(super) fn measure(options: &BenchOptions<'_>, progress: fn(&str)) -> Result<Vec<Row>, String> {
    progress(&format!("packing {FILES} files"));
    let folder = options.folder()?;
    let path = folder.path().join("many.nx");
    let mut builder = Builder::new(pack_options(LEVEL, CHUNK, 2)).map_err(message)?;
    for i in 0..FILES {
        builder.add_bytes(name(i), content(i)).map_err(message)?;
    }
    let summary = builder.write(&path).map_err(message)?;
    let row = |contender: &str| Row {
        archive_bytes: Some(summary.archive_bytes),
        ratio: Some(summary.archive_bytes as f64 / summary.bytes as f64),
        ..Row { measure: "open".into(), contender: contender.into(), threads: Some(1), ..blank() }
    };
    let wanted = name(FILES / 2);
    let mut rows = in_process(options, &path, &wanted, &row)?;
    let contender = Contender {
        row: Row { clock: "wall", ..row("linerate nx extract --stdout, one file") },
        turn: Box::new(|| {
            let mut command = Command::new(&options.linerate);
            programs::run(command.args(["nx", "extract", "--stdout"]).arg(&path).arg(&wanted))
        }),
        bases: vec![],
    };
    rows.extend(rounds::measure(vec![contender], options.rounds, progress)?);
    Ok(rows)
}

fn in_process(
    options: &BenchOptions<'_>,
    path: &Path,
    wanted: &str,
    row: &dyn Fn(&str) -> Row,
) -> Result<Vec<Row>, String> {
    let (mut opening, mut both, mut counted) = (Vec::new(), Vec::new(), (0, 0));
    for _ in 0..=options.rounds {
        let (archive, opened) = wall(|| {
            let source = CountingSource::new(FileSource::open(path).map_err(message)?);
            Archive::open(source).map_err(message)
        })?;
        let (bytes, read) = wall(|| {
            let file = archive.find(wanted).ok_or("the file is not found")?;
            archive.read(file).map_err(message)
        })?;
        if bytes != content(FILES / 2) {
            return Err("the file has other bytes".into());
        }
        let file = archive.find(wanted).ok_or("the file is not found")?;
        let block = archive.toc().blocks[file.blocks().start];
        counted = (archive.source().bytes(), archive.header().bytes() + u64::from(block.compressed));
        opening.push(opened);
        both.push(opened + read);
    }
    // The first does not count.
    let opening = timed(Row { clock: "wall", ..row("header alone") }, &opening[1..]);
    let both = timed(Row { clock: "wall", ..row("open, find, read 4 KiB") }, &both[1..]);
    let allowed = Row {
        base: format!("{ALLOWED_MS} ms"),
        vs_base: both.median_ms.map(|ms| ALLOWED_MS / ms),
        target: Some(Target::Above(1.0)),
        ..both.clone()
    };
    let (read, allowed_bytes) = counted;
    let bytes = Row {
        counted_bytes: Some(read),
        base: format!("header and one block: {allowed_bytes}"),
        vs_base: Some(read as f64 / allowed_bytes as f64),
        target: Some(Target::AtMost(1.0)),
        ..both
    };
    // Megabytes per second mean nothing here.
    Ok([opening, allowed, bytes].map(|row| Row { mb_s: None, ..row }).into())
}

fn blank() -> Row {
    Row::blank("100,000 files of 4 KiB", FILES, (FILES * BYTES) as u64)
}

fn name(i: usize) -> String {
    format!("assets/{:03}/part {:02}/texture-{i:06}.bin", i / 1000, i / 50 % 20)
}

/// Bytes that compress to about a half, and differ from file to file.
fn content(i: usize) -> Vec<u8> {
    let mut state = (i as u32).wrapping_mul(0x9e37_79b9) | 1;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8 & 15
    };
    (0..BYTES).map(|_| next()).collect()
}
