//! The shape "sst": random rows from thousands of SST files, each with its own dictionary, beside
//! RocksDB.
//!
//! RocksDB writes the files into a folder, unless they are already there; they are in the page
//! cache. In each round every contender looks up the same rows, in random order, or decodes the
//! blocks that hold them. RocksDB runs in separate processes, which wait during other turns. All
//! contenders must find the same values. Figures are CPU time of the thread for each row.
//!
//! RocksDB is the system's, or the library that the environment variable `LINERATE_ROCKSDB` names.
//! `--rocksdb` gives its version where the tools of RocksDB do not print it.

use std::cell::Cell;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use linerate_candidates::thread_time;
use linerate_dict::sst::{Handle, Reader, Sst, SstOptions};
use linerate_dict::{Order, Store};
use linerate_gateway_sim::traffic::Random;
use zstd_safe::{DCtx, DDict};

use crate::harness::filter::Chunk;
use crate::harness::{Common, Contender, MISSING, Rounds, Spent, measure as harness, message, progress, row};
use crate::records::Measurement;

/// Options of `linerate-bench sst`.
#[derive(Args, Clone, Debug)]
pub struct SstArgs {
    /// Number of files, with --quick at most 64
    #[arg(long, value_name = "N", default_value_t = 2048)]
    files: usize,
    /// RocksDB's version, if its tools do not print it
    #[arg(long, value_name = "VERSION")]
    rocksdb: Option<String>,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Parent of the folders with the files, one for each number of files
    #[arg(value_name = "FOLDER", default_value = "target/sst-cold")]
    folder: PathBuf,
}

/// Number of rows in a file.
const ROWS: usize = 700;
/// Maximum bytes of each file's dictionary.
const DICTIONARY: usize = 8192;
/// The level of zstd at which RocksDB compresses.
const LEVEL: usize = 3;
/// Number of rows in a batch.
const BATCH: usize = 64;

/// Names of the contenders.
pub const NAMES: [&str; 3] = ["RocksDB", "linerate", "libzstd"];

/// A checksum of a value or block. The program that calls RocksDB, `bench/rocksdb/sst_cold.c`,
/// computes it in the same way.
///
/// # Panics
/// Panics if the value has less than 30 bytes.
fn seen(value: &[u8]) -> u64 {
    value.len() as u64
        + 1_000_003 * u64::from(value[value.len() / 3])
        + 7919 * u64::from(value[value.len() - 30])
}

/// Compiles the program that calls RocksDB into a folder, and returns its path.
fn rocksdb(folder: &Path) -> Result<PathBuf, String> {
    let program = folder.join("rocksdb-sst-cold");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/rocksdb/sst_cold.c");
    let library = match std::env::var("LINERATE_ROCKSDB") {
        Ok(file) => {
            let folder = Path::new(&file).parent().unwrap_or(Path::new("."));
            vec![file.clone(), format!("-Wl,-rpath,{}", folder.display())]
        }
        Err(_) => vec!["-lrocksdb".to_owned()],
    };
    let done = Command::new("cc").args(["-O2", "-o"]).arg(&program).arg(source).args(library).status();
    match done.is_ok_and(|status| status.success()) {
        true => Ok(program),
        false => Err(format!("{MISSING}a C compiler or RocksDB's library")),
    }
}

/// RocksDB's version, as its tool `sst_dump` prints it; empty if there is no such tool.
fn version() -> String {
    let output = Command::new("sst_dump").arg("--version").output();
    let said = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    said.split_whitespace().last().unwrap_or_default().to_owned()
}

/// Lets RocksDB write the files, unless an earlier run did, and returns their paths.
///
/// # Panics
/// Panics if RocksDB fails, or the folder has another number of files.
fn tables(folder: &Path, files: usize, program: &Path) -> Vec<PathBuf> {
    let made = folder.join("made");
    if made.exists() {
        progress(&format!("using the files in {}", folder.display()));
    } else {
        progress(&format!("writing {files} files into {}", folder.display()));
        let _ = fs::remove_dir_all(folder.join("db"));
        let numbers = [files, ROWS, DICTIONARY, LEVEL].map(|n| n.to_string());
        let status = Command::new(program).arg("make").arg(folder).args(numbers).status();
        assert!(status.is_ok_and(|status| status.success()), "RocksDB writes its files");
        fs::write(made, "").expect("a folder that can be written");
    }
    let mut paths: Vec<PathBuf> = fs::read_dir(folder.join("db"))
        .expect("a database")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sst"))
        .collect();
    paths.sort();
    assert_eq!(paths.len(), files);
    paths
}

/// RocksDB in another process, which waits for its turns.
struct Other {
    child: Child,
    ask: ChildStdin,
    answer: BufReader<ChildStdout>,
}

impl Other {
    fn start(program: &Path, folder: &Path, mapped: bool, cache: usize, batch: usize) -> Other {
        let numbers = [usize::from(mapped), cache, batch].map(|n| n.to_string());
        let mut child = Command::new(program)
            .arg("run")
            .args([folder, &folder.join("queries")])
            .args(numbers)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let (ask, answer) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let mut other = Other { child, ask, answer: BufReader::new(answer) };
        assert_eq!(other.line().trim(), "ready");
        other
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.answer.read_line(&mut line).expect("an answer");
        line
    }

    fn turn(&mut self) -> Turn {
        self.ask.write_all(b"\n").and_then(|()| self.ask.flush()).expect("it listens");
        let line = self.line();
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        let [cpu, wall, sum] = numbers[..] else { panic!("RocksDB failed: {line}") };
        Turn { cpu: Duration::from_nanos(cpu), wall: Duration::from_nanos(wall), sum }
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        // The process ends when its input is closed; killing it is faster.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Times of one turn, and the sum of the checksums of what it found.
struct Turn {
    cpu: Duration,
    wall: Duration,
    sum: u64,
}

/// Linerate's reader with all files open, in the order of their first keys.
struct Ours<'p> {
    reader: Reader,
    files: Vec<Sst>,
    first: Vec<Vec<u8>>,
    paths: Vec<&'p PathBuf>,
}

impl<'p> Ours<'p> {
    fn open(paths: &'p [PathBuf], options: SstOptions) -> Self {
        let mut reader = Reader::new(&Store::new());
        let mut files: Vec<(Vec<u8>, (Sst, &PathBuf))> = paths
            .iter()
            .map(|path| {
                let sst = reader.open(path, options).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                let first = reader.scan(&sst).next_entry().expect("a sound file").expect("rows").key.to_vec();
                (first, (sst, path))
            })
            .collect();
        files.sort_by(|a, b| a.0.cmp(&b.0));
        let (first, files): (_, Vec<_>) = files.into_iter().unzip();
        let (files, paths) = files.into_iter().unzip();
        Ours { reader, files, first, paths }
    }

    /// Finds the index of the file that may have a key, by binary search as a database does.
    /// `first` are the first keys of the files.
    fn file(first: &[Vec<u8>], key: &[u8]) -> usize {
        first.partition_point(|first| &first[..] <= key).saturating_sub(1)
    }

    fn get(&mut self, keys: &[Vec<u8>]) -> u64 {
        let mut sum = 0u64;
        for key in keys {
            let sst = &self.files[Self::file(&self.first, key)];
            let entry = self.reader.get(sst, key).expect("a sound file").expect("a row");
            sum = sum.wrapping_add(seen(entry.value));
        }
        sum
    }

    fn multi_get(&mut self, keys: &[Vec<u8>]) -> u64 {
        let mut sum = 0u64;
        let mut wanted: Vec<(&Sst, &[u8])> = Vec::with_capacity(BATCH);
        for keys in keys.chunks(BATCH) {
            wanted.clear();
            wanted.extend(keys.iter().map(|key| (&self.files[Self::file(&self.first, key)], &key[..])));
            for found in self.reader.multi_get(&wanted) {
                sum = sum.wrapping_add(seen(found.expect("a sound file").expect("a row").value));
            }
        }
        sum
    }

    fn decode(&mut self, blocks: &[(usize, Handle)]) -> u64 {
        let mut sum = 0u64;
        for &(file, handle) in blocks {
            let block = self.reader.decode_block(&self.files[file], handle).expect("a sound block");
            sum = sum.wrapping_add(seen(block.content()));
        }
        sum
    }

    fn decode_batches(&mut self, blocks: &[(usize, Handle)]) -> u64 {
        let mut sum = 0u64;
        let mut wanted: Vec<(&Sst, Handle)> = Vec::with_capacity(BATCH);
        for blocks in blocks.chunks(BATCH) {
            wanted.clear();
            wanted.extend(blocks.iter().map(|&(file, handle)| (&self.files[file], handle)));
            for block in self.reader.decode_blocks(&wanted, Order::Any) {
                sum = sum.wrapping_add(seen(block.expect("a sound block").content()));
            }
        }
        sum
    }

    /// The block that contains each row. A row is the index of a file and of a row in that file.
    fn blocks(&mut self, rows: &[(usize, usize)]) -> Vec<(usize, Handle)> {
        let mut of: Vec<Vec<(usize, Handle)>> = Vec::new();
        for sst in &self.files {
            let (mut before, mut starts) = (0, Vec::new());
            for handle in self.reader.blocks(sst).expect("a sound index") {
                starts.push((before, handle));
                let block = self.reader.decode_block(sst, handle).expect("a sound block");
                let mut entries = block.entries().expect("a sound block");
                while entries.next_entry().expect("a sound block").is_some() {
                    before += 1;
                }
            }
            of.push(starts);
        }
        let block = |&(file, row): &(usize, usize)| {
            let at = of[file].partition_point(|(start, _)| *start <= row) - 1;
            (file, of[file][at].1)
        };
        rows.iter().map(block).collect()
    }
}

/// libzstd alone, with the frames in memory and the dictionaries digested.
struct Libzstd {
    context: DCtx<'static>,
    dictionaries: Vec<DDict<'static>>,
    frames: Vec<(usize, Vec<u8>)>,
    out: Vec<u8>,
}

impl Libzstd {
    fn new(ours: &Ours<'_>, blocks: &[(usize, Handle)]) -> Libzstd {
        let store = ours.reader.store();
        let dictionary = |sst: &Sst| {
            let bytes = sst.dictionary().map(|id| store.bytes(id).expect("its own store"));
            DDict::create(&bytes.expect("each file has a dictionary"))
        };
        let contents: Vec<Vec<u8>> = ours.paths.iter().map(|path| fs::read(path).expect("a file")).collect();
        let frame = |&(file, handle): &(usize, Handle)| {
            let block = &contents[file][handle.offset as usize..(handle.offset + handle.size) as usize];
            // The size of the content, a variable-length number, precedes the zstd frame.
            let size = block.iter().position(|byte| *byte < 128).expect("a number") + 1;
            (file, block[size..].to_vec())
        };
        Libzstd {
            context: DCtx::create(),
            dictionaries: ours.files.iter().map(dictionary).collect(),
            frames: blocks.iter().map(frame).collect(),
            out: vec![0; 1 << 20],
        }
    }

    fn decode(&mut self) -> u64 {
        let mut sum = 0u64;
        for (file, frame) in &self.frames {
            let n = self.context.decompress_using_ddict(&mut self.out[..], frame, &self.dictionaries[*file]);
            sum = sum.wrapping_add(seen(&self.out[..n.expect("a sound block")]));
        }
        sum
    }
}

fn timed(work: impl FnOnce() -> u64) -> Turn {
    let (cpu, wall) = (thread_time(), Instant::now());
    let sum = work();
    Turn { cpu: thread_time() - cpu, wall: wall.elapsed(), sum }
}

/// A contender whose turns must find the same values as the turn before, whose checksum is `sum`.
fn contender<'a>(
    row: Measurement,
    sum: &'a Cell<Option<u64>>,
    queries: usize,
    mut turn: impl FnMut() -> Turn + 'a,
) -> Contender<'a> {
    let turn = move |_| {
        let turn = turn();
        if sum.replace(Some(turn.sum)).is_some_and(|before| before != turn.sum) {
            return Err("it finds different values".to_owned());
        }
        let each = turn.wall.as_secs_f64() * 1e6 / queries as f64;
        Ok(Spent { time: turn.cpu, more: vec![("elapsed_time", each)] })
    };
    Contender::new(row, turn).units(queries)
}

/// Measures every contender.
///
/// # Errors
/// A sentence, if RocksDB or a C compiler is missing, a file of the bench cannot be written, or two
/// contenders find different values.
///
/// # Panics
/// Panics if RocksDB fails, or if an SST file is damaged or missing.
pub fn run(args: &SstArgs) -> Result<(), String> {
    let (files, queries) = if args.common.quick { (args.files.min(64), 4_000) } else { (args.files, 40_000) };
    // Each number of files has its own folder.
    let folder = &args.folder.join(format!("{files}-{ROWS}-{DICTIONARY}-{LEVEL}"));
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let program = rocksdb(folder)?;
    let version = args.rocksdb.clone().unwrap_or_else(version);
    let mut output = args.common.open(&[("RocksDB".into(), version)])?;
    let paths = tables(folder, files, &program);
    let mut random = Random::stream(0x9e37_79b9, 0);
    let rows: Vec<(usize, usize)> = (0..queries).map(|_| (random.below(files), random.below(ROWS))).collect();
    let keys: Vec<Vec<u8>> =
        rows.iter().map(|(file, row)| format!("{file:05}/{row:06}").into_bytes()).collect();
    let pairs: Vec<u8> =
        rows.iter().flat_map(|&(file, row)| [file as u32, row as u32]).flat_map(u32::to_le_bytes).collect();
    fs::write(folder.join("queries"), pairs).map_err(message)?;

    let mut first = Ours::open(&paths, SstOptions::new());
    let blocks = first.blocks(&rows);
    let mut libzstd = Libzstd::new(&first, &blocks);
    let (keys, blocks) = (&keys[..], &blocks[..]);
    // Checksums of all rows and of all blocks, as found in the last turn.
    let sums = [Cell::new(None), Cell::new(None)];
    let case = |name: &str, [operation, reads, checksums]: [&str; 3], batch: usize, cache: usize| {
        let row = row("sst", "rows", name)
            .param("operation", operation)
            .param("reads", reads)
            .param("checksums", checksums)
            .param("batch", batch.max(1))
            .param("files", files)
            .param("dictionary", Chunk::Bytes(DICTIONARY).to_string())
            .param("block", "4K");
        if cache > 0 { row.param("cache", "1 MiB") } else { row }
    };
    let mut ways = Vec::new();
    let batch_of =
        |operation: &str| if ["multi_get", "decode_blocks"].contains(&operation) { BATCH } else { 0 };
    for (operation, reads, cache) in [
        ("get", "mapped", 0),
        ("multi_get", "mapped", 0),
        ("get", "pread", 0),
        ("multi_get", "pread", 0),
        ("get", "mapped", 1 << 20),
    ] {
        let batch = batch_of(operation);
        let mut other = Other::start(&program, folder, reads == "mapped", cache, batch);
        let row = case(NAMES[0], [operation, reads, "yes"], batch, cache);
        ways.push(contender(row, &sums[0], queries, move || other.turn()));
    }
    for way in [
        ["get", "mapped", "yes"],
        ["multi_get", "mapped", "yes"],
        ["get", "pread", "yes"],
        ["multi_get", "pread", "yes"],
        ["decode_block", "mapped", "yes"],
        ["decode_blocks", "mapped", "yes"],
        ["decode_block", "mapped", "no"],
        ["decode_blocks", "mapped", "no"],
    ] {
        let [operation, reads, checksums] = way;
        let options = SstOptions::new().map(reads == "mapped").checksums(checksums == "yes");
        let mut ours = Ours::open(&paths, options);
        let mut work = move || match operation {
            "get" => ours.get(keys),
            "multi_get" => ours.multi_get(keys),
            "decode_block" => ours.decode(blocks),
            _ => ours.decode_batches(blocks),
        };
        let (row, is_block) = (case(NAMES[1], way, batch_of(operation), 0), operation.contains("block"));
        ways.push(contender(row, &sums[usize::from(is_block)], queries, move || timed(&mut work)));
    }
    let row = case(NAMES[2], ["frames alone", "memory", "no"], 0, 0);
    ways.push(contender(row, &sums[1], queries, || timed(|| libzstd.decode())));
    output.add(
        "Random rows of SST files, CPU time of the thread",
        harness(ways, Rounds::warm(args.common.rounds(9)))?,
    )?;
    output.finish()
}
