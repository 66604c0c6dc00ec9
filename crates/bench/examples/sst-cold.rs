//! Random rows from thousands of SST files, each with a dictionary of its own, beside RocksDB:
//! `sst-cold [--files N] [--rows N] [--dictionary N] [--level N] [--queries N] [--batch N] [--rounds N]
//! [--rocksdb VERSION] [--note TEXT] [--csv FILE] FOLDER`
//!
//! The files are written by RocksDB into FOLDER, if it does not have them yet, and are in the page
//! cache. Each round looks up the same rows, in random order, in every way by turns; RocksDB runs in
//! processes of its own, which wait meanwhile. All ways must find the same. Figures are microseconds of
//! CPU time of the thread for each row, best and middle round.
//!
//! RocksDB is the system's, or the library that `LINERATE_ROCKSDB` names, whose version `--rocksdb` tells.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use linerate_bench::{csv, environment, stats, thread_time};
use linerate_dict::sst::{Handle, Options, Reader, Sst};
use linerate_dict::{Order, Store};
use zstd_safe::{DCtx, DDict};

/// The columns of the record.
const COLUMNS: [&str; 20] = [
    "shape",
    "date",
    "cpu",
    "rustc",
    "linerate",
    "contender",
    "version",
    "way",
    "reads",
    "checksums",
    "batch",
    "files",
    "dictionary",
    "block",
    "queries",
    "rounds",
    "best_us",
    "median_us",
    "median_wall_us",
    "command",
];

struct Choice {
    files: usize,
    rows: usize,
    dictionary: usize,
    level: usize,
    queries: usize,
    batch: usize,
    rounds: usize,
    rocksdb: Option<String>,
    csv: Option<PathBuf>,
    folder: PathBuf,
}

fn choice() -> Choice {
    let mut choice = Choice {
        files: 2048,
        rows: 700,
        dictionary: 8192,
        level: 3,
        queries: 40_000,
        batch: 64,
        rounds: 9,
        rocksdb: None,
        csv: None,
        folder: PathBuf::from("target/sst-cold"),
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut next = || args.next().expect("a value");
        let mut number = || next().parse::<usize>().expect("a number");
        match arg.as_str() {
            "--files" => choice.files = number(),
            "--rows" => choice.rows = number(),
            "--dictionary" => choice.dictionary = number(),
            "--level" => choice.level = number(),
            "--queries" => choice.queries = number(),
            "--batch" => choice.batch = number(),
            "--rounds" => choice.rounds = number(),
            "--rocksdb" => choice.rocksdb = Some(next()),
            // It stands in the record with the rest of the command.
            "--note" => drop(next()),
            "--csv" => choice.csv = Some(next().into()),
            _ => choice.folder = arg.into(),
        }
    }
    choice
}

/// A pseudorandom sequence, the same every time.
struct Noise(u64);

impl Noise {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 8) % n as u64) as usize
    }
}

/// What is counted of a value on both sides.
fn seen(value: &[u8]) -> u64 {
    value.len() as u64
        + 1_000_003 * u64::from(value[value.len() / 3])
        + 7919 * u64::from(value[value.len() - 30])
}

/// RocksDB's side, compiled.
fn rocksdb(folder: &Path) -> PathBuf {
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
    assert!(done.is_ok_and(|status| status.success()), "a C compiler and RocksDB's library are needed");
    program
}

/// RocksDB's version: its tools come with its library.
fn version() -> String {
    let output = Command::new("sst_dump").arg("--version").output();
    let said = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    said.split_whitespace().last().unwrap_or_default().to_owned()
}

/// Files that RocksDB writes, unless those of the same choices are there.
fn tables(choice: &Choice, program: &Path) -> Vec<PathBuf> {
    let Choice { files, rows, dictionary, level, .. } = *choice;
    let (made, wanted) = (choice.folder.join("made"), format!("{files} {rows} {dictionary} {level}"));
    if fs::read_to_string(&made).is_ok_and(|text| text == wanted) {
        println!("using the files in {}", choice.folder.display());
    } else {
        println!("writing {files} files into {}", choice.folder.display());
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
    fn start(program: &Path, choice: &Choice, mapped: bool, cache: usize, batch: usize) -> Other {
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
struct Ours {
    reader: Reader,
    files: Vec<Sst>,
    first: Vec<Vec<u8>>,
}

impl Ours {
    fn open(paths: &[PathBuf], options: Options) -> Ours {
        let mut reader = Reader::new(&Store::new());
        let mut files: Vec<(Vec<u8>, Sst)> = paths
            .iter()
            .map(|path| {
                let sst = reader.open(path, options).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                let first = reader.scan(&sst).next_entry().expect("a sound file").expect("rows").key.to_vec();
                (first, sst)
            })
            .collect();
        files.sort_by(|a, b| a.0.cmp(&b.0));
        let (first, files) = files.into_iter().unzip();
        Ours { reader, files, first }
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
    fn new(paths: &[PathBuf], ours: &Ours, blocks: &[(usize, Handle)]) -> Libzstd {
        let store = ours.reader.store();
        let dictionary = |sst: &Sst| {
            let bytes = sst.dictionary().map(|id| store.bytes(id).expect("its own store"));
            DDict::create(&bytes.expect("each file has a dictionary"))
        };
        let contents: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).expect("a file")).collect();
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

/// A way to look up all rows, and its times.
struct Way<'a> {
    contender: &'static str,
    way: &'static str,
    reads: &'static str,
    checksums: bool,
    batch: usize,
    /// Whether the sum is that of rows, not of blocks.
    rows: bool,
    turn: Box<dyn FnMut() -> Turn + 'a>,
    cpu: Vec<Duration>,
    wall: Vec<Duration>,
}

fn main() {
    let choice = choice();
    fs::create_dir_all(&choice.folder).expect("a folder that can be made");
    let program = rocksdb(&choice.folder);
    let version = choice.rocksdb.clone().unwrap_or_else(version);
    let paths = tables(&choice, &program);

    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let rows: Vec<(usize, usize)> =
        (0..choice.queries).map(|_| (noise.below(choice.files), noise.below(choice.rows))).collect();
    let keys: Vec<Vec<u8>> =
        rows.iter().map(|(file, row)| format!("{file:05}/{row:06}").into_bytes()).collect();
    let pairs: Vec<u8> =
        rows.iter().flat_map(|&(file, row)| [file as u32, row as u32]).flat_map(u32::to_le_bytes).collect();
    fs::write(choice.folder.join("queries"), pairs).expect("a folder that can be written");

    let all = Options::new();
    let [mut a, mut b, mut c, mut d] = [(); 4].map(|()| Ours::open(&paths, all));
    let [mut e, mut f] = [(); 2].map(|()| Ours::open(&paths, all.map(false)));
    let blocks = a.blocks(&rows);
    let raw = all.checksums(false);
    let [mut g, mut h] = [(); 2].map(|()| Ours::open(&paths, raw));
    let mut libzstd = Libzstd::new(&sorted(&paths, &mut a), &a, &blocks);
    let stats = a.reader.stats(&a.files[0]).expect("a sound file");
    println!(
        "{} files, {} blocks of {} bytes in the first, ratio {:.2}, dictionary {:?}",
        choice.files,
        stats.all_blocks().blocks,
        stats.all_blocks().content / stats.all_blocks().blocks.max(1),
        stats.block_ratio(),
        stats.dictionary.expect("each file has one")
    );

    let other = |mapped, cache, batch| {
        let mut other = Other::start(&program, &choice, mapped, cache, batch);
        move || other.turn()
    };
    let (keys, blocks, batch) = (&keys[..], &blocks[..], choice.batch);
    let mut ways = [
        way("rocksdb", "get", "mapped", 0, Box::new(other(true, 0, 0))),
        way("rocksdb", "multi_get", "mapped", batch, Box::new(other(true, 0, batch))),
        way("rocksdb", "get", "pread", 0, Box::new(other(false, 0, 0))),
        way("rocksdb", "multi_get", "pread", batch, Box::new(other(false, 0, batch))),
        way("rocksdb", "get, block cache of 1 MiB", "mapped", 0, Box::new(other(true, 1 << 20, 0))),
        way("linerate", "get", "mapped", 0, Box::new(|| timed(|| a.get(keys)))),
        way("linerate", "multi_get", "mapped", batch, Box::new(|| timed(|| b.multi_get(keys, batch)))),
        way("linerate", "get", "pread", 0, Box::new(|| timed(|| e.get(keys)))),
        way("linerate", "multi_get", "pread", batch, Box::new(|| timed(|| f.multi_get(keys, batch)))),
        way("linerate", "decode_block", "mapped", 0, Box::new(|| timed(|| c.decode(blocks)))),
        way(
            "linerate",
            "decode_blocks",
            "mapped",
            batch,
            Box::new(|| timed(|| d.decode_batches(blocks, batch))),
        ),
        way("linerate", "decode_block", "mapped", 0, Box::new(|| timed(|| g.decode(blocks)))),
        way(
            "linerate",
            "decode_blocks",
            "mapped",
            batch,
            Box::new(|| timed(|| h.decode_batches(blocks, batch))),
        ),
        way("libzstd", "frames alone", "memory", 0, Box::new(|| timed(|| libzstd.decode()))),
    ];
    for way in &mut ways[9..] {
        way.rows = false;
    }
    for way in &mut ways[11..] {
        way.checksums = false;
    }
    // The first round is not counted.
    for round in 0..=choice.rounds {
        let mut sums = [None; 2];
        let count = ways.len();
        for i in 0..count {
            let way = &mut ways[(i + round) % count];
            let turn = (way.turn)();
            let expected = sums[usize::from(way.rows)].get_or_insert(turn.sum);
            assert_eq!(*expected, turn.sum, "{} {} finds something else", way.contender, way.way);
            if round > 0 {
                way.cpu.push(turn.cpu);
                way.wall.push(turn.wall);
            }
        }
        println!("round {round} of {}", choice.rounds);
    }
    report(&choice, &version, &ways);
}

/// The paths in the order of the keys.
fn sorted(paths: &[PathBuf], ours: &mut Ours) -> Vec<PathBuf> {
    let mut keyed: Vec<(usize, &PathBuf)> = paths
        .iter()
        .map(|path| {
            let sst = ours.reader.open(path, Options::new()).expect("a sound file");
            let mut scan = ours.reader.scan(&sst);
            let first = scan.next_entry().expect("a sound file").expect("rows").key.to_vec();
            (Ours::file(&ours.first, &first), path)
        })
        .collect();
    keyed.sort();
    keyed.into_iter().map(|(_, path)| path.clone()).collect()
}

fn way<'a>(
    contender: &'static str,
    way: &'static str,
    reads: &'static str,
    batch: usize,
    turn: Box<dyn FnMut() -> Turn + 'a>,
) -> Way<'a> {
    Way { contender, way, reads, checksums: true, batch, rows: true, turn, cpu: Vec::new(), wall: Vec::new() }
}

fn report(choice: &Choice, rocksdb: &str, ways: &[Way<'_>]) {
    let micros = |time: Option<Duration>| {
        let time = time.unwrap_or_default().as_secs_f64() * 1e6 / choice.queries as f64;
        format!("{time:.3}")
    };
    let mut lines = Vec::new();
    println!(
        "{:9} {:28} {:7} {:9} {:>8} {:>8} {:>8}",
        "", "", "reads", "checksums", "best us", "median", "wall"
    );
    for way in ways {
        let checksums = if way.checksums { "yes" } else { "no" };
        let times = [stats::best(&way.cpu), stats::median(&way.cpu), stats::median(&way.wall)].map(micros);
        let [best, median, wall] = &times;
        let name = if way.batch > 0 { format!("{}, {} at once", way.way, way.batch) } else { way.way.into() };
        println!(
            "{:9} {name:28} {:7} {checksums:9} {best:>8} {median:>8} {wall:>8}",
            way.contender, way.reads
        );
        let version = match way.contender {
            "rocksdb" => rocksdb.into(),
            "libzstd" => zstd_safe::version_string().to_owned(),
            _ => env!("CARGO_PKG_VERSION").to_owned(),
        };
        let numbers = [choice.files, choice.dictionary, 4096, choice.queries, choice.rounds];
        let [files, dictionary, block, queries, rounds] = numbers.map(|n| n.to_string());
        let batch = way.batch.to_string();
        let fields = [
            "sst-cold".into(),
            environment::date(),
            environment::cpu(),
            environment::rustc().into(),
            environment::linerate(),
            way.contender.into(),
            version,
            way.way.into(),
            way.reads.into(),
            checksums.into(),
            batch,
            files,
            dictionary,
            block,
            queries,
            rounds,
            best.clone(),
            median.clone(),
            wall.clone(),
            environment::command(),
        ];
        lines.push(csv::line(&fields));
    }
    if let Some(path) = &choice.csv {
        let old = fs::read_to_string(path).unwrap_or_else(|_| format!("{}\n", csv::line(&COLUMNS)));
        fs::write(path, format!("{old}{}\n", lines.join("\n"))).expect("the record is written");
    }
}
