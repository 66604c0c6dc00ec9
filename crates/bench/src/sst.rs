//! The shape "sst": random rows from thousands of SST files, each with a dictionary of its own, beside RocksDB.
//!
//! The files are written by RocksDB into a folder, if it does not have them yet, and are in the page cache. Each round looks up the
//! same rows, in random order, in every way by turns; RocksDB runs in processes of its own, which wait meanwhile. All ways must
//! find the same. Figures are of CPU time of the thread for each row.
//!
//! RocksDB is the system's, or the library that `LINERATE_ROCKSDB` names, whose version `--rocksdb` tells.

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
use crate::harness::{Common, Contender, MISSING, Rounds, Spent, With, measure as harness, message, progress, row};
use crate::records::Measurement;

/// Options of the shape.
#[derive(Args, Clone, Debug)]
pub struct SstArgs {
    /// Files
    #[arg(long, value_name = "N", default_value_t = 2048)]
    files: usize,
    /// Rows of a file
    #[arg(long, value_name = "N", default_value_t = 700)]
    rows: usize,
    /// Bytes of the dictionary of a file
    #[arg(long, value_name = "N", default_value_t = 8192)]
    dictionary: usize,
    /// Level of zstd
    #[arg(long, value_name = "N", default_value_t = 3)]
    level: usize,
    /// Rows that are looked up
    #[arg(long, value_name = "N", default_value_t = 40_000)]
    queries: usize,
    /// Rows of a batch
    #[arg(long, value_name = "N", default_value_t = 64)]
    batch: usize,
    /// RocksDB's version, where its tools do not tell it
    #[arg(long, value_name = "VERSION")]
    rocksdb: Option<String>,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Where the files are, in a folder for each choice of them
    #[arg(value_name = "FOLDER", default_value = "target/sst-cold")]
    folder: PathBuf,
}

/// What is counted of a value on both sides.
fn seen(value: &[u8]) -> u64 {
    value.len() as u64
        + 1_000_003 * u64::from(value[value.len() / 3])
        + 7919 * u64::from(value[value.len() - 30])
}

/// RocksDB's side, compiled.
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

/// RocksDB's version: its tools come with its library.
fn version() -> String {
    let output = Command::new("sst_dump").arg("--version").output();
    let said = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    said.split_whitespace().last().unwrap_or_default().to_owned()
}

/// Files that RocksDB writes, unless those of the same choices are there.
fn tables(choice: &SstArgs, program: &Path) -> Vec<PathBuf> {
    let SstArgs { files, rows, dictionary, level, .. } = *choice;
    let (made, wanted) = (choice.folder.join("made"), format!("{files} {rows} {dictionary} {level}"));
    if fs::read_to_string(&made).is_ok_and(|text| text == wanted) {
        progress(&format!("using the files in {}", choice.folder.display()));
    } else {
        progress(&format!("writing {files} files into {}", choice.folder.display()));
        let _ = fs::remove_dir_all(choice.folder.join("db"));
        let numbers = [files, rows, dictionary, level].map(|n| n.to_string());
        let status = Command::new(program).arg("make").arg(&choice.folder).args(numbers).status();
        assert!(status.is_ok_and(|status| status.success()), "RocksDB writes its files");
        fs::write(made, wanted).expect("a folder that can be written");
    }
    let mut paths: Vec<PathBuf> = fs::read_dir(choice.folder.join("db"))
        .expect("a database")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sst"))
        .collect();
    paths.sort();
    assert_eq!(paths.len(), files);
    paths
}

/// RocksDB in a process of its own, which waits for turns.
struct Other {
    child: Child,
    ask: ChildStdin,
    answer: BufReader<ChildStdout>,
}

impl Other {
    fn start(program: &Path, choice: &SstArgs, mapped: bool, cache: usize, batch: usize) -> Other {
        let numbers = [usize::from(mapped), cache, batch].map(|n| n.to_string());
        let mut child = Command::new(program)
            .arg("run")
            .args([&choice.folder, &choice.folder.join("queries")])
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
        // It ends with its input, which is closed when this is gone; asking for it is quicker.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What one pass took and found.
struct Turn {
    cpu: Duration,
    wall: Duration,
    sum: u64,
}

/// Our side: all files open, the first key of each, and a reader.
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

    /// The file of a key, which is searched for as a database does.
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

    fn multi_get(&mut self, keys: &[Vec<u8>], batch: usize) -> u64 {
        let mut sum = 0u64;
        let mut wanted: Vec<(&Sst, &[u8])> = Vec::with_capacity(batch);
        for keys in keys.chunks(batch) {
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

    fn decode_batches(&mut self, blocks: &[(usize, Handle)], batch: usize) -> u64 {
        let mut sum = 0u64;
        let mut wanted: Vec<(&Sst, Handle)> = Vec::with_capacity(batch);
        for blocks in blocks.chunks(batch) {
            wanted.clear();
            wanted.extend(blocks.iter().map(|&(file, handle)| (&self.files[file], handle)));
            for block in self.reader.decode_blocks(&wanted, Order::Any) {
                sum = sum.wrapping_add(seen(block.expect("a sound block").content()));
            }
        }
        sum
    }

    /// The block of each row.
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

/// libzstd alone: frames in memory, and dictionaries prepared.
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
            // The size of the content stands before the frame.
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

/// A way, which finds what ways before it have found.
fn contender<'a>(
    row: Measurement,
    sum: &'a Cell<Option<u64>>,
    queries: usize,
    mut turn: Box<dyn FnMut() -> Turn + 'a>,
) -> Contender<'a> {
    let turn = move |_| {
        let turn = turn();
        if sum.replace(Some(turn.sum)).is_some_and(|before| before != turn.sum) {
            return Err("it finds something else".to_owned());
        }
        let each = turn.wall.as_secs_f64() * 1e6 / queries as f64;
        Ok(Spent { time: turn.cpu, more: vec![("elapsed_time", each)] })
    };
    Contender::new(row, turn).units(queries)
}

/// Measures every way.
///
/// # Errors
/// A sentence: RocksDB or a C compiler is missing.
///
/// # Panics
/// If a file is damaged, or a way finds something else than another.
pub fn run(args: &SstArgs) -> Result<(), String> {
    let mut choice = args.clone();
    if args.common.quick {
        (choice.files, choice.queries) = (args.files.min(64), args.queries.min(4_000));
    }
    // Another choice leaves the files of this one.
    let SstArgs { files, rows, dictionary, level, .. } = choice;
    choice.folder.push(format!("{files}-{rows}-{dictionary}-{level}"));
    let choice = &choice;
    fs::create_dir_all(&choice.folder).map_err(|e| format!("{}: {e}", choice.folder.display()))?;
    let program = rocksdb(&choice.folder)?;
    let version = choice.rocksdb.clone().unwrap_or_else(version);
    let mut output = args.common.open(&[("RocksDB".into(), version)])?;
    let paths = tables(choice, &program);
    let mut random = Random::stream(0x9e37_79b9, 0);
    let rows: Vec<(usize, usize)> =
        (0..choice.queries).map(|_| (random.below(choice.files), random.below(choice.rows))).collect();
    let keys: Vec<Vec<u8>> =
        rows.iter().map(|(file, row)| format!("{file:05}/{row:06}").into_bytes()).collect();
    let pairs: Vec<u8> =
        rows.iter().flat_map(|&(file, row)| [file as u32, row as u32]).flat_map(u32::to_le_bytes).collect();
    fs::write(choice.folder.join("queries"), pairs).map_err(message)?;

    let all = SstOptions::new();
    let [mut a, mut b, mut c, mut d] = [(); 4].map(|()| Ours::open(&paths, all));
    let [mut e, mut f] = [(); 2].map(|()| Ours::open(&paths, all.map(false)));
    let blocks = a.blocks(&rows);
    let raw = all.checksums(false);
    let [mut g, mut h] = [(); 2].map(|()| Ours::open(&paths, raw));
    let mut libzstd = Libzstd::new(&a, &blocks);
    let other = |mapped, cache, batch| {
        let mut other = Other::start(&program, choice, mapped, cache, batch);
        move || other.turn()
    };
    let (keys, blocks, batch) = (&keys[..], &blocks[..], choice.batch);
    // What rows and what blocks add up to, found by the first way.
    let sums = [Cell::new(None), Cell::new(None)];
    let way = |name: &str, operation: &str, reads: &str, checksums: &str, batch: usize, turn| {
        let is_block = operation.contains("block") || operation.contains("frames");
        let row = row("sst", "rows", name)
            .param("operation", operation)
            .param("reads", reads)
            .param("checksums", checksums)
            .param("batch", batch.max(1))
            .param("files", choice.files)
            .param("dictionary", Chunk::Bytes(choice.dictionary).to_string())
            .param("block", "4K");
        contender(row, &sums[usize::from(is_block)], choice.queries, turn)
    };
    let cached = Box::new(other(true, 1 << 20, 0));
    let ways = vec![
        way("RocksDB", "get", "mapped", "yes", 0, Box::new(other(true, 0, 0))),
        way("RocksDB", "multi_get", "mapped", "yes", batch, Box::new(other(true, 0, batch))),
        way("RocksDB", "get", "pread", "yes", 0, Box::new(other(false, 0, 0))),
        way("RocksDB", "multi_get", "pread", "yes", batch, Box::new(other(false, 0, batch))),
        way("RocksDB", "get", "mapped", "yes", 0, cached).param("cache", "1 MiB"),
        way("linerate", "get", "mapped", "yes", 0, Box::new(|| timed(|| a.get(keys)))),
        way("linerate", "multi_get", "mapped", "yes", batch, Box::new(|| timed(|| b.multi_get(keys, batch)))),
        way("linerate", "get", "pread", "yes", 0, Box::new(|| timed(|| e.get(keys)))),
        way("linerate", "multi_get", "pread", "yes", batch, Box::new(|| timed(|| f.multi_get(keys, batch)))),
        way("linerate", "decode_block", "mapped", "yes", 0, Box::new(|| timed(|| c.decode(blocks)))),
        way(
            "linerate",
            "decode_blocks",
            "mapped",
            "yes",
            batch,
            Box::new(|| timed(|| d.decode_batches(blocks, batch))),
        ),
        way("linerate", "decode_block", "mapped", "no", 0, Box::new(|| timed(|| g.decode(blocks)))),
        way(
            "linerate",
            "decode_blocks",
            "mapped",
            "no",
            batch,
            Box::new(|| timed(|| h.decode_batches(blocks, batch))),
        ),
        way("libzstd", "frames alone", "memory", "no", 0, Box::new(|| timed(|| libzstd.decode()))),
    ];
    output.add(
        "Random rows of SST files, CPU time of the thread",
        harness(ways, Rounds::warm(args.common.rounds(9)))?,
    )?;
    output.finish()
}
