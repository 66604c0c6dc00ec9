//! Tests rules of Windows: files that programs hold open, backslashes, names, and lists with
//! carriage returns.

use std::fs::File;
use std::os::windows::fs::OpenOptionsExt;

use linerate_testkit::program::{DAMAGED, FAILED, Folder};

use super::forge;

const FILE_SHARE_READ: u32 = 1;
const REMEDY: &str = "close the program that has it open, and try again";

/// Opens a file as games open their archives: others may read it, but neither write nor delete it.
fn held(folder: &Folder, name: &str) -> File {
    File::options().read(true).share_mode(FILE_SHARE_READ).open(folder.path(name)).expect("it is there")
}

#[test]
fn archive_that_a_program_holds_is_kept_and_the_error_says_what_to_do() {
    let folder = Folder::new();
    folder.write("mods/a.txt", b"first");
    folder.nx(&["pack", "mods", "-o", "a.nx"]).ok();
    let before = folder.read("a.nx");
    folder.write("mods/b.txt", b"second");
    let _game = held(&folder, "a.nx");
    for args in [&["pack", "-f", "mods", "-o", "a.nx"][..], &["update", "a.nx", "mods"]] {
        let run = folder.nx(args);
        assert_eq!((run.status, run.stderr.lines().count()), (Some(FAILED), 1), "{}", run.stderr);
        assert!(run.stderr.contains("a.nx: ") && run.stderr.trim_end().ends_with(REMEDY), "{}", run.stderr);
        assert!(folder.read("a.nx") == before);
        assert_eq!(folder.names(), ["a.nx", "mods"], "neither a temporary file nor that of the lock");
    }
    assert_eq!(folder.nx(&["list", "a.nx"]).ok().lines(), ["a.txt"]);
}

#[test]
fn file_that_a_program_keeps_to_itself_is_named_as_in_use() {
    let folder = Folder::new();
    folder.write("mods/a.txt", b"first");
    let _editor = File::options().read(true).share_mode(0).open(folder.path("mods/a.txt")).unwrap();
    for run in [folder.nx(&["pack", "mods", "-o", "a.nx"]), folder.gzip(&["mods/a.txt"])] {
        assert_eq!((run.status, run.stderr.lines().count()), (Some(FAILED), 1), "{}", run.stderr);
        assert!(run.stderr.contains("a.txt") && run.stderr.trim_end().ends_with(REMEDY), "{}", run.stderr);
    }
    assert_eq!(folder.names(), ["mods"]);
}

#[test]
fn back_slashes_of_a_completed_name_are_slashes_of_the_archive() {
    let folder = Folder::new();
    for name in ["mods/textures/wall.dds", "mods/textures/leaf.dds", "mods/readme.txt"] {
        folder.write(name, name.as_bytes());
    }
    folder.nx(&["pack", r".\mods", "-o", r".\a.nx"]).ok();
    assert_eq!(folder.nx(&["list", "a.nx", r"textures\wall.dds"]).ok().lines(), ["textures/wall.dds"]);
    folder.nx(&["extract", "a.nx", r"textures\*.dds", "-o", r"out\deep"]).ok();
    assert_eq!(folder.read("out/deep/textures/leaf.dds"), b"mods/textures/leaf.dds");
    assert!(!folder.has("out/deep/readme.txt"));
    folder.nx(&["delete", "a.nx", r"textures\"]).ok();
    assert_eq!(folder.nx(&["list", "a.nx"]).ok().lines(), ["readme.txt"]);
}

#[test]
fn names_that_windows_rejects_are_one_line_each() {
    let folder = Folder::new();
    let bad = ["COM1.txt", "a:b", "what?.html", r"x\y", "dot."];
    let files: Vec<(&str, &[u8])> = bad.iter().chain(&["good"]).map(|name| (*name, &b"x"[..])).collect();
    folder.write("a.nx", &forge::stored(&files));
    let run = folder.nx(&["extract", "a.nx", "-o", "out"]);
    assert_eq!((run.status, run.stderr.lines().count()), (Some(DAMAGED), bad.len()), "{}", run.stderr);
    assert!(run.stderr.lines().all(|line| line.contains(": not extracted: ")), "{}", run.stderr);
    let names: Vec<_> =
        std::fs::read_dir(folder.path("out")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["good"]);
}

#[test]
fn text_on_a_pipe_is_utf8_with_line_feeds_and_no_colours() {
    let folder = Folder::new();
    folder.write("mods/ümlaut/日本語.txt", b"x");
    folder.nx(&["pack", "mods", "-o", "a.nx"]).ok();
    assert_eq!(folder.nx(&["list", "a.nx"]).ok().stdout, "ümlaut/日本語.txt\n".as_bytes());
    let help = folder.nx(&["--help"]).ok().text();
    assert!(!help.contains('\x1b') && !help.contains('\r'));
    // A list that a Windows editor has saved, with carriage returns.
    folder.write("mods/other", b"y");
    folder.nx(&["pack", "-f", "mods", "-o", "a.nx"]).ok();
    let objects = folder.nx(&["list", "--json", "a.nx"]).ok().text();
    let hash = linerate_nx::HashKind::Xxh3.hash_bytes(b"x");
    assert!(objects.contains(&format!("{hash:016x}")), "{objects}");
    folder.write("hashes.txt", format!("{hash:016x}\r\n\r\n").as_bytes());
    folder.nx(&["delete", "--keep-hashes", "hashes.txt", "a.nx"]).ok();
    assert_eq!(folder.nx(&["list", "a.nx"]).ok().lines(), ["ümlaut/日本語.txt"]);
}

/// Mod managers keep their folders deep below a user's folder.
#[test]
fn folders_beyond_260_characters_are_packed_and_extracted() {
    let folder = Folder::new();
    let long = format!("{0}/{0}/{0}/file", "n".repeat(100));
    folder.write("a.nx", &forge::stored(&[(&long, b"content")]));
    folder.nx(&["extract", "a.nx", "-o", "out"]).ok();
    assert_eq!(folder.read(&format!("out/{long}")), b"content");
    folder.nx(&["pack", "out", "-o", "b.nx"]).ok();
    assert_eq!(folder.nx(&["list", "b.nx"]).ok().lines(), [&*long]);
    folder.nx(&["verify", "--against", "out", "b.nx"]).ok();
    let below = folder.path(&format!("out/{long}")).with_file_name("c.nx");
    folder.nx(&["extract", "b.nx", "-o", below.with_file_name("again").to_str().unwrap()]).ok();
    assert_eq!(
        std::fs::read(below.with_file_name("again").join(long.replace('/', r"\"))).unwrap(),
        b"content"
    );
}
