//! Damaged chunks: the message and the exit status, and that there is no output.

use super::data::{DAMAGED, FAILED, LIMIT, goldens, npy, wave};
use linerate_testkit::program::Folder;

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

#[test]
fn crafted_chunks_are_errors_with_their_offsets() {
    let folder = Folder::new();
    for (chunk, what) in [
        (vec![], "a chunk ends within its first word"),
        (vec![1, 0], "a chunk ends within its first word (at byte 2)"),
        (words(&[0xffff_ffff]), "a chunk is too short for its number of samples"),
        (words(&[1, 0xffff_ffff, 0]), "a segment is longer than what is left (at byte 4)"),
        (words(&[9, 1, 0]), "a segment is too short for its samples (at byte 4)"),
        (words(&[1, 2, 0, 0]), "a segment is too long for its samples (at byte 4)"),
        (words(&[1, 1, 0]), "more than eight zeros in a code (at byte 8)"),
        (words(&[0, 0]), "a chunk goes on after its last segment (at byte 4)"),
        (words(&[1, 1, 0x8000_0000, 7]), "a chunk goes on after its last segment (at byte 12)"),
    ] {
        folder.write("a.drc", &chunk);
        let run = folder.rice(&["decode", "--v1", "a.drc"]);
        run.fails(DAMAGED, &format!("linerate: a.drc: {what}"));
        assert_eq!(folder.names(), ["a.drc"], "no output is left");
        folder.rice(&["verify", "--v1", "a.drc"]).fails(DAMAGED, &format!("linerate: a.drc: {what}"));
        // The length of a pipe is unknown, so some errors are detected later, but all are detected.
        let run = folder.rice_with(&["verify", "--v1"], &chunk);
        assert_eq!(run.status, Some(DAMAGED), "{}", run.stderr);
    }
}

#[test]
fn input_truncated_at_every_byte_is_an_error() {
    let folder = Folder::new();
    let golden = goldens().into_iter().min_by_key(|g| g.chunk.len().abs_diff(60)).unwrap();
    let mut options = vec!["verify".to_owned()];
    options.extend(golden.parameters());
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    for len in 0..golden.chunk.len() {
        let run = folder.rice_with(&options, &golden.chunk[..len]);
        assert_eq!(run.status, Some(DAMAGED), "{len}: {}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
    folder.rice_with(&options, &golden.chunk).ok();
}

#[test]
fn flipped_bits_give_an_error_or_samples() {
    let folder = Folder::new();
    let chunk = folder
        .rice_with(&["encode", "--v1", "-q", "--m=16", "--segment=row"], &npy("<i2", "(4, 10)", &wave(40)))
        .ok()
        .stdout;
    let mut seen = 0;
    for bit in (0..chunk.len() * 8).step_by(3) {
        let mut damaged = chunk.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let run = folder.rice_with(&["decode", "--cd-values", "16,10"], &damaged);
        assert!(matches!(run.status, Some(0 | DAMAGED)), "bit {bit}: {run:?}");
        seen += usize::from(run.status == Some(DAMAGED));
        if bit < 64 {
            assert_eq!(run.status, Some(DAMAGED), "bit {bit} of the lengths");
        }
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn verify_against_another_array_reports_the_difference() {
    let folder = Folder::new();
    let data = wave(50);
    folder.write("a.npy", &npy("<i2", "(5, 10)", &data));
    folder.rice(&["encode", "--v1", "-q", "--m=16", "--segment=row", "a.npy"]).ok();
    let verify = |file: &[u8]| {
        folder.write("b.npy", file);
        folder.rice(&["verify", "--cd-values", "16,10", "--against", "b.npy", "a.drc"])
    };
    verify(&npy("<u2", "(50,)", &data)).ok();
    let mut other = data.clone();
    other[2 * 33..2 * 34].copy_from_slice(&7i16.to_le_bytes());
    let here = i16::from_le_bytes([data[66], data[67]]);
    let line = format!("linerate: a.drc: sample 33 is {here}, but 7 in b.npy (at byte 194)");
    verify(&npy("<i2", "(50,)", &other)).fails(DAMAGED, &line);
    let line = "linerate: a.drc: it has 50 samples, but b.npy has 49";
    verify(&npy("<i2", "(49,)", &data[..98])).fails(DAMAGED, line);
    let line = "linerate: a.drc: it holds 16-bit samples, but b.npy holds i32";
    verify(&npy("<i4", "(25,)", &data)).fails(DAMAGED, line);
    let line = "linerate: a.drc: b.npy: it is no .npy or WAV file; raw samples need --dtype";
    verify(b"x").fails(DAMAGED, line);
    folder.write("b.raw", &data);
    folder.rice(&["verify", "--cd-values=16,10", "--against=b.raw", "--dtype=i16", "a.drc"]).ok();
    let run = folder.rice(&["verify", "--cd-values=16,10", "--against=absent", "a.drc"]);
    run.fails(FAILED, "linerate: a.drc: absent: cannot open: No such file or directory");
}

#[test]
fn output_above_the_limit_is_an_error() {
    let folder = Folder::new();
    folder.write("a.npy", &npy("<i2", "(500,)", &wave(500)));
    folder.rice(&["encode", "--v1", "-q", "--m=16", "a.npy"]).ok();
    let decode =
        |most: &str| folder.rice(&["decode", "--m=16", "--max-output", most, "-fo", "b.npy", "a.drc"]);
    let line = "linerate: a.drc: the output takes more bytes than the limit";
    decode("999").fails(LIMIT, line);
    assert!(!folder.has("b.npy"));
    decode("1000").ok();
}
