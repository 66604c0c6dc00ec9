//! Checks that `linerate.h` is the output of cbindgen for the sources. `LINERATE_UPDATE=1` writes
//! it again.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const HERE: &str = env!("CARGO_MANIFEST_DIR");
/// The modules with exported functions, in the order of the header.
const MODULES: &[&str] = &[
    "error",
    "scratch",
    "deflate",
    "session",
    "controller",
    "inflate",
    "gzip",
    "zstd",
    "store",
    "gateway",
    "rice",
    "archive",
    "pack",
    "pack_update",
];

fn generated() -> String {
    let here = Path::new(HERE);
    let config = cbindgen::Config::from_file(here.join("cbindgen.toml")).expect("cbindgen.toml");
    let module = |name: &&str| here.join("src").join(format!("{name}.rs"));
    let builder = MODULES.iter().map(module).fold(cbindgen::Builder::new(), cbindgen::Builder::with_src);
    let mut header = Vec::new();
    builder.with_config(config).generate().expect("cbindgen reads the sources").write(&mut header);
    String::from_utf8(header).expect("UTF-8")
}

#[test]
fn header_matches_the_sources() {
    let path = Path::new(HERE).join("linerate.h");
    if std::env::var_os("LINERATE_UPDATE").is_some() {
        fs::write(&path, generated()).expect("the header is written");
    }
    let committed = fs::read_to_string(&path).expect("linerate.h");
    assert!(
        committed == generated(),
        "linerate.h is stale: LINERATE_UPDATE=1 cargo test -p linerate-c --test it header"
    );
}

#[test]
fn every_module_with_exported_functions_is_in_the_header() {
    let sources =
        fs::read_dir(Path::new(HERE).join("src")).expect("src").map(|entry| entry.expect("a file").path());
    let exporting = sources.filter(|path| fs::read_to_string(path).expect("a source").contains("no_mangle"));
    let names: BTreeSet<String> =
        exporting.map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned()).collect();
    assert_eq!(names, MODULES.iter().map(|name| (*name).to_owned()).collect());
}
