//! GNU tar with the program as its compressor, packing and unpacking.

use std::process::Command;

use linerate_testkit::data::mixed as sample;
use linerate_testkit::program::{Folder, Run, files_below, program};
use linerate_testkit::tools::require;

/// Compressors, and the first bytes of archives that they write.
const COMPRESSORS: [(&str, &[u8]); 2] = [("gzip", b"\x1f\x8b\x08"), ("zstd -q", b"\x28\xb5\x2f\xfd")];

/// A folder with files to pack; `None` without `tar`.
fn tree() -> Option<Folder> {
    let version = Command::new("tar").arg("--version").output();
    let is_gnu = version.is_ok_and(|output| output.stdout.starts_with(b"tar (GNU tar)"));
    if !require(is_gnu, "GNU tar is not installed") {
        return None;
    }
    let folder = Folder::new();
    for (i, len) in [0, 10, 100_000, 1_000_000].into_iter().enumerate() {
        folder.write(&format!("tree/{i}"), &sample(len));
    }
    Some(folder)
}

/// Runs `tar` with this compressor in the folder.
fn tar(folder: &Folder, option: &str, compressor: &str, args: &[&str], input: &[u8]) -> Run {
    let compressor = format!("{option}{} {compressor}", program().display());
    Run::of(Command::new("tar").current_dir(folder.path("")).arg(compressor).args(args), input)
}

#[test]
fn tar_packs_lists_and_unpacks_through_the_program() {
    let Some(folder) = tree() else { return };
    let wanted = files_below(&folder.path("tree"));
    for (compressor, magic) in COMPRESSORS {
        for option in ["-I", "--use-compress-program="] {
            let run = |args: &[&str], input: &[u8]| tar(&folder, option, compressor, args, input).ok().stdout;
            run(&["-cf", "archive", "tree"], b"");
            assert!(folder.read("archive").starts_with(magic));
            assert_eq!(run(&["-tf", "archive"], b"").iter().filter(|&&byte| byte == b'\n').count(), 5);
            // `tar` unpacks the archive from a file and from standard input.
            let piped = run(&["-cf", "-", "tree"], b"");
            for (name, input) in [("archive", &b""[..]), ("-", &piped)] {
                std::fs::create_dir(folder.path("out")).expect("a folder");
                run(&["-xf", name, "-C", "out"], input);
                assert!(files_below(&folder.path("out/tree")) == wanted, "{option} {compressor} {name}");
                std::fs::remove_dir_all(folder.path("out")).expect("it is there");
            }
            std::fs::remove_file(folder.path("archive")).expect("it is there");
        }
    }
}

#[test]
fn tar_that_stops_reading_early_is_no_error() {
    let Some(folder) = tree() else { return };
    for (compressor, _) in COMPRESSORS {
        tar(&folder, "-I", compressor, &["-cf", "archive", "tree"], b"").ok();
        // `tar` leaves most of the archive unread.
        let args = ["-xOf", "archive", "--occurrence=1", "tree/1"];
        assert_eq!(tar(&folder, "-I", compressor, &args, b"").ok().stdout, sample(10));
    }
}

#[test]
fn damage_makes_tar_fail_and_say_why() {
    let Some(folder) = tree() else { return };
    for (compressor, _) in COMPRESSORS {
        tar(&folder, "-I", compressor, &["-cf", "archive", "tree"], b"").ok();
        let archive = folder.read("archive");
        folder.write("archive", &archive[..archive.len() / 2]);
        let run = tar(&folder, "-I", compressor, &["-tf", "archive"], b"");
        assert!(run.status != Some(0) && run.stderr.contains("linerate: stdin: the input ends "), "{run:?}");
    }
}

#[test]
fn output_of_the_program_is_a_pipe_to_tar() {
    let Some(folder) = tree() else { return };
    let untar = |subcommand: &str, archive: &str| {
        let script = format!(
            "set -e; rm -rf out; mkdir out; {} {subcommand} -dc {archive} | tar x -C out",
            program().display()
        );
        Run::of(Command::new("sh").current_dir(folder.path("")).args(["-c", &script]), b"").ok();
        files_below(&folder.path("out/tree"))
    };
    for (subcommand, archive) in [("gzip", "tree.tgz"), ("zstd", "tree.tar.zst")] {
        tar(&folder, "-I", subcommand, &["-cf", archive, "tree"], b"").ok();
        assert!(untar(subcommand, archive) == files_below(&folder.path("tree")), "{archive}");
    }
}
