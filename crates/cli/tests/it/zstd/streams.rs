//! Standard input and output, limits, and dictionaries.

use std::fs;

use super::data::{files, stored, testdata, windowed};
use linerate_testkit::data::mixed as sample;
use linerate_testkit::program::{DAMAGED, Folder, LIMIT, USAGE};

#[test]
fn pipe_is_decompressed_to_a_pipe() {
    let folder = Folder::new();
    let content = sample(3_000_000);
    for frame in [stored(&content), windowed(10, &content), windowed(20, &content)] {
        assert!(folder.zstd_with(&["-d"], &frame).ok().stdout == content);
        assert!(folder.zstd_with(&["-d", "-", "-c"], &frame).ok().stdout == content);
        assert!(folder.zstd_with(&["-t"], &frame).ok().stdout.is_empty());
    }
    folder.zstd_with(&["-d", "-o", "out"], &stored(b"content")).ok();
    assert_eq!(folder.read("out"), b"content");
    assert_eq!(folder.zstd_with(&["-d"], &stored(b"")).ok().stdout, b"");
}

#[test]
fn windows_above_the_limit_are_errors() {
    let folder = Folder::new();
    let frame = windowed(28, b"x");
    let line = "linerate: stdin: the frame needs a window of 268435456 bytes, but 134217728 are allowed; \
                --memory allows more";
    folder.zstd_with(&["-d"], &frame).fails(LIMIT, line);
    assert_eq!(folder.zstd_with(&["-d", "--long"], &frame).status, Some(LIMIT));
    for more in ["--long=28", "--long=31", "--memory=256M", "-M268435456"] {
        assert_eq!(folder.zstd_with(&["-d", more], &frame).ok().stdout, b"x");
    }
    folder.zstd_with(&["-d"], &windowed(27, b"x")).ok();
    for less in ["--memory=1K", "--long=10"] {
        folder.zstd_with(&["-d", less], &windowed(10, b"x")).ok();
        assert_eq!(folder.zstd_with(&["-d", less], &windowed(11, b"x")).status, Some(LIMIT));
    }
    assert_eq!(folder.zstd_with(&["-d", "--long=32"], b"").status, Some(USAGE));
}

#[test]
fn output_above_the_limit_is_an_error() {
    let folder = Folder::new();
    // 300 RLE blocks of 4 bytes, each of which decodes to 128 KiB.
    let mut bomb = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3];
    (0..300).for_each(|i| bomb.extend_from_slice(&[2 | u8::from(i == 299), 0, 0x10, b'0']));
    folder.write("bomb.zst", &bomb);
    let run = folder.zstd_with(&["-d", "--max-output", "1M", "bomb.zst"], b"");
    assert_eq!(run.status, Some(LIMIT));
    assert!(run.stderr.contains("the output exceeds the limit of 1048576 bytes"), "{}", run.stderr);
    assert_eq!(folder.names(), ["bomb.zst"]);
    folder.zstd_with(&["-d", "--max-output", "39321600", "bomb.zst"], b"").ok();
    assert_eq!(folder.read("bomb").len(), 300 << 17);
}

#[test]
fn frames_of_testdata_are_decompressed_with_their_dictionaries() {
    let folder = Folder::new();
    let list = fs::read_to_string(testdata().join("zstd/contents.csv")).unwrap();
    let mut with_dictionary = 0;
    for line in list.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let &[name, dictionary, magicless, _, bytes, _] = &fields[..] else { panic!("{line}") };
        if magicless == "1" {
            continue;
        }
        let frame = fs::read(testdata().join(format!("zstd/{name}.zst"))).unwrap();
        let path = testdata().join(format!("zstd/{dictionary}.dict"));
        let path = path.to_str().unwrap();
        let args = if dictionary.is_empty() { vec!["-d"] } else { vec!["-d", "-D", path] };
        let run = folder.zstd_with(&args, &frame).ok();
        assert_eq!(run.stdout.len().to_string(), bytes, "{name}");
        with_dictionary += usize::from(!dictionary.is_empty());
    }
    assert!(with_dictionary > 20);
}

#[test]
fn invalid_frames_of_testdata_are_errors() {
    let folder = Folder::new();
    let dictionary = testdata().join("zstd/full.dict");
    for path in files("zstd/errors", "zst") {
        let frame = fs::read(&path).unwrap();
        for args in [&["-t"][..], &["-t", "-D", dictionary.to_str().unwrap()]] {
            let run = folder.zstd_with(args, &frame);
            let needs = path.file_name().unwrap().to_str().unwrap().starts_with("dictionary-");
            if needs == (args.len() == 3) {
                assert_eq!(run.status, Some(DAMAGED), "{}: {}", path.display(), run.stderr);
                assert_eq!(run.stderr.lines().count(), 1);
            }
        }
    }
}

#[test]
fn missing_and_wrong_dictionaries_are_errors() {
    let folder = Folder::new();
    let frame = fs::read(testdata().join("zstd/dictionary-full-tables.zst")).unwrap();
    let line = "linerate: stdin: the frame needs another dictionary; -D names it";
    folder.zstd_with(&["-d"], &frame).fails(DAMAGED, line);
    let other = testdata().join("zstd/logs-5.dict");
    folder.zstd_with(&["-d", "-D", other.to_str().unwrap()], &frame).fails(DAMAGED, line);
    let run = folder.zstd_with(&["-d", "-D", "none"], &frame);
    run.fails(1, "linerate: none: cannot open: No such file or directory");
    let mut damaged = fs::read(testdata().join("zstd/full.dict")).unwrap();
    damaged[8] = 0;
    folder.write("damaged", &damaged);
    let run = folder.zstd_with(&["-d", "-D", "damaged"], &frame);
    assert_eq!(run.status, Some(DAMAGED));
    assert!(run.stderr.starts_with("linerate: damaged: "), "{}", run.stderr);
}
