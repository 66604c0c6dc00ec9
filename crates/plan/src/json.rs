//! The plan as JSON.
//!
//! Rates are in bytes of content per second, except that of the pipe, which is in compressed bytes.
//! Sizes are in bytes, times in seconds. A speed is `{"low", "median", "high"}`. A value that was
//! not measured or does not exist is `null`.
//!
//! | key | value |
//! |---|---|
//! | `sentence`, `notes` | the winner and the reason; a list of further sentences |
//! | `command`, `command_line` | the command of the winner, or else of the alternative, as a list of arguments, and quoted for a POSIX shell |
//! | `decode_command`, `decode_command_line` | the command that decodes the output of `command`, in the same two forms; `null` if there is no command, or if none decodes its output |
//! | `pipe` | `name`, `bytes_per_second`, `direction` (`read`, `write` or `both`) |
//! | `budget` | `cores`, `memory_per_stream`, `min_ratio`, `goal` (`speed`, `size` or `balance`) |
//! | `winner`, `ties` | an index into `candidates`; a list of indexes |
//! | `alternative` | if storing plainly wins, the index of the best candidate that compresses |
//! | `candidates` | storing plainly, then the others in the order of measurement |
//!
//! Each candidate:
//!
//! | key | value |
//! |---|---|
//! | `engine`, `settings`, `command` | as measured; `engine` is empty for storing plainly |
//! | `decode_command` | the command that decodes the output of `command` |
//! | `content`, `compressed`, `ratio` | bytes before and after compression; the first divided by the second |
//! | `required` | rate that saturates the pipe, as one number |
//! | `speed`, `extrapolated` | speed on the cores of the budget; whether these cores are outside the measured numbers of threads |
//! | `delivered`, `bound` | content per second through the pipe, as a speed; `pipe` or `cores`, whichever limits it, or `memory` if that excludes the candidate |
//! | `directions` | one object per direction of the pipe: `direction`, and `speed`, `extrapolated`, `delivered`, `bound` and the cores in that direction; the candidate's own values are those of the slower direction |
//! | `cores`, `cores_to_saturate`, `cores_to_saturate_extrapolated` | busy cores; fewest cores that saturate the pipe, up to 1,024; whether that is an estimate |
//! | `saved_per_core_second` | bytes that are not stored or sent, per second of one core; negative if the candidate makes the data larger |
//! | `memory` | `per_stream`, `per_thread`, and `total` with the busy cores |
//! | `start` | CPU seconds that the command takes besides coding: to start, and to use its memory for the first time |
//! | `read` | a random read: `seconds` on one core, `fetched` bytes, `per_second`, `bound` |
//! | `encode`, `decode` | speeds of one thread |
//! | `encode_scaling`, `decode_scaling` | list of `threads` and `speed` |
//! | `pareto` | true if the candidate is usable and no other usable candidate is better in size or speed without being worse in the other; storing plainly counts as the fastest |
//! | `excluded` | why it cannot be chosen, in words |

use serde_json::{Value, json};

use crate::measurement::{Scaling, Speed};
use crate::plan::{Bound, Flow, Plan, Row, Saturation};

impl Plan {
    /// Returns the plan as one JSON object. The module's documentation lists its keys.
    pub fn to_json(&self) -> Value {
        json!({
            "sentence": self.sentence(),
            "notes": self.notes(),
            "command": self.applied().and_then(|row| row.measurement.command.as_ref()),
            "command_line": self.command(),
            "decode_command": self.applied().and_then(|row| row.decode_command.as_ref()),
            "decode_command_line": self.decode_command(),
            "pipe": {
                "name": self.pipe.name,
                "bytes_per_second": self.pipe.rate,
                "direction": self.pipe.direction.name(),
            },
            "budget": {
                "cores": self.budget.cores,
                "memory_per_stream": self.budget.memory_per_stream,
                "min_ratio": self.budget.min_ratio,
                "goal": self.budget.goal.name(),
            },
            "winner": self.winner,
            "ties": self.ties,
            "alternative": self.alternative,
            "candidates": self.rows.iter().map(candidate).collect::<Vec<_>>(),
        })
    }
}

fn candidate(row: &Row) -> Value {
    let measured = &row.measurement;
    json!({
        "engine": measured.engine,
        "settings": measured.settings,
        "command": measured.command,
        "decode_command": row.decode_command,
        "content": measured.content,
        "compressed": measured.compressed,
        "ratio": row.ratio,
        "required": row.required,
        "speed": row.speed.map(speed),
        "extrapolated": row.extrapolated,
        "delivered": speed(row.delivered),
        "bound": row.bound.name(),
        "directions": row.flows.iter().map(flow).collect::<Vec<_>>(),
        "cores": row.cores,
        "cores_to_saturate": row.saturation.map(cores),
        "cores_to_saturate_extrapolated": row.saturation.map(is_extrapolated),
        "saved_per_core_second": row.saved_per_core_second,
        "memory": {
            "per_stream": measured.memory.per_stream,
            "per_thread": measured.memory.per_thread,
            "total": row.memory,
        },
        "start": measured.start,
        "read": measured.read.zip(row.reads).map(|(read, reads)| json!({
            "seconds": read.seconds,
            "fetched": read.fetched,
            "per_second": reads.per_second,
            "bound": reads.bound.name(),
        })),
        "encode": measured.encode.map(speed),
        "decode": measured.decode.map(speed),
        "encode_scaling": scaling(&measured.encode_scaling),
        "decode_scaling": scaling(&measured.decode_scaling),
        "pareto": row.pareto,
        "excluded": row.excluded.map(|why| why.to_string()),
    })
}

fn flow(flow: &Flow) -> Value {
    json!({
        "direction": flow.direction.name(),
        "speed": speed(flow.speed),
        "extrapolated": flow.extrapolated,
        "delivered": speed(flow.delivered),
        "bound": flow.bound.name(),
        "cores": flow.cores,
        "cores_to_saturate": flow.saturation.map(cores),
        "cores_to_saturate_extrapolated": flow.saturation.map(is_extrapolated),
    })
}

fn cores(saturation: Saturation) -> usize {
    saturation.cores
}

fn is_extrapolated(saturation: Saturation) -> bool {
    saturation.extrapolated
}

fn speed(Speed { low, median, high }: Speed) -> Value {
    json!({ "low": low, "median": median, "high": high })
}

fn scaling(points: &[Scaling]) -> Vec<Value> {
    points.iter().map(|point| json!({ "threads": point.threads, "speed": speed(point.speed) })).collect()
}

impl Bound {
    /// Returns the name of the limit: `pipe`, `cores` or `memory`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pipe => "pipe",
            Self::Cores => "cores",
            Self::Memory => "memory",
        }
    }
}
