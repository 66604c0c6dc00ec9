//! Reads one small file out of very many: opens the archive, finds the file, and reads it.

use std::process::Command;

use linerate_nx::pack::Builder;
use linerate_nx::{Archive, CountingSource, FileSource};

use super::{Bench, CHUNK, message, pack_options};
use crate::harness::{Clock, Contender, Rounds, measure as harness, process, progress};
use crate::records::Measurement;

const FILES: usize = 100_000;
const BYTES: usize = 4096;
const LEVEL: i32 = 3;

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Vec<Measurement>>, String> {
    progress(&format!("packing {FILES} files"));
    let folder = bench.folder()?;
    let path = &folder.path().join("many.nx");
    let mut builder = Builder::new(pack_options(LEVEL, CHUNK, 2)).map_err(message)?;
    for i in 0..FILES {
        builder.add_bytes(name(i), content(i)).map_err(message)?;
    }
    let summary = builder.write(path).map_err(message)?;
    let row = |contender: &str| {
        let mut row = bench.row("open", contender, 1, "wall").exact("output", summary.archive_bytes as f64);
        row.data = "100,000 files of 4 KiB".into();
        row.exact("size", summary.archive_bytes as f64 / summary.bytes as f64)
    };
    let wanted = &name(FILES / 2);
    let open = || {
        let source = CountingSource::new(FileSource::open(path).map_err(message)?);
        Archive::open(source).map_err(message)
    };
    let read = |archive: &Archive<CountingSource<FileSource>>| {
        let file = archive.find(wanted).ok_or("the file is not found")?;
        archive.read(file).map_err(message)
    };
    let archive = open()?;
    if read(&archive)? != content(FILES / 2) {
        return Err("the file has different bytes".into());
    }
    let file = archive.find(wanted).ok_or("the file is not found")?;
    let block = archive.toc().blocks[file.blocks().start];
    let allowed = archive.header().bytes() + u64::from(block.compressed);
    let counted = archive.source().bytes();
    let both = row("open, find, read 4 KiB")
        .exact("counted", counted as f64)
        .exact("counted_by_base", counted as f64 / allowed as f64)
        .param("base", "header and one block");
    let contenders = vec![
        // The archive is closed after the clock has stopped.
        Contender::new(row("header alone"), |_| Clock::Elapsed.time(open).map(|(_, time)| time)),
        Contender::new(both, |_| {
            let work = || open().and_then(|archive| read(&archive).map(|content| (archive, content)));
            Clock::Elapsed.time(work).map(|(_, time)| time)
        }),
        Contender::new(row("linerate nx extract --stdout, one file"), |_| {
            let mut command = Command::new(&bench.linerate);
            process::run(command.args(["nx", "extract", "--stdout"]).arg(path).arg(wanted))
        }),
    ];
    let all = contenders.into_iter().map(|contender| contender.seconds("elapsed"));
    Ok(vec![harness(all.collect(), Rounds::warm(bench.rounds))?])
}

fn name(i: usize) -> String {
    format!("assets/{:03}/part {:02}/texture-{i:06}.bin", i / 1000, i / 50 % 20)
}

/// The content of file number `i`: bytes that compress to about half, different for each file.
fn content(i: usize) -> Vec<u8> {
    let mut state = (i as u32).wrapping_mul(0x9e37_79b9) | 1;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8 & 15
    };
    (0..BYTES).map(|_| next()).collect()
}
