//! Links the library for Linux with glibc so that it stays loaded, since threads of Node.js run its
//! destructors after a worker has unloaded it.

fn main() {
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
