//! Runs the commands on the pages of the documentation, and checks what the front page names.
//!
//! Every fenced `sh` block is run, the blocks of a page one after the other in a folder with the
//! files of [`data`]. Indented and `console` blocks are not run.

mod data;
mod reference;

use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs};

use linerate_testkit::markdown::{CodeBlock, Page, Table, pages};
use linerate_testkit::testdata::repository;

/// Runs a script where `linerate` is this build's program.
fn run(script: &str, folder: &Path) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_linerate")).parent().expect("a folder");
    let path = env::join_paths(
        [program.to_owned()].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap_or_default())),
    );
    let mut shell = Command::new("bash");
    shell.args(["-euo", "pipefail", "-c", script]).current_dir(folder).env("PATH", path.expect("a path"));
    shell.output().expect("bash")
}

/// The `sh` blocks of a page.
fn scripts(page: &Page) -> Vec<&str> {
    page.code_blocks.iter().filter(|block| block.language == "sh").map(|block| block.text.as_str()).collect()
}

/// The table of the front page, without its head.
fn front_table(readme: &Page) -> &[Vec<linerate_testkit::markdown::Cell>] {
    let found: Option<&Table> = readme.tables.iter().find(|table| table[0][0].text == "I have");
    &found.expect("a table of what visitors have")[1..]
}

/// Whether an install line names something that the repository has.
fn can_install(line: &str) -> bool {
    let root = repository();
    let words: Vec<&str> = line.split([' ', '"']).filter(|word| !word.is_empty()).collect();
    match words[..] {
        ["make", target, ..] => {
            let makefile = fs::read_to_string(root.join("Makefile")).expect("a Makefile");
            makefile.lines().any(|line| line.starts_with(&format!("{target}: ")))
        }
        ["pip", "install", package, ..] => {
            let (folder, extra) = package.split_once('[').unwrap_or((package, ""));
            let project = fs::read_to_string(root.join(folder).join("pyproject.toml")).unwrap_or_default();
            let mut extras = extra.trim_end_matches(']').split(',').filter(|extra| !extra.is_empty());
            let has = |extra: &str| project.lines().any(|line| line.starts_with(&format!("{extra} = ")));
            !project.is_empty() && extras.all(has)
        }
        ["mvn", "-f", folder, ..] => root.join(folder).join("pom.xml").exists(),
        ["cargo", "install", "--path", folder, ..] => root.join(folder).join("Cargo.toml").exists(),
        ["cargo", "add", name, "--path", folder, ..] => {
            // The project that the crate is added to is elsewhere.
            let folder = folder.trim_start_matches("/path/to/linerate/");
            let manifest = fs::read_to_string(root.join(folder).join("Cargo.toml")).unwrap_or_default();
            manifest.contains(&format!("name = \"{name}\"\n"))
        }
        _ => false,
    }
}

#[test]
fn every_sh_block_of_every_page_runs() {
    let pages = pages();
    let with_scripts: Vec<&Page> = pages.iter().filter(|page| !scripts(page).is_empty()).collect();
    assert!(with_scripts.len() >= 6, "{}", with_scripts.len());
    for page in with_scripts {
        let folder = data::folder();
        for script in scripts(page) {
            let output = run(script, folder.path());
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {}\n{script}{error}", page.path, output.status);
        }
    }
}

#[test]
fn every_row_of_the_front_page_leads_to_a_page_with_its_install_line_and_a_first_command() {
    let readme = Page::read("README.md");
    let rows = front_table(&readme);
    assert!(rows.len() >= 8, "{}", rows.len());
    for row in rows {
        let [have, install, target] = &row[..] else { panic!("a row of three cells: {row:?}") };
        assert!(can_install(&install.text), "{}: {}", have.text, install.text);
        let (path, _) = readme.resolve(&target.links[0]).expect("a page of this repository");
        let page = Page::read(&path.to_string_lossy());
        let is_shown = |language: &str| matches!(language, "" | "console");
        let commands = page.code_blocks.iter().filter(|block| is_shown(&block.language));
        let is_install = |line: &str| {
            line.trim_start_matches("$ ").split("&&").any(|part| part.trim().starts_with(&install.text))
        };
        let said = commands.flat_map(|block| block.text.lines()).any(is_install);
        assert!(said, "{} does not say `{}`", page.path, install.text);
        // `RUNNERS` in the test kit's `documents.rs` names the tests that run blocks of languages
        // other than `sh`. Servers that load a library need no code: the tests of `bindings/c/zlib`
        // start them.
        let is_run = |language: &str| {
            matches!(language, "sh" | "python" | "java" | "js" | "rust" | "rust,no_run" | "c" | "cpp")
        };
        let is_example = |block: &CodeBlock| is_run(&block.language) || block.text.contains("=LD_PRELOAD=");
        assert!(page.code_blocks.iter().any(is_example), "{} has no example", page.path);
        if install.text == "make install" {
            let first = scripts(&page).first().and_then(|script| script.lines().next().map(str::to_owned));
            let first = first.unwrap_or_else(|| panic!("{} has no first command", page.path));
            assert!(first.starts_with("linerate "), "{}: {first}", page.path);
        }
    }
}

#[test]
fn the_install_lines_of_the_front_page_name_what_exists() {
    let readme = Page::read("README.md");
    let lines = readme.code_blocks.iter().filter(|block| block.language.is_empty());
    let lines: Vec<&str> = lines.flat_map(|block| block.text.lines()).collect();
    let installs: Vec<&&str> = lines
        .iter()
        .filter(|line| ["install", "pip", "mvn"].iter().any(|word| line.contains(word)))
        .collect();
    assert!(installs.len() >= 4, "{installs:?}");
    installs.iter().for_each(|line| assert!(can_install(line), "{line}"));
}

#[test]
fn an_install_line_of_something_else_is_not_accepted() {
    for line in [
        "make no-such-target",
        "cargo add linerate-none --path crates/websocket",
        "pip install bindings/none",
        "mvn -f crates install",
        "apt install linerate",
    ] {
        assert!(!can_install(line), "{line}");
    }
    assert!(!can_install("pip install \"bindings/python[no-such-extra]\""));
}
