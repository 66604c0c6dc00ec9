//! Sets the soname of the shared library, which programs record when they are linked with it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,liblinerate.so.{}", interface());
    }
}

/// Returns the part of the version that names the interface, by SemVer: `1` for 1.2.3, but `0.1`
/// for 0.1.2, since 0.2 may change everything.
fn interface() -> String {
    let part = |name| std::env::var(name).expect("cargo sets the version");
    match part("CARGO_PKG_VERSION_MAJOR") {
        major if major == "0" => format!("0.{}", part("CARGO_PKG_VERSION_MINOR")),
        major => major,
    }
}
