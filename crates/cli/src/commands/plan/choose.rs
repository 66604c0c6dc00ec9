//! Measures the candidates for a kind of data, and chooses one.

use std::path::{Path, PathBuf};

use linerate_candidates::{self as candidates, Measured, Options, Shape};
use linerate_plan::{Budget, Pipe, Plan, plan};

use super::decode::decoding;
use super::load::Load;
use crate::ui::error::CliError;
use crate::ui::reporter::Reporter;

/// Measures candidates for this shape on the data, for about this many seconds, and makes the plan
/// for this pipe and budget. A budget of 0 cores means all cores of this machine.
///
/// # Errors
/// Returns an error if the data cannot be read or is empty, or if a candidate fails.
pub(crate) fn choose(
    shape: Shape,
    data: &[PathBuf],
    pipe: Pipe,
    mut budget: Budget,
    seconds: f64,
    reporter: &Reporter,
) -> Result<(Measured, Plan), CliError> {
    let first = data.first().map_or(Path::new("."), PathBuf::as_path);
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    if budget.cores == 0 {
        budget.cores = available;
    }
    // With more threads than cores, the scheduler would be measured.
    let options = Options { seconds, threads: budget.cores.min(available), ..Options::default() };
    let progress = reporter.activity(&first.display().to_string());
    let load = Load::now();
    let mut measured = candidates::measure(shape, data, &options, &|what| progress.show(what))
        .map_err(|e| without_name(&e, first))?;
    measured.notes.extend(load.and_then(|before| Load::now()?.since(&before).note(options.threads)));
    #[cfg(not(feature = "zstd-compress"))]
    let measured = with_standard_zstd(measured);
    let mut plan = plan(&measured.measurements, &pipe, &budget);
    for row in &mut plan.rows {
        row.decode_command = row.measurement.command.as_deref().and_then(|command| decoding(command, data));
    }
    Ok((measured, plan))
}

/// Replaces the command `linerate zstd`, which cannot compress in this build, by the standard tool
/// `zstd` with the same arguments.
#[cfg(not(feature = "zstd-compress"))]
fn with_standard_zstd(mut measured: Measured) -> Measured {
    let commands = measured.measurements.iter_mut().filter_map(|found| found.command.as_mut());
    commands.filter(|command| command[..2] == ["linerate", "zstd"]).for_each(|command| _ = command.remove(0));
    measured
}

/// Removes the file's name from the start of a message, since the reporter prints the name before
/// it.
fn without_name(message: &str, file: &Path) -> CliError {
    let name = format!("{}: ", file.display());
    CliError::Refused(message.strip_prefix(&name).unwrap_or(message).to_owned())
}
