//! The order of system calls of commands that replace files: content is synced, then files get
//! their names, then folders are synced, and sources are deleted last. Also the number of system
//! calls that decompressing a small file takes.

use std::process::{Command, Stdio};

use linerate_testkit::data::mixed as sample;
use linerate_testkit::program::{Folder, Run, program};
use linerate_testkit::tools::require;

use crate::rice::data::{npy, wave};

/// The effect of a system call.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Call {
    /// `fsync` of a file, or `syncfs`.
    SyncContent,
    SyncFolder,
    /// A file gets its name.
    Name,
    /// A file with this name is deleted.
    Delete(String),
}

fn can_trace() -> bool {
    let mut strace = Command::new("strace");
    let strace = strace.args(["-f", "-o", "/dev/null", "true"]).stdout(Stdio::null()).stderr(Stdio::null());
    require(strace.status().is_ok_and(|status| status.success()), "strace cannot trace here")
}

/// The lines of a command's successful traced calls, in order.
fn trace(folder: &Folder, traced: &str, args: &[&str]) -> Vec<String> {
    let mut strace = Command::new("strace");
    strace.current_dir(folder.path("")).args(["-f", "-y", "-o", "trace", "-e", traced]);
    let output = strace.arg(program()).args(args).output().expect("strace starts");
    assert!(output.status.success(), "{args:?}: {output:?}");
    let trace = String::from_utf8(folder.read("trace")).expect("UTF-8");
    std::fs::remove_file(folder.path("trace")).expect("it is there");
    trace.lines().filter(|line| !line.contains(" = -1 ")).map(str::to_owned).collect()
}

fn calls(folder: &Folder, args: &[&str]) -> Vec<Call> {
    let traced = "trace=fsync,fdatasync,syncfs,link,linkat,rename,renameat,renameat2,unlink,unlinkat";
    let root = std::fs::canonicalize(folder.path("")).expect("a folder");
    trace(folder, traced, args).iter().filter_map(|line| call(line, &root)).collect()
}

/// The effect of a call in a line of strace such as `17 fsync(4</folder>) = 0`. The path of an
/// unnamed file ends with ` (deleted)` there.
fn call(line: &str, root: &std::path::Path) -> Option<Call> {
    let (name, arguments) = line.split_once(' ')?.1.trim_start().split_once('(')?;
    Some(match name {
        "fsync" | "fdatasync" => {
            let path = arguments.split_once('<')?.1.split_once('>')?.0;
            if std::path::Path::new(path).starts_with(root)
                && !path.ends_with(" (deleted)")
                && root.join(path).is_dir()
            {
                Call::SyncFolder
            } else {
                Call::SyncContent
            }
        }
        "syncfs" => Call::SyncContent,
        "unlink" | "unlinkat" => {
            Call::Delete(arguments.split('"').nth(1)?.rsplit('/').next().unwrap_or_default().to_owned())
        }
        _ => Call::Name,
    })
}

/// Asserts that all content is synced before the first file gets its name, and the folder after the
/// last. Returns the calls after that.
#[track_caller]
fn after_names(calls: &[Call], files: usize) -> Vec<Call> {
    let content = calls.iter().rposition(|call| *call == Call::SyncContent).expect("content is synced");
    let first = calls.iter().position(|call| *call == Call::Name).expect("a file gets its name");
    let last = calls.iter().rposition(|call| *call == Call::Name).expect("a file gets its name");
    assert!(content < first, "{calls:?}");
    assert_eq!(calls[first..=last].iter().filter(|call| **call == Call::Name).count(), files, "{calls:?}");
    assert_eq!(calls.get(last + 1), Some(&Call::SyncFolder), "{calls:?}");
    calls[last + 2..].to_vec()
}

#[test]
fn sources_are_deleted_last_once_content_and_names_are_on_the_disk() {
    if !can_trace() {
        return;
    }
    // Fewer than eight files are synced one by one. From eight on, `syncfs` syncs them together.
    for count in [1, 3, 12] {
        let folder = Folder::new();
        let names: Vec<String> = (0..count).map(|i| format!("f{i:02}")).collect();
        names.iter().for_each(|name| drop(folder.write(name, name.as_bytes())));
        let mut args = vec!["gzip", "-p1"];
        args.extend(names.iter().map(String::as_str));
        let calls = calls(&folder, &args);
        let deleted: Vec<Call> = names.iter().cloned().map(Call::Delete).collect();
        assert_eq!(after_names(&calls, count), deleted, "{calls:?}");
        let synced = calls.iter().filter(|call| **call == Call::SyncContent).count();
        assert!(synced == count || count > 8, "{calls:?}");
    }
}

/// `syncfs` reports only write errors that occurred after its descriptor was opened.
#[test]
fn many_files_are_synced_through_a_descriptor_that_is_older_than_their_content() {
    if !can_trace() {
        return;
    }
    let folder = Folder::new();
    let names: Vec<String> = (0..12).map(|i| format!("f{i:02}")).collect();
    names.iter().for_each(|name| drop(folder.write(name, name.as_bytes())));
    let mut args = vec!["gzip", "-p1"];
    args.extend(names.iter().map(String::as_str));
    let lines = trace(&folder, "trace=open,openat,openat2,write,fsync,syncfs", &args);
    let position = |call: &str| lines.iter().position(|line| line.contains(call));
    let Some(synced) = position(" syncfs(") else {
        // Some file systems do not support `syncfs`. Then each file and the folder are synced.
        assert!(lines.iter().filter(|line| line.contains(" fsync(")).count() > 12, "{lines:#?}");
        return;
    };
    let descriptor = lines[synced].split(['(', '<']).nth(1).expect("an argument");
    let returned = format!(" = {descriptor}<");
    let opened = lines[..synced].iter().rposition(|line| line.contains(&returned)).expect("it was opened");
    assert!(opened < position(" write(").expect("content"), "{lines:#?}");
}

#[test]
fn an_output_is_synced_before_it_replaces_a_file_and_not_if_it_is_new() {
    if !can_trace() {
        return;
    }
    let folder = Folder::new();
    folder.write("text", "some text of a file\n".repeat(100).as_bytes());
    let row = |i: usize| format!("{{\"id\":{i},\"name\":\"user-{}\"}}\n", i * 7919);
    folder.write("rows", (0..5000).map(row).collect::<String>().as_bytes());
    folder.dict(&["train", "--lines", "-b1K", "--expect=1G", "rows", "-o", "rows.dict"]).ok();
    for (args, names) in [
        (&["gzip", "-k", "text"][..], None),
        (&["gzip", "-kf", "text"], Some(2)),
        (&["gzip", "-d", "text.gz", "-o", "same"], None),
        (&["gzip", "-d", "-f", "text.gz", "-o", "same"], Some(2)),
        (&["nx", "pack", "text", "-o", "a.nx"], None),
        // A link cannot replace a file, so the new file gets a temporary name first.
        (&["nx", "pack", "-f", "text", "rows", "-o", "a.nx"], Some(2)),
        (&["nx", "delete", "a.nx", "rows"], Some(2)),
        (&["dict", "build", "--key=id", "rows", "-o", "rows.blocks"], None),
        (&["dict", "build", "-f", "--key=id", "rows", "-o", "rows.blocks"], Some(2)),
        (&["dict", "pack", "make", "rows.dict", "-o", "all.pack"], None),
        (&["dict", "pack", "compact", "all.pack"], Some(2)),
    ] {
        let calls = calls(&folder, args);
        let Some(names) = names else {
            let synced = calls.iter().any(|call| matches!(call, Call::SyncContent | Call::SyncFolder));
            assert!(!synced && calls.contains(&Call::Name), "{args:?}: {calls:?}");
            continue;
        };
        let rest = after_names(&calls, names);
        assert!(rest.iter().all(|call| matches!(call, Call::Delete(_))), "{args:?}: {calls:?}");
    }
}

#[test]
fn a_small_file_starts_no_thread_and_asks_for_no_number_of_cores() {
    if !can_trace() {
        return;
    }
    let folder = Folder::new();
    let has = |lines: &[String], call: &str| lines.iter().any(|line| line.contains(call));
    for (subcommand, suffix) in [("gzip", "gz"), ("zstd", "zst")] {
        for (name, len, is_small) in [("small", 1000, true), ("large", 300_000, false)] {
            folder.write(name, &sample(len));
            Run::of(&mut folder.command(&[subcommand, "-qk", name]), b"").ok();
            let file = format!("{name}.{suffix}");
            let lines = trace(&folder, "trace=openat,clone,clone3", &[subcommand, "-dc", &file]);
            assert_eq!(has(&lines, "/proc/self/cgroup"), !is_small, "{file}: {lines:#?}");
            assert!(!is_small || !has(&lines, " clone"), "{file}: {lines:#?}");
            let lines = trace(&folder, "trace=openat,clone,clone3", &[subcommand, "-d", &file, "-o", "out"]);
            std::fs::remove_file(folder.path("out")).expect("it was written");
            // If an incomplete file has a name, a thread waits for signals, to remove the file.
            assert!(!is_small || !has(&lines, "O_TMPFILE") || !has(&lines, " clone"), "{file}: {lines:#?}");
        }
    }
}

#[test]
fn small_files_at_the_same_time_start_no_threads_of_their_own() {
    if !can_trace() {
        return;
    }
    let folder = Folder::new();
    // Enough for two blocks or two threads each.
    for i in 0..8 {
        folder.write(&format!("d/f{i}"), &sample(700_000));
        folder.write(&format!("d/f{i}.npy"), &npy("<i2", "(200000,)", &wave(200_000)));
    }
    for args in [
        &["gzip", "-kr", "-p2", "d"][..],
        &["gzip", "-tr", "-p2", "d"],
        &["rice", "encode", "-r", "-p2", "d"],
        &["rice", "verify", "-r", "-p2", "d"],
    ] {
        let lines = trace(&folder, "trace=clone,clone3", args);
        let threads = lines.iter().filter(|line| line.contains("clone") && line.contains(" = ")).count();
        // A third thread waits for signals if incomplete files have names.
        assert!((2..=3).contains(&threads), "{args:?}: {lines:#?}");
    }
}
