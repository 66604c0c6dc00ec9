//! `linerate nx pack`: packs folders and files into an archive.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueHint;
use linerate_nx::check_path;
use linerate_nx::metadata::{Attributes, Metadata};
use linerate_nx::pack::{Builder, CancelToken};

use super::coding::{CodingArgs, presets};
use super::names;
use super::pipe::{Choice, PipeArgs};
use super::select::GLOBS;
use super::write::{self, Target};
use super::write_args::{FormatName, OutputArgs, RuleArgs, Rules, cancellable};
use crate::ui::error::CliError;
use crate::ui::reporter::Reporter;
use crate::ui::summary::RunSummary;
use crate::ui::threads::ThreadArgs;
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::wait::WaitArgs;
use crate::ui::{exit_code, inputs};

const EXAMPLES: &str = "\
Examples:
  linerate nx pack mods -o mods.nx                       pack a folder with zstd levels 16 and 9
  linerate nx pack --preset fast-load mods -o mods.nx
  linerate nx pack --pipe nvme-5.0 --cores 12 mods -o mods.nx    fastest to load on 12 cores
  linerate nx pack --filters auto mods -o mods.nx        smaller textures; only linerate reads them
  linerate nx pack -x .git -x '*.bak' . -o ../mods.nx
  linerate nx pack --store '*.ogg' --alone '*.json' mods -o mods.nx
  linerate nx pack --metadata home -o home.nx            keep times, modes, links and empty folders
  linerate nx pack --format r3a mods -o mods.r3a         write the draft format R3A 2.0
  linerate nx pack --skip-bad-names ~ -o home.nx         skip and list names that cannot be packed
  linerate nx pack --dry-run mods                        print the paths and their totals";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}\n\n{GLOBS}\n\n{}", presets(), exit_code::HELP))]
pub(crate) struct PackArgs {
    /// Also keep times, modes, links and empty folders, in an extension that other programs ignore;
    /// the bytes of the archive then depend on them
    #[arg(long)]
    pub(crate) metadata: bool,

    #[command(flatten)]
    pub(crate) rules: RuleArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,

    /// A folder or file, as an option
    #[arg(long, value_name = "SOURCE", value_hint = ValueHint::AnyPath)]
    pub(crate) source: Vec<PathBuf>,

    /// Files, and folders, whose files are packed under their paths in the folder
    #[arg(value_name = "SOURCE", required_unless_present = "source", value_hint = ValueHint::AnyPath)]
    pub(crate) sources: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) pipe: PipeArgs,

    #[command(flatten)]
    pub(crate) coding: CodingArgs,
}

impl PackArgs {
    /// The files and folders to pack: first those of `--source`, then those by position.
    pub(crate) fn all_sources(&self) -> impl Iterator<Item = &Path> {
        self.source.iter().chain(&self.sources).map(PathBuf::as_path)
    }

    /// Checks the options that are given together with `--pipe`.
    ///
    /// # Errors
    /// A sentence if an option is given that `--pipe` decides, or the format R3A.
    fn check_pipe(&self) -> Result<(), String> {
        let none = self.coding.filters.as_deref() == Some("none");
        match self.pipe.pipe.is_some() {
            true if self.output.format == FormatName::R3a => {
                Err("--pipe chooses among Nx archives; leave out --format r3a".into())
            }
            true if self.coding.is_given() && !(none && self.coding.is_only_filters()) => {
                Err("--pipe chooses how to pack; leave out the other packing options except --filters none"
                    .into())
            }
            _ => Ok(()),
        }
    }

    /// Chooses the coding to pack with by measuring, if `--pipe` is given. Otherwise returns
    /// `None`, and the options of the command line count.
    fn choice(&self, reporter: &Reporter) -> Result<Option<Choice>, CliError> {
        let Some(pipe) = &self.pipe.pipe else { return Ok(None) };
        let sources: Vec<PathBuf> = self.all_sources().map(Path::to_owned).collect();
        self.pipe.choose(pipe, &sources, self.coding.filters.is_none(), reporter).map(Some)
    }
}

pub(super) fn run(args: &PackArgs) -> Result<ExitCode, String> {
    args.coding.options(None, args.threads.count())?;
    args.coding.check_format(args.output.format.format())?;
    args.check_pipe()?;
    let rules = args.rules.rules()?;
    let first = args.all_sources().next().map(Path::to_owned).unwrap_or_default();
    let reporter = Reporter::new(&args.verbosity, false);
    Ok(cancellable(reporter, &first, |cancel, reporter| {
        process(args, CancelToken::from_flag(cancel.flag()), &rules, reporter)
    }))
}

fn process(
    args: &PackArgs,
    cancel: CancelToken,
    rules: &Rules,
    reporter: &mut Reporter,
) -> Result<RunSummary, CliError> {
    let first = args.all_sources().next().unwrap_or(Path::new("."));
    let mut summary = RunSummary::new(first, "pack");
    summary.set("threads", args.threads.count());
    let target = Target::of(&args.output);
    let _lock = target.lock(args.wait.wait())?;
    target.checked()?;
    let choice = args.choice(reporter)?;
    let coding = choice.as_ref().map_or(&args.coding, |choice| &choice.coding);
    let mut options = coding.options(None, args.threads.count()).map_err(CliError::Refused)?;
    options.cancel = cancel;
    let mut packing = Packing {
        builder: Builder::new(options).map_err(write::engine_error)?,
        metadata: args.metadata.then(Metadata::default),
        bad_names: 0,
    };
    for source in args.all_sources() {
        // The reporter prints the first source's name before every message.
        let at = |e: CliError| if source == first { e } else { e.in_file(&source.display().to_string()) };
        let meta = fs::metadata(source).map_err(CliError::io("cannot open")).map_err(at)?;
        packing.add(source, &meta, rules, &target, reporter)?;
    }
    packing.builder.metadata(packing.metadata.unwrap_or_default());
    let paths = || packing.builder.names().chain(packing.builder.others());
    if paths().next().is_none() {
        reporter.warn(&first.display().to_string(), "there is no file to pack");
    }
    summary.set("bad_names", packing.bad_names);
    names::note_not_portable(packing.builder.names(), reporter, &mut summary);
    names::note_clashes(packing.builder.names(), reporter, &mut summary);
    if target.is_dry() {
        summary.lines = paths().map(str::to_owned).collect();
        summary.lines.sort_unstable();
    }
    if let Some(choice) = choice {
        summary.set("plan", choice.plan.to_json());
        summary.lines.insert(0, choice.sentence);
    }
    write::write(packing.builder, &target, args.output.format.format(), reporter, &mut summary)?;
    Ok(summary)
}

/// An archive to which sources are being added.
struct Packing {
    builder: Builder,
    /// Metadata of files that are sources themselves, with `--metadata`. The builder has the
    /// metadata of everything that is in folders.
    metadata: Option<Metadata>,
    /// Number of files and folders that were skipped because no archive can hold their names.
    bad_names: usize,
}

impl Packing {
    /// Adds a file, or all chosen files of a folder.
    fn add(
        &mut self,
        source: &Path,
        meta: &fs::Metadata,
        rules: &Rules,
        target: &Target,
        reporter: &mut Reporter,
    ) -> Result<(), CliError> {
        if !meta.is_dir() {
            return self.add_file(source, meta, rules, reporter);
        }
        let own: Vec<&Path> = target.path().into_iter().collect();
        let prune = |path: &str| rules.prunes(path);
        let walk = rules.walk(source, &prune).leave_out(&own).metadata(self.metadata.is_some());
        let watch = write::watch(source, &self.builder.options().cancel, reporter);
        let skipped = self.builder.add_folder(walk, |path| rules.options(path));
        drop(watch);
        let skipped = skipped.map_err(write::engine_error)?;
        self.bad_names += skipped.bad_names.len();
        names::warn_of_skipped(&skipped, source, reporter);
        Ok(())
    }

    /// Adds a file under its name, without the folders of its path.
    fn add_file(
        &mut self,
        source: &Path,
        meta: &fs::Metadata,
        rules: &Rules,
        reporter: &mut Reporter,
    ) -> Result<(), CliError> {
        let name = source.file_name().and_then(|name| name.to_str());
        let bad = match name {
            None => Some("the name is not UTF-8"),
            Some(name) => check_path(name).err(),
        };
        if let Some(what) = bad.filter(|_| rules.skip_bad_names) {
            self.bad_names += 1;
            reporter.warn(&source.display().to_string(), &format!("not packed: {what}"));
            return Ok(());
        }
        let name =
            name.ok_or_else(|| CliError::Refused(format!("{} has no name in UTF-8", source.display())))?;
        let Some(options) = rules.options(name) else { return Ok(()) };
        inputs::keep(source);
        if let Some(all) = &mut self.metadata {
            let attributes = Attributes::from_fs(meta).map_err(CliError::io("cannot read the time"))?;
            all.files.insert(name.to_owned(), attributes);
        }
        self.builder.add_path_with(name, source, options).map_err(write::engine_error)
    }
}
