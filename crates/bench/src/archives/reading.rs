//! Measures reading archives: an archive that is not in the page cache; and files in random order,
//! as a game loads a level, from an archive beside other containers.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use linerate_candidates::cpu_time;
use linerate_gateway_sim::traffic::Random;
use linerate_nx::shared::{Executor, SharedArchive, SharedCache, SharedOptions};
use linerate_nx::{Archive, FileSource, HashKind, ReadAt, Verifier};
use tempfile::TempDir;
use zlib_rs::{Inflate, InflateFlush, Status};

use super::programs::PROGRAMS;
use super::{Bench, CHUNK, files_below, message, pack_options};
use crate::harness::{Clock, Contender, Rounds, Spent, measure as harness, process, row};
use crate::kernel::os::{children_time, terminate, told};
use crate::records::Measurement;

/// Maximum bytes of a read when the archive's file is read without decoding it.
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
/// Number of passes over the files of a container. A tar file gets one.
const PASSES: usize = 3;
/// Capacity of an archive's cache of decoded blocks, in bytes.
const CACHE: u64 = 64 << 20;

/// Measures reading whole files in an order that is not the archive's, in three passes: one by one
/// from an archive with a shared cache, a zip file (inflated by zlib-rs), a mounted squashfs file,
/// and a folder; and all in one call, by two threads, as a batch from the archive. A tar file in
/// one zstd frame gets one pass over at most 30 files, each decoded from the frame's start.
///
/// Each turn has its own process. Elapsed and CPU time are those of opening and reading;
/// contents are compared between the reads, untimed. CPU time and peak memory of a squashfs file
/// include those of squashfuse, which mounts it.
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
                false => Err(process::why(&output)),
            }
        })
    });
    Ok(vec![harness(contenders.collect(), Rounds::parts(bench.rounds, 1))?])
}

/// Reads whole files at paths within a container.
type ReadFiles = Box<dyn FnMut(&[String]) -> Result<Vec<Vec<u8>>, String>>;

/// Runs the child process of one contender, which prints the name and the value of a metric on each
/// line. `words` are the kind of container, its path, and the folder with the same files.
///
/// # Errors
/// A sentence for the user.
pub fn child(words: &[String]) -> Result<(), String> {
    let [kind, path, folder] = words else { return Err("three arguments are needed".into()) };
    let mut order = order(Path::new(folder))?;
    let (mut at_once, mut passes) = (1, PASSES);
    match &**kind {
        "nx-batch" => at_once = order.len().max(1),
        "tar.zst" => {
            order.truncate(SAMPLED);
            passes = 1;
        }
        _ => {}
    }
    let hash = |bytes: &[u8]| HashKind::Xxh3.hash_bytes(bytes);
    let content =
        |name: &String| fs::read(Path::new(folder).join(name)).map(|bytes| hash(&bytes)).map_err(message);
    let expected: Vec<u64> = order.iter().map(content).collect::<Result<_, String>>()?;
    let cache = SharedCache::new(CACHE);
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let (begun, begun_cpu) = (Instant::now(), cpu_time());
    let mounted = if kind == "squashfs" { Some(Mounted::new(Path::new(path))?) } else { None };
    let path = mounted.as_ref().map_or(Path::new(path), |mounted| mounted.folder.path());
    let mut read = open(kind, path, &cache)?;
    let (mut wall, mut cpu) = (begun.elapsed(), cpu_time() - begun_cpu);
    let (mut first, mut times) = (None, Vec::new());
    for pass in 1..=passes {
        for (names, expected) in order.chunks(at_once).zip(expected.chunks(at_once)) {
            let (asked, asked_cpu) = (Instant::now(), cpu_time());
            let contents = read(names)?;
            let took = asked.elapsed();
            (wall, cpu) = (wall + took, cpu + (cpu_time() - asked_cpu));
            first.get_or_insert(wall);
            times.push(took.as_secs_f64() * 1e6);
            if !contents.iter().map(|content| hash(content)).eq(expected.iter().copied()) {
                return Err(format!("{}: different bytes", names[0]));
            }
        }
        println!("pass_{pass} {}", ms(wall));
        wall = Duration::ZERO;
    }
    let peak = |process: &str| told(&format!("/proc/{process}/status"), "VmHWM:").unwrap_or_default();
    let mut peaks = peak("self");
    if let Some(mounted) = mounted {
        peaks += peak(&mounted.squashfuse.id().to_string());
        drop(mounted);
        // squashfuse was the only child.
        cpu += children_time().unwrap_or_default();
    }
    println!("cpu {}\npeak {peaks}", cpu.as_secs_f64());
    if at_once == 1 {
        times.sort_by(f64::total_cmp);
        let quantile = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or_default();
        println!("first {}\np50 {}\np99 {}", ms(first.unwrap_or_default()), quantile(50), quantile(99));
    }
    if kind == "nx" {
        let stats = cache.counters();
        println!("hits {}\nmisses {}\ndecoded {}", stats.hits, stats.misses, stats.decoded_bytes);
    }
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

/// Opens a container. A `kind` other than `nx`, `nx-batch`, `zip` and `tar.zst` is a folder.
fn open(kind: &str, path: &Path, cache: &SharedCache) -> Result<ReadFiles, String> {
    let path = path.to_owned();
    Ok(match kind {
        "nx" | "nx-batch" => {
            let archive = Archive::open(FileSource::open(path).map_err(message)?).map_err(message)?;
            let executor = if kind == "nx" { Executor::inline() } else { Executor::threads(2) };
            let options = SharedOptions::new().cache(cache).executor(executor);
            let shared = SharedArchive::with_options(archive, options).map_err(message)?;
            match kind {
                "nx" => one_by_one(move |name| shared.read(name).map_err(message)),
                _ => Box::new(move |names| {
                    let loaded = shared.batch(names).map_err(message)?.read_many().map_err(message)?.wait();
                    let contents = loaded.contents.into_iter().collect::<Option<_>>();
                    contents.ok_or_else(|| loaded.failures.first().map_or_else(String::new, message))
                }),
            }
        }
        "zip" => zip(&path)?,
        "tar.zst" => one_by_one(move |name| {
            let file = File::open(&path).map_err(message)?;
            from_tar(linerate_zstd::Decoder::new(file).map_err(message)?, name).map_err(message)
        }),
        _ => one_by_one(move |name| fs::read(path.join(name)).map_err(message)),
    })
}

/// Returns a function that reads several files by calling `read` for each.
fn one_by_one(mut read: impl FnMut(&str) -> Result<Vec<u8>, String> + 'static) -> ReadFiles {
    Box::new(move |names| names.iter().map(|name| read(name)).collect())
}

/// A squashfs file, mounted by squashfuse until it is dropped.
struct Mounted {
    folder: TempDir,
    squashfuse: Child,
}

impl Mounted {
    fn new(file: &Path) -> Result<Mounted, String> {
        let folder = tempfile::tempdir().map_err(message)?;
        // With -f squashfuse stays a child of this process, which can read its CPU time and memory.
        let mut command = Command::new("squashfuse");
        command.arg("-f").arg(file).arg(folder.path()).stdin(Stdio::null()).stdout(Stdio::null());
        let squashfuse = command.spawn().map_err(|e| format!("squashfuse: {e}"))?;
        let mut mounted = Mounted { folder, squashfuse };
        while fs::read_dir(mounted.folder.path()).map_err(message)?.next().is_none() {
            if let Some(status) = mounted.squashfuse.try_wait().map_err(message)? {
                return Err(format!("squashfuse: {status}"));
            }
            thread::sleep(Duration::from_micros(100));
        }
        Ok(mounted)
    }
}

impl Drop for Mounted {
    /// Ends squashfuse, which unmounts.
    fn drop(&mut self) {
        if matches!(self.squashfuse.try_wait(), Ok(None)) {
            terminate(&self.squashfuse);
        }
        _ = self.squashfuse.wait();
    }
}

/// The little-endian number in `len` bytes from index `at`.
fn number(bytes: &[u8], at: usize, len: usize) -> usize {
    (0..len).rev().fold(0, |value, i| value << 8 | usize::from(bytes[at + i]))
}

/// Opens a zip file that has no comment and no Zip64 fields, and reads its central directory. The
/// returned function reads files that are stored or deflated.
fn zip(path: &Path) -> Result<ReadFiles, String> {
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
    Ok(one_by_one(move |name| {
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

/// Reads the file `wanted` from a tar file of GNU tar. Reads on from the tar file's start to the
/// end of `wanted`.
fn from_tar(mut reader: impl Read, wanted: &str) -> io::Result<Vec<u8>> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_matches('\0').to_owned();
    let (mut header, mut long_path) = ([0; 512], None);
    loop {
        reader.read_exact(&mut header)?;
        if header == [0; 512] {
            return Err(io::Error::other(format!("{wanted}: not in the tar file")));
        }
        let size = u64::from_str_radix(text(&header[124..136]).trim(), 8).map_err(io::Error::other)?;
        let path = long_path.take().unwrap_or_else(|| text(&header[..100]));
        // A path of more than 100 bytes is the content of an extra entry before the file's entry.
        let is_path = header[156] == b'L';
        let mut entry = (&mut reader).take(size.next_multiple_of(512));
        if !is_path && (header[156] != b'0' || path.trim_start_matches("./") != wanted) {
            io::copy(&mut entry, &mut io::sink())?;
            continue;
        }
        let mut content = Vec::with_capacity(entry.limit() as usize);
        entry.read_to_end(&mut content)?;
        content.truncate(size as usize);
        if !is_path {
            return Ok(content);
        }
        long_path = Some(text(&content));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_with_a_path_over_100_bytes_is_found_in_a_tar_file() {
        let long = format!("{}/file", "folder".repeat(20));
        let entry = |name: &[u8], kind: u8, content: &[u8]| {
            let mut blocks = vec![0; 512 + content.len().next_multiple_of(512)];
            blocks[..name.len()].copy_from_slice(name);
            blocks[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
            blocks[156] = kind;
            blocks[512..][..content.len()].copy_from_slice(content);
            blocks
        };
        let tar = [
            entry(b"./", b'5', b""),
            entry(b"././@LongLink", b'L', format!("./{long}\0").as_bytes()),
            entry(&format!("./{long}").as_bytes()[..100], b'0', b"far away"),
            entry(b"./near", b'0', b"near"),
            vec![0; 1024],
        ];
        let read = |wanted: &str| from_tar(&tar.concat()[..], wanted);
        assert_eq!(read(&long).unwrap(), b"far away");
        assert_eq!(read("near").unwrap(), b"near");
        assert!(read("absent").unwrap_err().to_string().contains("not in the tar file"));
    }
}
