//! A dry run of `make bench-gpu` with tiny chunks.

#[path = "../../examples/gpu/bench.rs"]
mod bench;
#[path = "../../examples/gpu/nvcomp.rs"]
mod nvcomp;

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use linerate_cuda::Context;

use crate::common;

/// Settings for tiny chunks. The double of the driver gets the double of nvCOMP.
fn tiny(context: &Context) -> bench::Settings {
    let mut settings = bench::Settings::new("--rows 2,3".into());
    (settings.rows, settings.rounds) = (vec![2, 3], 1);
    let driver = Path::new(context.driver().name());
    if driver.file_name() == Some(OsStr::new("libcuda-shim.so")) {
        settings.nvcomp = driver.with_file_name("libnvcomp-shim.so").into();
    }
    settings
}

#[test]
fn tiny_chunks_give_every_row_of_the_tables_and_a_record() {
    let Some(context) = common::context() else { return };
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("gpu.csv");
    let mut settings = tiny(&context);
    settings.csv = Some(csv.clone());
    let text = bench::run(&context, &settings).unwrap();
    let count = |path: &str, contender: &str| {
        text.lines().filter(|line| line.contains(path) && line.contains(contender)).count()
    };
    for contender in ["none", "v1 m=8", "v2"] {
        for path in ["gpu-kernel", "gpu-file-vram", "gpu-file-ram", "gpu-ram-vram"] {
            assert!(count(path, contender) >= 2, "{path} {contender}:\n{text}");
        }
    }
    for contender in ["none", "v1 m=8"] {
        assert_eq!(count("gpu-vram-file", contender), 2, "{contender}:\n{text}");
    }
    for algorithm in ["cascaded", "bitcomp", "ans"] {
        assert_eq!(count("gpu-kernel", algorithm), 2, "{algorithm}:\n{text}");
    }
    let record = fs::read_to_string(&csv).unwrap();
    let columns = record.lines().next().unwrap().split(',').count();
    assert!(record.lines().count() > 60 && columns == 21, "{record}");
}

#[test]
fn double_of_nvcomp_gets_the_options_and_is_measured() {
    let Some(context) = common::context() else { return };
    let settings = tiny(&context);
    if settings.nvcomp == "libnvcomp.so.6" {
        return; // a GPU, where nvCOMP need not be installed
    }
    let text = bench::run(&context, &settings).unwrap();
    // Of 28,000 and 42,000 bytes, 8 more each.
    let measured = text.lines().filter(|line| line.contains("nvcomp") && line.contains(" 100.0 "));
    assert_eq!(measured.filter(|line| line.contains("% of a copy")).count(), 6, "{text}");
}

#[test]
fn missing_nvcomp_is_a_row_that_says_so() {
    let Some(context) = common::context() else { return };
    let mut settings = tiny(&context);
    (settings.rows, settings.nvcomp) = (vec![2], "libnvcomp-that-is-not-there.so".into());
    let text = bench::run(&context, &settings).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("nvcomp ")).collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(lines.iter().all(|line| line.contains("not measured: nvCOMP is not installed")), "{text}");
}

/// NVIDIA's library, without a GPU: every function is there, those that need no device answer as for the double, and its
/// header has the double's prototypes and structures.
#[test]
#[ignore = "needs nvCOMP, named by LINERATE_NVCOMP: make test-cuda"]
fn installed_nvcomp_has_the_interface_that_is_called() {
    let Some(context) = common::context() else { return };
    let library = std::env::var_os("LINERATE_NVCOMP").expect("LINERATE_NVCOMP is the path of libnvcomp.so.6");
    let nvcomp = nvcomp::Nvcomp::load(&library).unwrap();
    assert_eq!(nvcomp.version(), "6.0.0");
    let stream = linerate_cuda::Stream::new(&context).unwrap();
    for algorithm in &nvcomp::ALGORITHMS {
        let sizes = nvcomp.sizes(algorithm, 1 << 20, &stream).unwrap();
        assert_eq!(sizes.count, 16);
        // Room for chunks that do not compress, and for no more than half as much again.
        assert!((64 << 10..96 << 10).contains(&sizes.max_output), "{}: {sizes:?}", algorithm.name);
    }
    let headers = Path::new(&library).parent().unwrap().join("../include");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/shim/nvcomp.cpp");
    let mut compile = Command::new("g++");
    compile.args(["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-DNVCOMP_HEADER", "-I"]);
    assert!(compile.arg(headers).arg(source).status().unwrap().success());
}
