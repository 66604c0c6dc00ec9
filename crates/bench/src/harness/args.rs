//! Command-line options that shapes share.

use std::path::PathBuf;

use clap::Args;

use super::corpus::Corpus;
use super::filter::parse_bytes;
use super::output::Output;

/// Options for the results and the length of a run.
#[derive(Args, Clone, Debug, Default)]
pub struct Common {
    /// Append the results to this file, as JSON Lines
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Print JSON Lines instead of tables
    #[arg(long, conflicts_with = "against")]
    pub json: bool,
    /// Print what changed since an earlier record
    #[arg(long, value_name = "RECORD")]
    pub against: Option<PathBuf>,
    /// Number of rounds [default: depends on the shape; with --quick at most 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub rounds: Option<u16>,
    /// Use little data and few rounds, to see that the shape runs
    #[arg(long)]
    pub quick: bool,
    /// The core to run on, for shapes of one thread [default: the last allowed one]
    #[arg(long, value_name = "N")]
    pub core: Option<usize>,
}

impl Common {
    /// Opens the record to append to, and reads the earlier one, for a shape that does not run on
    /// one core. Shapes call this before a long run, so that errors come early. `versions` are
    /// names and versions of other programs.
    ///
    /// # Errors
    /// A sentence that names the file, or that says that the shape does not take `--core`.
    pub fn open(&self, versions: &[(String, String)]) -> Result<Output, String> {
        match self.core {
            Some(_) => Err("--core: this shape does not run on one core; leave the option out".into()),
            None => Output::open(self, versions),
        }
    }

    /// Pins the thread to the core of `--core`, or to the last one that is allowed where the system
    /// can do that; then opens the record to append to, and reads the earlier one.
    ///
    /// # Errors
    /// A sentence, if the thread cannot run on the given core, or a file cannot be opened or read.
    pub fn open_pinned(&self) -> Result<Output, String> {
        match (self.core, crate::pin(self.core)) {
            (Some(wanted), None) => Err(format!("cannot run on core {wanted}")),
            _ => Output::open(self, &[]),
        }
    }

    /// The number of rounds that the user chose, or else `usual`, with `--quick` at most 3.
    pub fn rounds(&self, usual: usize) -> usize {
        self.rounds.map_or(if self.quick { usual.min(3) } else { usual }, usize::from)
    }
}

/// Options for the input.
#[derive(Args, Clone, Debug, Default)]
pub struct CorpusArgs {
    /// A directory or a file, or a name below $LINERATE_CORPORA [default: small files of the
    /// repository, which the program carries]
    #[arg(long, value_name = "PATH")]
    pub corpus: Option<PathBuf>,
    /// Use generated data instead of files
    #[arg(long, value_name = "KIND", value_parser = ["random", "rows"], conflicts_with = "corpus")]
    pub synthetic: Option<String>,
    /// The corpus's name in the record [default: from the path; else carried, random or rows]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Take only the first N bytes of each file of --corpus
    #[arg(long, value_name = "N", requires = "corpus", value_parser = parse_bytes)]
    pub max_bytes_per_file: Option<u64>,
}

impl CorpusArgs {
    /// Reads or generates the corpus.
    ///
    /// # Errors
    /// A sentence that names the path.
    pub fn read(&self) -> Result<Corpus, String> {
        let mut corpus = match (&self.corpus, self.synthetic.as_deref()) {
            (Some(path), _) => Corpus::read(path, self.max_bytes_per_file)?,
            (None, Some("rows")) => Corpus::rows(16 << 20),
            (None, Some(_)) => Corpus::random(1_000_000),
            (None, None) => Corpus::carried(),
        };
        if let Some(name) = &self.name {
            corpus.name.clone_from(name);
        }
        Ok(corpus)
    }
}
