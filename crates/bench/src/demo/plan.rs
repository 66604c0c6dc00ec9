//! Plans how to compress the files that the project carries, from measurements on this machine, for
//! a SATA drive.

use std::fs;
use std::path::{Path, PathBuf};

use linerate_bench::harness::provenance;
use linerate_candidates::{Options, Shape, environment, measure};
use linerate_plan::report::{self, Context};
use linerate_plan::{Budget, Goal, Pipe, plan};

const DATA: &str = "crates/bench/corpus";
/// Name of the pipe to plan for. A SATA drive delivers less than two cores can decode, so that both
/// the drive and the number of cores matter.
const PIPE: &str = "sata";
const SECONDS: f64 = 4.0;
const REPORT: &str = "target/demo-report.html";

pub(super) fn run() -> Result<String, String> {
    let options = Options { seconds: SECONDS, ..Options::default() };
    let measured = measure(Shape::Files, &[PathBuf::from(DATA)], &options, &|_| {})?;
    let pipe = Pipe::parse(PIPE).map_err(|e| e.to_string())?;
    let budget =
        Budget { cores: options.threads, memory_per_stream: None, min_ratio: None, goal: Goal::default() };
    let plan = plan(&measured.measurements, &pipe, &budget);

    let run = provenance::run();
    let context = Context {
        data: DATA.into(),
        data_bytes: measured.bytes,
        cpu: environment::cpu(),
        cores: options.threads,
        os: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        versions: vec![
            ("linerate".into(), run.linerate),
            ("libzstd".into(), zstd_safe::version_string().into()),
            ("Rust".into(), run.versions.get("rustc").cloned().unwrap_or_default()),
        ],
        date: environment::date(),
        command: "make demo".into(),
    };
    let path = Path::new(REPORT);
    path.parent().map_or(Ok(()), fs::create_dir_all).map_err(|e| format!("{REPORT}: {e}"))?;
    fs::write(path, report::html(&plan, &context)).map_err(|e| format!("{REPORT}: {e}"))?;

    let lines = [plan.sentence()].into_iter().chain(plan.notes()).chain(plan.command());
    Ok(lines.chain([format!("Charts and all candidates: {REPORT}")]).collect::<Vec<_>>().join("\n  "))
}
