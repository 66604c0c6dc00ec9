//! Checks that each published crate has the metadata that a registry shows, a README and the
//! licences, and no example that uses a crate that is not published.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The files and metadata that a package lacks, each in words.
fn lacks(package: &Value) -> Vec<String> {
    let folder = Path::new(package["manifest_path"].as_str().expect("a path")).parent().expect("a folder");
    let files = ["README.md", "LICENSE-MIT", "LICENSE-APACHE"];
    let missing = files.iter().filter(|name| !folder.join(name).is_file()).map(ToString::to_string);
    let (keywords, categories) = (texts(&package["keywords"]), texts(&package["categories"]));
    // The limits of crates.io for a keyword.
    let is_keyword = |word: &&str| {
        word.len() <= 20 && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_+".contains(&b))
    };
    let checks = [
        (package["description"].is_string(), "a description"),
        ((1..=5).contains(&keywords.len()) && keywords.iter().all(is_keyword), "one to five keywords"),
        ((1..=5).contains(&categories.len()), "one to five categories"),
        (package["rust_version"].is_string(), "a minimum version of Rust"),
    ];
    missing.chain(checks.iter().filter(|(has, _)| !has).map(|(_, what)| what.to_string())).collect()
}

/// The output of `cargo metadata`: the published crates of the workspace, and the others.
fn packages() -> (Vec<Value>, Vec<Value>) {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages").clone();
    // For `publish = false` the metadata has an empty list of registries, else null.
    let (published, others): (Vec<_>, Vec<_>) =
        packages.into_iter().partition(|package| package["publish"].is_null());
    assert!(published.len() >= 16, "{}", published.len());
    (published, others)
}

#[test]
fn every_published_crate_says_what_it_is() {
    for package in packages().0 {
        let lacks = lacks(&package);
        assert!(lacks.is_empty(), "{} lacks {}", package["name"], lacks.join(", "));
    }
}

/// Packages have no dependencies on crates that are not published, so such examples do not compile
/// there.
#[test]
fn no_package_has_an_example_that_uses_an_unpublished_crate() {
    let (published, others) = packages();
    let names = others.iter().map(|package| package["name"].as_str().expect("a name"));
    let paths: Vec<String> = names.map(|name| format!("{}::", name.replace('-', "_"))).collect();
    for package in published {
        let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
        let text = fs::read_to_string(manifest).expect("a manifest");
        let exclude = text.lines().find(|line| line.starts_with("exclude = ")).unwrap_or_default();
        let targets = package["targets"].as_array().expect("targets").iter();
        for example in targets.filter(|target| texts(&target["kind"]) == ["example"]) {
            let file = Path::new(example["src_path"].as_str().expect("a path"));
            let source = fs::read_to_string(file).expect("UTF-8 source");
            let file = file.strip_prefix(manifest.parent().expect("a folder")).expect("below the crate");
            let left_out = file.ancestors().any(|path| exclude.contains(&format!("\"{}\"", path.display())));
            let used = paths.iter().find(|path| source.contains(*path));
            assert!(left_out || used.is_none(), "{}: {} uses {used:?}", package["name"], file.display());
        }
    }
}
