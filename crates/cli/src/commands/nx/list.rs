//! `linerate nx list`: prints the entries of an archive, from its header alone.

use std::path::Path;
use std::process::ExitCode;

use linerate_nx::metadata::{Attributes, Link, Metadata};
use linerate_nx::{Codec, File};
use serde_json::{Value, json};

use super::args::{ChoiceArgs, LimitArgs};
use super::open::{Opened, blocks, open};
use super::select::{GLOBS, Select};
use super::{metadata, names, tree};
use crate::ui::error::CliError;
use crate::ui::exit_code;
use crate::ui::inputs;
use crate::ui::reporter::Reporter;
use crate::ui::stdout::StdoutLines;
use crate::ui::summary::RunSummary;
use crate::ui::verbosity::VerbosityArgs;

const EXAMPLES: &str = "\
Examples:
  linerate nx list mods.nx                    paths
  linerate nx list --long mods.nx '*.dds'     sizes, blocks, codecs and hashes of textures
  linerate nx list --tree mods.nx textures    a folder as a tree, with the bytes of each folder
  linerate nx list --metadata mods.nx         modes, times, folders and links, like `ls -l`
  linerate nx list --json mods.nx             a JSON object for each file, folder and link";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{GLOBS}\n\n{}", exit_code::HELP))]
pub(crate) struct ListArgs {
    /// Print sizes, blocks, codecs and hashes
    #[arg(short = 'l', long, conflicts_with = "tree")]
    pub(crate) long: bool,

    /// Print a tree of folders with the bytes below each
    #[arg(short = 't', long)]
    pub(crate) tree: bool,

    /// Print modes, times, folders and links, if the archive has them
    #[arg(short = 'm', long, conflicts_with_all = ["long", "tree"])]
    pub(crate) metadata: bool,

    #[command(flatten)]
    pub(crate) choice: ChoiceArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,
}

pub(super) fn run(args: &ListArgs) -> Result<ExitCode, String> {
    let select = args.choice.select()?;
    let path = args.choice.path();
    Ok(Reporter::new(&args.verbosity, false).one(&path, |reporter| process(args, &path, &select, reporter)))
}

fn process(
    args: &ListArgs,
    path: &Path,
    select: &Select,
    reporter: &mut Reporter,
) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(path, "list");
    let archive = open(path, &args.limits)?;
    inputs::keep(path);
    let mut files: Vec<File<'_>> = archive.files().filter(|file| select.takes(file.path())).collect();
    let name = path.display().to_string();
    let needs_metadata = args.metadata || reporter.is_json();
    let mut kept = needs_metadata.then(|| metadata::for_display(&archive, &name, reporter)).flatten();
    let others = kept.iter().flat_map(Metadata::others);
    if let Some(glob) = select.unmatched(archive.files().map(|file| file.path()).chain(others)) {
        return Err(CliError::Refused(format!("no file matches `{glob}`")));
    }
    files.sort_by(|a, b| tree::order(a.path(), b.path()));
    if args.metadata && kept.is_none() {
        reporter.note(&name, "it has no metadata");
    }
    if let Some(kept) = &mut kept {
        kept.retain(|path| select.takes(path));
    }
    let kept = kept.unwrap_or_default();
    let codecs = Codecs::of_archive(&archive);
    let mut lines = StdoutLines::new()?;
    if reporter.is_json() {
        for entry in Entry::all(&files, &kept) {
            lines.write(entry.record(&name, &codecs))?;
        }
    } else if args.metadata {
        for entry in Entry::all(&files, &kept) {
            lines.write(entry.line())?;
        }
    } else if args.tree {
        let entries: Vec<(&str, u64)> = files.iter().map(|file| (file.path(), file.size())).collect();
        tree::draw(&entries, &mut lines)?;
    } else if args.long {
        long(&codecs, &files, &mut lines)?;
    } else {
        files.iter().try_for_each(|file| lines.write(file.path()))?;
    }
    lines.finish()?;
    names::report_folders(&archive, &name, reporter);
    summary.silent = true;
    Ok(summary)
}

fn long(codecs: &Codecs, files: &[File<'_>], lines: &mut StdoutLines) -> Result<(), CliError> {
    lines.write(format_args!(
        "{:>15} {:>10} {:>6} {:>9} {:<13} {:<16} path",
        "size", "block", "blocks", "offset", "codec", "hash"
    ))?;
    files.iter().try_for_each(|file| {
        let blocks = file.blocks();
        lines.write(format_args!(
            "{:>15} {:>10} {:>6} {:>9} {:<13} {:<16} {}",
            file.size(),
            blocks.start,
            blocks.len(),
            file.entry().block_offset,
            codecs.label(file),
            hash(file).unwrap_or_else(|| "-".into()),
            file.path()
        ))
    })
}

/// The hash of a file in 16 hexadecimal digits, if it has one.
fn hash(file: &File<'_>) -> Option<String> {
    file.hash().map(|hash| format!("{hash:016x}"))
}

/// A file, folder or link in an archive with its metadata, if that is known.
enum Entry<'a> {
    File(&'a File<'a>, Option<&'a Attributes>),
    Folder(&'a str, &'a Attributes),
    Link(&'a str, &'a Link),
}

impl<'a> Entry<'a> {
    /// All files, folders and links, in the order in which a tree shows them.
    fn all(files: &'a [File<'a>], kept: &'a Metadata) -> Vec<Entry<'a>> {
        let files = files.iter().map(|file| Entry::File(file, kept.files.get(file.path())));
        let folders = kept.folders.iter().map(|(path, attributes)| Entry::Folder(path, attributes));
        let links = kept.links.iter().map(|(path, link)| Entry::Link(path, link));
        let mut all: Vec<Entry<'a>> = files.chain(folders).chain(links).collect();
        all.sort_by(|a, b| tree::order(a.path(), b.path()));
        all
    }

    fn path(&self) -> &'a str {
        match self {
            Entry::File(file, _) => file.path(),
            Entry::Folder(path, _) | Entry::Link(path, _) => path,
        }
    }

    /// The line of an entry in the form of `ls -l`, with times in UTC. Unknown modes are question
    /// marks, unknown times and sizes dashes.
    fn line(&self) -> String {
        let (letter, mode, modified, size, name) = match self {
            Entry::File(file, kept) => {
                let (mode, modified) = (kept.and_then(|kept| kept.mode), kept.map(|kept| kept.modified));
                ('-', mode, modified, file.size().to_string(), file.path().to_owned())
            }
            Entry::Folder(path, kept) => {
                ('d', kept.mode, Some(kept.modified), "-".into(), format!("{path}/"))
            }
            Entry::Link(path, link) => {
                let name = format!("{path} -> {}", link.target.escape_debug());
                ('l', Some(0o777), Some(link.modified), "-".into(), name)
            }
        };
        let bit = |i: u32, mode: u16| if mode >> (8 - i) & 1 == 1 { b"rwx"[i as usize % 3] } else { b'-' };
        let mode = (0..9).map(|i| mode.map_or('?', |mode| char::from(bit(i, mode)))).collect::<String>();
        let modified = modified.map_or_else(|| "-".to_owned(), |time| time.to_string());
        format!("{letter}{mode} {modified:<30} {size:>15} {name}")
    }

    /// The object of `--json` about an entry of the archive `name`.
    fn record(&self, name: &str, codecs: &Codecs) -> Value {
        let mode = |mode: Option<u16>| mode.map(|mode| format!("{mode:03o}"));
        match self {
            Entry::File(file, kept) => {
                let mut value = record(name, codecs, file);
                value["mode"] = json!(kept.and_then(|kept| mode(kept.mode)));
                value["modified"] = json!(kept.map(|kept| kept.modified.to_string()));
                value
            }
            Entry::Folder(path, kept) => json!({
                "file": name,
                "path": path,
                "kind": "folder",
                "mode": mode(kept.mode),
                "modified": kept.modified.to_string(),
            }),
            Entry::Link(path, link) => json!({
                "file": name,
                "path": path,
                "kind": "link",
                "target": link.target,
                "modified": link.modified.to_string(),
            }),
        }
    }
}

fn record(name: &str, codecs: &Codecs, file: &File<'_>) -> Value {
    let blocks = file.blocks();
    json!({
        "file": name,
        "path": file.path(),
        "kind": "file",
        "size": file.size(),
        "hash": hash(file),
        "block": blocks.start,
        "blocks": blocks.len(),
        "offset": file.entry().block_offset,
        "codecs": codecs.of(file),
        "filtered_blocks": codecs.filtered(file),
    })
}

/// Prefix sums of the blocks of each codec, and of filtered blocks, so that the blocks of a file
/// are counted in constant time.
struct Codecs {
    /// For each codec and block, the number of earlier blocks of that codec. Blocks of size 0 do
    /// not count.
    of_codec: [Vec<u32>; 3],
    /// For each block, the number of earlier filtered blocks.
    filtered: Vec<u32>,
}

impl Codecs {
    fn of_archive(archive: &Opened) -> Codecs {
        let blocks = blocks(archive);
        let of_codec = |codec| prefix_sums(blocks.iter().map(|(of, len)| *of == Some(codec) && *len > 0));
        Codecs {
            of_codec: Codec::ALL.map(of_codec),
            filtered: prefix_sums(archive.toc().blocks.iter().map(|block| block.filtered)),
        }
    }

    /// The codecs of a file's blocks, and `filter` if any of the blocks is filtered, as in
    /// `copy+zstd+filter`. Empty for an empty file.
    fn label(&self, file: &File<'_>) -> String {
        let mut names = self.of(file);
        names.extend((self.filtered(file) > 0).then_some("filter"));
        names.join("+")
    }

    /// The number of filtered blocks of a file.
    fn filtered(&self, file: &File<'_>) -> u32 {
        let blocks = file.blocks();
        self.filtered[blocks.end] - self.filtered[blocks.start]
    }

    /// The names of the codecs of a file's blocks, each once. Blocks of size 0 and blocks of
    /// unsupported codecs do not count.
    fn of(&self, file: &File<'_>) -> Vec<&'static str> {
        let blocks = file.blocks();
        let has = |before: &[u32]| before[blocks.start] < before[blocks.end];
        let found = Codec::ALL.iter().zip(&self.of_codec).filter(|(_, before)| has(before));
        found.map(|(codec, _)| codec.name()).collect()
    }
}

/// Returns, for each flag, the number of set flags before it, and at the end the number of all set
/// flags.
fn prefix_sums(flags: impl Iterator<Item = bool>) -> Vec<u32> {
    let mut count = 0;
    let sums = flags.map(|flag| {
        count += u32::from(flag);
        count
    });
    std::iter::once(0).chain(sums).collect()
}
