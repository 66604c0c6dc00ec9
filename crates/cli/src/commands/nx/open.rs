//! Opens archives, and converts the engine's errors.

use std::io;
use std::path::Path;

use linerate_nx::pack::Format;
use linerate_nx::{Archive, Codec, Error, FileSource, Kind, Limits, ReadAt, r3a};

use super::args::LimitArgs;
use crate::ui::error::CliError;
use crate::ui::remote::{remote, url};

/// An open archive from a file or server, in Nx or R3A format.
pub(crate) type Opened = Archive<AnySource>;

/// The bytes of an archive in Nx format. Those of an R3A archive are presented as if it were an Nx
/// archive.
pub(crate) enum AnySource {
    Nx(Box<dyn ReadAt>),
    R3a(Box<r3a::AsNx<Box<dyn ReadAt>>>),
}

impl AnySource {
    /// The bytes of the file itself, which may be in R3A format.
    pub(crate) fn file(&self) -> &dyn ReadAt {
        match self {
            AnySource::Nx(source) => &**source,
            AnySource::R3a(source) => &**source.archive().source(),
        }
    }

    /// Size of the file itself, in bytes.
    pub(crate) fn file_len(&self) -> u64 {
        self.file().len()
    }

    /// The format of the file itself.
    pub(crate) fn format(&self) -> Format {
        match self {
            AnySource::Nx(_) => Format::Nx,
            AnySource::R3a(_) => Format::R3a,
        }
    }

    /// The bytes in Nx format.
    fn source(&self) -> &dyn ReadAt {
        match self {
            AnySource::Nx(source) => &**source,
            AnySource::R3a(source) => &**source,
        }
    }
}

impl ReadAt for AnySource {
    fn len(&self) -> u64 {
        self.source().len()
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.source().read_at(offset, out)
    }

    fn view(&self, offset: u64, len: usize) -> Option<&[u8]> {
        self.source().view(offset, len)
    }

    fn end(&self) -> Option<Error> {
        self.file().end()
    }

    fn coalesce_limit(&self) -> u64 {
        self.source().coalesce_limit()
    }

    fn will_read(&self, offset: u64, len: u64) {
        self.source().will_read(offset, len);
    }
}

/// Opens the archive at a path or URL, and reads its header. A pipe cannot be opened, since it has
/// no size.
pub(crate) fn open(path: &Path, limits: &LimitArgs) -> Result<Opened, CliError> {
    let source: Box<dyn ReadAt> = match url(path) {
        Some(url) => remote(url)?,
        None => Box::new(FileSource::open(path).map_err(CliError::io("cannot open"))?),
    };
    open_source(source, limits.limits())
}

/// Opens the archive in a source, of either format, and reads its header.
pub(crate) fn open_source(source: Box<dyn ReadAt>, limits: Limits) -> Result<Opened, CliError> {
    let mut start = vec![0; source.len().min(r3a::MAGIC.len() as u64) as usize];
    // A remote source has its first page in memory, so that reading the magic number makes no
    // request.
    let read = source.read_at(0, &mut start);
    read.map_err(|e| damage_or_output(e, |error| CliError::Read { error, offset: 0 }))?;
    if !r3a::is_r3a(&start) {
        return Archive::open_with(AnySource::Nx(source), limits).map_err(damage);
    }
    let archive = r3a::Archive::open_with(source, limits).map_err(damage)?;
    let archive = r3a::AsNx::new(archive).and_then(r3a::AsNx::open).map_err(damage)?;
    Ok(archive.map_source(|shown| AnySource::R3a(Box::new(shown))))
}

/// Fails if the archive can no longer be read, because it was replaced on its server while it was
/// read. Called before the errors of single files are reported, so that there is one error instead
/// of one for each file.
pub(crate) fn is_still_there(archive: &Opened) -> Result<(), CliError> {
    archive.source().end().map_or(Ok(()), |error| Err(damage(error)))
}

/// The codec of each block of an archive (`None` if the codec is not supported), and the size of
/// the block in the file, in bytes.
pub(crate) fn blocks(archive: &Opened) -> Vec<(Option<Codec>, u32)> {
    match archive.source() {
        AnySource::Nx(_) => {
            archive.toc().blocks.iter().map(|block| (Some(block.codec), block.compressed)).collect()
        }
        AnySource::R3a(shown) => {
            let codec = |codec| match codec {
                r3a::BlockCodec::Known(codec) => Some(codec),
                r3a::BlockCodec::Foreign(_) => None,
            };
            let blocks = &shown.archive().head().toc.blocks;
            blocks.iter().map(|block| (codec(block.codec), block.compressed)).collect()
        }
    }
}

/// Converts an engine's error. Errors of reading and writing become errors of the system, all
/// others errors of the data.
pub(crate) fn damage(error: Error) -> CliError {
    match error.kind {
        Kind::Read | Kind::Write => CliError::system(error),
        kind => CliError::data(kind, error.offset, error.message),
    }
}

/// Converts an I/O error. If it wraps an engine's error, that is converted by [`damage`], otherwise
/// `writing` converts it.
pub(crate) fn damage_or_output(error: io::Error, writing: impl FnOnce(io::Error) -> CliError) -> CliError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(engine) => damage(*engine),
        None => writing(error),
    }
}

/// Offset, in bytes, of the table entry of a file, or of the end of the entries if no file has that
/// path.
pub(crate) fn entry_at(archive: &Opened, path: &str) -> u64 {
    match (archive.find(path), archive.source()) {
        (Some(file), _) => file.entry_offset(),
        (None, AnySource::Nx(_)) => archive.header().blocks_offset(),
        (None, AnySource::R3a(shown)) => shown.archive().head().header.blocks_offset(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use linerate_nx::Verifier;
    use linerate_nx::pack::{Builder, PackOptions};

    use super::*;

    /// A source in memory that counts the calls of `will_read`.
    struct Hinted(Vec<u8>, Arc<AtomicUsize>);

    impl ReadAt for Hinted {
        fn len(&self) -> u64 {
            self.0.len() as u64
        }

        fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            self.0.read_at(offset, out)
        }

        fn will_read(&self, _offset: u64, _len: u64) {
            self.1.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn file_gets_a_hint_for_each_block_in_either_format() {
        let options = PackOptions { chunk: 4096, solid_limit: 4095, ..PackOptions::default() };
        let mut builder = Builder::new(options).unwrap();
        builder.add_bytes("a", vec![7; 20_000]).unwrap();
        let nx = builder.to_bytes().unwrap().0;
        let mut converted = Vec::new();
        let archive = Archive::open(&nx[..]).unwrap();
        r3a::from_nx(&archive, r3a::Tables::Presets, &[], &mut converted).unwrap();
        for bytes in [nx, converted] {
            let hints = Arc::new(AtomicUsize::new(0));
            let source = Box::new(Hinted(bytes, Arc::clone(&hints)));
            let archive = open_source(source, Limits::default()).unwrap();
            assert!(Verifier::new(&archive).run().unwrap().failures.is_empty());
            assert_eq!(hints.load(Ordering::Relaxed), archive.toc().blocks.len());
        }
    }
}
