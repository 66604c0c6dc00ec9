//! `linerate nx info`: what the header of an archive says.

use std::path::Path;

use linerate_nx::{Codec, Source as _, TocForm};
use serde_json::{Map, Value, json};

use super::args::InfoArgs;
use super::done::Done;
use super::open::{Opened, open};
use crate::failure::Failure;

pub(crate) fn process(args: &InfoArgs, path: &Path) -> Result<Done, Failure> {
    let mut done = Done::new(path, "info");
    let archive = open(path, &args.limits)?;
    let figures = Figures::of(&archive);
    done.lines = figures.lines(path, &archive);
    done.set("format", "nx");
    figures.record(&archive).into_iter().for_each(|(key, value)| done.set(&key, value));
    Ok(done)
}

/// Sums over the tables.
struct Figures {
    /// Bytes of all files.
    bytes: u64,
    /// Bytes that their blocks hold, each once.
    content: u64,
    /// Bytes of all blocks, without padding.
    compressed: u64,
    chunked: usize,
    empty: usize,
    /// Files that begin where another does in the same block, with the same size.
    shared: usize,
    /// Blocks and their bytes, per codec.
    codecs: [(Codec, usize, u64); 3],
    /// Blocks of size 0.
    hollow: usize,
}

impl Figures {
    fn of(archive: &Opened) -> Figures {
        let toc = archive.toc();
        let of_codec = |codec: Codec| {
            let blocks = toc.blocks.iter().filter(|block| block.codec == codec && block.compressed > 0);
            let (count, bytes) =
                blocks.fold((0, 0), |(count, bytes), block| (count + 1, bytes + u64::from(block.compressed)));
            (codec, count, bytes)
        };
        let codecs = Codec::ALL.map(of_codec);
        Figures {
            bytes: toc.entries.iter().fold(0, |sum, entry| sum.saturating_add(entry.size)),
            content: (0..toc.blocks.len()).map(|i| archive.layout().content(i)).sum(),
            compressed: codecs.iter().map(|(_, _, bytes)| bytes).sum(),
            chunked: archive.files().filter(|file| file.is_chunked()).count(),
            empty: toc.entries.iter().filter(|entry| entry.size == 0).count(),
            shared: shared(archive),
            codecs,
            hollow: toc.blocks.iter().filter(|block| block.compressed == 0).count(),
        }
    }

    fn lines(&self, path: &Path, archive: &Opened) -> Vec<String> {
        let header = archive.header();
        let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
        let len = archive.source().len();
        let mut lines = vec![
            format!("archive     {}", path.display()),
            format!("format      Nx 1, {}, {} entries", header.hash.name(), form(header.form)),
            format!("header      {} bytes, pool {} bytes", header.bytes(), header.pool),
            format!("chunk       {} bytes", header.chunk.bytes()),
            format!("files       {}, {} bytes", archive.len(), self.bytes),
            format!("            {} chunked, {} empty, {} shared", self.chunked, self.empty, self.shared),
            format!("blocks      {}, {} bytes of content", archive.layout().len(), self.content),
        ];
        for (codec, count, bytes) in self.codecs.iter().filter(|(_, count, _)| *count > 0) {
            lines.push(format!("            {count} {}, {bytes} bytes", codec.name()));
        }
        if self.hollow > 0 {
            lines.push(format!("            {} without data", self.hollow));
        }
        lines.push(format!("bytes       {len} ({:.2} % of the files)", percent(len, self.bytes)));
        lines.push(format!(
            "padding     {} bytes",
            len.saturating_sub(header.filled()).saturating_sub(self.compressed)
        ));
        if header.flags != 0 {
            lines.push(format!("note        flags {:#x}, which have no agreed meaning", header.flags));
        }
        if archive.has_spare_bytes() {
            lines.push("note        bytes other than zero between the tables and the first block".into());
        }
        lines
    }

    fn record(&self, archive: &Opened) -> Map<String, Value> {
        let header = archive.header();
        let codec = |(codec, blocks, bytes): &(Codec, usize, u64)| {
            (codec.name().to_owned(), json!({ "blocks": blocks, "bytes": bytes }))
        };
        let codecs: Map<String, Value> = self.codecs.iter().map(codec).collect();
        let value = json!({
            "hash": header.hash.name(),
            "entries": form(header.form),
            "chunk": header.chunk.bytes(),
            "header_bytes": header.bytes(),
            "pool_bytes": header.pool,
            "flags": header.flags,
            "spare_bytes": archive.has_spare_bytes(),
            "files": archive.len(),
            "chunked_files": self.chunked,
            "empty_files": self.empty,
            "shared_files": self.shared,
            "bytes": self.bytes,
            "blocks": archive.layout().len(),
            "hollow_blocks": self.hollow,
            "content_bytes": self.content,
            "compressed_bytes": self.compressed,
            "codecs": codecs,
            "archive_bytes": archive.source().len(),
        });
        match value {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }
}

fn form(form: TocForm) -> String {
    format!("{}-byte", form.entry_bytes())
}

/// How many files are the same slice of the same blocks as another.
fn shared(archive: &Opened) -> usize {
    let entries = archive.toc().entries.iter().filter(|entry| entry.size > 0);
    let mut slices: Vec<_> =
        entries.map(|entry| (entry.first_block, entry.block_offset, entry.size)).collect();
    let all = slices.len();
    slices.sort_unstable();
    slices.dedup();
    all - slices.len()
}
