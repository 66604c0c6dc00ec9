//! The input in memory: the files of a directory, one file, the files that the program carries, or
//! generated data.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Names of services in generated log rows, all equally frequent.
const SERVICES: [&str; 6] = ["checkout", "inventory", "search", "payments", "accounts", "recommendations"];
/// Log levels with HTTP statuses in generated log rows. Frequent ones are listed more than once.
const OUTCOMES: [(&str, u16); 6] =
    [("INFO", 200), ("INFO", 200), ("INFO", 200), ("INFO", 204), ("WARN", 404), ("ERROR", 503)];
/// HTTP methods in generated log rows. The most frequent one is listed more than once.
const METHODS: [&str; 5] = ["GET", "GET", "GET", "POST", "PUT"];

/// The files of `corpus/`, compiled into the program because it also runs without its sources.
const CARRIED: [&[u8]; 6] = [
    include_bytes!("../../corpus/earthquakes.json"),
    include_bytes!("../../corpus/northamerica.tz"),
    include_bytes!("../../corpus/seattle-weather.csv"),
    include_bytes!("../../corpus/theory.html"),
    include_bytes!("../../corpus/zic.c"),
    include_bytes!("../../corpus/zoneinfo.bin"),
];

/// Files in memory. Most shapes compress each of them separately.
pub struct Corpus {
    /// Name of the corpus in the record, never a path of the machine.
    pub name: String,
    /// The contents of the files, in the order of their paths. Empty files are left out.
    pub files: Vec<Vec<u8>>,
}

impl Corpus {
    /// The small files of `crates/bench/corpus`, which the program carries.
    pub fn carried() -> Self {
        Corpus { name: "carried".into(), files: CARRIED.iter().map(|file| file.to_vec()).collect() }
    }

    /// Reads one file, or all files below a directory in the order of their paths, each cut to
    /// `max` bytes. Links below the directory and empty files are left out.
    ///
    /// A path that does not exist is looked up below `$LINERATE_CORPORA`. The corpus is named after
    /// the first part of the path below that folder or, elsewhere, after the last part of the path.
    ///
    /// # Errors
    /// A sentence that names the path; also if there is no byte to compress.
    pub fn read(path: &Path, max: Option<u64>) -> Result<Self, String> {
        let path = resolve(path);
        let paths = if path.is_file() { vec![path.clone()] } else { files_below(&path)? };
        let mut files = Vec::with_capacity(paths.len());
        for p in &paths {
            let data = load(p, max).map_err(|e| format!("{}: {e}", p.display()))?;
            if !data.is_empty() {
                files.push(data);
            }
        }
        if files.is_empty() {
            return Err(format!("{}: nothing to compress", path.display()));
        }
        Ok(Corpus { name: name(&path), files })
    }

    /// `n` incompressible bytes, the same on every machine.
    pub fn random(n: usize) -> Self {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            // xorshift64*: the highest byte is taken, since the low bits are less random.
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56) as u8
        };
        Corpus { name: "random".into(), files: vec![(0..n).map(|_| next()).collect()] }
    }

    /// Log rows of web services in JSON, about 340 bytes each and `n` bytes in all, the same on
    /// every machine. The last row may be cut.
    pub fn rows(n: usize) -> Self {
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut below = |n: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) % n
        };
        let mut text = String::with_capacity(n + 512);
        let mut row = 0;
        while text.len() < n {
            let service = SERVICES[below(SERVICES.len() as u64) as usize];
            let (level, status) = OUTCOMES[below(OUTCOMES.len() as u64) as usize];
            let (second, trace) = (row / 40, below(u64::MAX));
            text += &format!(
                "{{\"timestamp\":\"2026-03-14T{:02}:{:02}:{:02}.{:03}Z\",\"level\":\"{level}\",\
                 \"service\":\"{service}\",\"host\":\"ip-10-0-{}-{}.internal\",\"trace_id\":\"{trace:016x}\",\
                 \"user_id\":{},\"session\":\"{:08x}\",\"method\":\"{}\",\
                 \"path\":\"/api/v1/{service}/items/{}\",\"status\":{status},\"duration_ms\":{}.{:02},\
                 \"bytes\":{},\"region\":\"eu-west-{}\",\"message\":\"request handled by {service}\"}}\n",
                second / 3600 % 24,
                second / 60 % 60,
                second % 60,
                below(1000),
                below(4),
                below(250),
                below(50_000),
                below(1 << 32),
                METHODS[below(METHODS.len() as u64) as usize],
                below(20_000),
                below(300),
                below(100),
                below(60_000),
                1 + below(3),
            );
            row += 1;
        }
        text.truncate(n);
        Corpus { name: "rows".into(), files: vec![text.into_bytes()] }
    }

    /// Number of bytes in all files together.
    pub fn bytes(&self) -> usize {
        self.files.iter().map(Vec::len).sum()
    }
}

pub(crate) fn corpora() -> Option<PathBuf> {
    std::env::var_os("LINERATE_CORPORA").map(PathBuf::from)
}

/// Returns `path` if it exists or `$LINERATE_CORPORA` is not set. Otherwise returns the same path
/// below that folder, which may not exist either.
pub(crate) fn resolve(path: &Path) -> PathBuf {
    match corpora() {
        Some(root) if !path.exists() => root.join(path),
        _ => path.to_owned(),
    }
}

/// The name of a corpus: for a path below `$LINERATE_CORPORA` the first part below that folder,
/// otherwise the last part of the path.
fn name(path: &Path) -> String {
    let below = corpora().and_then(|root| path.strip_prefix(root).ok().map(Path::to_owned));
    let part = match &below {
        Some(p) => p.components().next(),
        None => path.components().next_back(),
    };
    part.map_or_else(|| "corpus".into(), |c| c.as_os_str().to_string_lossy().into_owned())
}

/// All regular files below a folder, sorted by path. Links are left out.
///
/// # Errors
/// A sentence that names the folder that cannot be read.
pub fn files_below(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        let entries = fs::read_dir(&next).map_err(|e| format!("{}: {e}", next.display()))?;
        for path in entries.flatten().map(|entry| entry.path()).filter(|path| !path.is_symlink()) {
            if path.is_dir() {
                folders.push(path)
            } else if path.is_file() {
                files.push(path)
            }
        }
    }
    files.sort();
    Ok(files)
}

fn load(path: &Path, max: Option<u64>) -> io::Result<Vec<u8>> {
    let mut data = Vec::new();
    fs::File::open(path)?.take(max.unwrap_or(u64::MAX)).read_to_end(&mut data)?;
    Ok(data)
}
