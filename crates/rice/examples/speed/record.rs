//! One line of CSV per figure, with where and how it was measured.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::process::Command;

/// A figure.
pub(crate) struct Row<'a> {
    pub(crate) samples: &'a str,
    pub(crate) bytes: usize,
    pub(crate) row: usize,
    pub(crate) m: u32,
    pub(crate) size_percent: f64,
    pub(crate) operation: &'a str,
    pub(crate) codec: &'a str,
    pub(crate) clock: &'a str,
    pub(crate) best_mb_s: f64,
    pub(crate) median_mb_s: f64,
    pub(crate) base: &'a str,
    pub(crate) speed_vs_base: f64,
}

const COLUMNS: &str = "date,cpu,rustc,linerate,samples,bytes,row,m,size_percent,operation,codec,clock,\
                       best_mb_s,median_mb_s,base,speed_vs_base,rounds,command";

/// A CSV file that grows.
pub(crate) struct Record {
    file: File,
    rounds: usize,
    /// Date, processor, versions.
    place: String,
    command: String,
}

impl Record {
    /// Opens the file at `path`; a new one gets a line with the names of the columns.
    pub(crate) fn open(path: &str, rounds: usize, command: String) -> io::Result<Record> {
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        if file.metadata()?.len() == 0 {
            writeln!(file, "{COLUMNS}")?;
        }
        let version = format!("{} {}", env!("CARGO_PKG_VERSION"), output("git", &GIT));
        let place = [output("date", &["-u", "+%F"]), cpu(), output("rustc", &["--version"]), version];
        let place = place.map(|f| quoted(f.trim())).join(",");
        Ok(Record { file, rounds, place, command: quoted(&command) })
    }

    /// Adds a line.
    pub(crate) fn add(&mut self, r: &Row) -> io::Result<()> {
        writeln!(
            self.file,
            "{},{},{},{},{},{:.2},{},{},{},{:.1},{:.1},{},{:.3},{},{}",
            self.place,
            quoted(r.samples),
            r.bytes,
            r.row,
            r.m,
            r.size_percent,
            r.operation,
            quoted(r.codec),
            r.clock,
            r.best_mb_s,
            r.median_mb_s,
            quoted(r.base),
            r.speed_vs_base,
            self.rounds,
            self.command
        )
    }
}

const GIT: [&str; 6] = ["-C", env!("CARGO_MANIFEST_DIR"), "describe", "--always", "--dirty", "--tags"];

/// What a program prints, or "unknown".
fn output(program: &str, args: &[&str]) -> String {
    let out = Command::new(program).args(args).output().ok().filter(|out| out.status.success());
    out.map_or("unknown".into(), |out| String::from_utf8_lossy(&out.stdout).into_owned())
}

/// The processor's name, with family and model where the system tells them.
fn cpu() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |key: &str| {
        let mut pairs = info.lines().filter_map(|line| line.split_once(':'));
        pairs.find(|(k, _)| k.trim() == key).map(|(_, v)| v.trim())
    };
    match (field("model name"), field("cpu family"), field("model")) {
        (Some(name), Some(family), Some(model)) => format!("{name} (family {family} model {model})"),
        _ => std::env::consts::ARCH.into(),
    }
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.into() }
}
