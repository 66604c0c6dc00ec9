//! Opening archives, and the engine's errors as failures of the command line.

use std::io;
use std::path::Path;

use linerate_nx::{Archive, Error, FileSource, HEADER, Kind, Source};

use super::args::LimitArgs;
use crate::failure::Failure;

/// An archive, wherever it is.
pub(crate) type Opened = Archive<Box<dyn Source>>;

/// Reads the header of the archive at `path`, or at a URL. What has no end, such as a pipe, is none.
pub(crate) fn open(path: &Path, limits: &LimitArgs) -> Result<Opened, Failure> {
    let source: Box<dyn Source> = match url(path) {
        Some(url) => remote(url)?,
        None => Box::new(FileSource::open(path).map_err(Failure::doing("cannot open"))?),
    };
    Archive::open_with(source, limits.limits()).map_err(damage)
}

/// The path, if it is a URL of a web server.
pub(crate) fn url(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme)))
}

#[cfg(feature = "remote")]
fn remote(url: &str) -> Result<Box<dyn Source>, Failure> {
    let source = linerate_nx::HttpSource::open(url).map_err(|error| match error.kind {
        Kind::Io | Kind::BadArgument => Failure::doing("cannot open")(io::Error::other(error.what)),
        _ => damage(error),
    })?;
    Ok(Box::new(source))
}

#[cfg(not(feature = "remote"))]
fn remote(_url: &str) -> Result<Box<dyn Source>, Failure> {
    Err(Failure::Refused("this program was built without the feature `remote`, which reads URLs".into()))
}

/// An error of the engine. One of reading is of the system, and no damage.
pub(crate) fn damage(error: Error) -> Failure {
    match error.kind {
        Kind::Io => Failure::Read { error: io::Error::other(error.what), at: error.at },
        kind => Failure::data(kind, error.at, error.what),
    }
}

/// An error that may wrap one of the engine; if not, it is of writing.
pub(crate) fn damage_or_output(error: io::Error, writing: impl FnOnce(io::Error) -> Failure) -> Failure {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(engine) => damage(*engine),
        None => writing(error),
    }
}

/// Where the entry of a path stands in the archive, or where it would follow the last.
pub(crate) fn entry_at(archive: &Opened, path: &str) -> u64 {
    let header = archive.header();
    match archive.find(path) {
        Some(file) => (HEADER + file.index() * header.form.entry_bytes()) as u64,
        None => header.blocks_at(),
    }
}
