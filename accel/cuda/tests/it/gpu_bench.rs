//! Runs the benchmark of `make bench-gpu` with tiny chunks, to see that it works.

#[path = "../../examples/gpu/bench.rs"]
mod bench;
#[path = "../../examples/gpu/nvcomp.rs"]
mod nvcomp;

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use linerate_cuda::{Codec, Context, Stream};

use bench::{Bench, Contender, Packed, Place, Shape};

use crate::common;

/// Returns settings of the benchmark for tiny chunks. If `context` is that of the driver's double,
/// they name the double of nvCOMP.
fn tiny(context: &Context) -> bench::Settings {
    let shapes = ["2", "2x3"].map(|shape| shape.parse().unwrap()).to_vec();
    let mut settings = bench::Settings { shapes, rounds: 1, ..bench::Settings::default() };
    let driver = Path::new(context.driver().name());
    if driver.file_name() == Some(OsStr::new("libcuda-shim.so")) {
        settings.nvcomp = driver.with_file_name("libnvcomp-shim.so").into();
    }
    settings
}

#[test]
fn tiny_chunks_give_a_measurement_of_every_path_and_contender() {
    let Some(context) = common::context() else { return };
    let found = bench::run(&context, &tiny(&context)).unwrap();
    let count = |path: &str, contender: &str| {
        found.iter().filter(|row| row.params["path"] == path && row.contender == contender).count()
    };
    for contender in ["none", "v1 m=8", "v2"] {
        for path in ["kernel", "file to vram", "file to ram", "ram to vram"] {
            assert_eq!(count(path, contender), 2, "{path} {contender}: {found:?}");
        }
    }
    let has_both =
        |path: &str| found.iter().filter(|row| row.params["path"] == path).all(|row| row.metrics.len() == 3);
    assert!(has_both("kernel") && has_both("ram to vram"), "encode, decode and size: {found:?}");
    for contender in ["none", "v1 m=8"] {
        assert_eq!(count("vram to file", contender), 2, "{contender}: {found:?}");
    }
    assert!(found.iter().all(|row| row.metrics.len() >= 2));
}

#[test]
fn contender_that_writes_nothing_is_an_error() {
    let Some(context) = common::context() else { return };
    let (codec, stream) = (Codec::new(&context), Stream::new(&context).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let (contender, file) = (Contender::Uncompressed, folder.path().join("chunk"));
    let shape = "2x3".parse().unwrap();
    let mut bench = Bench::new(&codec, &stream, shape, &[Contender::Uncompressed], 1, file).unwrap();
    let packed = bench.encoded_by_cpu(&contender).unwrap();
    // The first run of each path leaves the right bytes in the target. The second one has no jobs.
    assert!(bench.decode_path(&contender, &packed, Place::Ram, Place::Vram).is_ok());
    let nothing = Packed { bytes: packed.bytes.clone(), lens: Vec::new() };
    let error = bench.decode_path(&contender, &nothing, Place::Ram, Place::Vram).err();
    assert_eq!(error.expect("the target is cleared").to_string(), "none: the decoded samples differ");
    assert!(bench.encode_path(&contender, &packed, Place::Ram, Place::Vram).is_ok());
    bench.samples.clear();
    let error = bench.encode_path(&contender, &packed, Place::Ram, Place::Vram).err();
    assert_eq!(error.expect("the target is cleared").to_string(), "none: the encoded bytes differ");
}

#[test]
fn chunks_without_rows_or_count_are_a_usage_error() {
    for text in ["0", "0x5", "5x0", "x", "5x", "-1"] {
        let error = text.parse::<Shape>().err().expect(text);
        assert!(error.starts_with(&format!("--chunks: {text}: ")), "{error}");
    }
}

#[test]
fn double_of_nvcomp_gets_the_options_and_is_measured() {
    let Some(context) = common::context() else { return };
    let settings = tiny(&context);
    if settings.nvcomp == "libnvcomp.so.6" {
        return; // a GPU, where nvCOMP need not be installed
    }
    let found = bench::run(&context, &settings).unwrap();
    let nvcomp = found.iter().filter(|row| row.contender.starts_with("nvcomp"));
    // The double stores samples without compression, and 8 more bytes for every 64 KiB or less: 8
    // for the 28,000 bytes of the first shape, and 16 for the 84,000 of the second.
    assert_eq!(nvcomp.filter(|row| row.metrics.len() == 3 && row.metrics["size"].median < 1.001).count(), 6);
}

#[test]
fn missing_nvcomp_leaves_its_measurements_out() {
    let Some(context) = common::context() else { return };
    let mut settings = tiny(&context);
    settings.shapes.truncate(1);
    settings.nvcomp = "libnvcomp-that-is-not-there.so".into();
    let found = bench::run(&context, &settings).unwrap();
    assert!(!found.is_empty() && found.iter().all(|row| !row.contender.starts_with("nvcomp")));
}

/// Checks NVIDIA's library without a GPU: it has every function, its functions that need no device
/// return plausible sizes, and its header has the prototypes and fields that the double uses.
#[test]
#[ignore = "needs nvCOMP, named by LINERATE_NVCOMP: make test-cuda"]
fn installed_nvcomp_has_the_interface_that_is_called() {
    let Some(context) = common::context() else { return };
    let library = std::env::var_os("LINERATE_NVCOMP").expect("LINERATE_NVCOMP is the path of libnvcomp.so.6");
    let nvcomp = nvcomp::Nvcomp::load(&library).unwrap();
    assert_eq!(nvcomp.version(), "6.0.0");
    let stream = Stream::new(&context).unwrap();
    for algorithm in &nvcomp::ALGORITHMS {
        let sizes = nvcomp.sizes(algorithm, 1 << 20, &stream).unwrap();
        assert_eq!(sizes.count, 16);
        // The largest size of a compressed chunk has room for the 64 KiB of an incompressible one,
        // and is less than half as much again.
        assert!((64 << 10..96 << 10).contains(&sizes.max_output), "{}: {sizes:?}", algorithm.name);
    }
    let headers = Path::new(&library).parent().unwrap().join("../include");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/shim/nvcomp.cpp");
    let mut compile = Command::new("g++");
    compile.args(["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-DNVCOMP_HEADER", "-I"]);
    assert!(compile.arg(headers).arg(source).status().unwrap().success());
}
