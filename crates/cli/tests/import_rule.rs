//! The import rule of ARCHITECTURE.md, kept over `cargo metadata`: engines import only the core and
//! the zstd decoder, which imports the core alone, the bench imports engines, the command line imports
//! both, and nothing imports the command line. Bindings to other languages import the core and engines,
//! and only each other import them.

use std::process::Command;

use serde_json::Value;

/// What a workspace crate is for, which decides what it may import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Core,
    /// What engines are built on.
    Kernel,
    Engine,
    Bench,
    Cli,
    Binding,
}

/// Every crate of the workspace. A new crate is a new row.
const CRATES: &[(&str, Role)] = &[
    ("linerate-core", Role::Core),
    ("linerate-io", Role::Kernel),
    ("linerate-deflate", Role::Engine),
    ("linerate-rice", Role::Engine),
    ("linerate-nx", Role::Engine),
    ("linerate-zstd", Role::Kernel),
    ("linerate-dict", Role::Engine),
    ("linerate-gateway", Role::Engine),
    ("linerate-bench", Role::Bench),
    ("linerate", Role::Cli),
    ("linerate-hdf5", Role::Binding),
    ("linerate-hdf5-deltarice", Role::Binding),
    ("linerate-hdf5-deltarice2", Role::Binding),
    ("linerate-java", Role::Binding),
    ("linerate-python", Role::Binding),
];

/// Which roles each role may import.
const MAY_IMPORT: &[(Role, &[Role])] = &[
    (Role::Core, &[]),
    (Role::Kernel, &[Role::Core]),
    (Role::Engine, &[Role::Core, Role::Kernel]),
    (Role::Bench, &[Role::Core, Role::Kernel, Role::Engine]),
    (Role::Cli, &[Role::Core, Role::Kernel, Role::Engine, Role::Bench]),
    (Role::Binding, &[Role::Core, Role::Kernel, Role::Engine, Role::Binding]),
];

/// One crate that imports another, in whatever way: as a dependency, for tests or for its build.
struct Import {
    from: String,
    to: String,
}

fn role(name: &str) -> Option<Role> {
    CRATES.iter().find(|row| row.0 == name).map(|row| row.1)
}

fn may_import(from: Role, to: Role) -> bool {
    MAY_IMPORT.iter().any(|(role, allowed)| *role == from && allowed.contains(&to))
}

/// What breaks the rule, one sentence each.
fn violations(crates: &[String], imports: &[Import]) -> Vec<String> {
    let unknown = crates
        .iter()
        .filter(|name| role(name).is_none())
        .map(|name| format!("{name} is in the workspace, but has no row in CRATES"));
    let absent = CRATES
        .iter()
        .filter(|row| !crates.iter().any(|name| name == row.0))
        .map(|row| format!("{} has a row in CRATES, but is not in the workspace", row.0));
    let forbidden = imports.iter().filter_map(|Import { from, to }| match (role(from), role(to)) {
        (Some(a), Some(b)) if may_import(a, b) => None,
        (Some(a), Some(b)) => Some(format!("{from} ({a:?}) may not import {to} ({b:?})")),
        _ => Some(format!("{from} imports {to}, and one of them has no row in CRATES")),
    });
    unknown.chain(absent).chain(forbidden).collect()
}

/// The crates of the workspace and the imports by path, from the output of `cargo metadata`.
fn read(metadata: &Value) -> (Vec<String>, Vec<Import>) {
    let packages = metadata["packages"].as_array().expect("cargo metadata lists packages");
    let name = |v: &Value| v["name"].as_str().expect("a name").to_owned();
    let crates = packages.iter().map(name).collect();
    let imports = packages
        .iter()
        .flat_map(|package| {
            let dependencies = package["dependencies"].as_array().expect("a list of dependencies");
            let local = dependencies.iter().filter(|d| d["path"].is_string());
            local.map(|d| Import { from: name(package), to: name(d) })
        })
        .collect();
    (crates, imports)
}

#[test]
fn the_workspace_keeps_the_rule() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata = serde_json::from_slice(&output.stdout).expect("cargo metadata writes JSON");
    let (crates, imports) = read(&metadata);
    assert!(!imports.is_empty(), "no import by path was found: the reader has gone blind");
    assert_eq!(violations(&crates, &imports), Vec::<String>::new());
}

/// A workspace of all crates in `CRATES` with one dependency of `kind` added.
fn made_up(from: &str, to: &str, kind: Option<&str>) -> Vec<String> {
    let packages: Vec<Value> = CRATES
        .iter()
        .map(|(name, _)| {
            let added = serde_json::json!({ "name": to, "kind": kind, "path": "/somewhere" });
            let dependencies = if *name == from { vec![added] } else { vec![] };
            serde_json::json!({ "name": name, "dependencies": dependencies })
        })
        .collect();
    let (crates, imports) = read(&serde_json::json!({ "packages": packages }));
    violations(&crates, &imports)
}

#[test]
fn what_the_rule_allows_passes() {
    assert_eq!(made_up("linerate-deflate", "linerate-core", None), Vec::<String>::new());
    assert_eq!(made_up("linerate-dict", "linerate-zstd", None), Vec::<String>::new());
    assert_eq!(made_up("linerate-bench", "linerate-deflate", None), Vec::<String>::new());
    assert_eq!(made_up("linerate", "linerate-bench", Some("dev")), Vec::<String>::new());
    assert_eq!(made_up("linerate-hdf5-deltarice", "linerate-rice", None), Vec::<String>::new());
}

#[test]
fn each_way_to_break_the_rule_is_found() {
    for (from, to) in [
        ("linerate-core", "linerate-deflate"),
        ("linerate-zstd", "linerate-dict"),
        ("linerate-deflate", "linerate-bench"),
        ("linerate-deflate", "linerate"),
        ("linerate-bench", "linerate"),
        ("linerate-deflate", "linerate-fuzz"),
        ("linerate-rice", "linerate-hdf5"),
        ("linerate", "linerate-hdf5"),
        ("linerate-hdf5", "linerate-bench"),
        ("linerate-bench", "linerate-python"),
    ] {
        for kind in [None, Some("dev"), Some("build")] {
            let found = made_up(from, to, kind);
            assert_eq!(found.len(), 1, "{from} -> {to} as {kind:?}: {found:?}");
            assert!(found[0].contains(from) && found[0].contains(to), "{found:?}");
        }
    }
}

#[test]
fn engines_never_import_engines() {
    assert!(!may_import(Role::Engine, Role::Engine));
    assert!(CRATES.iter().all(|(_, role)| !may_import(*role, Role::Cli)));
}

#[test]
fn a_crate_without_a_row_is_found() {
    let mut crates: Vec<String> = CRATES.iter().map(|row| row.0.to_owned()).collect();
    crates.push("linerate-new".to_owned());
    let found = violations(&crates, &[]);
    assert_eq!(found, ["linerate-new is in the workspace, but has no row in CRATES"]);
    assert_eq!(violations(&crates[1..CRATES.len()], &[]).len(), 1, "a missing crate is found too");
}
