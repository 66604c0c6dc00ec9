//! Runs C programs that are linked with zlib with this library loaded before it. zlib decodes their
//! output.
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use linerate_testkit::c_program::{Library, SANITIZED, valgrind};
use linerate_testkit::data;
use linerate_testkit::program::Run;
use linerate_testkit::sys::zlib_window::ZlibWindow;
use linerate_testkit::tools::{has_program, require};
use tempfile::TempDir;

/// The shared library as Cargo built it, and a program that was compiled for it into a folder.
struct Programs {
    library: PathBuf,
    program: PathBuf,
    _folder: TempDir,
}

impl Programs {
    /// Compiles `streams.c`, linked with zlib and, if `is_linked`, with this library before it.
    /// Returns `None`, and reports the test as skipped, if something that this needs is missing.
    fn compile(compiler: &[&str], is_linked: bool) -> Option<Programs> {
        let library = Library::built("linerate_z")?.shared();
        if !has_program("cc") || !require(has_zlib(), "no headers of zlib (Debian: zlib1g-dev)") {
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("streams");
        let mut command = Command::new(compiler[0]);
        command.args(&compiler[1..]).args(["-Wall", "-Wextra", "-Werror"]);
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/streams.c"));
        if is_linked {
            let rpath = library.parent().expect("a folder").display();
            command.arg(&library).arg(format!("-Wl,-rpath,{rpath}"));
        }
        let compiled = command.args(["-lz", "-o"]).arg(&program).output().expect("the compiler runs");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        Some(Programs { library, program, _folder: folder })
    }

    /// Runs the program with the library loaded before all others.
    fn preloaded(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env("LD_PRELOAD", &self.library);
        command
    }
}

/// Whether a program can be compiled with zlib.
fn has_zlib() -> bool {
    let source = b"#include <zlib.h>\nint main(void) { return zlibVersion() == 0; }";
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new("cc");
    command.args(["-x", "c", "-", "-lz", "-o"]).arg(folder.path().join("zlib"));
    Run::of(&mut command, source).status == Some(0)
}

fn run(mut command: Command, mode: &str, level: i32, seed: usize, input: &[u8]) -> Vec<u8> {
    let args = [mode.to_owned(), level.to_string(), seed.to_string()];
    Run::of(command.args(args), input).ok().stdout
}

#[track_caller]
fn assert_decodes(mode: &str, bytes: &[u8], plain: &[u8]) {
    let window_bits = if mode == "compress" { 15 } else { 31 };
    assert!(ZlibWindow::new(window_bits, &[]).take(bytes).as_deref() == Ok(plain), "{mode}");
}

const MODES: [&str; 4] = ["pieces", "header", "compress", "file"];

fn inputs() -> Vec<Vec<u8>> {
    let kinds = data::kinds(80_000).into_iter().map(|(_, bytes)| bytes);
    kinds.chain([Vec::new(), b"x".to_vec()]).collect()
}

#[test]
fn programs_linked_with_zlib_compress_with_the_preloaded_library() {
    let Some(programs) = Programs::compile(&["cc"], false) else { return };
    for (i, input) in inputs().iter().enumerate() {
        for mode in MODES {
            for level in [0, 1, 6, 9] {
                let ours = run(programs.preloaded(), mode, level, i, input);
                let theirs = run(Command::new(&programs.program), mode, level, i, input);
                assert_decodes(mode, &ours, input);
                assert_decodes(mode, &theirs, input);
                // zlib compresses streams of levels 0 and 9 until the program changes their level,
                // and streams with a header that the caller sets.
                let is_zlibs = mode == "header" || mode == "compress" && matches!(level, 0 | 9);
                if is_zlibs {
                    assert!(ours == theirs, "{mode} {level} {i}");
                } else if mode == "compress" && is_text(input) {
                    assert!(ours != theirs, "zlib compressed: {mode} {level} {i}");
                }
            }
        }
    }
}

fn is_text(input: &[u8]) -> bool {
    input.len() > 1000
        && input[..1000].iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
}

#[test]
fn sanitizers_find_no_fault_in_a_program_linked_with_the_library() {
    let Some(programs) = Programs::compile(SANITIZED, true) else { return };
    for (i, input) in inputs().iter().enumerate() {
        for mode in MODES {
            for level in [1, 6] {
                let written = run(Command::new(&programs.program), mode, level, i, input);
                assert_decodes(mode, &written, input);
            }
        }
    }
}

#[test]
fn valgrind_finds_no_fault_in_the_library() {
    let Some(programs) = Programs::compile(&["cc", "-g"], true) else { return };
    if !has_program("valgrind") {
        return;
    }
    let input = data::mixed(120_000);
    for mode in MODES {
        for level in [1, 5] {
            assert_decodes(mode, &run(valgrind(&programs.program), mode, level, 7, &input), &input);
        }
    }
}

/// Functions of newer versions of zlib that this library lacks. Calls reach zlib, which rejects our
/// streams because they are not its own.
const NOT_SERVED: [&str; 2] = ["deflateUsed", "deflateBound_z"];

#[test]
fn all_functions_of_zlib_that_take_such_streams_are_exported_and_nothing_else() {
    let Some(exported) = Library::built("linerate_z").and_then(|library| library.exports()) else { return };
    assert_eq!(exported.len(), 15);
    assert!(exported.iter().all(|name| name.starts_with("deflate")), "{exported:?}");
    let Some(zlib) = system_zlib() else { return };
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(zlib).output().expect("nm runs");
    let symbols = String::from_utf8(output.stdout).expect("names of symbols");
    let names = symbols.lines().filter_map(|line| line.split(' ').nth(2)?.split('@').next());
    let theirs: BTreeSet<_> = names.filter(|name| name.starts_with("deflate")).map(str::to_owned).collect();
    assert!(theirs.len() >= 13, "{theirs:?}");
    let missing: Vec<_> =
        theirs.difference(&exported).filter(|name| !NOT_SERVED.contains(&name.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Returns the zlib that programs load.
fn system_zlib() -> Option<PathBuf> {
    let maps = Command::new("ldconfig").arg("-p").env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin").output();
    let list = String::from_utf8_lossy(&maps.ok()?.stdout).into_owned();
    let line = list.lines().find(|line| line.contains("libz.so.1"))?;
    line.split(" => ").nth(1).map(PathBuf::from)
}
