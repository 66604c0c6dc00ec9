//! Archives of folders with and without texture filters, in memory: CSV, a row for each setting. Decoding is that of every
//! block, without hashes: CPU time of one thread, and wall time of two; medians of TURNS in which the archives alternate.
//!
//!     cargo run --release -p linerate-nx --example filtering -- TURNS SETTING,... ARCHIVES FOLDER...
//!
//! Settings are the presets, with the filters that `auto` means for them; `12` and `12-16M`, which are zstd 12 in blocks of 1 and of
//! 16 MiB; and `1M` and `16M`, blocks of that size at zstd 22 in long mode; these with all filters. `SETTING/all` and `SETTING/fast` have others. ARCHIVES is a folder
//! for the archives: what it has is not packed again, so that a second run measures decoding alone.

mod common;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use common::{median, process_time, thread_time};
use linerate_nx::pack::{Builder, Coding, FileOptions, Filters, Options, Preset, Zstd};
use linerate_nx::{Archive, Verifier};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: filtering TURNS SETTING,... ARCHIVES FOLDER...";
    let turns: usize = args.next().ok_or(usage)?.parse()?;
    let settings = args.next().ok_or(usage)?;
    let archives = PathBuf::from(args.next().ok_or(usage)?);
    println!(
        "folder,setting,bytes,archive_bytes,filtered_bytes,size_ratio,filtered_blocks,blocks,pack_s,filtered_pack_s,\
         mb_s,filtered_mb_s,cpu_speed_ratio,mb_s_two_threads,filtered_mb_s_two_threads,wall_speed_ratio_two_threads"
    );
    for folder in args {
        for setting in settings.split(',') {
            measure(Path::new(&folder), setting, &archives, turns.max(1))?;
        }
    }
    Ok(())
}

fn options(setting: &str) -> Option<Options> {
    let at = |chunk: u64, coding: Coding| {
        let options = Options { solid: coding, chunked: coding, fit_search: false, ..Options::default() };
        Options { chunk, solid_limit: chunk - 1, ..options }
    };
    let slowest = Coding::Zstd(Zstd { level: 22, min_match: 0, literals: true, long: true });
    let (name, asked) = setting.split_once('/').map_or((setting, None), |(name, list)| (name, Some(list)));
    let (options, filters) = match name {
        "12" => (at(1 << 20, Coding::zstd(12)), Filters::all()),
        "12-16M" => (at(16 << 20, Coding::zstd(12)), Filters::all()),
        "1M" => (at(1 << 20, slowest), Filters::all()),
        "16M" => (at(16 << 20, slowest), Filters::all()),
        _ => {
            let preset = Preset::from_name(name)?;
            (preset.options(), preset.filters())
        }
    };
    Some(options.filters(asked.map_or(Some(filters), |list| Filters::parse(list).ok())?))
}

/// An archive and the CPU seconds of packing it, now or when `target` was written.
fn pack(folder: &Path, options: Options, target: &Path) -> Outcome<(Archive<Vec<u8>>, f64)> {
    let seconds = target.with_extension("seconds");
    if !seconds.exists() {
        let mut builder = Builder::new(options)?;
        builder.add_folder(folder, |_| Some(FileOptions::default()))?;
        let begun = process_time();
        let (bytes, _) = builder.to_bytes()?;
        let taken = (process_time() - begun).as_secs_f64();
        fs::write(target, bytes)?;
        fs::write(&seconds, taken.to_string())?;
    }
    Ok((Archive::open(fs::read(target)?)?, fs::read_to_string(seconds)?.parse()?))
}

fn measure(folder: &Path, setting: &str, archives: &Path, turns: usize) -> Outcome<()> {
    let options = options(setting).ok_or("no such setting")?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let target = |kind: &str| archives.join(format!("{name}-{}-{kind}.nx", setting.replace('/', "-")));
    let plain = pack(folder, options.clone().filters(Filters::NONE), &target("plain"))?;
    let filtered = pack(folder, options, &target("filtered"))?;
    let bytes: u64 = plain.0.files().map(|file| file.size()).sum();
    let speed = |seconds: f64| bytes as f64 / seconds / 1e6;
    let [mut one, mut one_filtered, mut two, mut two_filtered] = [const { Vec::new() }; 4];
    let [mut ratios, mut two_ratios] = [const { Vec::new() }; 2];
    for _ in 0..turns {
        let (without, with) = (decode(&plain.0, 1)?.0, decode(&filtered.0, 1)?.0);
        let (two_without, two_with) = (decode(&plain.0, 2)?.1, decode(&filtered.0, 2)?.1);
        one.push(speed(without));
        one_filtered.push(speed(with));
        ratios.push(without / with);
        two.push(speed(two_without));
        two_filtered.push(speed(two_with));
        two_ratios.push(two_without / two_with);
    }
    let (len, filtered_len) = (plain.0.source().len(), filtered.0.source().len());
    let toc = &filtered.0.toc().blocks;
    let (blocks, of_textures) = (toc.len(), toc.iter().filter(|block| block.filtered).count());
    let [one, one_filtered, ratio] = [one, one_filtered, ratios].map(median);
    let [two, two_filtered, two_ratio] = [two, two_filtered, two_ratios].map(median);
    println!(
        "{name},{setting},{bytes},{len},{filtered_len},{:.4},{},{blocks},{:.2},{:.2},{one:.0},{one_filtered:.0},{ratio:.3},\
         {two:.0},{two_filtered:.0},{two_ratio:.3}",
        filtered_len as f64 / len as f64,
        of_textures,
        plain.1,
        filtered.1,
    );
    Ok(())
}

/// Decodes every block, and returns seconds of CPU time of this thread, and of wall time.
fn decode(archive: &Archive<Vec<u8>>, threads: usize) -> Outcome<(f64, f64)> {
    let (begun, begun_wall) = (thread_time(), Instant::now());
    let verified = Verifier::new(archive).threads(threads).hashes(false).run()?;
    let times = ((thread_time() - begun).as_secs_f64(), begun_wall.elapsed().as_secs_f64());
    match verified.failures.is_empty() {
        true => Ok(times),
        false => Err("a file of the archive is damaged".into()),
    }
}
