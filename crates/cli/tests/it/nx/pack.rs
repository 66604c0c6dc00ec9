//! `pack`, and that extraction restores the packed files.

use std::fs;
use std::process::Command;

use linerate_testkit::nx::disorder;
use linerate_testkit::tools::has_program;

use super::data::{FAILED, USAGE};
use super::tree::{files_below, plant};
use linerate_testkit::program::{Folder, WARNED};

#[test]
fn pack_round_trips_with_all_options() {
    let folder = Folder::new();
    let files = plant(&folder, "in");
    let cases: &[&[&str]] = &[
        &["--solidlevel", "3", "--chunkedlevel", "3"],
        &[
            "--chunksize",
            "64K",
            "--solid-algorithm",
            "LZ4",
            "--chunked-algorithm",
            "lz4",
            "--solidlevel",
            "3",
        ],
        &["--solid-algorithm", "Copy", "--chunked-algorithm", "Copy", "--deduplicate-solid", "false"],
        &["--blocksize", "0", "--chunksize", "128K", "--deduplicate-chunked=false", "--chunkedlevel=-5"],
        &["--blocksize", "16383", "--chunksize", "32K", "--solidlevel=5", "--min-match=4", "--raw-literals"],
        &["--preset", "fast-load", "--solidlevel", "4", "--chunkedlevel", "4", "--long"],
        &["--preset", "vfs", "--store", "*.ogg", "--alone", "text/0/*.txt"],
    ];
    for (i, options) in cases.iter().enumerate() {
        let archive = format!("{i}.nx");
        let mut args = vec!["pack", "in", "-o", &archive];
        args.extend(*options);
        folder.nx(&args).ok();
        assert_eq!(disorder(&folder.read(&archive)), [""; 0], "{options:?}");
        let listed = folder.nx(&["list", &archive]).ok().lines();
        assert_eq!(listed.len(), files.len(), "{options:?}");
        folder.nx(&["verify", &archive]).ok();
        let out = format!("out{i}");
        folder.nx(&["extract", &archive, "-o", &out]).ok();
        assert!(files_below(&folder.path(&out)) == files, "{options:?}");
        folder.nx(&["verify", "--against", "in", &archive]).ok();
    }
    assert!(files_below(&folder.path("in")) == files, "the sources are as they were");
}

#[test]
fn a_reader_written_from_the_format_alone_finds_every_file() {
    if !has_program("python3") || !has_program("zstd") {
        return;
    }
    let folder = Folder::new();
    let files = plant(&folder, "in");
    let reader = linerate_testkit::tools::reader("pack_reader.py");
    let cases: &[&[&str]] = &[
        &["--solidlevel=3", "--chunkedlevel=3"],
        &["--chunksize=32K", "--solid-algorithm=lz4", "--chunked-algorithm=copy", "--solidlevel=3"],
        &["--preset=fast-load", "--solidlevel=3", "--chunkedlevel=3"],
        &["--preset=vfs", "--deduplicate-solid=false", "--store=*.ogg", "--alone=text/0/*.txt"],
    ];
    for (i, options) in cases.iter().enumerate() {
        let archive = format!("{i}.nx");
        folder.nx(&[&["pack", "in", "-o", &archive], *options].concat()).ok();
        let mut python = Command::new("python3");
        let output = python.arg(&reader).arg(folder.path(&archive)).arg(folder.path("in")).output();
        let output = output.expect("python3 starts");
        assert!(output.status.success(), "{options:?}: {}", String::from_utf8_lossy(&output.stderr));
        let counts = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(counts.starts_with(&format!("{} files ", files.len())), "{counts}");
    }
}

#[test]
fn coding_options_change_blocks_and_codecs() {
    let folder = Folder::new();
    plant(&folder, "in");
    let info = |options: &[&str]| {
        let mut args = vec!["pack", "-f", "--solidlevel=3", "--chunkedlevel=3", "in", "-o", "a.nx"];
        args.extend(options);
        folder.nx(&args).ok();
        folder.nx(&["info", "--json", "a.nx"]).ok().objects().remove(0)
    };
    let number = |value: &serde_json::Value| value.as_u64().expect("a number");
    let plain = info(&[]);
    assert_eq!(number(&plain["chunk"]), 1 << 20);
    let twice = info(&["--deduplicate-solid=false", "--deduplicate-chunked=false"]);
    assert!(number(&plain["shared_files"]) >= 2 && number(&twice["shared_files"]) == 0);
    assert!(number(&plain["content_bytes"]) + 3_000_000 <= number(&twice["content_bytes"]));
    let small = info(&["--chunksize", "100000"]);
    assert_eq!(number(&small["chunk"]), 131_072);
    let copied = info(&["--solid-algorithm=copy", "--chunked-algorithm=copy"]);
    assert_eq!(
        (number(&copied["codecs"]["zstd"]["blocks"]), number(&copied["codecs"]["lz4"]["blocks"])),
        (0, 0)
    );
    info(&["--store", "*.txt", "--alone", "noise.ogg"]);
    let files = folder.nx(&["list", "--json", "a.nx"]).ok().objects();
    let of = |wanted: &dyn Fn(&str) -> bool| {
        files
            .iter()
            .filter(|file| wanted(file["path"].as_str().expect("a path")))
            .cloned()
            .collect::<Vec<_>>()
    };
    assert!(of(&|path| path.ends_with(".txt")).iter().all(|file| file["codecs"][0] == "copy"));
    let noise = of(&|path| path == "noise.ogg").remove(0);
    let sharing = files.iter().filter(|file| file["block"] == noise["block"] && number(&file["blocks"]) > 0);
    assert_eq!(sharing.count(), 1);
}

#[test]
fn pack_output_depends_only_on_files_and_options() {
    let folder = Folder::new();
    plant(&folder, "in");
    let pack = |target: &str, threads: &str| {
        folder.nx(&["pack", "--solidlevel=3", "--chunkedlevel=3", "-p", threads, "in", "-o", target]).ok();
        folder.read(target)
    };
    let first = pack("1.nx", "1");
    assert!(first == pack("2.nx", "2") && first == pack("5.nx", "5"));
}

#[test]
fn dry_run_writes_nothing() {
    let folder = Folder::new();
    let files = plant(&folder, "in");
    let lines = folder.nx(&["pack", "--dry-run", "-x", "*.txt", "in"]).ok().lines();
    let expected: Vec<&String> = files.keys().filter(|path| !path.ends_with(".txt")).collect();
    assert_eq!(lines[..lines.len() - 1].iter().collect::<Vec<_>>(), expected);
    assert!(lines.last().unwrap().starts_with(&format!("{} files, ", expected.len())), "{lines:?}");
    folder.nx(&["pack", "-n", "in", "-o", "a.nx"]).ok();
    assert_eq!(folder.names(), ["in"]);
}

#[test]
fn globs_exclude_files() {
    let folder = Folder::new();
    let files = plant(&folder, "in");
    let pack = |options: &[&str]| {
        let mut args = vec!["pack", "-f", "--solidlevel=1", "--chunkedlevel=1", "in", "-o", "a.nx"];
        args.extend(options);
        folder.nx(&args).ok();
        folder.nx(&["list", "a.nx"]).ok().lines()
    };
    let count = |wanted: &dyn Fn(&str) -> bool| files.keys().filter(|path| wanted(path)).count();
    assert_eq!(pack(&["-x", "text"]).len(), count(&|path| !path.starts_with("text/")));
    assert_eq!(pack(&["-g", "*.TXT", "-i"]).len(), count(&|path| path.ends_with(".txt")));
    let both = count(&|path| path.ends_with(".txt") && !path.starts_with("text/1/"));
    assert_eq!(pack(&["--include", "*.txt", "--exclude", "/text/1"]).len(), both);
}

#[test]
fn existing_files_are_replaced_only_when_asked() {
    let folder = Folder::new();
    folder.write("in/a", b"a");
    folder.write("a.nx", b"mine");
    let run = folder.nx(&["pack", "in", "-o", "a.nx"]);
    run.fails(FAILED, "linerate: in: a.nx exists already; -f overwrites it");
    assert_eq!(folder.read("a.nx"), b"mine");
    folder.nx(&["pack", "-f", "in", "-o", "a.nx"]).ok();
    folder.nx(&["verify", "a.nx"]).ok();
    let run = folder.nx(&["pack", "-f", "in", "-o", "in"]);
    run.fails(FAILED, "linerate: in: the output in is not a regular file");
    #[cfg(unix)]
    for target in ["/dev/null", "fifo"] {
        let fifo = folder.path("fifo");
        assert!(fifo.exists() || std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let run = folder.nx(&["pack", "-f", "in", "-o", target]);
        run.fails(FAILED, &format!("linerate: in: the output {target} is not a regular file"));
        let _ = fs::remove_file(&fifo);
    }
    let run = folder.nx(&["pack", "in", "-o", "absent/a.nx"]);
    run.fails(FAILED, "linerate: in: cannot write absent/a.nx: No such file or directory");
    assert_eq!(folder.names(), ["a.nx", "in"], "no temporary file stays");
}

#[test]
fn archive_in_its_folder_is_not_packed_into_its_replacement() {
    let folder = Folder::new();
    folder.write("in/a", b"a");
    for _ in 0..2 {
        folder.nx(&["pack", "-f", "in", "-o", "in/all.nx"]).ok();
        assert_eq!(folder.nx(&["list", "in/all.nx"]).ok().lines(), ["a"]);
    }
}

#[test]
fn several_folders_and_files_are_packed_into_one_archive() {
    let folder = Folder::new();
    folder.write("one/a", b"1");
    folder.write("two/b/c", b"2");
    folder.write("loose.txt", b"3");
    folder.nx(&["pack", "--source", "one", "two", "loose.txt", "--target", "a.nx"]).ok();
    assert_eq!(folder.nx(&["list", "a.nx"]).ok().lines(), ["a", "b/c", "loose.txt"]);
    folder.write("two/a", b"other");
    let run = folder.nx(&["pack", "one", "two", "-o", "b.nx"]);
    run.fails(FAILED, "linerate: one: two/a: the path is there already: one/a");
    assert!(!folder.has("b.nx"));
}

#[test]
fn target_that_ends_with_a_slash_is_refused_and_makes_no_file() {
    let folder = Folder::new();
    folder.write("in/a", b"a");
    for target in ["o/", "o/."] {
        let run = folder.nx(&["pack", "-f", "in", "-o", target]);
        run.fails(FAILED, &format!("linerate: in: cannot write {target}: is a directory"));
    }
    assert!(!folder.has("o"));
}

#[test]
fn missing_sources_empty_folders_and_invalid_options_of_pack_are_reported() {
    let folder = Folder::new();
    let line = "linerate: absent: cannot open: No such file or directory";
    folder.nx(&["pack", "absent", "-o", "a.nx"]).fails(FAILED, line);
    fs::create_dir(folder.path("empty")).unwrap();
    let run = folder.nx(&["pack", "empty", "-o", "a.nx"]);
    run.fails(WARNED, "linerate: empty: there is no file to pack");
    assert_eq!(folder.nx(&["list", "a.nx"]).ok().lines(), Vec::<String>::new());
    for (args, part) in [
        (&["--chunksize", "1G"][..], "256 MiB"),
        (&["--solidlevel", "23"], "22"),
        (&["--preset", "none"], "none"),
        (&["--blocksize", "x"], "not a size"),
        (&["--blocksize", "4M"], "below the chunk"),
        (&["-x", "a["], "not a glob"),
    ] {
        let mut all = vec!["pack", "empty", "-fo", "a.nx"];
        all.extend(args);
        let run = folder.nx(&all);
        assert_eq!(run.status, Some(USAGE), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(part), "{args:?}: {}", run.stderr);
    }
    assert_eq!(folder.nx(&["pack", "empty"]).status, Some(USAGE), "there is no target");
}

#[cfg(unix)]
#[test]
fn links_are_skipped_with_a_warning() {
    let folder = Folder::new();
    folder.write("in/a", b"a");
    std::os::unix::fs::symlink("a", folder.path("in/link")).unwrap();
    std::os::unix::fs::symlink("..", folder.path("in/up")).unwrap();
    let run = folder.nx(&["pack", "in", "-o", "a.nx"]);
    assert_eq!((run.status, run.stderr.lines().count()), (Some(WARNED), 2), "{}", run.stderr);
    let line = "linerate: in: link: not packed: neither a file nor a folder";
    assert_eq!(run.stderr.lines().next(), Some(line));
    assert_eq!(folder.nx(&["list", "a.nx"]).ok().lines(), ["a"]);
}

/// Writes the folder `in` with two good files, and others whose names no archive can hold.
#[cfg(unix)]
fn plant_bad_names(folder: &Folder) {
    use std::os::unix::ffi::OsStrExt;
    for path in ["in/good", "in/sub/good", "in/CON", "in/x:y", "in/sub/dot.", "in/aux/1", "in/aux/2"] {
        folder.write(path, b"x");
    }
    fs::write(folder.path("in/sub").join(std::ffi::OsStr::from_bytes(b"not \xff UTF-8")), b"x").unwrap();
}

#[cfg(unix)]
#[test]
fn pack_with_bad_names_lists_and_skips_them_when_asked() {
    let folder = Folder::new();
    plant_bad_names(&folder);
    let run = folder.nx(&["pack", "in", "-o", "a.nx"]);
    assert_eq!((run.status, run.stderr.lines().count()), (Some(FAILED), 1), "{}", run.stderr);
    assert!(!folder.has("a.nx"));
    for metadata in [None, Some("--metadata")] {
        let mut args = vec!["pack", "--skip-bad-names", "-f", "in", "-o", "a.nx"];
        args.extend(metadata);
        let run = folder.nx(&args);
        let told: Vec<String> = run.stderr.lines().map(str::to_owned).collect();
        assert_eq!(run.status, Some(WARNED), "{told:?}");
        assert_eq!(
            told,
            [
                "linerate: in: CON: not packed: a name that Windows reserves for a device",
                "linerate: in: aux: not packed: a name that Windows reserves for a device",
                "linerate: in: sub/dot.: not packed: a name that ends in a dot or a space, which Windows drops",
                "linerate: in: sub/not \u{fffd} UTF-8: not packed: the name is not UTF-8",
                "linerate: in: x:y: not packed: a path with a colon, which is a drive or a stream on Windows",
            ]
        );
        assert_eq!(folder.nx(&["list", "a.nx"]).ok().lines(), ["good", "sub/good"]);
    }
    let run = folder.nx(&["pack", "--skip-bad-names", "in/CON", "in/good", "-o", "b.nx"]);
    run.fails(WARNED, "linerate: in/CON: not packed: a name that Windows reserves for a device");
    assert_eq!(folder.nx(&["list", "b.nx"]).ok().lines(), ["good"]);
}

#[cfg(unix)]
#[test]
fn update_with_bad_names_lists_and_skips_them_when_asked() {
    let folder = Folder::new();
    folder.write("before/old", b"x");
    folder.nx(&["pack", "before", "-o", "a.nx"]).ok();
    plant_bad_names(&folder);
    let before = folder.read("a.nx");
    assert_eq!(folder.nx(&["update", "a.nx", "in"]).status, Some(FAILED));
    assert!(folder.read("a.nx") == before);
    let run = folder.nx(&["update", "--skip-bad-names", "a.nx", "in"]);
    assert_eq!((run.status, run.stderr.lines().count()), (Some(WARNED), 5), "{}", run.stderr);
    assert_eq!(folder.nx(&["list", "a.nx"]).ok().lines(), ["good", "old", "sub/good"]);
}

#[cfg(unix)]
#[test]
fn pack_does_not_enter_excluded_folders() {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    folder.write("in/good", b"x");
    folder.write("in/locked/secret", b"x");
    fs::create_dir_all(folder.path("in/odd/deeper")).unwrap();
    fs::write(folder.path("in/odd/deeper").join(std::ffi::OsStr::from_bytes(b"\xff")), b"x").unwrap();
    std::os::unix::fs::symlink("good", folder.path("in/link")).unwrap();
    // Root can read this folder nevertheless; then the other folder shows the error.
    fs::set_permissions(folder.path("in/locked"), fs::Permissions::from_mode(0o000)).unwrap();
    for metadata in [None, Some("--metadata")] {
        let mut args = vec!["pack", "-f", "-x", "locked", "-x", "odd", "-x", "link", "in", "-o", "a.nx"];
        args.extend(metadata);
        folder.nx(&args).ok();
        assert_eq!(folder.nx(&["list", "a.nx"]).ok().lines(), ["good"]);
        folder.nx(&["update", "-x", "locked", "-x", "odd", "-x", "link", "a.nx", "in"]).ok();
    }
    fs::set_permissions(folder.path("in/locked"), fs::Permissions::from_mode(0o700)).unwrap();
}

#[cfg(unix)]
#[test]
fn names_with_characters_windows_refuses_are_packed_and_named_as_not_portable() {
    let folder = Folder::new();
    for name in ["in/what?/a", "in/what?/b", "in/a<b>", "in/star*", "in/pipe|", "in/\"quoted\"", "in/good"] {
        folder.write(name, b"x");
    }
    let run = folder.nx(&["pack", "in", "-o", "a.nx"]);
    assert_eq!(run.status, Some(0));
    assert_eq!(
        run.stderr.lines().collect::<Vec<_>>(),
        [
            "linerate: in: \"quoted\": packed, but not portable: Windows refuses names with \"",
            "linerate: in: a<b>: packed, but not portable: Windows refuses names with <",
            "linerate: in: pipe|: packed, but not portable: Windows refuses names with |",
            "linerate: in: star*: packed, but not portable: Windows refuses names with *",
            "linerate: in: what?: packed, but not portable: Windows refuses names with ?",
        ]
    );
    folder.nx(&["extract", "a.nx", "-o", "out"]).ok();
    assert!(files_below(&folder.path("out")) == files_below(&folder.path("in")), "they come out again");
    folder.write("in/new?", b"x");
    let run = folder.nx(&["update", "--json", "-q", "a.nx", "in"]).ok();
    assert_eq!(run.objects()[0]["not_portable"], serde_json::json!(["new?"]));
}

#[test]
fn json_has_the_totals_of_pack() {
    let folder = Folder::new();
    let files = plant(&folder, "in");
    let run = folder.nx(&["pack", "--json", "--solidlevel=1", "--chunkedlevel=1", "in", "-o", "a.nx"]).ok();
    let object = run.objects().remove(0);
    assert_eq!((object["status"].as_str(), object["output"].as_str()), (Some("ok"), Some("a.nx")));
    assert_eq!(object["files"].as_u64(), Some(files.len() as u64));
    let bytes: usize = files.values().map(Vec::len).sum();
    assert_eq!(object["bytes"].as_u64(), Some(bytes as u64));
    assert_eq!(object["archive_bytes"].as_u64(), Some(folder.read("a.nx").len() as u64));
    let run = folder.nx(&["pack", "-vf", "--solidlevel=1", "--chunkedlevel=1", "in", "-o", "a.nx"]);
    assert!(run.stderr.starts_with(&format!("in: {} files, {bytes} -> ", files.len())), "{}", run.stderr);
}

/// Options for a short measurement, and a drive that any decoder saturates.
const PIPE: [&str; 7] = ["pack", "--pipe", "1MB/s", "--cores", "2", "--seconds", "0.05"];

#[test]
fn pipe_packs_as_the_plan_says_and_tells_why() {
    let folder = Folder::new();
    let files = plant(&folder, "in");
    let run = folder.nx(&[&PIPE[..], &["in", "-o", "a.nx"]].concat()).ok();
    let said = run.lines();
    assert!(said[0].contains("on 1 of your 2 cores") && said[0].contains("1 MB/s is saturated"), "{said:?}");
    folder.nx(&["extract", "a.nx", "-o", "out"]).ok();
    assert!(files_below(&folder.path("out")) == files);
    let run = folder.nx(&[&PIPE[..], &["--json", "--filters", "none", "in", "-o", "b.nx"]].concat()).ok();
    let found: serde_json::Value = serde_json::from_str(&run.lines()[0]).expect("JSON");
    let candidates = found["plan"]["candidates"].as_array().expect("candidates");
    assert!(candidates.len() > 10 && found["filtered_blocks"] == 0, "{found}");
    assert!(!candidates.iter().any(|row| row.to_string().contains("--filters")), "{found}");
}

#[test]
fn pipe_that_nothing_saturates_tells_what_is_lacking() {
    let folder = Folder::new();
    // The command of a plan is parsed again, so that the name must not count as an option.
    plant(&folder, "-in");
    let fast =
        ["pack", "--pipe", "90000GB/s", "--cores", "1", "--seconds", "0.05", "-o", "a.nx", "--", "-in"];
    let said = folder.nx(&fast).ok().lines();
    assert!(said[0].contains(" % short of the ") && said[0].ends_with(" that it needs."), "{said:?}");
}

#[test]
fn pipe_goes_with_no_other_choice_of_coding() {
    let folder = Folder::new();
    plant(&folder, "in");
    for more in
        [&["--preset", "vfs"][..], &["--filters", "auto"], &["--chunkedlevel=3"], &["--format", "r3a"]]
    {
        let run = folder.nx(&[&PIPE[..], more, &["in", "-o", "a.nx"]].concat());
        assert_eq!(run.status, Some(USAGE), "{more:?}: {}", run.stderr);
    }
    let run = folder.nx(&["pack", "--cores", "2", "in", "-o", "a.nx"]);
    assert_eq!(run.status, Some(USAGE), "cores without a pipe: {}", run.stderr);
    assert!(!folder.path("a.nx").exists());
}

#[cfg(target_os = "linux")] // whose file systems keep the names apart
#[test]
fn names_that_clash_elsewhere_are_shown_as_they_are() {
    let folder = Folder::new();
    for name in ["in/Äpfel", "in/äpfel", "in/caf\u{e9}", "in/cafe\u{301}"] {
        folder.write(name, b"content");
    }
    let run = folder.nx(&["pack", "in", "-o", "a.nx"]);
    let what = "packed, but not portable: some file systems treat these names as the same";
    for line in [
        format!("Äpfel, äpfel: {what}\n"),
        format!("cafe\u{301}, caf\u{e9}: {what}, which differ in Unicode normalization\n"),
    ] {
        assert!(run.stderr.contains(&line), "{}", run.stderr);
    }
}
