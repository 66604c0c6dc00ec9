//! `make lint`, by the Rust that `lint-rust` names and by others.

use std::fs;
use std::process::Output;

use crate::machine::Machine;
use crate::{root, text};

/// Lints with a Rust of `version` whose clippy has something to say of all code.
fn lint(version: &str) -> Output {
    let machine = Machine::new();
    machine.has("id", "echo 1000");
    machine.has("cc", "");
    machine.has("gzip", "");
    machine.has("rustc", &format!("echo rustc {version}"));
    machine.has(
        "cargo",
        &format!(
            "case \"$*\" in *--version*) ;; 'clippy '*'-D warnings') echo denied; exit 101 ;;
             'clippy '*) echo 'warning: `linerate` (lib) generated 3 warnings' ;; 'fmt '*) exit {} ;; esac",
            i32::from(version.starts_with("999"))
        ),
    );
    machine.runs("scripts/test.sh", "lint")
}

#[test]
fn warnings_of_a_rust_that_lint_does_not_go_by_are_counted_and_fail_nothing() {
    let output = lint("999.0.0");
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
    assert!(said.contains("note: lint is by Rust 999.0.0"), "{said}");
    assert!(said.contains("note: 3 warnings: clippy"), "{said}");
}

#[test]
fn warnings_of_the_rust_that_lint_goes_by_are_errors() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("a manifest");
    let line = manifest.lines().find_map(|line| line.strip_prefix("lint-rust = ")).expect("a version");
    let output = lint(line.trim_matches('"'));
    let said = text(&output.stdout);
    assert!(!output.status.success() && said.contains("denied"), "{said}");
}
