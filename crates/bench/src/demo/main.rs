//! `make demo`: deflate, Delta-Rice, dictionaries, gateways and Nx archives each do their main job
//! beside one other library, and print one sentence of result. Every output is decoded and checked
//! before its sentence is printed. The demo ends with a plan for the files that the project carries
//! and this machine, and writes `target/demo-report.html`.

mod archive;
mod cold;
mod deflate;
mod gateway;
mod plan;
mod waveforms;

use std::process::ExitCode;

use linerate_bench::records::Measurement;

/// Folder of the project. All paths of the demo are relative to it.
const PROJECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A part of the demo, which returns its sentence.
type Part = fn() -> Result<String, String>;

/// The parts in order, each with its heading.
const PARTS: &[(&str, Part)] = &[
    ("Web content: deflate without a window between calls", deflate::run),
    ("Detector waveforms: Delta-Rice", waveforms::run),
    ("Storage engines: small blocks, each with a dictionary of its own", cold::run),
    ("Bots: a stream for each connection", gateway::run),
    ("Files of a game or project: one archive, read at any place", archive::run),
    ("Your machine: what saturates its drive", plan::run),
];

fn main() -> ExitCode {
    match demo() {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("demo: {what}");
            ExitCode::FAILURE
        }
    }
}

fn demo() -> Result<(), String> {
    std::env::set_current_dir(PROJECT).map_err(|e| format!("{PROJECT}: {e}"))?;
    for (heading, run) in PARTS {
        println!("{heading}");
        println!("  {}\n", run().map_err(|what| format!("{heading}: {what}"))?);
    }
    Ok(())
}

/// The median of a metric, in the first measurement of a contender.
fn metric(found: &[Measurement], contender: &str, name: &str) -> Result<f64, String> {
    let of = found.iter().find(|measurement| measurement.contender == contender);
    let figure = of.and_then(|measurement| measurement.metrics.get(name));
    figure.map(|figure| figure.median).ok_or_else(|| format!("{contender} has no {name}"))
}
