//! `docs/reference/command.md`: the help of every subcommand.
//!
//! `LINERATE_UPDATE=1 cargo test -p linerate --test it documents` writes it anew.

use std::process::Command;
use std::{env, fs};

use linerate_testkit::testdata::repository;
use linerate_testkit::tools::skip;

const PAGE: &str = "docs/reference/command.md";
const HEAD: &str = "\
# Command reference

The help of every subcommand, as `linerate SUBCOMMAND --help` prints it. What they share is [the contract](cli.md).
";

fn stdout(args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.args(args).env("NO_COLOR", "1").env_remove("CLICOLOR_FORCE").env_remove("COLUMNS");
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{args:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    for name in stdout(&["man", "--list"]).lines() {
        let args: Vec<&str> = name.split(' ').chain(["--help"]).collect();
        page.push_str(&format!("\n## linerate {name}\n\n```text\n{}\n```\n", stdout(&args).trim_end()));
    }
    page
}

#[test]
fn the_command_reference_is_the_help_of_every_subcommand() {
    let (path, wanted) = (repository().join(PAGE), page());
    if env::var_os("LINERATE_UPDATE").is_some() {
        fs::write(&path, &wanted).expect("a page");
    }
    let Ok(found) = fs::read_to_string(&path) else {
        return skip(&format!(
            "there is no {PAGE}; LINERATE_UPDATE=1 writes it, docs/SUMMARY.md then needs its line"
        ));
    };
    assert!(found == wanted, "{PAGE} is not what the program prints; LINERATE_UPDATE=1 writes it");
}
