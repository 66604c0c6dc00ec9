//! `make install` and `make uninstall`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::{run, text};

fn make(target: &str, destination: &Path) {
    let destination = format!("DESTDIR={}", destination.display());
    let binary = concat!("BINARY=", env!("CARGO_BIN_EXE_linerate"));
    let output = run(Command::new("make").args([target, "PREFIX=/opt/tools", &destination, binary]));
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// The files below `folder`, by their paths in it, and their modes.
fn files(folder: &Path) -> Vec<(String, u32)> {
    let mut folders = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder that can be read") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("below the folder").display().to_string();
                found.push((name, path.metadata().expect("a file").permissions().mode() & 0o777));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn install_puts_program_pages_and_completions_and_uninstall_leaves_what_is_not_its_own() {
    let destination = tempfile::tempdir().expect("a folder");
    make("install", destination.path());

    let prefix = destination.path().join("opt/tools");
    let installed = files(&prefix);
    let has = |name: &str, mode| installed.contains(&(name.to_owned(), mode));
    for name in [
        "share/man/man1/linerate.1",
        "share/man/man1/linerate-gzip.1",
        "share/man/man1/linerate-rice-encode.1",
        "share/man/man1/linerate-dict-sst-ls.1",
        "share/bash-completion/completions/linerate",
        "share/zsh/site-functions/_linerate",
        "share/fish/vendor_completions.d/linerate.fish",
        "share/doc/linerate/LICENSE-APACHE",
        "share/doc/linerate/LICENSE-MIT",
        "share/doc/linerate/THIRD-PARTY.txt",
    ] {
        assert!(has(name, 0o644), "{name} is not in {installed:?}");
    }
    assert!(has("bin/linerate", 0o755), "{installed:?}");
    assert!(!installed.iter().any(|(name, _)| name.ends_with(".new")), "{installed:?}");
    let page = fs::read_to_string(prefix.join("share/man/man1/linerate-rice-encode.1")).expect("a page");
    assert!(page.contains(".TH linerate-rice-encode 1"), "{page}");

    let others = "share/man/man1/other.1";
    fs::write(prefix.join(others), "").expect("room for a page");
    make("uninstall", destination.path());
    let left: Vec<String> = files(&prefix).into_iter().map(|(name, _)| name).collect();
    assert_eq!(left, [others]);
}
