//! Checks rules that the compiler does not: where `unsafe` is allowed, how deep modules nest, that
//! every file of integration tests is compiled, that every crate uses the lints of the workspace,
//! that crates include no files of each other, and that `scripts/test.sh` has every part of
//! `make assure`.

use std::fs;
use std::path::{Path, PathBuf};

/// The only folders of `crates/` with `unsafe`: `kernel` for hot loops, `sys` for mapped files and
/// foreign functions.
const UNSAFE_HOMES: &[&str] = &["kernel", "sys"];
/// Files and folders of `accel/` that may have `unsafe`, since they deal with C and with devices.
const UNSAFE_BORDERS: &[&str] = &["cuda/src/capi.rs", "cuda/src/host.rs", "cuda/examples", "cuda/tests"];

/// The folders with the crates for which these rules hold.
fn roots() -> [PathBuf; 2] {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    [repository.join("crates"), repository.join("accel")]
}

/// The Rust sources of all crates in [`roots`], each with its path from there, such as
/// `deflate/src/lib.rs`.
fn rust_files() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for root in roots() {
        let files = linerate_testkit::testdata::files_below(&root).into_iter();
        for path in files.filter(|path| path.extension().is_some_and(|e| e == "rs")) {
            let source = fs::read_to_string(&path).expect("UTF-8 source");
            found.push((path.strip_prefix(&root).expect("below the root").to_owned(), source));
        }
    }
    found
}

/// Whether a line uses the keyword `unsafe` outside a comment.
fn is_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or("");
    // A hyphen counts as part of the word: a content security policy has `unsafe-inline`.
    code.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-')
        .any(|word| word == concat!("un", "safe"))
}

fn may_be_unsafe(path: &Path) -> bool {
    let mut folders = path.parent().into_iter().flat_map(Path::components);
    folders.any(|part| UNSAFE_HOMES.iter().any(|home| part.as_os_str() == *home))
        || UNSAFE_BORDERS.iter().any(|border| path.starts_with(border))
}

#[test]
fn unsafe_code_is_in_kernel_and_sys_only() {
    let files = rust_files();
    let uses = files.iter().filter(|(_, source)| source.lines().any(is_unsafe));
    let (at_home, elsewhere): (Vec<_>, Vec<_>) =
        uses.map(|(path, _)| path).partition(|path| may_be_unsafe(path));
    assert!(elsewhere.is_empty(), "{elsewhere:?}");
    assert!(at_home.iter().any(|path| path.starts_with("cuda/src")), "the search finds none in accel/");
    assert!(!may_be_unsafe(Path::new("deflate/src/kernel.rs")));
}

#[test]
fn modules_nest_at_most_one_folder_deep() {
    for (path, _) in rust_files() {
        // The command line may have two folders below `src`: `commands/ENGINE/COMMAND.rs`.
        let deepest = if path.starts_with("cli/src/commands") { 2 } else { 1 };
        // `CRATE/src/FILE` has 3 parts without a nested folder, `CRATE/tests/it/FILE` has 4.
        let root = if path.iter().nth(2).is_some_and(|folder| folder == "it") { 4 } else { 3 };
        assert!(path.components().count() <= deepest + root, "{} is nested too deep", path.display());
    }
}

/// A file without a `mod` line would not be compiled, and its tests would not run.
#[test]
fn every_file_of_integration_tests_is_a_module_of_their_program() {
    let files = rust_files();
    let in_program = |path: &Path| path.iter().nth(2).is_some_and(|folder| folder == "it");
    let sources = || files.iter().filter(|(path, _)| in_program(path));
    for (path, _) in sources().filter(|(path, _)| !path.ends_with("it/main.rs")) {
        let module = if path.ends_with("mod.rs") { path.parent().expect("a folder") } else { path };
        let line = format!("mod {};", module.file_stem().expect("a name").display());
        let folder = module.parent().expect("a folder");
        let mut parents =
            sources().filter(|(path, _)| [folder.join("main.rs"), folder.join("mod.rs")].contains(path));
        assert!(parents.any(|(_, source)| source.contains(&line)), "{}: no `{line}`", path.display());
    }
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    let [crates, accel] = roots();
    let folders = fs::read_dir(crates).expect("crates/").map(|entry| entry.expect("an entry").path());
    for folder in folders.chain([accel.join("cuda")]) {
        let manifest = folder.join("Cargo.toml");
        let text = fs::read_to_string(&manifest).expect("every folder of crates/ is a crate");
        assert!(text.contains("[lints]\nworkspace = true"), "{}", manifest.display());
    }
}

/// No `#[path]` attribute leads out of its crate, except to examples, which are also compiled and
/// linted as files of their own crate.
#[test]
fn no_module_is_a_file_of_another_crate() {
    for (path, source) in rust_files() {
        let to_crate = path.components().count() - 2;
        let attribute = concat!("#[pa", "th = \"");
        for target in source.lines().filter_map(|line| line.trim().strip_prefix(attribute)) {
            let leaves = target.matches("../").count() > to_crate && !target.contains("/examples/");
            assert!(!leaves, "{}: {target}: put shared code into crates/testkit", path.display());
        }
    }
}

#[test]
fn every_part_of_make_assure_is_a_function_of_test_sh() {
    let read = |path| fs::read_to_string(linerate_testkit::testdata::repository().join(path)).expect("UTF-8");
    let (makefile, script) = (read("Makefile"), read("scripts/test.sh"));
    let parts = makefile.lines().find_map(|line| line.strip_prefix("assure: PARTS = ")).expect("the parts");
    for part in parts.split(' ') {
        assert!(script.contains(&format!("\ntest_{part}()")), "scripts/test.sh: no function test_{part}");
    }
}
