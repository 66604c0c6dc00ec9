//! Checks that readers of archives, packs, block files and SST files need no C compiler: without
//! the features that write, no dependency compiles C or looks for a C library. The same holds for
//! the tests of some crates.

use std::process::Command;

/// The crates with which build scripts usually compile C or find a C library.
const C_TOOLS: &[&str] = &["autotools", "bindgen", "cc", "cmake", "pkg-config", "vcpkg"];

/// The crates of [`C_TOOLS`] that the crate `name` depends on, directly or not. `edges` has the
/// kinds of dependencies that count, and `options` are further options of `cargo tree`.
fn c_tools(name: &str, edges: &str, options: &[&str]) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--package",
            name,
            "--edges",
            edges,
            "--prefix",
            "none",
            "--format",
            "{p}",
        ])
        .args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/../", "../Cargo.toml")])
        .args(options)
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(text.starts_with(name), "no tree of {name}: {text}");
    let names = text.lines().filter_map(|line| line.split_whitespace().next());
    C_TOOLS.iter().filter(|tool| names.clone().any(|name| name == **tool)).map(ToString::to_string).collect()
}

/// The crates of [`C_TOOLS`] that a library depends on with only these features, apart from tests.
fn of_library(name: &str, features: &str) -> Vec<String> {
    c_tools(name, "normal,build", &["--no-default-features", "--features", features])
}

#[test]
fn readers_of_archives_and_dictionaries_compile_no_c() {
    for (name, features) in [("linerate-nx", ""), ("linerate-dict", ""), ("linerate-dict", "sst")] {
        assert_eq!(
            of_library(name, features),
            Vec::<String>::new(),
            "{name} with the features \"{features}\""
        );
    }
}

#[test]
fn writers_compile_c() {
    for (name, features) in [("linerate-nx", "pack"), ("linerate-dict", "encode"), ("linerate-dict", "train")]
    {
        assert!(of_library(name, features).contains(&"cc".to_owned()), "{name} with the feature {features}");
    }
}

#[test]
fn tests_of_engines_compile_no_c() {
    for name in ["linerate-deflate", "linerate-inflate", "linerate-rice", "linerate-http", "linerate-io"] {
        assert_eq!(c_tools(name, "normal,build,dev", &[]), Vec::<String>::new(), "{name}");
    }
}
