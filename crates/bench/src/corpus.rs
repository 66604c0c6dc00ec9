//! What is compressed: a directory's files, one file, or made-up data, held in memory.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Files in memory, each compressed separately.
pub struct Corpus {
    /// What the record calls it. Never a path of the machine.
    pub name: String,
    /// The contents, in the order of their paths. None is empty.
    pub files: Vec<Vec<u8>>,
}

impl Corpus {
    /// Reads one file, or all files below a directory in the order of their paths, each cut to
    /// `max` bytes.
    ///
    /// A path that does not exist is looked for below `$LINERATE_CORPORA`, and named from there.
    ///
    /// # Errors
    /// A sentence that names the path; also if there is no byte to compress.
    pub fn read(path: &Path, max: Option<u64>) -> Result<Self, String> {
        let path = resolve(path);
        let mut paths = Vec::new();
        list(&path, &mut paths).map_err(|e| format!("{}: {e}", path.display()))?;
        paths.sort();
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

    /// `n` bytes that no encoder can shorten, the same on every machine.
    pub fn random(n: usize) -> Self {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            // xorshift64*: the high byte passes every test that matters to an entropy coder.
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56) as u8
        };
        Corpus { name: "random".into(), files: vec![(0..n).map(|_| next()).collect()] }
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> usize {
        self.files.iter().map(Vec::len).sum()
    }
}

fn corpora() -> Option<PathBuf> {
    std::env::var_os("LINERATE_CORPORA").map(PathBuf::from)
}

fn resolve(path: &Path) -> PathBuf {
    match corpora() {
        Some(root) if !path.exists() => root.join(path),
        _ => path.to_owned(),
    }
}

/// The first part of the path below `$LINERATE_CORPORA`, otherwise the last part of the path.
fn name(path: &Path) -> String {
    let below = corpora().and_then(|root| path.strip_prefix(root).ok().map(Path::to_owned));
    let part = match &below {
        Some(p) => p.components().next(),
        None => path.components().next_back(),
    };
    part.map_or_else(|| "corpus".into(), |c| c.as_os_str().to_string_lossy().into_owned())
}

fn list(path: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    if !fs::metadata(path)?.is_dir() {
        found.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        list(&entry?.path(), found)?;
    }
    Ok(())
}

fn load(path: &Path, max: Option<u64>) -> io::Result<Vec<u8>> {
    let mut data = Vec::new();
    fs::File::open(path)?.take(max.unwrap_or(u64::MAX)).read_to_end(&mut data)?;
    Ok(data)
}
