//! CPython's own tests of zlib and of the formats on top of it, with this library before zlib.
#![cfg(target_os = "linux")]

use std::io::{Write, stderr};
use std::path::Path;
use std::process::Command;

use linerate_testkit::c_program::Library;
use linerate_testkit::program::Run;
use linerate_testkit::tools::require;

/// The distribution's, which is linked with zlib dynamically.
const PYTHON: &str = "/usr/bin/python3";
const TESTS: [&str; 4] = ["test.test_zlib", "test.test_gzip", "test.test_zipfile", "test.test_tarfile"];

fn has_tests() -> bool {
    let imported = Command::new(PYTHON).args(["-c", "import test.test_zlib"]).output();
    let found = imported.is_ok_and(|output| output.status.success());
    require(found, "no tests of CPython (Debian: libpython3.11-testsuite)")
}

/// What Python's `zlib.compress` makes of its own program.
fn compressed(library: Option<&Path>) -> Vec<u8> {
    let mut command = Command::new(PYTHON);
    if let Some(library) = library {
        command.env("LD_PRELOAD", library);
    }
    let program =
        "import sys, zlib; sys.stdout.buffer.write(zlib.compress(open(sys.executable, 'rb').read(99999)))";
    Run::of(command.args(["-c", program]), b"").ok().stdout
}

#[test]
fn cpythons_tests_pass_with_the_preloaded_library() {
    let Some(library) = Library::built("linerate_z") else { return };
    if !has_tests() {
        return;
    }
    assert!(compressed(Some(&library.shared())) != compressed(None), "zlib compressed");
    // Some tests write into the folder that they run in.
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(PYTHON);
    command.args(["-m", "unittest", "--buffer"]).args(TESTS).current_dir(folder.path());
    let run = Run::of(command.env("LD_PRELOAD", library.shared()), b"");
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let count = run.stderr.lines().find(|line| line.starts_with("Ran ")).expect("a count");
    // `println` would be captured by the test runner.
    let _ = writeln!(stderr(), "CPython, {}: {count}", TESTS.join(" "));
}
