//! The folder that is packed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use linerate_nx::Archive;
use linerate_nx::pack::{Builder, Coding, Options, Summary};

/// A folder, its number of files and their bytes.
pub struct Input {
    /// What the record calls it. Never a path of the machine.
    pub name: String,
    pub(super) root: PathBuf,
    pub(super) files: usize,
    pub(super) bytes: u64,
}

impl Input {
    /// The folder of that path.
    ///
    /// # Errors
    /// A sentence that names the path; also if there is no byte in it.
    pub fn of(root: &Path, name: Option<&str>) -> Result<Input, String> {
        let last = root.components().next_back();
        let own = last.map_or_else(|| "corpus".into(), |c| c.as_os_str().to_string_lossy().into_owned());
        let mut input =
            Input { name: name.map_or(own, str::to_owned), root: root.into(), files: 0, bytes: 0 };
        input.count(root).map_err(|e| format!("{}: {e}", root.display()))?;
        match input.bytes {
            0 => Err(format!("{}: nothing to pack", root.display())),
            _ => Ok(input),
        }
    }

    fn count(&mut self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                self.count(&entry.path())?;
            } else if kind.is_file() {
                self.files += 1;
                self.bytes += entry.metadata()?.len();
            }
        }
        Ok(())
    }

    /// The folder as an archive in memory.
    pub(super) fn pack(&self, options: Options) -> Result<(Vec<u8>, Summary), String> {
        self.builder(options)?.to_bytes().map_err(message)
    }

    /// The folder, ready to be packed.
    pub(super) fn builder(&self, options: Options) -> Result<Builder, String> {
        let mut builder = Builder::new(options).map_err(message)?;
        builder.add_folder(&self.root, |_| Some(Default::default())).map_err(message)?;
        Ok(builder)
    }
}

/// Options of one level for all blocks, of that many bytes.
pub(super) fn pack_options(level: i32, chunk: u64, threads: usize) -> Options {
    let coding = Coding::zstd(level);
    Options {
        chunk,
        solid_limit: chunk.min(64 << 20) - 1,
        solid: coding,
        chunked: coding,
        threads,
        ..Options::default()
    }
}

/// The archive of these bytes.
pub(super) fn open(bytes: &[u8]) -> Result<Archive<&[u8]>, String> {
    Archive::open(bytes).map_err(message)
}

/// An error of the engine as a sentence.
pub(super) fn message(error: impl std::fmt::Display) -> String {
    error.to_string()
}
