//! Damaged inputs: the message, the offset and the exit status for each kind.

use std::fs;

use super::data::{skippable, stored, testdata, windowed};
use linerate_testkit::data::mixed as sample;
use linerate_testkit::program::{DAMAGED, Folder};

#[test]
fn file_truncated_at_every_byte_is_an_error() {
    let folder = Folder::new();
    let whole = [stored(b"hello"), skippable(b"abc")].concat();
    let first = stored(b"hello").len();
    for len in 0..whole.len() {
        let run = folder.zstd_with(&["-t"], &whole[..len]);
        let what = match len {
            0 => "the input is empty",
            _ if len == first => {
                run.ok();
                continue;
            }
            1..9 => "a frame ends in its header",
            _ if (first + 1..first + 8).contains(&len) => "a frame ends in its header",
            _ => "the input ends before the frame does",
        };
        run.fails(DAMAGED, &format!("linerate: stdin: {what} (at byte {len})"));
    }
    folder.zstd_with(&["-t"], &whole).ok();
}

#[test]
fn other_formats_and_trailing_garbage_are_errors() {
    let folder = Folder::new();
    let line = "linerate: stdin: no zstd frame begins here";
    folder.zstd_with(&["-d"], b"plain text").fails(DAMAGED, line);
    let frame = stored(b"content");
    let line = format!("linerate: stdin: no zstd frame begins here (at byte {})", frame.len());
    for garbage in [&b"garbage"[..], &[0; 40], b"\x28\xb5\x2f\xfe"] {
        let run = folder.zstd_with(&["-d"], &[&frame, garbage].concat());
        run.fails(DAMAGED, &line);
        assert_eq!(run.stdout, b"content");
    }
}

#[test]
fn wrong_checksum_is_an_error_unless_no_check_is_given() {
    let folder = Folder::new();
    let frame = fs::read(testdata().join("zstd/errors/checksum-wrong.zst")).unwrap();
    let run = folder.zstd_with(&["-t"], &frame);
    assert_eq!(run.status, Some(DAMAGED));
    assert!(run.stderr.contains("checksum"), "{}", run.stderr);
    assert_eq!(folder.zstd_with(&["-d", "--no-check"], &frame).ok().stdout.len(), 40);
}

#[test]
fn damage_leaves_no_output_and_keeps_the_source() {
    let folder = Folder::new();
    let whole = windowed(17, &sample(500_000));
    folder.write("a.zst", &whole[..whole.len() - 3]);
    assert_eq!(folder.zstd_with(&["-d", "--rm", "a.zst"], b"").status, Some(DAMAGED));
    assert_eq!(folder.names(), ["a.zst"]);
    folder.write("out", b"precious");
    assert_eq!(folder.zstd_with(&["-df", "-oout", "a.zst"], b"").status, Some(DAMAGED));
    assert_eq!(folder.read("out"), b"precious");
}

#[test]
fn json_has_objects_for_failures() {
    let folder = Folder::new();
    folder.write("a.zst", b"nothing like it");
    let run = folder.zstd_with(&["-t", "--json", "a.zst"], b"");
    let record: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((record["status"].as_str(), record["kind"].as_str()), (Some("failed"), Some("corrupt")));
    assert_eq!(record["offset"].as_u64(), Some(0));
}

#[test]
fn a_frame_that_states_more_than_its_blocks_can_hold_is_damaged_in_the_list_too() {
    let folder = Folder::new();
    // A single segment whose header states `size` in a field of 8 bytes, and one empty block.
    let states = |size: u64| [&b"\x28\xb5\x2f\xfd\xe0"[..], &size.to_le_bytes(), b"\x01\0\0"].concat();
    for size in [u64::MAX, 1 << 40, 1] {
        folder.write("a.zst", &states(size));
        for args in [&["-l"][..], &["-t"], &["-t", "-M", "64K"]] {
            let run = folder.zstd_with(&[args, &["a.zst"]].concat(), b"");
            assert!(matches!(run.status, Some(DAMAGED | 4)), "{args:?} {size}");
        }
        let line = format!(
            "linerate: a.zst: the frame states {size} bytes, but its blocks hold at most 0 (at byte 13)"
        );
        folder.zstd_with(&["-l", "a.zst"], b"").fails(DAMAGED, &line);
    }
    folder.write("a.zst", &states(0));
    folder.zstd_with(&["-l", "a.zst"], b"").ok();
}
