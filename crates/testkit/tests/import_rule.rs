//! The import rule of ARCHITECTURE.md, checked against `cargo metadata`: base crates import the core,
//! engines the core and base crates but no engine, adapters the core, base crates and engines, the bench engines, the command line all of these.
//! Nothing imports the command line. Accelerators import the core, base crates and engines, and the bench in their
//! tests; bindings the core, base crates, engines, adapters, accelerators and each other.
//! The test kit imports the core, and is a dev-dependency only; the examples of the documentation, which it compiles,
//! import base crates, engines and adapters.

use std::process::Command;

use serde_json::Value;

/// The floor of a workspace crate, which decides what it may import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Core,
    /// Shared by several engines.
    Base,
    Engine,
    /// Puts engines into other libraries.
    Adapter,
    Bench,
    Cli,
    Binding,
    /// Pure computation: imports no other crate of the workspace.
    Plan,
    /// Engines on other hardware.
    Accelerator,
    /// Imported for tests only.
    TestKit,
}

/// Every crate of the workspace. A new crate is a new row.
const CRATES: &[(&str, Role)] = &[
    ("linerate-core", Role::Core),
    ("linerate-io", Role::Base),
    ("linerate-deflate", Role::Engine),
    ("linerate-rice", Role::Engine),
    ("linerate-nx", Role::Engine),
    ("linerate-inflate", Role::Base),
    ("linerate-zstd", Role::Base),
    ("linerate-dict", Role::Engine),
    ("linerate-gateway", Role::Engine),
    ("linerate-websocket", Role::Adapter),
    ("linerate-http", Role::Adapter),
    ("linerate-plan", Role::Plan),
    ("linerate-bench", Role::Bench),
    ("linerate-testkit", Role::TestKit),
    ("linerate", Role::Cli),
    ("linerate-cuda", Role::Accelerator),
    ("linerate-c", Role::Binding),
    ("linerate-slz", Role::Binding),
    ("linerate-rocksdb", Role::Binding),
    ("linerate-z", Role::Binding),
    ("linerate-hdf5", Role::Binding),
    ("linerate-hdf5-deltarice", Role::Binding),
    ("linerate-hdf5-deltarice2", Role::Binding),
    ("linerate-java", Role::Binding),
    ("linerate-node", Role::Binding),
    ("linerate-python", Role::Binding),
];

/// Which roles each role may import.
const MAY_IMPORT: &[(Role, &[Role])] = &[
    (Role::Core, &[]),
    (Role::Base, &[Role::Core]),
    (Role::Engine, &[Role::Core, Role::Base]),
    (Role::Adapter, &[Role::Core, Role::Base, Role::Engine]),
    (Role::Plan, &[]),
    (Role::Bench, &[Role::Core, Role::Base, Role::Engine, Role::Plan]),
    (Role::Cli, &[Role::Core, Role::Base, Role::Engine, Role::Plan, Role::Bench]),
    (Role::Accelerator, &[Role::Core, Role::Base, Role::Engine]),
    (Role::Binding, &[Role::Core, Role::Base, Role::Engine, Role::Adapter, Role::Accelerator, Role::Binding]),
    (Role::TestKit, &[Role::Core]),
];

/// One crate that imports another.
struct Import {
    from: String,
    to: String,
    /// Whether it is a dev-dependency.
    for_tests: bool,
}

fn role(name: &str) -> Option<Role> {
    CRATES.iter().find(|row| row.0 == name).map(|row| row.1)
}

fn may_import(from: Role, to: Role, for_tests: bool) -> bool {
    if to == Role::TestKit {
        return for_tests && !matches!(from, Role::Core | Role::TestKit);
    }
    if (from, to) == (Role::Accelerator, Role::Bench) {
        return for_tests;
    }
    if from == Role::TestKit && for_tests {
        return matches!(to, Role::Core | Role::Base | Role::Engine | Role::Adapter);
    }
    MAY_IMPORT.iter().any(|(role, allowed)| *role == from && allowed.contains(&to))
}

/// The violations of the rule, one sentence each.
fn violations(crates: &[String], imports: &[Import]) -> Vec<String> {
    let unknown = crates
        .iter()
        .filter(|name| role(name).is_none())
        .map(|name| format!("{name} is in the workspace, but has no row in CRATES"));
    let absent = CRATES
        .iter()
        .filter(|row| !crates.iter().any(|name| name == row.0))
        .map(|row| format!("{} has a row in CRATES, but is not in the workspace", row.0));
    let forbidden =
        imports.iter().filter_map(|Import { from, to, for_tests }| match (role(from), role(to)) {
            (Some(a), Some(b)) if may_import(a, b, *for_tests) => None,
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
            local.map(|d| Import { from: name(package), to: name(d), for_tests: d["kind"] == "dev" })
        })
        .collect();
    (crates, imports)
}

#[test]
fn workspace_has_no_violation() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata = serde_json::from_slice(&output.stdout).expect("cargo metadata writes JSON");
    let (crates, imports) = read(&metadata);
    assert!(!imports.is_empty(), "cargo metadata lists no dependency by path");
    assert_eq!(violations(&crates, &imports), Vec::<String>::new());
}

/// A workspace of all crates in `CRATES` with one dependency of `kind` added.
fn with_dependency(from: &str, to: &str, kind: Option<&str>) -> Vec<String> {
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
fn allowed_imports_are_no_violation() {
    assert_eq!(with_dependency("linerate-deflate", "linerate-core", None), Vec::<String>::new());
    assert_eq!(with_dependency("linerate-dict", "linerate-zstd", None), Vec::<String>::new());
    assert_eq!(with_dependency("linerate-bench", "linerate-deflate", None), Vec::<String>::new());
    assert_eq!(with_dependency("linerate", "linerate-bench", Some("dev")), Vec::<String>::new());
    assert_eq!(with_dependency("linerate-hdf5-deltarice", "linerate-rice", None), Vec::<String>::new());
    assert_eq!(with_dependency("linerate-deflate", "linerate-testkit", Some("dev")), Vec::<String>::new());
    assert_eq!(with_dependency("linerate-testkit", "linerate-zstd", Some("dev")), Vec::<String>::new());
    assert_eq!(with_dependency("linerate-websocket", "linerate-inflate", None), Vec::<String>::new());
}

#[test]
fn forbidden_imports_are_violations() {
    for (from, to) in [
        ("linerate-core", "linerate-deflate"),
        ("linerate-zstd", "linerate-dict"),
        ("linerate-inflate", "linerate-deflate"),
        ("linerate-inflate", "linerate-zstd"),
        ("linerate-deflate", "linerate-bench"),
        ("linerate-deflate", "linerate-websocket"),
        ("linerate-websocket", "linerate-bench"),
        ("linerate-testkit", "linerate-bench"),
        ("linerate-deflate", "linerate"),
        ("linerate-bench", "linerate"),
        ("linerate-deflate", "linerate-fuzz"),
        ("linerate-rice", "linerate-hdf5"),
        ("linerate", "linerate-hdf5"),
        ("linerate-hdf5", "linerate-bench"),
        ("linerate-bench", "linerate-python"),
        ("linerate-rice", "linerate-cuda"),
    ] {
        for kind in [None, Some("dev"), Some("build")] {
            let found = with_dependency(from, to, kind);
            assert_eq!(found.len(), 1, "{from} -> {to} as {kind:?}: {found:?}");
            assert!(found[0].contains(from) && found[0].contains(to), "{found:?}");
        }
    }
}

#[test]
fn engines_and_the_command_line_are_not_imported_by_engines() {
    for for_tests in [false, true] {
        assert!(!may_import(Role::Engine, Role::Engine, for_tests));
        assert!(CRATES.iter().all(|(_, role)| !may_import(*role, Role::Cli, for_tests)));
    }
}

#[test]
fn the_test_kit_is_a_dev_dependency_only() {
    for kind in [None, Some("build")] {
        assert_eq!(with_dependency("linerate-deflate", "linerate-testkit", kind).len(), 1);
    }
    assert_eq!(with_dependency("linerate-core", "linerate-testkit", Some("dev")).len(), 1);
    for kind in [None, Some("build")] {
        assert_eq!(with_dependency("linerate-testkit", "linerate-zstd", kind).len(), 1);
    }
}

#[test]
fn crates_without_a_row_and_rows_without_a_crate_are_violations() {
    let mut crates: Vec<String> = CRATES.iter().map(|row| row.0.to_owned()).collect();
    crates.push("linerate-new".to_owned());
    let found = violations(&crates, &[]);
    assert_eq!(found, ["linerate-new is in the workspace, but has no row in CRATES"]);
    assert_eq!(violations(&crates[1..CRATES.len()], &[]).len(), 1, "a missing crate is found too");
}
