//! Runs CPython's own tests of zlib, and of the formats that use it, with this library loaded
//! before zlib.
use std::io::{Write, stderr};
use std::path::Path;
use std::process::Command;

use linerate_testkit::c_program::Library;
use linerate_testkit::program::Run;
use linerate_testkit::tools::require;

/// The distribution's Python, which is dynamically linked with zlib.
const PYTHON: &str = "/usr/bin/python3";
const TESTS: [&str; 4] = ["test.test_zlib", "test.test_gzip", "test.test_zipfile", "test.test_tarfile"];

fn has_tests() -> bool {
    let imported = Command::new(PYTHON).args(["-c", "import test.test_zlib"]).output();
    let found = imported.is_ok_and(|output| output.status.success());
    require(found, "no tests of CPython (Debian: libpython3.11-testsuite)")
}

/// Compresses the first 99,999 bytes of the Python binary to gzip with Python's `zlib`.
fn compressed(library: Option<&Path>) -> Vec<u8> {
    let mut command = Command::new(PYTHON);
    if let Some(library) = library {
        command.env("LD_PRELOAD", library);
    }
    let program = "import sys, zlib; z = zlib.compressobj(6, 8, 31); text = open(sys.executable, 'rb').read(99999); \
        sys.stdout.buffer.write(z.compress(text) + z.flush())";
    Run::of(command.args(["-c", program]), b"").ok().stdout
}

#[test]
fn cpythons_tests_pass_with_the_preloaded_library() {
    let Some(library) = Library::built("linerate_z") else { return };
    if !has_tests() {
        return;
    }
    assert!(compressed(Some(&library.shared())) != compressed(None), "zlib compressed");
    // Some tests write into their working folder.
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(PYTHON);
    command.args(["-m", "unittest", "--buffer"]).args(TESTS).current_dir(folder.path());
    let run = Run::of(command.env("LD_PRELOAD", library.shared()), b"");
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let count = run.stderr.lines().find(|line| line.starts_with("Ran ")).expect("a count");
    // `println` would be captured by the test runner.
    let _ = writeln!(stderr(), "CPython, {}: {count}", TESTS.join(" "));
}

/// Opens streams by the functions `deflateInit_` and `deflateInit2_` of zlib itself, and passes
/// them to zlib's functions that change, run, copy and end a stream. Prints the return values.
const BY_ADDRESS: &str = r#"
import ctypes, zlib
library = ctypes.CDLL("libz.so.1")
class Stream(ctypes.Structure):
    _fields_ = [("next_in", ctypes.c_char_p), ("avail_in", ctypes.c_uint), ("total_in", ctypes.c_ulong),
        ("next_out", ctypes.c_void_p), ("avail_out", ctypes.c_uint), ("total_out", ctypes.c_ulong),
        ("msg", ctypes.c_char_p)] + [(name, ctypes.c_void_p) for name in ("state", "zalloc", "zfree", "opaque")] + [
        ("data_type", ctypes.c_int), ("adler", ctypes.c_ulong), ("reserved", ctypes.c_ulong)]
text = b"some text, some text, " * 50
size = ctypes.c_int(ctypes.sizeof(Stream))
version = b"1.2.13"
for level in -1, 1, 6, 9:
    for init in (lambda z: library.deflateInit_(z, level, version, size),
            lambda z: library.deflateInit2_(z, level, 8, 15, 8, 0, version, size),
            lambda z: library.deflateInit2_(z, level, 8, 31, 9, 0, version, size)):
        stream, copy = Stream(), Stream()
        z, out = ctypes.byref(stream), ctypes.create_string_buffer(2000)
        codes = [init(z), library.deflateParams(z, level, 0), library.deflateReset(z)]
        stream.next_in, stream.avail_in = text, len(text)
        stream.next_out, stream.avail_out = ctypes.addressof(out), 2000
        codes += [library.deflate(z, 2), library.deflateCopy(ctypes.byref(copy), z)]
        codes += [library.deflate(ctypes.byref(copy), 4), library.deflateEnd(ctypes.byref(copy))]
        print(level, codes, zlib.decompress(out.raw[:copy.total_out], 47) == text)
        library.deflateEnd(z)
packed, length = ctypes.create_string_buffer(2000), ctypes.c_ulong(2000)
print(library.compress(packed, ctypes.byref(length), text, len(text)), zlib.decompress(packed.raw[:length.value]) == text)
"#;

#[test]
fn streams_of_functions_that_python_has_from_zlib_itself_are_zlibs() {
    let Some(library) = Library::built("linerate_z") else { return };
    let found = Path::new(PYTHON).exists();
    if !require(found, "no python3 of the distribution") {
        return;
    }
    let mut command = Command::new(PYTHON);
    let run = Run::of(command.args(["-c", BY_ADDRESS]).env("LD_PRELOAD", library.shared()), b"").ok();
    let lines: Vec<_> = run.stdout.split(|byte| *byte == b'\n').map(String::from_utf8_lossy).collect();
    assert_eq!(lines.len(), 14);
    for line in &lines[..12] {
        assert!(line.ends_with("[0, 0, 0, 0, 0, 1, 0] True"), "{line}");
    }
    assert_eq!(lines[12], "0 True", "compress");
}
