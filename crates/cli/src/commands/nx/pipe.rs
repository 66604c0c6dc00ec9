//! `linerate nx pack --pipe`: packs with the coding that `linerate plan` would choose for a drive
//! or network.

use std::path::PathBuf;

use clap::Parser;
use linerate_candidates::Shape;
use linerate_plan::{Budget, Goal, Pipe, Plan};

use super::coding::CodingArgs;
use super::pack::PackArgs;
use crate::commands::plan::{choose, parse_cores, parse_pipe, parse_seconds};
use crate::ui::error::CliError;
use crate::ui::reporter::Reporter;

/// The drive or network that the archive will be read from.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Chosen by measuring")]
pub(crate) struct PipeArgs {
    /// Measure how the files compress and decode, and choose the best settings for this drive or
    /// network: a name or a rate, as for `linerate plan`. Of the packing options, only --filters
    /// none may be given
    #[arg(long, value_name = "PIPE", value_parser = parse_pipe)]
    pub(crate) pipe: Option<Pipe>,

    /// Number of cores that will decode; 0 means all cores of this machine
    #[arg(long, value_name = "N", requires = "pipe", default_value_t = 0, hide_default_value = true, value_parser = parse_cores)]
    pub(crate) cores: usize,

    /// Approximate duration of the measurement
    #[arg(long, value_name = "SECONDS", requires = "pipe", default_value_t = 20.0, value_parser = parse_seconds)]
    pub(crate) seconds: f64,
}

/// A coding that was chosen by measuring.
pub(crate) struct Choice {
    pub(crate) coding: CodingArgs,
    /// The sentence of the plan about this coding.
    pub(crate) sentence: String,
    /// The plan, with all candidates among which it was chosen.
    pub(crate) plan: Plan,
}

/// The command line of `nx pack` that the planner prints for a candidate, to be parsed.
#[derive(Parser)]
struct Command {
    #[command(flatten)]
    pack: PackArgs,
}

impl PipeArgs {
    /// Measures candidates on samples of the sources, and chooses the one that delivers the most
    /// content per second through `pipe`. Without `filters`, candidates that filter textures cannot
    /// be chosen.
    ///
    /// # Errors
    /// Errors of measuring, for example because sources cannot be read or have no content.
    pub(crate) fn choose(
        &self,
        pipe: &Pipe,
        sources: &[PathBuf],
        filters: bool,
        reporter: &Reporter,
    ) -> Result<Choice, CliError> {
        let budget =
            Budget { cores: self.cores, memory_per_stream: None, min_ratio: None, goal: Goal::Speed };
        let (measured, mut plan) =
            choose(Shape::Files, sources, pipe.clone(), budget, self.seconds, reporter)?;
        if !filters {
            let plain =
                measured.measurements.into_iter().filter(|found| !has_filters(found.command.as_deref()));
            plan = linerate_plan::plan(&plain.collect::<Vec<_>>(), pipe, &plan.budget);
        }
        let nothing = || CliError::Refused("there is nothing to measure and pack".into());
        let row = plan.best_coded().ok_or_else(nothing)?;
        let command = row.measurement.command.iter().flatten().skip(2);
        let command = Command::try_parse_from(command).map_err(|e| CliError::Refused(e.to_string()))?;
        Ok(Choice { coding: command.pack.coding, sentence: plan.sentence_of(row), plan })
    }
}

/// Whether the command of a candidate filters textures.
fn has_filters(command: Option<&[String]>) -> bool {
    command.is_some_and(|words| words.iter().any(|word| word == "--filters"))
}
