//! Output formats. An R3A archive is packed as Nx and then converted.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use linerate_io::{AtomicFile, FileSource};

use super::builder::{Builder, Summary, create};
use super::content::Content;
use super::error::{PackError, PackResult};
use super::existing::engine_error;
use super::filters::Filters;
use super::options::{Coding, PackOptions};
use super::plan;
use super::sink::Sink;
use super::trained::{self, CodingOf};
use crate::format::limits::Limits;
use crate::metadata;
use crate::r3a::{self, Extension, Tables};
use crate::read::archive::Archive;
use crate::read::metadata::find;

/// The format of a written archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// Nx 1.x.
    #[default]
    Nx,
    /// The draft R3A 2.0, under the profile [`r3a::PROFILE`].
    R3a,
}

impl Builder {
    /// Writes the archive to `target` in a given format. For Nx this is [`write`](Self::write).
    ///
    /// For R3A the archive is first written as Nx to an unnamed file beside `target`. Then every
    /// file is read from there and checked, and the blocks are copied. The disk must have space for
    /// both archives. The solid limit is lowered to 16 MiB - 1. With [`PackOptions::dictionaries`],
    /// blocks of small files are encoded again, to a third file, before they are copied. Filters
    /// are not used, and files in filtered blocks of existing archives are encoded again.
    ///
    /// # Errors
    /// Returns the errors of [`write`](Self::write), and `Limit` if the archive has more files,
    /// blocks or bytes of paths, or larger offsets in blocks, than R3A can hold.
    pub fn write_as(mut self, target: impl AsRef<Path>, format: Format) -> PackResult<Summary> {
        let target = target.as_ref();
        if format == Format::Nx {
            return self.write(target);
        }
        self.options.solid_limit = self.options.solid_limit.min(u64::from(r3a::MAX_OFFSET));
        self.options.filters = Filters::NONE;
        self.encode_filtered_again();
        let at_target = |error: PackError| error.at(target);
        let writing = |error| at_target(PackError::writing(error));
        let file = create(target, self.existing).map_err(at_target)?;
        let folder = file.target().parent().filter(|folder| !folder.as_os_str().is_empty());
        let temporary = || tempfile::tempfile_in(folder.unwrap_or(Path::new(".")));
        let packed = temporary().map_err(writing)?;
        let mut summary = self.write_all(&packed).map_err(at_target)?;
        let recoded = self.options.dictionaries.then(temporary).transpose().map_err(writing)?;
        // Writing has sorted the items by name. Every file of the archive is one of them.
        let coding_of = |path: &str| {
            let found = self.items.binary_search_by(|item| item.name.as_str().cmp(path));
            found.map_or(Coding::Copy, |at| plan::coding_of(&self.items[at], &self.options))
        };
        summary.archive_bytes =
            convert(packed, &self.options, &coding_of, recoded, &file).map_err(at_target)?;
        self.close().map_err(at_target)?;
        file.commit().map_err(writing)?;
        Ok(summary)
    }

    /// Marks files of filtered blocks to be encoded again instead of copied.
    fn encode_filtered_again(&mut self) {
        for item in &mut self.items {
            if let Content::Existing(existing) = &mut item.content {
                let blocks = item.size.div_ceil(self.options.chunk) as usize;
                existing.reused &= !existing.is_filtered(blocks);
                existing.keeps_filters = false;
            }
        }
    }
}

/// Converts an Nx archive to R3A and returns its length in bytes. `recoded` is a temporary file for
/// blocks with dictionaries; if `None`, there are no dictionaries.
fn convert(
    packed: File,
    options: &PackOptions,
    coding_of: &CodingOf<'_>,
    recoded: Option<File>,
    out: &AtomicFile,
) -> PackResult<u64> {
    let packed = Archive::open_with(FileSource::new(packed).map_err(PackError::reading)?, Limits::none())?;
    let record = find(&packed)?
        .map(|(_, record)| Extension { id: metadata::EXTENSION, data: metadata::trimmed(&record).to_vec() });
    let recoded =
        recoded.map(|file| trained::recode(&packed, options, coding_of, file)).transpose()?.flatten();
    let mut out = BufWriter::with_capacity(1 << 20, Appending { sink: out, offset: 0 });
    let written = r3a::from_nx_with(&packed, recoded.as_ref(), Tables::Presets, record.as_slice(), &mut out)
        .map_err(engine_error)?;
    Ok(written.bytes)
}

/// A sequential writer to a sink.
struct Appending<'a> {
    sink: &'a dyn Sink,
    offset: u64,
}

impl Write for Appending<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sink.write_at(self.offset, bytes)?;
        self.offset += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
