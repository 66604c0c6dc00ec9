//! Links named as the programs that they stand in for. Images of containers are unpacked through `unpigz -d -c`, with a pipe on
//! standard input, so that is how it is driven.

use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::thread;

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

/// `unpigz -d -c` with `input` on a pipe.
fn unpigz(input: &[u8]) -> Run {
    let (_folder, mut command) = linked("unpigz");
    Run::of(command.args(["-d", "-c"]), input)
}

/// `unpigz -d -c` on three pipes that nobody serves.
fn running(folder: &Folder) -> Child {
    let mut command = Command::new(folder.path("unpigz"));
    command.args(["-d", "-c"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
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
    // A layer that is fetched in parts has a member for each file, and one without content as its footer.
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

/// The caller has lost interest, and kills the program while the layer is still being fetched.
#[test]
fn a_killed_program_leaves_no_process_that_holds_its_pipes_and_no_file() {
    let (folder, _) = linked("unpigz");
    let packed = folder.gzip_with(&["-0"], &sample(3_000_000)).ok().stdout;
    let mut child = running(&folder);
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

/// The caller has stopped reading, and goes on to send what it has.
#[test]
fn a_closed_pipe_ends_the_program_without_a_message() {
    let (folder, _) = linked("unpigz");
    let packed = folder.gzip_with(&["-0"], &sample(3_000_000)).ok().stdout;
    let mut child = running(&folder);
    drop(child.stdout.take());
    let sent = child.stdin.take().expect("a pipe").write_all(&packed);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.signal(), output.stderr, sent.is_err()), (Some(13), vec![], true));
}
