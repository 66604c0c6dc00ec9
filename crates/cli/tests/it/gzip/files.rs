//! Files that are replaced: their names and attributes, and that none is lost.

use std::fs::{self, File, FileTimes};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use linerate_testkit::data::mixed as sample;
use linerate_testkit::program::{FAILED, Folder, USAGE, WARNED};

fn set_time(path: &std::path::Path, seconds: u64) -> SystemTime {
    let time = UNIX_EPOCH + Duration::from_secs(seconds);
    let file = File::options().write(true).open(path).unwrap();
    file.set_times(FileTimes::new().set_modified(time)).unwrap();
    time
}

fn time_of(path: &std::path::Path) -> SystemTime {
    fs::metadata(path).unwrap().modified().unwrap()
}

#[test]
fn file_is_replaced_and_restored_by_decompression() {
    let folder = Folder::new();
    let data = sample(100_000);
    folder.write("a.txt", &data);
    folder.gzip(&["a.txt"]).ok();
    assert_eq!(folder.names(), ["a.txt.gz"]);
    folder.gzip(&["-d", "a.txt.gz"]).ok();
    assert_eq!(folder.names(), ["a.txt"]);
    assert!(folder.read("a.txt") == data);
}

#[test]
fn each_format_has_its_suffix() {
    let folder = Folder::new();
    for (format, suffix) in [("gzip", "gz"), ("zlib", "zz"), ("deflate", "deflate"), ("bgzf", "gz")] {
        folder.write("a", b"some data");
        folder.gzip(&["--format", format, "a"]).ok();
        assert_eq!(folder.names(), [format!("a.{suffix}")]);
        folder.gzip(&["-d", &format!("a.{suffix}")]).ok();
        assert_eq!(folder.read("a"), b"some data");
    }
    folder.gzip(&["-k", "a"]).ok();
    fs::rename(folder.path("a.gz"), folder.path("b.tgz")).unwrap();
    folder.gzip(&["-d", "b.tgz"]).ok();
    assert_eq!(folder.names(), ["a", "b.tar"]);
}

#[test]
fn missing_file_is_reported_and_others_are_compressed() {
    let folder = Folder::new();
    for name in ["a", "b", "c"] {
        folder.write(name, name.as_bytes());
    }
    let run = folder.gzip(&["a", "missing", "b", "c"]);
    run.fails(FAILED, "linerate: missing: cannot open: No such file or directory");
    assert_eq!(folder.names(), ["a.gz", "b.gz", "c.gz"]);
}

#[test]
fn directory_is_skipped_and_other_files_are_compressed() {
    let folder = Folder::new();
    fs::create_dir(folder.path("dir")).unwrap();
    folder.write("a", b"a");
    let line = "linerate: dir: skipped: it is a directory; -r works on the files below it";
    folder.gzip(&["dir", "a"]).fails(WARNED, line);
    assert_eq!(folder.names(), ["a.gz", "dir"]);
}

#[test]
fn compressed_suffix_on_compression_and_unknown_suffix_on_decompression_are_skipped() {
    let folder = Folder::new();
    folder.write("a.gz", b"whatever");
    folder.write("b", b"whatever");
    folder.gzip(&["a.gz"]).fails(WARNED, "linerate: a.gz: skipped: it has the suffix .gz already");
    let line = "linerate: b: skipped: it has no suffix of compressed files; -S names another one";
    folder.gzip(&["-d", "b"]).fails(WARNED, line);
    assert_eq!(folder.names(), ["a.gz", "b"]);
    // With standard output, the suffix does not matter.
    let twice = folder.gzip(&["-c", "a.gz"]).ok().stdout;
    folder.write("c", &twice);
    assert_eq!(folder.gzip(&["-dc", "c"]).ok().stdout, b"whatever");
}

#[test]
fn existing_outputs_are_kept_unless_forced() {
    let folder = Folder::new();
    folder.write("a", b"new");
    folder.write("a.gz", b"old");
    let line = "linerate: a: a.gz exists already; -f overwrites it";
    folder.gzip(&["a"]).fails(FAILED, line);
    assert_eq!((folder.read("a.gz"), folder.read("a")), (b"old".to_vec(), b"new".to_vec()));
    folder.gzip(&["-f", "a"]).ok();
    assert_eq!(folder.names(), ["a.gz"]);
    assert_eq!(folder.gzip(&["-dc", "a.gz"]).ok().stdout, b"new");
}

#[test]
fn output_option_writes_a_file_or_standard_output() {
    let folder = Folder::new();
    folder.write("a", b"data");
    folder.gzip(&["-o", "out.bin", "a"]).ok();
    assert_eq!(folder.names(), ["a", "out.bin"]);
    assert_eq!(folder.gzip(&["-d", "-o", "-", "out.bin"]).ok().stdout, b"data");
    let line = "linerate: a: out.bin exists already; -f overwrites it";
    folder.gzip(&["-oout.bin", "a"]).fails(FAILED, line);
    folder.gzip_with(&["-fo", "out.bin"], b"from a pipe").ok();
    assert_eq!(folder.gzip(&["-dcf", "out.bin"]).ok().stdout, b"from a pipe");
    folder.gzip(&["-o", "x", "a", "b"]).fails(USAGE, "linerate: -o takes a single input file");
    fs::create_dir(folder.path("dir")).unwrap();
    folder.gzip(&["-fodir", "a"]).fails(FAILED, "linerate: a: the output dir is a directory");
    let line = "linerate: a: cannot create no/where: No such file or directory";
    folder.gzip(&["-o", "no/where", "a"]).fails(FAILED, line);
    assert_eq!(folder.names(), ["a", "dir", "out.bin"]);
}

#[test]
fn time_and_name_of_the_file_are_stored_and_restored() {
    let folder = Folder::new();
    let path = folder.write("original", b"data");
    let time = set_time(&path, 1_000_000_000);
    folder.gzip(&["original"]).ok();
    assert_eq!(time_of(&folder.path("original.gz")), time);
    let bytes = folder.read("original.gz");
    assert_eq!(bytes[3], 8);
    assert_eq!(bytes[4..8], 1_000_000_000u32.to_le_bytes());
    assert_eq!(&bytes[10..19], b"original\0");

    fs::rename(folder.path("original.gz"), folder.path("renamed.gz")).unwrap();
    set_time(&folder.path("renamed.gz"), 1_500_000_000);
    folder.gzip(&["-dk", "renamed.gz"]).ok();
    assert_eq!(time_of(&folder.path("renamed")), UNIX_EPOCH + Duration::from_secs(1_500_000_000));
    folder.gzip(&["-dN", "renamed.gz"]).ok();
    assert_eq!(time_of(&folder.path("original")), time);
    assert_eq!(folder.names(), ["original", "renamed"]);

    folder.gzip(&["-n", "original"]).ok();
    let bytes = folder.read("original.gz");
    assert_eq!(bytes[3..8], [0; 5]);
    assert_eq!(time_of(&folder.path("original.gz")), time);
    folder.gzip(&["-dN", "original.gz"]).ok();
    assert_eq!(time_of(&folder.path("original")), time);
}

#[test]
fn stored_name_with_folders_is_restored_in_the_folder_of_its_file() {
    let folder = Folder::new();
    let packed = folder.gzip_with(&["-n"], b"data").ok().stdout;
    let mut bytes = packed[..10].to_vec();
    bytes[3] = 8;
    bytes.extend_from_slice(b"../../escaped\0");
    bytes.extend_from_slice(&packed[10..]);
    folder.write("sub/a.gz", &bytes);
    folder.gzip(&["-dN", "sub/a.gz"]).ok();
    assert_eq!(folder.read("sub/escaped"), b"data");
    assert_eq!(folder.names(), ["sub"]);
}

#[test]
fn recursion_processes_every_file_once() {
    let folder = Folder::new();
    for name in ["d/a", "d/e/b", "d/e/f/c", "d/e/already.gz"] {
        folder.write(name, name.as_bytes());
    }
    folder.gzip(&["-r", "d"]).ok();
    for name in ["d/a", "d/e/b", "d/e/f/c"] {
        assert!(!folder.has(name));
        assert_eq!(folder.gzip(&["-dc", &format!("{name}.gz")]).ok().stdout, name.as_bytes());
    }
    assert_eq!(folder.read("d/e/already.gz"), b"d/e/already.gz");
    fs::remove_file(folder.path("d/e/already.gz")).unwrap();
    folder.write("d/plain", b"left alone");
    folder.gzip(&["-tr", "d"]).ok();
    folder.gzip(&["-dr", "d"]).ok();
    assert_eq!(folder.read("d/e/f/c"), b"d/e/f/c");
    assert_eq!(folder.read("d/plain"), b"left alone");
    assert!(!folder.has("d/a.gz"));
}

#[test]
fn list_and_json_have_the_sizes() {
    let folder = Folder::new();
    folder.write("a", &sample(300_000));
    let run = folder.gzip(&["-k", "--json", "-1", "-p2", "a"]).ok();
    let record: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    let packed = folder.read("a.gz").len();
    assert_eq!(record["file"], "a");
    assert_eq!(record["output"], "a.gz");
    assert_eq!(record["status"], "ok");
    assert_eq!(record["level"], 1);
    assert_eq!((&record["bytes_in"], &record["bytes_out"]), (&300_000.into(), &packed.into()));

    let list = String::from_utf8(folder.gzip(&["-l", "a.gz"]).ok().stdout).unwrap();
    let words: Vec<&str> = list.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!((words[0], words[1], words[3]), (&*packed.to_string(), "300000", "a.gz"));

    let run = folder.gzip(&["-t", "--json", "missing", "a.gz"]);
    let lines: Vec<serde_json::Value> =
        run.stdout.split(|&b| b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    assert_eq!((lines.len(), run.status), (2, Some(FAILED)));
    assert_eq!((&lines[0]["status"], &lines[1]["status"]), (&"failed".into(), &"ok".into()));

    let run = folder.gzip(&["-c", "--json", "a"]);
    assert!(run.stdout.starts_with(&[0x1f, 0x8b]), "standard output is for the data");
    let record: serde_json::Value = serde_json::from_str(&run.stderr).unwrap();
    assert_eq!(record["bytes_out"], run.stdout.len());
}

#[test]
fn verbose_prints_a_line_for_each_file() {
    let folder = Folder::new();
    folder.write("a", &[b'x'; 1000]);
    let run = folder.gzip(&["-v", "a"]);
    let size = folder.read("a.gz").len();
    assert!(run.stderr.starts_with(&format!("a: 1000 -> {size} bytes (")), "{}", run.stderr);
    assert!(run.stderr.ends_with("-> a.gz\n"), "{}", run.stderr);
    assert_eq!(folder.gzip(&["-tv", "a.gz"]).stderr, "a.gz: OK\n");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    #[test]
    fn mode_is_kept_without_setuid_bits() {
        let folder = Folder::new();
        for (mode, kept) in [(0o640, 0o640), (0o400, 0o400), (0o4755, 0o755)] {
            let path = folder.write("a", b"data");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            folder.gzip(&["a"]).ok();
            assert_eq!(fs::metadata(folder.path("a.gz")).unwrap().mode() & 0o7777, kept);
            folder.gzip(&["-d", "a.gz"]).ok();
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, kept);
            fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn links_are_skipped_unless_forced() {
        let folder = Folder::new();
        folder.write("a", b"data");
        symlink("a", folder.path("soft")).unwrap();
        let line = "linerate: soft: skipped: it is a symbolic link; -f follows it";
        folder.gzip(&["soft"]).fails(WARNED, line);
        folder.gzip(&["-f", "soft"]).ok();
        assert_eq!(folder.names(), ["a", "soft.gz"]);
        assert_eq!(folder.gzip(&["-dc", "soft.gz"]).ok().stdout, b"data");

        fs::hard_link(folder.path("a"), folder.path("hard")).unwrap();
        let line =
            "linerate: hard: skipped: it has other hard links; -k keeps the file, -f replaces it anyway";
        folder.gzip(&["hard"]).fails(WARNED, line);
        folder.gzip(&["-k", "hard"]).ok();
        folder.gzip(&["-f", "a"]).ok();
        assert_eq!(folder.names(), ["a.gz", "hard", "hard.gz", "soft.gz"]);
    }

    #[test]
    fn dangling_link_is_an_error_and_other_files_are_compressed() {
        let folder = Folder::new();
        symlink("nowhere", folder.path("b")).unwrap();
        folder.write("a", b"a");
        folder.write("c", b"c");
        let line = "linerate: b: cannot open: No such file or directory";
        folder.gzip(&["a", "b", "c"]).fails(FAILED, line);
        assert_eq!(folder.names(), ["a.gz", "b", "c.gz"]);
    }

    #[test]
    fn recursion_does_not_follow_links() {
        let folder = Folder::new();
        folder.write("outside", b"data");
        folder.write("d/a", b"data");
        symlink("../outside", folder.path("d/link")).unwrap();
        symlink("..", folder.path("d/loop")).unwrap();
        folder.gzip(&["-r", "d"]).ok();
        assert!(folder.has("outside") && folder.has("d/a.gz") && folder.has("d/link"));
    }

    #[test]
    fn file_name_with_control_characters_is_printed_on_one_line() {
        let folder = Folder::new();
        let line = "linerate: two?lines?[31m: cannot open: No such file or directory";
        folder.gzip(&["two\nlines\x1b[31m"]).fails(FAILED, line);
    }

    #[test]
    fn read_error_is_reported_as_such() {
        let folder = Folder::new();
        let mut command = folder.command(&["gzip", "-p2"]);
        let output = command.stdin(File::open(folder.path("")).unwrap()).output().unwrap();
        assert_eq!(output.status.code(), Some(FAILED));
        let line = "linerate: stdin: cannot read: Is a directory\n";
        assert_eq!(String::from_utf8(output.stderr).unwrap(), line);
        let mut command = folder.command(&["gzip", "-d"]);
        let output = command.stdin(File::open(folder.path("")).unwrap()).output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), line);
    }

    #[test]
    fn output_through_a_link_is_written_to_its_target() {
        let folder = Folder::new();
        folder.write("a", b"data");
        folder.write("sub/real", b"old");
        symlink("sub/real", folder.path("link")).unwrap();
        folder.gzip(&["-fo", "link", "a"]).ok();
        assert!(fs::symlink_metadata(folder.path("link")).unwrap().is_symlink());
        assert_eq!(folder.gzip(&["-dc", "sub/real"]).ok().stdout, b"data");
    }

    #[test]
    fn forced_output_on_a_link_replaces_the_target_and_keeps_the_link() {
        let folder = Folder::new();
        folder.write("a", b"data");
        folder.write("sub/real", b"old");
        symlink("sub/real", folder.path("a.gz")).unwrap();
        folder.gzip(&["-f", "a"]).ok();
        assert!(fs::symlink_metadata(folder.path("a.gz")).unwrap().is_symlink());
        assert_eq!(folder.gzip(&["-dc", "sub/real"]).ok().stdout, b"data");
        assert_eq!(folder.names(), ["a.gz", "sub"]);
    }

    #[test]
    fn forced_output_on_a_fifo_is_written_to_it_and_keeps_the_source() {
        let folder = Folder::new();
        folder.write("a", b"data");
        let fifo = folder.path("a.gz");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
        assert!(made.success());
        let reader = std::thread::spawn(move || fs::read(fifo));
        folder.gzip(&["-f", "a"]).ok();
        let written = reader.join().unwrap().unwrap();
        assert_eq!(folder.gzip_with(&["-d"], &written).ok().stdout, b"data");
        assert_eq!(folder.names(), ["a", "a.gz"]);
        assert_eq!(fs::symlink_metadata(folder.path("a.gz")).unwrap().mode() & 0o170_000, 0o010_000);
    }

    #[test]
    fn private_output_replaced_from_standard_input_stays_private() {
        let folder = Folder::new();
        let path = folder.write("out.gz", b"old");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        folder.gzip_with(&["-fo", "out.gz"], b"secret").ok();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o600);
    }

    /// Tests folders in which nobody, not even root, can create a file: /proc, and a file.
    #[test]
    fn output_in_a_folder_that_takes_no_files_is_an_error() {
        let folder = Folder::new();
        folder.write("a", b"data");
        let line = "linerate: a: cannot create /proc/linerate-test: No such file or directory";
        if std::path::Path::new("/proc/self/status").exists() {
            folder.gzip(&["-o", "/proc/linerate-test", "a"]).fails(FAILED, line);
        }
        folder.write("file", b"not a folder");
        let line = "linerate: a: cannot create file/a.gz: Not a directory";
        folder.gzip(&["-o", "file/a.gz", "a"]).fails(FAILED, line);
        assert_eq!(folder.names(), ["a", "file"]);
    }

    #[test]
    fn full_disk_is_an_error_that_names_it() {
        if !std::path::Path::new("/dev/full").exists() {
            return;
        }
        let folder = Folder::new();
        folder.write("a", &sample(300_000));
        let line = "linerate: a: cannot write /dev/full: the disk is full (No space left on device)";
        folder.gzip(&["-o", "/dev/full", "a"]).fails(FAILED, line);
        assert!(fs::metadata("/dev/full").unwrap().mode() & 0o170_000 == 0o020_000, "still a device");
        let mut command = folder.command(&["gzip", "-c", "a", "missing"]);
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = command.stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(FAILED));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            stderr,
            "linerate: a: cannot write standard output: the disk is full (No space left on device)\n\
             linerate: missing: cannot open: No such file or directory\n"
        );
    }
}
