//! Runs RocksDB itself: `writer.c`, compiled against its library, and its `sst_dump`.
//!
//! The library is that of the system, or the file in `LINERATE_ROCKSDB`. The newest format of that
//! file is in `LINERATE_ROCKSDB_FORMAT`, or 7.

use std::env;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use linerate_testkit::tools::require;

use super::model::Record;

/// Returns the program, if RocksDB is installed. Otherwise the test prints that it is missing and
/// is skipped, or fails with STRICT=1.
pub(crate) fn writer() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let built = BUILT.get_or_init(|| build("sst-writer", other_library().map(PathBuf::from)));
    require(built.is_some(), "RocksDB's library or a C compiler is not installed");
    built.as_deref()
}

/// Returns the program with RocksDB 11: the library in `LINERATE_ROCKSDB`, or that of
/// `scripts/setup.sh rocksdb-11`.
pub(crate) fn writer_11() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("rocksdb").join("librocksdb.so");
        let libraries = [other_library().map(PathBuf::from), kept.exists().then_some(kept)];
        let is_11 = |program: &PathBuf| {
            Command::new(program).arg("is-11").status().is_ok_and(|status| status.success())
        };
        libraries.into_iter().flatten().find_map(|file| build("sst-writer-11", Some(file)).filter(is_11))
    });
    require(built.is_some(), "RocksDB 11 is not there (scripts/setup.sh rocksdb-11)");
    built.as_deref()
}

/// Compiles the program against a library, or against that of the system.
fn build(name: &str, library: Option<PathBuf>) -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/sst/writer.c");
    let library = match &library {
        Some(file) => vec![file.display().to_string(), format!("-Wl,-rpath,{}", file.parent()?.display())],
        None => vec!["-lrocksdb".to_owned()],
    };
    let done = Command::new("cc")
        .args(["-O1", "-Wall", "-Wextra", "-o"])
        .arg(&program)
        .arg(source)
        .args(library)
        .stderr(Stdio::null())
        .status();
    done.is_ok_and(|status| status.success()).then_some(program)
}

fn other_library() -> Option<String> {
    env::var("LINERATE_ROCKSDB").ok()
}

/// Returns the latest version that can be written. It is 5 with Debian's library, which is RocksDB
/// 7.
pub(crate) fn latest_version() -> usize {
    let stated = || env::var("LINERATE_ROCKSDB_FORMAT").ok().map(|format| format.parse().expect("a number"));
    other_library().map_or(5, |_| stated().unwrap_or(7))
}

/// Returns whether RocksDB's `sst_dump` is installed.
pub(crate) fn has_sst_dump() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    let found = *FOUND.get_or_init(|| {
        let quiet = (Stdio::null(), Stdio::null());
        Command::new("sst_dump").arg("--version").stdout(quiet.0).stderr(quiet.1).status().is_ok()
    });
    require(found, "sst_dump is not installed");
    found
}

/// Writes a file from records. `way` is `table` or `db`, `choices` are options of the program.
pub(crate) fn write(program: &Path, way: &str, path: &Path, choices: &[(&str, usize)], records: &[Record]) {
    let mut child = Command::new(program)
        .arg(way)
        .arg(path)
        .args(choices.iter().map(|(name, value)| format!("{name}={value}")))
        .stdin(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let bytes: Vec<u8> = records.iter().flat_map(Record::bytes).collect();
    child.stdin.take().expect("a pipe").write_all(&bytes).expect("it reads everything");
    assert!(child.wait().expect("it ends").success(), "{choices:?}");
}

/// Returns RocksDB's verdict on a file. RocksDB reads all entries and verifies checksums.
pub(crate) fn sst_dump_accepts(path: &Path) -> bool {
    let output = Command::new("sst_dump")
        .arg(format!("--file={}", path.display()))
        .args(["--command=scan", "--verify_checksum"])
        .output()
        .expect("it starts");
    // `sst_dump` always exits with 0, and prints errors on standard error.
    output.status.success() && !String::from_utf8_lossy(&output.stderr).contains("Corruption")
}
