//! Tests names and attributes of files, and that no file is lost.

use std::fs::{self, File, FileTimes};
use std::time::{Duration, UNIX_EPOCH};

use super::data::{skippable, stored, windowed};
use linerate_testkit::data::mixed as sample;
use linerate_testkit::program::{FAILED, Folder, USAGE, WARNED};

#[test]
fn file_is_decompressed_and_its_source_kept() {
    let folder = Folder::new();
    let content = sample(400_000);
    for (name, frame) in [("a.txt.zst", stored(&content)), ("b.tzst", windowed(17, &content))] {
        folder.write(name, &frame);
        folder.zstd_with(&["-d", name], b"").ok();
    }
    assert_eq!(folder.names(), ["a.txt", "a.txt.zst", "b.tar", "b.tzst"]);
    assert!(folder.read("a.txt") == content && folder.read("b.tar") == content);
}

#[test]
fn file_is_compressed_with_the_suffix_added_and_its_source_kept() {
    let folder = Folder::new();
    for name in ["a.txt", "b.tar", "c.zst"] {
        folder.write(name, name.as_bytes());
    }
    folder.zstd_with(&["a.txt", "b.tar", "c.zst"], b"").ok();
    assert_eq!(folder.names(), ["a.txt", "a.txt.zst", "b.tar", "b.tar.zst", "c.zst", "c.zst.zst"]);
    folder.zstd_with(&["-df", "a.txt.zst", "b.tar.zst", "c.zst.zst"], b"").ok();
    for name in ["a.txt", "b.tar", "c.zst"] {
        assert_eq!(folder.read(name), name.as_bytes());
    }
}

#[test]
fn a_file_and_its_output_as_operands_are_compressed_one_after_the_other() {
    let folder = Folder::new();
    folder.write("a", b"content");
    folder.zstd_with(&["-T4", "a", "a.zst"], b"").ok();
    assert_eq!(folder.names(), ["a", "a.zst", "a.zst.zst"]);
    assert!(folder.zstd_with(&["-dc", "a.zst.zst"], b"").ok().stdout == folder.read("a.zst"));
}

#[test]
fn rm_deletes_the_source_of_compression() {
    let folder = Folder::new();
    for name in ["a", "b", "c", "d"] {
        folder.write(name, &sample(3000));
    }
    folder.zstd_with(&["--rm", "a", "b"], b"").ok();
    folder.zstd_with(&["--rm", "-k", "c"], b"").ok();
    folder.zstd_with(&["--rm", "-c", "d"], b"").ok();
    assert_eq!(folder.names(), ["a.zst", "b.zst", "c", "c.zst", "d"]);
    // A source whose output cannot be written is kept.
    folder.write("d.zst", b"taken");
    let run = folder.zstd_with(&["--rm", "d"], b"");
    run.fails(FAILED, "linerate: d: d.zst exists already; -f overwrites it");
    assert_eq!((folder.read("d.zst"), folder.has("d")), (b"taken".to_vec(), true));
    folder.zstd_with(&["--rm", "-f", "d"], b"").ok();
    assert!(!folder.has("d") && folder.zstd_with(&["-dc", "d.zst"], b"").ok().stdout == sample(3000));
}

#[test]
fn recursion_compresses_and_decompresses_every_file_once() {
    let folder = Folder::new();
    for i in 0..60 {
        folder.write(&format!("d/{}/f{i}", i % 7), &sample(i * 50));
    }
    folder.write("d/already.zst", &stored(b"content"));
    for _ in 0..2 {
        folder.zstd_with(&["-r", "-f", "-T4", "d"], b"").ok();
    }
    assert!(folder.has("d/already.zst") && !folder.has("d/already.zst.zst"));
    for i in 0..60 {
        let name = format!("d/{}/f{i}", i % 7);
        assert!(folder.has(&format!("{name}.zst")) && !folder.has(&format!("{name}.zst.zst")));
        fs::remove_file(folder.path(&name)).unwrap();
    }
    folder.zstd_with(&["-tr", "d"], b"").ok();
    folder.zstd_with(&["-d", "-r", "--rm", "d"], b"").ok();
    for i in 0..60 {
        assert!(folder.read(&format!("d/{}/f{i}", i % 7)) == sample(i * 50));
    }
    assert!(folder.has("d/already") && !folder.has("d/already.zst"));
}

#[test]
fn several_files_are_compressed_to_several_outputs_or_standard_output() {
    let folder = Folder::new();
    // Some files are large, and use all threads.
    let contents: Vec<Vec<u8>> = [10, 3_000_000, 0, 2_000_000, 70_000].into_iter().map(sample).collect();
    let names = ["a", "b", "c", "d", "e"];
    for (name, content) in names.iter().zip(&contents) {
        folder.write(name, content);
    }
    let all = folder.zstd_with(&[&["-cT3"][..], &names].concat(), b"").ok().stdout;
    assert!(folder.zstd_with(&["-d"], &all).ok().stdout == contents.concat());
    let run = folder.zstd_with(&[&["-T3", "--json", "missing"][..], &names].concat(), b"");
    assert_eq!(run.status, Some(FAILED));
    let files: Vec<serde_json::Value> = run.objects().iter().map(|record| record["file"].clone()).collect();
    assert_eq!(files, ["missing", "a", "b", "c", "d", "e"]);
    let one_by_one: Vec<u8> = names.iter().flat_map(|name| folder.read(&format!("{name}.zst"))).collect();
    assert!(one_by_one == all);
    folder.zstd_with(&["-o", "x", "a", "b"], b"").fails(USAGE, "linerate: -o takes a single input file");
    folder.zstd_with(&["-o", "x", "b"], b"").ok();
    assert!(folder.read("x") == folder.read("b.zst"));
    assert!(folder.zstd_with(&["-o", "-", "b"], b"").ok().stdout == folder.read("x"));
}

#[test]
fn output_in_a_folder_that_takes_no_files_is_an_error() {
    let folder = Folder::new();
    folder.write("a", b"data");
    let line = "linerate: a: cannot create no/where: No such file or directory";
    folder.zstd_with(&["-o", "no/where", "a"], b"").fails(FAILED, line);
    folder.write("file", b"not a folder");
    let run = folder.zstd_with(&["-o", "file/a.zst", "a"], b"");
    assert_eq!(run.status, Some(FAILED));
    fs::create_dir(folder.path("dir")).unwrap();
    let line = "linerate: a: the output dir is a directory";
    folder.zstd_with(&["-f", "-o", "dir", "a"], b"").fails(FAILED, line);
    assert_eq!(folder.names(), ["a", "dir", "file"]);
}

#[test]
fn file_names_that_begin_with_a_dash_follow_two_dashes() {
    let folder = Folder::new();
    folder.write("-19", b"data");
    folder.zstd_with(&["--", "-19"], b"").ok();
    assert_eq!(folder.names(), ["-19", "-19.zst"]);
}

#[cfg(unix)]
#[test]
fn output_has_the_mode_of_its_source_and_links_are_skipped_unless_forced() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new();
    let path = folder.write("a", b"data");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    folder.zstd_with(&["a"], b"").ok();
    assert_eq!(folder.mode("a.zst"), 0o640);
    symlink("a", folder.path("soft")).unwrap();
    let line = "linerate: soft: skipped: it is a symbolic link; -f follows it";
    folder.zstd_with(&["soft"], b"").fails(WARNED, line);
    folder.zstd_with(&["-f", "soft"], b"").ok();
    assert_eq!(folder.names(), ["a", "a.zst", "soft", "soft.zst"]);
}

#[test]
fn rm_deletes_the_source() {
    let folder = Folder::new();
    for name in ["a", "b", "c"] {
        folder.write(&format!("{name}.zst"), &stored(name.as_bytes()));
    }
    folder.zstd_with(&["-d", "--rm", "a.zst", "b.zst"], b"").ok();
    folder.zstd_with(&["-d", "--rm", "-k", "c.zst"], b"").ok();
    assert_eq!(folder.names(), ["a", "b", "c", "c.zst"]);
    // If the output is no file, the source is kept: a later -c overrides -o.
    folder.zstd_with(&["-dc", "--rm", "c.zst"], b"").ok();
    folder.zstd_with(&["-d", "--rm", "-o", "-", "c.zst"], b"").ok();
    folder.zstd_with(&["-t", "--rm", "c.zst"], b"").ok();
    folder.zstd_with(&["-d", "--rm", "-o", "d", "c.zst", "-c"], b"").ok();
    assert_eq!(folder.names(), ["a", "b", "c", "c.zst"]);
    folder.zstd_with(&["-d", "--rm", "-o", "d", "c.zst"], b"").ok();
    assert_eq!(folder.names(), ["a", "b", "c", "d"]);
}

#[test]
fn existing_outputs_are_kept_unless_forced() {
    let folder = Folder::new();
    folder.write("a.zst", &stored(b"new"));
    folder.write("a", b"old");
    folder
        .zstd_with(&["-d", "a.zst"], b"")
        .fails(FAILED, "linerate: a.zst: a exists already; -f overwrites it");
    assert_eq!(folder.read("a"), b"old");
    folder.zstd_with(&["-df", "a.zst"], b"").ok();
    assert_eq!(folder.read("a"), b"new");
}

#[test]
fn several_files_go_to_several_outputs_or_standard_output() {
    let folder = Folder::new();
    folder.write("a.zst", &stored(b"one "));
    folder.write("b.zst", &stored(b"two"));
    assert_eq!(folder.zstd_with(&["-dc", "a.zst", "b.zst"], b"").ok().stdout, b"one two");
    folder.zstd_with(&["-d", "-o", "out", "a.zst"], b"").ok();
    assert_eq!(folder.read("out"), b"one ");
    let run = folder.zstd_with(&["-d", "-o", "x", "a.zst", "b.zst"], b"");
    run.fails(USAGE, "linerate: -o takes a single input file");
    let run = folder.zstd_with(&["-d", "missing.zst", "a.zst"], b"");
    run.fails(FAILED, "linerate: missing.zst: cannot open: No such file or directory");
    assert_eq!(folder.read("a"), b"one ");
}

#[test]
fn files_with_unknown_suffixes_are_skipped() {
    let folder = Folder::new();
    folder.write("a.bin", &stored(b"content"));
    let line = "linerate: a.bin: skipped: it has no suffix of zstd files; -c or -o FILE decompresses it";
    folder.zstd_with(&["-d", "a.bin"], b"").fails(WARNED, line);
    assert_eq!(folder.zstd_with(&["-dc", "a.bin"], b"").ok().stdout, b"content");
    folder.zstd_with(&["-t", "a.bin"], b"").ok();
    fs::create_dir(folder.path("dir.zst")).unwrap();
    let line = "linerate: dir.zst: skipped: it is a directory; -r works on the files below it";
    folder.zstd_with(&["-d", "dir.zst"], b"").fails(WARNED, line);
}

#[test]
fn output_has_the_time_of_the_source() {
    let folder = Folder::new();
    let path = folder.write("a.zst", &stored(b"content"));
    let time = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    File::options().write(true).open(path).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
    folder.zstd_with(&["-d", "a.zst"], b"").ok();
    folder.zstd_with(&["a", "-o", "b.zst"], b"").ok();
    for name in ["a", "b.zst"] {
        assert_eq!(fs::metadata(folder.path(name)).unwrap().modified().unwrap(), time, "{name}");
    }
}

#[test]
fn list_has_frames_and_sizes_of_headers() {
    let folder = Folder::new();
    let frames = [stored(&sample(2000)), skippable(b"xyz"), stored(b""), skippable(b"")].concat();
    folder.write("a.zst", &frames);
    folder.write("b.zst", &windowed(12, &sample(9000)));
    let run = folder.zstd_with(&["-l", "a.zst", "b.zst"], b"").ok();
    let text = String::from_utf8(run.stdout).unwrap();
    let words: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(words[0], ["frames", "skipped", "compressed", "uncompressed", "ratio", "check", "name"]);
    let (size, ratio) = (frames.len().to_string(), format!("{:.3}", 2000.0 / frames.len() as f64));
    assert_eq!(words[1], ["2", "2", &size, "2000", &ratio, "none", "a.zst"]);
    assert_eq!(words[2][..5], ["1", "0", "9015", "-", "-"]);
    let run = folder.zstd_with(&["-l", "--json", "b.zst"], b"").ok();
    let record: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((record["window"].as_u64(), record["bytes_out"].as_u64()), (Some(4096), None));
    // An incomplete frame is detected.
    folder.write("c.zst", &frames[..frames.len() - 3]);
    assert_eq!(folder.zstd_with(&["-l", "c.zst"], b"").status, Some(3));
}

#[test]
fn json_has_an_object_for_each_file() {
    let folder = Folder::new();
    folder.write("a.zst", &[stored(b"12345"), skippable(b"x"), windowed(11, b"678")].concat());
    let run = folder.zstd_with(&["-d", "--json", "a.zst"], b"").ok();
    let record: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(record["status"], "ok");
    assert_eq!((record["frames"].as_u64(), record["skippable_frames"].as_u64()), (Some(2), Some(1)));
    assert_eq!((record["bytes_out"].as_u64(), record["window"].as_u64()), (Some(8), Some(2048)));
    assert_eq!((record["output"].as_str(), record["checksum"].as_bool()), (Some("a"), Some(false)));
    let run = folder.zstd_with(&["-dv", "-f", "a.zst"], b"");
    assert!(run.stderr.starts_with("a.zst: ") && run.stderr.contains("-> 8 bytes"), "{}", run.stderr);
}
