//! Sizes of archives of folders, as CSV: what each lever gains, beside `tar | zstd`.
//!
//!     cargo run --release -p linerate-nx --example sizes -- FOLDER... > sizes.csv
//!
//! `seconds` is the time of packing with one thread into a folder for temporary files, and of zstd alone
//! for tar.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use std::{env, fs};

use linerate_nx::pack::{Builder, Coding, FileOptions, Format, Options, PRESETS};

/// The level of all that is not a preset.
const LEVEL: i32 = 9;

fn main() -> Result<(), Box<dyn Error>> {
    println!("folder,what,blocks,bytes,seconds");
    for folder in env::args_os().skip(1).map(PathBuf::from) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for order in ["name", "none"] {
            if let Some((bytes, seconds)) = tar(&folder, order) {
                println!("{name},tar --sort={order} | zstd -{LEVEL},,{bytes},{seconds:.2}");
            }
        }
        for (what, options, format) in variants() {
            let (blocks, bytes, seconds) = pack(&folder, options, format)?;
            println!("{name},{what},{blocks},{bytes},{seconds:.2}");
        }
    }
    Ok(())
}

fn variants() -> Vec<(String, Options, Format)> {
    let at = |chunk: u64| Options {
        chunk,
        solid_limit: chunk - 1,
        solid: Coding::zstd(LEVEL),
        chunked: Coding::zstd(LEVEL),
        ..Options::default()
    };
    let mut all = Vec::new();
    for (name, chunk) in [("128K", 128 << 10), ("1M", 1 << 20), ("16M", 16 << 20)] {
        let plain = Options { group_similar: false, fit_search: false, ..at(chunk) };
        all.push((format!("{name} plain"), plain, Format::Nx));
        all.push((format!("{name} grouped"), Options { fit_search: false, ..at(chunk) }, Format::Nx));
        all.push((format!("{name} grouped and fitted"), at(chunk), Format::Nx));
    }
    for (name, chunk) in [("64K", 64 << 10), ("128K", 128 << 10)] {
        for dictionaries in [false, true] {
            let what = if dictionaries { "r3a with dictionaries" } else { "r3a" };
            all.push((format!("{name} {what}"), Options { dictionaries, ..at(chunk) }, Format::R3a));
        }
    }
    all.push(("default".into(), Options::default(), Format::Nx));
    for preset in PRESETS {
        all.push((format!("preset {}", preset.name), preset.options(), Format::Nx));
    }
    let vfs = PRESETS.iter().find(|preset| preset.name == "vfs").map(linerate_nx::pack::Preset::options);
    all.extend(vfs.map(|options| ("preset vfs r3a".into(), options, Format::R3a)));
    all
}

fn pack(folder: &Path, options: Options, format: Format) -> Result<(u64, u64, f64), Box<dyn Error>> {
    let start = Instant::now();
    let mut builder = Builder::new(options)?;
    // What Windows cannot have is not packed.
    builder.add_folder(folder, |path| (!path.ends_with('.')).then(FileOptions::default))?;
    let target = tempfile::tempdir()?;
    let summary = builder.write_as(&target.path().join("archive"), format)?;
    Ok((summary.blocks, summary.archive_bytes, start.elapsed().as_secs_f64()))
}

/// The bytes and seconds of zstd, where both programs are installed.
fn tar(folder: &Path, order: &str) -> Option<(u64, f64)> {
    let target = tempfile::tempdir().ok()?;
    let (tar, zst) = (target.path().join("tar"), target.path().join("tar.zst"));
    let sorted = format!("--sort={order}");
    let packed = Command::new("tar").arg(sorted).arg("-cf").arg(&tar).arg("-C").arg(folder).arg(".").status();
    packed.ok().filter(std::process::ExitStatus::success)?;
    let start = Instant::now();
    let level = format!("-{LEVEL}");
    let mut zstd = Command::new("zstd");
    zstd.args([&level, "-q", "--single-thread"]).arg(&tar).arg("-o").arg(&zst);
    zstd.status().ok().filter(std::process::ExitStatus::success)?;
    let seconds = start.elapsed().as_secs_f64();
    Some((fs::metadata(&zst).ok()?.len(), seconds))
}
