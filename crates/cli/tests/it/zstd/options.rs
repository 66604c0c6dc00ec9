//! Options with which people and programs call `zstd`: all levels, environment variables, `-c`
//! together with `-o`, and options that are ignored.

use std::process::Command;

use super::data::{skippable, stored, windowed};
use linerate_testkit::data::mixed as sample;
use linerate_testkit::program::{DAMAGED, Folder, Run, USAGE, WARNED};

fn with_variables(folder: &Folder, variables: &[(&str, &str)], args: &[&str]) -> Run {
    let mut command = folder.command(&["zstd"]);
    let command: &mut Command = command.args(args).envs(variables.iter().copied());
    Run::of(command, b"")
}

/// Level, threads and size of the output in the JSON object of a compression.
fn made(run: &Run) -> (i64, u64, u64) {
    let record: serde_json::Value = serde_json::from_slice(&run.stdout).expect("an object");
    let number = |key: &str| record[key].as_u64().expect("a number");
    (record["level"].as_i64().expect("a level"), number("threads"), number("bytes_out"))
}

#[test]
fn level_0_is_the_default_and_levels_above_the_highest_become_it() {
    let folder = Folder::new();
    folder.write("a", &sample(100_000));
    for (args, level, said) in [
        (&["-0"][..], 3, ""),
        (
            &["-20"],
            19,
            "linerate: level 20 is too high, 19 is used; --ultra allows up to 22, which needs much memory\n",
        ),
        (&["-22", "-q"], 19, ""),
        (&["--ultra", "-22"], 22, ""),
        (&["-30", "--ultra"], 22, "linerate: level 30 is too high, 22 is used\n"),
        (&["--fast=200000"], -131_072, ""),
    ] {
        let run = folder.zstd_with(&[&["-f", "--json", "a"], args].concat(), b"");
        assert_eq!((run.status, &*run.stderr), (Some(0), said), "{args:?}");
        assert_eq!(made(&run).0, level, "{args:?}");
    }
    assert_eq!(folder.zstd_with(&["-99999999999", "a"], b"").status, Some(USAGE));
}

#[test]
fn level_and_threads_of_the_environment_are_those_without_options() {
    let folder = Folder::new();
    folder.write("a", &sample(100_000));
    let run = |variables: &[_], args: &[&str]| {
        with_variables(&folder, variables, &[&["-f", "--json", "a"], args].concat())
    };
    for (variables, args, wanted) in [
        (&[("ZSTD_CLEVEL", "7"), ("ZSTD_NBTHREADS", "3")][..], &[][..], (7, 3)),
        (&[("ZSTD_CLEVEL", "-5"), ("ZSTD_NBTHREADS", "2")], &[], (-5, 2)),
        (&[("ZSTD_CLEVEL", "+4"), ("ZSTD_NBTHREADS", "2")], &["-2"], (2, 2)),
        (&[("ZSTD_CLEVEL", "7"), ("ZSTD_NBTHREADS", "3")], &["--fast=2", "-T4"], (-2, 4)),
        (&[("ZSTD_CLEVEL", "0"), ("ZSTD_NBTHREADS", "3")], &["--single-thread"], (3, 1)),
    ] {
        let (level, threads, _) = made(&run(variables, args).ok());
        assert_eq!((level, threads), wanted, "{variables:?} {args:?}");
    }
    for (name, value, error) in [
        ("ZSTD_CLEVEL", "x", "not a level"),
        ("ZSTD_CLEVEL", "99999999999", "not a level"),
        ("ZSTD_NBTHREADS", "-1", "not a number from 0 to 1024"),
    ] {
        let ignoring = run(&[(name, value)], &[]);
        assert_eq!((ignoring.status, made(&ignoring).0), (Some(0), 3), "{name}={value}");
        assert_eq!(ignoring.stderr, format!("linerate: {name}={value} is ignored: {error}\n"));
        assert_eq!(run(&[(name, value)], &["-q"]).stderr, "");
    }
}

#[test]
fn the_later_of_c_and_o_says_where_the_output_goes() {
    let folder = Folder::new();
    folder.write("a", b"content");
    let run = folder.zstd_with(&["a", "-o", "b.zst", "-c"], b"").ok();
    assert_eq!(folder.zstd_with(&["-d"], &run.stdout).ok().stdout, b"content");
    assert_eq!(folder.names(), ["a"]);
    assert_eq!(folder.zstd_with(&["-c", "a", "-o", "b.zst"], b"").ok().stdout, b"");
    assert_eq!(folder.names(), ["a", "b.zst"]);
}

#[test]
fn rm_deletes_the_source_of_a_named_output_once_that_is_there() {
    let folder = Folder::new();
    folder.write("a", b"content");
    folder.write("taken", b"taken");
    assert_ne!(folder.zstd_with(&["--rm", "a", "-o", "taken"], b"").status, Some(0));
    assert_ne!(folder.zstd_with(&["--rm", "a", "-o", "no/folder"], b"").status, Some(0));
    assert!(folder.has("a") && folder.read("taken") == b"taken");
    folder.zstd_with(&["--rm", "a", "-o", "b"], b"").ok();
    assert_eq!(folder.names(), ["b", "taken"]);
    folder.zstd_with(&["-d", "--rm", "b", "-o", "c"], b"").ok();
    assert_eq!((folder.names(), folder.read("c")), (vec!["c".into(), "taken".into()], b"content".to_vec()));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("c", folder.path("link")).expect("a link");
        let run = folder.zstd_with(&["--rm", "link", "-o", "d"], b"");
        run.fails(WARNED, "linerate: link: skipped: it is a symbolic link; -f follows it");
        assert_eq!(folder.names(), ["c", "link", "taken"]);
    }
}

#[test]
fn hints_of_zstd_are_taken_and_change_no_output() {
    let folder = Folder::new();
    folder.write("a", &sample(3_000_000));
    let plain = folder.zstd_with(&["-c", "a"], b"").ok().stdout;
    for hint in [
        "--single-thread",
        "--auto-threads=physical",
        "--auto-threads=logical",
        "--sparse",
        "--no-sparse",
        "--size-hint=5K",
        "--asyncio",
        "--no-asyncio",
    ] {
        assert!(folder.zstd_with(&["-c", hint, "a"], b"").ok().stdout == plain, "{hint}");
        folder.zstd_with(&["-t", hint], &plain).ok();
    }
}

#[test]
fn a_dictionary_that_only_begins_as_a_trained_one_is_an_error_that_says_so() {
    let folder = Folder::new();
    folder.write("a", b"content");
    folder.write("d", &[b"\x37\xa4\x30\xec", &sample(5000)[..]].concat());
    for args in [&["-D", "d", "a"][..], &["-dc", "-D", "d", "a"]] {
        let run = folder.zstd_with(args, b"");
        assert_eq!(run.status, Some(DAMAGED));
        let line = "linerate: d: it begins like a trained dictionary but is not a valid one: ";
        assert!(run.stderr.starts_with(line), "{}", run.stderr);
    }
    // libzstd also treats fewer than 8 bytes as raw content.
    for short in [&b"\x37\xa4\x30\xec"[..], b"\x37\xa4\x30\xecabc", b"abc"] {
        folder.write("d", short);
        let packed = folder.zstd_with(&["-c", "-D", "d", "a"], b"").ok().stdout;
        assert_eq!(folder.zstd_with(&["-d", "-D", "d"], &packed).ok().stdout, b"content");
    }
}

#[test]
fn plain_input_is_passed_through_by_dcf_and_is_an_error_without_f() {
    let folder = Folder::new();
    let packed = [stored(b"packed\n"), windowed(10, b"again\n")].concat();
    for plain in [&b"plain\n"[..], b"x", &sample(300_000)] {
        folder.write("plain", plain);
        assert!(folder.zstd_with(&["-dcf", "plain"], b"").ok().stdout == plain);
        assert!(folder.zstd_with(&["-df"], plain).ok().stdout == plain);
        assert_eq!(folder.zstd_with(&["-dc", "plain"], b"").status, Some(DAMAGED));
        let both = [&packed, plain].concat();
        for threads in ["-T1", "-T3"] {
            folder.write("both", &both);
            let run = folder.zstd_with(&["-dcf", threads, "both"], b"").ok();
            assert!(run.stdout == [b"packed\nagain\n", plain].concat());
        }
    }
    assert_eq!(folder.zstd_with(&["-dcf"], b"").status, Some(DAMAGED), "as by zstd");
    let one = stored(b"packed\n");
    for len in 4..one.len() {
        assert_eq!(folder.zstd_with(&["-dcf"], &one[..len]).status, Some(DAMAGED), "{len}");
    }
    assert_eq!(folder.zstd_with(&["-dcf", "--max-output=3"], b"plain").status, Some(4));
}

#[test]
fn damaged_header_of_a_frame_is_no_other_data() {
    let folder = Folder::new();
    let one = stored(b"packed\n");
    let mut damaged = one.clone();
    // Sets the reserved bit of the frame's descriptor.
    damaged[4] ^= 8;
    for input in [damaged.clone(), [&one[..], &damaged].concat(), [&skippable(b"abc")[..], &damaged].concat()]
    {
        let run = folder.zstd_with(&["-dcf"], &input);
        let at = input.len() - damaged.len();
        assert_eq!(
            (run.status, &run.stdout[..]),
            (Some(DAMAGED), if at == one.len() { &b"packed\n"[..] } else { b"" })
        );
    }
}
