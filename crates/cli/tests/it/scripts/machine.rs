//! Simulated machines: a folder of programs that replaces `PATH`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

use super::run;

/// Programs that the scripts use on every Unix.
const TOOLS: &[&str] = &[
    "awk", "bash", "cut", "dirname", "grep", "head", "mkdir", "mktemp", "rm", "sed", "sh", "sort", "tail",
    "tee",
];

/// A script that puts a `rustc` and a `cargo` into the folder `$1` that claim to be recent.
pub(crate) const NEW_RUST: &str = r##"PATH=/usr/bin:/bin
mkdir -p "$1"
for program in rustc cargo; do echo "#!/bin/sh
echo $program 999.0.0" >"$1/$program"; chmod +x "$1/$program"; done"##;

/// A machine that `scripts/setup.sh` takes for Debian 12, and its user for root.
pub(crate) struct Machine {
    folder: TempDir,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let machine = Self { folder: tempfile::tempdir().expect("a folder") };
        fs::create_dir(machine.path("bin")).expect("a folder for programs");
        for tool in TOOLS {
            symlink(found(tool), machine.path("bin").join(tool)).expect("a link");
        }
        machine.has("rustc", "echo rustc 1.63.0");
        machine.has("cargo", "echo cargo 1.63.0");
        machine.has("id", "echo 0");
        machine.has("apt-get", "true");
        machine.offers("rustc", "1.63.0+dfsg1-2");
        machine.has("curl", "echo 'curl: (6) Could not resolve host: sh.rustup.rs' >&2; exit 6");
        machine
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Adds a program that logs its arguments, then runs `script`.
    pub(crate) fn has(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        let log = self.path("log");
        let script =
            format!("#!/bin/sh\necho {name} \"$@\" >>{}\nPATH=/usr/bin:/bin\n{script}\n", log.display());
        // Another process writes the file: a child that another test starts meanwhile would inherit
        // it open for writing until its `exec`, and a file that is open for writing cannot be
        // executed (ETXTBSY).
        let mut write = Command::new("/bin/sh");
        write.args(["-c", "printf %s \"$1\" >\"$0\" && chmod 755 \"$0\""]).arg(&path).arg(script);
        assert!(write.status().expect("a shell").success(), "room for a program");
    }

    /// Makes `package` the only package that the distribution offers.
    pub(crate) fn offers(&self, package: &str, version: &str) {
        self.has("apt-cache", &format!("[ \"$2\" != {package} ] || echo '  Candidate: {version}'"));
    }

    pub(crate) fn runs(&self, script: &str, argument: &str) -> Output {
        let mut command = Command::new(found("bash"));
        command.args([script, argument]).env_clear();
        command
            .env("PATH", self.path("bin"))
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.folder.path());
        run(command.env("CARGO_TARGET_DIR", self.path("target")))
    }

    /// Whether a command line that begins with `call` was run.
    pub(crate) fn ran(&self, call: &str) -> bool {
        fs::read_to_string(self.path("log")).unwrap_or_default().lines().any(|line| line.starts_with(call))
    }
}

fn found(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").expect("a PATH");
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(program));
    places.find(|place| place.is_file()).unwrap_or_else(|| panic!("there is no {program} here"))
}
