//! Checks that each published crate has the metadata that a registry shows, a README and the
//! licences.

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

#[test]
fn every_published_crate_says_what_it_is() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    // For `publish = false` the metadata has an empty list of registries, else null.
    let published: Vec<&Value> = packages.iter().filter(|package| package["publish"].is_null()).collect();
    assert!(published.len() >= 16, "{}", published.len());
    for package in published {
        let lacks = lacks(package);
        assert!(lacks.is_empty(), "{} lacks {}", package["name"], lacks.join(", "));
    }
}
