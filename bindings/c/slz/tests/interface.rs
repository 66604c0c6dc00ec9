//! C programs on `slz.h`, linked with the library; what they write is decoded by zlib.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::{DeflateDecoder, GzDecoder, ZlibDecoder};
use linerate_testkit::data;
use linerate_testkit::program::Run;
use linerate_testkit::tools::{has_program, require};

const HERE: &str = env!("CARGO_MANIFEST_DIR");
/// By their numbers in `slz.h`.
const FORMATS: [&str; 3] = ["gzip", "zlib", "deflate"];

/// The folder with the libraries, which cargo builds with the tests.
fn libraries() -> Option<PathBuf> {
    let program = std::env::current_exe().expect("this test program");
    let folder = program.parent().expect("a folder");
    let found = [folder, folder.parent().expect("target")].into_iter().find(|f| f.join("libslz.so").exists());
    require(found.is_some(), "libslz.so was not built").then(|| found.expect("it is there").to_owned())
}

/// Compiles a program against the header, and links it with one of the libraries; the sanitizers watch the C part.
fn compile(compiler: &[&str], source: &str, library: &Path, program: &Path, more: &[&str]) {
    let compiled = Command::new(compiler[0])
        .args(&compiler[1..])
        .args(["-Wall", "-Wextra", "-Werror", "-I", HERE])
        .arg(Path::new(HERE).join(source))
        .args(["-x", "none"])
        .arg(library)
        .arg(format!("-Wl,-rpath,{}", library.parent().expect("a folder").display()))
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(program)
        .args(more)
        .output()
        .expect("the compiler runs");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}

/// The shared library under the name that programs ask for.
fn named(libraries: &Path, folder: &Path) -> PathBuf {
    let name = folder.join("libslz.so.1");
    std::fs::copy(libraries.join("libslz.so"), &name).expect("the library is copied");
    name
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

/// Runs `pieces` over every format, level and kind of data, and decodes what it writes.
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
    let (Some(libraries), true) = (libraries(), has_program("cc")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("pieces");
    compile(
        &["cc", "-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
        "tests/c/pieces.c",
        &named(&libraries, folder.path()),
        &program,
        &[],
    );
    check_pieces(&|| Command::new(&program), &inputs());
}

#[cfg(target_os = "linux")]
#[test]
fn valgrind_finds_no_fault_in_the_static_library() {
    let (Some(libraries), true, true) = (libraries(), has_program("cc"), has_program("valgrind")) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("pieces");
    compile(&["cc", "-g"], "tests/c/pieces.c", &libraries.join("libslz.a"), &program, &[]);
    let command = || {
        let mut command = Command::new("valgrind");
        command.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]).arg(&program);
        // It has no AVX-512.
        command.env("LINERATE_CPU", "avx2");
        command
    };
    check_pieces(&command, &[data::mixed(300_000)]);
}

#[cfg(target_os = "linux")]
#[test]
fn header_and_example_compile_as_c_and_cpp_and_the_example_compresses() {
    let (Some(libraries), true, true) = (libraries(), has_program("cc"), has_program("c++")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let library = named(&libraries, folder.path());
    let program = folder.path().join("compress");
    let input = data::mixed(500_000);
    let standards: [&[&str]; 4] = [
        &["cc", "-std=c99", "-pedantic"],
        &["cc", "-std=c11", "-pedantic"],
        &["c++", "-x", "c++", "-std=c++17", "-pedantic"],
        &["c++", "-x", "c++", "-std=c++20", "-pedantic"],
    ];
    for standard in standards {
        compile(standard, "examples/compress.c", &library, &program, &[]);
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
    let (Some(libraries), true) = (libraries(), has_program("cc")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(HERE).join("../../../scripts/install-c.sh");
    let install = |what: &Path| {
        let prefix = folder.path().join("usr");
        assert!(
            Command::new(&script).arg(what).arg(prefix).env_remove("DESTDIR").status().unwrap().success()
        );
    };
    install(&libraries);
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

/// The functions that `slz.h` declares, as its text lists them.
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
    let (Some(libraries), true) = (libraries(), has_program("nm")) else { return };
    let output =
        Command::new("nm").args(["-D", "--defined-only"]).arg(libraries.join("libslz.so")).output().unwrap();
    let symbols = String::from_utf8(output.stdout).unwrap();
    let exported = symbols.lines().filter_map(|line| line.split_once(" T ").map(|(_, name)| name.to_owned()));
    let declared = declared();
    assert_eq!(declared.len(), 20);
    assert_eq!(exported.collect::<BTreeSet<_>>(), declared);
}

#[cfg(target_os = "linux")]
#[test]
fn libslz_and_this_library_serve_the_same_program() {
    let (Some(libraries), true) = (libraries(), has_program("cc")) else { return };
    let Some(theirs) = libslz() else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("compress");
    named(&libraries, folder.path());
    compile(&["cc"], "examples/compress.c", &folder.path().join("libslz.so.1"), &program, &[]);
    let input = data::mixed(500_000);
    let run = |library: &Path| {
        let mut command = Command::new(&program);
        Run::of(command.env("LD_PRELOAD", library), &input).ok().stdout
    };
    let (ours, theirs) = (run(&folder.path().join("libslz.so.1")), run(&theirs));
    assert_ne!(ours, theirs, "the same library ran twice");
    assert_eq!(decoded(0, &ours), input);
    assert_eq!(decoded(0, &theirs), input);
}

/// The libslz of `LINERATE_LIBSLZ`, the only one that a test looks for: no distribution that it runs on has one.
#[cfg(target_os = "linux")]
fn libslz() -> Option<PathBuf> {
    let paths = std::env::var_os("LINERATE_LIBSLZ")?;
    std::env::split_paths(&paths).find(|path| path.is_file())
}
