//! Keeps retired words out of code and documentation. The glossary of CONTRIBUTING.md has the terms in use.

use std::fs;
use std::path::{Path, PathBuf};

/// A retired word, as a whole identifier or word, and the term that replaced it.
const RETIRED: &[(&str, &str)] = &[
    ("Account", "Reporter"),
    ("AnswerHead", "ResponseHeader"),
    ("Clustered", "ClusteringResult"),
    ("Crew", "thread pool"),
    ("DEEPEST", "MAX_DEPTH"),
    ("DoesNotPay", "NoSavings"),
    ("Exec", "Options"),
    ("GLANCE", "POLL_INTERVAL"),
    ("Kin", "SharedFingerprints"),
    ("Lent", "PooledScratch"),
    ("Loan", "PooledScratch"),
    ("Look", "Probe"),
    ("MOST_BLOCK", "MAX_BLOCK"),
    ("MOST_GUILDS", "MAX_GUILDS"),
    ("MOST_LZ4", "MAX_LZ4_LEVEL"),
    ("OfThisProcess", "NotPicklable"),
    ("SayArgs", "VerbosityArgs"),
    ("Tape", "RecordingWriter"),
    ("Terms", "Options"),
    ("Trouble", "InjectedFault"),
    ("_ForH5py", "_UseH5py"),
    ("as_told", "check_recorded_len"),
    ("barren", "incompressible"),
    ("check_room", "check_capacity"),
    ("dict_gain", "dict_savings"),
    ("giveBack", "release"),
    ("group_alike", "group_similar"),
    ("has_tool", "has_program"),
    ("hidden_bytes", "removed_bytes"),
    ("hurry", "prefetch_now"),
    ("insert_expecting", "insert_with_hash"),
    ("is_flat", "is_incompressible"),
    ("kept_open", "max_open_folders"),
    ("lockstep", "decode_avx512"),
    ("make_room", "reserve"),
    ("names_a_coding", "sets_algorithm"),
    ("number_and_more", "number_and_value"),
    ("onFault", "onError"),
    ("pass_over", "skip"),
    ("r3a_vectors", "linerate_testkit::r3a"),
    ("rooms", "buffers"),
    ("says_anything", "is_given"),
    ("standing_for", "total_bytes"),
    ("stands_for", "total_bytes"),
    ("stoppable", "cancellable"),
    ("suited_by_name", "check_suffix"),
    ("troubles", "faults, problems"),
    ("why_none", "reason"),
    ("with_guilds", "guilds"),
    ("with_room", "with_capacity"),
    ("worth_keeping", "prune_dictionaries"),
];

/// Folders that are searched, below the root of the repository.
const FOLDERS: &[&str] = &["accel", "crates", "bindings", "docs", "bench", "fuzz"];
const EXTENSIONS: &[&str] = &[
    "rs", "md", "py", "pyi", "java", "toml", "sh", "js", "c", "h", "cpp", "cu", "cuh", "v", "vh", "sv", "vhd",
];
/// Build outputs and inputs of tests.
const SKIPPED: &[&str] = &["target", "node_modules", "corpus", "seeds", "artifacts"];
/// This table.
const THIS_FILE: &str = "crates/testkit/tests/words.rs";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every file below `folder` that is searched.
fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() {
            if !SKIPPED.iter().any(|skipped| name == *skipped) && !name.to_string_lossy().starts_with('.') {
                files_below(&path, found);
            }
        } else if path.extension().is_some_and(|found| EXTENSIONS.iter().any(|known| found == *known)) {
            found.push(path);
        }
    }
}

/// The words and identifiers of a line.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The retired words in a text, with the line of each, counted from 1.
fn retired(text: &str) -> Vec<(usize, &'static str, &'static str)> {
    let lines = text.lines().enumerate();
    let found = lines.flat_map(|(i, line)| {
        words(line)
            .filter_map(move |word| RETIRED.iter().find(|row| row.0 == word).map(|row| (i + 1, row.0, row.1)))
    });
    found.collect()
}

#[test]
fn no_file_has_a_retired_word() {
    let mut files = Vec::new();
    FOLDERS.iter().for_each(|folder| files_below(&root().join(folder), &mut files));
    assert!(files.len() > 300, "only {} files were searched", files.len());
    let mut found = Vec::new();
    for file in files {
        let name = file.strip_prefix(root()).unwrap_or(&file).display().to_string();
        if name == THIS_FILE {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap_or_default();
        let rows = retired(&text).into_iter();
        found.extend(rows.map(|(line, word, term)| format!("{name}:{line}: `{word}`; instead: {term}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn whole_words_are_found_with_their_lines() {
    assert_eq!(retired("a\nKin::new()\nKindness, account"), [(2, "Kin", "SharedFingerprints")]);
    assert_eq!(retired("// Crew."), [(1, "Crew", "thread pool")]);
}
