//! Checks by `cargo metadata` that the workspace's crates keep the import rule of ARCHITECTURE.md.
//! A new crate needs a row in `CRATES`.

use std::process::Command;

use serde_json::Value;

/// The layer of a workspace crate, which decides which crates it may import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Core,
    /// Shared by several engines.
    Base,
    Engine,
    /// Puts engines into other libraries.
    Adapter,
    /// Plays the other side of an engine's connections.
    Simulator,
    /// Computes a plan from measurements, without I/O.
    Plan,
    /// Measures engines on the user's data.
    Candidates,
    Bench,
    Cli,
    /// Engines on other hardware.
    Accelerator,
    Binding,
    TestKit,
}
use Role::*;

const CRATES: &[(&str, Role)] = &[
    ("linerate-core", Core),
    ("linerate-io", Base),
    ("linerate-inflate", Base),
    ("linerate-zstd", Base),
    ("linerate-deflate", Engine),
    ("linerate-rice", Engine),
    ("linerate-nx", Engine),
    ("linerate-dict", Engine),
    ("linerate-gateway", Engine),
    ("linerate-websocket", Adapter),
    ("linerate-http", Adapter),
    ("linerate-gateway-sim", Simulator),
    ("linerate-plan", Plan),
    ("linerate-candidates", Candidates),
    ("linerate-bench", Bench),
    ("linerate", Cli),
    ("linerate-cuda", Accelerator),
    ("linerate-c", Binding),
    ("linerate-slz", Binding),
    ("linerate-z", Binding),
    ("linerate-rocksdb", Binding),
    ("linerate-hdf5", Binding),
    ("linerate-hdf5-deltarice", Binding),
    ("linerate-hdf5-deltarice2", Binding),
    ("linerate-java", Binding),
    ("linerate-node", Binding),
    ("linerate-python", Binding),
    ("linerate-testkit", TestKit),
];

/// Whether a crate of the layer `from` may import one of the layer `to`; `for_tests` if as a
/// dev-dependency. No layer may import `Cli`, the command line.
fn may_import(from: Role, to: Role, for_tests: bool) -> bool {
    let allowed: &[Role] = match from {
        Core | Plan => &[],
        Base => &[Core],
        Engine => &[Core, Base],
        Adapter | Simulator | Accelerator => &[Core, Base, Engine],
        Candidates => &[Core, Base, Engine, Plan],
        Bench => &[Core, Base, Engine, Adapter, Simulator, Plan, Candidates],
        Cli => &[Core, Base, Engine, Simulator, Plan, Candidates],
        Binding => &[Core, Base, Engine, Adapter, Accelerator, Binding],
        TestKit => &[Core],
    };
    // Dev-dependencies. The test kit has those that the examples of the documentation use.
    let in_tests: &[Role] = match from {
        Core => &[],
        TestKit => &[Base, Engine, Adapter, Simulator],
        Accelerator => &[TestKit, Bench],
        _ => &[TestKit],
    };
    allowed.contains(&to) || (for_tests && in_tests.contains(&to))
}

fn role(name: &str) -> Option<Role> {
    CRATES.iter().find(|row| row.0 == name).map(|row| row.1)
}

/// The violations of the rule in the output of `cargo metadata`, one sentence each.
fn violations(metadata: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let packages = metadata["packages"].as_array().expect("packages");
    for row in CRATES {
        if !packages.iter().any(|package| package["name"] == row.0) {
            found.push(format!("{} has a row in CRATES, but is not in the workspace", row.0));
        }
    }
    for package in packages {
        let name = package["name"].as_str().expect("a name");
        let Some(from) = role(name) else {
            found.push(format!("{name} has no row in CRATES"));
            continue;
        };
        let dependencies = package["dependencies"].as_array().expect("dependencies").iter();
        for dependency in dependencies.filter(|dependency| dependency["path"].is_string()) {
            let to = dependency["name"].as_str().expect("a name");
            if !role(to).is_some_and(|to| may_import(from, to, dependency["kind"] == "dev")) {
                found.push(format!("{name} may not import {to}"));
            }
        }
    }
    found
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
    assert_eq!(violations(&metadata), Vec::<String>::new());
}

/// The violations in a workspace of all crates in `CRATES` in which one crate imports another.
fn with_import(from: &str, to: &str, kind: Option<&str>) -> Vec<String> {
    let package = |&(name, _): &(&str, Role)| {
        let import = serde_json::json!({ "name": to, "kind": kind, "path": "/somewhere" });
        let dependencies = if name == from { vec![import] } else { vec![] };
        serde_json::json!({ "name": name, "dependencies": dependencies })
    };
    violations(&serde_json::json!({ "packages": CRATES.iter().map(package).collect::<Vec<_>>() }))
}

#[test]
fn imports_of_engines_the_bench_and_the_test_kit_from_below_are_violations() {
    for (from, to) in [
        ("linerate-zstd", "linerate-dict"),
        ("linerate-inflate", "linerate-zstd"),
        ("linerate-nx", "linerate-deflate"),
        ("linerate-deflate", "linerate-bench"),
        ("linerate-bench", "linerate"),
        ("linerate", "linerate-bench"),
        ("linerate-rice", "linerate-fuzz"),
        ("linerate-rice", "linerate-cuda"),
    ] {
        for kind in [None, Some("dev"), Some("build")] {
            assert_eq!(with_import(from, to, kind), [format!("{from} may not import {to}")], "{kind:?}");
        }
    }
    for from in ["linerate-deflate", "linerate-core"] {
        assert_eq!(with_import(from, "linerate-testkit", None).len(), 1, "{from}");
    }
    assert!(with_import("linerate-deflate", "linerate-testkit", Some("dev")).is_empty());
    assert_eq!(violations(&serde_json::json!({ "packages": [{ "name": "new" }] })).len(), CRATES.len() + 1);
}
