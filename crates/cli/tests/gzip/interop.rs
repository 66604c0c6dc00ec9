//! With the system's gzip, both ways.

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
