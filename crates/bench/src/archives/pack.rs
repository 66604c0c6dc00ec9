//! Packing a folder, beside libzstd that compresses the same blocks with one thread.

use std::time::Duration;

use linerate_nx::pack::Options;
use zstd_safe::{CCtx, CParameter};

use super::decode::{Raw, libzstd};
use super::input::{message, open, pack_options};
use super::rounds::{self, Contender, wall};
use super::row::{Row, Target};
use super::{BenchOptions, CHUNK};

pub(super) fn measure(options: &BenchOptions<'_>, progress: fn(&str)) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for &level in options.levels {
        let fitted = pack_options(level, CHUNK, 1);
        let plain = Options { fit_search: false, group_similar: false, ..fitted.clone() };
        for (name, packing) in [("", fitted), ("plain ", plain)] {
            rows.extend(variant(options, &format!("{name}zstd {level}"), level, &packing, progress)?);
        }
    }
    Ok(rows)
}

/// One setting, beside libzstd on the blocks that it makes.
fn variant(
    options: &BenchOptions<'_>,
    name: &str,
    level: i32,
    packing: &Options,
    progress: fn(&str),
) -> Result<Vec<Row>, String> {
    let (bytes, summary) = options.input.pack(packing.clone())?;
    let mut blocks = Vec::new();
    Raw::new(&open(&bytes)?).each(|content| blocks.push(content.to_vec()))?;
    drop(bytes);
    let folder = options.folder()?;
    let target = folder.path().join("packed.nx");
    let mut contenders = vec![Contender {
        row: Row { version: libzstd(), ..options.row("pack", format!("libzstd {level}"), 1, "wall") },
        turn: Box::new(|| compress(&blocks, level)),
        bases: vec![],
    }];
    for threads in [1, 2] {
        let (target, packing) = (&target, Options { threads, ..packing.clone() });
        contenders.push(Contender {
            row: options.row("pack", format!("linerate {name} x{threads}"), threads, "wall"),
            turn: Box::new(move || {
                let work = || options.input.builder(packing.clone())?.write(target).map_err(message);
                wall(work).map(|(_, time)| time)
            }),
            bases: vec![(0, Some(Target::AtLeast(0.9 * threads as f64)))],
        });
    }
    let rows = rounds::measure(contenders, options.rounds, progress)?;
    let ratio = Some(summary.archive_bytes as f64 / options.input.bytes as f64);
    Ok(rows.into_iter().map(|row| Row { archive_bytes: Some(summary.archive_bytes), ratio, ..row }).collect())
}

/// All blocks with one context into one buffer.
fn compress(blocks: &[Vec<u8>], level: i32) -> Result<Duration, String> {
    let name = zstd_safe::get_error_name;
    let mut context = CCtx::create();
    context.set_parameter(CParameter::CompressionLevel(level)).map_err(name)?;
    let longest = blocks.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = vec![0; zstd_safe::compress_bound(longest)];
    let mut work = || blocks.iter().try_for_each(|block| context.compress2(&mut out[..], block).map(|_| ()));
    wall(|| work().map_err(|code| name(code).to_owned())).map(|(_, time)| time)
}
