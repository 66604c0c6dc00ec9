//! Links C programs that use `slz.h` with the library. zlib decodes their output.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::{DeflateDecoder, GzDecoder, ZlibDecoder};
use linerate_testkit::c_program::{self, Library, SANITIZED, STANDARDS, valgrind};
use linerate_testkit::data;
use linerate_testkit::program::Run;
use linerate_testkit::tools::has_program;

const HERE: &str = env!("CARGO_MANIFEST_DIR");
const SONAME: &str = "libslz.so.1";
/// The formats, indexed by their numbers in `slz.h`.
const FORMATS: [&str; 3] = ["gzip", "zlib", "deflate"];

/// Compiles a program with the header, and links it with one of the libraries.
fn compile(compiler: &[&str], source: &str, library: &Path, program: &Path) {
    c_program::compile(compiler, Path::new(HERE), &Path::new(HERE).join(source), library, program);
}

fn decoded(format: usize, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    match format {
        0 => GzDecoder::new(bytes).read_to_end(&mut out),
        1 => ZlibDecoder::new(bytes).read_to_end(&mut out),
        _ => DeflateDecoder::new(bytes).read_to_end(&mut out),
    }
    .unwrap_or_else(|e| panic!("{}: {e}", FORMATS[format]));
    out
}

/// Runs the program `pieces` with every format, levels 0 to 3 and every kind of data, and decodes
/// its output with zlib.
fn check_pieces(command: &dyn Fn() -> Command, inputs: &[Vec<u8>]) {
    for (i, input) in inputs.iter().enumerate() {
        for (format, name) in FORMATS.iter().enumerate() {
            for level in 0..4 {
                let args = [format.to_string(), level.to_string(), (i * 7 + level).to_string()];
                let run = Run::of(command().args(&args), input).ok();
                assert_eq!(&decoded(format, &run.stdout), input, "{name} {level} {i}");
            }
        }
    }
}

fn inputs() -> Vec<Vec<u8>> {
    let kinds = data::kinds(200_000).into_iter().map(|(_, bytes)| bytes);
    kinds.chain([Vec::new(), b"x".to_vec()]).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn streams_in_pieces_are_decoded_by_zlib_and_keep_the_promises_of_each_call() {
    let (Some(library), true) = (Library::built("slz"), has_program("cc")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("pieces");
    compile(SANITIZED, "tests/c/pieces.c", &library.copy_as(SONAME, folder.path()), &program);
    check_pieces(&|| Command::new(&program), &inputs());
}

#[cfg(target_os = "linux")]
#[test]
fn valgrind_finds_no_fault_in_the_static_library() {
    let (Some(library), true, true) = (Library::built("slz"), has_program("cc"), has_program("valgrind"))
    else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("pieces");
    compile(&["cc", "-g"], "tests/c/pieces.c", &library.static_library(), &program);
    check_pieces(&|| valgrind(&program), &[data::mixed(300_000)]);
}

#[cfg(target_os = "linux")]
#[test]
fn header_and_example_compile_as_c_and_cpp_and_the_example_compresses() {
    let (Some(library), true, true) = (Library::built("slz"), has_program("cc"), has_program("c++")) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let library = library.copy_as(SONAME, folder.path());
    let program = folder.path().join("compress");
    let input = data::mixed(500_000);
    for standard in STANDARDS {
        compile(standard, "examples/compress.c", &library, &program);
        let mut levels = BTreeSet::new();
        for level in ["1", "2", "3"] {
            let mut command = Command::new(&program);
            let run = Run::of(command.env("LINERATE_SLZ_LEVEL", level), &input).ok();
            assert_eq!(decoded(0, &run.stdout), input);
            levels.insert(run.stdout.len());
        }
        assert_eq!(levels.len(), 3, "the environment selects the level");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_installed_compiles_the_example_and_is_removed_whole() {
    let (Some(library), true) = (Library::built("slz"), has_program("cc")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(HERE).join("../../../scripts/install-c.sh");
    let install = |what: &Path| {
        let prefix = folder.path().join("usr");
        assert!(
            Command::new(&script)
                .arg(what)
                .arg(prefix)
                .arg("slz")
                .env_remove("DESTDIR")
                .status()
                .unwrap()
                .success()
        );
    };
    install(library.folder());
    let (lib, include) = (folder.path().join("usr/lib"), folder.path().join("usr/include"));
    let program = folder.path().join("compress");
    let compiled = Command::new("cc")
        .arg("-I")
        .arg(&include)
        .arg(Path::new(HERE).join("examples/compress.c"))
        .arg("-L")
        .arg(&lib)
        .arg("-lslz")
        .arg("-o")
        .arg(&program)
        .status();
    assert!(compiled.unwrap().success());
    let mut command = Command::new(&program);
    let run = Run::of(command.env("LD_LIBRARY_PATH", &lib), b"the installed library").ok();
    assert_eq!(decoded(0, &run.stdout), b"the installed library");
    let package = std::fs::read_to_string(lib.join("pkgconfig/slz.pc")).unwrap();
    assert!(package.contains(&format!("prefix={}", folder.path().join("usr").display())), "{package}");
    install(Path::new("--remove"));
    for left in [lib, include] {
        let files = std::fs::read_dir(left).unwrap().filter(|entry| !entry.as_ref().unwrap().path().is_dir());
        assert_eq!(files.count(), 0);
    }
}

/// Returns the functions that `slz.h` declares.
fn declared() -> BTreeSet<String> {
    let header = std::fs::read_to_string(Path::new(HERE).join("slz.h")).unwrap();
    let lines =
        header.lines().filter(|line| line.ends_with(");") && !line.starts_with([' ', '\t', '/', '*']));
    let name = |line: &str| line.split('(').next().unwrap().rsplit([' ', '*']).next().unwrap().to_owned();
    lines.map(name).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn the_library_exports_what_the_header_declares_and_nothing_else() {
    let Some(exported) = Library::built("slz").and_then(|library| library.exports()) else { return };
    let declared = declared();
    assert_eq!(declared.len(), 20);
    assert_eq!(exported, declared);
}

#[cfg(target_os = "linux")]
#[test]
fn libslz_and_this_library_serve_the_same_program() {
    let (Some(library), true) = (Library::built("slz"), has_program("cc")) else { return };
    let Some(theirs) = libslz() else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("compress");
    let ours = library.copy_as(SONAME, folder.path());
    compile(&["cc"], "examples/compress.c", &ours, &program);
    let input = data::mixed(500_000);
    let run = |library: &Path| {
        let mut command = Command::new(&program);
        Run::of(command.env("LD_PRELOAD", library), &input).ok().stdout
    };
    let (ours, theirs) = (run(&ours), run(&theirs));
    assert_ne!(ours, theirs, "the same library ran twice");
    assert_eq!(decoded(0, &ours), input);
    assert_eq!(decoded(0, &theirs), input);
}

/// Returns the first existing file of the paths in `LINERATE_LIBSLZ`, which is libslz itself. Tests
/// look nowhere else for it, since no distribution that they run on has libslz.
#[cfg(target_os = "linux")]
fn libslz() -> Option<PathBuf> {
    let paths = std::env::var_os("LINERATE_LIBSLZ")?;
    std::env::split_paths(&paths).find(|path| path.is_file())
}
