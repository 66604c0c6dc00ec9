//! Rules of the source tree that the compiler does not check: where `unsafe` may stand, how deep modules
//! nest, that every crate takes the lints of the workspace, and that crates include no files of each other.

use std::fs;
use std::path::{Path, PathBuf};

/// The only folders with `unsafe`: hot loops; mapped files and foreign functions.
const UNSAFE_HOMES: &[&str] = &["kernel", "sys"];
/// Crates of `accel/` have `unsafe` at their borders, too: C's interface, calls with device addresses, and whoever makes
/// such calls.
const UNSAFE_BORDERS: &[&str] = &["cuda/src/capi.rs", "cuda/src/host.rs", "cuda/examples", "cuda/tests"];

/// The folders with crates.
fn roots() -> [PathBuf; 2] {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    [repository.join("crates"), repository.join("accel")]
}

/// Every file below `folder`, sorted, as paths from there.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    fn visit(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("a folder that can be read") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { visit(&path, found) } else { found.push(path) }
        }
    }
    let mut found = Vec::new();
    visit(folder, &mut found);
    found.sort();
    found.iter().map(|path| path.strip_prefix(folder).expect("below the folder").to_owned()).collect()
}

/// Sources of all crates, as paths from the folder with the crate: `deflate/src/lib.rs`.
fn rust_files() -> Vec<(PathBuf, String)> {
    let of_root = |root: PathBuf| {
        let names = files_below(&root).into_iter().filter(|p| p.extension().is_some_and(|e| e == "rs"));
        names.map(move |p| (p.clone(), fs::read_to_string(root.join(&p)).expect("UTF-8 source")))
    };
    let found: Vec<_> = roots().into_iter().flat_map(of_root).collect();
    assert!(found.iter().any(|(path, _)| path.starts_with("cuda/src")), "accel/ is searched");
    found
}

/// Lines, counted from 1, that use the keyword outside a comment.
fn lines_with_unsafe(source: &str) -> Vec<usize> {
    let keyword = concat!("un", "safe");
    // A hyphen too: the name of a content security policy is no code.
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let uses = |line: &str| {
        let code = line.split("//").next().unwrap_or("");
        code.split(|c| !is_word(c)).any(|word| word == keyword)
    };
    source.lines().enumerate().filter(|(_, line)| uses(line)).map(|(i, _)| i + 1).collect()
}

fn may_be_unsafe(path: &Path) -> bool {
    let mut folders = path.parent().into_iter().flat_map(Path::components);
    folders.any(|part| UNSAFE_HOMES.iter().any(|home| part.as_os_str() == *home))
        || UNSAFE_BORDERS.iter().any(|border| path.starts_with(border))
}

/// Folders between a crate's `src` (or `tests`, ...) and the file: `deflate/src/kernel/x.rs` has 1.
fn depth(path: &Path) -> usize {
    path.components().count().saturating_sub(3)
}

#[test]
fn unsafe_code_is_in_kernel_and_sys_only() {
    let mut kernels = 0;
    for (path, source) in rust_files() {
        let lines = lines_with_unsafe(&source);
        kernels += usize::from(may_be_unsafe(&path) && !lines.is_empty());
        assert!(lines.is_empty() || may_be_unsafe(&path), "{}: lines {lines:?}", path.display());
    }
    assert!(kernels > 0, "no kernel matches: the search is broken, or the rule can be stricter");
}

/// Folders that a file may be below `src`: one, but two for `commands/ENGINE/COMMAND.rs`.
fn max_depth(path: &Path) -> usize {
    if path.starts_with("cli/src/commands") { 2 } else { 1 }
}

#[test]
fn modules_nest_at_most_one_folder_deep() {
    for (path, _) in rust_files() {
        assert!(depth(&path) <= max_depth(&path), "{} is nested too deep", path.display());
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

/// No `#[path]` leaves its crate, but to examples: they are compiled and linted where they are.
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
fn search_for_unsafe_finds_code_and_skips_comments() {
    let source =
        concat!("let a = un", "safe { b };\n// un", "safe\nun", "safe_code\nx; un", "safe fn f() {}");
    assert_eq!(lines_with_unsafe(source), [1, 4]);
    assert!(may_be_unsafe(Path::new("deflate/src/kernel/bits.rs")));
    assert!(!may_be_unsafe(Path::new("deflate/src/kernel.rs")));
    assert!(may_be_unsafe(Path::new("cuda/src/capi.rs")) && !may_be_unsafe(Path::new("cuda/src/codec.rs")));
    assert_eq!(depth(Path::new("deflate/src/kernel/bits.rs")), 1);
    assert_eq!(depth(Path::new("deflate/src/kernel/deep/bits.rs")), 2);
}
