//! Tests the contract of docs/reference/cli.md on the program itself.

use std::process::{Command, Output};

use linerate_gateway::Transport;
use linerate_gateway::stats::{Clock, LogEntry, LogFiles, LogOptions, MessageRecord, Verdict};
use linerate_testkit::program::{Folder, Run, files_below};
use linerate_testkit::r3a::{Shape, example};
use serde_json::Value;

fn linerate(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.args(args);
    command
}

fn run(args: &[&str]) -> Output {
    linerate(args).output().expect("the program starts")
}

fn stdout(args: &[&str]) -> String {
    let output = run(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The subcommands, as `linerate man --list` prints them.
fn subcommands() -> Vec<Vec<String>> {
    stdout(&["man", "--list"]).lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

#[test]
fn no_line_of_help_is_wider_than_100_columns() {
    let found = subcommands();
    assert!(found.len() > 40, "{found:?}");
    for mut args in found {
        args.push("--help".to_owned());
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let help = stdout(&args);
        let wide = help.lines().find(|line| line.chars().count() > 100);
        assert_eq!(wide, None, "{args:?}");
    }
}

#[test]
fn no_color_removes_escapes_that_are_forced() {
    let help = |no_color: &str| {
        let mut command = linerate(&["--help"]);
        command.env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR");
        if !no_color.is_empty() {
            command.env_remove("CLICOLOR_FORCE").env("NO_COLOR", no_color);
        }
        command.output().expect("the program starts").stdout
    };
    assert!(help("").contains(&0x1b), "colors can be forced");
    assert!(!help("1").contains(&0x1b), "NO_COLOR");
}

#[test]
fn results_and_errors_have_the_shared_json_keys() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let text = path("text");
    std::fs::write(&text, "some text\n".repeat(100)).expect("a file");
    let object = |args: &[&str]| -> Value {
        let output = run(args);
        let line = output.stdout.split(|&byte| byte == b'\n').next().unwrap_or_default();
        serde_json::from_slice(line).unwrap_or_else(|e| panic!("{args:?}: {e}: {output:?}"))
    };
    let (gz, nx, raw) = (path("text.gz"), path("a.nx"), path("a.rice"));
    for args in [
        &["gzip", "-k", "--json", &text][..],
        &["gzip", "-l", "--json", &gz],
        &["zstd", "--json", &text],
        &["zstd", "-d", "-f", "--json", &path("text.zst")],
        &["rice", "encode", "--dtype", "i16", "--json", "-o", &raw, &text],
        &["rice", "info", "--json", &raw],
        &["nx", "pack", "--json", &text, "-o", &nx],
        &["nx", "info", "--json", &nx],
        &["nx", "verify", "--json", &nx],
        &["clean", "--json", &path("")],
    ] {
        let object = object(args);
        assert_eq!(object["status"], "ok", "{args:?}: {object}");
        assert!(object["file"].is_string() && object["mode"].is_string(), "{args:?}: {object}");
        assert!(object["seconds"].is_number(), "{args:?}: {object}");
    }
    for args in [
        &["gzip", "-t", "--json", &nx][..],
        &["zstd", "-t", "--json", &gz],
        &["rice", "info", "--json", &gz],
        &["nx", "info", "--json", &gz],
        &["dict", "info", "--json", &gz],
        &["gateway", "replay", "--json", &gz],
    ] {
        let object = object(args);
        assert!(
            ["failed", "skipped"].contains(&object["status"].as_str().unwrap_or("")),
            "{args:?}: {object}"
        );
        assert!(object["file"].is_string() && object["kind"].is_string(), "{args:?}: {object}");
        assert!(object["error"].is_string() && object.get("offset").is_some(), "{args:?}: {object}");
    }
}

#[test]
fn output_that_is_no_stream_is_refused_for_standard_output_in_one_sentence() {
    for args in [
        &["nx", "pack", "in", "-o", "-"][..],
        &["nx", "merge", "a.nx", "b.nx", "-o", "-"],
        &["dict", "cluster", "in", "-o", "-"],
        &["dict", "build", "--key", "id", "in", "-o", "-"],
        &["dict", "pack", "make", "-o", "-", "in"],
        &["dict", "pack", "extract", "a.pack", "-o", "-"],
    ] {
        let output = run(args);
        let error = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
        let refused = "this output cannot go to standard output";
        assert_eq!(error.matches(refused).count(), 1, "{args:?}: {error}");
    }
}

#[test]
fn a_dictionary_and_transcoded_messages_may_go_to_standard_output() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let rows: String =
        (0..5000).map(|i| format!("{{\"id\":{i},\"name\":\"user-{}\"}}\n", i * 7919)).collect();
    std::fs::write(path("rows"), rows).expect("a file");
    let train =
        |output: &str| run(&["dict", "train", "--lines", "-b1K", "--expect=1G", &path("rows"), "-o", output]);
    assert!(train(&path("rows.dict")).status.success());
    let piped = train("-");
    assert!(piped.status.success(), "{}", String::from_utf8_lossy(&piped.stderr));
    assert!(piped.stdout == std::fs::read(path("rows.dict")).expect("a dictionary"));

    let payload = br#"{"op":10,"d":{}}"#;
    let mut messages = (payload.len() as u32).to_le_bytes().to_vec();
    messages.extend_from_slice(payload);
    std::fs::write(path("a.msgs"), &messages).expect("a file");
    let transcode =
        |to: &str, from: &str, output: &str| run(&["gateway", "transcode", "--to", to, from, "-o", output]);
    assert!(transcode("zlib-stream", &path("a.msgs"), &path("a.zlib")).status.success());
    let piped = transcode("payloads", &path("a.zlib"), "-");
    assert!(piped.status.success(), "{}", String::from_utf8_lossy(&piped.stderr));
    assert_eq!(piped.stdout, messages);
}

/// A folder with files of all engines, among them the inputs of [`REPLACING`].
fn inputs() -> Folder {
    let folder = Folder::new();
    let text = "some text of a file\n".repeat(100);
    folder.write("text", text.as_bytes());
    folder.write("samples", &[1; 4096]);
    let row = |i: usize| format!("{{\"id\":{i},\"name\":\"user-{}\"}}\n", i * 7919);
    folder.write("rows", (0..5000).map(row).collect::<String>().as_bytes());
    folder.write("feed.dict", &[7; 4096]);
    let payload = br#"{"op":10,"d":{}}"#;
    folder.write("msgs", &[&(payload.len() as u32).to_le_bytes()[..], payload].concat());
    for args in [
        &["gzip", "-k", "text"][..],
        &["zstd", "-q", "text"],
        &["rice", "encode", "--dtype=i16", "samples", "-o", "samples.rice"],
        &["nx", "pack", "text", "-o", "a.nx"],
        &["nx", "pack", "samples", "-o", "b.nx"],
        &["dict", "train", "--lines", "-b1K", "--expect=1G", "rows", "-o", "rows.dict"],
        &["dict", "pack", "make", "rows.dict", "-o", "1.dict"],
        &["gateway", "transcode", "--to=zlib-stream", "msgs", "-o", "zlib"],
    ] {
        Run::of(&mut folder.command(args), b"").ok();
    }
    folder
}

/// Commands whose last argument names an output that is one of their inputs.
const REPLACING: [&[&str]; 23] = [
    &["gzip", "-f", "text", "-o", "text"],
    &["gzip", "-df", "text.gz", "-o", "text.gz"],
    &["zstd", "-f", "text", "-o", "text"],
    &["zstd", "-df", "text.zst", "-o", "text.zst"],
    &["zstd", "-f", "-D", "feed.dict", "text", "-o", "feed.dict"],
    &["rice", "encode", "--dtype=i16", "-f", "samples", "-o", "samples"],
    &["rice", "decode", "-f", "samples.rice", "-o", "samples.rice"],
    &["nx", "pack", "-f", "text", "samples", "-o", "samples"],
    &["nx", "merge", "-f", "a.nx", "b.nx", "-o", "a.nx"],
    &["nx", "merge", "-f", "a.nx", "b.nx", "-o", "b.nx"],
    &["dict", "train", "--lines", "-f", "rows", "-o", "rows"],
    &["dict", "build", "--key=id", "-f", "rows", "-o", "rows"],
    &["dict", "build", "--key=id", "-D", "rows.dict", "-f", "rows", "-o", "rows.dict"],
    &["dict", "build", "--key=id", "--pack=1.dict", "--number=1", "-f", "rows", "-o", "1.dict"],
    &["gateway", "transcode", "--to=zlib-stream", "-f", "msgs", "-o", "msgs"],
    &["gateway", "transcode", "--to=zstd-frame", "-D", "feed.dict", "-f", "msgs", "-o", "feed.dict"],
    &["gateway", "record", "-f", "zlib", "-o", "zlib"],
    &["gateway", "stats", "zlib", "--report", "zlib"],
    &["plan", "--pipe=nvme-4.0", "--seconds=1", "text", "--report", "text"],
    // These name the input by another path.
    &["gzip", "-f", "text", "-o", "hard"],
    &["zstd", "-f", "text", "-o", "./sub/../text"],
    &["gzip", "-d", "text.gz", "-f", "-o", "sub/../text.gz"],
    &["dict", "train", "--lines", "rows", "-f", "-o", "sub/../rows"],
];

/// An output that gets its name when it is complete would replace its own input, and no copy would
/// remain.
#[test]
fn an_output_that_is_an_input_is_refused_with_f_too() {
    let folder = inputs();
    std::fs::hard_link(folder.path("text"), folder.path("hard")).expect("a link");
    std::fs::create_dir(folder.path("sub")).expect("a folder");
    let before = files_below(&folder.path(""));
    for args in REPLACING {
        let run = Run::of(&mut folder.command(args), b"");
        assert_eq!(run.status, Some(1), "{args:?}: {}", run.stderr);
        assert!(run.stderr.ends_with("is an input, which it would overwrite\n"), "{args:?}: {}", run.stderr);
        assert!(files_below(&folder.path("")) == before, "{args:?}");
    }
}

#[cfg(unix)]
#[test]
fn an_input_is_recognised_through_links_and_as_standard_input_and_output() {
    let folder = inputs();
    let path = |name: &str| folder.path(name);
    std::os::unix::fs::symlink("text", path("link")).expect("a link");
    let before = files_below(&path(""));
    let open = |name: &str| std::fs::File::open(path(name)).expect("the file");
    let append = |name: &str| std::fs::File::options().append(true).open(path(name)).expect("the file");
    let mut stdin_is_output = folder.command(&["gzip", "-f", "-o", "text"]);
    stdin_is_output.stdin(open("text"));
    let mut stdout_is_input = folder.command(&["zstd", "-c", "text"]);
    stdout_is_input.stdout(append("text"));
    let mut file_to_its_archive = folder.command(&["nx", "extract", "-c", "a.nx"]);
    file_to_its_archive.stdout(append("a.nx"));
    let mut list_to_its_archive = folder.command(&["nx", "list", "a.nx"]);
    list_to_its_archive.stdout(append("a.nx"));
    let mut record = folder.command(&["gateway", "record", "-", "-f", "-o", "zlib"]);
    record.stdin(open("zlib"));
    let mut through_link = folder.command(&["gzip", "-f", "text", "-o", "link"]);
    let mut from_link = folder.command(&["zstd", "-f", "link", "-o", "text"]);
    for command in [
        &mut stdin_is_output,
        &mut stdout_is_input,
        &mut file_to_its_archive,
        &mut list_to_its_archive,
        &mut record,
        &mut through_link,
        &mut from_link,
    ] {
        let output = command.output().expect("the program starts");
        assert_eq!(output.status.code(), Some(1), "{command:?}: {output:?}");
        assert!(files_below(&path("")) == before, "{command:?}");
    }
    // A device that keeps nothing may be both input and output.
    let null = || std::fs::File::options().read(true).write(true).open("/dev/null").expect("it is there");
    let both = folder.command(&["gzip", "-cf"]).stdin(null()).stdout(null()).status();
    assert!(both.expect("the program starts").success());
}

/// A file that a run has finished reading may be replaced.
#[test]
fn an_input_of_an_earlier_operand_may_be_replaced() {
    let folder = inputs();
    folder.write("b.zst", &folder.read("text.zst"));
    folder.write("b", b"other text");
    Run::of(&mut folder.command(&["zstd", "-qf", "b.zst", "b"]), b"").ok();
    Run::of(&mut folder.command(&["zstd", "-qdf", "b.zst"]), b"").ok();
    assert_eq!(folder.read("b"), b"other text");
}

/// Rust's runtime opens `/dev/null` in the place of closed streams, so that writing would seem to
/// succeed and reading would find an empty input.
#[cfg(unix)]
#[test]
fn closed_standard_input_and_output_are_errors_and_not_dev_null() {
    let folder = inputs();
    for command in [
        "gzip -c text >&-",
        "gzip -dc text.gz >&-",
        "gzip -l text.gz >&-",
        "zstd -c text >&-",
        "zstd -dc text.zst >&-",
        "zstd -l text.zst >&-",
        "rice encode --dtype=i16 samples -o - >&-",
        "rice info samples.rice >&-",
        "nx list a.nx >&-",
        "nx info a.nx >&-",
        "nx verify --json a.nx >&-",
        "nx extract a.nx -o - >&-",
        "dict train --lines -b1K --expect=1G rows -o - >&-",
        "dict pack list 1.dict >&-",
        "dict info 1.dict >&-",
        "gateway transcode --to=payloads zlib -o - >&-",
        "gateway record zlib -o - >&-",
        "gateway stats zlib >&-",
        "gateway stats --csv zlib >&-",
        "completions bash >&-",
        "man gzip >&-",
        "--version >&-",
        "gzip --help >&-",
        "gzip -c <&-",
        "zstd -dc <&-",
        "rice info - <&-",
        "gateway replay - <&-",
        "dict train --lines - -o new <&-",
        // Writing fails, as on a full disk.
        "nx list a.nx >/dev/full",
        "gzip -c text >/dev/full",
    ] {
        let script = format!("exec \"$0\" {command}");
        let mut shell = Command::new("sh");
        shell.current_dir(folder.path("")).args(["-c", &script]).arg(env!("CARGO_BIN_EXE_linerate"));
        let run = Run::of(&mut shell, b"");
        assert_eq!(run.status, Some(1), "{command}: {}", run.stderr);
        assert!(
            run.stderr.starts_with("linerate: ") && run.stderr.lines().count() == 1,
            "{command}: {}",
            run.stderr
        );
    }
    // Unused streams may be closed, and /dev/null does not count as closed.
    for command in [
        "gzip -k text <&- >&- 2>&-",
        "nx verify -q a.nx >&-",
        "zstd -c text >/dev/null",
        "gzip -c <>/dev/null >&0",
    ] {
        let script = format!("exec \"$0\" {command}");
        let mut shell = Command::new("sh");
        shell.current_dir(folder.path("")).args(["-c", &script]).arg(env!("CARGO_BIN_EXE_linerate"));
        std::fs::remove_file(folder.path("text.gz")).ok();
        let run = Run::of(&mut shell, b"");
        assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""), "{command}");
    }
}

/// The exit status tells of an error that cannot be printed.
#[cfg(target_os = "linux")]
#[test]
fn full_standard_error_leaves_the_exit_status() {
    let folder = inputs();
    for (command, status) in [
        ("man nosuch 2>/dev/full", 2),
        ("man gzip >/dev/full 2>/dev/full", 1),
        ("completions bash >/dev/full 2>/dev/full", 1),
        ("--version >/dev/full 2>/dev/full", 1),
        ("gzip --nosuch 2>/dev/full", 2),
        ("zstd --adapt text 2>/dev/full", 2),
        ("nx list none 2>/dev/full", 1),
        ("nx list a.nx >/dev/full 2>/dev/full", 1),
    ] {
        let script = format!("exec \"$0\" {command}");
        let mut shell = Command::new("sh");
        shell.current_dir(folder.path("")).args(["-c", &script]).arg(env!("CARGO_BIN_EXE_linerate"));
        assert_eq!(Run::of(&mut shell, b"").status, Some(status), "{command}");
    }
}

#[test]
fn control_characters_of_an_unknown_subcommand_are_replaced() {
    let run = Run::of(&mut linerate(&["man", "a\x1b[2Jb\nc"]), b"");
    run.fails(2, "linerate: there is no subcommand `a?[2Jb?c`; `linerate man --list` lists all");
}

#[test]
fn help_of_man_says_what_it_prints_without_an_argument() {
    let help = Run::of(&mut linerate(&["man", "--help"]), b"").ok().text();
    assert!(help.contains("Without an argument, prints the page of `linerate` itself"), "{help}");
}

/// Another program can read the progress as JSON objects on standard error while the command works.
#[test]
fn long_work_prints_its_progress_as_json_objects() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;
    let mut command = linerate(&["gzip", "-c", "--json", "-b", "32K"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let (mut stdin, mut stdout) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
    let drain = std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
    let (said, heard) = std::sync::mpsc::channel();
    let lines = BufReader::new(child.stderr.take().expect("piped")).lines();
    let reader =
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| drop(said.send(line))));
    // Writes input until progress is printed, for at most a minute.
    let block = [7; 64 << 10];
    let first = (0..6000).find_map(|_| {
        stdin.write_all(&block).expect("the program reads");
        heard.recv_timeout(std::time::Duration::from_millis(10)).ok()
    });
    drop(stdin);
    let object: Value = serde_json::from_str(&first.expect("progress")).expect("JSON");
    assert_eq!((&object["status"], &object["file"]), (&"progress".into(), &"stdin".into()), "{object}");
    assert!(object["done"].as_u64() > Some(0) && object["rate"].is_u64(), "{object}");
    assert!(object["total"].is_null(), "{object}");
    assert!(child.wait().expect("the program ends").success());
    reader.join().expect("read");
    drain.join().expect("read").expect("read");
    let last: Value = serde_json::from_str(&heard.iter().last().expect("the result")).expect("JSON");
    assert_eq!(last["status"], "ok");
}

/// The progress objects of a run that prints one at every step.
fn progress(folder: &Folder, args: &[&str]) -> Vec<Value> {
    let mut command = folder.command(args);
    let output = command.env("LINERATE_PROGRESS_AT_EVERY_STEP", "1").output().expect("the program starts");
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(0), "{args:?}: {text}");
    let objects = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    objects.filter(|object| object["status"] == "progress").collect()
}

/// Writes a log of statistics, `logs/A-000001.stats`.
fn write_log(folder: &Folder) {
    let options = LogOptions::new(folder.path("logs")).name("A");
    let mut log = LogFiles::create(options, Clock::Monotonic, 0).expect("a log");
    for time in 0..1000 {
        let (transport, verdict) = (Transport::Zlib, Verdict::Decoded);
        let record = MessageRecord {
            time,
            connection: 1,
            transport,
            verdict,
            compressed: 100,
            payload: 500,
            decode_ns: Some(1000),
        };
        log.add(&LogEntry::Message(record), time).expect("room");
    }
    log.flush().expect("room");
}

#[test]
fn every_long_command_prints_its_progress() {
    let folder = inputs();
    folder.write("tree/file", b"another text of a file\n".repeat(100).as_slice());
    folder.write("unhashed.r3a", &example(Shape::Small(false)).bytes());
    for args in [
        &["nx", "pack", "tree", "-o", "tree.nx"][..],
        &["nx", "repack", "--format=nx", "unhashed.r3a", "-o", "hashed.nx"],
        &["dict", "build", "--key=id", "rows", "-o", "blocks"],
        &["gzip", "-k", "rows"],
        &["gzip", "--index", "rows.gz"],
    ] {
        Run::of(&mut folder.command(args), b"").ok();
    }
    write_log(&folder);
    let sst = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/sst/5-crc32c-zstd-trained.sst");
    for args in [
        &["dict", "verify", "--json", "blocks"][..],
        &["dict", "verify", "--json", "1.dict"],
        &["dict", "pack", "verify", "--json", "1.dict"],
        &["dict", "verify", "--json", sst],
        &["dict", "sst", "verify", "--json", sst],
        &["nx", "verify", "--json", "--against", "tree", "tree.nx"],
        &["nx", "diff", "--json", "unhashed.r3a", "hashed.nx"],
        &["nx", "pack", "--json", "tree", "-o", "packed.nx"],
        &["nx", "merge", "--json", "a.nx", "tree.nx", "-o", "merged.nx"],
        &["nx", "update", "--json", "merged.nx", "tree"],
        &["nx", "delete", "--json", "merged.nx", "text"],
        &["gateway", "record", "--json", "zlib", "-o", "recorded.lgwr"],
        &["gateway", "stats", "--json", "--set", "A=zlib"],
        &["gateway", "stats", "--json", "--set", "A=logs/A-*.stats"],
        &["gzip", "-t", "--json", "--index-file", "rows.gz.gzidx", "rows.gz"],
    ] {
        let objects = progress(&folder, args);
        let last = objects.last().unwrap_or_else(|| panic!("{args:?}: no progress"));
        let (done, total) = (last["done"].as_u64(), last["total"].as_u64());
        assert!(last["file"].is_string() && done > Some(0), "{args:?}: {last}");
        assert_eq!(done, total, "{args:?}: {last}");
    }
    // `nx bench` shows its progress in steps, not in bytes.
    let steps =
        progress(&folder, &["nx", "bench", "--json", "--attempts=2", "--seconds=3600", "-p1", "a.nx"]);
    let steps: Vec<&str> = steps.iter().map(|object| object["step"].as_str().expect("text")).collect();
    assert_eq!(steps, ["reading", "threads: 1", "threads: 1, attempt 1 of 2", "threads: 1, attempt 2 of 2"]);
    let mut pipe = folder.command(&["gateway", "record", "--json", "-", "-o", "piped.lgwr"]);
    pipe.env("LINERATE_PROGRESS_AT_EVERY_STEP", "1")
        .stdin(std::fs::File::open(folder.path("zlib")).expect("it"));
    let text = String::from_utf8(pipe.output().expect("the program starts").stderr).expect("UTF-8");
    assert!(text.contains("\"status\":\"progress\""), "{text}");
}

#[test]
fn progress_moves_within_a_long_block() {
    let folder = Folder::new();
    let rows: String =
        (0..600_000u64).map(|i| format!("{{\"id\":{i},\"name\":\"{}\"}}\n", i * 7919)).collect();
    let total = rows.len() as u64;
    folder.write("in/rows", rows.as_bytes());
    let args =
        ["nx", "pack", "--json", "--blocksize=64M", "--chunksize=64M", "--solidlevel=6", "in", "-o", "a.nx"];
    let objects = progress(&folder, &args);
    assert!(objects.iter().all(|object| object["total"] == total), "{objects:?}");
    let done: Vec<u64> = objects.iter().map(|object| object["done"].as_u64().expect("a number")).collect();
    assert!(done.starts_with(&[1 << 20, 2 << 20, 3 << 20, 4 << 20]), "{done:?}");
    assert_eq!(done.last(), Some(&total));
    Run::of(&mut folder.command(&["nx", "verify", "--against", "in", "a.nx"]), b"").ok();
}
