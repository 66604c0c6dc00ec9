//! Runs the program `linerate` in a temporary folder. For tests of the program's package, since
//! Cargo builds the program for them. Other tests use only the temporary folder.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use serde_json::Value;
use tempfile::TempDir;

/// Exit status of the program after an error for which no other status is meant.
pub const FAILED: i32 = 1;
pub const USAGE: i32 = 2;
pub const DAMAGED: i32 = 3;
pub const LIMIT: i32 = 4;
pub const WARNED: i32 = 5;

/// Environment variables about proxies. With some of them, requests for the tests' servers would go
/// to a proxy.
const PROXIES: [&str; 8] = [
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
];

/// The program's path. Cargo puts tests into the folder `deps` beside the program.
///
/// # Panics
/// If the program does not exist.
pub fn program() -> PathBuf {
    let test = env::current_exe().expect("the path of this test");
    let folder = test.parent().and_then(Path::parent).expect("the folder of the profile");
    let program = folder.join(format!("linerate{}", env::consts::EXE_SUFFIX));
    assert!(program.is_file(), "{} is missing; run `cargo build -p linerate`", program.display());
    program
}

/// A temporary folder in which the program runs. Dropping it removes it with its content.
pub struct Folder(TempDir);

impl Folder {
    #[expect(clippy::new_without_default, reason = "a new folder is no default")]
    pub fn new() -> Folder {
        Folder(TempDir::new().expect("a temporary folder"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, and creates the folders above it.
    pub fn write(&self, name: &str, data: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("below the folder")).expect("a folder");
        fs::write(&path, data).expect("a file");
        path
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Whether there is a file, folder or link of this name.
    pub fn has(&self, name: &str) -> bool {
        fs::symlink_metadata(self.path(name)).is_ok()
    }

    /// The names in the folder, sorted, hidden ones too.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("the folder");
        let mut names: Vec<String> =
            entries.map(|e| e.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
        names.sort();
        names
    }

    /// The permission bits of a file, or of the target of a link.
    #[cfg(unix)]
    pub fn mode(&self, name: &str) -> u32 {
        let meta = fs::metadata(self.path(name)).expect("a file");
        std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o777
    }

    /// The command `linerate ARGS`, to be run in this folder and without a proxy.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(program());
        PROXIES.iter().for_each(|name| _ = command.env_remove(name));
        command.current_dir(self.0.path()).args(args);
        command
    }

    fn run(&self, subcommand: &str, args: &[&str], input: &[u8]) -> Run {
        Run::of(self.command(&[subcommand]).args(args), input)
    }

    /// Runs `linerate gzip` with nothing on standard input.
    pub fn gzip(&self, args: &[&str]) -> Run {
        self.gzip_with(args, b"")
    }

    /// Runs `linerate gzip` with `input` on standard input.
    pub fn gzip_with(&self, args: &[&str], input: &[u8]) -> Run {
        self.run("gzip", args, input)
    }

    /// Runs `linerate zstd` with `input` on standard input.
    pub fn zstd_with(&self, args: &[&str], input: &[u8]) -> Run {
        self.run("zstd", args, input)
    }

    /// Runs `linerate rice` with nothing on standard input.
    pub fn rice(&self, args: &[&str]) -> Run {
        self.rice_with(args, b"")
    }

    /// Runs `linerate rice` with `input` on standard input.
    pub fn rice_with(&self, args: &[&str], input: &[u8]) -> Run {
        self.run("rice", args, input)
    }

    /// Runs `linerate nx` with nothing on standard input.
    pub fn nx(&self, args: &[&str]) -> Run {
        self.run("nx", args, b"")
    }

    /// Runs `linerate dict` with nothing on standard input.
    pub fn dict(&self, args: &[&str]) -> Run {
        self.dict_with(args, b"")
    }

    /// Runs `linerate dict` with `input` on standard input.
    pub fn dict_with(&self, args: &[&str], input: &[u8]) -> Run {
        self.run("dict", args, input)
    }

    /// Runs `linerate gateway` with nothing on standard input.
    pub fn gateway(&self, args: &[&str]) -> Run {
        self.gateway_with(args, b"")
    }

    /// Runs `linerate gateway` with `input` on standard input.
    pub fn gateway_with(&self, args: &[&str], input: &[u8]) -> Run {
        self.run("gateway", args, input)
    }
}

/// The content of every file below a folder, by its path from there. Links count as files, with the
/// content of their targets.
///
/// # Panics
/// If something cannot be read, such as a link to a folder.
pub fn files_below(root: &Path) -> BTreeMap<String, Vec<u8>> {
    fn visit(folder: &Path, prefix: &str, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let entry = entry.expect("an entry");
            let name = format!("{prefix}{}", entry.file_name().into_string().expect("UTF-8"));
            match entry.file_type().expect("a type").is_dir() {
                true => visit(&entry.path(), &format!("{name}/"), found),
                false => drop(found.insert(name, fs::read(entry.path()).expect("readable"))),
            }
        }
    }
    let mut found = BTreeMap::new();
    visit(root, "", &mut found);
    found
}

/// Removes progress objects, which `--json` prints to standard error if the machine is slow.
fn without_progress(stderr: &str) -> String {
    stderr.split_inclusive('\n').filter(|line| !line.contains("\"status\":\"progress\"")).collect()
}

/// Exit status and output of a program that has ended.
#[derive(Debug)]
pub struct Run {
    /// `None` if a signal ended it.
    pub status: Option<i32>,
    pub stdout: Vec<u8>,
    /// Standard error without progress.
    pub stderr: String,
}

impl Run {
    /// Runs a command with `input` on standard input.
    pub fn of(command: &mut Command, input: &[u8]) -> Run {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("piped");
        let output = thread::scope(|scope| {
            // Writing fails if the program exits before it has read all of its input.
            scope.spawn(move || drop(stdin.write_all(input)));
            child.wait_with_output().expect("the program ends")
        });
        Run {
            status: output.status.code(),
            stdout: output.stdout,
            stderr: without_progress(&String::from_utf8_lossy(&output.stderr)),
        }
    }

    /// Asserts that the exit status is 0 and that standard error is empty: no error, no warning.
    #[track_caller]
    pub fn ok(self) -> Run {
        assert_eq!((self.status, self.stderr.as_str()), (Some(0), ""));
        self
    }

    /// Asserts the exit status, and that `line` is the only line on standard error. `line` is the
    /// message on Linux: `No such file or directory` in it stands for the text of this system.
    /// ` (at byte 0)` in `line` is ignored, since the program does not print it.
    #[track_caller]
    pub fn fails(&self, status: i32, line: &str) {
        // linerate-core can make this text, but only with its feature `std`, which would then be on
        // in tests that are meant to run without it.
        let missing = std::io::Error::from_raw_os_error(2).to_string();
        let missing = missing.trim_end_matches(" (os error 2)").trim_end_matches('.');
        let line = line.replace("No such file or directory", missing).replace(" (at byte 0)", "");
        assert_eq!((self.status, self.stderr.as_str()), (Some(status), format!("{line}\n").as_str()));
    }

    /// Standard output as text.
    pub fn text(&self) -> String {
        String::from_utf8(self.stdout.clone()).expect("UTF-8")
    }

    /// The lines of standard output.
    pub fn lines(&self) -> Vec<String> {
        self.text().lines().map(str::to_owned).collect()
    }

    /// The JSON objects of standard output, one per line.
    pub fn objects(&self) -> Vec<Value> {
        self.lines().iter().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// The only JSON object of standard output.
    #[track_caller]
    pub fn object(&self) -> Value {
        let mut objects = self.objects();
        assert_eq!(objects.len(), 1, "{} {}", self.text(), self.stderr);
        objects.remove(0)
    }
}
