//! Pipes, names, and arrays larger than memory.

#[cfg(unix)]
use std::process::Command;

#[cfg(unix)]
use super::data::DAMAGED;
use super::data::{FAILED, USAGE, npy, samples, wave};
use linerate_testkit::program::Folder;

#[test]
fn pipe_is_encoded_and_decoded_to_a_pipe() {
    let folder = Folder::new();
    let file = npy("<i2", "(30, 100)", &wave(3000));
    let run = folder.rice_with(&["encode", "--v1", "--m", "16", "-"], &file);
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), "stdin: cd_values 16,1100\n"));
    let back = folder.rice_with(&["decode", "--cd-values", "16,1100", "--shape=-1,100"], &run.stdout).ok();
    assert!(back.stdout == file);
    let raw = folder.rice_with(&["decode", "--cd-values", "16,1100", "--raw"], &run.stdout).ok();
    assert!(raw.stdout == samples(&file));
    folder.write("a.npy", &file);
    let to_stdout = folder.rice(&["encode", "--v1", "--m=16", "-qo", "-", "a.npy"]).ok();
    assert!(to_stdout.stdout == run.stdout);
    let run = folder.rice_with(&["encode", "--v1", "--dtype=i16", "--shape=-1,100"], samples(&file));
    run.fails(USAGE, "linerate: to encode raw samples from a pipe with --v1, give the complete --shape");
}

#[test]
fn default_output_names_are_not_overwritten() {
    let folder = Folder::new();
    let file = npy("<i2", "(300,)", &wave(300));
    folder.write("a.npy", &file);
    folder.rice(&["encode", "--v1", "-q", "a.npy"]).ok();
    assert_eq!(folder.names(), ["a.drc", "a.npy"]);
    let line = "linerate: a.npy: a.drc exists already; -f overwrites it";
    folder.rice(&["encode", "--v1", "a.npy"]).fails(FAILED, line);
    folder.rice(&["encode", "--v1", "-qf", "a.npy"]).ok();
    let line = "linerate: a.drc: a.npy exists already; -f overwrites it";
    folder.rice(&["decode", "--v1", "a.drc"]).fails(FAILED, line);
    assert!(folder.read("a.npy") == file);
    folder
        .rice(&["encode", "--v1", "-o", "x", "a.npy", "a.npy"])
        .fails(USAGE, "linerate: -o takes a single input file");
    let line = "linerate: absent.npy: cannot open: No such file or directory";
    folder.rice(&["encode", "--v1", "absent.npy"]).fails(FAILED, line);
    folder.rice(&["encode", "--v1", "."]).fails(FAILED, "linerate: .: it is a directory");
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_bounded_for_large_arrays() {
    use std::fs::File;
    use std::process::{Command, Stdio};

    use linerate_testkit::program::Run;

    // 160 MB of zeros in a sparse file, in an address space of 128 MiB.
    const ROWS: u64 = 8_000;
    const ROW: u64 = 10_000;
    let limited = |folder: &Folder, args: &str| {
        let mut command = Command::new("bash");
        let script =
            format!("ulimit -v 131072; export MALLOC_ARENA_MAX=1; set -o pipefail; \"$0\" rice {args}");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_linerate")]).current_dir(folder.path("."));
        command.stdin(Stdio::null());
        Run::of(&mut command, b"").ok()
    };
    let folder = Folder::new();
    File::create(folder.path("a.raw")).unwrap().set_len(ROWS * ROW * 2).unwrap();
    limited(&folder, "encode --v1 -p2 -q --verify --dtype i16 --shape -1,10000 a.raw");
    limited(&folder, "verify -p2 --cd-values 2,10000 --against a.raw --dtype i16 a.raw.drc");
    limited(&folder, "decode --cd-values 2,10000 --raw -o /dev/null -f a.raw.drc");
    limited(&folder, "info --cd-values 2,10000 a.raw.drc");
    limited(&folder, "encode -p2 --verify --dtype i16 --shape -1,10000 a.raw");
    limited(&folder, "verify -p2 --against a.raw --dtype i16 a.raw.rice");
    limited(&folder, "decode -p2 --raw -o /dev/null -f a.raw.rice");
    limited(&folder, "decode -p2 --raw -o - a.raw.rice | cmp - a.raw");
}

/// The files are changed with `cat`, `head` and `>>`.
#[cfg(unix)]
#[test]
fn files_that_shell_tools_join_append_to_and_cut_are_arrays_or_errors() {
    let folder = Folder::new();
    let data = wave(900);
    folder.write("a.npy", &npy("<i2", "(6, 100)", &data[..1200]));
    folder.write("b.npy", &npy("<i2", "(3, 100)", &data[1200..]));
    folder.rice(&["encode", "a.npy", "b.npy"]).ok();
    let shell = |script: &str| {
        let status = Command::new("sh").args(["-ec", script]).current_dir(folder.path(".")).status().unwrap();
        assert!(status.success(), "{script}");
    };
    shell("cat a.rice b.rice >joined.rice; cp a.rice appended.rice; cat b.rice >>appended.rice");
    let both = npy("<i2", "(9, 100)", &data);
    for name in ["joined", "appended"] {
        assert!(folder.rice(&["decode", "-o", "-", &format!("{name}.rice")]).ok().stdout == both, "{name}");
        folder.rice(&["verify", &format!("{name}.rice")]).ok();
    }
    let len = folder.read("joined.rice").len();
    let first = folder.read("a.rice").len();
    for cut in [1, 27, 28, first - 1, first, first + 1, len - 1] {
        shell(&format!("head -c {cut} joined.rice >cut.rice"));
        let run = folder.rice(&["decode", "-o", "-", "cut.rice"]);
        match cut == first {
            true => assert!(run.ok().stdout == npy("<i2", "(6, 100)", &data[..1200])),
            false => assert_eq!(run.status, Some(DAMAGED), "{cut}: {}", run.stderr),
        }
    }
    for tail in ["printf x", "printf '\\n'", "head -c 4096 /dev/zero", "cat a.npy"] {
        shell(&format!("cp joined.rice tail.rice; {tail} >>tail.rice"));
        let run = folder.rice(&["verify", "tail.rice"]);
        assert_eq!(run.status, Some(DAMAGED), "{tail}: {}", run.stderr);
    }
}
