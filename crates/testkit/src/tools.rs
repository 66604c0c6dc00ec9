//! External programs that tests compare with.

use std::env;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Reports a skipped test by a line on standard error. `make test` counts these lines.
pub fn skip(reason: &str) {
    // `println` would be captured by the test runner.
    let _ = writeln!(io::stderr(), "SKIP: {reason}");
}

/// Returns `found`. If it is false, reports the test as skipped for this reason.
///
/// # Panics
/// If `found` is false and the environment variable `STRICT` is 1.
#[track_caller]
pub fn require(found: bool, reason: &str) -> bool {
    if !found {
        assert!(env::var_os("STRICT").as_deref() != Some(OsStr::new("1")), "{reason}");
        skip(reason);
    }
    found
}

/// Whether the program `name` is installed: whether `NAME --version` succeeds. If not, reports the
/// test as skipped.
///
/// # Panics
/// If the program is missing and the environment variable `STRICT` is 1.
#[track_caller]
pub fn has_program(name: &str) -> bool {
    let status = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    require(status.is_ok_and(|status| status.success()), &format!("{name} is not installed"))
}

/// The path of a program in Python that reads archives, written from the document of their format
/// alone: `pack_reader.py` for Nx, or `r3a_reader.py`.
pub fn reader(name: &str) -> PathBuf {
    crate::testdata::repository().join("crates/testkit/readers").join(name)
}
