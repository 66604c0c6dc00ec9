//! Measures the loading of a level: files in an order that is not the archive's, several passes, whole files one by one.
//! Beside an archive with a shared cache: a zip file (inflated by zlib-rs), a folder (plain files, or a mounted file system),
//! and a tar file in one zstd frame, of which each file takes decoding up to its end. Each contender runs in a process of its
//! own, whose most memory is reported. Prints CSV.
//!
//!     cargo run --release -p linerate-nx --example level_load -- FOLDER FILES PASSES CACHE_MIB KIND=PATH...
//!
//! KIND is `nx`, `nx-batch` (all files at once by two threads), `zip`, `tar.zst` or any other, which is a folder. All of them
//! hold the files of FOLDER.

mod common;

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use common::process_time;
use linerate_nx::shared::{Executor, SharedArchive, SharedCache, SharedOptions};
use linerate_nx::{Archive, FileSource, HashKind};
use zlib_rs::{Inflate, InflateFlush, Status};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Of the tar file only so many files are read, each from the start of the frame.
const SAMPLED: usize = 30;

/// Reads one file, whole.
type ReadFile = Box<dyn FnMut(&str) -> Outcome<Vec<u8>>>;

const HEAD: &str = "contender,files,bytes,first_ms,pass_1_ms,pass_2_ms,pass_3_ms,cpu_ms,p50_us,p99_us,peak_mib,hits,misses,decoded_bytes";

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.as_slice() {
        [run, rest @ ..] if run == "run" => measure(rest),
        [_, _, _, _, _, ..] => {
            println!("{HEAD}");
            for contender in &args[4..] {
                let mut command = Command::new(std::env::current_exe()?);
                let status = command.arg("run").args(&args[..4]).arg(contender).status()?;
                assert!(status.success(), "{contender}");
            }
            Ok(())
        }
        _ => Err("usage: level_load FOLDER FILES PASSES CACHE_MIB KIND=PATH...".into()),
    }
}

fn measure(args: &[String]) -> Outcome<()> {
    let [folder, files, passes, cache, contender] = args else { return Err("five arguments".into()) };
    let (kind, path) = contender.split_once('=').ok_or("KIND=PATH")?;
    let mut order = order(Path::new(folder), files.parse()?)?;
    if kind == "tar.zst" {
        order.truncate(SAMPLED);
    }
    let expected: Vec<u64> = order
        .iter()
        .map(|name| Ok(hash(&fs::read(Path::new(folder).join(name))?)))
        .collect::<Outcome<_>>()?;
    let cache = SharedCache::new(cache.parse::<u64>()? << 20);
    let begun = (Instant::now(), process_time());
    if kind == "nx-batch" {
        return batch(path, &order, &expected, &cache);
    }
    let mut read = open(kind, path, &cache)?;
    let passes = if kind == "tar.zst" { 1 } else { passes.parse()? };
    let (mut first, mut times, mut walls, mut bytes) = (None, Vec::new(), Vec::new(), 0);
    for pass in 0..passes {
        let mut wall = if pass == 0 { begun.0.elapsed() } else { Default::default() };
        for (name, expected) in order.iter().zip(&expected) {
            let asked = Instant::now();
            let content = read(name)?;
            let took = asked.elapsed();
            wall += took;
            times.push(took.as_secs_f64() * 1e6);
            first.get_or_insert_with(|| begun.0.elapsed());
            bytes += content.len() as u64;
            // Not timed.
            assert_eq!(hash(&content), *expected, "{name}");
        }
        walls.push(format!("{:.1}", wall.as_secs_f64() * 1e3));
    }
    let cpu = process_time() - begun.1;
    walls.resize(3, String::new());
    times.sort_by(f64::total_cmp);
    let part = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let counters = cache.counters();
    println!(
        "{kind},{},{},{:.2},{},{:.1},{:.1},{:.1},{:.0},{},{},{}",
        order.len(),
        bytes / passes as u64,
        first.unwrap_or_default().as_secs_f64() * 1e3,
        walls.join(","),
        cpu.as_secs_f64() * 1e3,
        part(0.5),
        part(0.99),
        peak_mib(),
        counters.hits,
        counters.misses,
        counters.decoded_bytes,
    );
    Ok(())
}

/// All files at once: what a loading screen waits for.
fn batch(path: &str, order: &[String], expected: &[u64], cache: &SharedCache) -> Outcome<()> {
    let begun = (Instant::now(), process_time());
    let options = SharedOptions::new().cache(cache).executor(Executor::threads(2));
    let shared = SharedArchive::with_options(Archive::open(FileSource::open(path)?)?, options)?;
    let loaded = shared.batch(order)?.read_many()?.wait();
    let (wall, cpu) = (begun.0.elapsed(), process_time() - begun.1);
    let contents: Vec<&Vec<u8>> = loaded.contents.iter().flatten().collect();
    assert!(contents.iter().map(|content| hash(content)).eq(expected.iter().copied()));
    let bytes: usize = contents.iter().map(|content| content.len()).sum();
    let (wall, cpu) = (wall.as_secs_f64() * 1e3, cpu.as_secs_f64() * 1e3);
    println!("nx-batch,{},{bytes},,{wall:.1},,,{cpu:.1},,,{:.0},,,", contents.len(), peak_mib());
    Ok(())
}

/// Files below a folder, shuffled, always alike.
fn order(folder: &Path, count: usize) -> Outcome<Vec<String>> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next)? {
            let path = entry?.path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.push(path.strip_prefix(folder)?.to_str().ok_or("UTF-8")?.to_owned()),
            }
        }
    }
    found.sort();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for i in (1..found.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        found.swap(i, (state % (i as u64 + 1)) as usize);
    }
    found.truncate(count);
    Ok(found)
}

fn open(kind: &str, path: &str, cache: &SharedCache) -> Outcome<ReadFile> {
    let path = path.to_owned();
    Ok(match kind {
        "nx" => {
            let archive = Archive::open(FileSource::open(path)?)?;
            let shared = SharedArchive::with_options(archive, SharedOptions::new().cache(cache))?;
            Box::new(move |name| Ok(shared.read(name)?))
        }
        "zip" => zip(&path)?,
        "tar.zst" => Box::new(move |name| from_tar(&path, name)),
        _ => Box::new(move |name| Ok(fs::read(Path::new(&path).join(name))?)),
    })
}

fn number(bytes: &[u8], at: usize, len: usize) -> usize {
    (0..len).rev().fold(0, |value, i| value << 8 | usize::from(bytes[at + i]))
}

/// The files of a zip file without extensions, by its central directory.
fn zip(path: &str) -> Outcome<ReadFile> {
    let source = FileSource::open(path)?;
    let len = linerate_nx::ReadAt::len(&source) as usize;
    let get = move |at: usize, len: usize| -> Outcome<Vec<u8>> {
        let mut out = vec![0; len];
        linerate_nx::ReadAt::read_at(&source, at as u64, &mut out)?;
        Ok(out)
    };
    let end = get(len - 22, 22)?;
    assert_eq!(end[..4], *b"PK\x05\x06", "a zip file without a comment");
    let directory = get(number(&end, 16, 4), number(&end, 12, 4))?;
    let (mut files, mut at) = (HashMap::new(), 0);
    while at < directory.len() {
        let field = |offset, len| number(&directory, at + offset, len);
        let name = at + 46..at + 46 + field(28, 2);
        let name_text = std::str::from_utf8(&directory[name.clone()])?.to_owned();
        files.insert(name_text, [field(10, 2), field(20, 4), field(24, 4), field(42, 4)]);
        at = name.end + field(30, 2) + field(32, 2);
    }
    Ok(Box::new(move |name| {
        let [method, compressed, size, header] = *files.get(name).ok_or("no such file")?;
        let local = get(header, 30)?;
        let bytes = get(header + 30 + number(&local, 26, 2) + number(&local, 28, 2), compressed)?;
        if method == 0 {
            return Ok(bytes);
        }
        let mut out = vec![0; size];
        let status = Inflate::new(false, 15).decompress(&bytes, &mut out, InflateFlush::Finish);
        assert!(matches!(status, Ok(Status::StreamEnd)), "{name}: {status:?}");
        Ok(out)
    }))
}

/// A file of a tar file, decoded from its start to the end of the file.
fn from_tar(path: &str, wanted: &str) -> Outcome<Vec<u8>> {
    use std::io::Read;
    let mut reader = linerate_zstd::Decoder::new(fs::File::open(path)?)?;
    let mut header = [0; 512];
    loop {
        reader.read_exact(&mut header)?;
        let text = |range: std::ops::Range<usize>| -> Outcome<String> {
            Ok(std::str::from_utf8(&header[range])?.trim_end_matches('\0').to_owned())
        };
        let size = u64::from_str_radix(text(124..136)?.trim(), 8)?;
        let name = format!("{}/{}", text(345..500)?, text(0..100)?);
        let padded = size.next_multiple_of(512);
        if header[156] == b'0' && name.trim_start_matches('/').trim_start_matches("./") == wanted {
            let mut content = vec![0; size as usize];
            reader.read_exact(&mut content)?;
            return Ok(content);
        }
        std::io::copy(&mut (&mut reader).take(padded), &mut std::io::sink())?;
    }
}

fn hash(bytes: &[u8]) -> u64 {
    HashKind::Xxh3.hash_bytes(bytes)
}

/// The most memory that this process had.
fn peak_mib() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or_default() / 1024.0
}
