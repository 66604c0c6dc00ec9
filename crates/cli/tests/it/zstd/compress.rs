//! Compression: files are restored at every level and with several options, or errors are reported.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use super::data::testdata;
use linerate_testkit::data::{Noise, json_rows, mixed as sample};
use linerate_testkit::program::{DAMAGED, FAILED, Folder, LIMIT, USAGE, WARNED};

/// The JSON object of `zstd -l` about frames: totals from their headers.
fn listed(folder: &Folder, frames: &[u8]) -> Value {
    folder.zstd_with(&["-l", "--json"], frames).ok().object()
}

#[test]
fn every_level_round_trips() {
    let folder = Folder::new();
    // If there are more than 512 KiB, libzstd uses its threads.
    let data = json_rows(1, 2000);
    let size = |args: &[&str]| {
        let packed = folder.zstd_with(args, &data).ok().stdout;
        assert!(folder.zstd_with(&["-d"], &packed).ok().stdout == data, "{args:?}");
        packed.len()
    };
    let sizes: Vec<usize> = (1..=22).map(|level| size(&["--ultra", &format!("-{level}")])).collect();
    assert!(sizes[18] < sizes[8] && sizes[8] < sizes[0] && sizes[0] < data.len() / 3, "{sizes:?}");
    let fast = [size(&["--fast"]), size(&["--fast=50"])];
    assert!(sizes[0] < fast[0] && fast[0] < fast[1], "{fast:?}");
    assert_eq!(size(&[]), sizes[2], "the default is -3");
    assert_eq!(size(&["-9", "-1"]), sizes[0], "the last one counts");
    assert_eq!(size(&["--fast", "--level=1"]), sizes[0]);
    assert_eq!(size(&["-1", "--fast"]), fast[0]);
}

#[test]
fn output_is_the_same_for_any_threads() {
    let folder = Folder::new();
    // Enough for several jobs of libzstd, which have up to 16 MiB at level 12.
    let data = json_rows(5, 60_000);
    assert!(data.len() > 17 << 20);
    folder.write("rows", &data);
    for more in [&["-1"][..], &["-3"], &["-7"], &["-12"], &["-1", "--long=24"], &["-3", "--rsyncable"]] {
        let packed =
            |threads: &str| folder.zstd_with(&[&["-c", threads, "rows"], more].concat(), b"").ok().stdout;
        let one = packed("-T1");
        assert!(packed("-T2") == one && packed("-T5") == one, "{more:?}");
        assert!(folder.zstd_with(&["-d"], &one).ok().stdout == data);
    }
    let piped = |threads: &str| folder.zstd_with(&["-1", threads], &data).ok().stdout;
    assert!(piped("-T1") == piped("-T3"));
}

#[test]
fn empty_input_round_trips() {
    let folder = Folder::new();
    folder.write("a", b"");
    folder.zstd_with(&["a"], b"").ok();
    folder.zstd_with(&["-d", "-o", "b", "a.zst"], b"").ok();
    assert_eq!(folder.read("b"), b"");
    for args in [&["-3"][..], &["-19", "-T2"], &["-c", "a"]] {
        let packed = folder.zstd_with(args, b"").ok().stdout;
        assert!(!packed.is_empty() && folder.zstd_with(&["-d"], &packed).ok().stdout.is_empty());
    }
}

#[test]
fn input_in_small_pieces_is_compressed_as_in_one() {
    let folder = Folder::new();
    let data = sample(400_000);
    let mut command = folder.command(&["zstd", "-T2"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    data.chunks(3333).for_each(|piece| stdin.write_all(piece).unwrap());
    drop(stdin);
    let packed = child.wait_with_output().unwrap().stdout;
    assert!(packed == folder.zstd_with(&[], &data).ok().stdout);
}

#[test]
fn header_has_the_size_of_a_file_and_of_a_pipe_only_if_it_is_given() {
    let folder = Folder::new();
    folder.write("a", &sample(5000));
    let file = |args: &[&str]| folder.zstd_with(&[args, &["-c", "a"]].concat(), b"").ok().stdout;
    assert_eq!(listed(&folder, &file(&[]))["bytes_out"], 5000);
    assert_eq!(listed(&folder, &file(&["--no-content-size"]))["bytes_out"], Value::Null);
    let piped = folder.zstd_with(&[], &sample(5000)).ok().stdout;
    assert_eq!(listed(&folder, &piped)["bytes_out"], Value::Null);
    let sized = folder.zstd_with(&["--stream-size=5000"], &sample(5000)).ok().stdout;
    assert_eq!(listed(&folder, &sized)["bytes_out"], 5000);
    for (size, change) in [("4999", "more"), ("5001", "less"), ("1G", "less")] {
        let run = folder.zstd_with(&["--stream-size", size], &sample(5000));
        assert_eq!(run.status, Some(FAILED));
        assert!(run.stderr.contains(&format!("and {change} was read")), "{}", run.stderr);
    }
}

#[test]
fn no_check_leaves_the_checksum_out() {
    let folder = Folder::new();
    let data = sample(2_000_000);
    let sizes: Vec<usize> = [&["--no-check"][..], &["--no-check", "--check"], &["-C"], &[]]
        .into_iter()
        .map(|args| {
            let packed = folder.zstd_with(args, &data).ok().stdout;
            let checked = listed(&folder, &packed)["checksum"].as_bool();
            assert_eq!(checked, Some(args.len() != 1 || args[0] == "-C"), "{args:?}");
            assert!(folder.zstd_with(&["-d"], &packed).ok().stdout == data);
            packed.len()
        })
        .collect();
    assert_eq!(sizes[1..], [sizes[0] + 4; 3]);
}

#[test]
fn long_finds_matches_beyond_the_window_of_the_level() {
    let folder = Folder::new();
    let mut noise = Noise::new(3);
    let (again, between) = (noise.bytes(1 << 20), noise.bytes(9 << 20));
    let data = [&again[..], &between, &again].concat();
    let packed = |args: &[&str]| folder.zstd_with(args, &data).ok().stdout;
    let (short, long) = (packed(&["-1"]), packed(&["-1", "--long=24"]));
    assert!(long.len() + (1 << 20) < short.len() + 1000, "{} and {}", long.len(), short.len());
    assert!(folder.zstd_with(&["-d"], &long).ok().stdout == data);
    // A window of 2^27 bytes is decompressed without an option, one of 2^28 is not.
    assert!(folder.zstd_with(&["-d"], &packed(&["-1", "--long"])).ok().stdout == data);
    let larger = packed(&["-1", "--long=28"]);
    assert_eq!(folder.zstd_with(&["-d"], &larger).status, Some(LIMIT));
    assert!(folder.zstd_with(&["-d", "--long=31"], &larger).ok().stdout == data);
}

#[test]
fn dictionaries_make_small_files_smaller() {
    let folder = Folder::new();
    let rows = json_rows(1, 400);
    let raw = folder.write("raw", &rows[..30_000]);
    let trained = testdata().join("zstd/logs-5.dict");
    folder.write("row", &rows[60_000..62_000]);
    let without = folder.zstd_with(&["-c", "row"], b"").ok().stdout;
    for (dictionary, has_id) in [(raw, false), (trained, true)] {
        let dictionary = dictionary.to_str().unwrap();
        for level in ["-1", "-3", "-9", "-19"] {
            let packed = folder.zstd_with(&["-c", level, "-D", dictionary, "row"], b"").ok().stdout;
            assert!(has_id || packed.len() < without.len() * 3 / 4, "{level}: {}", packed.len());
            let run = folder.zstd_with(&["-d", "-D", dictionary], &packed).ok();
            assert!(run.stdout == folder.read("row"));
            assert_eq!(folder.zstd_with(&["-d"], &packed).status, Some(DAMAGED), "{level}");
        }
    }
    // One dictionary serves several files, one of which is compressed on several threads.
    folder.write("large", &json_rows(2, 6000));
    folder.zstd_with(&["-T4", "-D", "raw", "row", "large"], b"").ok();
    for name in ["row", "large"] {
        let run = folder.zstd_with(&["-dc", "-D", "raw", &format!("{name}.zst")], b"").ok();
        assert!(run.stdout == folder.read(name));
    }
    let trained = testdata().join("zstd/logs-5.dict").display().to_string();
    let with_id = folder.zstd_with(&["-D", &trained], b"x").ok().stdout;
    let without_id = folder.zstd_with(&["--no-dictID", "-D", &trained], b"x").ok().stdout;
    assert!(without_id.len() < with_id.len());
}

#[test]
fn damaged_and_missing_dictionaries_are_errors_before_anything_is_written() {
    let folder = Folder::new();
    folder.write("a", b"data");
    let run = folder.zstd_with(&["-D", "none", "a"], b"");
    run.fails(FAILED, "linerate: none: cannot open: No such file or directory");
    let mut damaged = std::fs::read(testdata().join("zstd/full.dict")).unwrap();
    damaged[8] = 0;
    folder.write("damaged", &damaged);
    assert_eq!(folder.zstd_with(&["-D", "damaged", "a"], b"").status, Some(DAMAGED));
    assert_eq!(folder.names(), ["a", "damaged"]);
}

#[test]
fn wrong_command_lines_exit_with_2() {
    let folder = Folder::new();
    folder.write("a", b"data");
    let line = "linerate: --adapt is not supported: choose a level, such as -3";
    folder.zstd_with(&["--adapt", "a"], b"").fails(USAGE, line);
    for args in [
        &["-99999999999", "a"][..],
        &["--fast=0", "a"],
        &["--long=9", "a"],
        &["-T", "x", "a"],
        &["-cr", "-oa", "a"],
    ] {
        let run = folder.zstd_with(args, b"");
        assert_eq!(run.status, Some(USAGE), "{args:?}");
        assert!(!run.stderr.is_empty() && run.stdout.is_empty());
    }
    assert_eq!(folder.names(), ["a"]);
}

#[test]
fn reports_have_sizes_level_and_output() {
    let folder = Folder::new();
    folder.write("a", &sample(300_000));
    let run = folder.zstd_with(&["--json", "-5", "-T2", "a"], b"").ok();
    let record = run.object();
    let packed = folder.read("a.zst").len();
    assert_eq!((&record["mode"], &record["output"]), (&"compress".into(), &"a.zst".into()));
    assert_eq!((&record["bytes_in"], &record["bytes_out"]), (&300_000.into(), &packed.into()));
    assert_eq!((&record["level"], &record["threads"], &record["frames"]), (&5.into(), &2.into(), &1.into()));
    assert_eq!((&record["checksum"], &record["window"]), (&true.into(), &300_000.into()));
    let run = folder.zstd_with(&["-vf", "a"], b"");
    assert!(run.stderr.starts_with("a: 300000 -> ") && run.stderr.ends_with("-> a.zst\n"), "{}", run.stderr);
    let run = folder.zstd_with(&["-c", "--json", "--fast=7", "a"], b"");
    let record: Value = serde_json::from_str(&run.stderr).unwrap();
    assert_eq!((&record["bytes_out"], &record["level"]), (&run.stdout.len().into(), &(-7).into()));
}

#[test]
fn directory_is_skipped_without_r() {
    let folder = Folder::new();
    folder.write("d/a", b"data");
    let line = "linerate: d: skipped: it is a directory; -r works on the files below it";
    folder.zstd_with(&["d"], b"").fails(WARNED, line);
    assert_eq!(folder.names(), ["d"]);
}

#[cfg(unix)]
#[test]
fn closed_output_pipe_ends_by_sigpipe_without_a_message() {
    use std::io::Read;
    use std::os::unix::process::ExitStatusExt;
    let folder = Folder::new();
    folder.write("a", &Noise::new(1).bytes(9_000_000));
    folder.zstd_with(&["a"], b"").ok();
    folder.write("dictionary", b"some content");
    for args in [&["zstd", "-1cT2", "-Ddictionary", "a"][..], &["zstd", "-dc", "a.zst"]] {
        let mut command = folder.command(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut [0; 10]).unwrap();
        drop(stdout);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.signal(), Some(13), "{args:?}");
        assert_eq!(output.stderr, b"", "{args:?}");
    }
}

#[cfg(unix)]
#[test]
fn signal_removes_the_incomplete_output() {
    use std::os::unix::process::ExitStatusExt;

    use linerate_testkit::kill::terminate;

    let folder = Folder::new();
    let mut command = folder.command(&["zstd", "-T2", "-o", "out.zst"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // This is more than a pipe holds, so the program is reading by now, with its output open.
    stdin.write_all(&sample(4_000_000)).unwrap();
    assert!(!folder.has("out.zst"));
    terminate(&child);
    // The pipe is closed only after the program has ended, since the program could otherwise see
    // the end of the input before the signal.
    assert_eq!(child.wait().unwrap().signal(), Some(15));
    drop(stdin);
    assert_eq!(folder.names(), [""; 0]);
}
