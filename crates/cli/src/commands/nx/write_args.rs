//! Arguments that several of `pack`, `merge`, `update`, `delete` and `repack` share.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{ValueEnum, ValueHint};
use linerate_nx::filter::TextureFormat;
use linerate_nx::pack::{FileOptions, Format, Walk};

use super::args::LimitArgs;
use super::select::{Glob, Select};
use crate::ui::error::CliError;
use crate::ui::output_args;
use crate::ui::reporter::Reporter;
use crate::ui::signals::{self, CancelToken};
use crate::ui::summary::RunSummary;
use crate::ui::threads::ThreadArgs;
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::wait::WaitArgs;

/// Which files of a folder are packed, and options of single files.
#[derive(clap::Args, Debug)]
pub(crate) struct RuleArgs {
    /// Pack only files that match GLOB
    #[arg(short = 'g', long, value_name = "GLOB")]
    pub(crate) include: Vec<String>,

    /// Exclude files that match GLOB, and matching folders with everything below them
    #[arg(short = 'x', long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,

    /// Skip and list files and folders whose names no archive can hold (such as CON, x:y, a
    /// trailing dot, not UTF-8), and end with status 5
    #[arg(long)]
    pub(crate) skip_bad_names: bool,

    /// Store files that match GLOB uncompressed
    #[arg(long, value_name = "GLOB")]
    pub(crate) store: Vec<String>,

    /// Give files that match GLOB their own blocks, so that each can be decoded alone
    #[arg(long, value_name = "GLOB")]
    pub(crate) alone: Vec<String>,

    /// Treat files that match GLOB as texels of FORMAT (bc1, bc3 to bc5, bc6h, bc7) from their
    /// first byte, unless a header says otherwise; the first matching glob counts; only with --filters
    #[arg(long, value_name = "GLOB=FORMAT", value_parser = texture_format)]
    pub(crate) texture_format: Vec<(String, TextureFormat)>,

    /// Match globs case-insensitively
    #[arg(short = 'i', long)]
    pub(crate) ignore_case: bool,
}

/// Parses a glob, an equals sign and the name of a texture format. The glob is not checked.
///
/// # Errors
/// A sentence if there is no equals sign, or with all names if the format is unknown.
fn texture_format(text: &str) -> Result<(String, TextureFormat), String> {
    let (glob, name) = text.rsplit_once('=').ok_or("give a glob, `=` and a format, such as *.tex=bc1")?;
    // Formats without filters, such as BC2, are not offered.
    let formats = TextureFormat::ALL.iter().filter(|format| !format.filters().is_empty());
    match formats.clone().find(|format| format.name() == name) {
        Some(format) => Ok((glob.to_owned(), *format)),
        None => {
            let names = formats.map(|format| format.name()).collect::<Vec<_>>().join(", ");
            Err(format!("`{name}` is no texture format with filters; formats are {names}"))
        }
    }
}

impl RuleArgs {
    /// Parses the globs.
    ///
    /// # Errors
    /// A sentence about the first text that is not a glob.
    pub(crate) fn rules(&self) -> Result<Rules, String> {
        let globs = |texts: &[String]| -> Result<Vec<Glob>, String> {
            texts.iter().map(|text| Glob::new(text, self.ignore_case)).collect()
        };
        let textures = self.texture_format.iter();
        let textures = textures.map(|(text, format)| Ok((Glob::new(text, self.ignore_case)?, *format)));
        Ok(Rules {
            select: Select::new(&self.include, &self.exclude, self.ignore_case)?,
            store: globs(&self.store)?,
            alone: globs(&self.alone)?,
            textures: textures.collect::<Result<_, String>>()?,
            skip_bad_names: self.skip_bad_names,
        })
    }
}

/// Which files of a folder are packed, and how, as the globs of the command line say.
#[derive(Debug)]
pub(crate) struct Rules {
    select: Select,
    store: Vec<Glob>,
    alone: Vec<Glob>,
    textures: Vec<(Glob, TextureFormat)>,
    pub(crate) skip_bad_names: bool,
}

impl Rules {
    /// Whether a folder is left out with everything below it, because it is excluded.
    pub(crate) fn prunes(&self, folder: &str) -> bool {
        self.select.excludes(folder)
    }

    /// Makes the walk through a folder that leaves out excluded folders. `prune` is a function that
    /// calls [`prunes`](Self::prunes).
    pub(crate) fn walk<'w>(&self, folder: &'w Path, prune: &'w dyn Fn(&str) -> bool) -> Walk<'w> {
        Walk::new(folder).prune(prune).skip_bad_names(self.skip_bad_names)
    }

    /// Returns the options of packing the file at `path`, or `None` if it is not packed. For a
    /// folder, whose path ends with a slash, only whether it is packed matters.
    pub(crate) fn options(&self, path: &str) -> Option<FileOptions> {
        let path = path.strip_suffix('/').unwrap_or(path);
        if !self.select.takes(path) {
            return None;
        }
        let matches = |globs: &[Glob]| globs.iter().any(|glob| glob.matches(path));
        let mut options = FileOptions::new().alone(matches(&self.alone));
        if matches(&self.store) {
            options.coding = Some(linerate_nx::pack::Coding::Copy);
        }
        let texture = self.textures.iter().find(|(glob, _)| glob.matches(path));
        options.texture = texture.map(|(_, format)| *format);
        Some(options)
    }
}

/// The formats that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// Nx 1.x, which other programs read
    Nx,
    /// R3A 2.0, a draft, which only readers of the profile r3a-2.0-doc can read
    R3a,
}

impl FormatName {
    pub(crate) fn format(self) -> Format {
        match self {
            FormatName::Nx => Format::Nx,
            FormatName::R3a => Format::R3a,
        }
    }
}

/// The output of `pack`.
#[derive(clap::Args, Debug)]
pub(crate) struct OutputArgs {
    #[arg(
        short = 'o',
        long,
        alias = "target",
        value_name = "FILE",
        help = output_args::FILE,
        value_parser = output_args::path(),
        required_unless_present = "dry_run",
        value_hint = ValueHint::FilePath
    )]
    pub(crate) output: Option<PathBuf>,

    #[arg(short = 'f', long, help = output_args::FORCE)]
    pub(crate) force: bool,

    /// The format of the archive
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "nx")]
    pub(crate) format: FormatName,

    #[arg(short = 'n', long, help = output_args::DRY_RUN)]
    pub(crate) dry_run: bool,
}

/// Arguments that `merge`, `update`, `delete` and `repack` share.
#[derive(clap::Args, Debug)]
pub(crate) struct EditArgs {
    #[arg(short = 'o', long, alias = "target", value_name = "FILE", help = output_args::FILE, value_parser = output_args::path(), value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    #[arg(short = 'f', long, help = output_args::FORCE)]
    pub(crate) force: bool,

    /// The format of the new archive [default: the format of the first archive]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<FormatName>,

    #[arg(short = 'n', long, help = output_args::DRY_RUN)]
    pub(crate) dry_run: bool,

    /// Copy blocks without verifying the hashes of their contents
    #[arg(long)]
    pub(crate) no_verify: bool,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,
}

/// Does work on an archive that a signal cancels, and reports its result. Returns the exit status.
/// After a signal, the program ends when the work has returned: see [`signals::cancellable`].
pub(crate) fn cancellable(
    reporter: Reporter,
    archive: &Path,
    work: impl FnOnce(&CancelToken, &mut Reporter) -> Result<RunSummary, CliError>,
) -> ExitCode {
    reporter.one(archive, |reporter| signals::cancellable(|cancel| work(cancel, reporter)))
}
