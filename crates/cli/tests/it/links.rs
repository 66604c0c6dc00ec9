//! Links with the names of other programs. containerd unpacks images through `unpigz -d -c` with a
//! pipe on standard input, so these tests do the same.

use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::thread;
#[cfg(target_os = "linux")]
use std::{io, time::Duration};

use linerate_testkit::data::mixed as sample;
use linerate_testkit::program::{DAMAGED, Folder, Run, program};

/// A folder with a link to the program, and the command that calls it.
fn linked(name: &str) -> (Folder, Command) {
    let folder = Folder::new();
    symlink(program(), folder.path(name)).expect("a link");
    let mut command = Command::new(folder.path(name));
    command.current_dir(folder.path(""));
    (folder, command)
}

/// Runs `unpigz -d -c` with `input` on a pipe.
fn unpigz(input: &[u8]) -> Run {
    let (_folder, mut command) = linked("unpigz");
    Run::of(command.args(["-d", "-c"]), input)
}

/// Starts `unpigz` with three pipes, which the test reads and writes itself.
fn running(folder: &Folder, args: &[&str]) -> Child {
    let mut command = Command::new(folder.path("unpigz"));
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program starts")
}

#[test]
fn links_behave_as_the_programs_whose_names_they_have() {
    let content = b"content".as_slice();
    let compressed = |name: &str, args: &[&str]| {
        let (_folder, mut command) = linked(name);
        Run::of(command.args(args), content).ok().stdout
    };
    let (gz, zst) = (compressed("gzip", &["-c"]), compressed("zstd", &["-q"]));
    assert!(gz.starts_with(b"\x1f\x8b") && zst.starts_with(b"\x28\xb5\x2f\xfd"));
    for (name, args, input) in [
        ("gzip", &["-dc"][..], &gz),
        ("gunzip", &[], &gz),
        ("unpigz", &["-p", "2"], &gz),
        ("zcat", &[], &gz),
        ("zstd", &["-dc"], &zst),
        ("unzstd", &["-c"], &zst),
        ("zstdcat", &[], &zst),
    ] {
        let (folder, mut command) = linked(name);
        assert_eq!(Run::of(command.args(args), input).ok().stdout, content, "{name} {args:?}");
        let suffix = if input == &gz { "gz" } else { "zst" };
        let file = folder.write(&format!("file.{suffix}"), input);
        let mut command = Command::new(folder.path(name));
        let run = Run::of(command.args(["-d", "-q", "-f"]).arg(file), b"").ok();
        let is_cat = name.ends_with("cat");
        assert_eq!((run.stdout == content, folder.has("file")), (is_cat, !is_cat), "{name}");
    }
}

#[test]
fn help_of_a_link_is_that_of_its_subcommand() {
    let (folder, mut command) = linked("gunzip");
    let help = Run::of(command.arg("--help"), b"").ok().text();
    assert_eq!(help, folder.gzip(&["--help"]).ok().text());
}

#[test]
fn layers_of_one_and_of_many_members_are_unpacked() {
    let folder = Folder::new();
    let layer = sample(3_000_000);
    let pack = |args: &[&str], content: &[u8]| folder.gzip_with(args, content).ok().stdout;
    // A layer that can be fetched in parts has a member for each file, and an empty one as its
    // footer.
    let members =
        [pack(&[], &layer[..1_000_000]), pack(&["-9"], &layer[1_000_000..]), pack(&[], b"")].concat();
    for packed in [pack(&[], &layer), pack(&["--format", "bgzf"], &layer), members] {
        assert!(unpigz(&packed).ok().stdout == layer);
    }
}

#[test]
fn damage_is_an_error_status_and_one_line_of_text() {
    let layer = sample(300_000);
    let packed = Folder::new().gzip_with(&[], &layer).ok().stdout;
    let len = packed.len();
    let mut changed = packed.clone();
    changed[len - 8] ^= 1;
    let check = format!("the data does not match its CRC-32 checksum (at byte {})", len - 8);
    unpigz(&changed).fails(DAMAGED, &format!("linerate: stdin: {check}"));
    let cut = format!("the input ends inside the compressed data (at byte {})", len / 2);
    unpigz(&packed[..len / 2]).fails(DAMAGED, &format!("linerate: stdin: {cut}"));
    unpigz(b"").fails(DAMAGED, "linerate: stdin: the input is empty");
}

/// With `-p3`, three threads decode what the first thread reads from the pipe, in large pieces.
#[cfg(target_os = "linux")]
#[test]
fn a_layer_on_a_pipe_is_unpacked_on_several_threads_if_they_are_asked_for() {
    let (folder, _) = linked("unpigz");
    let packed = folder.gzip_with(&["-0"], &sample(3_000_000)).ok().stdout;
    for (args, wanted) in [(&["-d", "-c", "-p1"][..], 1), (&["-d", "-c", "-p3"], 4)] {
        let mut child = running(&folder, args);
        let mut stdout = child.stdout.take().expect("a pipe");
        let drain = thread::spawn(move || io::copy(&mut stdout, &mut io::sink()));
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(&packed).expect("it reads");
        let threads = || {
            let tasks = std::fs::read_dir(format!("/proc/{}/task", child.id())).expect("it runs");
            tasks.count()
        };
        // The pipe is still open, so the threads wait for more of it and can be counted.
        let has_them = (0..1000).any(|_| {
            thread::sleep(Duration::from_millis(10));
            threads() >= wanted
        });
        assert!(has_them && threads() == wanted, "{args:?}: {} threads", threads());
        drop(stdin);
        assert!(child.wait().expect("it ends").success());
        assert_eq!(drain.join().expect("no panic").expect("its output"), 3_000_000);
    }
}

#[test]
fn several_threads_say_of_a_pipe_what_one_says() {
    let (folder, _) = linked("unpigz");
    let content = sample(2_500_000);
    let layer = folder.gzip_with(&[], &content).ok().stdout;
    let len = layer.len();
    assert!(len > 800_000, "several pieces");
    let damaged = |at: usize| {
        let mut bytes = layer.clone();
        bytes[at] ^= 0x44;
        bytes
    };
    let mut inputs = vec![
        layer.clone(),
        [&layer[..], &layer, b"\0\0"].concat(),
        [&layer[..], b"garbage"].concat(),
        [&layer[..], b"\x1f\x8b\x08garbage"].concat(),
        b"no gzip".repeat(100_000),
    ];
    inputs.extend([3, 12, 300_000, len - 300_000, len - 9, len - 4, len - 1].map(|at| layer[..at].to_vec()));
    inputs.extend([20, 300_000, len - 300_000, len - 8, len - 1].map(damaged));
    for (i, input) in inputs.iter().enumerate() {
        let run = |args: &[&str]| {
            let mut command = Command::new(folder.path("unpigz"));
            let run = Run::of(command.args(["-d", "-c"]).args(args), input);
            (run.status, run.stderr, run.stdout)
        };
        for limit in [&[][..], &["--max-output=2000000"]] {
            let [one, four] = ["-p1", "-p4"].map(|threads| run(&[&[threads], limit].concat()));
            assert!(one == four, "input {i} {limit:?}: {:?} {:?}", (one.0, one.1), (four.0, four.1));
        }
    }
}

/// Each write to the pipe is a small part of a piece that a thread decodes.
#[test]
fn a_layer_that_trickles_in_is_unpacked() {
    let (folder, _) = linked("unpigz");
    let content = sample(600_000);
    let packed = folder.gzip_with(&["-0"], &content).ok().stdout;
    let mut child = running(&folder, &["-d", "-c", "-p4"]);
    let mut stdout = child.stdout.take().expect("a pipe");
    let read = thread::spawn(move || {
        let mut bytes = Vec::new();
        stdout.read_to_end(&mut bytes).map(|_| bytes)
    });
    let mut stdin = child.stdin.take().expect("a pipe");
    for part in packed.chunks(997) {
        stdin.write_all(part).expect("it reads");
    }
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
    assert!(read.join().expect("no panic").expect("its output") == content);
}

/// The caller kills the program while the layer is still being fetched.
#[test]
fn a_killed_program_leaves_no_process_that_holds_its_pipes_and_no_file() {
    let (folder, _) = linked("unpigz");
    let packed = folder.gzip_with(&["-0"], &sample(3_000_000)).ok().stdout;
    let mut child = running(&folder, &["-d", "-c"]);
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = thread::spawn(move || {
        let written = stdin.write_all(&packed);
        (stdin, written)
    });
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_exact(&mut [0; 1000]).expect("it has begun");
    child.kill().expect("it runs");
    assert_eq!(child.wait().expect("it ends").signal(), Some(9));
    let (_open, written) = writer.join().expect("no panic");
    assert!(written.is_err(), "nobody reads the pipe");
    stdout.read_to_end(&mut Vec::new()).expect("what the pipe had, then its end");
    assert_eq!(folder.names(), ["unpigz"]);
}

/// The caller has closed the pipe of the output, but continues to write to the pipe of the input.
#[test]
fn a_closed_pipe_ends_the_program_without_a_message() {
    let (folder, _) = linked("unpigz");
    let packed = folder.gzip_with(&["-0"], &sample(9_000_000)).ok().stdout;
    for args in [&["-d", "-c"][..], &["-d", "-c", "-p1"], &["-d", "-c", "-p4"]] {
        let mut child = running(&folder, args);
        drop(child.stdout.take());
        let sent = child.stdin.take().expect("a pipe").write_all(&packed);
        let output = child.wait_with_output().expect("it ends");
        let ended = (output.status.signal(), output.stderr, sent.is_err());
        assert_eq!(ended, (Some(13), vec![], true), "{args:?}");
    }
}
