//! `linerate nx info`: prints summaries of archives from their tables.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueHint;
use linerate_nx::metadata::Metadata;
use linerate_nx::{Codec, Disorder, Header, r3a};
use serde_json::{Map, Value, json};

use super::args::LimitArgs;
use super::open::{AnySource, Opened, blocks, open};
use crate::ui::error::CliError;
use crate::ui::exit_code;
use crate::ui::reporter::Reporter;
use crate::ui::summary::RunSummary;
use crate::ui::verbosity::VerbosityArgs;

const EXAMPLES: &str = "\
Examples:
  linerate nx info mods.nx
  linerate nx info --json *.nx";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,

    /// Archives to print
    #[arg(value_name = "ARCHIVE", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) archives: Vec<PathBuf>,
}

pub(super) fn run(args: &InfoArgs) -> ExitCode {
    Reporter::new(&args.verbosity, false).each(&args.archives, |path, _| process(args, path))
}

fn process(args: &InfoArgs, path: &Path) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(path, "info");
    let archive = open(path, &args.limits)?;
    let header = HeaderFields::of(&archive);
    let totals = Totals::of(&archive);
    summary.lines = totals.lines(path, &archive, &header);
    summary.extend(totals.record(&archive, &header));
    Ok(summary)
}

/// What the header of an archive in Nx or R3A format says.
struct HeaderFields {
    /// The name of the format in `--json`.
    name: &'static str,
    /// The format, the hash of contents, and the form of the table's entries, for the text.
    format: String,
    /// The form of the table's entries.
    entries: String,
    /// Bytes before the first block.
    bytes: u64,
    /// How many of these bytes are not padding. All of them are for R3A, and for an Nx archive with
    /// metadata, or other bytes than zeros, after the tables.
    used: u64,
    /// Bytes of the string pool, which has the paths.
    pool: u32,
    /// Flags of an Nx header; 0 for R3A.
    flags: u8,
    /// Number of zstd dictionaries; 0 for Nx.
    dictionaries: usize,
}

impl HeaderFields {
    fn of(archive: &Opened) -> HeaderFields {
        match archive.source() {
            AnySource::Nx(_) => HeaderFields::of_nx(archive),
            AnySource::R3a(shown) => HeaderFields::of_r3a(shown.archive().head()),
        }
    }

    fn of_nx(archive: &Opened) -> HeaderFields {
        let header = archive.header();
        let entries = format!("{}-byte", header.form.entry_bytes());
        HeaderFields {
            name: "nx",
            format: format!("{}, {}, {entries} entries", nx_name(header), header.hash.name()),
            entries,
            bytes: header.bytes(),
            used: if archive.has_spare_bytes() { header.bytes() } else { header.pool_end() },
            pool: header.pool,
            flags: header.flags,
            dictionaries: 0,
        }
    }

    fn of_r3a(head: &r3a::Head) -> HeaderFields {
        let header = &head.header;
        HeaderFields {
            name: "r3a",
            format: format!(
                "R3A 2.0, a draft (profile {}), {}, {}",
                r3a::PROFILE,
                if header.form.hashed() { "XXH3-64" } else { "without hashes" },
                header.form.name()
            ),
            entries: header.form.name().to_owned(),
            bytes: header.bytes(),
            // After the tables come segments of any length. Padding among them does not count as
            // padding.
            used: header.bytes(),
            pool: header.pool,
            flags: 0,
            dictionaries: head.dictionaries.as_ref().map_or(0, |found| found.dictionaries.len()),
        }
    }
}

/// The name of the Nx format, with a warning if only linerate reads the archive.
fn nx_name(header: &Header) -> &'static str {
    match header.filtered {
        true => "Nx 1 with filters (header version 65: linerate only)",
        false => "Nx 1",
    }
}

/// For the name of each filter that an archive uses, the number of regions with that filter and
/// their bytes.
type Filtered = BTreeMap<&'static str, (usize, u64)>;

/// Counts the regions of each filter, from the tables at the beginning of all filtered blocks.
fn filtered(archive: &Opened) -> linerate_nx::Result<Filtered> {
    let mut found = Filtered::new();
    for block in (0..archive.layout().len()).filter(|&block| archive.toc().blocks[block].filtered) {
        for region in archive.regions(block)? {
            let (count, bytes) = found.entry(region.filter.name()).or_default();
            *count += 1;
            *bytes += u64::from(region.len);
        }
    }
    Ok(found)
}

/// Totals of an archive's tables.
struct Totals {
    /// Bytes of content of all files.
    bytes: u64,
    /// Bytes of content of the blocks. Content that several files share counts once.
    content: u64,
    /// Compressed bytes of all blocks, without padding.
    compressed: u64,
    /// Number of files that are cut into chunks.
    chunked: usize,
    /// Number of files without content.
    empty: usize,
    /// Number of files whose content is at the same place as that of an earlier file.
    shared: usize,
    /// For each codec, the number of its blocks and their compressed bytes. Blocks of size 0 do not
    /// count.
    codecs: [(Codec, usize, u64); 3],
    /// Number of filtered blocks.
    filtered_blocks: usize,
    /// The regions of each filter, or the error of reading them.
    filters: linerate_nx::Result<Filtered>,
    /// Number of blocks of size 0.
    empty_blocks: usize,
    /// Defects of the table because of which other programs damage the archive when they merge or
    /// repack it.
    disorder: Disorder,
    /// Number of blocks of unsupported codecs.
    unsupported_blocks: usize,
    /// Numbers of files, folders and links with metadata; `None` if the archive has no metadata.
    /// An error means that its metadata is damaged.
    metadata: linerate_nx::Result<Option<[usize; 3]>>,
}

impl Totals {
    fn of(archive: &Opened) -> Totals {
        let (toc, blocks) = (archive.toc(), blocks(archive));
        let of_codec = |codec: Codec| {
            let blocks = blocks.iter().filter(|(of, len)| *of == Some(codec) && *len > 0);
            let (count, bytes) =
                blocks.fold((0, 0), |(count, bytes), (_, len)| (count + 1, bytes + u64::from(*len)));
            (codec, count, bytes)
        };
        let codecs = Codec::ALL.map(of_codec);
        Totals {
            bytes: toc.entries.iter().fold(0, |sum, entry| sum.saturating_add(entry.size)),
            content: (0..toc.blocks.len()).map(|i| archive.layout().content(i)).sum(),
            compressed: blocks.iter().map(|(_, len)| u64::from(*len)).sum(),
            chunked: archive.files().filter(|file| file.is_chunked()).count(),
            empty: toc.entries.iter().filter(|entry| entry.size == 0).count(),
            shared: shared(archive),
            codecs,
            filtered_blocks: toc.blocks.iter().filter(|block| block.filtered).count(),
            filters: filtered(archive),
            empty_blocks: blocks.iter().filter(|(_, len)| *len == 0).count(),
            disorder: archive.disorder(),
            metadata: Metadata::from_archive(archive)
                .map(|found| found.map(|of| [of.files.len(), of.folders.len(), of.links.len()])),
            unsupported_blocks: blocks.iter().filter(|(codec, _)| codec.is_none()).count(),
        }
    }

    /// The lines of the summary as text.
    fn lines(&self, path: &Path, archive: &Opened, header: &HeaderFields) -> Vec<String> {
        let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
        let len = archive.source().file_len();
        let mut lines = vec![
            format!("archive     {}", path.display()),
            format!("format      {}", header.format),
            format!("header      {} bytes, pool {} bytes", header.bytes, header.pool),
            format!("chunk       {} bytes", archive.header().chunk.bytes()),
            format!("files       {}, {} bytes", archive.len(), self.bytes),
            format!("            {} chunked, {} empty, {} shared", self.chunked, self.empty, self.shared),
            format!("blocks      {}, {} bytes of content", archive.layout().len(), self.content),
        ];
        for (codec, count, bytes) in self.codecs.iter().filter(|(_, count, _)| *count > 0) {
            lines.push(format!("            {count} {}, {bytes} bytes", codec.name()));
        }
        if self.filtered_blocks > 0 {
            lines.push(format!("            {} filtered", self.filtered_blocks));
        }
        for (name, (regions, bytes)) in self.filters.iter().flatten() {
            lines.push(format!("            {name}: {regions} regions, {bytes} bytes"));
        }
        if self.empty_blocks > 0 {
            lines.push(format!("            {} without data", self.empty_blocks));
        }
        if self.unsupported_blocks > 0 {
            lines.push(format!("            {} of unsupported codecs", self.unsupported_blocks));
        }
        if header.dictionaries > 0 {
            lines.push(format!("            {} dictionaries", header.dictionaries));
        }
        lines.push(format!("bytes       {len} ({:.2} % of the files)", percent(len, self.bytes)));
        lines.push(format!(
            "padding     {} bytes",
            len.saturating_sub(header.used).saturating_sub(self.compressed)
        ));
        if !self.disorder.is_none() {
            let Disorder { misplaced, holes, .. } = self.disorder;
            lines.push(format!(
                "note        other programs damage this archive when they merge or repack it ({misplaced} \
                 files out of order, {holes} blocks with bytes of no file); any edit, such as \
                 `linerate nx repack`, repairs it"
            ));
        }
        if header.flags != 0 {
            lines.push(format!("note        flags {:#x}, which have no agreed meaning", header.flags));
        }
        if let Err(error) = &self.filters {
            lines.push(format!("note        {error}"));
        }
        match &self.metadata {
            Ok(Some([files, folders, links])) => {
                lines.push(format!("metadata    of {files} files, {folders} folders, {links} links"));
            }
            Ok(None) if archive.has_spare_bytes() => {
                lines.push("note        bytes other than zero between the tables and the first block".into());
            }
            Ok(None) => {}
            Err(error) => lines.push(format!("note        {}", error.message)),
        }
        lines
    }

    /// The keys of the summary in the object of `--json`.
    fn record(&self, archive: &Opened, header: &HeaderFields) -> Value {
        let codec = |(codec, blocks, bytes): &(Codec, usize, u64)| {
            (codec.name().to_owned(), json!({ "blocks": blocks, "bytes": bytes }))
        };
        let codecs: Map<String, Value> = self.codecs.iter().map(codec).collect();
        let filters = |found: &Filtered| -> Map<String, Value> {
            let record = |(regions, bytes)| json!({ "regions": regions, "bytes": bytes });
            found.iter().map(|(name, &totals)| ((*name).to_owned(), record(totals))).collect()
        };
        json!({
            "format": header.name,
            "hash": archive.has_hashes().then(|| archive.hash_kind().name()),
            "entries": header.entries,
            "chunk": archive.header().chunk.bytes(),
            "header_bytes": header.bytes,
            "pool_bytes": header.pool,
            "flags": header.flags,
            "spare_bytes": archive.has_spare_bytes(),
            "files": archive.len(),
            "chunked_files": self.chunked,
            "empty_files": self.empty,
            "shared_files": self.shared,
            "bytes": self.bytes,
            "blocks": archive.layout().len(),
            "empty_blocks": self.empty_blocks,
            "content_bytes": self.content,
            "compressed_bytes": self.compressed,
            "codecs": codecs,
            "filtered_blocks": self.filtered_blocks,
            "filters": self.filters.as_ref().ok().map(filters),
            "foreign_blocks": self.unsupported_blocks,
            "dictionaries": header.dictionaries,
            "misplaced_files": self.disorder.misplaced,
            "blocks_with_holes": self.disorder.holes,
            "early_empty_files": self.disorder.early_empty,
            "metadata": self.metadata.ok().flatten().map(|[files, folders, links]| {
                json!({ "files": files, "folders": folders, "links": links })
            }),
            "archive_bytes": archive.source().file_len(),
        })
    }
}

/// Number of files whose content is at the same place of the same blocks as that of an earlier
/// file. Empty files do not count.
fn shared(archive: &Opened) -> usize {
    let entries = archive.toc().entries.iter().filter(|entry| entry.size > 0);
    let mut slices: Vec<_> =
        entries.map(|entry| (entry.first_block, entry.block_offset, entry.size)).collect();
    let all = slices.len();
    slices.sort_unstable();
    slices.dedup();
    all - slices.len()
}
