//! Exchanges files with the system's gzip, in both directions.

use std::process::Command;

use linerate_testkit::tools::has_program;

use linerate_testkit::data::mixed as sample;
use linerate_testkit::program::{Folder, Run};

fn system_gzip(args: &[&str], input: &[u8]) -> Run {
    Run::of(Command::new("gzip").args(args), input)
}

#[test]
fn gzip_decompresses_our_output() {
    if !has_program("gzip") {
        return;
    }
    let folder = Folder::new();
    let data = sample(1_500_000);
    folder.write("a name", &data);
    for args in [
        &["-0c"][..],
        &["-1c"],
        &["-2c", "-p3"],
        &["-3c", "-b", "16K"],
        &["-2c", "--history", "-b8K"],
        &["-c", "--format=bgzf"],
        &["-nc"],
    ] {
        let packed = folder.gzip(&[args, &["a name"]].concat()).ok().stdout;
        system_gzip(&["-t"], &packed).ok();
        assert!(system_gzip(&["-dc"], &packed).ok().stdout == data, "{args:?}");
    }
    system_gzip(&["-t"], &folder.gzip_with(&[], b"").ok().stdout).ok();
}

#[test]
fn output_of_gzip_is_decompressed() {
    if !has_program("gzip") {
        return;
    }
    let folder = Folder::new();
    let data = sample(1_500_000);
    for args in [&["-1c"][..], &["-6c"], &["-9c"]] {
        let packed = system_gzip(args, &data).stdout;
        assert!(folder.gzip_with(&["-d"], &packed).ok().stdout == data);
    }
    let path = folder.write("original", &data);
    assert!(Command::new("gzip").arg("-N").arg(&path).status().unwrap().success());
    folder.gzip(&["-dN", "original.gz"]).ok();
    assert!(folder.read("original") == data);
}

#[test]
fn gzip_restores_our_stored_name_and_time() {
    if !has_program("gzip") {
        return;
    }
    let folder = Folder::new();
    let path = folder.write("original", b"data");
    let time = std::fs::metadata(&path).unwrap().modified().unwrap();
    folder.gzip(&["original"]).ok();
    std::fs::rename(folder.path("original.gz"), folder.path("x.gz")).unwrap();
    assert!(Command::new("gzip").arg("-dN").arg(folder.path("x.gz")).status().unwrap().success());
    let restored = std::fs::metadata(&path).unwrap().modified().unwrap();
    assert_eq!(folder.names(), ["original"]);
    let seconds = |t: std::time::SystemTime| t.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    assert_eq!(seconds(restored), seconds(time));
}

#[test]
fn what_follows_a_member_is_passed_through_or_refused_as_by_gzip() {
    if !has_program("gzip") {
        return;
    }
    let folder = Folder::new();
    let packed = folder.gzip_with(&[], b"content").ok().stdout;
    for tail in
        [&b""[..], b"x", b"garbage\n", b"\x1f", b"\x1fg", b"\0", b"\0\0\x1f", b"\x1f\x8b", b"\x1f\x8b\x08"]
    {
        for start in [&packed[..], b""] {
            let input = [start, tail].concat();
            let (ours, theirs) = (folder.gzip_with(&["-dcf"], &input), system_gzip(&["-dcf"], &input));
            let wanted = (theirs.status == Some(0), theirs.stdout);
            assert_eq!((ours.status == Some(0), ours.stdout), wanted, "{} bytes, then {tail:?}", start.len());
        }
    }
}

#[test]
fn gzip_and_ours_read_the_suffixes_of_each_other() {
    if !has_program("gzip") {
        return;
    }
    let folder = Folder::new();
    for suffix in [".xx", "-z", ".gz.old"] {
        let path = folder.write("file", b"content");
        assert!(Command::new("gzip").args(["-S", suffix]).arg(&path).status().unwrap().success());
        folder.gzip(&["-dS", suffix, &format!("file{suffix}")]).ok();
        assert_eq!(folder.read("file"), b"content");
        folder.gzip(&["-S", suffix, "file"]).ok();
        let packed = folder.path(&format!("file{suffix}"));
        assert!(Command::new("gzip").args(["-dS", suffix]).arg(packed).status().unwrap().success());
        assert_eq!(folder.names(), ["file"]);
    }
}
