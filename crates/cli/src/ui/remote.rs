//! Inputs on web servers and in buckets.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use linerate_io::{Cursor, ReadAt, is_url};

use crate::ui::error::CliError;
use crate::ui::inputs;

/// A file, here or on a server, that can be read from any position.
pub(crate) trait ReadSeek: Read + Seek {}

impl<T: Read + Seek> ReadSeek for T {}

/// Opens the file at a path or URL. A file at a path counts as being read until the program ends.
pub(crate) fn open(path: &Path) -> Result<Box<dyn ReadSeek>, CliError> {
    if let Some(url) = url(path) {
        return Ok(Box::new(Cursor::new(remote(url)?)));
    }
    inputs::keep(path);
    Ok(Box::new(File::open(path).map_err(CliError::io("cannot open"))?))
}

/// The path as text, if it is a URL of a web server or bucket.
pub(crate) fn url(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| is_url(text))
}

/// Opens the file at a URL: `s3://` in a bucket, others on a web server.
///
/// # Errors
/// [`CliError::Refused`] for a bucket if the program was built without the feature `s3`;
/// [`CliError::Io`] if the server cannot be read from, or if the URL or a setting for buckets is
/// wrong; [`CliError::Data`] if the file is empty or the server sends something else.
#[cfg(feature = "remote")]
pub(crate) fn remote(url: &str) -> Result<Box<dyn ReadAt>, CliError> {
    use linerate_core::{Error, Kind};

    use crate::ui::error::engine_error;

    let refused = |error: Error| match error.kind {
        Kind::Read | Kind::BadArgument => CliError::io("cannot open")(error.into()),
        _ => engine_error(error),
    };
    if linerate_io::is_s3_url(url) {
        #[cfg(feature = "s3")]
        return Ok(Box::new(linerate_io::S3Source::open(url).map_err(refused)?));
        #[cfg(not(feature = "s3"))]
        return Err(CliError::Refused(
            "this program cannot read from buckets: it was built without the feature `s3`".into(),
        ));
    }
    Ok(Box::new(linerate_io::HttpSource::open(url).map_err(refused)?))
}

/// Refuses every URL, since the program was built without the feature `remote`.
#[cfg(not(feature = "remote"))]
pub(crate) fn remote(_url: &str) -> Result<Box<dyn ReadAt>, CliError> {
    Err(CliError::Refused("this program cannot read URLs: it was built without the feature `remote`".into()))
}
