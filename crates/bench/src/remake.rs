//! Runs all shapes in turn, each in its own process: `linerate-bench remake`.

use std::path::PathBuf;

use clap::Args;

use crate::harness::corpus::corpora;
use crate::harness::{MISSING_STATUS, message, process, provenance};

/// Options of `remake`.
#[derive(Args, Clone, Debug)]
pub struct RemakeArgs {
    /// Use little data and few rounds, to see that everything runs
    #[arg(long)]
    quick: bool,
    /// The folder to write records to
    #[arg(long, value_name = "DIR", default_value = "target/records")]
    out: PathBuf,
    /// Run only shapes whose name contains one of these
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    only: Vec<String>,
}

/// A shape to run: the name of its record without `.jsonl`, the arguments, and the corpora below
/// `$LINERATE_CORPORA`. The shape runs once for each corpus, which is added as an option or as an
/// operand, or once without if none is listed. If an item lists several, separated by spaces, one
/// run has those that are there.
struct Run {
    file: &'static str,
    args: &'static [&'static str],
    corpora: &'static [&'static str],
}

const fn run_of(file: &'static str, args: &'static [&'static str], corpora: &'static [&'static str]) -> Run {
    Run { file, args, corpora }
}

static RUNS: [Run; 19] = [
    run_of("bytes", &["bytes"], &["--corpus web", "--corpus silesia"]),
    run_of("bytes", &["bytes", "--synthetic", "random", "--chunk", "16K"], &[]),
    run_of("threads", &["threads"], &["--corpus silesia"]),
    run_of("inflate", &["inflate"], &["--corpus web", "--corpus silesia"]),
    run_of("frames", &["frames"], &["--corpus web", "--corpus silesia"]),
    run_of("cold", &["cold"], &[]),
    run_of("cold", &["cold", "--sweep", "--data", "json,text"], &[]),
    run_of("dictionary-sizes", &["cold", "--sizes"], &[]),
    run_of("packs", &["packs"], &["silesia/dickens"]),
    run_of("sst", &["sst"], &[]),
    run_of("messages", &["messages"], &[]),
    run_of("messages", &["messages", "--encode"], &[]),
    run_of("messages", &["messages", "--resident"], &[]),
    run_of("gateway-day", &["day"], &[]),
    run_of("http", &["http"], &[]),
    run_of("websocket", &["websocket"], &[]),
    run_of("rice-tiers", &["rice"], &[]),
    run_of("archives", &["archives"], &["--corpus textures", "--corpus silesia"]),
    run_of("plan-accuracy", &["plan"], &[PLANNER]),
];

/// Corpora on which plans are judged, as `scripts/corpora.sh` makes them.
const PLANNER: &str = "planner/html planner/source planner/elf planner/png planner/wav planner/dds planner/office \
     planner/access.log planner/rows.json planner/shop.sqlite planner/int16.npy planner/int32.npy planner/float.npy";

/// Targets of the Makefile that run harnesses in other languages, which `remake` does not run.
const OTHERS: &str =
    "bench-waveforms, bench-gateway-java, bench-gateway-node, bench-rocksdb, bench-servers, bench-gpu";

/// Returns the names of corpora among words of a command line.
fn names(words: &str) -> impl Iterator<Item = &str> {
    words.split(' ').filter(|word| !word.starts_with("--"))
}

/// Divides words of a command line into those about corpora that are there and those about others.
/// Options are in both. Either is empty if it has no corpus.
fn divided(words: &str, is_there: impl Fn(&str) -> bool) -> [Vec<&str>; 2] {
    [true, false].map(|wanted| match names(words).any(|name| is_there(name) == wanted) {
        true => words.split(' ').filter(|word| word.starts_with("--") || is_there(word) == wanted).collect(),
        false => Vec::new(),
    })
}

/// Whether `remake` runs a subcommand of this name.
pub fn is_shape(name: &str) -> bool {
    RUNS.iter().any(|run| run.args[0] == name)
}

/// Runs all shapes, or those that `--only` names, and prints at the end what could not be measured.
/// It is not an error if the machine lacks a program, a library or a corpus.
///
/// # Errors
/// A sentence, if a run failed, no shape has a wanted name, or the folder cannot be made.
pub fn run(args: &RemakeArgs) -> Result<(), String> {
    std::fs::create_dir_all(&args.out).map_err(|e| format!("{}: {e}", args.out.display()))?;
    let mut left_out: Vec<String> = Vec::new();
    let all = wanted(args, &mut left_out)?;
    let (mut failed, mut missing) = (0, left_out.len());
    left_out.extend(provenance::absent(&[]));
    for (i, (run, words)) in all.iter().enumerate() {
        println!("[{} of {}] {}", i + 1, all.len(), words.join(" "));
        let mut command = process::this(&[])?;
        command.args(words).arg("--record").arg(args.out.join(format!("{}.jsonl", run.file)));
        command.args(args.quick.then_some("--quick"));
        // The tables that the process prints are discarded; they are for users who run one shape.
        let output = command.output().map_err(message)?;
        let (what, count) = match output.status.code() {
            Some(0) => (run.args[0].to_owned(), None),
            Some(code) if code == i32::from(MISSING_STATUS) => (words.join(" "), Some(&mut missing)),
            _ => (words.join(" "), Some(&mut failed)),
        };
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said
            .lines()
            .map(|line| line.rsplit('\r').next().unwrap_or_default().trim_start_matches("\u{1b}[K"))
            .filter(|line| !line.is_empty());
        for line in said.chain((output.stderr.is_empty() && count.is_some()).then_some("no reason given")) {
            let line = format!("{what}: {}", line.trim_start_matches("linerate-bench: "));
            // Several runs of a shape may lack the same thing.
            if !left_out.contains(&line) {
                left_out.push(line);
            }
        }
        if let Some(count) = count {
            *count += 1;
        }
    }
    println!("\nRecords are in {}. Harnesses in other languages: make {OTHERS}.", args.out.display());
    if left_out.is_empty() {
        println!("Everything was measured.");
    } else {
        println!("Not measured: {missing} runs that lack something, {failed} that failed:");
        left_out.iter().for_each(|line| println!("  {line}"));
    }
    if failed > 0 { Err(format!("{failed} of {} runs failed", all.len())) } else { Ok(()) }
}

/// The runs of the wanted shapes, each with its arguments: one for each corpus, with `--quick` one
/// without a corpus. Runs for which the build lacks a feature and corpora that the machine lacks
/// are added to `left_out` instead.
fn wanted(args: &RemakeArgs, left_out: &mut Vec<String>) -> Result<Vec<(&'static Run, Vec<String>)>, String> {
    let is_wanted =
        |run: &&Run| args.only.is_empty() || args.only.iter().any(|only| run.args[0].contains(&**only));
    let mut all = Vec::new();
    for run in RUNS.iter().filter(is_wanted) {
        let words: Vec<String> = run.args.iter().map(|&word| word.to_owned()).collect();
        if !cfg!(feature = "servers") && ["http", "websocket"].contains(&run.args[0]) {
            left_out.push(format!("{}: built without the feature `servers`", run.args[0]));
        } else if args.quick || run.corpora.is_empty() {
            all.push((run, words));
        } else {
            for corpus in run.corpora {
                let is_there = |name: &str| corpora().is_some_and(|root| root.join(name).exists());
                let [found, missing] = divided(corpus, is_there);
                if !found.is_empty() {
                    let more = found.into_iter().map(str::to_owned);
                    all.push((run, words.iter().cloned().chain(more).collect()));
                }
                if !missing.is_empty() {
                    let missing = missing.join(" ");
                    left_out.push(format!("{} {missing}: not found below $LINERATE_CORPORA", run.args[0]));
                }
            }
        }
    }
    match all.is_empty() && left_out.is_empty() {
        true => Err(format!("no shape's name contains {}", args.only.join(" or "))),
        false => Ok(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_of_several_corpora_takes_those_that_are_there() {
        let divide = |words| divided(words, |name| name != "planner/elf" && name != "web");
        assert_eq!(
            divide("planner/html planner/elf planner/png"),
            [vec!["planner/html", "planner/png"], vec!["planner/elf"]]
        );
        assert_eq!(divide("--corpus web"), [vec![], vec!["--corpus", "web"]]);
        assert_eq!(divide("--corpus silesia"), [vec!["--corpus", "silesia"], vec![]]);
    }

    #[test]
    fn every_corpus_is_one_that_the_script_of_corpora_makes_or_verifies() {
        let script = include_str!("../../../scripts/corpora.sh");
        // A set is the third word of a line that calls `need`, or there a part of a path.
        let is_set = |first: &str, (place, word): (usize, &str)| {
            let parts = word.trim_matches('"').split_once('/');
            parts.map_or(place == 2 && word == first, |(folder, _)| folder == first)
        };
        let known = |first: &str| {
            let mut calls = script.lines().map(str::trim).filter(|line| line.starts_with("need "));
            calls.any(|line| line.split(' ').enumerate().any(|word| is_set(first, word)))
        };
        for corpus in RUNS.iter().flat_map(|run| run.corpora) {
            assert!(names(corpus).count() > 0);
            assert!(names(corpus).all(|path| known(path.split('/').next().unwrap())), "{corpus}");
        }
        assert!(!known("mods"));
    }
}
