//! Tests archives on Windows: names that it rejects, long paths, and files that other programs hold
//! open.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::windows::ffi::OsStringExt;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;

use linerate_nx::pack::{Builder, FileOptions, PackOptions, Walk};
use linerate_nx::{Existing, Extractor, FileError, Verifier};

use crate::common::make::of;

const FILE_SHARE_READ: u32 = 1;

fn names(folder: &Path) -> Vec<OsString> {
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

#[test]
fn names_that_windows_rejects_are_refused_and_other_files_extracted() {
    let bad = [
        "CON",
        "con.txt",
        "a/NUL",
        "COM1",
        "lpt9.log",
        "AUX.h",
        "dot.",
        "space ",
        "dir./x",
        "C:/x",
        "c:x",
        "plain:stream",
        r"back\slash",
        r"..\up",
        r"\\server\share\x",
        "star*",
        "what?",
        "less<",
        "more>",
        "pipe|",
        "quote\"",
        "bell\u{7}",
    ];
    let archive = of(&[&["first"][..], &bad, &["last"]].concat());
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("root");
    for existing in [Existing::Fail, Existing::Skip, Existing::Replace] {
        let done = Extractor::new(&archive).threads(2).existing(existing).to_folder(&root).unwrap();
        assert_eq!(
            done.failures.iter().filter(|f| matches!(f.source, FileError::Path(_))).count(),
            bad.len()
        );
        for failure in done.failures.iter().filter(|f| matches!(f.source, FileError::Path(_))) {
            assert_eq!(failure.to_string().lines().count(), 1, "{failure}");
        }
        assert_eq!(names(&root), ["first", "last"]);
        assert_eq!(names(place.path()), ["root"]);
    }
}

#[test]
fn letters_with_one_capital_are_one_name() {
    let paths = ["File.txt", "FILE.TXT", "\u{3c3}", "\u{3c2}", "\u{e4}", "\u{c4}"];
    let archive = of(&paths);
    let place = tempfile::tempdir().unwrap();
    let done = Extractor::new(&archive).existing(Existing::Replace).to_folder(place.path()).unwrap();
    assert!(done.failures.iter().all(|f| matches!(f.source, FileError::Collision)), "{:?}", done.failures);
    assert_eq!((done.files, done.failures.len()), (3, 3));
    for (i, path) in paths.iter().enumerate().step_by(2) {
        assert_eq!(fs::read(place.path().join(path)).unwrap(), [b'A' + i as u8], "the first one stays");
    }
    let error = Extractor::new(&of(&["fIlE.tXt"])).to_folder(place.path()).unwrap().failures.remove(0);
    assert!(matches!(error.source, FileError::Exists), "{error}");
}

#[test]
fn paths_beyond_260_characters_are_packed_extracted_and_verified() {
    let long = format!("{0}/{0}/{0}/{0}/file", "n".repeat(120));
    let archive = of(&[&long, "short"]);
    let place = tempfile::tempdir().unwrap();
    let done = Extractor::new(&archive).threads(2).to_folder(place.path()).unwrap();
    assert!(done.failures.is_empty() && done.files == 2, "{:?}", done.failures);
    let compared = Verifier::new(&archive).compare(place.path()).unwrap();
    assert!(compared.failures.is_empty() && compared.different.is_empty() && compared.changes.is_empty());

    let mut builder = Builder::new(PackOptions::default()).unwrap();
    builder.add_folder(place.path(), |_| Some(FileOptions::default())).unwrap();
    let target = place.path().join(&long).with_file_name("a.nx");
    builder.write(&target).unwrap();
    let packed = Archive::open(fs::read(&target).unwrap()).unwrap();
    assert_eq!(packed.files().map(|file| file.path().len()).max(), Some(long.len()));

    let verbatim = place.path().canonicalize().unwrap().join("verbatim");
    assert_eq!(Extractor::new(&archive).to_folder(&verbatim).unwrap().files, 2);
    assert_eq!(fs::read(verbatim.join(long.replace('/', "\\"))).unwrap(), b"A");
}

#[test]
fn file_that_another_program_holds_is_an_error_of_that_file() {
    let archive = of(&["held", "free"]);
    let place = tempfile::tempdir().unwrap();
    for name in ["held", "free"] {
        fs::write(place.path().join(name), b"old").unwrap();
    }
    let held =
        File::options().read(true).share_mode(FILE_SHARE_READ).open(place.path().join("held")).unwrap();
    let done = Extractor::new(&archive).existing(Existing::Replace).to_folder(place.path()).unwrap();
    assert_eq!((done.files, done.failures.len()), (1, 1));
    assert_eq!(done.failures[0].path, "held");
    assert_eq!(fs::read(place.path().join("held")).unwrap(), b"old");
    assert_eq!(fs::read(place.path().join("free")).unwrap(), b"B");
    assert_eq!(names(place.path()), ["free", "held"], "no temporary file stays");
    drop(held);

    let exclusive = File::options().read(true).share_mode(0).open(place.path().join("held")).unwrap();
    let mut builder = Builder::new(PackOptions::default()).unwrap();
    let packed = builder
        .add_folder(place.path(), |_| Some(FileOptions::default()))
        .map(drop)
        .and_then(|()| builder.write(&place.path().join("a.nx")).map(drop));
    let error = packed.unwrap_err();
    assert!(error.file().is_some_and(|file| file.ends_with("held")), "{error}");
    assert_eq!(names(place.path()), ["free", "held"]);
    drop(exclusive);
}

/// NTFS names are sequences of 16-bit units, which may be invalid Unicode.
#[test]
fn name_that_is_not_unicode_is_named_and_others_packed() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("good"), b"x").unwrap();
    let odd = OsString::from_wide(&[u16::from(b'a'), 0xd800, u16::from(b'b')]);
    if fs::write(place.path().join(&odd), b"x").is_err() || !names(place.path()).contains(&odd) {
        let _ = writeln!(
            io::stderr(),
            "SKIP: this file system (as of wine on Linux) has no names with unpaired surrogates"
        );
        return;
    }
    let mut builder = Builder::new(PackOptions::default()).unwrap();
    let error = builder.add_folder(place.path(), |_| Some(FileOptions::default())).unwrap_err();
    assert!(error.to_string().contains("the name is not UTF-8"), "{error}");
    let mut builder = Builder::new(PackOptions::default()).unwrap();
    let walk = Walk::new(place.path()).skip_bad_names(true);
    let skipped = builder.add_folder(walk, |_| Some(FileOptions::default())).unwrap();
    assert_eq!((builder.len(), skipped.bad_names.len()), (1, 1));
    assert_eq!(skipped.bad_names[0].path, place.path().join(&odd));
}
