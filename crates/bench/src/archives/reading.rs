//! Measures reading archives: an archive that is not in the page cache, and the files of a game
//! level from an archive beside other containers.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use linerate_candidates::cpu_time;
use linerate_gateway_sim::traffic::Random;
use linerate_nx::shared::{Executor, SharedArchive, SharedCache, SharedOptions};
use linerate_nx::{Archive, FileSource, HashKind, ReadAt, Verifier};
use tempfile::TempDir;
use zlib_rs::{Inflate, InflateFlush, Status};

use super::programs::{PROGRAMS, found};
use super::{Bench, CHUNK, files_below, message, pack_options};
use crate::harness::{Clock, Contender, Rounds, Spent, measure as harness, process, row};
use crate::kernel::os::told;
use crate::records::Measurement;

/// Bytes of each read when a file is read without decoding it.
const STEP: usize = 4 << 20;

/// A file that gives the system no hints about coming reads.
struct Unhinted(FileSource);

impl ReadAt for Unhinted {
    fn len(&self) -> u64 {
        self.0.len()
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, out)
    }
}

/// Measures the wall time of verifying an archive that is not in the page cache, with one thread
/// and with two, once with hints to the system about coming reads (`ReadAt::will_read`) and once
/// without. Beside that it measures reading the file without decoding it, and verifying it from the
/// page cache. Before all other turns the file is dropped from the page cache.
pub(super) fn cold(bench: &Bench<'_>) -> Result<Vec<Vec<Measurement>>, String> {
    fs::create_dir_all(&bench.drive).map_err(|e| format!("{}: {e}", bench.drive.display()))?;
    let folder = super::folder(&bench.drive)?;
    let path = &folder.path().join("cold.nx");
    bench.input.builder(pack_options(bench.levels[0], CHUNK, 2))?.write(path).map_err(message)?;
    let archive = &Archive::open(FileSource::open(path).map_err(message)?).map_err(message)?;
    let plain = &Archive::open(Unhinted(FileSource::open(path).map_err(message)?)).map_err(message)?;
    let mut found = Vec::new();
    for threads in [1, 2] {
        let row = |step: &str| {
            row("nx-cold", &bench.input.name, "linerate").param("threads", threads).param("step", step)
        };
        let read = |_| {
            let (source, mut buffer) = (archive.source(), vec![0; STEP]);
            for offset in (0..source.len()).step_by(STEP) {
                let len = (source.len() - offset).min(STEP as u64) as usize;
                source.read_at(offset, &mut buffer[..len]).map_err(message)?;
            }
            Ok(())
        };
        let forgetting = |row: Measurement, work: &'static str| {
            Contender::new(row, move |_| {
                forget(path)?;
                Clock::Elapsed
                    .time(|| match work {
                        "read" => read(0),
                        "hinted" => verify(archive, threads),
                        _ => verify(plain, threads),
                    })
                    .map(|((), time)| time)
            })
        };
        let contenders = vec![
            forgetting(row("reading alone"), "read"),
            Contender::timed(row("decoding alone"), Clock::Elapsed, |_| verify(archive, threads)),
            forgetting(row("with hints"), "hinted").base(0, "reading alone").base(1, "decoding alone"),
            forgetting(row("without hints"), "plain").base(0, "reading alone").base(1, "decoding alone"),
        ];
        let all = contenders.into_iter().map(|contender| contender.seconds("elapsed"));
        found.push(harness(all.collect(), Rounds::warm(bench.rounds))?);
    }
    Ok(found)
}

/// Writes a file to its drive and drops its pages from the page cache.
///
/// # Errors
/// The system's message; or the number of bytes that stay in memory, if they are more than a tenth
/// of the file, as on tmpfs.
fn forget(path: &Path) -> Result<(), String> {
    let at = |e: io::Error| format!("{}: {e}", path.display());
    let file = File::open(path).map_err(at)?;
    file.sync_all().map_err(at)?;
    crate::kernel::os::forget(&file).map_err(at)?;
    let (bytes, len) = (crate::kernel::os::cached(&file).map_err(at)?, file.metadata().map_err(at)?.len());
    match bytes > len / 10 {
        true => Err(format!(
            "{}: {bytes} of {len} bytes stay in memory; pass --scratch a folder on a drive",
            path.display()
        )),
        false => Ok(()),
    }
}

fn verify<S: ReadAt>(archive: &Archive<S>, threads: usize) -> Result<(), String> {
    let verified = Verifier::new(archive).threads(threads).run().map_err(message)?;
    verified.failures.first().map_or(Ok(()), |failure| Err(message(failure)))
}

/// Maximum number of files read from a tar file, each by decoding from the start of the zstd frame.
const SAMPLED: usize = 30;
/// Maximum number of files read from other containers.
const FILES: usize = 3000;
/// Number of times that all files are read, one after the other.
const PASSES: usize = 3;
/// Capacity of an archive's cache of decoded blocks, in bytes.
const CACHE: u64 = 64 << 20;

/// Measures reading whole files in an order that is not the archive's, one by one, in three passes:
/// from an archive with a shared cache, a zip file (inflated by zlib-rs), a mounted squashfs file,
/// and a folder. Two contenders make one pass: a batch, which reads all files of the archive in one
/// call, and a tar file in one zstd frame, which is decoded from its start up to the end of each of
/// 30 files. Each contender has its own process, whose peak memory is measured; the process that
/// mounts the squashfs file is not counted.
pub(super) fn level_load(bench: &Bench<'_>) -> Result<Vec<Vec<Measurement>>, String> {
    let (folder, level) = (bench.folder()?, bench.levels[0]);
    let nx = folder.path().join("l.nx");
    bench.input.builder(pack_options(level, CHUNK, 2))?.write(&nx).map_err(message)?;
    let mut all = vec![("nx", nx.clone()), ("nx-batch", nx), ("folder", bench.input.root.clone())];
    for program in &PROGRAMS {
        let kind = match program.archive {
            "zip" => "zip",
            "tar --zstd" => "tar.zst",
            "squashfs 128K zstd" => "squashfs",
            _ => continue,
        };
        let packed = program.packed(&bench.input.root, folder.path(), level).map(|packed| packed.archive);
        // Not every machine can mount a squashfs file.
        let usable = |path: &PathBuf| if kind == "squashfs" { Mounted::new(path).map(drop) } else { Ok(()) };
        match packed.and_then(|path| usable(&path).map(|()| path)) {
            Ok(path) => all.push((kind, path)),
            Err(why) => eprintln!("{kind}: {why}"),
        }
    }
    let root = &bench.input.root;
    let contenders = all.iter().map(|(kind, path)| {
        let output = path.metadata().map_or(0, |meta| if meta.is_file() { meta.len() } else { 0 });
        let files =
            if *kind == "tar.zst" { SAMPLED.min(bench.input.files) } else { FILES.min(bench.input.files) };
        let row = row("nx-level-load", &bench.input.name, *kind).param("files", files);
        let row = row.exact("output", (output > 0).then_some(output as f64));
        Contender::new(row, move |_| {
            let mut command = process::this(&["child", "level-load", kind])?;
            let output = command.arg(path).arg(root).output().map_err(message)?;
            let text = String::from_utf8_lossy(&output.stdout);
            let figure = |line: &str| {
                let (name, value) = line.split_once(' ')?;
                let known = crate::records::metric(name)?;
                Some((known.name, value.parse().ok()?))
            };
            let more: Vec<(&'static str, f64)> = text.lines().filter_map(figure).collect();
            match output.status.success() && !more.is_empty() {
                true => Ok(Spent { time: Default::default(), more }),
                false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            }
        })
    });
    Ok(vec![harness(contenders.collect(), Rounds::parts(bench.rounds, 1))?])
}

/// Reads the whole file at a path within a container.
type ReadFile = Box<dyn FnMut(&str) -> Result<Vec<u8>, String>>;

/// Runs the child process of one contender, which prints the name and the value of a metric on each
/// line. `words` are the kind of container, its path, and the folder with the same files.
///
/// # Errors
/// A sentence for the user.
pub fn child(words: &[String]) -> Result<(), String> {
    let [kind, path, folder] = words else { return Err("three arguments are needed".into()) };
    let mut order = order(Path::new(folder))?;
    if kind == "tar.zst" {
        order.truncate(SAMPLED);
    }
    let hash = |bytes: &[u8]| HashKind::Xxh3.hash_bytes(bytes);
    let content =
        |name: &String| fs::read(Path::new(folder).join(name)).map(|bytes| hash(&bytes)).map_err(message);
    let expected: Vec<u64> = order.iter().map(content).collect::<Result<_, String>>()?;
    let cache = SharedCache::new(CACHE);
    let (begun, begun_cpu) = (Instant::now(), cpu_time());
    let ms = |time: std::time::Duration| time.as_secs_f64() * 1e3;
    if kind == "nx-batch" {
        let options = SharedOptions::new().cache(&cache).executor(Executor::threads(2));
        let archive = Archive::open(FileSource::open(path).map_err(message)?).map_err(message)?;
        let shared = SharedArchive::with_options(archive, options).map_err(message)?;
        let loaded = shared.batch(&order).map_err(message)?.read_many().map_err(message)?.wait();
        println!("pass_1 {}\ncpu {}", ms(begun.elapsed()), (cpu_time() - begun_cpu).as_secs_f64());
        let found: Vec<u64> = loaded.contents.iter().flatten().map(|content| hash(content)).collect();
        if found != expected {
            return Err("a file has different bytes".into());
        }
    } else {
        let mut read = open(kind, path, &cache)?;
        let (mut first, mut times) = (None, Vec::new());
        for pass in 1..=if kind == "tar.zst" { 1 } else { PASSES } {
            let mut wall = if pass == 1 { begun.elapsed() } else { Default::default() };
            for (name, expected) in order.iter().zip(&expected) {
                let asked = Instant::now();
                let content = read(name)?;
                let took = asked.elapsed();
                wall += took;
                times.push(took.as_secs_f64() * 1e6);
                first.get_or_insert_with(|| begun.elapsed());
                // This check is in none of the elapsed times, but in the CPU time of `cpu`.
                if hash(&content) != *expected {
                    return Err(format!("{name}: different bytes"));
                }
            }
            println!("pass_{pass} {}", ms(wall));
        }
        times.sort_by(f64::total_cmp);
        let quantile = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or_default();
        println!("first {}\ncpu {}", ms(first.unwrap_or_default()), (cpu_time() - begun_cpu).as_secs_f64());
        println!("p50 {}\np99 {}", quantile(50), quantile(99));
        let stats = cache.counters();
        println!("hits {}\nmisses {}\ndecoded {}", stats.hits, stats.misses, stats.decoded_bytes);
    }
    println!("peak {}", told("/proc/self/status", "VmHWM:").unwrap_or_default());
    Ok(())
}

/// Paths of at most `FILES` files below a folder, relative to it and shuffled, in the same order in
/// every run.
fn order(folder: &Path) -> Result<Vec<String>, String> {
    let name = |path: &PathBuf| {
        let name = path.strip_prefix(folder).ok().and_then(Path::to_str);
        name.map(str::to_owned).ok_or_else(|| "a name that is not UTF-8".to_owned())
    };
    let mut found = files_below(folder)?.iter().map(name).collect::<Result<Vec<_>, _>>()?;
    let mut random = Random::stream(1, 0);
    for i in (1..found.len()).rev() {
        found.swap(i, random.below(i + 1));
    }
    found.truncate(FILES);
    Ok(found)
}

fn open(kind: &str, path: &str, cache: &SharedCache) -> Result<ReadFile, String> {
    let path = path.to_owned();
    Ok(match kind {
        "nx" => {
            let archive = Archive::open(FileSource::open(path).map_err(message)?).map_err(message)?;
            let options = SharedOptions::new().cache(cache);
            let shared = SharedArchive::with_options(archive, options).map_err(message)?;
            Box::new(move |name| shared.read(name).map_err(message))
        }
        "zip" => zip(&path)?,
        "squashfs" => {
            let mounted = Mounted::new(Path::new(&path))?;
            Box::new(move |name| fs::read(mounted.0.path().join(name)).map_err(message))
        }
        "tar.zst" => Box::new(move |name| from_tar(&path, name).map_err(message)),
        _ => Box::new(move |name| fs::read(Path::new(&path).join(name)).map_err(message)),
    })
}

/// A squashfs file, mounted until it is dropped.
struct Mounted(TempDir);

impl Mounted {
    fn new(file: &Path) -> Result<Mounted, String> {
        let folder = tempfile::tempdir().map_err(message)?;
        process::run(Command::new("squashfuse").arg(file).arg(folder.path())).map(|_| Mounted(folder))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let program = found("fusermount3|fusermount").unwrap_or("fusermount3");
        if let Err(why) = process::run(Command::new(program).arg("-u").arg(self.0.path())) {
            eprintln!("{}: {why}", self.0.path().display());
        }
    }
}

/// The little-endian number in `len` bytes from index `at`.
fn number(bytes: &[u8], at: usize, len: usize) -> usize {
    (0..len).rev().fold(0, |value, i| value << 8 | usize::from(bytes[at + i]))
}

/// Opens a zip file that has no comment and no Zip64 fields, and reads its central directory. The
/// returned function reads files that are stored or deflated.
fn zip(path: &str) -> Result<ReadFile, String> {
    let source = FileSource::open(path).map_err(message)?;
    let len = source.len() as usize;
    let get = move |at: usize, len: usize| -> Result<Vec<u8>, String> {
        let mut out = vec![0; len];
        source.read_at(at as u64, &mut out).map_err(message)?;
        Ok(out)
    };
    let end = get(len - 22, 22)?;
    if end[..4] != *b"PK\x05\x06" {
        return Err("a zip file with a comment".into());
    }
    let directory = get(number(&end, 16, 4), number(&end, 12, 4))?;
    let (mut files, mut at) = (HashMap::new(), 0);
    while at < directory.len() {
        let field = |offset, len| number(&directory, at + offset, len);
        let name = at + 46..at + 46 + field(28, 2);
        let text = String::from_utf8_lossy(&directory[name.clone()]).into_owned();
        files.insert(text, [field(10, 2), field(20, 4), field(24, 4), field(42, 4)]);
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
        match Inflate::new(false, 15).decompress(&bytes, &mut out, InflateFlush::Finish) {
            Ok(Status::StreamEnd) => Ok(out),
            other => Err(format!("{name}: {other:?}")),
        }
    }))
}

/// Reads a file from a tar file in one zstd frame, by decoding from the start to the end of that
/// file. Paths longer than the fields of a tar header are not found.
fn from_tar(path: &str, wanted: &str) -> io::Result<Vec<u8>> {
    let mut reader = linerate_zstd::Decoder::new(File::open(path)?)?;
    let mut header = [0; 512];
    loop {
        reader.read_exact(&mut header)?;
        let text = |range: std::ops::Range<usize>| {
            String::from_utf8_lossy(&header[range]).trim_matches('\0').to_owned()
        };
        let size = u64::from_str_radix(text(124..136).trim(), 8).map_err(io::Error::other)?;
        let name = format!("{}/{}", text(345..500), text(0..100));
        if header[156] == b'0' && name.trim_start_matches('/').trim_start_matches("./") == wanted {
            let mut content = vec![0; size as usize];
            reader.read_exact(&mut content)?;
            return Ok(content);
        }
        io::copy(&mut (&mut reader).take(size.next_multiple_of(512)), &mut io::sink())?;
    }
}
