//! Compiles a C program that uses `linerate_cuda.h` with cc, and runs it with the C library that
//! this crate builds.

use std::path::{Path, PathBuf};
use std::process::Command;

use linerate_testkit::tools::{has_program, require};

use crate::common;

/// Returns the path of the C library of this crate, which cargo builds with the tests. If there is
/// none, reports the test as skipped.
fn library() -> Option<PathBuf> {
    let program = std::env::current_exe().expect("this test program");
    let folder = program.parent().expect("a folder").to_owned();
    let name = "liblinerate_cuda.so";
    let found =
        [folder.join(name), folder.parent().expect("target").join(name)].into_iter().find(|p| p.exists());
    require(found.is_some(), "liblinerate_cuda.so was not built").then_some(found).flatten()
}

#[cfg(target_os = "linux")]
#[test]
fn c_program_round_trips_and_reports_errors_as_codes() {
    let (Some(driver), Some(library), true) = (common::double(), library(), has_program("cc")) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("roundtrip");
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    let compiled = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-pedantic", "-I"])
        .arg(source)
        .arg(source.join("tests/c/roundtrip.c"))
        .arg(&library)
        .arg(format!("-Wl,-rpath,{}", library.parent().unwrap().display()))
        .args(["-ldl", "-o"])
        .arg(&program)
        .output()
        .expect("cc runs");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));

    let run = Command::new(&program).arg(driver).env("LINERATE_CUDA_DRIVER", driver).output().unwrap();
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{text}{}", String::from_utf8_lossy(&run.stderr));
    assert!(
        text.contains("5000 samples in ") && text.contains("a segment is longer than what is left"),
        "{text}"
    );

    let run = Command::new(&program).env("LINERATE_CUDA_DRIVER", "/nowhere/libcuda.so.1").output().unwrap();
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && text.starts_with("no CUDA driver: /nowhere/libcuda.so.1"), "{text}");
}
