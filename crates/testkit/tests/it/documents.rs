//! Checks that the target of every link on every page exists, that the book lists every page of
//! `docs/`, that each language of the book's code blocks has a test or needs none, and that readmes
//! and the page of dependencies are up to date.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use linerate_testkit::markdown::{Page, pages};
use linerate_testkit::testdata::repository;

const SUMMARY: &str = "docs/SUMMARY.md";

/// Returns a sentence about a broken link of a page. `None` if the link leads to another site, or
/// to a file of the repository and, if it names a heading, to one that the file has.
fn broken(page: &Page, link: &str, anchors: &BTreeMap<&str, &[String]>) -> Option<String> {
    let (target, anchor) = page.resolve(link)?;
    let target = target.to_string_lossy().replace('\\', "/");
    if !repository().join(&target).exists() {
        return Some(format!("{}: ({link}): there is no {target}", page.path));
    }
    let anchor = anchor?;
    let known = anchors.get(target.as_str()).is_some_and(|known| known.iter().any(|name| name == anchor));
    (!known).then(|| format!("{}: ({link}): {target} has no heading #{anchor}", page.path))
}

#[test]
fn every_link_and_anchor_of_every_page_resolves() {
    let pages = pages();
    let anchors: BTreeMap<&str, &[String]> = pages.iter().map(|page| (&*page.path, &*page.anchors)).collect();
    let links: Vec<(&Page, &String)> =
        pages.iter().flat_map(|page| page.links.iter().map(move |l| (page, l))).collect();
    assert!(links.len() > 100, "only {} links", links.len());
    let found: Vec<String> = links.iter().filter_map(|(page, link)| broken(page, link, &anchors)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_missing_file_and_a_missing_heading_are_broken_links() {
    let page = Page::read(SUMMARY);
    let anchors = BTreeMap::from([(SUMMARY, &*page.anchors)]);
    assert!(broken(&page, "no-such-page.md", &anchors).is_some());
    assert!(broken(&page, "#no-such-heading", &anchors).is_some());
    assert_eq!(broken(&page, "#summary", &anchors), None);
}

#[test]
fn the_summary_of_the_book_lists_every_page_of_docs_once() {
    let summary = Page::read(SUMMARY);
    let listed: Vec<String> = summary.links.iter().map(|link| format!("docs/{link}")).collect();
    let unique: BTreeSet<&String> = listed.iter().collect();
    assert_eq!(unique.len(), listed.len(), "a page is listed twice");
    let pages = pages();
    let written = pages.iter().map(|page| &page.path);
    let written: BTreeSet<&String> =
        written.filter(|path| path.starts_with("docs/") && *path != SUMMARY).collect();
    assert_eq!(unique, written);
}

/// Languages of code blocks that no test runs: layouts and output, commands that are only shown,
/// parts of build files, and (the empty one) indented blocks.
const NOT_RUN: &[&str] = &["", "console", "kotlin", "text", "toml", "xml"];

/// The tests that run or compile the code blocks of each language.
const RUNNERS: &[(&str, &[&str])] = &[
    ("c", &["bindings/c/linerate/tests/it/interface.rs", "bindings/c/slz/tests/interface.rs"]),
    ("cpp", &["bindings/c/linerate/tests/it/interface.rs", "bindings/rocksdb/tests/plugin.rs"]),
    ("csharp", &["bindings/c/linerate/tests/it/interface.rs"]),
    ("go", &["bindings/c/linerate/tests/it/interface.rs"]),
    (
        "java",
        &[
            "bindings/java/gateway/src/test/java",
            "bindings/java/integration/src/test/java",
            "bindings/java/netty/src/test/java",
            "bindings/java/rocksdb/pom.xml",
        ],
    ),
    ("js", &["bindings/node/test/documents.test.js"]),
    ("python", &["bindings/hdf5/tests/test_docs.py", "bindings/python/tests/test_package.py"]),
    ("rust", &["crates/testkit/src/pages.rs"]),
    // `no_run` marks what is only compiled, such as a server, which would not end by itself.
    ("rust,no_run", &["crates/testkit/src/pages.rs"]),
    ("sh", &["crates/cli/tests/it/documents/mod.rs"]),
    ("verilog", &["bindings/hdf5/tests/test_hdl.py"]),
];

/// The text of a file, or of all files below a folder.
fn sources(path: &Path) -> String {
    let Ok(entries) = std::fs::read_dir(path) else {
        return std::fs::read_to_string(path).expect("a source");
    };
    entries.flatten().map(|entry| sources(&entry.path())).collect()
}

/// The front page and the pages of the book. The examples in the crates' own documentation are
/// documentation tests, and need no check here.
fn book() -> impl Iterator<Item = Page> {
    pages().into_iter().filter(|page| page.path == "README.md" || page.path.starts_with("docs/"))
}

#[test]
fn every_language_of_a_code_block_has_a_test_or_is_only_shown() {
    let run = RUNNERS.iter().map(|(language, _)| *language);
    let known: BTreeSet<&str> = run.chain(NOT_RUN.iter().copied()).collect();
    for page in book() {
        for block in &page.code_blocks {
            assert!(known.contains(&*block.language), "{}: a block of `{}`", page.path, block.language);
        }
    }
}

/// The folders of the examples that tests of the bindings compile and run.
const EXAMPLES: [&str; 3] =
    ["bindings/c/linerate/examples", "bindings/c/slz/examples", "bindings/rocksdb/examples"];

#[test]
fn every_block_of_c_cpp_csharp_and_go_is_an_example_of_the_bindings() {
    let examples: String = EXAMPLES.iter().map(|folder| sources(&repository().join(folder))).collect();
    for language in ["c", "cpp", "csharp", "go"] {
        let mut found = 0;
        for block in book().flat_map(|page| page.code_blocks).filter(|block| block.language == language) {
            assert!(examples.contains(&block.text), "{}", block.text);
            found += 1;
        }
        assert!(found > 0, "no page has blocks of {language}");
    }
}

#[test]
fn every_page_with_rust_or_java_blocks_is_named_by_the_tests_that_compile_them() {
    for (language, tests) in RUNNERS.iter().filter(|(language, _)| matches!(*language, "java" | "rust")) {
        let tests: String = tests.iter().map(|path| sources(&repository().join(path))).collect();
        let mut found = 0;
        for page in book().filter(|page| page.code_blocks.iter().any(|block| block.language == *language)) {
            let name = page.path.strip_prefix("docs/").unwrap_or(&page.path);
            assert!(tests.contains(name), "{}: its {language} blocks are in no test", page.path);
            found += 1;
        }
        assert!(found > 0, "no page has {language} blocks");
    }
}

/// The documentation at the top of a `lib.rs` whose text is `source`.
fn crate_documentation(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect()
}

#[test]
fn every_crate_has_a_readme_with_the_first_example_of_its_documentation() {
    let folder = repository().join("crates");
    let mut compared = 0;
    for entry in std::fs::read_dir(folder).expect("crates").flatten() {
        let name = entry.file_name().into_string().expect("UTF-8");
        let readme = Page::read(&format!("crates/{name}/README.md"));
        assert!(!readme.code_blocks.is_empty(), "{} has no example", readme.path);
        let source = std::fs::read_to_string(entry.path().join("src/lib.rs")).unwrap_or_default();
        let documentation = Page::parse("lib.rs", &crate_documentation(&source));
        let Some(example) = documentation.code_blocks.iter().find(|block| block.language.is_empty()) else {
            continue;
        };
        let shown: String =
            example.text.lines().filter(|line| !line.starts_with("# ")).map(|l| format!("{l}\n")).collect();
        assert_eq!(readme.code_blocks[0].text, shown, "{} and the crate's documentation", readme.path);
        compared += 1;
    }
    assert!(compared >= 8, "{compared}");
}

#[test]
fn the_page_of_dependencies_names_every_one_of_the_workspace() {
    let manifest = std::fs::read_to_string(repository().join("Cargo.toml")).expect("a manifest");
    let (_, rest) = manifest.split_once("[workspace.dependencies]\n").expect("dependencies");
    let (lines, _) = rest.split_once("\n[").expect("another section");
    let names = lines.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name);
    let names: BTreeSet<&str> = names.filter(|name| !name.starts_with("linerate-")).collect();
    let tables = Page::read("docs/reference/dependencies.md").tables;
    let cells = tables.iter().flatten().filter_map(|row| row.first());
    let named: BTreeSet<&str> =
        cells.flat_map(|cell| cell.text.split(", ")).filter(|name| *name != "crate").collect();
    assert_eq!(named, names);
}
