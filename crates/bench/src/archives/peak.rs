//! Peak memory of a program, read by a process that starts it and is itself small: the
//! system counts what the process that starts another has for the other, too.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use super::input::message;
use crate::kernel::os::children_peak;

/// Runs a command and prints the most bytes that were resident in it.
///
/// # Errors
/// That it cannot be started, or fails.
pub fn run(command: &[OsString]) -> Result<u64, String> {
    let (program, args) = command.split_first().ok_or("no command is given")?;
    let status = Command::new(program).args(args).stdin(Stdio::null()).stdout(Stdio::null()).status();
    match status.map_err(message)? {
        status if status.success() => children_peak().ok_or_else(|| "the system does not tell".into()),
        status => Err(format!("{}: {status}", program.display())),
    }
}

/// The most bytes that were resident in `program` with these arguments.
pub(super) fn of(program: &Path, args: &[OsString]) -> Result<u64, String> {
    let own = std::env::current_exe().map_err(message)?;
    let output = Command::new(own).arg("peak").arg(program).args(args).output().map_err(message)?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.trim().parse() {
        Ok(bytes) if output.status.success() => Ok(bytes),
        _ => Err(format!("peak: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}
