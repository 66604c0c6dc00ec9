//! Running the program, and data to run it on.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{fs, thread};

use tempfile::TempDir;

/// A folder of a test's own, where the program runs.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(TempDir::new().expect("a temporary folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, data: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("below the folder")).expect("a folder");
        fs::write(&path, data).expect("a file");
        path
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        fs::symlink_metadata(self.path(name)).is_ok()
    }

    /// The names in the folder, sorted, hidden ones too.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("the folder");
        let mut names: Vec<String> =
            entries.map(|e| e.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
        command.current_dir(self.0.path()).args(args);
        command
    }

    /// Runs `linerate gzip` with nothing on standard input.
    pub(crate) fn gzip(&self, args: &[&str]) -> Run {
        self.gzip_with(args, b"")
    }

    /// Runs `linerate gzip` with `input` on standard input.
    pub(crate) fn gzip_with(&self, args: &[&str], input: &[u8]) -> Run {
        let mut command = self.command(&["gzip"]);
        Run::of(command.args(args), input)
    }
}

/// What a program did.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn of(command: &mut Command, input: &[u8]) -> Run {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("piped");
        let output: Output = thread::scope(|scope| {
            // A program may exit without reading all of its input.
            scope.spawn(move || drop(stdin.write_all(input)));
            child.wait_with_output().expect("the program ends")
        });
        Run {
            status: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The run if it went without error or warning.
    #[track_caller]
    pub(crate) fn ok(self) -> Run {
        assert_eq!((self.status, self.stderr.as_str()), (Some(0), ""));
        self
    }

    /// Asserts the exit status and the only line on standard error.
    #[track_caller]
    pub(crate) fn fails(&self, status: i32, line: &str) {
        assert_eq!((self.status, self.stderr.as_str()), (Some(status), format!("{line}\n").as_str()));
    }
}

/// Text-like data, then noise, then a run.
pub(crate) fn sample(len: usize) -> Vec<u8> {
    let mut seed = 1u32;
    (0..len)
        .map(|i| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            match i * 3 / len.max(1) {
                0 => b"the quick brown fox jumps "[(seed >> 20) as usize % 26],
                1 => (seed >> 24) as u8,
                _ => 7,
            }
        })
        .collect()
}

pub(crate) fn exists(path: &str) -> bool {
    Path::new(path).exists()
}
