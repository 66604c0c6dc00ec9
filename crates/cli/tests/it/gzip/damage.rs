//! Damaged inputs: the message, the offset and the exit status for each kind.

use linerate_testkit::data::mixed as sample;
use linerate_testkit::program::{DAMAGED, Folder, LIMIT, WARNED};

fn packed(folder: &Folder, format: &str, data: &[u8]) -> Vec<u8> {
    folder.gzip_with(&["--format", format], data).ok().stdout
}

#[test]
fn gzip_file_truncated_at_every_byte_is_an_error() {
    let folder = Folder::new();
    let whole = packed(&folder, "gzip", b"hello, hello, hello");
    for len in 0..whole.len() {
        let run = folder.gzip_with(&["-t"], &whole[..len]);
        let what = match len {
            0 => "the input is empty",
            1..10 => "the input ends inside the gzip header",
            _ if len >= whole.len() - 8 => "the input ends inside the trailer",
            _ => "the input ends inside the compressed data",
        };
        run.fails(DAMAGED, &format!("linerate: stdin: {what} (at byte {len})"));
    }
    folder.gzip_with(&["-t"], &whole).ok();
}

#[test]
fn truncated_zlib_deflate_and_bgzf_files_are_errors() {
    let folder = Folder::new();
    for format in ["zlib", "deflate", "bgzf"] {
        let whole = packed(&folder, format, &sample(100_000));
        for len in [1, 50, whole.len() / 2, whole.len() - 1] {
            let run = folder.gzip_with(&["-t", "--format", format], &whole[..len]);
            assert_eq!(run.status, Some(DAMAGED), "{format} {len}: {}", run.stderr);
            assert!(run.stderr.contains("the input ends inside the"), "{format} {len}: {}", run.stderr);
        }
    }
}

#[test]
fn bgzf_without_end_of_file_marker_is_truncated() {
    let folder = Folder::new();
    let whole = packed(&folder, "bgzf", &sample(100_000));
    let len = whole.len() - 28;
    let line = format!("linerate: stdin: the BGZF end-of-file marker is missing (at byte {len})");
    folder.gzip_with(&["-t", "--format=bgzf"], &whole[..len]).fails(DAMAGED, &line);
    folder.gzip_with(&["-t"], &whole[..len]).ok();
    let line = "linerate: stdin: this gzip member is not a BGZF block";
    folder.gzip_with(&["-t", "--format=bgzf"], &packed(&folder, "gzip", b"x")).fails(DAMAGED, line);
}

#[test]
fn wrong_checksums_and_lengths_are_errors_with_their_offsets() {
    let folder = Folder::new();
    let whole = packed(&folder, "gzip", &sample(1000));
    let flip = |data: &[u8], at: usize| {
        let mut data = data.to_vec();
        data[at] ^= 0x40;
        data
    };
    let at = whole.len() - 8;
    let line = format!("linerate: stdin: the data does not match its CRC-32 checksum (at byte {at})");
    folder.gzip_with(&["-t"], &flip(&whole, at)).fails(DAMAGED, &line);
    let at = whole.len() - 4;
    let line = format!("linerate: stdin: the data does not have the length stated after it (at byte {at})");
    folder.gzip_with(&["-t"], &flip(&whole, at)).fails(DAMAGED, &line);
    let zlib = packed(&folder, "zlib", &sample(1000));
    let at = zlib.len() - 4;
    let line = format!("linerate: stdin: the data does not match its Adler-32 checksum (at byte {at})");
    folder.gzip_with(&["-t"], &flip(&zlib, at)).fails(DAMAGED, &line);
}

#[test]
fn corrupt_deflate_data_is_an_error() {
    let folder = Folder::new();
    // A block with the reserved type 3.
    let bytes = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..], &[7, 0, 0, 0]].concat();
    let run = folder.gzip_with(&["-t"], &bytes);
    assert_eq!(run.status, Some(DAMAGED));
    let start =
        "linerate: stdin: the compressed data is corrupt: a deflate block has an invalid type (at byte 1";
    assert!(run.stderr.starts_with(start), "{}", run.stderr);

    let whole = packed(&folder, "gzip", &sample(200_000));
    for at in (12..whole.len() - 8).step_by(whole.len() / 40) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        let run = folder.gzip_with(&["-t"], &bytes);
        assert_eq!(run.status, Some(DAMAGED), "byte {at}: {}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1);
    }
}

#[test]
fn invalid_headers_are_errors() {
    let folder = Folder::new();
    for (bytes, what, at) in [
        (&b"plain text"[..], "the input is not in gzip or zlib format", 0),
        (&[0x1f, 0x8b, 7, 0, 0, 0, 0, 0, 0, 3], "the gzip header names a method other than deflate", 2),
        (&[0x1f, 0x8b, 8, 0x80, 0, 0, 0, 0, 0, 3], "the gzip header has reserved flags set", 3),
        (&[0x78, 0xbb, 1, 2, 3, 4], "the zlib stream needs a preset dictionary", 0),
    ] {
        let line = format!("linerate: stdin: {what} (at byte {at})");
        folder.gzip_with(&["-d"], bytes).fails(DAMAGED, &line);
    }
    let line = "linerate: stdin: the input is not in zlib format";
    folder.gzip_with(&["-d", "--format=zlib"], b"plain text").fails(DAMAGED, line);
    let line = "linerate: stdin: the input is not in gzip format";
    folder.gzip_with(&["-d", "--format=gzip"], b"plain text").fails(DAMAGED, line);
}

#[test]
fn several_members_and_zero_padding_decode_to_one_output() {
    let folder = Folder::new();
    let mut bytes = [packed(&folder, "gzip", b"one "), packed(&folder, "bgzf", b"two")].concat();
    assert_eq!(folder.gzip_with(&["-d"], &bytes).ok().stdout, b"one two");
    bytes.resize(bytes.len() + 300_000, 0);
    assert_eq!(folder.gzip_with(&["-d"], &bytes).ok().stdout, b"one two");
    let second = [packed(&folder, "gzip", b"one "), packed(&folder, "gzip", b"two")[..12].to_vec()].concat();
    let line =
        format!("linerate: stdin: the input ends inside the compressed data (at byte {})", second.len());
    folder.gzip_with(&["-t"], &second).fails(DAMAGED, &line);
}

#[test]
fn trailing_garbage_is_a_warning_and_keeps_the_source() {
    let folder = Folder::new();
    for (format, name) in [("gzip", "a.gz"), ("zlib", "b.zz"), ("deflate", "c.deflate")] {
        let mut bytes = packed(&folder, format, b"the data");
        bytes.extend_from_slice(b"\0\0garbage");
        let at = bytes.len() - 7;
        folder.write(name, &bytes);
        let line = format!("linerate: {name}: trailing garbage ignored (at byte {at})");
        folder.gzip(&["-t", name]).fails(WARNED, &line);
        folder.gzip(&["-d", name]).fails(WARNED, &line);
        assert_eq!(folder.read(&name[..1]), b"the data");
        assert!(folder.has(name));
        let quiet = folder.gzip(&["-tq", name]);
        assert_eq!((quiet.status, quiet.stderr.as_str()), (Some(WARNED), ""));
    }
}

#[test]
fn decompression_bomb_stops_at_the_limit() {
    let folder = Folder::new();
    folder.write("bomb", &vec![0; 20_000_000]);
    folder.gzip(&["bomb"]).ok();
    let run = folder.gzip(&["-d", "--max-output", "1M", "bomb.gz"]);
    assert_eq!(run.status, Some(LIMIT));
    let start = "linerate: bomb.gz: the output exceeds the limit of 1048576 bytes (at byte ";
    assert!(run.stderr.starts_with(start), "{}", run.stderr);
    assert_eq!(folder.names(), ["bomb.gz"]);
    folder.gzip(&["-d", "--max-output", "20000000", "bomb.gz"]).ok();
    assert_eq!(folder.names(), ["bomb"]);
}

#[test]
fn damage_leaves_no_output_and_keeps_the_source() {
    let folder = Folder::new();
    let whole = packed(&folder, "gzip", &sample(500_000));
    folder.write("a.gz", &whole[..whole.len() - 3]);
    assert_eq!(folder.gzip(&["-d", "a.gz"]).status, Some(DAMAGED));
    assert_eq!(folder.names(), ["a.gz"]);
    folder.write("out", b"precious");
    assert_eq!(folder.gzip(&["-df", "-oout", "a.gz"]).status, Some(DAMAGED));
    assert_eq!(folder.read("out"), b"precious");
}

#[test]
fn equal_failures_keep_their_status_and_different_ones_exit_with_1() {
    let folder = Folder::new();
    folder.write("a.gz", b"\x1f\x8b");
    folder.write("b.gz", b"nothing like it");
    assert_eq!(folder.gzip(&["-t", "a.gz", "b.gz"]).status, Some(DAMAGED));
    assert_eq!(folder.gzip(&["-t", "a.gz", "missing.gz"]).status, Some(1));
}
