//! Measures extracting archives to a folder by `linerate nx extract`, by variants of it, and by
//! other programs, each as a process.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::programs::PROGRAMS;
use super::{Bench, CHUNK, Input, message, pack_options};
use crate::harness::{Contender, Rounds, Spent, measure as harness, process, progress};
use crate::kernel::os::children_time;
use crate::records::Measurement;

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Vec<Measurement>>, String> {
    bench.levels.iter().map(|&level| at(bench, level)).collect()
}

/// Measures extraction of archives packed at one level. `linerate nx extract` with two threads and
/// checked hashes comes last, because it is compared with all contenders before it.
fn at(bench: &Bench<'_>, level: i32) -> Result<Vec<Measurement>, String> {
    let (input, folder) = (bench.input, bench.folder()?);
    let (archive, out) = (folder.path().join("packed.nx"), folder.path().join("out"));
    progress(&format!("packing {} at level {level}", input.name));
    let summary = input.builder(pack_options(level, CHUNK, 2))?.write(&archive).map_err(message)?;
    let mut packed = Vec::new();
    for program in &PROGRAMS {
        progress(&format!("packing {} for {}", input.name, program.name));
        match program.packed(&input.root, folder.path(), level) {
            Ok(one) => packed.push(one),
            Err(why) => eprintln!("{}: {why}", program.name),
        }
    }
    let row = |name: &str, threads: usize, bytes: u64| {
        bench.row("extract", name, threads, "wall").param("level", level).exact("output", bytes as f64)
    };
    let content = input.bytes as usize;
    let (out, archive) = (&out, &archive);
    let mut contenders: Vec<Contender<'_>> = Vec::new();
    for one in &packed {
        let turn = move |_| turn(input, out, one.extract(out));
        contenders.push(Contender::new(row(one.program.name, 2, one.bytes), turn));
    }
    let ours = |threads: usize| row("linerate", threads, summary.archive_bytes);
    let mapped = move |_| {
        let mut command = process::this(&["extract-mapped", "--threads", "2"])?;
        command.arg(archive).arg(out);
        turn(input, out, command)
    };
    contenders.push(Contender::new(ours(2).param("output", "mapped").param("verify", "yes"), mapped));
    for (threads, verify) in [(1, true), (2, false), (2, true)] {
        let linerate = bench.linerate.clone();
        let work = move |_| {
            let mut command = Command::new(&linerate);
            command.args(["nx", "extract", "-q", "-p", &threads.to_string()]);
            command.args((!verify).then_some("--no-verify")).arg(archive).arg("-o").arg(out);
            turn(input, out, command)
        };
        let row = ours(threads).param("verify", if verify { "yes" } else { "no" });
        let mut contender = Contender::new(row, work);
        if (threads, verify) == (2, true) {
            let names = packed.iter().map(|one| one.program.name).chain([
                "linerate mapped output x2",
                "linerate x1",
                "linerate --no-verify x2",
            ]);
            for (place, name) in names.enumerate() {
                contender = contender.base(place, name);
            }
        }
        contenders.push(contender);
    }
    let all = contenders.into_iter().map(|contender| contender.bytes(content).seconds("elapsed"));
    harness(all.collect(), Rounds::warm(bench.rounds))
}

/// Makes the folder `out`, and runs a command that extracts into it. Then checks, untimed, that the
/// number of files there and their bytes are those of the input, and removes the folder. Returns
/// the elapsed time, the CPU time, and the bytes that the file system had allocated.
fn turn(input: &Input, out: &Path, mut command: Command) -> Result<Spent, String> {
    let at = |e: std::io::Error| format!("{}: {e}", out.display());
    fs::create_dir(out).map_err(at)?;
    let before = children_time();
    let time = process::run(&mut command)?;
    let cpu = before.zip(children_time()).map(|(before, after)| ("cpu", (after - before).as_secs_f64()));
    let found = Input::of(out, None)?;
    if (found.files, found.bytes) != (input.files, input.bytes) {
        return Err(format!(
            "{:?} wrote {} files of {} bytes",
            command.get_program(),
            found.files,
            found.bytes
        ));
    }
    let allocated = ("allocated_total", allocated(out)? as f64);
    fs::remove_dir_all(out).map_err(at)?;
    Ok(Spent { time, more: cpu.into_iter().chain([allocated]).collect() })
}

/// Bytes that the file system has allocated for the files below a folder. On systems other than
/// Unix, the sum of the files' lengths.
fn allocated(folder: &Path) -> Result<u64, String> {
    #[cfg(unix)]
    let blocks = |meta: &fs::Metadata| std::os::unix::fs::MetadataExt::blocks(meta) * 512;
    #[cfg(not(unix))]
    let blocks = |meta: &fs::Metadata| meta.len();
    let found = super::files_below(folder)?;
    found
        .iter()
        .map(|path| path.metadata().map(|meta| blocks(&meta)))
        .sum::<std::io::Result<_>>()
        .map_err(message)
}
