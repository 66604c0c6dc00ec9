//! Figures as they are said.

use std::path::Path;

use linerate_core::{Error, Kind};

use crate::failure::Failure;

/// Content by what it comes to, for a table.
pub(crate) fn ratio(content: u64, bytes: u64) -> f64 {
    content as f64 / bytes.max(1) as f64
}

/// As [`ratio`], with the digits that one believes, for `--json`.
pub(crate) fn rounded(content: u64, bytes: u64) -> f64 {
    (ratio(content, bytes) * 1e4).round() / 1e4
}

/// An error of the engine. What it was asked to do wrongly is no damage.
pub(crate) fn failure(error: Error) -> Failure {
    match error.kind {
        Kind::BadArgument => Failure::Refused(error.message.into()),
        Kind::Read | Kind::Write => Failure::system(error),
        kind => Failure::data(kind, error.offset, error.message),
    }
}

/// As [`failure`], of who writes `output` while it does another file.
pub(crate) fn writing(output: &Path) -> impl Fn(Error) -> Failure {
    move |error| match failure(error) {
        Failure::Other { doing, error } => {
            Failure::Other { doing: format!("{doing} {}", output.display()), error }
        }
        other => other,
    }
}
