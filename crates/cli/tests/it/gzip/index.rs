//! `--index`, `--range` and `--index-file`: parts of a file, and decompression on several threads.

use linerate_testkit::data::mixed as sample;
use linerate_testkit::program::{DAMAGED, FAILED, Folder, USAGE, WARNED};
use linerate_testkit::testdata::testdata;

#[test]
fn a_range_is_the_same_with_an_index_and_without() {
    let content = sample(700_000);
    for format in ["gzip", "bgzf", "zlib", "deflate"] {
        let folder = Folder::new();
        folder.write("a", &content);
        folder.gzip(&["--format", format, "a"]).ok();
        let name = folder.names()[0].clone();
        let ranges = [("0+10", 0..10), ("300K+5000", 307_200..312_200), ("699990+", 699_990..700_000)];
        let assert_ranges = || {
            for (range, bytes) in &ranges {
                let run = folder.gzip(&["--range", range, "-dc", &name]).ok();
                assert!(run.stdout == content[bytes.clone()], "{format} {range}");
            }
        };
        assert_ranges();
        if ["gzip", "bgzf"].contains(&format) {
            folder.gzip(&["--index", &name]).ok();
            assert_eq!(folder.names(), [name.clone(), format!("{name}.gzidx")]);
            assert_ranges();
            folder.gzip(&["--range", "5+5", "-o", "part", &name]).ok();
            assert_eq!(folder.read("part"), content[5..10]);
        }
    }
}

#[test]
fn standard_input_is_indexed_and_cut_to_a_range() {
    let folder = Folder::new();
    let packed = folder.gzip_with(&[], b"0123456789").ok().stdout;
    assert_eq!(folder.gzip_with(&["--range", "3+4"], &packed).ok().stdout, b"3456");
    assert_eq!(folder.gzip_with(&["--range", "3+4", "-"], &packed).ok().stdout, b"3456");
    let index = folder.gzip_with(&["--index"], &packed).ok().stdout;
    folder.write("a.gz", &packed);
    folder.gzip(&["--index", "-o", "other", "a.gz"]).ok();
    assert_eq!(folder.read("other"), index);
    assert_eq!(folder.gzip(&["-dc", "--range", "3+4", "--index-file", "other", "a.gz"]).ok().stdout, b"3456");
}

#[test]
fn an_index_that_is_read_is_no_output() {
    let folder = Folder::new();
    folder.write("a", &sample(70_000));
    folder.gzip(&["a"]).ok();
    folder.gzip(&["--index", "a.gz"]).ok();
    let index = folder.read("a.gz.gzidx");
    for options in [
        &["--index-file", "a.gz.gzidx"][..],
        &["--index-file", "a.gz.gzidx", "--range", "5+5"],
        &["--range", "5+5"],
    ] {
        let run = folder.gzip(&[options, &["-dfo", "a.gz.gzidx", "a.gz"]].concat());
        let line = "linerate: a.gz: the output a.gz.gzidx is an input, which it would overwrite";
        assert_eq!((run.status, run.stderr.trim_end()), (Some(FAILED), line), "{options:?}");
        assert_eq!(folder.read("a.gz.gzidx"), index);
    }
}

#[test]
fn a_range_and_a_file_with_an_index_are_written_up_to_the_limit() {
    let (folder, content) = (Folder::new(), sample(700_000));
    folder.write("a", &content);
    folder.gzip(&["a"]).ok();
    let assert_cut = |options: &[&str], from: usize| {
        let run = folder.gzip(&[options, &["-dc", "--max-output", "300000", "a.gz"]].concat());
        assert_eq!(run.status, Some(4), "{options:?}");
        assert!(run.stdout == content[from..from + 300_000], "{options:?}: {} bytes", run.stdout.len());
    };
    assert_cut(&["--range", "1000+"], 1000);
    folder.gzip(&["--index", "a.gz"]).ok();
    assert_cut(&["--range", "1000+"], 1000);
    assert_cut(&["--index-file", "a.gz.gzidx"], 0);
    let run = folder.gzip(&["-t", "--max-output=300000", "--index-file", "a.gz.gzidx", "a.gz"]);
    let (before, at) = run.stderr.trim_end().rsplit_once(" (at byte ").expect("an offset");
    assert_eq!(before, "linerate: a.gz: the output exceeds the limit of 300000 bytes");
    let (at, remedy) = at.split_once("); ").expect("a remedy");
    assert_eq!(remedy, "--max-output raises it");
    let at: usize = at.parse().expect("a number");
    assert!((1..=folder.read("a.gz").len()).contains(&at), "{at}");
}

#[test]
fn a_file_is_decompressed_by_an_index_as_without() {
    let (folder, content) = (Folder::new(), sample(3_000_000));
    folder.write("a", &content);
    folder.gzip(&["a"]).ok();
    folder.gzip(&["--index", "a.gz"]).ok();
    for threads in ["-p1", "-p2", "-p5"] {
        let run = folder.gzip(&[threads, "-dc", "--index-file", "a.gz.gzidx", "a.gz"]).ok();
        assert!(run.stdout == content, "{threads}");
    }
    folder.gzip(&["-t", "--index-file", "a.gz.gzidx", "a.gz"]).ok();
    let mut damaged = folder.read("a.gz");
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    folder.write("a.gz", &damaged);
    assert_eq!(folder.gzip(&["-t", "--index-file", "a.gz.gzidx", "a.gz"]).status, Some(DAMAGED));
}

/// The index was made by gztool. Decompressing a range reads the points that the range needs;
/// decompressing the whole file reads all points.
#[test]
fn index_of_gztool_is_taken_for_ranges_and_whole_files() {
    let folder = Folder::new();
    for name in ["three-megabytes.gz", "three-megabytes.gzi"] {
        folder.write(name, &std::fs::read(testdata().join("gzip").join(name)).unwrap());
    }
    let content = folder.gzip(&["-dc", "three-megabytes.gz"]).ok().stdout;
    let index = ["-dc", "--index-file", "three-megabytes.gzi", "three-megabytes.gz"];
    assert!(folder.gzip(&index).ok().stdout == content);
    let run = folder.gzip(&[&["--range", "2600000+1000"], &index[..]].concat()).ok();
    assert!(run.stdout == content[2_600_000..2_601_000]);
    let written = folder.read("three-megabytes.gzi");
    folder.write("three-megabytes.gzi", &written[..500]);
    assert_eq!(folder.gzip(&index).status, Some(DAMAGED));
}

#[test]
fn ranges_and_indexes_that_do_not_fit_are_reported() {
    let folder = Folder::new();
    folder.write("a", b"0123456789");
    folder.gzip(&["a"]).ok();
    folder.gzip(&["--index", "a.gz"]).ok();
    assert_eq!(folder.gzip(&["--index", "a.gz"]).status, Some(FAILED), "it exists");
    for range in ["5+20", "30+1", "30+"] {
        let run = folder.gzip(&["-dc", "--range", range, "a.gz"]);
        run.fails(WARNED, "linerate: a.gz: the range goes beyond the content, which has 10 bytes");
    }
    for wrong in [
        &["-d", "--range", "1+1", "a.gz"][..],
        &["-dc", "--range", "1-1", "a.gz"],
        &["--index-file", "x", "a.gz"],
    ] {
        assert_eq!(folder.gzip(wrong).status, Some(USAGE), "{wrong:?}");
    }
    let file = folder.read("a.gz");
    folder.write("a.gz", &[&file[..], b"garbage"].concat());
    let run = folder.gzip(&["-dc", "--range", "1+1", "a.gz"]);
    let (indexed, now) = (file.len(), file.len() + "garbage".len());
    let other = format!("it is the index of a file of {indexed} bytes, not {now}; --index makes it again");
    run.fails(DAMAGED, &format!("linerate: a.gz: a.gz.gzidx: {other}"));
    folder.write("a.gz.gzidx", b"no index");
    let run = folder.gzip(&["-t", "--index-file", "a.gz.gzidx", "a.gz"]);
    run.fails(DAMAGED, "linerate: a.gz: a.gz.gzidx: not an index of a gzip file");
    folder.write("text", b"no gzip file");
    let run = folder.gzip(&["-c", "--range", "1+1", "text"]);
    run.fails(DAMAGED, "linerate: text: the input is not in gzip or zlib format");
}
