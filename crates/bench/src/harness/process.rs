//! Runs other programs, and this one again for a measurement that needs its own process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::{MISSING, message, progress};
use crate::records::Measurement;

/// The path of the program `linerate`, which must be in the folder of this program.
///
/// # Errors
/// A sentence, if `linerate` is not there or has another version than this program.
pub fn linerate() -> Result<PathBuf, String> {
    let name = if cfg!(windows) { "linerate.exe" } else { "linerate" };
    let path = std::env::current_exe().map_err(message)?.with_file_name(name);
    let wanted = concat!("linerate ", env!("CARGO_PKG_VERSION"));
    match Command::new(&path).arg("--version").output() {
        Ok(said) if String::from_utf8_lossy(&said.stdout).trim() == wanted => Ok(path),
        found => {
            let why = if found.is_ok() { format!("not {wanted}: ") } else { String::new() };
            Err(format!(
                "{MISSING}{}: {why}build it with `cargo build --release -p linerate`",
                path.display()
            ))
        }
    }
}

/// A command that runs this program again with `args`, which name a hidden subcommand.
///
/// # Errors
/// A sentence, if the system cannot return the path of this program.
pub fn this(args: &[&str]) -> Result<Command, String> {
    let mut command = Command::new(std::env::current_exe().map_err(message)?);
    command.args(args);
    Ok(command)
}

/// Runs a command to its end, without input and with its standard output discarded, and returns the
/// elapsed time.
///
/// # Errors
/// A sentence, if the command cannot be started or fails.
pub fn run(command: &mut Command) -> Result<Duration, String> {
    let name =
        Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let begun = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    let status = status.map_err(|e| format!("{name}: {e}"))?;
    if status.success() { Ok(begun.elapsed()) } else { Err(format!("{name}: {status}")) }
}

/// Runs a command without input and returns the number that it prints.
///
/// # Errors
/// What the command writes to standard error if it fails or prints no number, or its status if it
/// writes nothing; the system's message, if it cannot be started.
pub fn number(command: &mut Command) -> Result<usize, String> {
    let output = command.stdin(Stdio::null()).output().map_err(message)?;
    match String::from_utf8_lossy(&output.stdout).trim().parse() {
        Ok(number) if output.status.success() => Ok(number),
        _ => Err(why(&output)),
    }
}

/// Why a program did not print what it should: what it wrote to standard error or, if that is
/// nothing, its status.
pub(crate) fn why(output: &Output) -> String {
    match String::from_utf8_lossy(&output.stderr).trim().trim_start_matches("linerate-bench: ") {
        "" => format!("no figure is printed; {}", output.status),
        said => said.to_owned(),
    }
}

/// Measures the resident memory of `count` idle connections for each contender, in bytes. Each
/// child process, whose arguments are in `rows`, holds the connections of one contender, so that
/// none reuses memory that another has freed. The metric `added` is the difference from the first
/// row, whose connections are not compressed.
///
/// # Errors
/// The message of a child process.
pub fn idle(count: usize, rows: Vec<(Measurement, Vec<String>)>) -> Result<Vec<Measurement>, String> {
    let mut found: Vec<Measurement> = Vec::new();
    for (row, words) in rows {
        progress(&format!("{count} {}: {}", row.data, words.join(" ")));
        let bytes = number(this(&["child"])?.args(words))?;
        let none = found.first().map(|first| first.metrics["per_connection"].median);
        let each = (bytes / count) as f64;
        let row = row.param("connections", count).size("resident", bytes).exact("per_connection", each);
        found.push(row.exact("added", each - none.unwrap_or(each)));
    }
    progress("");
    Ok(found)
}

/// Runs a program and returns its peak of resident memory, in bytes. The hidden subcommand `peak`
/// of this program starts it, because the system also charges a child for the memory of a large
/// parent.
///
/// # Errors
/// What the program or the subcommand writes to standard error.
pub fn peak(program: &Path, args: &[OsString]) -> Result<usize, String> {
    number(this(&["peak"])?.arg(program).args(args))
}

/// The hidden subcommand `peak`: runs a command and returns its peak of resident memory, in bytes.
///
/// # Errors
/// A sentence, if the command cannot be started or fails, or the system does not report the peak.
pub fn peak_of(command: &[OsString]) -> Result<u64, String> {
    let (program, args) = command.split_first().ok_or("no command is given")?;
    run(Command::new(program).args(args))?;
    crate::kernel::os::children_peak().ok_or_else(|| "the system does not tell".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_that_succeeds_without_a_number_is_an_error_with_words() {
        // This test program prints the list of its tests.
        let mut lists = Command::new(std::env::current_exe().unwrap());
        let error = number(lists.args(["--list", "none"])).unwrap_err();
        assert!(error.starts_with("no figure is printed; exit"), "{error}");
    }
}
