//! Readers of archives, packs, block files and SST files need no C compiler: without what writes, no dependency
//! compiles C or looks for a C library.

use std::process::Command;

/// Crates by which build scripts compile C or find a library of it.
const C_TOOLS: &[&str] = &["autotools", "bindgen", "cc", "cmake", "pkg-config", "vcpkg"];

/// The crates of [`C_TOOLS`] among all dependencies, build dependencies included, of a crate with these features alone.
fn c_tools(name: &str, features: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--no-default-features", "--features", features])
        .args(["--package", name, "--edges", "normal,build", "--prefix", "none", "--format", "{p}"])
        .args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/../", "../Cargo.toml")])
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(text.starts_with(name), "no tree of {name}: {text}");
    let mut found: Vec<String> = text
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| C_TOOLS.contains(name))
        .map(str::to_owned)
        .collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn readers_of_archives_and_dictionaries_compile_no_c() {
    for (name, features) in [("linerate-nx", ""), ("linerate-dict", ""), ("linerate-dict", "sst")] {
        assert_eq!(c_tools(name, features), Vec::<String>::new(), "{name} with the features \"{features}\"");
    }
}

#[test]
fn writers_compile_c() {
    for (name, features) in [("linerate-nx", "pack"), ("linerate-dict", "encode"), ("linerate-dict", "train")]
    {
        assert!(c_tools(name, features).contains(&"cc".to_owned()), "{name} with the feature {features}");
    }
}
