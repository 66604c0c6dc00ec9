//! The shape "archives": Nx archives packed, decoded and extracted, beside libzstd on the same
//! blocks and beside the usual archivers.

mod costs;
mod decode;
mod extract;
mod goals;
pub mod mapped;
mod memory;
mod open;
mod pack;
mod programs;
mod reading;
mod study;
mod textures;

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use linerate_gateway_sim::traffic::Random;
use linerate_nx::Archive;
use linerate_nx::pack::{Builder, Coding, PRESETS, PackOptions, Summary};
use tempfile::TempDir;

use self::programs::{PROGRAMS, Program};
use crate::harness::corpus::{Corpus, files_below, resolve};
use crate::harness::{Common, message, process, row};
use crate::records::Measurement;

pub use self::reading::child as level_load_child;

/// Options of `linerate-bench archives`.
#[derive(Args, Clone, Debug)]
pub struct ArchivesArgs {
    /// The folder to pack, or a name below $LINERATE_CORPORA [default: a small generated one]
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// The corpus's name in the record [default: from the path]
    #[arg(long, value_name = "NAME", requires = "corpus")]
    name: Option<String>,
    /// Cut each file of the corpus into a folder of small files with this mean size
    #[arg(long, value_name = "BYTES", requires = "corpus", value_parser = clap::value_parser!(u32).range(1..))]
    cut: Option<u32>,
    #[command(flatten)]
    pub(crate) common: Common,
    /// The parts to measure [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum)]
    only: Vec<Part>,
    /// Levels of zstd, of which --quick takes only the first
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "9,12")]
    level: Vec<i32>,
    /// The program to measure [default: `linerate` beside this one]
    #[arg(long, value_name = "PROGRAM")]
    linerate: Option<PathBuf>,
    /// Parent of temporary folders [default: /dev/shm if it exists; for the part `cold`, target]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
}

/// The parts of the shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Decoding in memory, beside libzstd
    Decode,
    /// Decoding blocks of LZ4, lz4_flex beside liblz4
    Lz4,
    /// Extracting to a folder, beside other programs
    Extract,
    /// Packing, beside libzstd
    Pack,
    /// Packing a folder that holds every file twice
    Dedup,
    /// Opening an archive of 100,000 files and reading one
    Open,
    /// Peak memory of packing and extracting; archive size beside a tar.zst
    Memory,
    /// Archive size by preset and without options that save bytes, beside other programs
    Costs,
    /// Ratio and decoding speed of each preset
    Presets,
    /// Ratio and decoding speed by block size, level and codec
    Settings,
    /// Reading an archive that is not in the page cache
    Cold,
    /// Reading files in random order, from an archive, a zip, a squashfs, a tar and a folder
    LevelLoad,
    /// Archives of textures with and without filters
    Filters,
    /// Each texture filter alone
    Inverses,
}

/// Input and settings that all parts share.
pub struct Bench<'s> {
    /// The folder to pack.
    pub input: &'s Input,
    /// Levels of zstd.
    pub levels: &'s [i32],
    /// Number of timed turns of each contender.
    pub rounds: usize,
    /// Whether settings that take long are left out.
    pub quick: bool,
    /// The program `linerate`.
    pub linerate: PathBuf,
    /// Folder for temporary folders, preferably in memory.
    pub scratch: PathBuf,
    /// Folder for temporary folders on a drive, for parts that measure the drive.
    pub drive: PathBuf,
}

/// Bytes of a block in the parts `decode`, `lz4`, `extract`, `dedup`, `open`, `cold` and
/// `level-load`, and at the levels of `pack`. Other parts measure several sizes, or presets.
const CHUNK: u64 = 1 << 20;

/// Measures part by part.
///
/// # Errors
/// A sentence for the user.
pub fn run(args: &ArchivesArgs) -> Result<(), String> {
    let mut output = args.common.open(&programs::versions())?;
    let in_memory = || Some(PathBuf::from("/dev/shm")).filter(|path| path.is_dir());
    let scratch = args.scratch.clone().or_else(in_memory).unwrap_or_else(std::env::temp_dir);
    // Programs run in other folders, so the path must be absolute.
    let scratch = scratch.canonicalize().map_err(|e| format!("{}: {e}", scratch.display()))?;
    let generated = folder(&scratch)?;
    let input = match (&args.corpus, args.cut) {
        (Some(path), Some(bytes)) => {
            Input::cut(&Input::of(&resolve(path), args.name.as_deref())?, bytes as usize, generated.path())?
        }
        (Some(path), None) => Input::of(&resolve(path), args.name.as_deref())?,
        (None, _) => Input::generated(generated.path())?,
    };
    let parts = if args.only.is_empty() { Part::value_variants() } else { &args.only };
    let linerate = match &args.linerate {
        Some(program) => program.clone(),
        None if parts.iter().any(|part| part.runs_linerate()) => process::linerate()?,
        None => PathBuf::new(),
    };
    let drive = args.scratch.clone().unwrap_or_else(|| "target".into());
    let levels = if args.common.quick { &args.level[..1] } else { &args.level };
    let (rounds, quick) = (args.common.rounds(7), args.common.quick);
    let bench = Bench { input: &input, levels, rounds, quick, linerate, scratch, drive };
    for part in parts {
        let found = match part.measure(&bench) {
            // Not every system and drive can drop a file from the page cache, so this part may fail
            // unless the user asked for it.
            Err(why) if *part == Part::Cold && args.only.is_empty() => {
                eprintln!("cold: {why}");
                continue;
            }
            found => found?,
        };
        for found in found {
            let goals = goals::said(&found);
            output.add("Nx archives", found)?;
            if !goals.is_empty() {
                output.say(&goals)?;
            }
        }
    }
    output.finish()
}

/// Names of the contenders: Linerate with each preset, libzstd, and other programs. The name of a
/// program that this machine lacks is followed by its Debian package.
pub fn names() -> Vec<String> {
    let presets = PRESETS.iter().map(|preset| format!("linerate {}", preset.name));
    let names = presets.chain(["libzstd".into()]).chain(PROGRAMS.iter().map(Program::availability));
    names.collect()
}

impl Part {
    /// Whether this part starts the program `linerate`.
    fn runs_linerate(self) -> bool {
        matches!(self, Part::Extract | Part::Open | Part::Memory)
    }

    /// Measures this part. Returns the measurements of each table.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn measure(self, bench: &Bench<'_>) -> Result<Vec<Vec<Measurement>>, String> {
        match self {
            Part::Decode => decode::measure(bench),
            Part::Lz4 => decode::lz4(bench),
            Part::Extract => extract::measure(bench),
            Part::Pack => pack::measure(bench),
            Part::Dedup => pack::dedup(bench),
            Part::Open => open::measure(bench),
            Part::Memory => memory::measure(bench),
            Part::Costs => costs::measure(bench),
            Part::Presets => study::presets(bench),
            Part::Settings => study::settings(bench),
            Part::Cold => reading::cold(bench),
            Part::LevelLoad => reading::level_load(bench),
            Part::Filters => textures::filters(bench),
            Part::Inverses => textures::inverses(bench),
        }
    }
}

impl Bench<'_> {
    /// A measurement of the corpus without metrics. It has the param `clock` unless that is empty.
    fn row(&self, measure: &str, contender: impl Into<String>, threads: usize, clock: &str) -> Measurement {
        let row =
            row("archives", &self.input.name, contender).param("measure", measure).param("threads", threads);
        if clock.is_empty() { row } else { row.param("clock", clock) }
    }

    /// A temporary folder for a part, which is removed on drop.
    fn folder(&self) -> Result<TempDir, String> {
        folder(&self.scratch)
    }

    /// Adds the size of an archive: in bytes as the metric `output`, and divided by the size of the
    /// content as the metric `size`.
    fn sized(&self, row: Measurement, bytes: u64) -> Measurement {
        row.exact("output", bytes as f64).exact("size", bytes as f64 / self.input.bytes as f64)
    }
}

fn folder(scratch: &Path) -> Result<TempDir, String> {
    let made = tempfile::Builder::new().prefix("linerate-bench-").tempdir_in(scratch);
    made.map_err(|e| format!("{}: {e}", scratch.display()))
}

/// A folder to pack, with the number of its files and of their bytes.
pub struct Input {
    /// Name of the folder in the record, never a path of the machine.
    pub name: String,
    root: PathBuf,
    files: usize,
    bytes: u64,
}

impl Input {
    /// Counts the files and bytes of a folder. Without `name`, the last part of the path is its
    /// name in the record.
    ///
    /// # Errors
    /// A sentence that names the path, also if the folder has no files or only empty ones.
    pub fn of(root: &Path, name: Option<&str>) -> Result<Input, String> {
        let last = root.components().next_back();
        let own = last.map_or_else(|| "corpus".into(), |c| c.as_os_str().to_string_lossy().into_owned());
        let files = files_below(root)?;
        let bytes = files.iter().filter_map(|path| path.metadata().ok()).map(|meta| meta.len()).sum();
        match bytes {
            0 => Err(format!("{}: nothing to pack", root.display())),
            _ => Ok(Input {
                name: name.map_or(own, str::to_owned),
                root: root.into(),
                files: files.len(),
                bytes,
            }),
        }
    }

    /// Writes small generated files into a folder: log rows in JSON, and textures with noise. They
    /// are the same on every machine.
    fn generated(root: &Path) -> Result<Input, String> {
        let rows = Corpus::rows(4 << 20).files.concat();
        for (i, piece) in rows.chunks(40_000).enumerate() {
            let path = root.join(format!("rows/{}/{i}.json", i % 8));
            path.parent()
                .map_or(Ok(()), fs::create_dir_all)
                .and_then(|()| fs::write(&path, piece))
                .map_err(message)?;
        }
        for i in 0..4 {
            fs::write(root.join(format!("texture-{i}.dds")), textures::generated(512 + 128 * i))
                .map_err(message)?;
        }
        Input::of(root, Some("generated"))
    }

    /// Cuts the files of another input into small files of 1 to twice `mean` bytes, with random
    /// names, so that the order of names is not that of the content. Each file becomes a folder,
    /// whose name lacks the extension. The result is the same on every machine.
    fn cut(of: &Input, mean: usize, into: &Path) -> Result<Input, String> {
        let mut random = Random::stream(2, 0);
        for path in files_below(&of.root)? {
            let bytes = fs::read(&path).map_err(message)?;
            // The extension is left out with its dot: on Windows no folder's name ends in a dot.
            let folder = into.join(path.strip_prefix(&of.root).unwrap_or(&path)).with_extension("");
            fs::create_dir_all(&folder).map_err(message)?;
            let end = path.extension().filter(|end| !end.is_empty());
            let end = end.map_or(String::new(), |end| format!(".{}", end.to_string_lossy()));
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(rest.len().min(1 + random.below(2 * mean)));
                fs::write(folder.join(format!("{:010x}{end}", random.below(1 << 40))), piece)
                    .map_err(message)?;
                rest = after;
            }
        }
        Input::of(into, Some(&format!("{}, cut into files of {mean} bytes", of.name)))
    }

    /// Packs the folder into memory.
    fn pack(&self, options: PackOptions) -> Result<(Vec<u8>, Summary), String> {
        self.builder(options)?.to_bytes().map_err(message)
    }

    /// A builder with the files of the folder.
    fn builder(&self, options: PackOptions) -> Result<Builder, String> {
        let mut builder = Builder::new(options).map_err(message)?;
        builder.add_folder(&self.root, |_| Some(Default::default())).map_err(message)?;
        Ok(builder)
    }
}

/// Options to pack into blocks of at most `chunk` bytes, with zstd at one level for all files.
fn pack_options(level: i32, chunk: u64, threads: usize) -> PackOptions {
    let coding = Coding::zstd(level);
    let solid_limit = chunk.min(64 << 20) - 1;
    PackOptions { chunk, solid_limit, solid: coding, chunked: coding, threads, ..PackOptions::default() }
}

/// Opens an archive in memory.
fn open_bytes(bytes: &[u8]) -> Result<Archive<&[u8]>, String> {
    Archive::open(bytes).map_err(message)
}
