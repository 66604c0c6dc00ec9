//! External programs that tests compare with.

use std::env;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Reports a skipped test: `make test` counts these lines.
pub fn skip(reason: &str) {
    // `println` would be captured by the test runner.
    let _ = writeln!(io::stderr(), "SKIP: {reason}");
}

/// Returns `found`. If it is false, the test is reported as skipped.
///
/// # Panics
/// If it is false and `STRICT=1`.
#[track_caller]
pub fn require(found: bool, reason: &str) -> bool {
    if !found {
        assert!(env::var_os("STRICT").as_deref() != Some(OsStr::new("1")), "{reason}");
        skip(reason);
    }
    found
}

/// Whether `PROGRAM --version` succeeds; see [`require`].
///
/// # Panics
/// If it is missing and `STRICT=1`.
#[track_caller]
pub fn has_program(name: &str) -> bool {
    let status = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    require(status.is_ok_and(|status| status.success()), &format!("{name} is not installed"))
}

/// The path of a reader of archives in Python that was written from the format's document alone:
/// `pack_reader.py` (Nx) or `r3a_reader.py`.
pub fn reader(name: &str) -> PathBuf {
    crate::testdata::repository().join("crates/testkit/readers").join(name)
}
