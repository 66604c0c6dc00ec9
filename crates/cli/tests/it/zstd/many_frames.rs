//! Files with many frames, which several threads decompress.

use super::data::{skippable, stored, windowed};
use linerate_testkit::data::mixed as sample;
use linerate_testkit::program::{DAMAGED, Folder, LIMIT};

/// Frames with and without content sizes, and their content. One frame has 33 MiB, which is too
/// large to be decoded in memory by a thread.
fn plant(folder: &Folder) -> (Vec<u8>, Vec<u8>) {
    let (mut frames, mut content) = (Vec::new(), Vec::new());
    for i in 0..200 {
        let data = sample(i * 100);
        frames.extend(if i % 3 == 0 { windowed(17, &data) } else { stored(&data) });
        content.extend(data);
        match i {
            77 => frames.extend(skippable(&sample(5000))),
            150 => {
                let large = sample(33 << 20);
                let args = ["--no-content-size", "-1", "-c", "large"];
                folder.write("large", &large);
                frames.extend(folder.zstd_with(&args, b"").ok().stdout);
                content.extend(large);
            }
            _ => {}
        }
    }
    (frames, content)
}

#[test]
fn output_and_totals_are_the_same_for_any_threads() {
    let folder = Folder::new();
    let (frames, content) = plant(&folder);
    folder.write("a.zst", &frames);
    let records = ["-T1", "-T2", "-T7"].map(|threads| {
        let run = folder.zstd_with(&["-d", "-f", threads, "--json", "a.zst"], b"").ok();
        assert!(folder.read("a") == content, "{threads}");
        let mut record = run.object();
        assert_eq!((&record["frames"], &record["skippable_frames"]), (&201.into(), &1.into()));
        record["seconds"] = 0.into();
        record
    });
    assert!(records[0] == records[1] && records[0] == records[2], "{records:?}");
    assert!(folder.zstd_with(&["-dT4"], &frames).ok().stdout == content);
}

#[test]
fn damage_and_limits_end_the_output_at_the_same_byte_for_any_threads() {
    let folder = Folder::new();
    let (mut frames, content) = plant(&folder);
    for cut in [frames.len() - 1, frames.len() / 2, 60] {
        folder.write("cut.zst", &frames[..cut]);
        let runs = ["-T1", "-T3"].map(|threads| folder.zstd_with(&["-dc", threads, "cut.zst"], b""));
        assert_eq!(runs[0].status, Some(DAMAGED));
        assert_eq!((runs[0].status, &runs[0].stderr), (runs[1].status, &runs[1].stderr));
        assert!(runs[0].stdout == runs[1].stdout && content.starts_with(&runs[0].stdout));
    }
    let mut last = folder.zstd_with(&["-c"], b"the last frame has another checksum").ok().stdout;
    *last.last_mut().unwrap() ^= 1;
    folder.write("flipped.zst", &[&frames[..], &last].concat());
    let flipped = ["-T1", "-T3"].map(|threads| folder.zstd_with(&["-t", threads, "flipped.zst"], b""));
    assert_eq!((flipped[0].status, &flipped[0].stderr), (Some(DAMAGED), &flipped[1].stderr));
    let limited = ["-T1", "-T3"].map(|threads| {
        folder.write("a.zst", &frames);
        folder.zstd_with(&["-t", threads, "--max-output=100000", "a.zst"], b"")
    });
    assert_eq!((limited[0].status, &limited[0].stderr), (Some(LIMIT), &limited[1].stderr));
    // The offset between the second and the third frame.
    let third = windowed(17, b"").len() + stored(&sample(100)).len();
    frames.splice(third..third, *b"garbage");
    folder.write("b.zst", &frames);
    let runs = ["-T1", "-T3"].map(|threads| folder.zstd_with(&["-t", threads, "b.zst"], b""));
    assert_eq!((runs[0].status, &runs[0].stderr), (Some(DAMAGED), &runs[1].stderr));
}

#[test]
fn windows_above_the_limit_are_errors_for_any_threads() {
    let folder = Folder::new();
    let frames = [windowed(17, b"one"), windowed(28, b"two"), windowed(17, b"three")].concat();
    folder.write("a.zst", &frames);
    let runs = ["-T1", "-T3"].map(|threads| folder.zstd_with(&["-dc", threads, "a.zst"], b""));
    assert_eq!((runs[0].status, &runs[0].stdout[..]), (Some(LIMIT), &b"one"[..]));
    assert_eq!((&runs[0].stderr, &runs[0].stdout), (&runs[1].stderr, &runs[1].stdout));
    assert_eq!(folder.zstd_with(&["-dcT3", "--long=28", "a.zst"], b"").ok().stdout, b"onetwothree");
}

#[test]
fn text_of_a_pipe_is_decompressed_before_its_frame_has_ended() {
    use std::io::{Read, Write};
    use std::process::Stdio;
    let folder = Folder::new();
    let mut command = folder.command(&["zstd", "-dT4"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let frame = windowed(10, &sample(1500));
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    // Sends the first of the two blocks.
    stdin.write_all(&frame[..6 + 3 + 1024]).unwrap();
    let mut first = vec![0; 1024];
    stdout.read_exact(&mut first).unwrap();
    assert!(first == sample(1500)[..1024]);
    stdin.write_all(&frame[6 + 3 + 1024..]).unwrap();
    drop(stdin);
    let mut rest = Vec::new();
    stdout.read_to_end(&mut rest).unwrap();
    assert!(rest == sample(1500)[1024..] && child.wait().unwrap().success());
}
