//! Standard input and output: pipes, readers that exit, and errors in the command line.

use std::io::{Read, Write};
use std::process::Stdio;
use std::time::Duration;

use linerate_testkit::data::mixed as sample;
use linerate_testkit::program::{Folder, Run};

#[test]
fn dash_is_standard_input() {
    let folder = Folder::new();
    folder.write("a", b"first ");
    let both = folder.gzip_with(&["-c", "a", "-"], b"second").ok().stdout;
    assert_eq!(folder.gzip_with(&["-d"], &both).ok().stdout, b"first second");
    assert_eq!(folder.gzip_with(&["-d", "-"], &both).ok().stdout, b"first second");
    folder.write("b.gz", &both);
    assert_eq!(folder.gzip(&["-dc", "b.gz", "b.gz"]).ok().stdout, b"first secondfirst second");
    assert!(folder.has("b.gz"), "-c keeps");
}

#[test]
fn standard_input_is_compressed_without_name_and_time() {
    let folder = Folder::new();
    assert_eq!(folder.gzip_with(&["-N"], b"x").ok().stdout[3..8], [0; 5]);
}

#[test]
fn input_in_small_pieces_round_trips() {
    let folder = Folder::new();
    let data = sample(20_000);
    let mut command = folder.command(&["gzip", "-p2", "-b4K"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    data.chunks(333).for_each(|piece| stdin.write_all(piece).unwrap());
    drop(stdin);
    let packed = child.wait_with_output().unwrap().stdout;
    assert!(packed == folder.gzip_with(&["-b4K"], &data).ok().stdout);
}

/// Without `-p`, the data of a pipe is decoded as it arrives.
#[test]
fn content_is_written_before_its_pipe_ends() {
    let folder = Folder::new();
    let content = sample(2_000_000);
    let packed = folder.gzip_with(&["-0"], &content).ok().stdout;
    let mut command = folder.command(&["gzip", "-d"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    // This is not more than the pipes of input and output hold together, so writing does not block.
    stdin.write_all(&packed[..100_000]).unwrap();
    let (send, receive) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut bytes = vec![0; 60_000];
        stdout.read_exact(&mut bytes).unwrap();
        send.send(()).unwrap();
        stdout.read_to_end(&mut bytes).unwrap();
        bytes
    });
    let is_written = receive.recv_timeout(Duration::from_secs(30)).is_ok();
    stdin.write_all(&packed[100_000..]).unwrap();
    drop(stdin);
    assert!(reader.join().unwrap() == content && child.wait().unwrap().success());
    assert!(is_written, "the pipe was open");
}

#[cfg(unix)]
#[test]
fn closed_output_pipe_ends_by_sigpipe_without_a_message() {
    use std::os::unix::process::ExitStatusExt;
    let folder = Folder::new();
    folder.write("a", &sample(5_000_000));
    folder.gzip(&["-k", "a"]).ok();
    for args in [&["gzip", "-0c", "a"][..], &["gzip", "-0cp2", "a"], &["gzip", "-dc", "a.gz"]] {
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
    use std::thread::sleep;
    let folder = Folder::new();
    let mut command = folder.command(&["gzip", "-o", "out.gz"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    // The program waits for input, with its output open. `wait` would close the pipe, and the
    // program could see the end of the input before the signal.
    let _open = child.stdin.take();
    // /proc shows a file without a name as deleted.
    let descriptors = format!("/proc/{}/fd", child.id());
    let is_unnamed = |entry: std::io::Result<std::fs::DirEntry>| {
        let link = entry.and_then(|entry| std::fs::read_link(entry.path())).unwrap_or_default();
        link.starts_with(folder.path("")) && link.to_string_lossy().ends_with(" (deleted)")
    };
    let is_open = || {
        let mut open = std::fs::read_dir(&descriptors).into_iter().flatten();
        !folder.names().is_empty() || open.any(is_unnamed)
    };
    let opened = (0..1000).any(|_| {
        sleep(Duration::from_millis(10));
        is_open()
    });
    assert!(opened, "the output is open");
    assert!(!folder.has("out.gz"));
    let kill = format!("kill {}", child.id());
    Run::of(std::process::Command::new("sh").args(["-c", &kill]), b"").ok();
    assert_eq!(child.wait().unwrap().signal(), Some(15));
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn wrong_command_lines_exit_with_2() {
    let folder = Folder::new();
    folder.write("a", b"data");
    for args in [
        &["--no-such-option"][..],
        &["-b", "0", "a"],
        &["-b", "many", "a"],
        &["-p", "x", "a"],
        &["-p", "100000", "a"],
        &["--format", "zip", "a"],
        &["-c", "-o", "b", "a"],
        &["--max-output", "-1", "a"],
    ] {
        let run = folder.gzip(args);
        assert_eq!(run.status, Some(2), "{args:?}");
        assert!(!run.stderr.is_empty() && run.stdout.is_empty());
    }
    assert_eq!(folder.names(), ["a"]);
}

#[test]
fn file_names_that_begin_with_a_dash_follow_two_dashes() {
    let folder = Folder::new();
    folder.write("-1", b"data");
    folder.gzip(&["--", "-1"]).ok();
    assert_eq!(folder.names(), ["-1.gz"]);
}
