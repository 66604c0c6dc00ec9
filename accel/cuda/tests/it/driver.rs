//! Tests the driver and its devices: a missing driver, or one without a device, is an error that
//! says so.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use linerate_cuda::{
    Codec, Context, DecodeJob, DeviceBuffer, Driver, EncodeJob, Error, Event, Input, PinnedBuffer, Stream,
    Workspace,
};
use linerate_rice::v2::{ElementType, StreamOptions};
use linerate_rice::{Options, Params};

use crate::common;

#[test]
fn missing_driver_is_an_error_that_names_library_and_remedy() {
    let error = Driver::load(OsStr::new("/nowhere/libcuda.so.1")).unwrap_err();
    assert!(matches!(&error, Error::NoDriver { .. }));
    let text = error.to_string();
    assert!(text.contains("/nowhere/libcuda.so.1") && text.contains("install NVIDIA's driver"), "{text}");
}

#[test]
fn library_that_is_no_driver_is_an_error_that_names_the_function() {
    let Some(library) =
        ["libm.so.6", "libc.so.6"].iter().find(|name| Driver::load(OsStr::new(name)).is_err())
    else {
        return;
    };
    let text = Driver::load(OsStr::new(library)).unwrap_err().to_string();
    assert!(text.contains("cuInit") || cfg!(not(target_os = "linux")), "{text}");
}

#[test]
fn device_number_beyond_the_last_is_an_error_that_counts_them() {
    let Some(context) = common::context() else { return };
    let error = Context::on(context.driver(), 99).unwrap_err();
    assert!(matches!(error, Error::NoDevice { wanted: 99, .. }), "{error}");
    assert!(error.to_string().starts_with("no CUDA device 99: there are"), "{error}");
}

#[test]
fn exhausted_memory_is_an_error_that_names_the_kind_of_memory() {
    let Some(context) = common::context() else { return };
    let bytes = 1 << 60;
    let error = PinnedBuffer::new(&context, bytes).unwrap_err();
    assert_eq!(error, Error::OutOfMemory { bytes, is_pinned: true });
    assert!(
        error.to_string().starts_with("pinned host memory is full: 1152921504606846976 bytes"),
        "{error}"
    );
    let error = DeviceBuffer::new(&context, bytes).unwrap_err();
    assert!(error.to_string().starts_with("device memory is full: 1152921504606846976 bytes"), "{error}");
}

#[test]
fn driver_without_a_device_is_an_error() {
    let Some(library) = common::double() else { return };
    if std::env::var_os("LINERATE_SHIM_DEVICES").is_some() {
        let error = Context::new(0).unwrap_err();
        assert!(error.to_string().starts_with("no CUDA device: the driver finds no GPU"), "{error}");
        return;
    }
    run_alone("driver::driver_without_a_device_is_an_error", library, ("LINERATE_SHIM_DEVICES", "0"));
}

/// Runs this test in a process of its own, with the test double `library` as its driver and with
/// one more environment variable. The test must pass there.
fn run_alone(test: &str, library: &Path, (name, value): (&str, &str)) {
    let program = std::env::current_exe().expect("this test program");
    let child = Command::new(program)
        .args(["--exact", test])
        .env("LINERATE_CUDA_DRIVER", library)
        .env(name, value)
        .output()
        .expect("the test program runs");
    assert!(child.status.success(), "{value}: {}", String::from_utf8_lossy(&child.stdout));
    assert!(String::from_utf8_lossy(&child.stdout).contains("1 passed"));
}

#[test]
#[allow(unsafe_code)]
fn error_of_the_device_leaves_no_outcomes() {
    let Some(library) = common::double() else { return };
    let Some(failing) = std::env::var_os("LINERATE_SHIM_FAILS") else {
        for function in ["cuEventRecord", "cuEventSynchronize"] {
            let variable = ("LINERATE_SHIM_FAILS", function);
            run_alone("driver::error_of_the_device_leaves_no_outcomes", library, variable);
        }
        return;
    };
    let context = Context::new(0).unwrap();
    let (codec, stream) = (Codec::new(&context), Stream::new(&context).unwrap());
    let mut workspace = Workspace::new(&context).unwrap();
    let chunk = linerate_rice::encode::<i16>(&Params::default(), &[], Options::new()).unwrap();
    let job = DecodeJob { chunk: Input::Host(&chunk), samples: 0, capacity: 0 };
    // SAFETY: a chunk of no samples has no output.
    let queued = unsafe { codec.decode(&Params::default(), &[job], &stream, &mut workspace) };
    if failing == "cuEventRecord" {
        assert!(matches!(queued, Err(Error::Driver { call: "cuEventRecord", .. })), "{queued:?}");
        assert_eq!(workspace.outcomes(), Ok(vec![]));
        return;
    }
    assert_eq!(queued, Ok(()));
    for _ in 0..2 {
        let outcomes = workspace.outcomes();
        assert!(matches!(outcomes, Err(Error::Driver { call: "cuEventSynchronize", .. })), "{outcomes:?}");
    }
}

#[test]
#[allow(unsafe_code)]
fn call_with_arguments_that_are_refused_leaves_no_outcomes() {
    let Some((codec, stream)) = common::codec() else { return };
    let mut workspace = Workspace::new(codec.context()).unwrap();
    let params = Params::default();
    let chunk = linerate_rice::encode::<i16>(&params, &[], Options::new()).unwrap();
    let decoded = |samples| DecodeJob { chunk: Input::Host(&chunk), samples, capacity: 0 };
    let unaligned = [decoded(1)];
    let encoded = [EncodeJob { samples: Input::Host(&[]), chunk: 1, capacity: 0 }];
    let options = StreamOptions::new();
    for function in 0..4 {
        // SAFETY: no job has samples.
        let refused = unsafe {
            codec.decode(&params, &[decoded(0)], &stream, &mut workspace).unwrap();
            assert_eq!(workspace.outcomes(), Ok(vec![Ok(0)]));
            let (stream, workspace) = (&stream, &mut workspace);
            match function {
                0 => codec.decode(&params, &unaligned, stream, workspace),
                1 => codec.encode(&params, &encoded, stream, workspace),
                2 => codec.decode_streams(ElementType::I16, 0, &unaligned, stream, workspace),
                _ => codec.encode_streams(ElementType::I16, &options, &encoded, stream, workspace),
            }
        };
        assert!(
            matches!(refused, Err(Error::BadArgument(_) | Error::NoKernel(_))),
            "{function}: {refused:?}"
        );
        assert_eq!(workspace.outcomes(), Ok(vec![]), "{function}");
    }
}

#[test]
fn device_has_a_name_memory_and_events() {
    let Some(context) = common::context() else { return };
    assert!(!context.device_name().unwrap().is_empty());
    assert!(context.driver().version().unwrap() >= 11_000);
    assert!(context.compute_capability().unwrap() >= (7, 0));
    let (free, total) = context.memory().unwrap();
    assert!(0 < free && free <= total);
    let stream = Stream::new(&context).unwrap();
    let [first, last] = [(); 2].map(|()| Event::new(&context).unwrap());
    first.record(&stream).unwrap();
    last.record(&stream).unwrap();
    stream.wait(&last).unwrap();
    last.synchronize().unwrap();
    assert!(last.milliseconds_since(&first).unwrap() >= 0.0);
}

#[cfg(target_os = "linux")]
#[test]
fn scripts_take_relative_folders_from_where_they_are_run() {
    let folder = tempfile::tempdir().unwrap();
    let run = |script: &str, arguments: &[&str]| {
        let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join(script));
        command.args(arguments).current_dir(folder.path()).env("CARGO_TARGET_DIR", "target");
        // A compiler that compiles nothing: only the folder is of interest.
        command.env("CXX", "true").output().expect("bash runs")
    };
    let output = run("build-shim.sh", &["given"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(run("build-shim.sh", &[]).status.success());
    assert!(!run("test.sh", &[]).status.success(), "the tests were not compiled");
    for made in ["given", "target/cuda-shim", "target/cuda-test"] {
        assert!(folder.path().join(made).is_dir(), "{made}");
    }
}
