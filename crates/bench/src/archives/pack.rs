//! Packs a folder, beside libzstd compressing the same blocks with one thread; and packs a folder
//! that holds every file twice.

use std::fs;
use std::path::Path;

use linerate_candidates::cpu_time;
use linerate_nx::HashKind;
use linerate_nx::pack::{Coding, PRESETS, PackOptions};
use zstd_safe::{CCtx, CParameter};

use super::decode::Raw;
use super::{Bench, CHUNK, Input, files_below, message, open_bytes, pack_options};
use crate::harness::{Clock, Contender, Rounds, Spent, measure as harness, progress};
use crate::records::Measurement;

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Vec<Measurement>>, String> {
    let mut found = Vec::new();
    for &level in bench.levels {
        let fitted = pack_options(level, CHUNK, 1);
        let plain = PackOptions { fit_search: false, group_similar: false, ..fitted.clone() };
        found.push(setting(bench, "linerate", &fitted, Some(level))?);
        found.push(setting(bench, "linerate plain", &plain, Some(level))?);
    }
    let lz4 = PackOptions::new().solid(Coding::lz4(1)).chunked(Coding::lz4(1));
    let mut others = vec![("LZ4 1", lz4), ("default", PackOptions::new())];
    others.extend(PRESETS.iter().map(|preset| (preset.name, preset.options())));
    for (name, options) in others {
        found.push(setting(bench, &format!("linerate {name}"), &options, None)?);
    }
    Ok(found)
}

/// Measures packing with the options `packing`, with one thread and with two, and if there is a
/// `level` beside libzstd at that level on the same blocks. All turns must write the same archive.
fn setting(
    bench: &Bench<'_>,
    name: &str,
    packing: &PackOptions,
    level: Option<i32>,
) -> Result<Vec<Measurement>, String> {
    progress(&format!("packing {}: {name}", bench.input.name));
    let (bytes, summary) = bench.input.pack(packing.clone())?;
    let hash = HashKind::Xxh3.hash_bytes(&bytes);
    let mut blocks = Vec::new();
    if level.is_some() {
        Raw::new(&open_bytes(&bytes)?).each(|content| blocks.push(content.to_vec()))?;
    }
    drop(bytes);
    let (folder, content) = (bench.folder()?, bench.input.bytes as usize);
    let target = &folder.path().join("packed.nx");
    let row = |name: &str, threads: usize| {
        let row = bench.sized(bench.row("pack", name, threads, "wall"), summary.archive_bytes);
        if let Some(level) = level { row.param("level", level) } else { row }
    };
    let mut contenders = Vec::new();
    if let Some(level) = level {
        let row = row(if name == "linerate" { "libzstd" } else { "libzstd, blocks of linerate plain" }, 1);
        let (mut context, longest) = (CCtx::create(), blocks.iter().map(Vec::len).max().unwrap_or(0));
        let name = zstd_safe::get_error_name;
        context.set_parameter(CParameter::CompressionLevel(level)).map_err(name)?;
        let (blocks, mut out) = (&blocks, vec![0; zstd_safe::compress_bound(longest)]);
        let work = move |_| {
            let mut one = |block: &Vec<u8>| context.compress2(&mut out[..], block).map(drop);
            blocks.iter().try_for_each(&mut one).map_err(|code| name(code).to_owned())
        };
        contenders.push(Contender::timed(row, Clock::Elapsed, work));
    }
    let first = contenders.len();
    for threads in [1, 2] {
        let row = row(name, threads);
        let packing = PackOptions { threads, ..packing.clone() };
        let turn = move |_| {
            let before = cpu_time();
            let write = || bench.input.builder(packing.clone())?.write(target).map_err(message);
            let (_, time) = Clock::Elapsed.time(write)?;
            let more = vec![("cpu", (cpu_time() - before).as_secs_f64())];
            match HashKind::Xxh3.hash_bytes(&fs::read(target).map_err(message)?) == hash {
                true => Ok(Spent { time, more }),
                false => Err("two turns wrote different archives".into()),
            }
        };
        let contender = Contender::new(row, turn);
        let contender = if threads > 1 { contender.by("speed_by_one_thread", first) } else { contender };
        contenders.push(match level {
            Some(_) => contender.base(0, "libzstd"),
            None => contender,
        });
    }
    let all = contenders.into_iter().map(|contender| contender.bytes(content).seconds("elapsed"));
    harness(all.collect(), Rounds::warm(bench.rounds))
}

/// Measures packing a folder that holds every file twice, beside one that holds them once. The
/// second copy costs reading and hashing but no compression, so reading and hashing all files is
/// measured too. A last row compares that with the time that the copies add.
pub(super) fn dedup(bench: &Bench<'_>) -> Result<Vec<Vec<Measurement>>, String> {
    let folder = bench.folder()?;
    for copy in ["once/a", "twice/a", "twice/b"] {
        copy_tree(&bench.input.root, &folder.path().join(copy))?;
    }
    let once = Input::of(&folder.path().join("once"), Some(&bench.input.name))?;
    let twice = Input::of(&folder.path().join("twice"), Some(&format!("{} twice", bench.input.name)))?;
    let target = folder.path().join("packed.nx");
    let at = |&level: &i32| {
        let contender = |input: &Input, name: String| {
            let mut row = bench.row("dedup", name, 1, "wall");
            row.data.clone_from(&input.name);
            row
        };
        let (name, target) = (format!("linerate zstd {level}"), &target);
        let [first, second] = [&once, &twice].map(|input| {
            let pack = move |_| {
                let builder = input.builder(pack_options(level, CHUNK, 1))?;
                builder.write(target).map(drop).map_err(message)
            };
            let row = contender(input, name.clone());
            Contender::timed(row, Clock::Elapsed, pack).bytes(input.bytes as usize)
        });
        let hash = Contender::timed(contender(&twice, "read and hash".into()), Clock::Elapsed, |_| {
            for path in files_below(&twice.root)? {
                std::hint::black_box(HashKind::Xxh3.hash_bytes(&fs::read(&path).map_err(message)?));
            }
            Ok(())
        });
        let all = vec![first, second.base(0, name.clone()), hash.bytes(twice.bytes as usize)];
        let all = all.into_iter().map(|contender| contender.seconds("elapsed"));
        let mut found = harness(all.collect(), Rounds::warm(bench.rounds))?;
        let seconds = |i: usize| found[i].metrics["elapsed"].median;
        let (added, hashing) = (seconds(1) - seconds(0), seconds(2));
        let row =
            contender(&twice, format!("what the copies add to zstd {level}")).param("base", "read and hash");
        found.push(row.exact("elapsed", added).exact("speed_by_base", hashing / added.max(1e-9)));
        Ok(found)
    };
    bench.levels.iter().map(at).collect()
}

fn copy_tree(from: &Path, to: &Path) -> Result<(), String> {
    for path in files_below(from)? {
        let target = to.join(path.strip_prefix(from).unwrap_or(&path));
        fs::create_dir_all(target.parent().unwrap_or(to)).map_err(message)?;
        fs::copy(path, target).map_err(message)?;
    }
    Ok(())
}
