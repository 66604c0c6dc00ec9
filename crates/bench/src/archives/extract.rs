//! Archives extracted to a folder: the product, its variants, and other programs, all as processes.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::input::{Input, message, pack_options};
use super::programs::{self, PROGRAMS, Packed};
use super::rounds::{self, Contender};
use super::row::{Row, Target};
use super::{BenchOptions, CHUNK};

/// What our program is to reach beside each of the others.
fn target(program: &str) -> Option<Target> {
    match program {
        "unzip" => Some(Target::AtLeast(3.0)),
        "7z" => Some(Target::AtLeast(6.0)),
        _ => Some(Target::Above(1.0)),
    }
}

pub(super) fn measure(options: &BenchOptions<'_>, progress: fn(&str)) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for &level in options.levels {
        let folder = options.folder()?;
        let archive = folder.path().join("packed.nx");
        progress(&format!("packing {} at level {level}", options.input.name));
        let summary =
            options.input.builder(pack_options(level, CHUNK, 2))?.write(&archive).map_err(message)?;
        let mut others = Vec::new();
        for program in &PROGRAMS {
            progress(&format!("packing {} for {}", options.input.name, program.name));
            match program.packed(&options.input.root, folder.path(), level) {
                Ok(packed) => others.push(packed),
                Err(version) => {
                    eprintln!("{}: {version}", program.name);
                    rows.push(Row { version, ..options.row("extract", program.name.into(), 2, "wall") });
                }
            }
        }
        let out = folder.path().join("out");
        let contenders = contenders(options, level, &archive, &others, &out, summary.archive_bytes)?;
        rows.extend(rounds::measure(contenders, options.rounds, progress)?);
    }
    Ok(rows)
}

/// Ours come last: they are compared with those before.
fn contenders<'a>(
    options: &BenchOptions<'a>,
    level: i32,
    archive: &'a Path,
    others: &'a [Packed],
    out: &'a Path,
    archive_bytes: u64,
) -> Result<Vec<Contender<'a>>, String> {
    let input = options.input;
    let mut contenders: Vec<Contender<'a>> = Vec::new();
    for packed in others {
        let row = options.row("extract", format!("{} zstd {level}", packed.program.name), 2, "wall");
        let contender = match packed.program.name {
            name @ ("unzip" | "7z") => name.into(),
            _ => row.contender.clone(),
        };
        let (version, archive_bytes) = (packed.version.clone(), Some(packed.bytes));
        contenders.push(Contender {
            row: Row { contender, version, archive_bytes, ..row },
            turn: Box::new(move || turn(input, out, packed.extract(out))),
            bases: vec![],
        });
    }
    let mut bases: Vec<(usize, Option<Target>)> =
        others.iter().enumerate().map(|(i, packed)| (i, target(packed.program.name))).collect();
    let own = std::env::current_exe().map_err(message)?;
    let ours = |name: &str, threads: usize| {
        let row = options.row("extract", format!("linerate {name}zstd {level} x{threads}"), threads, "wall");
        Row { archive_bytes: Some(archive_bytes), ..row }
    };
    bases.push((contenders.len(), Some(Target::AtLeast(1.5))));
    contenders.push(Contender {
        row: ours("mapped output ", 2),
        turn: Box::new(move || {
            let mut command = Command::new(&own);
            command.args(["extract-mapped", "--threads", "2"]).arg(archive).arg(out);
            turn(input, out, command)
        }),
        bases: vec![],
    });
    let single = contenders.len();
    for (name, threads, flags) in
        [("", 1, &[][..]), ("--no-verify ", 2, &["--no-verify"][..]), ("", 2, &[][..])]
    {
        let linerate = options.linerate.clone();
        contenders.push(Contender {
            row: ours(name, threads),
            turn: Box::new(move || {
                let mut command = Command::new(&linerate);
                command.args(["nx", "extract", "-q", "-p", &threads.to_string()]).args(flags);
                command.arg(archive).arg("-o").arg(out);
                turn(input, out, command)
            }),
            bases: match (threads, flags.is_empty()) {
                (2, true) => bases.iter().copied().chain([(single, None), (single + 1, None)]).collect(),
                _ => vec![],
            },
        });
    }
    Ok(contenders)
}

/// One extraction into an empty folder, whose files are counted afterwards.
fn turn(input: &Input, out: &Path, mut command: Command) -> Result<Duration, String> {
    let at = |e: std::io::Error| format!("{}: {e}", out.display());
    fs::create_dir(out).map_err(at)?;
    let time = programs::run(&mut command)?;
    let found = Input::of(out, None)?;
    if (found.files, found.bytes) != (input.files, input.bytes) {
        let (files, bytes) = (found.files, found.bytes);
        return Err(format!("{:?} wrote {files} files of {bytes} bytes", command.get_program()));
    }
    fs::remove_dir_all(out).map_err(at)?;
    Ok(time)
}
