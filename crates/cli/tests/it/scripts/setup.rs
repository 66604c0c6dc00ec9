//! `scripts/setup.sh rust` on a simulated Debian 12.

use std::process::Command;

use super::machine::{Machine, NEW_RUST};
use super::text;

/// The script of a `curl` that writes an installer to the file after its option -o. The installer
/// puts a stand-in for Rust into the folder that rustup uses.
fn curl_that_brings_an_installer() -> String {
    format!(
        "while [ \"$1\" != -o ]; do shift; done\ncat >\"$2\" <<'END'\nset -- \"$HOME/.cargo/bin\" \"$@\"\n{NEW_RUST}\nEND"
    )
}

#[test]
fn without_a_rustup_package_rustups_installer_is_named_and_run() {
    let machine = Machine::new();
    machine.has("curl", &curl_that_brings_an_installer());
    let output = machine.runs("scripts/setup.sh", "rust");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        text(&output.stdout).contains("https://sh.rustup.rs (minimal profile"),
        "{}",
        text(&output.stdout)
    );
    assert!(machine.path("home/.cargo/bin/rustc").exists());
}

#[test]
fn an_installer_that_cannot_be_fetched_is_one_line_that_says_what_to_do() {
    let machine = Machine::new();
    let output = machine.runs("scripts/setup.sh", "rust");
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert_eq!(said.lines().count(), 1, "{said}");
    for part in ["missing: Rust ", "found: 1.63.0", "--profile minimal", "Could not resolve host"] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
}

#[test]
fn failures_of_apt_are_one_line() {
    let machine = Machine::new();
    machine.offers("rustc", "999.0.0");
    machine.has("apt-get", "echo 'W: one' >&2; echo 'E: Unable to fetch' >&2; echo 'E: three' >&2; exit 100");
    let said = text(&machine.runs("scripts/setup.sh", "rust").stderr);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("apt-get said: E: Unable to fetch"), "{said}");
}

#[test]
fn an_interrupted_installation_is_finished_first() {
    let machine = Machine::new();
    machine.has("dpkg", "touch \"$0.done\"");
    let done = machine.path("bin/dpkg.done");
    machine.has(
        "apt-get",
        &format!("[ -e {} ] || {{ echo 'E: dpkg was interrupted, run it' >&2; exit 100; }}", done.display()),
    );
    let said = text(&machine.runs("scripts/setup.sh", "valgrind").stderr);
    assert!(machine.ran("dpkg --configure -a") && !said.contains("interrupted"), "{said}");
}

#[test]
fn without_root_nothing_is_started_and_one_line_says_what_to_do() {
    let machine = Machine::new();
    machine.has("id", "echo 1000");
    let output = machine.runs("scripts/setup.sh", "rust");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr).lines().count(), 1, "{}", text(&output.stderr));
    assert!(!machine.ran("apt-get") && !machine.ran("curl"));
}

#[test]
fn rust_in_cargo_home_outside_path_is_found() {
    let machine = Machine::new();
    let home = machine.path("home/.cargo/bin");
    let made = Command::new("sh").args(["-c", NEW_RUST, "sh"]).arg(&home).status().expect("sh starts");
    assert!(made.success());
    let output = machine.runs("scripts/setup.sh", "rust");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(!machine.ran("apt-get") && !machine.ran("curl"));
}

#[test]
fn the_distributions_rustup_comes_before_rustups_installer() {
    let machine = Machine::new();
    machine.offers("rustup", "1.27.1-3");
    let bin = machine.path("bin");
    let rustup = format!("set -- {}\n{NEW_RUST}", bin.display());
    let package = format!("cat >{0}/rustup <<'END'\n{rustup}\nEND\nchmod +x {0}/rustup", bin.display());
    machine.has("apt-get", &format!("case $* in *rustup*)\n{package}\n;; esac"));
    let output = machine.runs("scripts/setup.sh", "rust");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(machine.ran("apt-get install -y -qq --no-install-recommends rustup"));
    assert!(!machine.ran("curl"));
}
